"""The kinds of cases: which sheet a case stands on, and what happened to its span. Nothing heavy is imported here."""

from __future__ import annotations

from enum import StrEnum


class Sheet(StrEnum):
    """Which sheet a case stands on; its letters begin the case's ID."""

    FN = "FN"  # a gold span that was missed
    FP = "FP"  # a prediction that nothing supports
    AG = "AG"  # a span on which both sides agree, drawn to be judged, too
    UM = "UM"  # words that neither side marks here, though they are marked elsewhere


class CaseClass(StrEnum):
    """What happened to the span of a case."""

    LABEL = "label"  # the boundaries pass the level, only the label fails
    SUPERSET = "superset"
    TILING = "tiling"
    OVERLAP = "overlap"
    PARTIAL = "partial"  # something overlaps, but does not cover it
    FN = "FN"  # nothing overlaps the gold span
    FP = "FP"  # nothing overlaps the prediction
    AGREED = "agreed"  # nothing: it is no error
    UNMARKED = "unmarked"  # nobody marked it


FN, FP, AG, UM = Sheet.FN, Sheet.FP, Sheet.AG, Sheet.UM
CLASSES = tuple(kind for kind in CaseClass if kind not in {CaseClass.AGREED, CaseClass.UNMARKED})  # of errors
