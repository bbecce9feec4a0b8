"""Scheme `chars`: every character that gold marks should be masked, every other one not.

A category's `allow` regex and, where that does not match or there is none, the one for ALL name characters that
need no masking: those leave the count on the gold side, masked or not. The regex for NONE names characters that
may be masked anywhere: those are no false positives. A regex concerns one character at a time: it must match it
alone, whole. Where annotations overlap, the last listed wins. Labels are not compared: masked is masked.

A character is a code point, a glyph (what people see as one character), or a UTF-16 unit, as chosen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.running_text import Stretches, text_of
from clueval_xlsx.corpus.spans import label_codes, positions
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.text.characters import GLYPHS, UTF16, code_points
from clueval_xlsx.text.strings import BoolArray, IntArray, covered, unfold

EVERY_CATEGORY, NO_CATEGORY = "ALL", "NONE"
_SECONDS = 2.0  # for one regex on all distinct characters
_LARGEST = 100_000  # signs of all rules together, repeats written out: compiled, they take some hundred bytes each
_CALL = re.compile(r"\(\?(?:R|[0-9]|&|P>)")  # of the rule, or of a group of it, by itself
_MOST_BRACKETS = 100  # of a kind in a rule: deeply nested ones end the compiler


def tallies(matched: MatchedPair) -> list[Tally]:
    """Masked and unmasked characters of both sides; equivalent labels change nothing here."""
    if matched.relaxed:
        return []
    layer = matched.type_layer
    rules = compile_rules(matched.options.allow)
    annotations = [side.listed for side in matched.sides]
    extents = (positions(frame) for frame in annotations)
    marked = covered(*((first, last + 1) for first, last in extents))
    counter = _Counter(text_of(matched.corpus, marked), matched.options.char_unit)
    owners = [_paint(frame, marked, counter.pieces) for frame in annotations]
    vocabulary = matched.listed_vocabulary[layer]
    labels = [_label_of(frame, layer, vocabulary, owner) for frame, owner in zip(annotations, owners, strict=True)]
    in_gold, in_pred = owners[0] >= 0, owners[1] >= 0
    counted = np.ones(counter.pieces, dtype=bool)
    for side, owner in zip(matched.sides, owners, strict=True):
        counted &= ~np.append(side.listed_ignored, False)[owner]

    # What is to be masked inside gold, and what must not be outside it.
    inside = counter.total - _allowed(counter, labels[0], vocabulary, rules) * in_gold
    outside = counter.total - counter.matching(rules.get(NO_CATEGORY))
    place = np.repeat(marked, 2)
    gold, pred = np.flatnonzero(in_gold & counted), np.flatnonzero(in_pred & counted)
    return [
        Tally(
            "chars",
            Side.of(place[gold], {layer: labels[0][gold]}, in_pred[gold], inside[gold]),
            Side.of(place[pred], {layer: labels[1][pred]}, in_gold[pred], np.where(in_gold, inside, outside)[pred]),
            by_layers=(layer,),
            as_listed=True,
        )
    ]


def compile_rules(rules: Mapping[str, str]) -> dict[str, Any]:
    """Category to compiled regex; a bad regex stops the run."""
    import regex

    compiled: dict[str, Any] = {}
    left = _LARGEST
    for category, rule in rules.items():
        left -= _compiled_size(rule)
        if left < 0 or max(rule.count("("), rule.count("[")) > _MOST_BRACKETS:
            raise OptionError(
                f"allow: the rule of {category}, {rule[:60]!r}, is too large or repeats too much. Allowed: "
                f"{_MOST_BRACKETS} brackets of a kind, and in all rules {_LARGEST:,} characters when each {{N}} is "
                "written out. It is asked about single characters, so something short such as [\\s.,()] is enough."
            )
        if _CALL.search(rule):
            raise OptionError(
                f"allow: the rule of {category}, {rule[:60]!r}, calls itself or a part of itself, which may never end. "
                "Write the part out."
            )
        try:
            compiled[category] = regex.compile(rule)
        except regex.error as error:
            raise OptionError(
                f"allow: the rule of {category} is no regular expression: {rule!r}: {error}. "
                "Mend it; special characters need a backslash."
            ) from None
    return compiled


def _compiled_size(rule: str) -> int:
    """What a regex takes at most when each of its counted repeats is written out, however they are nested."""
    size = len(rule)
    for least, most in re.findall(r"\{\s*([0-9]*)\s*,?\s*([0-9]*)\s*\}", rule):
        size *= max(int(least[:9] or 1), int(most[:9] or 1), 1)
    return size


class _Counter:
    """Counts the characters of every piece of a text: all of them, or those that a regex matches.

    Spans begin and end at the borders of pieces, so a piece is marked as a whole.
    """

    def __init__(self, text: Stretches, unit: str) -> None:
        self.pieces = len(text.borders) - 1
        if unit == GLYPHS:
            import regex

            glyphs = regex.findall(r"\X", text.text)
            length = np.fromiter(map(len, glyphs), dtype=np.int64, count=len(glyphs))
            start = np.cumsum(length) - length
            codes, distinct = pd.factorize(np.array([*glyphs, ""], dtype=object)[:-1])
            self._codes, self._distinct = codes.astype(np.int64), [str(glyph) for glyph in distinct]
            self._borders = np.searchsorted(start, text.borders)
        else:
            self._codes = code_points(text.text)
            known = np.flatnonzero(np.bincount(self._codes)) if len(self._codes) else self._codes
            self._distinct = [chr(number) for number in known.tolist()]
            self._borders = text.borders
        self._by_code = unit != GLYPHS
        self._weight = np.where(self._codes > 0xFFFF, 2.0, 1.0) if unit == UTF16 else None
        self.total = self._count(None)

    def matching(self, *rules: Any) -> npt.NDArray[np.float64]:
        """How many characters of each piece one of these regexes matches, each alone and whole; None is no regex."""
        found = np.zeros(len(self._distinct), dtype=bool)
        for rule in rules:
            if rule is not None:
                found |= _matches(rule, self._distinct)
        if not found.any():
            return np.zeros(self.pieces)
        if self._by_code:
            table = np.zeros(int(self._codes.max()) + 1 if len(self._codes) else 0, dtype=bool)
            table[[ord(character) for character in self._distinct]] = found
            found = table
        return self._count(found[self._codes])

    def _count(self, chosen: BoolArray | None) -> npt.NDArray[np.float64]:
        if chosen is None and self._weight is None:
            return np.diff(self._borders).astype(np.float64)
        amount = np.ones(len(self._codes)) if self._weight is None else self._weight
        if chosen is not None:
            amount = chosen * amount
        summed: npt.NDArray[np.float64] = np.concatenate([[0.0], np.cumsum(amount)])
        return np.diff(summed[self._borders])


def _paint(frame: pd.DataFrame, marked: IntArray, pieces: int) -> IntArray:
    """The row of the annotation that holds each piece, the last listed of several; -1 where none does."""
    start, end = positions(frame)
    owner = np.full(pieces, -1, dtype=np.int64)
    # All tokens between the first and the last are marked; the gap behind the last one is not in the annotation.
    row, piece = unfold(2 * np.searchsorted(marked, start), 2 * np.searchsorted(marked, end) + 1)
    owner[piece] = row  # where a piece occurs twice, the last one stays
    return owner


def _label_of(frame: pd.DataFrame, layer: str, vocabulary: Sequence[str], owner: IntArray) -> IntArray:
    return np.append(label_codes(frame, layer, vocabulary), -1)[owner]


def _allowed(
    counter: _Counter, label: IntArray, vocabulary: Sequence[str], rules: dict[str, Any]
) -> npt.NDArray[np.float64]:
    """How many characters of each piece need no masking, if gold marks it."""
    always = rules.get(EVERY_CATEGORY)
    allowed = counter.matching(always)
    for number, category in enumerate(vocabulary):
        if category in rules:
            allowed = np.where(label == number, counter.matching(rules[category], always), allowed)
    return allowed


def _matches(rule: Any, distinct: list[str]) -> BoolArray:
    """Which of the distinct characters a regex matches alone and whole; a regex that takes too long stops the run."""
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
