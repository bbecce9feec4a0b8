"""The adjudicated report: before and after, what changed, what clashes, who agrees, which rows were of no use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

from clueval_xlsx.exceptions import Problem, RowProblem
from clueval_xlsx.outputs.xlsx.book import Book, Sheet
from clueval_xlsx.outputs.xlsx.charts import CHART_ROWS, chart_of_ledger, chart_of_states
from clueval_xlsx.outputs.xlsx.conflicts import said
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.outputs.xlsx.tables import SCORE_COLUMNS, interval_text, write_rate, write_score_table
from clueval_xlsx.review.vocabulary import JUDGEMENTS, words_of
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication

_LINE, _TALLEST = 13.2, 409.0
_LAST = 1 + len(SCORE_COLUMNS)
_DATA = _LAST + 3  # the figures of the charts, right of what is printed


def write_adjudicated(run: Adjudication, target: Path | BinaryIO, *, lang: str = "en") -> None:
    """Write the report workbook of one run."""
    words = Words(lang)
    with Book(target, title=words["adjudicated.title"]) as book:
        summary = book.sheet(words["adjudicated.summary"])
        _summary(summary, run, words)
        summary.tab(ACCENT)
        for key, write, colour in (
            ("changes", _changes, ACCENT),
            ("conflicts", _conflicts, GOLD_COLOUR),
            ("agreement", _agreement, ACCENT),
            ("counts", _counts, ACCENT),
            ("unusable", _unusable, PRED_COLOUR),
        ):
            sheet = book.sheet(words[f"adjudicated.{key}"])
            write(_Table(sheet, words, key), run)
            sheet.tab(colour)
        summary.activate()


class _Table:
    """A sheet with a title, a header and rows of text and numbers."""

    def __init__(self, sheet: Sheet, words: Words, key: str) -> None:
        self.sheet, self.words, self.key = sheet, words, key
        sheet.row(0, 28)
        sheet.text((0, 0), words[f"adjudicated.{key}"], "title")
        self._widths: list[float] = []
        self.row = 2

    def word(self, key: str, **values: object) -> str:
        return self.words(f"adjudicated.{key}", **values)

    def header(self, columns: Sequence[tuple[str, float]]) -> None:
        """Names and widths of the columns."""
        self._widths = [width for _, width in columns]
        self.sheet.row(self.row, 30)
        for column, (name, width) in enumerate(columns):
            self.sheet.column(column, width)
            self.sheet.text((self.row, column), name, "header")
        self.row += 1

    def add(self, values: Sequence[Any]) -> None:
        """One row: text wraps, numbers stand right, rates are shown in per cent by their own column style."""
        lines = 1
        for column, value in enumerate(values):
            cell = (self.row, column)
            if isinstance(value, float):
                self.sheet.number(cell, value, "measure") if not math.isnan(value) else self.sheet.text(
                    cell, self.words["undefined"], "undefined"
                )
            elif isinstance(value, int):
                self.sheet.number(cell, value, "count")
            else:
                text = str(value)
                self.sheet.text(cell, text, "cell_context")
                width = self._widths[column] * 1.05
                lines = max(lines, sum(max(1, math.ceil(len(part) / width)) for part in text.split("\n")))
        self.sheet.row(self.row, min(lines * _LINE + 5, _TALLEST))
        self.row += 1

    def finish(self, columns: int) -> None:
        """Filter, frozen header, print set-up; or a friendly word if there is nothing."""
        if self.row == 3:
            self.sheet.text((self.row, 0), self.word(f"none_{self.key}"), "progress")
        else:
            self.sheet.filter((2, 0), (self.row - 1, columns - 1))
        self.sheet.freeze(3)
        self.sheet.print_setup(landscape=True, header_row=2, footer=self.word(self.key))


def _judgement_names(run: Adjudication, words: Words) -> Callable[[str], str]:
    own = run.manifest.judgements if run.manifest else ()
    names = {each.code: words_of(each, words.language, words.section("judgement")) for each in (*JUDGEMENTS, *own)}
    return lambda code: names.get(code, code)


def _summary(sheet: Sheet, run: Adjudication, words: Words) -> None:
    sheet.column(0, 2)
    sheet.column(1, 40)
    for column in range(2, _LAST + 1):
        sheet.column(column, 11)
    sheet.row(0, 30)
    sheet.text((0, 1), words["adjudicated.title"], "title")
    judged = [record for record in run.records if record.code]
    people = ", ".join(dict.fromkeys(record.annotator for record in judged)) or words["adjudicated.nobody"]
    pair = run.raw.pair
    names = {"gold": Path(pair.gold.source.name).name, "pred": Path(pair.pred.source.name).name}
    sheet.text((1, 1), words("adjudicated.subtitle", judged=len(judged), people=people, **names), "subtitle")

    row = _section(sheet, 3, words["adjudicated.states_title"], words["adjudicated.states"])
    states = run.scores.assign(average="micro")
    shown = [words[f"adjudicated.state_{state}"] for state in states["state"]]
    row = write_score_table(sheet, row, 1, words["adjudicated.state"], shown, states, words, run.raw.options.beta)
    sheet.row(row, 20)
    sheet.text((row, 1), words["adjudicated.unseen"], "explanation")
    row += 2
    if len(run.estimates):
        row = _estimates(sheet, row, run, words) + 1
    chart_of_states(sheet, row, 1, _DATA, states, shown, words)
    chart_of_ledger(sheet, row, 6, _DATA + 4, run.ledger, words)
    row += CHART_ROWS + 1

    row = _section(sheet, row, words["adjudicated.ledger_title"], "")
    kinds = [name for name in run.ledger.columns if name != "entry"]
    header = [words["adjudicated.ledger_entry"], *(words[f"sheet.{kind.lower()}"] for kind in kinds)]
    rows: list[list[Any]] = [
        [words[f"adjudicated.entry_{line['entry']}"], *(line[kind] for kind in kinds)]
        for line in run.ledger[run.ledger[kinds].sum(axis=1) > 0].to_dict("records")
    ]
    row = _small_table(sheet, row, header, rows)
    row = _section(sheet, row + 1, words["adjudicated.severity_title"], "")
    rows = [
        [words[f"severity.{line['severity']}"] if line["severity"] else words["adjudicated.unrated"], line["misses"]]
        for line in run.misses.to_dict("records")
    ]
    row = _small_table(sheet, row, [words["adjudicated.severity"], words["adjudicated.misses"]], rows)
    row = _section(sheet, row + 1, words["adjudicated.workbooks_title"], "")
    header = [words[f"adjudicated.{key}"] for key in ("workbook", "case_rows", "judged_rows", "annotator")]
    rows = [[Path(book.name).name, sum(book.cases.values()), len(book.rows), book.annotator] for book in run.workbooks]
    row = _small_table(sheet, row, header, rows)
    row = _section(sheet, row + 1, words["metrics.signature"], "")
    for signature in dict.fromkeys((run.raw.signature, run.corrected.signature)):
        sheet.across((row, 1), _LAST, signature, "muted_wrap")
        sheet.row(row, 26)
        row += 1
    sheet.print_setup(landscape=True, footer=words["adjudicated.title"])
    sheet.print_area((row, _LAST))


def _estimates(sheet: Sheet, row: int, run: Adjudication, words: Words) -> int:
    """What holds for all cases, as far as a sample can tell."""
    row = _section(sheet, row, words["adjudicated.sample_title"], words["adjudicated.sample"])
    header = ("rate", "estimate", "interval", "judged", "drawn", "population", "more_to_halve")
    for column, key in enumerate(header, 1):
        sheet.text((row, column), words[f"adjudicated.sample_{key}"], "header" if column == 1 else "header_right")
    sheet.row(row, 44)
    for line, record in enumerate(run.estimates.to_dict("records"), row + 1):
        sheet.text((line, 1), words[f"metrics.{record['rate']}"], "row_name_bold")
        write_rate(sheet, (line, 2), record["value"], words)
        sheet.text((line, 3), interval_text(record["low"], record["high"]), "interval")
        for column, key in enumerate(("judged", "drawn", "population", "more_to_halve"), 4):
            sheet.number((line, column), record[key], "count")
    return row + 1 + len(run.estimates)


def _section(sheet: Sheet, row: int, title: str, explanation: str) -> int:
    sheet.row(row, 22)
    sheet.across((row, 1), _LAST, title, "section")
    if explanation:
        sheet.row(row + 1, 17)
        sheet.text((row + 1, 1), explanation, "explanation")
    return row + (2 if explanation else 1)


def _small_table(sheet: Sheet, row: int, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    sheet.row(row, 18)
    for column, name in enumerate(header, 1):
        sheet.text((row, column), name, "header" if column == 1 else "header_right")
    for row, values in enumerate(rows, row + 1):  # noqa: B020, PLR1704 - the row goes on behind the table
        sheet.row(row, 16)
        for column, value in enumerate(values, 1):
            if isinstance(value, str):
                sheet.text((row, column), value, "row_name")
            else:
                sheet.number((row, column), value, "count")
    return row + 1


def _changes(table: _Table, run: Adjudication) -> None:
    name = _judgement_names(run, table.words)
    columns = (
        (table.words["column.case"], 18),
        (table.words["column.document"], 20),
        (table.word("old_span"), 30),
        (table.word("old_labels"), 24),
        (table.word("new_span"), 30),
        (table.word("new_labels"), 24),
        (table.words["column.judgement"], 24),
        (table.word("who"), 18),
        (table.words["column.comment"], 30),
        (table.word("workbook"), 24),
        (table.word("positions"), 22),
    )
    table.header(columns)
    for change in run.changes.to_dict("records"):
        places = [
            "" if pd.isna(change[f"{side}_start"]) else f"{change[f'{side}_start']}–{change[f'{side}_end']}"
            for side in ("old", "new")
        ]
        table.add(
            [
                change["case"],
                change["document"],
                change["old_text"] or table.word("added"),
                change["old_labels"],
                change["new_text"] or table.word("deleted"),
                change["new_labels"],
                name(change["judgement"]),
                change["who"],
                change["comment"],
                change["workbook"],
                " → ".join(places),
            ]
        )
    table.finish(len(columns))


def _conflicts(table: _Table, run: Adjudication) -> None:
    own = run.manifest.judgements if run.manifest else ()
    columns = (
        (table.word("cases"), 20),
        (table.words["column.document"], 20),
        (table.word("words"), 34),
        (table.word("kind"), 34),
        (table.word("said"), 50),
        (table.word("place"), 30),
        (table.word("hint"), 38),
    )
    table.header(columns)
    for conflict in run.conflicts:
        table.add(
            [
                "\n".join(conflict.cases),
                conflict.document,
                "\n".join(conflict.words),
                table.word(f"kind_{conflict.kind}"),
                said(conflict.rows, (*JUDGEMENTS, *own), table.words),
                "\n".join(dict.fromkeys(conflict.places)),
                table.word("hint_boundary" if conflict.hint else "hint_judge"),
            ]
        )
    table.finish(len(columns))


def _agreement(table: _Table, run: Adjudication) -> None:
    columns = (
        (table.word("over"), 30),
        (table.word("measure"), 26),
        (table.word("annotator"), 40),
        (table.word("number"), 10),
        (table.word("value"), 12),
    )
    table.sheet.text((1, 0), table.word("agreement_counts"), "explanation")
    table.header(columns)
    for line in run.agreement.to_dict("records"):
        over = f"{line['layer']}: {line['label']}" if isinstance(line["label"], str) else line["sheet"]
        shown = over if isinstance(over, str) else table.word("over_all")
        table.add([shown, table.word(f"measure_{line['measure']}"), line["annotators"], line["cases"], line["value"]])
    table.finish(len(columns))


def _counts(table: _Table, run: Adjudication) -> None:
    name = _judgement_names(run, table.words)
    columns = (
        (table.word("dimension"), 24),
        (table.word("value"), 36),
        (table.words["column.judgement"], 32),
        (table.word("number"), 10),
    )
    table.header(columns)
    for line in run.counts.to_dict("records"):
        dimension, value = line["dimension"], line["value"]
        shown = table.word(f"dimension_{dimension}") + (f": {line['key']}" if isinstance(line["key"], str) else "")
        if dimension == "severity":
            value = table.words[f"severity.{value}"] if value else table.word("unrated")
        elif dimension == "class":
            value = table.words[f"class.{value}"]
        table.add([shown, value, name(line["judgement"]), line["cases"]])
    table.finish(len(columns))


def _unusable(table: _Table, run: Adjudication) -> None:
    columns = (
        (table.word("file"), 30),
        (table.word("sheet"), 14),
        (table.word("cell"), 9),
        (table.word("found"), 40),
        (table.word("reason"), 60),
    )
    table.header(columns)
    for problem in run.problems:
        name, _, place = problem.where.partition("!")
        sheet, _, cell = place.rpartition("!")
        table.add([name, sheet, cell, *_reason(problem, table.words)])
    table.finish(len(columns))


def _reason(problem: Problem, words: Words) -> tuple[str, str]:
    if isinstance(problem, RowProblem) and problem.reason:
        return problem.value, words[f"unusable.{problem.reason}"]
    return problem.found, problem.allowed
