"""Scheme `chars`: every character that gold marks should be masked, every other one not.

A category's `allow` regex (or, where it has none, the one for ALL) names characters that need no masking: those
leave the count on the gold side, masked or not. The regex for NONE names characters that may be masked
anywhere: those are no false positives. A regex concerns one character at a time: it must match it alone, whole.
Where annotations overlap, the last listed wins. Labels are not compared: masked is masked.

A character is a code point, a glyph (what people see as one character), or a UTF-16 unit, as chosen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.characters import Stretches, code_points, text_of
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.schemes.material import Material
from clueval_xlsx.schemes.settings import GLYPHS, UTF16
from clueval_xlsx.schemes.tally import Side, Tally
from clueval_xlsx.spans import label_codes, pairs, positions
from clueval_xlsx.strings import BoolArray, IntArray

EVERY_CATEGORY, NO_CATEGORY = "ALL", "NONE"
_SECONDS = 2.0  # for one regex on all distinct characters


def tallies(material: Material) -> list[Tally]:
    """Masked and unmasked characters of both sides; equivalent labels change nothing here."""
    if material.relaxed:
        return []
    layer = material.type_layer
    rules = compile_rules(material.options.allow)
    annotations = [side.listed for side in material.sides]
    marked = np.unique(np.concatenate([pairs(*_half_open(frame))[1] for frame in annotations]))
    text = text_of(material.corpus, marked)
    characters, weight = _units(text, material.options.character_unit)
    owners = [_paint(frame, marked, text)[characters.start] for frame in annotations]

    vocabulary = material.vocabulary[layer]
    codes = [_label_of(frame, layer, vocabulary, owner) for frame, owner in zip(annotations, owners, strict=True)]
    ignored = [np.append(material.sides[index].listed_ignored, False)[owners[index]] for index in (0, 1)]
    in_gold, in_pred = owners[0] >= 0, owners[1] >= 0
    token = np.searchsorted(text.start, characters.start, side="right") - 1
    place = marked[token] if len(marked) else token

    allowed = _allowed(characters.distinct, characters.code, codes[0], in_gold, vocabulary, rules)
    harmless = _matches(rules.get(NO_CATEGORY), characters.distinct)[characters.code] & ~in_gold
    gold_rows = np.flatnonzero(in_gold & ~allowed & ~ignored[0] & ~ignored[1])
    pred_rows = np.flatnonzero(in_pred & ~(in_gold & allowed) & ~harmless & ~ignored[0] & ~ignored[1])
    gold = _side(gold_rows, place, layer, codes[0], in_pred, weight)
    pred = _side(pred_rows, place, layer, codes[1], in_gold, weight)
    return [Tally("chars", gold, pred, by_layers=(layer,))]


def parse_rules(lines: Iterable[str], name: str) -> tuple[tuple[str, str], ...]:
    """A rule file: one `CATEGORY allow=REGEX` a line; empty lines and lines that begin with # are passed over.

    A category without `allow=` has no regex of its own.

    >>> parse_rules(["# names", "NAME allow=\\\\s", "DATE", "NONE allow=[()]"], "rules.txt")
    (('NAME', '\\\\s'), ('NONE', '[()]'))
    """
    found = []
    for number, line in enumerate(lines, 1):
        words = line.strip().split(None, 1)
        if not words or words[0].startswith("#"):
            continue
        if len(words) == 1:
            continue
        key, equals, rule = words[1].partition("=")
        if key.strip() != "allow" or not equals or not rule:
            raise InputError(
                f"{name}:{number}: {line.strip()!r} is no rule. Allowed: CATEGORY allow=REGEX, such as NAME allow=\\s, "
                "one in each line."
            )
        found.append((words[0], rule))
    return tuple(found)


def compile_rules(rules: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Category to compiled regex; a bad regex stops the run."""
    import regex

    compiled: dict[str, Any] = {}
    for category, rule in rules:
        if category in compiled and compiled[category].pattern != rule:
            raise OptionError(f"chars: {category} has two allow rules. Join them: (?:ONE|OTHER).")
        try:
            compiled[category] = regex.compile(rule)
        except regex.error as error:
            raise OptionError(
                f"chars: the allow rule of {category} is no regular expression: {rule!r}: {error}. "
                "Mend it; special characters need a backslash."
            ) from None
    return compiled


