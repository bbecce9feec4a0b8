"""The case sheets: one row a case, its context highlighted, the annotation columns beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from clueval_xlsx.cases.contexts import Segment, emoji_pieces
from clueval_xlsx.cases.kinds import AG, FN, FP, UM
from clueval_xlsx.cases.twins import groups_of
from clueval_xlsx.files.sheets import column_name
from clueval_xlsx.outputs.xlsx.book import Book, ColumnState, Content, Dropdown, Formula, Message, Worksheet
from clueval_xlsx.outputs.xlsx.case_columns import (
    FIRST_ROW,
    FOLDED_WIDTH,
    HEADER_ROW,
    LEGEND_ROW,
    ONE_LINE,
    TITLE_ROW,
    ColumnLook,
    column_looks,
)
from clueval_xlsx.outputs.xlsx.case_state import (
    DONE,
    FINISHED,
    MISSING,
    MOST_LIVE_ROWS,
    MOST_LIVE_SHEETS,
    SETTLED,
    STRANGE,
    TWIN,
    AnswerStates,
    LinkedCase,
    RowColumns,
    StateFormulas,
    counting,
)
from clueval_xlsx.outputs.xlsx.formula_text import filled, quoted
from clueval_xlsx.outputs.xlsx.hidden import SCOPE, SEVERITY, HiddenFigures, Lists, judgement_list
from clueval_xlsx.outputs.xlsx.measure import TALLEST, line_counts
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.outputs.xlsx.twin_claims import ClaimRanges, TwinCells, write_claims
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.review.case_sheet import (
    SIGN,
    TOLD,
    ColumnKind,
    SheetColumn,
    context_pieces,
    sheet_columns,
    static_cells,
)
from clueval_xlsx.review.case_words import judgement_entry, scope_entry, severity_entry, sheet_name, span_choice_name
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import RUN_ID_MARK
from clueval_xlsx.words import LONGEST_MESSAGE

_ADVANCE_EVERY = 100
_COLUMN_STATES = {ColumnKind.FOLDED: ColumnState.FOLDED, ColumnKind.BLOCK_ID: ColumnState.HIDDEN}
# Points that a line takes, and one about what happened: in LibreOffice, and in Excel, which adds the font's line gap.
_LINE, _SMALL_LINE = 9.7, 8.2
_EXCEL_LINE, _EXCEL_SMALL_LINE = 12.75, 11.25
_MOST_ROOM = 12.5  # points that may be left below the text in LibreOffice: a line of Excel's, which else cuts the last
# The width of their fonts against 10 points.
_TEXT, _REASON, _SMALL = 1.0, 0.9, 0.8
_LEAST_HEIGHT = 28.5  # points; room for a State of three lines
_PADDING = 1.0  # points above and below the text
_SHOWN_BEFORE = 3  # rows above the first open one that are seen on opening


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of cases on one sheet."""

    sheet: Worksheet
    cases: pd.DataFrame
    number: int
    columns: Sequence[SheetColumn]

    @property
    def last_row(self) -> int:
        """The row of the last case (or of the note that there is none)."""
        return FIRST_ROW + max(len(self.cases), 1) - 1

    @cached_property
    def at(self) -> dict[tuple[str, str | None], int]:
        """Where each column stands, by its key and layer."""
        return {(column.key, column.layer): index for index, column in enumerate(self.columns)}

    def letter(self, key: str, layer: str | None = None) -> str:
        """The letter of a column, fixed."""
        return f"${column_name(self.at[key, layer])}"

    def cells(self, key: str) -> str:
        """The range of a column's cases, with the sheet's name."""
        column = self.at[key, None]
        return self.sheet.range((FIRST_ROW, column), (self.last_row, column))

    def own_cells(self, key: str) -> str:
        """The range of a column's cases for formulas on the sheet itself."""
        column = self.at[key, None]
        return self.sheet.own_range((FIRST_ROW, column), (self.last_row, column))


