"""The case sheets: one row a case, its context highlighted, the annotation columns beside it; all on a small screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from clueval_xlsx.cases.contexts import Segment, signed_pieces
from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.files.sheets import column_name
from clueval_xlsx.outputs.xlsx.book import Book, ColumnState, Content, Dropdown, Formula, Message, Worksheet
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures, Lists, filled, quoted
from clueval_xlsx.outputs.xlsx.measure import TALLEST, line_counts
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.outputs.xlsx.row_formulas import GroupCells, Key, LinkCells, RowFormulas, write_groups, write_links
from clueval_xlsx.outputs.xlsx.state import (
    DONE,
    MISSING,
    MOST_LIVE_ROWS,
    QUESTION,
    SETTLED,
    STRANGE,
    TWIN,
    RowStates,
    done,
    marks_text,
)
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.review.answers import CaseFacts
from clueval_xlsx.review.case_sheet import (
    METADATA,
    ColumnKind,
    SheetColumn,
    context_pieces,
    sheet_columns,
    static_cells,
)
from clueval_xlsx.review.case_words import judgement_entry, scope_entry, severity_entry, sheet_name, span_choice_entry
from clueval_xlsx.review.facts import case_facts, texts_around
from clueval_xlsx.review.judgements import RUN_ID_MARK, Judgement
from clueval_xlsx.words import LONGEST_MESSAGE

TITLE_ROW, LEGEND_ROW, HEADER_ROW, FIRST_ROW = 0, 1, 2, 3
_COLUMN_STATES = {
    ColumnKind.FOLDED: ColumnState.FOLDED,
    ColumnKind.ASIDE: ColumnState.FOLDED,
    ColumnKind.BLOCK_ID: ColumnState.HIDDEN,
}
_UNMEASURED = {ColumnKind.FOLDED, ColumnKind.ASIDE, ColumnKind.BLOCK_ID}
_ONE_LINE = ("number", "related", "state")  # never wrapped, or grown into while somebody judges
# Points that a line takes, and one about what happened: in LibreOffice, and in Excel, which adds the font's line gap.
_LINE, _SMALL_LINE = 9.7, 8.2
_EXCEL_LINE, _EXCEL_SMALL_LINE = 12.75, 11.25
_MOST_ROOM = 12.5  # points that may be left below the text in LibreOffice: a line of Excel's, which else cuts the last
_TEXT, _REASON, _SMALL = 1.0, 0.9, 0.8  # the width of their fonts against 10 points
_LEAST_HEIGHT = 28.5  # points; room for a State of three lines
_PADDING = 1.0  # points above and below the text
_SHOWN_BEFORE = 3  # rows above the first open one that are seen on opening
_SCREEN = 1190  # pixels from the number to the comment, at 100 %: LibreOffice makes 1270 of them, its room at 1366
_WIDEST_CONTEXT, _NARROWEST_CONTEXT = 520, 420
_LEAST_WHY, _LEAST_BESIDE_WHY = 150, 300  # where a column says why a case is shown, the two share the room
_FOLDED = 90
_STATE_LOOKS = {STRANGE: "if_strange", MISSING: "if_missing", QUESTION: "if_missing", DONE: "if_done"}
_STATE_LOOKS |= dict.fromkeys((TWIN, SETTLED), "if_settled")
# Width in pixels, style of the cells; what is not listed is technical.
_LOOKS = {
    "number": (40, "cell_number"),
    "state": (85, "cell_state"),
    "context": (_NARROWEST_CONTEXT, "cell_context"),
    "why": (_LEAST_WHY, "cell_why"),
    "judgement": (140, "input"),
    "correct_span": (110, "input"),
    "correct_label": (85, "input"),
    "applies_to": (70, "input"),
    "severity": (80, "input"),
    "comment": (100, "input"),
    "around": (660, "cell_small"),
    "related": (80, "cell_link"),
    "document": (120, "cell"),
    "span": (240, "cell"),
    "label": (90, "cell"),
    "other_span": (240, "cell"),
    "other_label": (90, "cell"),
    "earlier": (260, "cell"),
    METADATA: (100, "cell"),
}
_BLOCK = ("number", "state", "judgement", "applies_to", "correct_span", "severity", "comment")


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of cases on one sheet."""

    sheet: Worksheet
    cases: pd.DataFrame
    columns: Sequence[SheetColumn]

    @property
    def last_row(self) -> int:
        """The row of the last case (or of the note that there is none)."""
        return FIRST_ROW + max(len(self.cases), 1) - 1

    @cached_property
    def at(self) -> dict[Key, int]:
        """Where each column stands, by its key and layer."""
        return {(column.key, column.layer): index for index, column in enumerate(self.columns)}

    def letter(self, key: str, layer: str | None = None) -> str:
        """The letter of a column, fixed."""
        return f"${column_name(self.at[key, layer])}"

    def cells(self, key: str) -> str:
        """The range of a column's cases, with the sheet's name."""
        column = self.at[key, None]
        return self.sheet.range((FIRST_ROW, column), (self.last_row, column))


