"""What schemes and their rows are called, and the sentence that says what each of them counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clueval_xlsx.scoring.schemes.settings import is_relaxed, strict_variant
from clueval_xlsx.words import Words

_WITH_THRESHOLD = ("iou", "coverage")
_BY_LABEL_OR_NOT = ("iou", "tokens")
_NAMED_BY_LAYER = ("clueval", "iou", "tokens")


def scheme_name(scheme: str, words: Words) -> str:
    """The name of a scheme."""
    return words.get(f"scheme.{scheme}.name", scheme)


def scheme_sentence(scheme: str, words: Words) -> str:
    """What a scheme counts, in one plain sentence."""
    return words.get(f"scheme.{scheme}.counts")


def row_name(row: Mapping[str, Any], words: Words) -> str:
    """What distinguishes one row of a scheme from its others.

    >>> row = {"scheme": "iou", "variant": "0.9 relaxed", "level": None, "labelled": "risk"}
    >>> row_name(row, Words("en"))
    'at least 0.9, same label, relaxed'
    """
    scheme, variant = str(row["scheme"]), _text(row["variant"])
    labelled, level = _text(row["labelled"]), _text(row["level"])
    parts = []
    plain = strict_variant(variant)
    if scheme == "clueval":
        parts.append(words.get(f"level.{level}", str(level)))
        if labelled:
            parts.append(words("scheme.row.same", layer=labelled))
    elif scheme in _WITH_THRESHOLD and plain:
        parts.append(words("scheme.row.threshold", threshold=plain))
    elif plain:
        parts.append(words.get(f"scheme.{scheme}.{plain}", plain))
    elif level:
        parts.append(words("scheme.row.level", level=words.get(f"level.{level}", level)))
    if scheme in _BY_LABEL_OR_NOT:
        parts.append(words["scheme.row.same_label" if labelled else "scheme.row.any_label"])
    if is_relaxed(variant):
        parts.append(words["scheme.row.relaxed"])
    return ", ".join(parts) or scheme_name(scheme, words)


def short_name(row: Mapping[str, Any]) -> str:
    """A row's name as the command line and the JSON file spell it, the same in every language.

    >>> short_name({"scheme": "clueval", "variant": "relaxed", "level": "exact", "labelled": "risk"})
    'clueval exact risk relaxed'
    """
    parts = [row["scheme"], row["level"], row["labelled"] if row["scheme"] in _NAMED_BY_LAYER else None, row["variant"]]
    return " ".join(part for part in map(_text, parts) if part)


def leak_sentence(documents: float, leak_free: float, low: float, words: Words) -> str:
    """The document verdict in words; without any leak it states how many there may still be."""
    values = {
        "documents": f"{documents:.0f}",
        "leak_free": f"{leak_free:.0f}",
        "leaking": f"{documents - leak_free:.0f}",
    }
    if documents <= 0:
        return words["scheme.documents.none"]
    if leak_free == documents:
        return words("scheme.documents.bound", **values, bound=f"{100 * (1 - low):.1f}")
    return words("scheme.documents.verdict", **values)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
