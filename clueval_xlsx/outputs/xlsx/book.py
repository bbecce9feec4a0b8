"""The one place that calls XlsxWriter: it lets only fitting text through, and checks every return code."""

from __future__ import annotations

import datetime
import io
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import xlsxwriter
from xlsxwriter.utility import quote_sheetname, xl_range_abs, xl_rowcol_to_cell

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.outputs.xlsx.styles import FORMATS, LOOKS, PLAIN_FONT
from clueval_xlsx.text.cells import JOINER, clean, fitting, fitting_pieces, join_pieces, shorten
from clueval_xlsx.words import LONGEST_MESSAGE, LONGEST_TITLE

MOST_ROWS = 1_048_576
_WHOLE_SHEET = f"A1:XFD{MOST_ROWS}"
LONGEST_FORMULA = 8_000  # Excel allows a few more
_LONGEST_NAME = 31
_CALCULATED_BY = 191029  # Excel 2019 and later
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\]")

Cell = tuple[int, int]


class ColumnState(StrEnum):
    """Whether a column is seen; folded ones open with the sign in the column behind them."""

    SHOWN = "shown"
    HIDDEN = "hidden"
    FOLDED = "folded"
    BEHIND_FOLDED = "behind_folded"


_COLUMN_OPTIONS: dict[ColumnState, dict[str, int]] = {
    ColumnState.SHOWN: {},
    ColumnState.HIDDEN: {"hidden": True},
    ColumnState.FOLDED: {"level": 1, "hidden": True},
    ColumnState.BEHIND_FOLDED: {"collapsed": True},
}


class Message(NamedTuple):
    """What a program says about a cell."""

    title: str
    text: str


@dataclass(frozen=True)
class Dropdown:
    """A list of values to choose from; unless it is strict, other values may be typed, too."""

    source: str
    strict: bool
    error: Message
    hint: Message | None = None


class Formula(NamedTuple):
    """The content of a cell that is calculated, and the value that it has now."""

    text: str
    value: str | int


Content = str | int | Formula | Sequence[tuple[str, str]] | None


