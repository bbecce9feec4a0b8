"""What cases are called: their sheets, their classes, and what happened; the same words in every medium."""

from __future__ import annotations

from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.words import Words


def sheet_name(sheet: str, words: Words) -> str:
    """The name of a sheet of cases."""
    return words[f"sheet.{sheet.lower()}"]


def spans_name(sheet: str, words: Words) -> str:
    """The spans that stand on a sheet.

    >>> spans_name("FN", Words("en"))
    'Missed spans'
    """
    return words[f"metrics.tile_{sheet.lower()}"]


def class_name(kind: str, words: Words) -> str:
    """The name of a class.

    >>> class_name("partial", Words("en")), class_name("FN", Words("en"))
    ('partial', 'missed')
    """
    return words[f"class.{kind}"]


def case_name(sheet: str, kind: str, words: Words) -> str:
    """What happened in a case, where its sheet is not seen: whose span it is, and its class.

    >>> case_name("FN", "partial", Words("en")), case_name("FP", "FP", Words("en"))
    ('missed: partial', 'unsupported')
    """
    owner = class_name(sheet, words)
    return owner if kind == sheet else f"{owner}: {class_name(kind, words)}"


def case_names(words: Words) -> dict[str, dict[str, str]]:
    """All of these names, for a script that shows cases by itself: sheet -> class -> words."""
    return {sheet: {kind: case_name(sheet, kind, words) for kind in CLASSES} for sheet in (FN, FP)}


def match_names(words: Words) -> dict[str, str]:
    """What the classes of a match are called, by their numbers.

    >>> match_names(Words("en"))
    {'1': 'exact', '2': 'superset', '3': 'tiling', '4': 'overlap', '5': 'none'}
    """
    names = [words[f"level.{level}"] for level in ("exact", "superset", "tiling", "overlap")]
    return {str(number): name for number, name in enumerate([*names, words["class.none"]], 1)}


def labels_text(labels: list[str]) -> str:
    """The labels of a span on all layers, without those that it lacks.

    >>> labels_text(["PER", "", "HIGH"]), labels_text([""])
    ('PER, HIGH', '')
    """
    return ", ".join(label for label in labels if label)
