"""A re-import in words: who said what, why there are conflicts, and every change as a real difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from clueval_xlsx.cases.contexts import PLAIN, Segment, context_bounds
from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.review.adjudication import Adjudication, CaseConflict, sorted_parts
from clueval_xlsx.review.case_words import judgement_names, span_choice_name
from clueval_xlsx.review.correction import Change, Content, LayerSpan, extent
from clueval_xlsx.review.deciding import Vote
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import SPAN_CHOICES
from clueval_xlsx.text.cells import ELLIPSIS
from clueval_xlsx.words import Words

# The marks of words that stayed, were dropped, or came in.
KEPT, STRUCK, INSERTED = "kept", "struck", "inserted"

Difference = tuple[Segment, ...]


def what_was_said(votes: Iterable[Vote], names: Mapping[str, str], words: Words) -> str:
    """What everybody said about a case, one line a person."""
    return "\n".join(dict.fromkeys(what_one_said(vote.record, names, words) for vote in votes))


def what_one_said(record: Judgement, names: Mapping[str, str], words: Words) -> str:
    """One judgement in words: who, what, the corrections, the comment."""
    extra = correction_words(record, words)
    comment = f" – {record.comment}" if record.comment else ""
    return f"{record.judge}: {names.get(record.code, record.code)}{f' ({extra})' if extra else ''}{comment}"


def correction_words(record: Judgement, words: Words) -> str:
    """The correct span and the correct labels that somebody chose or typed."""
    parts = [f"{layer}: {label}" for layer, label in record.correct_labels.items()]
    chosen = record.correct_span
    if chosen:
        parts.insert(0, span_choice_name(chosen, words) if chosen in SPAN_CHOICES else words("quoted", text=chosen))
    return ", ".join(part for part in parts if part)


def conflict_reason(conflict: CaseConflict, words: Words) -> str:
    """Why judgements were not carried out, in a sentence."""
    key = f"adjudicated.kind_{conflict.kind}"
    return words[f"{key}_gold" if conflict.with_gold and f"{key}_gold" in words else key]


def reasons_by_case(run: Adjudication, words: Words, *, blind: bool = False) -> dict[str, str]:
    """Why each open case needs a decision, and who said what about it; if `blind`, what was said but not by whom.

    A clash names the passages that would overlap and what was said of the other cases in it.
    """
    names = judgement_names(run.judgements, words)

    def said(case_id: str) -> str:
        resolution = run.resolutions.get(case_id)
        votes: Iterable[Vote] = resolution.votes if resolution is not None else ()
        return what_was_said(unnamed(votes, words) if blind else votes, names, words)

    def reasons(case_id: str) -> str:
        own = run.book.cases[case_id].own
        conflicts = [conflict for conflict in run.conflicts if case_id in conflict.cases or own == conflict.with_gold]
        found: list[str] = []
        for conflict in conflicts:
            found.append(conflict_reason(conflict, words))
            if len(conflict.words) > 1:
                found.append(" / ".join(words("quoted", text=text) for text in conflict.words))
        found.append(said(case_id))
        for other in dict.fromkeys(each for conflict in conflicts for each in conflict.cases):
            if other != case_id:
                found += [f"{run.case_number(other)}: {line}" for line in said(other).split("\n")]
        if any(conflict.hint for conflict in conflicts):
            found.append(words["adjudicated.hint_boundary"])
        return "\n".join(dict.fromkeys(found))

    return {case_id: reasons(case_id) for case_id in run.to_decide}


def unnamed(votes: Iterable[Vote], words: Words) -> tuple[Vote, ...]:
    """The votes on a case under letters, ordered by what was said, so that nobody's place gives them away."""
    ordered = sorted(votes, key=lambda vote: (vote.record.code, vote.record.correct_span, vote.record.comment))
    return tuple(
        replace(
            vote, record=structs.replace(vote.record, judge=words("adjudicated.judge", letter=chr(ord("A") + place)))
        )
        for place, vote in enumerate(ordered)
    )


def sentence_differences(changes: Sequence[Change], corpus: Corpus) -> list[Difference]:
    """For each change its sentence, with the words that are marked no longer, newly, and as before."""
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
        found.append(tuple(piece for piece in pieces if piece.text))
    return found


def _mark(change: Change, position: int) -> str:
    before, now = _covers(change.old, position), _covers(change.new, position)
    if before and now:
        return KEPT
    return STRUCK if before else INSERTED if now else PLAIN


def _covers(content: Content, position: int) -> bool:
    return any(part.start <= position <= part.end for part in content)


def label_difference(change: Change, layers: Sequence[str], corpus: Corpus, words: Words) -> Difference:
    """Every label with its layer; with its words, too, where the layers of one span do not reach equally far."""
    apart = any(len({(part.start, part.end) for part in side}) > 1 for side in (change.old, change.new))
    parts = sorted(
        sorted_parts(change.old | change.new), key=lambda part: (layers.index(part.layer), part not in change.old)
    )
    pieces: list[Segment] = []
    for part in parts:
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
    return tuple(pieces)


def _same_label(part: LayerSpan, change: Change) -> bool:
    """Whether the layer has the same label before and after."""
    before, now = ([each.label for each in side if each.layer == part.layer] for side in (change.old, change.new))
    return before == now == [part.label]
