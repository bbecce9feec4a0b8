"""The kinds of cases: which sheet a case stands on, and what happened to its span."""

from __future__ import annotations

FN, FP = "FN", "FP"
AG = "AG"  # agreed spans, of which a sample may be judged, too
CLASSES = ("label", "superset", "tiling", "overlap", "partial", FN, FP)  # of cases
