"""Collects the annotations of a standoff source, checks them against the texts, and makes the reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.mentions import (
    ERROR,
    LONGEST,
    SHOWN,
    Mentions,
    Wording,
    make_mentions,
    nested_note,
    resolve_apart,
)
from clueval_xlsx.corpus.reading import Carrier, Place, Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError, OptionError, Problem, counted
from clueval_xlsx.formats.json_records import shown
from clueval_xlsx.formats.registry import WARN, Format, choose_fields
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.characters import CODE_POINTS, UNITS, unit_starts
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

_CONTEXT = 20
_FARTHEST = 2**62  # no text is that long, and arrays hold no larger numbers


class Collector:
    """Takes documents and annotations one by one; `finish` returns the reading or raises with all problems."""

    def __init__(
        self, name: str, format_: Format, options: ReadOptions, layers: Mapping[str, str] | None = None
    ) -> None:
        """Collect for a format, whose fields layers take their labels from unless they are given."""
        if options.offsets not in UNITS:
            raise OptionError(f"read.offsets={options.offsets}: unknown. Allowed: {', '.join(UNITS)}.")
        self.name = name
        self.options = options
        self.tokens: Corpus | None = None  # offsets count these, where there are any, and have been checked
        self.layers = layers or choose_fields(options.layers, format_.fields, name, format_.title)
        self.documents: list[TextDocument] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.unannotated: set[int] = set()
        self.homes: list[Place | None] = []
        self._owners: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        fields = dict.fromkeys((*format_.fields, *self.layers.values()))
        self._values: dict[str, list[str | None]] = {field: [] for field in fields}
        self.sequences: dict[str, str] = {}  # layer -> sequence, where layers are annotated apart from each other
        self._sequence: list[str] = []
        self._scores: list[float | None] = []
        self._score_values = ScoreValues(name)
        self._surfaces: list[str | None] = []
        self._places: list[Place] = []
        self._wheres: list[str | tuple[Callable[[int], str], int]] = []

    def add_document(self, document: TextDocument) -> int:
        """Take a document; returns its number."""
        self.documents.append(document)
        return len(self.documents) - 1

    def add(
        self,
        document: int,
        offsets: tuple[Any, Any],
        values: Mapping[str, Any],
        *,
        surface: str | None = None,
        score: Any = None,
        sequence: str = "",
        handle: Place = (),
        where: str,
    ) -> None:
        """Take an annotation; offsets that are no whole numbers and labels that are no text are a problem.

        `score` says how sure whoever made it was; what is no number is no score, and noted.
        """
        for key, value in zip(("start", "end"), offsets, strict=True):
            if not isinstance(value, int) or isinstance(value, bool):
                self.complain(where, f"the {key} of an annotation is {shown(value)}", "a whole number of characters")
                return
            if abs(value) > _FARTHEST:
                self.complain(where, f"the {key} of an annotation is {value}", "offsets inside the text")
                return
        for field, value in values.items():
            if value is not None and not isinstance(value, str):
                self.complain(where, f"the {field} of an annotation is {shown(value)}", "a text")
                return
        self._owners.append(document)
        self._starts.append(offsets[0])
        self._ends.append(offsets[1])
        for field, column in self._values.items():
            column.append(values.get(field))
        self._sequence.append(sequence)
        self._scores.append(self._score_values.read(score, where))
        self._surfaces.append(surface)
        self._places.append(handle)
        self._wheres.append(where)

    def extend(
        self,
        documents: Sequence[int],
        starts: Sequence[int],
        ends: Sequence[int],
        values: Mapping[str, Sequence[str | None]],
        *,
        surfaces: Sequence[Any],
        scores: Sequence[Any],
        handles: Sequence[Place],
        where: Callable[[int], str],
    ) -> None:
        """Take annotations of these documents whose offsets are whole numbers and whose labels are texts.

        `where` says how a message calls one of them, given its place in the list.
        """
        count = len(starts)
        self._owners += documents
        self._starts += starts
        self._ends += ends
        for field, column in self._values.items():
            column.extend([value or None for value in values[field]] if field in values else [None] * count)
        self._sequence += [""] * count
        self._wheres += zip(repeat(where), range(count))
        if scores.count(None) == count:
            self._scores += [None] * count
        else:
            self._scores += [self._score_values.read(score, where(row)) for row, score in enumerate(scores)]
        self._surfaces += [surface if isinstance(surface, str) else None for surface in surfaces]
        self._places += handles

    def complain(self, where: str, found: str, allowed: str = "", remedy: str = "") -> None:
        """Note a problem."""
        self.problems.append(Problem(where, found, allowed, remedy))

    def finish(
        self,
        source: Source,
        carrier: Carrier | None,
        *,
        detector: bool = False,
        union: bool = False,
        attributes: Sequence[str] = (),
    ) -> Reading:
        """Check everything and build the reading."""
        if not self.documents and not self.problems and self.tokens is None:
            raise InputError(f"{self.name}: there is no document in it. Check that this is the right file or folder.")
        self._check_ids()
        rows = np.array([self._owners, self._starts, self._ends], dtype=np.int64).T
        if self.tokens is None:
            ranges = Ranges(rows[:, 0], *self._to_code_points(rows))
            self._check_surfaces(ranges)
        else:
            ranges = Ranges(rows[:, 0], rows[:, 1], rows[:, 2])
        if self.problems:
            raise InputError(problems=self.problems)
        listed = make_mentions(ranges, self._values, self.layers, attributes, self._scores)
        mode = self.options.nested or (LONGEST if detector else ERROR)
        wording = Wording(lambda row: self._describe(listed, row), self._where)
        resolution = resolve_apart(self._apart(listed), mode, wording, forgive_repeats=union)
        lines = resolution.lines(wording)
        return Reading(
            source,
            self.tokens,
            texts=tuple(self.documents),
            listed=self._apart(listed),
            mentions=resolution.mentions,
            group=resolution.group,
            places=self._places,
            carrier=carrier,
            homes=self.homes,
            unit=self.options.offsets,
            notes=(*self.notes, *self._score_values.notes(), *nested_note(self.name, lines, mode)),
            resolved=lines,
            unannotated=frozenset(self.unannotated),
            nested=mode,
            forgive_repeats=union,
        )

    def _apart(self, listed: Mentions) -> Mentions:
        """The annotations with their sequences, where layers were said to be annotated apart."""
        if not self.sequences:
            return listed
        numbers = {name: number for number, name in enumerate(dict.fromkeys(self.sequences.values()))}
        return replace(
            listed,
            sequence=np.array([numbers[name] for name in self._sequence], dtype=np.int64),
            sequences={layer: numbers[name] for layer, name in self.sequences.items()},
        )

    def _where(self, row: int) -> str:
        where = self._wheres[row]
        return where if isinstance(where, str) else where[0](where[1])

    def _describe(self, listed: Mentions, row: int) -> str:
        ranges = listed.ranges
        start, end = int(ranges.start[row]), int(ranges.end[row])
        if self.tokens is None:
            surface = _shortened(self.documents[int(ranges.document[row])].text[start:end])
        else:
            surface = _shortened(self.tokens.text(start, end - 1))
        labels = [values[row] for values in listed.labels.values()]
        label = next((label for label in labels if not pd.isna(label)), "no label")
        return f"{surface!r} ({label}, {start}-{end})"

    def _check_ids(self) -> None:
        seen: dict[str, int] = {}
        for number, document in enumerate(self.documents, 1):
            if document.id is None:
                continue
            if document.id in seen:
                self.complain(
                    f"{self.name}: document {number}",
                    f"document {document.id!r} was already there as number {seen[document.id]}",
                    remedy="Document IDs must be unique",
                )
            seen.setdefault(document.id, number)

    def _to_code_points(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Offsets in code points; those that no text has become problems and are set to nothing."""
        start, end = rows[:, 1].copy(), rows[:, 2].copy()
        lengths = np.array([len(document.text) for document in self.documents] or [0], dtype=np.int64)
        bounds = np.append(lengths, 0)[rows[:, 0]]
        if self.options.offsets != CODE_POINTS:
            for number in np.unique(rows[:, 0]).tolist():
                starts = unit_starts(self.documents[number].text, self.options.offsets)
                if starts is not None:
                    mine = np.flatnonzero(rows[:, 0] == number)
                    bounds[mine] = len(starts) - 1
                    for values in (start, end):
                        known = mine[(values[mine] >= 0) & (values[mine] < len(starts))]
                        values[known] = starts[values[known]]
        wrong = (rows[:, 1] < 0) | (rows[:, 2] <= rows[:, 1]) | (rows[:, 2] > bounds) | (start < 0) | (end < 0)
        for row in np.flatnonzero(wrong).tolist():
            self._refuse_offsets(row, rows[row].tolist(), int(bounds[row]))
            start[row] = end[row] = 0
        return start, end

    def _refuse_offsets(self, row: int, offsets: list[int], bound: int) -> None:
        document, start, end = offsets
        text, unit = self.documents[document].text, self.options.offsets
        where, surface = self._where(row), self._surfaces[row]
        words = f" ({_shortened(surface)!r})" if surface else ""
        if start < 0 or end > bound:
            self.complain(
                where,
                f"offsets {start}-{end}{words} lie beyond the text, which has {bound} {_UNIT_WORDS[unit]}",
                f"0 to {bound}",
                "Check that the annotation belongs to this text"
                + (", or give the unit it counts in (read.offsets=utf16)" if _more_units(text, end, unit) else ""),
            )
        elif end <= start:
            self.complain(
                where,
                f"offsets {start}-{end}{words} have {'no' if end == start else 'a negative'} length",
                "start before end; the end is exclusive",
            )
        else:
            self.complain(
                where,
                f"offset {start} or {end}{words} lies inside a character",
                remedy="Check the unit (read.offsets=codepoints|glyphs|utf16)",
            )

    def _check_surfaces(self, ranges: Ranges) -> None:
        """The words that a source repeats must be those of the text; how white space is written does not matter."""
        documents, starts, ends = ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist()
        units = _Units()
        passed: list[str] = []
        for row, surface in enumerate(self._surfaces):
            if surface is None or starts[row] == ends[row]:
                continue
            text = self.documents[documents[row]].text
            found = text[starts[row] : ends[row]]
            if found == surface or same_words(found, surface):
                continue
            if self.options.mismatch == WARN:
                passed.append(f"{self._where(row)}: {_shortened(surface)!r} for {_shortened(found)!r}")
                continue
            self.complain(
                self._where(row),
                f"the annotation says {_shortened(surface)!r}, but the text has {_shortened(found)!r} at "
                f"{starts[row]}-{ends[row]}",
                remedy=self._unit_remedy(text, row, surface, units),
            )
        if passed:
            more = f"; and {len(passed) - SHOWN} more" if len(passed) > SHOWN else ""
            self.notes.append(
                f"{self.name}: the words of {counted(len(passed), 'annotation')} do not fit their offsets, which count "
                f"(--mismatch {WARN}): {'; '.join(passed[:SHOWN])}{more}"
            )

    def _unit_remedy(self, text: str, row: int, surface: str, units: _Units) -> str:
        """Name the unit in which the offsets would fit, if there is one."""
        start, end = self._starts[row], self._ends[row]
        for unit in UNITS:
            starts = units.starts(text, unit)
            if unit != self.options.offsets and 0 <= start < end < len(starts):
                found = text[starts[start] : starts[end]] if min(starts[start], starts[end]) >= 0 else ""
                if same_words(found, surface):
                    return f"The offsets fit if they count {_UNIT_WORDS[unit]}: give read.offsets={unit}"
        return (
            "Check that the annotation belongs to this text and that its offsets count code points; "
            f"--mismatch {WARN} goes on with the offsets"
        )


