"""Judgements and the way back: vocabulary, manifest, reading, decisions, correction, re-import."""
