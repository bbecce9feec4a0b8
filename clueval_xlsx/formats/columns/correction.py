"""Token files with other tags: only tag cells change, every other byte stays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import check_disjoint, from_decoded, label_list, label_vocabulary, positions
from clueval_xlsx.corpus.tags import OUTSIDE, TagColumn, decode, parse_tag, span_tags
from clueval_xlsx.corpus.token_reading import TokenReading
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.text.strings import PADDING, IntArray


class TagCells:
    """The tag cells of a file, which still lies in memory as the buffer of its tokens."""

    def correct(self, reading: TokenReading, layers: Mapping[str, pd.DataFrame]) -> bytes:
        """The file with these spans in place of its own, tag cells alone changed.

        A span that stays as it was keeps its tags as they are written; a new one is written in the file's own
        scheme. Where an old `I-` would now continue the span before it, it becomes `B-`. Spans and labels that tags
        cannot express are refused.
        """
        breaks = reading.corpus.closing_breaks
        edits: dict[tuple[int, int], str] = {}
        for layer, spans in layers.items():
            column = reading.layers[layer]
            if not isinstance(column, TagColumn):
                raise OptionError(f"{reading.source.name}: layer {layer} is not a column of tags.")
            _check_writable(reading, layer, spans, breaks)
            number = int(reading.source.columns[layer])
            for position, tag in changed_tags(column, spans, layer, breaks).items():
                edits[position, number] = tag
        return _apply(reading, edits)


def changed_tags(column: TagColumn, spans: pd.DataFrame, layer: str, breaks: IntArray) -> dict[int, str]:
    """The tags that must change, by position, so that the column decodes to exactly these spans."""
    old = from_decoded(decode(column, breaks), layer)
    before, after = _keyed(old, layer), _keyed(spans, layer)
    changes: dict[int, str] = {}
    for start, end, _ in before - after:
        changes.update(dict.fromkeys(range(start, end + 1), OUTSIDE))
    added = sorted(after - before, key=lambda span: span[:2])
    for start, end, label in added:
        changes.update(zip(range(start, end + 1), span_tags(end - start + 1, label, column.scheme), strict=True))

    starts = {start: (end, label) for start, end, label in after}
    for _, end, _ in added:
        follower = starts.get(end + 1)
        # The span behind a new one may begin with a tag that would now continue it.
        if follower is not None and end + 1 not in changes and _continues(column, end + 1):
            last, label = follower
            changes[end + 1] = span_tags(last - end, label, column.scheme)[0]
    return {position: tag for position, tag in changes.items() if column.tags[column.codes[position]] != tag}


def _check_writable(reading: TokenReading, layer: str, spans: pd.DataFrame, breaks: IntArray) -> None:
    """Refuse spans that overlap or go over a sentence end, and labels that would break the columns."""
    check_disjoint(spans, f"{reading.source.name}, layer {layer}")
    corpus = reading.corpus
    start, end = positions(spans)

    def refuse(row: int, found: str, allowed: str, remedy: str) -> None:
        where = f"{reading.source.name}:{corpus.line_of(int(start[row]))}"
        raise InputError(problems=[Problem(where, f"layer {layer}: {found}", allowed, remedy)])

    crossing = np.flatnonzero(
        np.searchsorted(breaks, start, side="right") != np.searchsorted(breaks, end, side="right")
    )
    if crossing.size:
        words = corpus.text(int(start[crossing[0]]), int(end[crossing[0]]))
        found = f"the span {words!r} goes over a sentence or document end, which closes every span"
        refuse(int(crossing[0]), found, "spans within one sentence", "Cut the span there")
    forbidden = set("\t\r\n \0") if reading.source.format == "conll" else set("\t\r\n\0")
    for label in label_vocabulary([spans], layer):
        if parse_tag(f"B-{label}") is None or forbidden & set(label):
            row = label_list(spans[layer]).index(label)
            found = f"the label {label!r} cannot be written into a column of tags"
            refuse(
                row, found, "a label that is not empty and holds no tab or line break (CoNLL: no space)", "Rename it"
            )


def _continues(column: TagColumn, position: int) -> bool:
    return column.tags[column.codes[position]][:1] in "IEL"


def _keyed(spans: pd.DataFrame, layer: str) -> set[tuple[int, int, str | None]]:
    return set(zip(spans["start"].tolist(), spans["end"].tolist(), label_list(spans[layer]), strict=True))


def _apply(reading: TokenReading, edits: Mapping[tuple[int, int], str]) -> bytes:
    """Replace cells by (position, column) in the file's bytes."""
    tokens = reading.corpus.tokens
    data = tokens.data[:-PADDING]
    separators = b" \t" if reading.source.format == "conll" else b"\t"
    pieces: list[bytes] = []
    done = 0
    for (position, number), tag in sorted(edits.items()):
        begin, end = _cell(data, int(tokens.start[position]), number, separators)
        pieces += [data[done:begin], tag.encode("utf-8", "replace")]
        done = end
    pieces.append(data[done:])
    whole = b"".join(pieces)
    return whole if reading.source.ends_with_newline else whole.removesuffix(b"\n")


def _cell(data: bytes, line: int, number: int, separators: bytes) -> tuple[int, int]:
    """Where a column of the line begins and ends; a run of blanks is one separator in CoNLL."""
    stop = data.index(b"\n", line)
    if data[stop - 1 : stop] == b"\r":
        stop -= 1
    begin = line
    for _ in range(number - 1):
        while data[begin] not in separators:
            begin += 1
        begin += 1
        while separators == b" \t" and data[begin] in separators:
            begin += 1
    end = begin
    while end < stop and data[end] not in separators:
        end += 1
    return begin, end
