"""What schemes and their rows are called, and the sentence that says what each of them counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clueval_xlsx.options import DEFAULT_LAYER
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.scoring.scheme_settings import is_relaxed, strict_variant
from clueval_xlsx.words import Words

_WITH_THRESHOLD = ("presidio", "iou", "coverage")
_BY_LABEL_OR_NOT = ("presidio", "iou", "tokens")


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
            parts.append(same_words(labelled, words))
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


def same_words(layer: str, words: Words) -> str:
    """That labels agree, with the layer where it has a name.

    >>> same_words("risk", Words("en")), same_words("span", Words("en"))
    ('same risk', 'same label')
    """
    return words["scheme.row.same_label"] if layer == DEFAULT_LAYER else words("scheme.row.same", layer=layer)


def full_row_name(row: Mapping[str, Any], words: Words) -> str:
    """A row's name where rows of several schemes stand together.

    >>> full_row_name({"scheme": "clueval", "variant": None, "level": "exact", "labelled": "risk"}, Words("en"))
    'Match levels: exact, same risk'
    """
    scheme, name = scheme_name(str(row["scheme"]), words), row_name(row, words)
    return scheme if name == scheme else f"{scheme}: {name}"


def leak_sentence(documents: float, leak_free: float, low: float, words: Words) -> str:
    """The document verdict in words; without any leak it states how many there may still be."""
    if documents <= 0:
        return words["scheme.documents.none"]
    numbers = Numbers(words)
    values = {
        "documents": numbers.count(documents).text,
        "leak_free": numbers.count(leak_free).text,
        "leaking": numbers.count(documents - leak_free).text,
    }
    if leak_free == documents:
        return words.counted("scheme.documents.bound", documents, **values, bound=numbers.decimal(100 * (1 - low), 1))
    return words.counted("scheme.documents.verdict", documents, **values)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
