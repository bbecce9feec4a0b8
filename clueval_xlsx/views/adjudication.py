"""What came of a re-import: before and after, what the cases turned out to be, changes, conflicts, agreement."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import pandas as pd

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED
from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.views import numbers
from clueval_xlsx.views.case_words import class_name, sheet_name, spans_name
from clueval_xlsx.views.judgement_words import judgement_names, judgements_of, severity_name, what_was_said
from clueval_xlsx.views.overview import Bar, BarPlot
from clueval_xlsx.views.scores import ScoreTable, score_view
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clueval_xlsx.review.accounting import Account
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.conflicts import CaseConflict

# What the parts of the ledger are drawn as: whose error it was; grey where nobody's.
_LEDGER_MARKS = {"gold_error": PRED, "true_find": PRED, "model_error": GOLD, "acceptable": BOTH, "settled": BOTH}
_NOBODY = "nobody"
_ESTIMATE_COLUMNS = {
    "rate": ValueKind.TEXT,
    "estimate": ValueKind.RATE,
    "interval": ValueKind.INTERVAL,
    "judged": ValueKind.COUNT,
    "drawn": ValueKind.COUNT,
    "population": ValueKind.COUNT,
    "more_to_halve": ValueKind.COUNT,
}


@dataclass(frozen=True)
class AdjudicationView:
    """Everything that is shown of a re-import, in the order in which it is shown."""

    reference: str
    model: str
    judged: str
    states: ScoreTable
    unseen: str
    estimates: TableView | None
    ledger: TableView
    ledger_bars: tuple[BarPlot, ...]
    severities: TableView
    severity_bars: BarPlot
    account: TableView
    workbooks: TableView
    lists: tuple[TableView, ...]  # changes, conflicts, agreement, judgements, unusable rows
    signatures: tuple[str, ...]


def adjudication_view(run: Adjudication, words: Words) -> AdjudicationView:
    """What is shown of a re-import."""
    pair = run.raw.pair
    severities = _severities(run, words)
    ledger = _ledger(run, words)
    return AdjudicationView(
        PurePath(pair.gold.source.name).name,
        PurePath(pair.pred.source.name).name,
        words("adjudicated.judged_by", judged=numbers.count(_judged(run), words), people=_people(run, words)),
        state_table(run, words),
        words["adjudicated.unseen"],
        _estimates(run, words) if len(run.estimates) else None,
        ledger,
        _ledger_bars(run, words),
        severities,
        BarPlot(severities.title, tuple(Bar(str(name), int(number), GOLD) for name, number in _pairs(severities))),
        _account(run, words),
        _workbooks(run, words),
        (
            _changes(run, words),
            _conflicts(run, words),
            _agreement(run, words),
            _judgement_counts(run, words),
            _unusable(run, words),
        ),
        tuple(dict.fromkeys((run.raw.signature, run.corrected.signature))),
    )


def state_table(run: Adjudication, words: Words) -> ScoreTable:
    """The headline before, after correction, and with what is forgiven."""
    rows = tuple(score_view(words[f"adjudicated.state_{row['state']}"], row) for row in run.scores.to_dict("records"))
    title, first, note = (words[f"adjudicated.{key}"] for key in ("states_title", "state", "states"))
    return ScoreTable("states", title, first, rows, run.raw.options.beta, note)


def adjudication_sentence(run: Adjudication, words: Words) -> str:
    """One sentence that says what came of it."""
    ledger = run.ledger.set_index("entry")
    errors, finds = int(ledger.loc["gold_error", FN]), int(ledger.loc["true_find", FP])
    left = int(ledger.loc[["undecided", "open"]].to_numpy().sum())
    return words(
        "adjudicated.sentence",
        judged=numbers.count(_judged(run), words),
        people=_people(run, words),
        errors=numbers.count(errors, words),
        finds=numbers.count(finds, words),
        left=numbers.count(left, words),
        changes=numbers.count(len(run.correction.changes), words),
        unseen=words["adjudicated.unseen"],
    )


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
            **{key: numbers.count(row[key], words) for key in ("judged", "drawn", "population", "more_to_halve")},
        )
        for row in rows
    ]


def conflict_sentence(run: Adjudication, conflict: CaseConflict, words: Words) -> str:
    """One conflict in a sentence: where, what is at stake, why, who said what, and a way out."""
    said = what_was_said(conflict.rows, judgement_names(judgements_of(run), words), words)
    return words(
        "adjudicated.conflict_sentence",
        cases=", ".join(conflict.cases),
        document=conflict.document,
        words=" / ".join(words("quoted", text=text) for text in conflict.words),
        why=_why(conflict, words),
        said="; ".join(said.split("\n")),
        places=", ".join(dict.fromkeys(conflict.places)),
        hint=words["adjudicated.hint_boundary"] if conflict.hint else "",
    ).strip()


def _why(conflict: CaseConflict, words: Words) -> str:
    key = f"adjudicated.kind_{conflict.kind}"
    return words[f"{key}_gold" if conflict.with_gold and f"{key}_gold" in words else key]


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
            *(int(row[key]) for key in ("judged", "drawn", "population", "more_to_halve")),
        )
        for row in run.estimates.to_dict("records")
    ]
    title, note = words["adjudicated.sample_title"], words["adjudicated.sample"]
    return TableView("estimates", title, tuple(columns), tuple(rows), note)


def _ledger(run: Adjudication, words: Words) -> TableView:
    """What the cases turned out to be, without what never happened."""
    sheets = [name for name in run.ledger.columns if name != "entry"]
    columns = [TableColumn("entry", words["adjudicated.ledger_entry"])]
    columns += [TableColumn(sheet, spans_name(sheet, words), ValueKind.COUNT) for sheet in sheets]
    rows: list[TableRow] = [
        (words[f"adjudicated.entry_{row['entry']}"], *(int(row[sheet]) for sheet in sheets))
        for row in run.ledger[run.ledger[sheets].sum(axis=1) > 0].to_dict("records")
    ]
    return TableView("ledger", words["adjudicated.ledger_title"], tuple(columns), tuple(rows))


def _ledger_bars(run: Adjudication, words: Words) -> tuple[BarPlot, ...]:
    plots = []
    for sheet in (name for name in (FN, FP, AG) if name in run.ledger.columns):
        bars = tuple(
            Bar(words[f"adjudicated.entry_{row['entry']}"], int(row[sheet]), _LEDGER_MARKS.get(row["entry"], _NOBODY))
            for row in run.ledger.to_dict("records")
            if row[sheet]
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


def _pairs(table: TableView) -> list[tuple[str, int]]:
    return [(str(row[0]), int(str(row[1]))) for row in table.rows]


def _workbooks(run: Adjudication, words: Words) -> TableView:
    columns = [
        *_columns(words, "workbook"),
        *_counts(words, "case_rows", "judged_rows"),
        *_columns(words, "judge_name"),
    ]
    rows = tuple((PurePath(book.name).name, len(book.present), len(book.rows), book.judge) for book in run.workbooks)
    return TableView("workbooks", words["adjudicated.workbooks_title"], tuple(columns), rows)


def account_sentence(account: Account, words: Words) -> str:
    """The books of a run or a workbook: all cases, and how many are in each state."""
    parts = ", ".join(words(f"account.{state}", count=count) for state, count in account.counts.items())
    return words("account.sentence", cases=account.cases, parts=parts)


def _account(run: Adjudication, words: Words) -> TableView:
    columns = (*_columns(words, "state"), TableColumn("cases", words["account.cases"], ValueKind.COUNT))
    rows = [(words[f"account.state.{state}"], count) for state, count in run.account.counts.items()]
    return TableView("account", words["account.title"], columns, (*rows, (words["account.all"], run.account.cases)))


def _counts(words: Words, *keys: str) -> list[TableColumn]:
    return [TableColumn(key, words[f"adjudicated.{key}"], ValueKind.COUNT) for key in keys]


def _changes(run: Adjudication, words: Words) -> TableView:
    names = judgement_names(judgements_of(run), words)
    columns = _columns(words, "case", "document", "old_span", "old_labels", "new_span", "new_labels", "judgement")
    columns += _columns(words, "who", "comment", "workbook", "positions")
    rows = [
        (
            change["case"],
            change["document"],
            change["old_text"] or words["adjudicated.added"],
            change["old_labels"],
            change["new_text"] or words["adjudicated.deleted"],
            change["new_labels"],
            names.get(change["judgement"], change["judgement"]),
            change["who"],
            change["comment"],
            PurePath(change["workbook"]).name,
            " → ".join(
                "" if pd.isna(change[f"{side}_start"]) else f"{change[f'{side}_start']}–{change[f'{side}_end']}"
                for side in ("old", "new")
            ),
        )
        for change in run.changes.to_dict("records")
    ]
    return _table("changes", columns, rows, words)


def _conflicts(run: Adjudication, words: Words) -> TableView:
    names = judgement_names(judgements_of(run), words)
    columns = _columns(words, "cases", "document", "words", "kind", "said", "place", "hint")
    rows = [
        (
            "\n".join(conflict.cases),
            conflict.document,
            "\n".join(conflict.words),
            _why(conflict, words),
            what_was_said(conflict.rows, names, words),
            "\n".join(dict.fromkeys(_without_folders(place) for place in conflict.places)),
            words["adjudicated.hint_boundary" if conflict.hint else "adjudicated.hint_judge"],
        )
        for conflict in run.conflicts
    ]
    return _table("conflicts", columns, rows, words)


def _agreement(run: Adjudication, words: Words) -> TableView:
    columns = [*_columns(words, "over", "measure", "judge_name"), *_counts(words, "number")]
    columns.append(TableColumn("value", words["adjudicated.value"], ValueKind.MEASURE))
    rows = []
    for line in run.agreement.to_dict("records"):
        over = words["adjudicated.over_all"]
        if isinstance(line["label"], str):
            over = f"{line['layer']}: {line['label']}"
        elif isinstance(line["sheet"], str):
            over = sheet_name(line["sheet"], words)
        measure = words[f"adjudicated.measure_{line['measure']}"]
        rows.append((over, measure, line["judges"], int(line["cases"]), float(line["value"])))
    return _table("agreement", columns, rows, words, note=words["adjudicated.agreement_counts"])


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
        rows.append((shown, value, names.get(line["judgement"], line["judgement"]), int(line["cases"])))
    return _table("counts", columns, rows, words)


def _unusable(run: Adjudication, words: Words) -> TableView:
    rows = []
    for problem in run.problems:
        name, _, place = _without_folders(problem.where).partition("!")
        sheet, _, cell = place.rpartition("!")
        rows.append((name, sheet, cell, *_reason(problem, words)))
    return _table("unusable", _columns(words, "file", "sheet", "cell", "found", "reason"), rows, words)


def _reason(problem: Problem, words: Words) -> tuple[str, str]:
    """What was found, and why it cannot be used; rows of a workbook have a reason, others speak for themselves."""
    if isinstance(problem, RowProblem) and problem.reason:
        return problem.value, words[f"unusable.{problem.reason}"]
    return problem.found, problem.allowed


def _without_folders(place: str) -> str:
    """Where a row stands, without the folders of the machine that read it."""
    name, mark, rest = place.partition("!")
    return f"{PurePath(name).name}{mark}{rest}"