class _EmptyText(str):
    """The empty text that a formula results in: XlsxWriter takes a plain one for a formula without a value."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


_EMPTY_TEXT = _EmptyText()


def _typed(value: float | str) -> float | str:
    """The value of a formula so that its cell says whether it is a text, be it empty."""
    return _EMPTY_TEXT if value == "" else value


class SharedText(str):
    """The text of a formula that the rows of a column share: the first row says it, the others name its number."""

    attributes: str

    def __new__(cls, text: str, number: int, cells: str = "") -> SharedText:
        """`cells` is the range that the first of them stands for."""
        self = super().__new__(cls, text)
        self.attributes = f' t="shared" ref="{cells}" si="{number}"' if cells else f' t="shared" si="{number}"'
        return self


class _OurFormulas(xlsxwriter.worksheet.Worksheet):  # type: ignore[misc]  # XlsxWriter has no types
    """A sheet that takes formulas as they are, and shared ones, which the library does not know.

    XlsxWriter looks into each for thirty functions that Excel wants with a prefix, which takes half of the time that a
    review sheet is written in. None of our formulas has one.
    """

    def _prepare_formula(self, formula: str, expand_future_functions: bool = False) -> str:  # noqa: ARG002, FBT
        return formula if isinstance(formula, SharedText) else formula.removeprefix("=")

    def _xml_formula_element(self, formula: str, result: Any, attributes: Sequence[tuple[str, Any]] = ()) -> None:
        if not isinstance(formula, SharedText):
            super()._xml_formula_element(formula, result, attributes)
            return
        cell = "".join(f' {name}="{value}"' for name, value in attributes)
        text, value = self._escape_data(formula.removeprefix("=")), self._escape_data(result)
        self.fh.write(f"<c{cell}><f{formula.attributes}>{text}</f><v>{value}</v></c>")


class Book:
    """A workbook being written. Sheets are added in the order in which they appear."""

    def __init__(self, target: Path | BinaryIO, *, title: str) -> None:
        options = {
            "strings_to_numbers": False,
            "strings_to_formulas": False,
            "strings_to_urls": False,
            "in_memory": True,  # no clear text is on disk where the workbook gets a password
            "default_format_properties": {"font_name": PLAIN_FONT, "font_size": 10},
        }
        self._target, self._whole = target, io.BytesIO()
        self._book = xlsxwriter.Workbook(self._whole, options)
        # Every formula comes with its value: Excel need not calculate on opening, nor ask on closing whether to save.
        self._book.set_calc_mode("auto", _CALCULATED_BY)
        self._book.calc_on_load = False
        self._book.set_properties({"title": title, "created": creation_time()})
        self._formats: dict[str, Any] = {}
        self._rows: dict[tuple[str, ...], list[Any]] = {}
        self.sheets: list[Worksheet] = []

    def __enter__(self) -> Book:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()

    def format(self, name: str) -> Any:
        """A cell format by its name in the palette, with the look of a row behind a plus sign, if it has any."""
        if name not in self._formats:
            style, _, look = name.partition("+")
            self._formats[name] = self._book.add_format({**FORMATS[style], **LOOKS.get(look, {})})
        return self._formats[name]

    def formats(self, names: tuple[str, ...]) -> list[Any]:
        """The formats of a row, which come again and again."""
        known = self._rows.get(names)
        if known is None:
            known = self._rows[names] = [self.format(name) for name in names]
        return known

    def sheet(self, name: str) -> Worksheet:
        """Add a sheet; a name that Excel refuses or that is taken is changed until it fits."""
        taken = {sheet.name.casefold() for sheet in self.sheets}
        plain = _NOT_IN_NAMES.sub(" ", clean(name)).strip().strip("'")[:_LONGEST_NAME] or "Sheet"
        unique, number = plain, 1
        while unique.casefold() in taken or unique.casefold() == "history":
            number += 1
            unique = f"{plain[: _LONGEST_NAME - 4]} {number}"
        sheet = Worksheet(self, self._book.add_worksheet(unique, _OurFormulas), unique)
        self.sheets.append(sheet)
        return sheet

    def add_chart(self, kind: dict[str, str]) -> Any:
        """A chart of XlsxWriter's that is not on a sheet yet."""
        return self._book.add_chart(kind)

    def close(self) -> None:
        """Finish the file."""
        try:
            self._book.close()
            if isinstance(self._target, Path):
                self._target.write_bytes(self._whole.getbuffer())
            else:
                self._target.write(self._whole.getbuffer())
        except (OSError, xlsxwriter.exceptions.XlsxWriterException) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or error
            raise OutputError(
                f"the workbook cannot be written: {reason}. Make room or choose another place, and run again."
            ) from None


