"""What cases are called: their sheets, their classes, and what happened; the same words in every medium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from clueval_xlsx.cases.contexts import ELLIPSIS
from clueval_xlsx.cases.kinds import AG, CLASSES, FN, FP, UM, CaseClass
from clueval_xlsx.cases.table import BETWEEN, NO_LABEL
from clueval_xlsx.words import Words

_LONGEST_QUOTE = 90  # characters of the other side's words


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


def happened_lines(cases: pd.DataFrame, layers: Sequence[str], words: Words) -> list[str]:
    """What happened in each case, in one line: `missed · PERSON · 4 alike`, `wrong label: ORG instead of PERSON`."""
    own = list(zip(*(cases[f"label_{layer}"] for layer in layers), strict=True))
    other = list(zip(*(cases[f"other_label_{layer}"] for layer in layers), strict=True))
    columns = (cases["sheet"], cases["class"], cases["other_surface"], own, other)
    found = [_happened(*row, words) for row in zip(*columns, strict=True)]
    if len(cases) and (cases["sheet"] == UM).all():
        counts = (cases[name].tolist() for name in ("here", "marked", "unmarked"))
        found = [
            f"{words('happened.elsewhere', here=here, marked=marked, total=marked + unmarked)} · {line}"
            for line, here, marked, unmarked in zip(found, *counts, strict=True)
        ]
    if "alike" in cases.columns:
        sizes = cases["alike"].tolist()
        found = [
            f"{line} · {words('cases.alike', count=size)}" if size > 1 else line
            for line, size in zip(found, sizes, strict=True)
        ]
    if "relaxed" in cases.columns:
        note = words["cases.relaxed"]
        found = [f"{line} · {note}" if would else line for line, would in zip(found, cases["relaxed"], strict=True)]
    return found


def _happened(
    sheet: str, kind: str, other_words: str, own: tuple[str, ...], other: tuple[str, ...], words: Words
) -> str:
    labels = labels_text(list(own))
    if kind == CaseClass.LABEL:
        differing = [pair for pair in zip(own, other, strict=True) if pair[0] != pair[1]] or list(
            zip(own, other, strict=True)
        )
        mine, theirs = (labels_text([pair[side] or NO_LABEL for pair in differing]) for side in (0, 1))
        model, reference = (mine, theirs) if sheet == FP else (theirs, mine)
        return words("happened.label", model=model, reference=reference)
    if sheet == UM:
        return labels
    if not other_words or sheet == AG:
        line = words[f"happened.{kind}"]
    else:
        quoted = words("quoted", text=_shortened(other_words))
        strange = other != own and BETWEEN not in other_words
        called = f" ({labels_text([label for label in other if label != NO_LABEL])})" if strange else ""
        line = words(f"happened.{sheet.lower()}_{kind}", words=f"{quoted}{called}")
    return f"{line} · {labels}" if labels else line


def _shortened(text: str) -> str:
    """A quotation that stays on its line; what is left out is seen."""
    text = " ".join(text.split())
    if len(text) <= _LONGEST_QUOTE:
        return text
    half = _LONGEST_QUOTE // 2
    return f"{text[:half].rsplit(' ', 1)[0]} {ELLIPSIS} {text[-half:].split(' ', 1)[-1]}"


def label_hint(meanings: Mapping[str, str], longest: int = 255) -> str:
    """What labels mean, a line each, as many as fit into a hint; that there are more is seen.

    >>> label_hint({"PER": "natural persons", "ORG": "courts"}), label_hint({"A": "x" * 20, "B": "y"}, 25)
    ('PER: natural persons\\nORG: courts', 'A: xxxxxxxxxxxxxxxxxxxx\\n…')
    """
    lines = [f"{label}: {meaning}" for label, meaning in meanings.items()]
    if len("\n".join(lines)) <= longest:
        return "\n".join(lines)
    while lines and len("\n".join([*lines, "…"])) > longest:
        lines.pop()
    return "\n".join([*lines, "…"])


def labels_text(labels: list[str]) -> str:
    """The labels of a span on all layers, without those that it lacks.

    >>> labels_text(["PER", "", "HIGH"]), labels_text([""])
    ('PER, HIGH', '')
    """
    return ", ".join(label for label in labels if label)