class _Units:
    """Where the units of a text begin, worked out once for all annotations of it; they come text by text."""

    def __init__(self) -> None:
        self._text: str | None = None
        self._starts: dict[str, IntArray] = {}

    def starts(self, text: str, unit: str) -> IntArray:
        """The code point at which each unit begins, and the text's length."""
        if text is not self._text:
            self._text, self._starts = text, {}
        if unit not in self._starts:
            found = unit_starts(text, unit)
            self._starts[unit] = np.arange(len(text) + 1) if found is None else found
        return self._starts[unit]


_UNIT_WORDS = {"codepoints": "code points", "glyphs": "glyphs", "utf16": "UTF-16 units"}


def _more_units(text: str, end: int, unit: str) -> bool:
    return unit != "utf16" and end <= len(text.encode("utf-16-le", "surrogatepass")) // 2


def same_words(left: str, right: str) -> bool:
    """Whether two texts are the same but for white space (Label Studio writes a line break as backslash and n)."""
    return _are_words(left, right.split()) or ("\\n" in right and _are_words(left, right.replace("\\n", " ").split()))


def _are_words(text: str, words: list[str]) -> bool:
    """Whether a text consists of these words; of a text that is much longer only as many are looked at."""
    return text.split(None, len(words)) == words


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:_CONTEXT]}…{text[-_CONTEXT:]}"


