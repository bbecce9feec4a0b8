"""Corpus, spans, tags, merged layers, annotations, the pair, label rules."""