class _Units:
    """The characters in the chosen unit: where each begins in the text, and which distinct one it is."""

    def __init__(self, start: IntArray, code: IntArray, distinct: list[str]) -> None:
        self.start, self.code, self.distinct = start, code, distinct


def _units(text: Stretches, unit: str) -> tuple[_Units, npt.NDArray[np.float64]]:
    if unit == GLYPHS:
        import regex

        glyphs = regex.findall(r"\X", text.text)
        codes, distinct = pd.factorize(np.array([*glyphs, ""], dtype=object)[:-1])
        length = np.array([len(glyph) for glyph in distinct], dtype=np.int64)[codes] if len(codes) else codes
        start = np.cumsum(length) - length
        return _Units(start.astype(np.int64), codes.astype(np.int64), list(distinct)), np.ones(len(codes))
    points = code_points(text.text)
    codes, numbers = pd.factorize(points)
    units = _Units(
        np.arange(len(points), dtype=np.int64), codes.astype(np.int64), [chr(number) for number in numbers.tolist()]
    )
    return units, np.where((points > 0xFFFF) & (unit == UTF16), 2.0, 1.0)


def _half_open(frame: pd.DataFrame) -> tuple[IntArray, IntArray]:
    start, end = positions(frame)
    return start, end + 1


def _paint(frame: pd.DataFrame, marked: IntArray, text: Stretches) -> IntArray:
    """The row of the annotation that holds each character, the last listed of several; -1 where none does."""
    start, end = positions(frame)
    owner = np.full(len(text.text) + 1, -1, dtype=np.int64)
    first, last = np.searchsorted(marked, start), np.searchsorted(marked, end)
    # All tokens between the first and the last are marked, so an annotation is one stretch of the text.
    if len(frame):
        row, place = pairs(text.start[first], text.end[last])
        owner[place] = row  # where a place occurs twice, the last one stays
    return owner


def _label_of(frame: pd.DataFrame, layer: str, vocabulary: Any, owner: IntArray) -> IntArray:
    codes = label_codes(frame, layer, vocabulary) if layer in frame.columns else np.full(len(frame), -1)
    return np.append(codes, -1)[owner]


def _allowed(
    distinct: list[str], code: IntArray, label: IntArray, in_gold: BoolArray, vocabulary: Any, rules: dict[str, Any]
) -> BoolArray:
    """Characters of gold that need no masking."""
    allowed = np.zeros(len(code), dtype=bool)
    general = _matches(rules.get(EVERY_CATEGORY), distinct)
    for number, category in enumerate([*vocabulary, None]):
        rows = np.flatnonzero(in_gold & (label == (number if category is not None else -1)))
        if rows.size:
            special = rules.get(category) if category is not None else None
            allowed[rows] = (general if special is None else _matches(special, distinct))[code[rows]]
    return allowed


def _matches(rule: Any, distinct: list[str]) -> BoolArray:
    """Which of the distinct characters a regex matches alone and whole; a regex that takes too long stops the run."""
    if rule is None:
        return np.zeros(len(distinct), dtype=bool)
    from time import monotonic

    end = monotonic() + _SECONDS
    try:
        return np.array(
            [bool(rule.fullmatch(one, timeout=max(end - monotonic(), 1e-6))) for one in distinct], dtype=bool
        )
    except TimeoutError:
        raise OptionError(
            f"chars: the allow rule {rule.pattern!r} takes longer than {_SECONDS:g} seconds. "
            "It is asked about single characters, so something short such as [\\s.,()] is enough."
        ) from None


def _side(
    rows: IntArray, place: IntArray, layer: str, label: IntArray, masked: BoolArray, weight: npt.NDArray[np.float64]
) -> Side:
    """Characters next to each other that fare the same become one unit of their summed weight."""
    place, label, masked = place[rows], label[rows], masked[rows]
    change = (np.diff(place) != 0) | (np.diff(label) != 0) | (np.diff(masked.astype(np.int8)) != 0)
    first = np.concatenate([[0], np.flatnonzero(change) + 1]) if len(rows) else np.empty(0, dtype=np.int64)
    summed = np.add.reduceat(weight[rows], first) if len(rows) else np.empty(0)
    return Side.of(place[first], {layer: label[first]}, masked[first], summed)