class CaseSheets:
    """All case sheets of a workbook; they are added first, so that they can point at each other."""

    def __init__(self, book: Book, content: ReviewContent) -> None:
        self.content = content
        missed, unsupported = content.evaluation.errors
        # Whether there is anything of its kind at all, if a sheet is empty.
        self.others_have: dict[str, bool] = {
            FN: bool(missed.any()),
            FP: bool(unsupported.any()),
            AG: not missed.all(),
            UM: bool(content.evaluation.unmarked),
        }
        self.states = AnswerStates(
            content.options.answers,
            content.options.judgements,
            content.words,
            twins=groups_of(content.cases.values()),
            rows={
                case_id: number
                for table in content.cases.values()
                for case_id, number in zip(table["case_id"], table["number"].tolist(), strict=True)
            },
        )
        self.parts: dict[str, list[Part]] = {}
        self.places: dict[str, tuple[Worksheet, int]] = {}
        self.known: dict[str, LinkedCase] = {}
        for name, table in content.cases.items():
            self._add(book, name, table)

    def _add(self, book: Book, name: str, table: pd.DataFrame) -> None:
        """The sheets of one kind."""
        content, words, size = self.content, self.content.words, self.content.options.max_rows
        title, self.parts[name] = sheet_name(name, words), []
        shown = {"earlier": content.options.earlier, "why": content.options.why}
        absent = [key for key, texts in shown.items() if not texts]
        columns = sheet_columns(table.columns, content.evaluation.pair.layers, words, absent=absent)
        for number, begin in enumerate(range(0, max(len(table), 1), size), 1):
            called = title if number == 1 else words("continued", name=title, number=number)
            part = Part(book.sheet(called, streamed=True), table.iloc[begin : begin + size], number, columns)
            self.parts[name].append(part)
            ids, holding = part.cells("case"), part.cells("holding")
            cases = zip(part.cases["case_id"], part.cases["number"].tolist(), strict=True)
            for row, (case_id, place) in enumerate(cases, FIRST_ROW):
                self.places[case_id] = (part.sheet, row)
                self.known[case_id] = LinkedCase(case_id, f"{name} {place}", ids, holding)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the sheets from left to right, as the manifest keeps them."""
        return tuple(column.name for parts in list(self.parts.values())[:1] for column in parts[0].columns)

    def total(self, name: str) -> int:
        """How many cases a kind of sheet has."""
        return sum(len(part.cases) for part in self.parts.get(name, []))

    def ranges(self, name: str, key: str) -> list[str]:
        """Where the cells of a column of a kind of sheet stand."""
        return [part.cells(key) for part in self.parts.get(name, []) if len(part.cases)]

    def linked(self, related: Sequence[str]) -> list[LinkedCase]:
        """Those of the related cases that are in this workbook."""
        return [self.known[case_id] for case_id in related if case_id in self.known]

    def link_to(self, case_id: str, more: str = "") -> Formula:
        """A link to a case, with its name; it looks the row up, so that it hits after sorting, too."""
        sheet, _ = self.places[case_id]
        part = next(part for parts in self.parts.values() for part in parts if part.sheet is sheet)
        column = part.at["case", None]
        target = quoted(f"#{sheet.address((0, part.at['judgement', None]))[:-1]}")
        row = f'MATCH("{case_id}",{sheet.range((0, column), (part.last_row, column))},0)'
        text = self.known[case_id].name + more
        return Formula(f"=HYPERLINK({target}&{row},{quoted(text)})", text)

    @cached_property
    def live(self) -> bool:
        """Whether State follows linked cases as they are judged."""
        return all(
            len(parts) <= MOST_LIVE_SHEETS and all(len(part.cases) <= MOST_LIVE_ROWS for part in parts)
            for parts in self.parts.values()
        )

    def write(self, lists: Lists, figures: HiddenFigures, advance: Callable[[int], None]) -> None:
        """Write every case sheet, and what its twins look up."""
        for name, parts in self.parts.items():
            twins = self._twins(name, figures)
            for part in parts:
                _SheetWriter(self, name, part, lists, twins).write(advance)

    def _twins(self, name: str, figures: HiddenFigures) -> Mapping[str, TwinCells]:
        """What the rows of twins read; nothing is looked up where State does not follow."""
        claims, prefix = self.states.claims, f"{name}-"
        if not self.live:
            twins = (case for cases in claims.twins.members for case in cases if case.startswith(prefix))
            return {case: TwinCells(*claims.names(case)) for case in twins}
        keys = ("claim", "number", "counted")
        ranges = [ClaimRanges(*map(part.cells, keys)) for part in self.parts[name] if len(part.cases)]
        return write_claims(figures, name, claims, ranges)


class _SheetWriter:
    """Writes one case sheet."""

    def __init__(self, owner: CaseSheets, name: str, part: Part, lists: Lists, twins: Mapping[str, TwinCells]) -> None:
        self.owner, self.name, self.part, self.lists, self.twins = owner, name, part, lists, twins
        self.options, self.words, self.sheet = owner.content.options, owner.content.words, part.sheet
        self.columns, self.at, self.states = part.columns, part.at, owner.states
        self.layers = owner.content.evaluation.pair.layers
        self.links = [owner.linked(related) for related in part.cases["related"]]
        self.looks: list[ColumnLook] = column_looks(part.columns)
        self.contexts = context_pieces(part.cases, self.layers, self.words)
        self.judgements = {each.code: judgement_entry(each, self.words) for each in self.options.judgements}

    def write(self, advance: Callable[[int], None]) -> None:
        """Columns, top, rows, rules."""
        sheet, columns, cases = self.sheet, self.columns, self.part.cases
        for index, (column, look) in enumerate(zip(columns, self.looks, strict=True)):
            state = _COLUMN_STATES.get(column.kind, ColumnState.SHOWN)
            sheet.column(index, look.width, look.style if state is ColumnState.FOLDED else None, state)
        sheet.column(len(columns), FOLDED_WIDTH, None, ColumnState.BEHIND_FOLDED)  # carries the sign that unfolds them
        contents = self._contents()
        self._top([str(state.value) for state in contents[self.at["state", None]] if isinstance(state, Formula)])
        styles = tuple(look.style for look in self.looks)
        heights = self._heights(contents)
        ids, answers = cases["case_id"].tolist(), self.options.answers
        hidden = {case for case in ids if case in answers and answers[case].when} if self.options.hide_previous else ()
        for row, (values, high) in enumerate(zip(zip(*contents, strict=True), heights, strict=True), FIRST_ROW):
            sheet.cells(row, values, styles)
            sheet.row(row, high, folded=ids[row - FIRST_ROW] in hidden)
            if (row - FIRST_ROW + 1) % _ADVANCE_EVERY == 0:
                advance(_ADVANCE_EVERY)
        advance(len(cases) % _ADVANCE_EVERY)
        if len(cases):
            self._rules()
        else:
            sheet.row(FIRST_ROW, 36)
            why = "part" if self.owner.others_have[self.name] else self.name.lower()
            sheet.text((FIRST_ROW, self.at["context", None]), self.words[f"cases.empty_{why}"], "empty")
        sheet.filter((HEADER_ROW, 0), (self.part.last_row, len(columns) - 1))
        sheet.print_setup(landscape=True, header_row=HEADER_ROW, footer=self.words[f"cases.title_{self.name.lower()}"])
        sheet.print_area((self.part.last_row, self.at["comment", None]))

    def _top(self, states: Sequence[str]) -> None:
        """Title, progress, legend, header; the cursor in the first open judgement. Titles end before the freeze."""
        sheet, words, judgement = self.sheet, self.words, self.at["judgement", None]
        beside = self.at["related", None]
        sheet.row(TITLE_ROW, 24)
        sheet.text((TITLE_ROW, 0), words[f"cases.title_{self.name.lower()}"], "sheet_title")
        self._progress((TITLE_ROW, judgement), states)
        sheet.text((TITLE_ROW, beside), f"{RUN_ID_MARK} {self.owner.content.run_id}", "muted")
        sheet.row(LEGEND_ROW, 17)
        legend: list[tuple[str, str]] = []
        for mark in ("neither",) if self.name == UM else ("both", "gold", "pred"):
            legend += [*emoji_pieces([Segment(words[f"mark.{mark}"], mark)], SIGN), ("   ", "")]
        sheet.rich((LEGEND_ROW, 0), legend, "plain")
        if len(self.part.cases):
            sheet.text((LEGEND_ROW, judgement), words["cases.type_digit"], "hint")
        sheet.text((LEGEND_ROW, beside), self._explanation(), "muted")
        sheet.row(HEADER_ROW, 44)  # two lines, and room for the buttons of the filter below them
        for index, column in enumerate(self.columns):
            style = "header_input" if column.kind in {ColumnKind.INPUT, ColumnKind.BLOCK_ID} else "header_filter"
            sheet.text((HEADER_ROW, index), column.header, style)
        first = next((row for row, state in enumerate(states, FIRST_ROW) if not state), FIRST_ROW)
        sheet.freeze(FIRST_ROW, judgement, max(FIRST_ROW, first - _SHOWN_BEFORE))
        sheet.select((first, judgement))

    def _explanation(self) -> str:
        """What stands on the sheet, and on that of unmarked passages, from which chance on they are listed."""
        passages = self.owner.content.evaluation.unmarked
        least = Numbers(self.words).rate(passages.least).short if passages is not None else ""
        return self.words(f"cases.columns_{self.name.lower()}", least=least)

    def _progress(self, cell: tuple[int, int], states: Sequence[str]) -> None:
        """How many are done, and how many somebody has begun: a formula that follows the states."""
        words, total, cells = self.words, len(self.part.cases), self.part.own_cells("state")
        done = sum(state.startswith(FINISHED) for state in states)
        begun = sum(state.startswith((MISSING, STRANGE)) for state in states)
        shown = words("progress", done=done, total=total)
        if not total:
            self.sheet.text(cell, shown, "progress")
            return
        progress = words("progress", done="\x00", total=total).split("\x00")
        questions = (" · " + words("open_questions", count="\x00")).split("\x00")
        count = counting(cells, MISSING, STRANGE)
        more = f'IF({count}>0,{filled(questions, count)},"")'
        formula = f"={filled(progress, counting(cells, *FINISHED))}&{more}"
        value = f"{shown}{str(begun).join(questions)}" if begun else shown
        self.sheet.formula(cell, formula, value, "progress")

    def _contents(self) -> list[Sequence[Content]]:
        """The content of every cell, column by column."""
        part, cases, links = self.part, self.part.cases, self.links
        columns = RowColumns(
            judgement=part.letter("judgement"),
            block=part.letter("case_again"),
            correct_span=part.letter("correct_span"),
            correct_labels=tuple(part.letter("correct_label", layer) for layer in self.layers),
            applies_to=part.letter("applies_to"),
            severity=part.letter("severity"),
            understood=part.letter("understood"),
            counted=part.letter("counted"),
            claim=part.letter("claim"),
            holding=part.letter("holding"),
            case=part.letter("case"),
            blocks=part.own_cells("case_again"),
        )
        formulas = StateFormulas(self.name, columns, self.lists, self.states, self.words)
        rows = zip(cases["case_id"], links, strict=True)
        live = self.owner.live
        states = [
            formulas.row(row, case_id, own, self.twins.get(case_id), live=live)
            for row, (case_id, own) in enumerate(rows, FIRST_ROW)
        ]
        calculated: dict[str, Sequence[Content]] = {
            "state": [state.state for state in states],
            "understood": [state.understood for state in states],
            "counted": [state.counted for state in states],
            "claim": [state.claim for state in states],
            "holding": [state.holding for state in states],
            "related": [self._link(own) for own in links],
        }
        return [calculated[column.key] if column.key in calculated else self._column(column) for column in self.columns]

    def _column(self, column: SheetColumn) -> Sequence[Content]:
        """The content of every cell of a column that is not calculated, from top to bottom."""
        key, case_ids = column.key, self.part.cases["case_id"]
        if key == "context":
            return self.contexts
        if key in TOLD:
            texts = self.options.earlier if key == "earlier" else self.options.why
            return [texts.get(case_id, "") for case_id in case_ids]
        if column.kind is ColumnKind.INPUT:
            return [self._filled_in(key, column.layer, self.states.answer(case_id)) for case_id in case_ids]
        values = static_cells(self.part.cases, column, self.layers, self.words)
        # What is folded away needs no cells to look well when empty.
        return [None if value == "" else value for value in values] if column.kind is ColumnKind.FOLDED else values

    def _heights(self, contents: Sequence[Sequence[Content]]) -> list[float]:
        """How high each row must be for all of its text to be seen."""
        most = [_LEAST_HEIGHT] * len(self.part.cases)
        for column, look, values in zip(self.columns, self.looks, contents, strict=True):
            if column.key in ONE_LINE or column.kind in {ColumnKind.FOLDED, ColumnKind.BLOCK_ID}:
                continue
            if column.key == "context":
                happened = [pieces[0].text.rstrip("\n") for pieces in self.contexts]
                small = line_counts(happened, look.width, _SMALL)
                large = line_counts(self.part.cases["context"].tolist(), look.width, _TEXT)
                high = [_points(*counts) for counts in zip(small, large, strict=True)]
            else:
                scale = _TEXT if column.key != "why" else _REASON
                high = [scale * _points(0, number) for number in _line_counts(values, look.width, scale)]
            most = [max(pair) for pair in zip(most, high, strict=True)]
        return [min(each, TALLEST) for each in most]

    def _filled_in(self, key: str, layer: str | None, answer: Judgement) -> str:
        """What an annotation cell holds already, in the words of the workbook's language."""
        if key == "judgement":
            return self.judgements.get(answer.code, answer.code)
        if key == "correct_span":
            return span_choice_name(answer.correct_span, self.words)
        if key == "correct_label":
            return answer.correct_labels.get(layer or "", "")
        if key == "applies_to":
            return scope_entry(answer.applies_to, self.words)
        if key == "severity":
            return severity_entry(answer.severity, self.words)
        return answer.comment

    def _link(self, linked: Sequence[LinkedCase]) -> Content:
        """A link to the first of the linked cases."""
        if not linked:
            return ""
        # A cell has one link, and LibreOffice neither wraps nor breaks its words.
        others = f" (+{len(linked) - 1})" if len(linked) > 1 else ""
        return self.owner.link_to(linked[0].case_id, others)

    def _rules(self) -> None:
        """Dropdowns, and colours of rows, which follow their State: it says what is wrong, no dialog interrupts."""
        sheet, last = self.sheet, self.part.last_row
        sources = {"judgement": judgement_list(self.name), "correct_span": "span_choice"}
        sources |= {"applies_to": SCOPE, "severity": SEVERITY}
        for (key, layer), index in self.at.items():
            source = f"label_{layer}" if key == "correct_label" else sources.get(key, "")
            if source:
                sheet.dropdown((FIRST_ROW, index), (last, index), self._dropdown(key, source))
        shown = max(index for index, column in enumerate(self.columns) if column.kind is not ColumnKind.FOLDED)
        state = sheet.in_column((FIRST_ROW, self.at["state", None]))
        looks = {STRANGE: "if_strange", MISSING: "if_missing", DONE: "if_done"}
        looks |= {TWIN: "if_settled", SETTLED: "if_settled"}
        for sign, style in looks.items():
            sheet.highlight((FIRST_ROW, 0), (last, shown), f'=EXACT(LEFT({state},1),"{sign}")', style, alone=True)

    def _dropdown(self, key: str, source: str) -> Dropdown:
        words = self.words
        error = Message(words["cases.error_title"], words["cases.error_message"])
        free = key in {"correct_span", "correct_label"}
        hint = Message(words["cases.free_title"], words["cases.free"]) if free else None
        if key == "correct_label" and self.options.label_words:
            hint = Message(words["guide.labels_title"], _label_hint(self.options.label_words))
        return Dropdown(self.lists.ranges[source], strict=False, error=error, hint=hint)


