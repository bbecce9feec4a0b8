"""What the rows of judged workbooks say of their cases: votes, and complaints about rows that mean nothing."""

from __future__ import annotations

from collections.abc import Sequence

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.review.decisions import CaseBook, Unusable
from clueval_xlsx.review.judgements import SETTLING, TAKES_LABEL, TAKES_SPAN, Judgement
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.reading import JudgedWorkbook
from clueval_xlsx.review.resolution import Vote
from clueval_xlsx.review.sheet_rows import ReviewRow
from clueval_xlsx.text.cells import ELLIPSIS


def each_once(workbooks: Sequence[JudgedWorkbook]) -> list[ReviewRow]:
    """The rows of all workbooks; what one person said of a case in two of them counts once."""
    rows: dict[tuple[object, ...], ReviewRow] = {}
    for workbook in workbooks:
        for row in workbook.rows:
            record = row.record
            rows.setdefault((normalise(record.judge), record.final, record.case_id, record.said), row)
    return list(rows.values())


def read_votes(
    rows: Sequence[ReviewRow], book: CaseBook
) -> tuple[list[Vote], list[Judgement], list[Problem], list[str]]:
    """What every row means; rows that mean nothing are complained about."""
    votes: list[Vote] = []
    records: list[Judgement] = []
    problems: list[Problem] = []
    notes: list[str] = []
    surfaces = dict(zip(book.table["case_id"], book.table["surface"], strict=True))
    for row in rows:
        record = row.record
        if record.case_id not in book.cases:
            problems.append(
                RowProblem(
                    row.where("case"),
                    f"found case {record.case_id}, which is not among the cases of this run",
                    remedy="Copy the case ID from the workbook as it was sent out",
                    reason="unknown_case",
                    value=record.case_id,
                )
            )
            continue
        if row.span and row.span != surfaces[record.case_id] and _edited(row.span, surfaces[record.case_id]):
            notes.append(f"{row.where('span')}: the words of the case were edited; the edit is ignored")
        if record.code:
            try:
                votes.append(Vote(record, book.decide(record)))
            except Unusable as why:
                problems.append(
                    RowProblem(
                        row.where(why.column),
                        f"found {why.found}",
                        why.allowed,
                        reason=why.reason,
                        value=why.value,
                        case=record.case_id,
                    )
                )
                continue
            notes += _ignored_corrections(row)
            problems += _stray_labels(row, book)
            notes += [
                f"{row.where(f'correct_label:{layer}')}: {label!r} is a new label of layer {layer}"
                for layer, label in record.correct_labels.items()
                if record.effect in TAKES_LABEL and not book.knows_label(layer, label)
            ]
        records.append(record)
    return votes, records, problems, notes


def _edited(shown: str, surface: str) -> bool:
    """Whether a cell says something else than the case; a shortened text is not held against anybody."""
    return normalise(shown) != normalise(surface) and ELLIPSIS not in shown


def _stray_labels(row: ReviewRow, book: CaseBook) -> list[Problem]:
    """What stands as a correct label beside a judgement that takes none and is no label: something else was meant."""
    record = row.record
    return [
        RowProblem(
            row.where(f"correct_label:{layer}"),
            f"found {label[:60]!r}, which is no label, beside a judgement that takes none. The rest of the row counts",
            "each entry in its own column",
            reason="misplaced",
            value=label[:60],
            case=record.case_id,
        )
        for layer, label in record.correct_labels.items()
        if record.effect not in TAKES_LABEL and not book.knows_label(layer, label)
    ]


def _ignored_corrections(row: ReviewRow) -> list[str]:
    record = row.record
    notes = []
    if record.correct_span and record.effect not in TAKES_SPAN:
        notes.append(f"{row.where('correct_span')}: a correct span beside {record.code!r} does nothing")
    if record.correct_labels and record.effect not in TAKES_LABEL:
        notes.append(f"{row.where('correct_label')}: a correct label beside {record.code!r} does nothing")
    return notes


def without_overruled(votes: Sequence[Vote], book: CaseBook) -> list[Vote]:
    """The votes that count: a last word on a case holds for the cases linked to it, unless these got their own."""
    final = {vote.record.case_id for vote in votes if vote.record.final}
    covered = {
        other
        for vote in votes
        if vote.record.final and vote.decision.effect in SETTLING
        for other in book.related.get(vote.record.case_id, ())
    } - final
    return [vote for vote in votes if not {vote.record.case_id, vote.record.twin} & covered]