class CaseSheets:
    """All case sheets of a workbook; they are added first, so that they can point at each other."""

    def __init__(self, book: Book, content: ReviewContent) -> None:
        self.content = content
        facts: dict[str, CaseFacts] = {}
        for table in content.cases.values():
            facts |= case_facts(content.evaluation, table)
        self.states = RowStates(content, facts)
        self.parts: dict[str, list[Part]] = {}
        self.part_of: dict[str, Part] = {}
        for name, table in content.cases.items():
            self._add(book, name, table)
        # Whether State follows what other rows decide; else it is looked up once, on writing.
        self.live = all(len(parts) == 1 and len(parts[0].cases) <= MOST_LIVE_ROWS for parts in self.parts.values())

    def _add(self, book: Book, name: str, table: pd.DataFrame) -> None:
        """The sheets of one kind."""
        content, words, size = self.content, self.content.words, self.content.options.max_rows
        title, self.parts[name] = sheet_name(name, words), []
        shown = {"earlier": content.options.earlier, "why": content.options.why}
        absent = [key for key, texts in shown.items() if not texts]
        columns = sheet_columns(table.columns, content.evaluation.pair.layers, words, absent=absent)
        for number, begin in enumerate(range(0, max(len(table), 1), size), 1):
            called = title if number == 1 else words("continued", name=title, number=number)
            part = Part(book.sheet(called), table.iloc[begin : begin + size], columns)
            self.parts[name].append(part)
            self.part_of |= dict.fromkeys(part.cases["case_id"].tolist(), part)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the sheets from left to right, as the manifest keeps them."""
        return tuple(column.name for parts in list(self.parts.values())[:1] for column in parts[0].columns)

    def total(self, name: str) -> int:
        """How many cases a kind of sheet has."""
        return sum(len(part.cases) for part in self.parts.get(name, []))

    def link_to(self, case_id: str, more: str = "") -> Formula:
        """A link to a case, with its name; it looks the row up, so that it hits after sorting, too."""
        part = self.part_of[case_id]
        column = part.at["case", None]
        target = quoted(f"#{part.sheet.address((0, part.at['judgement', None]))[:-1]}")
        row = f'MATCH("{case_id}",{part.sheet.range((0, column), (part.last_row, column))},0)'
        text = self.states.name(case_id) + more
        return Formula(f"=HYPERLINK({target}&{row},{quoted(text)})", text)

    def write(self, lists: Lists, figures: HiddenFigures) -> None:
        """Write every case sheet, and what its rows read about others."""
        groups: dict[str, GroupCells] = {}
        links: dict[str, LinkCells] = {}
        if self.live:
            for name, (part,) in self.parts.items():
                groups |= write_groups(figures, Sheet(name), part.cells, lists, self.states)
            links = write_links(figures, lambda case, key: self.part_of[case].cells(key), lists, self.states)
        for name, parts in self.parts.items():
            for part in parts:
                _SheetWriter(self, Sheet(name), part, lists).write(groups, links)


class _SheetWriter:
    """Writes one case sheet."""

    def __init__(self, owner: CaseSheets, name: Sheet, part: Part, lists: Lists) -> None:
        self.owner, self.name, self.part, self.lists = owner, name, part, lists
        self.options, self.words, self.sheet = owner.content.options, owner.content.words, part.sheet
        self.columns, self.at, self.states = part.columns, part.at, owner.states
        self.layers = owner.content.evaluation.pair.layers
        self.widths = _widths(part.columns)
        self.contexts = context_pieces(part.cases, self.layers, self.words, plain=self.options.plain_signs)
        self.judgements = {each.code: judgement_entry(each, self.words) for each in self.options.judgements}

    def write(self, groups: Mapping[str, GroupCells], links: Mapping[str, LinkCells]) -> None:
        """Columns, top, rows, rules."""
        sheet, cases = self.sheet, self.part.cases
        styles = tuple(_look(column.key)[1] for column in self.columns)
        behind = ColumnState.SHOWN
        for index, (column, style) in enumerate(zip(self.columns, styles, strict=True)):
            state = _COLUMN_STATES.get(column.kind, behind)
            sheet.column(index, self.widths[index], style if state is ColumnState.FOLDED else None, state)
            # The column behind folded ones carries the sign that unfolds them.
            behind = ColumnState.BEHIND_FOLDED if state is ColumnState.FOLDED else ColumnState.SHOWN
        sheet.column(len(self.columns), _characters(_FOLDED), None, behind)
        contents = self._contents(groups, links)
        self._top([str(state.value) for state in contents[self.at["state", None]] if isinstance(state, Formula)])
        heights = self._heights(contents)
        ids, answers = cases["case_id"].tolist(), self.options.answers
        hidden = {case for case in ids if case in answers and answers[case].when} if self.options.hide_previous else ()
        for row, (values, high) in enumerate(zip(zip(*contents, strict=True), heights, strict=True), FIRST_ROW):
            sheet.cells(row, values, styles)
            sheet.row(row, high, folded=ids[row - FIRST_ROW] in hidden)
        if len(cases):
            self._rules()
        else:
            sheet.row(FIRST_ROW, 36)
            sheet.text((FIRST_ROW, self.at["context", None]), self.words[f"cases.empty_{self._why_empty()}"], "empty")
        sheet.filter((HEADER_ROW, 0), (self.part.last_row, len(self.columns) - 1))
        sheet.print_setup(landscape=True, header_row=HEADER_ROW, footer=self.words[f"cases.title_{self.name.lower()}"])
        sheet.print_area((self.part.last_row, self.at["comment", None]))

    def _why_empty(self) -> str:
        """Whether there is nothing of this kind at all, or only not in this workbook."""
        evaluation = self.owner.content.evaluation
        missed, unsupported = evaluation.errors
        there = {FN: missed.any(), FP: unsupported.any(), AG: not missed.all(), UM: bool(evaluation.unmarked)}
        return "part" if there[self.name] else self.name.lower()

    def _top(self, states: Sequence[str]) -> None:
        """Title, progress, legend, header; the cursor in the first open judgement. Titles end before the freeze."""
        sheet, words, judgement = self.sheet, self.words, self.at["judgement", None]
        beside = self.at["related", None]
        sheet.row(TITLE_ROW, 24)
        sheet.text((TITLE_ROW, 0), words[f"cases.title_{self.name.lower()}"], "sheet_title")
        self._progress((TITLE_ROW, judgement), states)
        sheet.text((TITLE_ROW, beside), f"{RUN_ID_MARK} {self.owner.content.run_id}", "muted")
        legend: list[tuple[str, str]] = []
        for mark in ("neither",) if self.name == UM else ("both", "gold", "pred"):
            legend += [
                *signed_pieces([Segment(words[f"mark.{mark}"], mark)], plain=self.options.plain_signs),
                ("   ", ""),
            ]
        sheet.rich((LEGEND_ROW, 0), legend, "plain")
        high = 17.0
        if len(self.part.cases):
            digits = f"{words['cases.type_digit']} {self._digits(' · ')}"
            shown = [place for (key, _), place in self.at.items() if key in _JUDGED_BY]
            room = sum(self.widths[place] for place in shown)
            sheet.across((LEGEND_ROW, judgement), self.at["comment", None], digits, "digits")
            high = max(high, 4 + _EXCEL_SMALL_LINE * line_counts([digits], room, 1.1 * _SMALL)[0])
        sheet.row(LEGEND_ROW, high)
        sheet.text((LEGEND_ROW, beside), self._explanation(), "muted")
        headers = [column.header for column in self.columns]
        most = max(
            line_counts([header], width, 1.1)[0]
            for header, width, column in zip(headers, self.widths, self.columns, strict=True)
            if column.kind not in _UNMEASURED
        )
        sheet.row(HEADER_ROW, 18 + _EXCEL_LINE * min(most, 2))  # room for the buttons of the filter below the words
        for index, column in enumerate(self.columns):
            style = "header_input" if column.kind in {ColumnKind.INPUT, ColumnKind.BLOCK_ID} else "header_case"
            sheet.text((HEADER_ROW, index), column.header, style)
        first = next((row for row, state in enumerate(states, FIRST_ROW) if not state), FIRST_ROW)
        sheet.freeze(FIRST_ROW, judgement, max(FIRST_ROW, first - _SHOWN_BEFORE))
        sheet.select((first, judgement))

    def _digits(self, between: str) -> str:
        """What the digits mean on this sheet."""
        return between.join(self.judgements[each.code] for each in self.options.judgements if self.name in each.sheets)

    def _explanation(self) -> str:
        """What stands on the sheet, and on that of unmarked passages, from which chance on they are listed."""
        passages = self.owner.content.evaluation.unmarked
        least = Numbers(self.words).rate(passages.least).short if passages is not None else ""
        return self.words(f"cases.columns_{self.name.lower()}", least=least)

    def _progress(self, cell: tuple[int, int], states: Sequence[str]) -> None:
        """How many are done, and how many somebody has begun: a formula that follows the states."""
        words, total = self.words, len(self.part.cases)
        cells = self.part.cells("done").rpartition("!")[2]  # also on a copy of the sheet its own
        counts = Counter(map(done, states))
        finished, begun = counts[1], counts[-1]
        number = Numbers(words).count
        shown = words("progress", done=number(finished).text, total=number(total).text)
        if not total:
            self.sheet.text(cell, shown, "progress")
            return
        progress = words("progress", done="\x00", total=number(total).text).split("\x00")
        questions = (" · " + words("open_questions", count="\x00")).split("\x00")
        count = f"COUNTIF({cells},-1)"
        ready = f"COUNTIF({cells},1)"
        if total >= 1000:
            behind = f'{quoted(words["number.thousands"])}&TEXT(MOD({ready},1000),"000")'
            ready = f"IF({ready}<1000,{ready},INT({ready}/1000)&{behind})"
        formula = f'={filled(progress, ready)}&IF({count}>0,{filled(questions, count)},"")'
        self.sheet.formula(cell, formula, f"{shown}{str(begun).join(questions)}" if begun else shown, "progress")

    def _contents(self, groups: Mapping[str, GroupCells], links: Mapping[str, LinkCells]) -> list[Sequence[Content]]:
        """The content of every cell, column by column."""
        part, states, evaluation = self.part, self.states, self.owner.content.evaluation
        case_ids = part.cases["case_id"].tolist()
        formulas = RowFormulas(self.name, part.letter, (FIRST_ROW + 1, part.last_row + 1), self.lists, states)
        missing: list[tuple[str, ...]] = [()] * len(case_ids)
        if self.name in {FP, UM} and len(self.layers) > 1:  # layers that get nothing where the span is added
            labels = [part.cases[f"label_{layer}"].tolist() for layer in self.layers]
            missing = [
                tuple(layer for layer, label in zip(self.layers, row, strict=True) if not label)
                for row in zip(*labels, strict=True)
            ]
        rows = [
            formulas.row(row, case, groups.get(case), links.get(case), own)
            for row, (case, own) in enumerate(zip(case_ids, missing, strict=True), FIRST_ROW + 1)
        ]
        known: dict[str, Sequence[Content]] = {
            "context": self.contexts,
            "around": texts_around(evaluation, part.cases),
            "related": [self._link(states.links[case]) for case in case_ids],
            "marks": [marks_text(states.facts[case]) for case in case_ids],
            "searched": [states.facts[case].text for case in case_ids],
            "earlier": [self.options.earlier.get(case, "") for case in case_ids],
            "why": [self.options.why.get(case, "") for case in case_ids],
        }
        answers = [states.answer(case) for case in case_ids]
        contents: list[Sequence[Content]] = []
        for column in self.columns:
            key = column.key
            if key in known:
                contents.append(known[key])
            elif column.kind is ColumnKind.INPUT:
                contents.append([self._filled_in(key, column.layer, answer) for answer in answers])
            elif column.static:
                values = static_cells(part.cases, column, self.layers, self.words)
                folded = column.kind is ColumnKind.FOLDED  # needs no cells to look well when empty
                contents.append([None if value == "" else value for value in values] if folded else values)
            else:
                contents.append([row.get((key, column.layer)) for row in rows])
        return contents

    def _heights(self, contents: Sequence[Sequence[Content]]) -> list[float]:
        """How high each row must be for all of its text to be seen."""
        most = [_LEAST_HEIGHT] * len(self.part.cases)
        for column, width, values in zip(self.columns, self.widths, contents, strict=True):
            if column.key in _ONE_LINE or column.kind in _UNMEASURED:
                continue
            if column.key == "context":
                happened = [pieces[0].text.rstrip("\n") for pieces in self.contexts]
                small = line_counts(happened, width, _SMALL)
                large = line_counts(self.part.cases["context"].tolist(), width, _TEXT)
                high = [_points(*counts) for counts in zip(small, large, strict=True)]
            else:
                scale = _TEXT if column.key != "why" else _REASON
                texts = [value if isinstance(value, str) else "" for value in values]
                known = list(dict.fromkeys(texts))  # many texts come again and again
                counts = dict(zip(known, line_counts(known, width, scale), strict=True))
                high = [scale * _points(0, counts[text]) for text in texts]
            most = [max(pair) for pair in zip(most, high, strict=True)]
        return [min(each, TALLEST) for each in most]

    def _filled_in(self, key: str, layer: str | None, answer: Judgement) -> str:
        """What an annotation cell holds already, in the words of the workbook's language."""
        match key:
            case "judgement":
                return self.judgements.get(answer.code, answer.code)
            case "correct_span":
                return span_choice_entry(answer.correct_span, self.words)
            case "correct_label":
                return answer.correct_labels.get(layer or "", "")
            case "applies_to":
                return scope_entry(answer.applies_to, self.words)
            case "severity":
                return severity_entry(answer.severity, self.words)
        return answer.comment

    def _link(self, linked: Sequence[str]) -> Content:
        """A link to the first of the linked cases: a cell has one, and LibreOffice does not wrap it."""
        if not linked:
            return ""
        return self.owner.link_to(linked[0], f" (+{len(linked) - 1})" if len(linked) > 1 else "")

    def _rules(self) -> None:
        """Dropdowns, and colours of rows, which follow their State: it says what is wrong, no dialog interrupts."""
        sheet, last = self.sheet, self.part.last_row
        for (key, layer), index in self.at.items():
            name = f"judgement_{self.name}" if key == "judgement" else key if layer is None else f"{key}:{layer}"
            name = "span_choice" if key == "correct_span" else name
            if name in self.lists.dropdowns:
                sheet.dropdown((FIRST_ROW, index), (last, index), self._dropdown(key, self.lists.dropdowns[name]))
        shown = max(index for index, column in enumerate(self.columns) if column.kind is not ColumnKind.FOLDED)
        state = sheet.in_column((FIRST_ROW, self.at["state", None]))
        for sign, style in _STATE_LOOKS.items():
            sheet.highlight((FIRST_ROW, 0), (last, shown), f'=EXACT(LEFT({state},1),"{sign}")', style, alone=True)

    def _dropdown(self, key: str, source: str) -> Dropdown:
        words, meanings = self.words, self.options.label_words
        error = Message(words["cases.error_title"], words["cases.error_message"])
        hints = {
            "judgement": Message(words["cases.type_digit"], _fitting(self._digits("\n").split("\n"))),
            "correct_span": Message(words["cases.free_title"], words["cases.free_span"]),
            "correct_label": Message(words["cases.free_title"], words["cases.free_label"]),
        }
        if key == "correct_label" and meanings:
            lines = [f"{label}: {meaning}" for label, meaning in meanings.items()]
            hints[key] = Message(words["guide.labels_title"], _fitting(lines))
        return Dropdown(source, strict=False, error=error, hint=hints.get(key))


