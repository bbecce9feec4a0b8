"""The case sheets: one row a case, its context highlighted, the annotation columns beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from clueval_xlsx.cases.contexts import Segment, emoji_pieces
from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.outputs.xlsx.book import Book, ColumnState, Content, Dropdown, Link, Message, Worksheet
from clueval_xlsx.outputs.xlsx.case_columns import (
    FIRST_ROW,
    FOLDED_WIDTH,
    HEADER_ROW,
    LEGEND_ROW,
    ONE_LINE,
    PROGRESS_ROW,
    TITLE_ROW,
    CaseColumn,
    ColumnKind,
    case_columns,
)
from clueval_xlsx.outputs.xlsx.hidden import Lists
from clueval_xlsx.outputs.xlsx.measure import height, lines, width_for
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.judgements import Answer
from clueval_xlsx.review.vocabulary import RUN_ID_MARK
from clueval_xlsx.views.case_words import class_name, sheet_name
from clueval_xlsx.views.judgement_words import judgement_names, severity_name, span_choice_name

_ADVANCE_EVERY = 100


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of cases on one sheet."""

    sheet: Worksheet
    cases: pd.DataFrame
    number: int

    @property
    def last_row(self) -> int:
        """The row of the last case (or of the note that there is none)."""
        return FIRST_ROW + max(len(self.cases), 1) - 1


class CaseSheets:
    """All case sheets of a workbook; they are added first, so that they can point at each other."""

    def __init__(self, book: Book, content: ReviewContent) -> None:
        self.content = content
        pair, words = content.evaluation.pair, content.words
        missed, unsupported = content.evaluation.errors
        # Whether there is anything of its kind at all, if a sheet is empty.
        self.others_have: dict[str, bool] = {
            FN: bool(missed.any()),
            FP: bool(unsupported.any()),
            AG: not missed.all(),
        }
        spans = (pair.gold.spans, pair.pred.spans)
        self._label_widths = {layer: width_for(label_vocabulary(spans, layer), 8, 18) for layer in pair.layers}
        self.parts: dict[str, list[Part]] = {}
        self.places: dict[str, tuple[Worksheet, int]] = {}
        size = content.options.max_rows
        for name, table in content.cases.items():
            title = sheet_name(name, words)
            self.parts[name] = []
            for number, begin in enumerate(range(0, max(len(table), 1), size), 1):
                shown = title if number == 1 else words("continued", name=title, number=number)
                part = Part(book.sheet(shown, streamed=True), table.iloc[begin : begin + size], number)
                self.parts[name].append(part)
                for row, case_id in enumerate(part.cases["case_id"], FIRST_ROW):
                    self.places[case_id] = (part.sheet, row)

    def total(self, name: str) -> int:
        """How many cases a kind of sheet has."""
        return sum(len(part.cases) for part in self.parts.get(name, []))

    def judgement_ranges(self, name: str) -> list[str]:
        """Where the judgements of a kind of sheet stand."""
        return [
            part.sheet.range((FIRST_ROW, column), (part.last_row, column))
            for part in self.parts.get(name, [])
            if len(part.cases)
            for column, plan in enumerate(self.columns(part.cases))
            if plan.key == "judgement"
        ]

    def columns(self, cases: pd.DataFrame) -> list[CaseColumn]:
        """The plan of a sheet's columns."""
        options, words = self.content.options, self.content.words
        return case_columns(cases.columns, self._label_widths, words, earlier=bool(options.earlier))

    def write(self, lists: Lists, advance: Callable[[int], None]) -> None:
        """Write every case sheet."""
        for name, parts in self.parts.items():
            for part in parts:
                _SheetWriter(self, name, part, lists).write(advance)