class Worksheet:
    """One sheet."""

    def __init__(self, book: Book, sheet: Any, name: str) -> None:
        self.book = book
        self.name = name
        self._sheet = sheet
        sheet.hide_gridlines(2)
        _check(sheet.ignore_errors({"number_stored_as_text": _WHOLE_SHEET}))  # text is meant wherever it is written

    # -- cells ------------------------------------------------------------------------------------------------

    def text(self, cell: Cell, text: str, style: str = "plain") -> None:
        """Write text; it can never become a formula, a link or a number."""
        shown = fitting(text)
        if shown:
            _check(self._sheet.write_string(*cell, shown, self.book.format(style)))
        else:
            self.blank(cell, style)

    def rich(self, cell: Cell, pieces: Sequence[tuple[str, str]], style: str) -> None:
        """Write (text, mark) pieces, each in the look of its mark; `""` is plain."""
        joined = join_pieces(fitting_pieces(pieces))
        if not any(mark for _, mark in joined):
            self.text(cell, "".join(text for text, _ in joined), style)
            return
        if len(joined) == 1:  # Excel wants two runs at least; an invisible one does not change the words
            joined.insert(0, (JOINER, ""))
        fragments: list[Any] = []
        for text, mark in joined:
            # Plain runs need their font, too: without it LibreOffice falls back to the workbook's default.
            fragments += [self.book.format(f"mark_{mark or 'none'}"), text]
        _check(self._sheet.write_rich_string(*cell, *fragments, self.book.format(style)))

    def cells(self, row: int, values: Sequence[Content], styles: tuple[str, ...]) -> None:
        """Write a whole row from its first column on; None leaves a cell out."""
        sheet, formats = self._sheet, self.book.formats(styles)
        for column, (value, look) in enumerate(zip(values, formats, strict=True)):
            if isinstance(value, str):
                if value:
                    code = sheet.write_string(row, column, fitting(value), look)
                else:
                    code = sheet.write_blank(row, column, None, look)
            elif value is None:
                continue
            elif isinstance(value, int):
                code = sheet.write_number(row, column, value, look)
            elif isinstance(value, Formula):
                code = sheet.write_formula(row, column, value.text, look, _typed(value.value))
            else:
                self.rich((row, column), value, styles[column])
                continue
            if code:
                _check(code)

    def number(self, cell: Cell, value: float, style: str = "count") -> None:
        """Write a number; not a number is an empty cell."""
        if isnan(value):
            self.blank(cell, style)
        else:
            _check(self._sheet.write_number(*cell, value, self.book.format(style)))

    def blank(self, cell: Cell, style: str) -> None:
        """An empty cell with a look."""
        _check(self._sheet.write_blank(*cell, None, self.book.format(style)))

    def formula(self, cell: Cell, formula: str, value: float | str, style: str) -> None:
        """A formula with the value that it has now: some programs calculate only after the first edit."""
        self._check_formula(cell, formula)
        _check(self._sheet.write_formula(*cell, formula, self.book.format(style), _typed(value)))

    def link(self, cell: Cell, target: str, text: str, style: str = "cell_link") -> None:
        """A link to a place in this workbook."""
        _check(self._sheet.write_url(*cell, f"internal:{target}", self.book.format(style), shorten(clean(text), 255)))

    def across(self, first: Cell, last_column: int, content: str | float, style: str) -> None:
        """Text or a number over several columns of one row."""
        row, column = first
        if last_column > column:
            _check(self._sheet.merge_range(*first, row, last_column, "", self.book.format(style)))
        if isinstance(content, str):
            self.text(first, content, style)
        else:
            self.number(first, content, style)

    # -- rows, columns, the sheet -----------------------------------------------------------------------------

    def row(self, row: int, height: float, *, folded: bool = False) -> None:
        """Set the height of a row, in points; a folded one is out of sight until somebody unfolds it."""
        _check(self._sheet.set_row(row, height, None, {"level": 1, "hidden": True} if folded else {}))

    def column(
        self, column: int, width: float, style: str | None = None, state: ColumnState = ColumnState.SHOWN
    ) -> None:
        """Set the width of a column, in characters, and the look of its empty cells."""
        look = self.book.format(style) if style else None
        _check(self._sheet.set_column(column, column, width, look, _COLUMN_OPTIONS[state]))

    def dropdown(self, first: Cell, last: Cell, choices: Dropdown) -> None:
        """Offer the values of a range in cells."""
        rule = {
            "validate": "list",
            "source": choices.source,
            "show_error": choices.strict,
            "error_title": shorten(clean(choices.error.title), LONGEST_TITLE),
            "error_message": shorten(clean(choices.error.text), LONGEST_MESSAGE),
        }
        if choices.hint:
            rule["input_title"] = shorten(clean(choices.hint.title), LONGEST_TITLE)
            rule["input_message"] = shorten(clean(choices.hint.text), LONGEST_MESSAGE)
        _check(self._sheet.data_validation(*first, *last, rule))

    def highlight(self, first: Cell, last: Cell, formula: str, style: str, *, alone: bool = False) -> None:
        """Give cells another look where a formula is true; `alone`: no later rule then changes it."""
        self._check_formula(first, formula)
        rule = {"type": "formula", "criteria": formula, "format": self.book.format(style)}
        _check(self._sheet.conditional_format(*first, *last, {**rule, "stop_if_true": True} if alone else rule))

    def bars(self, first: Cell, last: Cell, colour: str) -> None:
        """Bars behind rates, from nothing to all."""
        rule = {"type": "data_bar", "bar_color": colour, "min_type": "num", "max_type": "num"}
        _check(self._sheet.conditional_format(*first, *last, {**rule, "min_value": 0, "max_value": 1}))

    def insert_chart(self, cell: Cell, chart: Any, options: dict[str, Any]) -> None:
        """Put a chart of `Book.add_chart` on the sheet."""
        _check(self._sheet.insert_chart(*cell, chart, options))

    def freeze(self, row: int, column: int = 0, first_shown: int | None = None) -> None:
        """Keep the rows above and the columns left of here in sight; the rows below begin with `first_shown`."""
        self._sheet.freeze_panes(row, column, row if first_shown is None else first_shown, column)

    def select(self, cell: Cell) -> None:
        """Put the cursor into a cell."""
        self._sheet.set_selection(*cell, *cell)

    def filter(self, first: Cell, last: Cell) -> None:
        """A filter on a header row."""
        _check(self._sheet.autofilter(*first, *last))

    def print_setup(self, *, landscape: bool, header_row: int | None = None, footer: str = "", pages: int = 0) -> None:
        """A4, fitted to the page's width; `pages` is how many pages it may be high, 0 any number."""
        self._sheet.set_paper(9)
        if landscape:
            self._sheet.set_landscape()
        else:
            self._sheet.set_portrait()
        self._sheet.fit_to_pages(1, pages)
        self._sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.7)
        if header_row is not None:
            _check(self._sheet.repeat_rows(header_row))
        self._sheet.set_footer(f"&L&8{_footer(footer)}&R&8&A  &P / &N")

    def page_breaks(self, rows: Sequence[int]) -> None:
        """Start a new page at each of these rows."""
        if rows:
            _check(self._sheet.set_h_pagebreaks(list(rows)))

    def print_area(self, last: Cell) -> None:
        """Print from the first cell to this one."""
        _check(self._sheet.print_area(0, 0, *last))

    def protect(self) -> None:
        """Lock what is not for judging; filters and column widths stay free.

        Sorting does not: it would move the unlocked cells alone, away from their cases.
        """
        free = ("autofilter", "format_columns", "format_rows", "select_locked_cells", "select_unlocked_cells")
        self._sheet.protect("", dict.fromkeys(free, True))

    def hide(self) -> None:
        """Keep the sheet out of sight."""
        self._sheet.hide()

    def activate(self) -> None:
        """Show this sheet first."""
        self._sheet.activate()

    def tab(self, colour: str) -> None:
        """Colour the sheet's tab."""
        self._sheet.set_tab_color(colour)

    # -- addresses --------------------------------------------------------------------------------------------

    def address(self, cell: Cell) -> str:
        """A cell's address for links and formulas, with the sheet's name."""
        return f"{quote_sheetname(self.name)}!{xl_rowcol_to_cell(*cell)}"

    def in_column(self, cell: Cell) -> str:
        """A cell's address on its own sheet, with a fixed column, for rules that go down the rows."""
        return str(xl_rowcol_to_cell(*cell, col_abs=True))

    def range(self, first: Cell, last: Cell) -> str:
        """A range's absolute address, with the sheet's name."""
        return f"{quote_sheetname(self.name)}!{xl_range_abs(*first, *last)}"

    def _check_formula(self, cell: Cell, formula: str) -> None:
        """A formula that Excel does not take would cost the whole file."""
        if len(formula) > LONGEST_FORMULA:
            raise OutputError(
                f"the workbook cannot be written: {self.name}!{xl_rowcol_to_cell(*cell)} would have a formula of "
                f"{len(formula):,} characters, allowed are {LONGEST_FORMULA:,}. Shorten the words of the language file "
                "(`validate FILE.toml` lists long ones)."
            )


def _check(code: Any) -> None:
    """XlsxWriter reports trouble by return code: nothing may go wrong unseen."""
    if isinstance(code, int) and code < 0:
        raise OutputError(f"the workbook cannot be written: XlsxWriter refused a cell (code {code}).")


def _footer(text: str) -> str:
    """Footer text: `&` starts a code there, and 255 characters are the limit."""
    return clean(text).replace("&", "&&")[:180]


def creation_time() -> datetime.datetime:
    """Now, or what SOURCE_DATE_EPOCH says, so that builds can be repeated byte for byte."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch.isdigit():
        return datetime.datetime.fromtimestamp(int(epoch), datetime.UTC).replace(tzinfo=None)
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None, microsecond=0)
