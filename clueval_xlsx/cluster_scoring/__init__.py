"""Scores of a corpus of many files, counted in parts on a cluster."""