class _SheetWriter:
    """Writes one case sheet."""

    def __init__(self, owner: CaseSheets, name: str, part: Part, lists: Lists) -> None:
        self.owner, self.name, self.part, self.lists = owner, name, part, lists
        self.options, self.words, self.sheet = owner.content.options, owner.content.words, part.sheet
        self.columns = owner.columns(part.cases)
        self.at = {(column.key, column.layer): index for index, column in enumerate(self.columns)}
        self.judgements = judgement_names(self.options.judgements, self.words)

    def write(self, advance: Callable[[int], None]) -> None:
        sheet, columns = self.sheet, self.columns
        for index, column in enumerate(columns):
            if column.kind is ColumnKind.FOLDED:
                sheet.column(index, column.width, column.style, ColumnState.FOLDED)
            else:
                sheet.column(index, column.width)
        if columns[-1].kind is ColumnKind.FOLDED:  # the column behind carries the sign that unfolds them
            sheet.column(len(columns), FOLDED_WIDTH, None, ColumnState.BEHIND_FOLDED)
        self._top()
        total = len(self.part.cases)
        styles = tuple(column.style for column in columns)
        contents = [self._contents(column) for column in columns]
        heights = self._heights(contents)
        for row, (values, high) in enumerate(zip(zip(*contents, strict=True), heights, strict=True), FIRST_ROW):
            sheet.cells(row, values, styles)
            sheet.row(row, high)
            done = row - FIRST_ROW + 1
            if done % _ADVANCE_EVERY == 0:
                advance(_ADVANCE_EVERY)
        advance(total % _ADVANCE_EVERY)
        if not total:
            sheet.row(FIRST_ROW, 30)
            why = "part" if self.owner.others_have[self.name] else self.name.lower()
            sheet.text((FIRST_ROW, 0), self.words[f"cases.empty_{why}"], "progress")
        else:
            self._rules()
        sheet.filter((HEADER_ROW, 0), (self.part.last_row, len(columns) - 1))
        sheet.freeze(FIRST_ROW, 1)
        sheet.print_setup(landscape=True, header_row=HEADER_ROW, footer=self.words[f"cases.title_{self.name.lower()}"])
        sheet.print_area((self.part.last_row, self.at["judgement", None]))

    def _top(self) -> None:
        sheet, words = self.sheet, self.words
        sheet.row(TITLE_ROW, 28)
        sheet.text((TITLE_ROW, 0), words[f"cases.title_{self.name.lower()}"], "title")
        sheet.row(PROGRESS_ROW, 20)
        self._progress()
        sheet.text((PROGRESS_ROW, self.at["context", None]), f"{RUN_ID_MARK} {self.owner.content.run_id}", "muted")
        sheet.row(LEGEND_ROW, 18)
        legend: list[tuple[str, str]] = []
        for mark in ("both", "gold", "pred"):
            legend += [*emoji_pieces([Segment(words[f"mark.{mark}"], mark)]), ("   ", "")]
        sheet.rich((LEGEND_ROW, 0), [*legend, (words[f"cases.columns_{self.name.lower()}"], "")], "plain")
        sheet.row(HEADER_ROW, 46)  # two lines, and room for the buttons of the filter below them
        for index, column in enumerate(self.columns):
            style = "header_input" if column.kind is ColumnKind.INPUT else "header_filter"
            sheet.text((HEADER_ROW, index), column.header, style)

    def _progress(self) -> None:
        """How many are judged: a formula that follows the judgements."""
        total = len(self.part.cases)
        cell = (PROGRESS_ROW, 0)
        done = sum(bool(self._answer(case_id).judgement) for case_id in self.part.cases["case_id"])
        shown = self.words("progress", done=done, total=total)
        if not total:
            self.sheet.text(cell, shown, "progress")
            return
        before, after = self.words("progress", done="\x00", total=total).split("\x00")
        column = self.at["judgement", None]
        cells = self.sheet.range((FIRST_ROW, column), (self.part.last_row, column))
        self.sheet.formula(cell, f"={_quoted(before)}&COUNTA({cells})&{_quoted(after)}", shown, "progress")

    def _answer(self, case_id: str) -> Answer:
        return self.options.answers.get(case_id, _NO_ANSWER)

    def _contents(self, column: CaseColumn) -> list[Content]:
        """The content of every cell of a column, from top to bottom."""
        cases, key = self.part.cases, column.key
        if key == "context":
            return [emoji_pieces(segments) for segments in cases["segments"]]
        if key == "related":
            return [self._related(related) for related in cases["related"]]
        if key == "class":
            names = [class_name(name, self.words) for name in cases["class"]]
            relaxed = cases["relaxed"].tolist() if "relaxed" in cases.columns else [False] * len(cases)
            note = self.words["cases.relaxed"]
            return [f"{name} ({note})" if would else name for name, would in zip(names, relaxed, strict=True)]
        if key == "earlier":
            return [self.options.earlier.get(case_id, "") for case_id in cases["case_id"]]
        if column.kind is ColumnKind.INPUT and key != "case_again":
            return [self._filled_in(key, column.layer, self._answer(case_id)) for case_id in cases["case_id"]]
        values = cases[_SOURCES.get(key, key) if column.layer is None else f"{key}_{column.layer}"].tolist()
        # A position that does not exist is negative. What is folded away needs no cells to look well when empty.
        empty = None if column.kind is ColumnKind.FOLDED else ""
        return [(value or empty) if isinstance(value, str) else empty if value < 0 else int(value) for value in values]

    def _heights(self, contents: Sequence[Sequence[Content]]) -> list[float]:
        """How high each row must be for all of its text to be seen."""
        most = [1] * len(self.part.cases)
        for column, values in zip(self.columns, contents, strict=True):
            if column.key in ONE_LINE or column.kind is ColumnKind.FOLDED:
                continue
            texts = self.part.cases["context"].tolist() if column.key == "context" else values
            known: dict[Content, int] = {"": 1}  # documents and labels come again and again
            for row, text in enumerate(texts):
                number = known.get(text)
                if number is None:
                    number = known[text] = lines(str(text), column.width)
                most[row] = max(most[row], number)
        return [height(number) for number in most]

    def _filled_in(self, key: str, layer: str | None, answer: Answer) -> str:
        """What an annotation cell holds already, in the words of the workbook's language."""
        if answer is _NO_ANSWER:
            return ""
        if key == "judgement":
            return self.judgements.get(answer.judgement, answer.judgement)
        if key == "correct_span":
            return span_choice_name(answer.correct_span, self.words)
        if key == "correct_label":
            return answer.correct_labels.get(layer or "", "")
        if key == "severity":
            return severity_name(answer.severity or "", self.words)
        return answer.comment

    def _related(self, related: list[str]) -> Content:
        known = [case_id for case_id in related if case_id in self.owner.places]
        if not known:
            return ""
        sheet, row = self.owner.places[known[0]]
        # A cell has one link, and LibreOffice neither wraps nor breaks its words.
        more = f" (+{len(known) - 1})" if len(known) > 1 else ""
        return Link(sheet.address((row, 0)), f"{known[0]}{more}")

    def _rules(self) -> None:
        """Dropdowns, and the colours of judged rows and of rows whose two case IDs have parted."""
        sheet, last = self.sheet, self.part.last_row
        sources = {
            "judgement": (f"judgement_{self.name}", True),
            "correct_span": ("span_choice", False),
            "severity": ("severity", True),
        }
        for (key, layer), index in self.at.items():
            source, strict = (f"label_{layer}", False) if key == "correct_label" else sources.get(key, ("", False))
            if source:
                sheet.dropdown((FIRST_ROW, index), (last, index), self._dropdown(source, strict))
        shown = max(index for index, column in enumerate(self.columns) if column.kind is not ColumnKind.FOLDED)
        area = ((FIRST_ROW, 0), (last, shown))
        left, block, judged = (
            sheet.in_column((FIRST_ROW, self.at[key, None])) for key in ("case", "case_again", "judgement")
        )
        sheet.highlight(*area, f"={left}<>{block}", "if_moved", alone=True)
        sheet.highlight(*area, f"=LEN({judged})>0", "if_judged")

    def _dropdown(self, source: str, strict: bool) -> Dropdown:
        words = self.words
        error = Message(words["cases.error_title"], words["cases.error_message"])
        hint = None if strict else Message(words["cases.free_title"], words["cases.free"])
        return Dropdown(self.lists.ranges[source], strict, error, hint)


_NO_ANSWER = Answer()
_SOURCES = {"case": "case_id", "case_again": "case_id", "span": "surface", "other_span": "other_surface"}


def _quoted(text: str) -> str:
    """Text inside a formula."""
    return '"' + text.replace('"', '""') + '"'
