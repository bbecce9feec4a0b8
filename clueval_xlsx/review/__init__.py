"""Judgements and the re-import: vocabulary, manifest, reading workbooks back, decisions, correction, agreement."""
