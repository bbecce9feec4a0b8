"""The rows of a workbook in which somebody filled in something; each judgement once, however often its row stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.files.sheets import cell_name
from clueval_xlsx.review.judgements import Effect, Judgement, TrustId
from clueval_xlsx.text.cells import normalise


@dataclass(frozen=True)
class RowRules:
    """What holds for every row of a workbook: who judged, which case ID is trusted, and who has the last word."""

    judge: str
    trust_id: TrustId | None = None
    final: bool = False
    workbook: str = ""
    sha256: str = ""  # of the workbook's file as it was given


@dataclass(frozen=True)
class ReviewRow:
    """One row with something filled in: the record, and where it stands."""

    record: Judgement
    columns: Mapping[str, int] = field(default_factory=dict)  # where each stands
    row: int = 0

    def where(self, column: str) -> str:
        """The place of a column's cell, or of the judgement if the column is missing."""
        known = [key for key in self.columns if key == column or key.startswith(f"{column}:")]
        filled = [key for key in known if key.partition(":")[2] in {"", *self.record.correct_labels}]
        sheet = self.record.place.rpartition("!")[0]
        return f"{sheet}!{cell_name(self.row, self.columns[(filled or known)[0]])}" if known else self.record.place

    @property
    def lacks(self) -> str:
        """The column of the correction without which the judgement means nothing, if it is not there."""
        record = self.record
        if record.effect is Effect.BOUNDARY and not normalise(record.correct_span):
            return "correct_span"
        if record.effect is Effect.LABEL and not any(map(normalise, record.correct_labels.values())):
            return "correct_label"
        return ""

    @property
    def is_complete(self) -> bool:
        """Whether there is a judgement with the correction that it needs."""
        return bool(self.record.code) and not self.lacks


@dataclass
class ReadRows:
    """What the sheets of a workbook hold. Cases of rows come with the kind of their sheet, empty for a copy."""

    rows: list[tuple[str, ReviewRow]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    present: set[tuple[str, str]] = field(default_factory=set)
    open: set[tuple[str, str]] = field(default_factory=set)  # rows in which nobody judged
    held: set[tuple[str, str]] = field(default_factory=set)  # rows that cannot be read
    parted: set[str] = field(default_factory=set)  # cases with a row that has no column for judgements
    alone: set[str] = field(default_factory=set)  # cases with a row of answers that was cut away from its case


def each_once(rows: Iterable[tuple[str, ReviewRow]], undecided: set[str]) -> tuple[list[ReviewRow], list[Problem]]:
    """Each judgement of a workbook once, and complaints about those that stand in a copy of their row only.

    `undecided` are cases with a row that is open or cannot be read. A judgement in a copy of such a row may be an old
    one that somebody took back, unless the case's own sheet has one.
    """
    by_case: dict[str, list[tuple[bool, ReviewRow]]] = defaultdict(list)
    for kind, row in rows:
        by_case[row.record.case_id].append((kind == row.record.case_id.partition("-")[0], row))
    kept: list[ReviewRow] = []
    problems: list[Problem] = []
    for case, pairs in by_case.items():
        if len(pairs) == 1 and pairs[0][0]:  # as nearly all are
            kept.append(pairs[0][1])
            continue
        ordered = [row for _, row in sorted(pairs, key=lambda pair: not pair[0])]
        home = [row for at_home, row in pairs if at_home]
        lacking = case in undecided or (len(pairs) > 1 and not all(row.is_complete for row in ordered))
        stale: list[ReviewRow] = []
        if lacking and not any(row.is_complete for row in home):
            stale = [row for row in ordered if row.record.code and (row.is_complete or row not in home)]
            problems += [only_in_copy(row) for row in stale]
        said = {row.record.said: row for row in reversed(ordered) if row not in stale}
        left = list(reversed(said.values()))
        answers = {row.record.said[:3] for row in left if row.record.code}
        claims = {(row.record.said[:3], row.record.applies_to) for row in left if row.record.code}
        if len(claims) > len(answers):  # claimed for twins in the one, not in the other
            scopes = [row for row in left if row.record.applies_to]
            problems += [_scope_only_in_copy(row) for row in scopes]
            left = [row for row in left if row not in scopes]
        kept += left
    return kept, problems


def only_in_copy(row: ReviewRow) -> Problem:
    """The complaint about a judgement that may be an old one, since its case is open where it belongs."""
    case = row.record.case_id
    return RowProblem(
        row.record.place,
        f"found a judgement of {case} in a copy of the sheet, but none on the sheet itself",
        remedy="Fill it in on the sheet itself, or delete the copy",
        reason="only_in_copy",
        case=case,
    )


def _scope_only_in_copy(row: ReviewRow) -> Problem:
    case = row.record.case_id
    return RowProblem(
        row.where("applies_to"),
        f"found in a copy of the sheet what the judgement of {case} applies to, but not on the sheet itself",
        remedy="Fill it in on the sheet itself, or delete the copy",
        reason="only_in_copy",
        value=str(row.record.applies_to),
        case=case,
    )
