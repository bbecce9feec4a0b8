"""Changes of the reference as real differences: each in its sentence, with every label that went, came or stayed."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from clueval_xlsx.cases.contexts import ELLIPSIS, PLAIN, Segment, context_bounds
from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.review.conflicts import sorted_parts
from clueval_xlsx.review.correction import extent
from clueval_xlsx.views.conflict_words import case_number
from clueval_xlsx.views.judgement_words import judgement_names, judgements_of
from clueval_xlsx.views.tables import (
    INSERTED,
    KEPT,
    STRUCK,
    TableColumn,
    TableRow,
    TableView,
    ValueKind,
    WordDifference,
)
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clueval_xlsx.corpus.corpus import Corpus
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.correction import Change, Content, LayerSpan


def change_table(run: Adjudication, words: Words) -> TableView:
    """Every change of the reference, in the order of the text."""
    names = judgement_names(judgements_of(run), words)
    changes = sorted(run.correction.changes, key=lambda change: extent(change.old or change.new))
    pair = run.raw.pair
    sentences = _in_sentences(changes, pair.corpus)
    rows: list[TableRow] = []
    for change, sentence, logged in zip(changes, sentences, run.changes.to_dict("records"), strict=True):
        case = case_number(run, change.case_id)
        if logged["twin"]:
            case = words("adjudicated.as_twin", case=case, twin=case_number(run, logged["twin"]))
        rows.append(
            (
                case,
                logged["document"],
                sentence,
                _label_difference(change, pair.layers, pair.corpus, words),
                names.get(change.code, change.code),
                logged["who"],
                logged["comment"],
                ", ".join(PurePath(name).name for name in logged["workbook"].split(", ")),
                change.case_id,
            )
        )
    headings = {key: words.get(f"adjudicated.{key}") or words[f"column.{key}"] for key in _COLUMNS}
    kinds = {"difference": ValueKind.DIFFERENCE, "labels": ValueKind.DIFFERENCE}
    columns = tuple(TableColumn(key, headings[key], kinds.get(key, ValueKind.TEXT)) for key in _COLUMNS)
    note, empty = words["adjudicated.changes_note"], words["adjudicated.none_changes"]
    return TableView("changes", words["adjudicated.changes"], columns, tuple(rows), note, empty)


_COLUMNS = ("case", "document", "difference", "labels", "judgement", "who", "comment", "workbook", "case_id")


def _in_sentences(changes: Sequence[Change], corpus: Corpus) -> list[WordDifference]:
    """For each change the sentence, with the words that are marked no longer, newly, and as before."""
    if not changes:
        return []
    reaches = np.array([extent(change.old | change.new) for change in changes], dtype=np.int64)
    bounds = context_bounds(corpus, reaches[:, 0], reaches[:, 1])
    written = corpus.rendered(bounds.left, bounds.right)
    found = []
    for place, change in enumerate(changes):
        left, right = int(bounds.left[place]), int(bounds.right[place])
        origin = int(written.first[place]) - left
        marks = [_mark(change, position) for position in range(left, right)]
        pieces = [Segment(f"{ELLIPSIS} ", PLAIN)] if left > bounds.first[place] else []
        begin = left
        for position in range(left + 1, right + 1):
            if position < right and marks[position - left] == marks[begin - left]:
                continue
            pieces.append(Segment(written.text(begin + origin, position - 1 + origin), marks[begin - left]))
            if position < right:
                pieces.append(Segment(written.gap(position + origin), PLAIN))
            begin = position
        if right < bounds.stop[place]:
            pieces.append(Segment(f" {ELLIPSIS}", PLAIN))
        found.append(WordDifference(tuple(piece for piece in pieces if piece.text)))
    return found


def _mark(change: Change, position: int) -> str:
    before, now = _covers(change.old, position), _covers(change.new, position)
    if before and now:
        return KEPT
    return STRUCK if before else INSERTED if now else PLAIN


def _covers(content: Content, position: int) -> bool:
    return any(part.start <= position <= part.end for part in content)


def _label_difference(change: Change, layers: Sequence[str], corpus: Corpus, words: Words) -> WordDifference:
    """Every label with its layer; with its words, too, where the layers of one span do not reach equally far."""
    apart = any(len({(part.start, part.end) for part in side}) > 1 for side in (change.old, change.new))
    order = {layer: place for place, layer in enumerate(layers)}
    pieces: list[Segment] = []
    for part in sorted(
        sorted_parts(change.old | change.new), key=lambda part: (order[part.layer], part not in change.old)
    ):
        mark = KEPT if part in change.old and part in change.new else STRUCK if part in change.old else INSERTED
        if mark is not KEPT and not apart and _same_label(part, change):
            mark = KEPT  # the words moved, which the sentence shows; the label did not
            if part in change.new:
                continue
        text = part.label or NO_LABEL
        if len(layers) > 1:
            text = f"{part.layer}: {text}"
        if apart:
            text = f"{text} {words('quoted', text=corpus.text(part.start, part.end))}"
        if pieces:
            pieces.append(Segment("\n", PLAIN))
        pieces.append(Segment(text, mark))
    return WordDifference(tuple(pieces))


def _same_label(part: LayerSpan, change: Change) -> bool:
    """Whether the layer has the same label before and after."""
    sides = ([each.label for each in side if each.layer == part.layer] for side in (change.old, change.new))
    before, now = sides
    return before == now == [part.label]
