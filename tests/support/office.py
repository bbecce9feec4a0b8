"""A real LibreOffice for tests: `Office` opens workbooks, picks and types like a person, saves and exports.

Python's bridge to LibreOffice (`uno`) belongs to the system's Python, not to the one that runs the tests. So this is
the client; `office_driver`, run by the system's Python, is asked by it.

    with Office(tmp_path) as office:
        book = office.open("review.xlsx")
        book.enter("Missed (FN)", "D4", "Model is wrong")
        book.save("judged.ods")
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.workbooks import HEADER_ROW

SYSTEM_PYTHON = "/usr/bin/python3"
FILTERS = {
    ".xlsx": "Calc MS Excel 2007 XML",
    ".ods": "calc8",
    ".pdf": "calc_pdf_Export",
    ".html": "HTML (StarCalc)",
    ".csv": "Text - txt - csv (StarCalc)",
}


def missing() -> str:
    """Why there is no LibreOffice to test with; empty if there is one."""
    if shutil.which("soffice") is None:
        return "LibreOffice (soffice) is not installed"
    if not Path(SYSTEM_PYTHON).exists():
        return f"{SYSTEM_PYTHON} is not there"
    if subprocess.run([SYSTEM_PYTHON, "-c", "import uno"], capture_output=True, check=False).returncode:
        return "python3-uno is not installed"
    return ""


class Office:
    """One LibreOffice process with a profile of its own; without a screen, unless one is named (`:7`)."""

    def __init__(self, folder: Path, display: str = "") -> None:
        self.folder, self.display = Path(folder), display

    def __enter__(self) -> Office:
        pipe = f"clueval{time.time_ns()}"
        command = [
            "soffice",
            f"-env:UserInstallation={(self.folder / 'office-profile').as_uri()}",
            *([] if self.display else ["--headless"]),
            "--norestore",
            "--nologo",
            "--nodefault",
            f"--accept=pipe,name={pipe};urp;",
        ]
        screen = {"DISPLAY": self.display} if self.display else {}
        self._office = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **screen}
        )
        driver = [SYSTEM_PYTHON, str(Path(__file__).resolve().with_name("office_driver.py")), pipe]
        self._driver = subprocess.Popen(
            driver, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.ask("ping")
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self._driver.stdin, self._driver.stdout):
            if stream is not None:
                stream.close()
        self._driver.wait(timeout=60)
        try:
            self._office.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._office.kill()
            self._office.wait()

    def ask(self, request: str, *arguments: Any) -> Any:
        """Send one request to the driver and wait for its answer."""
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps([request, *arguments]) + "\n")
        self._driver.stdin.flush()
        line = self._driver.stdout.readline()
        if not line:
            raise RuntimeError(f"LibreOffice's driver ended at the request {request!r}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    def open(self, path: Path | str) -> Document:
        """Open a workbook."""
        return Document(self, self.ask("open", Path(path).resolve().as_uri(), bool(self.display)))

    def new(self) -> Document:
        """A new, empty workbook."""
        return Document(self, self.ask("open", "private:factory/scalc"))


class Document:
    """An open workbook. Sheets go by name, cells and ranges by address (`B5`, `A5:M20`)."""

    def __init__(self, office: Office, number: int) -> None:
        self._office, self._number = office, number

    def _ask(self, request: str, *arguments: Any) -> Any:
        return self._office.ask(request, self._number, *arguments)

    def sheets(self) -> dict[str, bool]:
        """The sheets in their order, and whether each can be seen."""
        return dict(self._ask("sheets"))

    def cell(self, sheet: str, address: str) -> dict[str, Any]:
        """A cell: `text` (shown), `value`, `formula`, `type` (EMPTY, VALUE, TEXT, FORMULA), `error`."""
        return self._ask("cell", sheet, address)

    def texts(self, sheet: str, address: str) -> list[list[str]]:
        """What a range shows, row by row."""
        return self._ask("texts", sheet, address)

    def values(self, sheet: str, address: str) -> list[list[Any]]:
        """What a range holds, row by row: texts and numbers. Much quicker than `texts`."""
        return self._ask("values", sheet, address)

    def used(self, sheet: str) -> tuple[int, int]:
        """The last used row and column, counted from 1."""
        rows, columns = self._ask("used", sheet)
        return rows, columns

    def runs(self, sheet: str, address: str) -> list[dict[str, Any]]:
        """The portions of a cell's rich text: `text`, `colour` (RRGGBB), `bold`, `italic`, `underline`."""
        return self._ask("runs", sheet, address)

    def validation(self, sheet: str, address: str) -> dict[str, Any]:
        """A cell's validation: `type`, `source`, `strict`, and `choices`, the list as it resolves."""
        return self._ask("validation", sheet, address)

    def column(self, sheet: str, column: int) -> dict[str, Any]:
        """A column (from 0): `width` in 1/100 mm, `visible`."""
        return self._ask("column", sheet, column)

    def row_height(self, sheet: str, row: int) -> int:
        """The height of a row (from 0), in 1/100 mm."""
        return self._ask("row_height", sheet, row)

    def fitted_height(self, sheet: str, row: int) -> int:
        """The height that LibreOffice itself would give to a row (from 0), in 1/100 mm."""
        return self._ask("fitted_height", sheet, row)

    def enter(self, sheet: str, address: str, text: str) -> None:
        """Type into a cell, as a person does: the program decides what the text is."""
        self._ask("enter", sheet, address, text)

    def select(self, sheet: str, address: str = "") -> None:
        """Show a sheet, and put the cursor into a cell."""
        self._ask("select", sheet, address)

    def cursor(self) -> tuple[str, str]:
        """The sheet that is shown and the cell that the cursor is in."""
        sheet, address = self._ask("cursor")
        return sheet, address

    def annotate(self, sheet: str, address: str, text: str) -> None:
        """Attach a comment to a cell."""
        self._ask("annotate", sheet, address, text)

    def set_text(self, sheet: str, address: str, text: str) -> None:
        """Put text into a cell, whatever it looks like."""
        self._ask("set_text", sheet, address, text)

    def set_many(self, sheet: str, texts: dict[str, str]) -> None:
        """Put text into many cells."""
        self._ask("set_many", sheet, texts)

    def sort(self, sheet: str, address: str, column: int, *, ascending: bool = True) -> None:
        """Sort a range (without header) by its column, counted from 0 inside the range."""
        self._ask("sort", sheet, address, column, ascending)

    def insert_columns(self, sheet: str, index: int, count: int = 1) -> None:
        """Insert columns before the one with this index (from 0)."""
        self._ask("insert_columns", sheet, index, count)

    def delete_columns(self, sheet: str, index: int, count: int = 1) -> None:
        """Delete columns from this index (from 0) on."""
        self._ask("delete_columns", sheet, index, count)

    def insert_rows(self, sheet: str, index: int, count: int = 1) -> None:
        """Insert rows before the one with this index (from 0)."""
        self._ask("insert_rows", sheet, index, count)

    def delete_rows(self, sheet: str, index: int, count: int = 1) -> None:
        """Delete rows from this index (from 0) on."""
        self._ask("delete_rows", sheet, index, count)

    def move_sheet(self, sheet: str, position: int) -> None:
        """Move a sheet to a position (from 0)."""
        self._ask("move_sheet", sheet, position)

    def rename_sheet(self, sheet: str, name: str) -> None:
        """Give a sheet another name."""
        self._ask("rename_sheet", sheet, name)

    def delete_sheet(self, sheet: str) -> None:
        """Delete a sheet."""
        self._ask("delete_sheet", sheet)

    def add_sheet(self, name: str) -> None:
        """Add an empty sheet at the end."""
        self._ask("add_sheet", name)

    def copy_sheet(self, sheet: str, name: str) -> None:
        """Duplicate a sheet; the copy stands at the end."""
        self._ask("copy_sheet", sheet, name)

    def import_sheet(self, other: Document, sheet: str) -> None:
        """Copy a sheet of another open workbook to the end of this one."""
        self._ask("import_sheet", other._number, sheet)

    def put(self, sheet: str, row: int, column: int, kind: str, value: str | float) -> None:
        """Put a `text`, a `number` or a `formula` into a cell (from 0); `empty` clears it."""
        self._ask("put", sheet, row, column, kind, value)

    def copy_range(self, sheet: str, area: Sequence[int], target: str, row: int, column: int) -> None:
        """Copy a range: first row, first column, last row, last column, all from 0."""
        self._ask("copy_range", sheet, list(area), target, row, column)

    def move_range(self, sheet: str, area: Sequence[int], target: str, row: int, column: int) -> None:
        """Cut a range and paste it elsewhere in the workbook."""
        self._ask("move_range", sheet, list(area), target, row, column)

    def merge(self, sheet: str, area: Sequence[int], on: bool) -> None:
        """Merge the cells of a range, or split them again."""
        self._ask("merge", sheet, list(area), on)

    def hide_rows(self, sheet: str, rows: Sequence[int]) -> None:
        """Hide rows (from 0)."""
        self._ask("hide_rows", sheet, list(rows))

    def undo_depth(self) -> int:
        """How many edits can be undone."""
        return self._ask("undo_depth")

    def undo_to(self, depth: int) -> None:
        """Undo edits until so many are left."""
        self._ask("undo_to", depth)

    def protected(self, sheet: str) -> bool:
        """Whether a sheet is protected."""
        return self._ask("protected", sheet)

    def save(self, path: Path | str) -> Path:
        """Save a copy; the ending says as what: .xlsx, .ods, .pdf, .html."""
        path = Path(path).resolve()
        self._ask("save", path.as_uri(), FILTERS[path.suffix])
        return path

    def close(self) -> None:
        """Close without saving."""
        self._ask("close")


def columns(book: Document, sheet: str, row: int = HEADER_ROW) -> dict[str, str]:
    """The letters of the columns by their headers."""
    _, last = book.used(sheet)
    names = book.values(sheet, f"A{row}:{letter(last - 1)}{row}")[0]
    return {str(name): letter(index) for index, name in enumerate(names)}


def case_rows(book: Document, sheet: str, header: str = "Case ID") -> dict[str, int]:
    """The rows of a review sheet by the IDs of their cases."""
    column, (rows, _) = columns(book, sheet)[header], book.used(sheet)
    cells = book.values(sheet, f"{column}{HEADER_ROW + 1}:{column}{rows}")
    return {str(line[0]): row for row, line in enumerate(cells, HEADER_ROW + 1)}


def letter(index: int) -> str:
    """The letters of a column, counted from 0."""
    return (letter(index // 26 - 1) if index >= 26 else "") + chr(65 + index % 26)