def _label_hint(meanings: Mapping[str, str], longest: int = LONGEST_MESSAGE) -> str:
    """What labels mean, a line each, as many as fit into a hint; that there are more is seen.

    >>> _label_hint({"PER": "natural persons", "ORG": "courts"}), _label_hint({"A": "x" * 20, "B": "y"}, 25)
    ('PER: natural persons\\nORG: courts', 'A: xxxxxxxxxxxxxxxxxxxx\\n…')
    """
    lines = [f"{label}: {meaning}" for label, meaning in meanings.items()]
    if len("\n".join(lines)) <= longest:
        return "\n".join(lines)
    while lines and len("\n".join([*lines, "…"])) > longest:
        lines.pop()
    return "\n".join([*lines, "…"])


def _points(small: int, large: int) -> float:
    """The height of so many lines about what happened and so many of text."""
    fitted = small * _SMALL_LINE + large * _LINE + _PADDING
    return min(max(small * _EXCEL_SMALL_LINE + large * _EXCEL_LINE, fitted), fitted + _MOST_ROOM)


def _line_counts(values: Sequence[Content], width: float, scale: float) -> list[int]:
    """How many lines texts take, of which many come again and again."""
    texts = [value if isinstance(value, str) else "" for value in values]
    known = list(dict.fromkeys(texts))
    counts = dict(zip(known, line_counts(known, width, scale), strict=True))
    return [counts[text] for text in texts]