def scalar_attributes(content: Mapping[str, Any], skip: Iterable[str], *, inside: bool = False) -> dict[str, str]:
    """What metrics can be grouped by: short texts, numbers and truth values of a document, `meta` included.

    What is nested further (`inside` of `meta`) is nobody's metadata.
    """
    found: dict[str, str] = {}
    left_out = set(skip)
    for key, value in content.items():
        if key in left_out:
            continue
        if isinstance(value, Mapping) and key in {"meta", "metadata"} and not inside:
            found.update(scalar_attributes(value, skip, inside=True))
        elif isinstance(value, str | int | float) and len(str(value)) <= 200:
            found[key] = str(value)
    return found


class ScoreValues:
    """Reads the scores of one source, and remembers those that are no numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._strange: list[str] = []

    def read(self, value: Any, where: str) -> float | None:
        """The score that a value stands for; nothing, or a text of nothing, is none."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        score = _number(value)
        if score is None:
            self._strange.append(f"{where}: {shown(value)}")
        return score

    def notes(self) -> list[str]:
        """One note on what was no number, with the first few."""
        count = len(self._strange)
        if not count:
            return []
        what = "scores are no finite numbers and count" if count > 1 else "score is no finite number and counts"
        more = f"; and {count - SHOWN} more" if count > SHOWN else ""
        return [f"{self.name}: {count} {what} as none: {'; '.join(self._strange[:SHOWN])}{more}"]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        score = float(value)
    except (ValueError, OverflowError):
        return None
    return score if math.isfinite(score) else None
