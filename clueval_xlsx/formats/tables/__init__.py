"""Tables of spans: their cells, their place on a text, their correction."""
