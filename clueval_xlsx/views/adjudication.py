"""What came of a re-import: before and after, what the cases turned out to be, changes, conflicts, agreement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED
from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.review.accounting import CaseState
from clueval_xlsx.review.adjudication_words import case_number, conflict_reason, correction_words, judgements_of
from clueval_xlsx.review.case_words import class_name, judgement_names, severity_name, sheet_name, spans_name
from clueval_xlsx.review.judged_figures import CARRIED
from clueval_xlsx.review.vocabulary import SPAN_CHOICES
from clueval_xlsx.views import numbers
from clueval_xlsx.views.changes import change_table
from clueval_xlsx.views.judge_agreement import agreement_matrix
from clueval_xlsx.views.lead_headline import NextStep, headline_sentence, lead_tiles, next_steps, unjudged_sentence
from clueval_xlsx.views.overview import Bar, BarPlot, Tile
from clueval_xlsx.views.rate_axis import RateAxis, rate_axis
from clueval_xlsx.views.remaining import remaining_table
from clueval_xlsx.views.scores import ScoreTable, score_view
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clueval_xlsx.review.accounting import Account
    from clueval_xlsx.review.adjudication import Adjudication

# What the parts of the ledger are drawn as: whose error it was; grey where nobody's.
_LEDGER_MARKS = {
    "gold_error": PRED,
    "true_find": PRED,
    "model_error": GOLD,
    "missed_by_both": GOLD,
    "acceptable": BOTH,
    "settled": BOTH,
}
_NOBODY = "nobody"
_UNJUDGED = "unjudged"
_ESTIMATE_COLUMNS = {
    "rate": ValueKind.TEXT,
    "estimate": ValueKind.RATE,
    "interval": ValueKind.INTERVAL,
    "judged": ValueKind.COUNT,
    "drawn": ValueKind.COUNT,
    "population": ValueKind.COUNT,
}


@dataclass(frozen=True)
class AdjudicationView:
    """Everything that is shown of a re-import, in the order in which every medium shows it."""

    reference: str
    model: str
    judged: str
    headline: str
    tiles: tuple[Tile, ...]
    next_steps: tuple[NextStep, ...]
    states: ScoreTable
    axis: RateAxis  # of the plot of states
    unseen: str
    tables: tuple[TableView, ...]  # estimates, what remains, ledger, severities, account, workbooks
    ledger_bars: tuple[BarPlot, ...]
    lists: tuple[TableView, ...]  # changes, conflicts, agreement, unusable rows, judgements
    signatures: tuple[str, ...]


def adjudication_view(run: Adjudication, words: Words, conflict_workbook: str = "") -> AdjudicationView:
    """What is shown of a re-import; `conflict_workbook` is the one that was written for the cases in conflict."""
    pair = run.raw.pair
    states = state_table(run, words)
    rates = [rate for row in states.rows for rate in (row.recall, row.precision)]
    tables = (
        _estimates(run, words) if len(run.estimates) else None,
        remaining_table(run, words),
        _ledger(run, words),
        _severities(run, words),
        _account(run, words),
        _workbooks(run, words),
    )
    return AdjudicationView(
        PurePath(pair.gold.source.name).name,
        PurePath(pair.pred.source.name).name,
        words("adjudicated.judged_by", judged=numbers.count(_judged(run), words), people=_people(run, words)),
        headline_sentence(run, words),
        lead_tiles(run, words),
        next_steps(run, words, conflict_workbook),
        states,
        rate_axis(value for rate in rates for value in (rate.value, rate.low, rate.high)),
        words["adjudicated.unseen"],
        tuple(table for table in tables if table is not None),
        _ledger_bars(run, words),
        (
            change_table(run, words),
            _conflicts(run, words),
            agreement_matrix(run, words),
            _unusable(run, words),
            _judgement_counts(run, words),
        ),
        tuple(dict.fromkeys((run.raw.signature, run.corrected.signature))),
    )


def state_table(run: Adjudication, words: Words) -> ScoreTable:
    """The headline before, after correction, and with what is forgiven."""
    rows = tuple(score_view(words[f"adjudicated.state_{row['state']}"], row) for row in run.scores.to_dict("records"))
    title, first, note = (words[f"adjudicated.{key}"] for key in ("states_title", "state", "states"))
    return ScoreTable("states", title, first, rows, run.raw.options.beta, note)


def estimate_sentences(run: Adjudication, words: Words) -> list[str]:
    """What a sample tells about all cases."""
    rows = run.estimates.to_dict("records")
    if rows and not rows[0]["judged"]:
        return [words("adjudicated.sample_nothing", drawn=numbers.count(rows[0]["drawn"], words))]
    return [
        words(
            "adjudicated.sample_sentence",
            rate=words[f"metrics.{row['rate']}"],
            value=numbers.per_cent(row["value"], words),
            interval=numbers.interval(row["low"], row["high"], words),
            **{key: numbers.count(row[key], words) for key in ("judged", "drawn", "population")},
        )
        for row in rows
    ]


def _judged(run: Adjudication) -> int:
    return sum(bool(record.code) for record in run.records)


def _people(run: Adjudication, words: Words) -> str:
    names = dict.fromkeys(record.judge for record in run.records if record.code)
    return ", ".join(names) or words["adjudicated.nobody"]


def _table(
    key: str, columns: Iterable[TableColumn], rows: Iterable[TableRow], words: Words, *, note: str = ""
) -> TableView:
    empty = words.get(f"adjudicated.none_{key}")
    return TableView(key, words[f"adjudicated.{key}"], tuple(columns), tuple(rows), note, empty)


def _columns(words: Words, *keys: str) -> list[TableColumn]:
    """Columns of text by the keys of their headings."""
    return [TableColumn(key, words.get(f"adjudicated.{key}") or words[f"column.{key}"]) for key in keys]


def _estimates(run: Adjudication, words: Words) -> TableView:
    """What holds for all cases, as far as a sample can tell."""
    columns = [TableColumn(key, words[f"adjudicated.sample_{key}"], kind) for key, kind in _ESTIMATE_COLUMNS.items()]
    rows: list[TableRow] = [
        (
            words[f"metrics.{row['rate']}"],
            float(row["value"]),
            (float(row["low"]), float(row["high"])),
            *(int(row[key]) for key in ("judged", "drawn", "population")),
        )
        for row in run.estimates.to_dict("records")
    ]
    title, note = words["adjudicated.sample_title"], words["adjudicated.sample"]
    return TableView("estimates", title, tuple(columns), tuple(rows), note)


def _ledger(run: Adjudication, words: Words) -> TableView:
    """What the cases turned out to be, without what never happened."""
    sheets = [name for name in run.ledger.columns if name not in {"entry", CARRIED}]
    columns = [TableColumn("entry", words["adjudicated.ledger_entry"])]
    columns += [TableColumn(sheet, spans_name(sheet, words), ValueKind.COUNT) for sheet in sheets]
    shown = [*sheets, CARRIED] if CARRIED in run.ledger.columns else sheets
    if CARRIED in shown:
        columns.append(TableColumn(CARRIED, words["adjudicated.through_twin"], ValueKind.COUNT))
    rows: list[TableRow] = [
        (words[f"adjudicated.entry_{row['entry']}"], *(int(row[name]) for name in shown))
        for row in run.ledger[run.ledger[sheets].sum(axis=1) > 0].to_dict("records")
        if row["entry"] != _UNJUDGED
    ]
    title, note = words["adjudicated.ledger_title"], unjudged_sentence(run, words)
    return TableView("ledger", title, tuple(columns), tuple(rows), note, words["adjudicated.none_counts"])


def _ledger_bars(run: Adjudication, words: Words) -> tuple[BarPlot, ...]:
    """What is settled, one plot a sheet; the unjudged are words, since their bar would flatten the rest."""
    plots = []
    for sheet in (name for name in Sheet if name in run.ledger.columns):
        bars = tuple(
            Bar(words[f"adjudicated.entry_{row['entry']}"], int(row[sheet]), _LEDGER_MARKS.get(row["entry"], _NOBODY))
            for row in run.ledger.to_dict("records")
            if row[sheet] and row["entry"] != _UNJUDGED
        )
        plots.append(BarPlot(spans_name(sheet, words), bars, empty=words["html.none"]))
    return tuple(plots)


def _severities(run: Adjudication, words: Words) -> TableView:
    columns = (
        TableColumn("severity", words["adjudicated.severity"]),
        TableColumn("misses", words["adjudicated.misses"], ValueKind.COUNT),
    )
    rows = tuple((_severity(row["severity"], words), int(row["misses"])) for row in run.misses.to_dict("records"))
    return TableView("severities", words["adjudicated.severity_title"], columns, rows)


def _severity(severity: str, words: Words) -> str:
    return severity_name(severity, words) if severity else words["adjudicated.unrated"]


def _workbooks(run: Adjudication, words: Words) -> TableView:
    columns = [
        *_columns(words, "workbook"),
        *_counts(words, "case_rows", "done_rows", "unusable_rows"),
        *_columns(words, "judge_name"),
    ]
    rows = tuple(
        (
            PurePath(book.name).name,
            len(book.present),
            account.done,
            account.counts[CaseState.UNUSABLE],
            book.judge,
        )
        for book, account in zip(run.workbooks, run.workbook_accounts, strict=True)
    )
    return TableView("workbooks", words["adjudicated.workbooks_title"], tuple(columns), rows)


def account_sentence(account: Account, words: Words) -> str:
    """The books of a run or a workbook: all cases, and how many are in each state."""
    parts = ", ".join(words(f"account.{state}", count=count) for state, count in account.counts.items())
    return words.counted("account.sentence", account.cases, cases=account.cases, parts=parts)


def _account(run: Adjudication, words: Words) -> TableView:
    columns = (*_columns(words, "state"), TableColumn("cases", words["account.cases"], ValueKind.COUNT))
    rows = [(words[f"account.state.{state}"], count) for state, count in run.account.counts.items()]
    return TableView("account", words["account.title"], columns, (*rows, (words["account.all"], run.account.cases)))


def _counts(words: Words, *keys: str) -> list[TableColumn]:
    return [TableColumn(key, words[f"adjudicated.{key}"], ValueKind.COUNT) for key in keys]


def _conflicts(run: Adjudication, words: Words) -> TableView:
    """One row for each judgement that takes part in a conflict: who said what, with corrections and comment."""
    names = judgement_names(judgements_of(run), words)
    columns = _columns(words, "cases", "case_id", "document", "words", "kind", "hint")
    shared = len(columns)
    columns += _columns(words, "who", "judgement", "correction", "comment", "place")
    rows = []
    for conflict in run.conflicts:
        row: TableRow = (
            ", ".join(case_number(run, case) for case in conflict.cases),
            ", ".join(conflict.cases),
            conflict.document,
            " / ".join(conflict.words),
            conflict_reason(conflict, words),
            words["adjudicated.hint_boundary" if conflict.hint else "adjudicated.hint_judge"],
        )
        for record in (vote.record for vote in conflict.rows):
            who = record.judge
            if len(conflict.cases) > 1:
                who = words("adjudicated.who_of", who=who, case=case_number(run, record.twin or record.case_id))
            name, place = names.get(record.code, record.code), _without_folders(record.place)
            rows.append((*row, who, name, correction_words(record, words), record.comment, place))
    return replace(_table("conflicts", columns, dict.fromkeys(rows), words), shared=shared)


def _judgement_counts(run: Adjudication, words: Words) -> TableView:
    names = judgement_names(judgements_of(run), words)
    columns = [*_columns(words, "dimension", "value", "judgement"), *_counts(words, "number")]
    rows = []
    for line in run.counts.to_dict("records"):
        dimension, value = line["dimension"], line["value"]
        shown = words[f"adjudicated.dimension_{dimension}"]
        if isinstance(line["key"], str):
            shown = f"{shown}: {line['key']}"
        if dimension == "severity":
            value = _severity(value, words)
        elif dimension == "class":
            value = class_name(value, words)
        elif dimension == "sheet":
            value = sheet_name(value, words)
        elif dimension == "label" and not value:
            value = words["confusion.no_label"]
        rows.append((shown, value, names.get(line["judgement"], line["judgement"]), int(line["cases"])))
    return _table("counts", columns, rows, words)


def _unusable(run: Adjudication, words: Words) -> TableView:
    """The rows that could not be used: the cell, what stands in it, why that cannot be used, and what to do."""
    rows = []
    for problem in run.problems:
        name, _, place = _without_folders(problem.where).partition("!")
        sheet, _, cell = place.rpartition("!")
        rows.append((name, sheet, cell, *_reason(problem, words)))
    return _table("unusable", _columns(words, "file", "sheet", "cell", "found", "reason", "to_do"), rows, words)


def _reason(problem: Problem, words: Words) -> tuple[str, str, str]:
    """What was found, why it cannot be used, what to do; rows have a reason, others speak for themselves."""
    if isinstance(problem, RowProblem) and problem.reason:
        value = words[f"span_choice.{problem.value}"] if problem.value in SPAN_CHOICES else problem.value
        return value, words[f"unusable.{problem.reason}"], words[f"remedy.{problem.reason}"]
    return problem.found, problem.allowed, problem.remedy


def _without_folders(place: str) -> str:
    """Where a row stands, without the folders of the machine that read it."""
    name, mark, rest = place.partition("!")
    return f"{PurePath(name).name}{mark}{rest}"
