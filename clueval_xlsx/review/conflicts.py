"""Conflicts and changes in words that people can act upon."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.files.names import without_formula
from clueval_xlsx.review.correction import Change, Content, Correction, LayerSpan, extent
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.resolution import Resolution, Vote
from clueval_xlsx.review.vocabulary import ConflictKind, Effect

CHANGE_COLUMNS = (
    "case",
    "document",
    "old_start",
    "old_end",
    "old_text",
    "old_labels",
    "new_start",
    "new_end",
    "new_text",
    "new_labels",
    "old",
    "new",
    "judgement",
    "who",
    "comment",
    "workbook",
    "place",
    "twin",  # the case that the decision was made on, where it was carried over
)


@dataclass(frozen=True)
class CaseConflict:
    """Judgements that were not carried out: why, which cases and rows, the words at stake, and a way out."""

    kind: ConflictKind
    cases: tuple[str, ...]
    rows: tuple[Vote, ...]
    document: str
    words: tuple[str, ...]
    hint: Effect | None = None  # what may have been meant instead
    with_gold: bool = False  # a span of gold that stays is in the way

    @property
    def places(self) -> tuple[str, ...]:
        """Where the rows stand."""
        return tuple(vote.record.place for vote in self.rows)


def describe_conflicts(
    resolutions: Mapping[str, Resolution], correction: Correction, book: CaseBook, corpus: Corpus
) -> tuple[CaseConflict, ...]:
    """First what people disagree about, then what cannot be carried out together."""
    found = []
    claimed: dict[
        tuple[str, ...], list[str]
    ] = {}  # by the cells whose claims differ: one conflict for all that they claim
    for case_id, resolution in resolutions.items():
        if resolution.reason is ConflictKind.CLAIMS:
            claimed.setdefault(tuple(vote.record.place for vote in resolution.votes), []).append(case_id)
        elif resolution.reason is not None:
            row = book.table.loc[case_id]
            found.append(
                CaseConflict(resolution.reason, (case_id,), resolution.votes, row["document"], (row["surface"],))
            )
    for cases in claimed.values():
        row = book.table.loc[cases[0]]
        votes = resolutions[cases[0]].votes
        found.append(CaseConflict(ConflictKind.CLAIMS, tuple(cases), votes, row["document"], (row["surface"],)))
    for conflict in correction.conflicts:
        rows = [vote for case_id in conflict.cases for vote in resolutions[case_id].winners]
        spans = dict.fromkeys(conflict.spans)
        document = str(book.table.loc[conflict.cases[0], "document"])
        hint = Effect.BOUNDARY if conflict.adds and conflict.with_gold else None
        words = tuple(corpus.text(*span) for span in spans)
        found.append(
            CaseConflict(conflict.kind, conflict.cases, tuple(rows), document, words, hint, bool(conflict.with_gold))
        )
    return tuple(found)


def content_text(content: Content) -> str:
    """What the layers have at a span, in one line: `risk 3..5 HIGH`."""
    return "; ".join(
        f"{part.layer} {part.start}..{part.end} {part.label or NO_LABEL}" for part in sorted_parts(content)
    )


def sorted_parts(content: Content) -> list[LayerSpan]:
    """The parts of a span by place and layer."""
    return sorted(content, key=lambda part: (part.start, part.end, part.layer))


def describe_changes(
    changes: Sequence[Change], resolutions: Mapping[str, Resolution], book: CaseBook, pair: Pair
) -> pd.DataFrame:
    """The change log as a table, in the order of the text."""
    corpus = pair.corpus
    rows = []
    for change in sorted(changes, key=lambda change: extent(change.old or change.new)):
        winners = resolutions[change.case_id].winners
        row: dict[str, object] = {"case": change.case_id, "document": book.table.loc[change.case_id, "document"]}
        for name, content in (("old", change.old), ("new", change.new)):
            span = extent(content) if content else None
            row[f"{name}_start"], row[f"{name}_end"] = span if span else (None, None)
            row[f"{name}_text"] = corpus.text(*span) if span else ""
            row[f"{name}_labels"] = _labels(content, pair.layers)
            row[name] = content_text(content)
        row["judgement"] = change.code
        row["who"] = ", ".join(dict.fromkeys(vote.record.judge for vote in winners))
        row["comment"] = " / ".join(dict.fromkeys(vote.record.comment for vote in winners if vote.record.comment))
        row["workbook"] = ", ".join(dict.fromkeys(vote.record.workbook for vote in winners))
        row["place"] = ", ".join(dict.fromkeys(vote.record.place for vote in winners))
        row["twin"] = resolutions[change.case_id].carried_from
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(CHANGE_COLUMNS))
    numbers = [name for name in CHANGE_COLUMNS if name.endswith(("_start", "_end"))]
    return table.astype(dict.fromkeys(numbers, "Int64"))


def _labels(content: Content, layers: Sequence[str]) -> str:
    """The labels of a span, with their layers where there are several."""
    shown = []
    for layer in layers:
        labels = dict.fromkeys(part.label or NO_LABEL for part in sorted_parts(content) if part.layer == layer)
        if labels:
            shown.append(("" if len(layers) == 1 else f"{layer}: ") + ", ".join(labels))
    return "; ".join(shown)


def changes_tsv(changes: pd.DataFrame) -> str:
    """The change log as TSV; line breaks and tabs inside a cell become spaces, what looks like a formula is escaped."""
    table = changes.drop(columns=["old", "new", "place"]).astype(object).where(changes.notna(), "")
    for name in table.columns:
        table[name] = [without_formula(" ".join(str(value).split())) for value in table[name]]
    return table.to_csv(sep="\t", index=False, lineterminator="\n")