_JUDGED_BY = ("judgement", "applies_to", "correct_span", "correct_label", "severity", "comment")


def _fitting(lines: Sequence[str], longest: int = LONGEST_MESSAGE) -> str:
    """As many lines as fit into a hint; that there are more is seen.

    >>> _fitting(["PER: natural persons", "ORG: courts"]), _fitting(["A: " + "x" * 20, "B: y"], 25)
    ('PER: natural persons\\nORG: courts', 'A: xxxxxxxxxxxxxxxxxxxx\\n…')
    """
    kept = list(lines)
    while len("\n".join(kept)) > longest:
        kept = [*kept[: -1 - (kept[-1] == "…")], "…"]
    return "\n".join(kept)


def _points(small: int, large: int) -> float:
    """The height of so many lines about what happened and so many of text."""
    fitted = small * _SMALL_LINE + large * _LINE + _PADDING
    return min(max(small * _EXCEL_SMALL_LINE + large * _EXCEL_LINE, fitted), fitted + _MOST_ROOM)


def _look(key: str) -> tuple[float, str]:
    return _LOOKS.get(METADATA if key.startswith(METADATA) else key, (_FOLDED, "cell_folded"))


def _characters(pixels: float) -> float:
    """The width of a column that LibreOffice shows with so many pixels; Excel shows a sixteenth less."""
    return (pixels / 1.0625 - 5) / 7


def _widths(columns: Sequence[SheetColumn]) -> list[float]:
    """The width of each column in characters; context, reason and comment share what the others leave of the screen."""
    keys = [column.key for column in columns]
    left = _SCREEN - sum(_LOOKS[key][0] for key in _BLOCK) - keys.count("correct_label") * _LOOKS["correct_label"][0]
    pixels = {"context": min(max(left, _NARROWEST_CONTEXT), _WIDEST_CONTEXT)}
    pixels["comment"] = _LOOKS["comment"][0] + max(left - pixels["context"], 0)
    if "why" in keys:
        why = max(left // 3, _LEAST_WHY)
        pixels = {"why": why, "context": max(left - why, _LEAST_BESIDE_WHY)}
    return [_characters(pixels.get(key, _look(key)[0])) for key in keys]
