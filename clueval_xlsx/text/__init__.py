"""Text as arrays: strings, tokens of running text, rendering as people write, offsets."""
