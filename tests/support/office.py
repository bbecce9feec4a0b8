"""A real LibreOffice for tests: `Office` opens workbooks, picks and types like a person, saves and exports.

Python's bridge to LibreOffice (`uno`) belongs to the system's Python, not to the one that runs the tests. So this
file is two things: imported, it is the client; run by the system's Python, it is the driver, which takes one JSON
request a line and answers with one JSON line.

    with Office(tmp_path) as office:
        book = office.open("review.xlsx")
        book.enter("FN", "L5", "Model is wrong")
        book.save("judged.ods")
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
    """One LibreOffice process with a profile of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def __enter__(self) -> Office:
        pipe = f"clueval{time.time_ns()}"
        command = [
            "soffice",
            f"-env:UserInstallation={(self.folder / 'office-profile').as_uri()}",
            "--headless",
            "--norestore",
            "--nologo",
            "--nodefault",
            f"--accept=pipe,name={pipe};urp;",
        ]
        self._office = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        driver = [SYSTEM_PYTHON, str(Path(__file__).resolve()), pipe]
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
        return Document(self, self.ask("open", Path(path).resolve().as_uri()))


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


# -- the driver: everything below runs under the system's Python ---------------------------------------------------


class _Driver:
    def __init__(self, pipe: str) -> None:
        import uno

        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
        for _ in range(600):
            try:
                self.context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
                break
            except Exception:  # not there yet
                time.sleep(0.1)
        else:
            raise RuntimeError("LibreOffice did not start within a minute")
        self.desktop = self._service("com.sun.star.frame.Desktop")
        self.documents: list[Any] = []

    def _service(self, name: str) -> Any:
        return self.context.ServiceManager.createInstanceWithContext(name, self.context)

    @staticmethod
    def _properties(**values: Any) -> tuple[Any, ...]:
        import uno

        found = []
        for name, value in values.items():
            entry = uno.createUnoStruct("com.sun.star.beans.PropertyValue")
            entry.Name, entry.Value = name, value
            found.append(entry)
        return tuple(found)

    def _sheet(self, number: int, sheet: str) -> Any:
        return self.documents[number].Sheets.getByName(sheet)

    def _range(self, number: int, sheet: str, address: str) -> Any:
        return self._sheet(number, sheet).getCellRangeByName(address)

    def ping(self) -> str:
        return "pong"

    def open(self, url: str) -> int:
        document = self.desktop.loadComponentFromURL(url, "_blank", 0, self._properties(Hidden=True))
        if document is None:
            raise RuntimeError(f"LibreOffice cannot open {url}")
        self.documents.append(document)
        return len(self.documents) - 1

    def sheets(self, number: int) -> list[tuple[str, bool]]:
        return [(sheet.Name, sheet.IsVisible) for sheet in self.documents[number].Sheets]

    def cell(self, number: int, sheet: str, address: str) -> dict[str, Any]:
        cell = self._range(number, sheet, address).getCellByPosition(0, 0)
        return {
            "text": cell.String,
            "value": cell.Value,
            "formula": cell.Formula,
            "type": cell.Type.value,
            "error": cell.getError(),
        }

    def texts(self, number: int, sheet: str, address: str) -> list[list[str]]:
        area = self._range(number, sheet, address)
        rows, columns = area.Rows.Count, area.Columns.Count
        return [[area.getCellByPosition(column, row).String for column in range(columns)] for row in range(rows)]

    def values(self, number: int, sheet: str, address: str) -> list[list[Any]]:
        return [list(row) for row in self._range(number, sheet, address).getDataArray()]

    def used(self, number: int, sheet: str) -> tuple[int, int]:
        cursor = self._sheet(number, sheet).createCursor()
        cursor.gotoEndOfUsedArea(False)
        place = cursor.RangeAddress
        return place.EndRow + 1, place.EndColumn + 1

    def runs(self, number: int, sheet: str, address: str) -> list[dict[str, Any]]:
        cell = self._range(number, sheet, address).getCellByPosition(0, 0)
        found = []
        for index, paragraph in enumerate(_each(cell)):
            if index:
                found.append({"text": "\n", "colour": "", "bold": False, "italic": False, "underline": False})
            for portion in _each(paragraph):
                found.append(
                    {
                        "text": portion.String,
                        "colour": f"{portion.CharColor & 0xFFFFFF:06X}",
                        "bold": portion.CharWeight > 100,
                        "italic": portion.CharPosture.value == "ITALIC",
                        "underline": portion.CharUnderline != 0,
                    }
                )
        return found

    def validation(self, number: int, sheet: str, address: str) -> dict[str, Any]:
        rule = self._range(number, sheet, address).Validation
        source = rule.getFormula1()
        choices = None
        if rule.Type.value == "LIST" and "." in source:
            name, _, place = source.lstrip("=").rpartition(".")
            name = name.lstrip("$").strip("'").replace("''", "'")
            area = self._range(number, name, place.replace("$", ""))
            choices = [str(row[0]) for row in area.getDataArray()]
        return {
            "type": rule.Type.value,
            "source": source,
            "choices": choices,
            "strict": bool(rule.ShowErrorMessage),
            "message": rule.ErrorMessage,
            "hint": rule.InputMessage if rule.ShowInputMessage else "",
        }

    def column(self, number: int, sheet: str, column: int) -> dict[str, Any]:
        found = self._sheet(number, sheet).Columns.getByIndex(column)
        return {"width": found.Width, "visible": bool(found.IsVisible)}

    def row_height(self, number: int, sheet: str, row: int) -> int:
        return self._sheet(number, sheet).Rows.getByIndex(row).Height

    def fitted_height(self, number: int, sheet: str, row: int) -> int:
        found = self._sheet(number, sheet).Rows.getByIndex(row)
        before = found.Height
        found.OptimalHeight = True
        fitted = found.Height
        found.OptimalHeight = False
        found.Height = before
        return fitted

    def enter(self, number: int, sheet: str, address: str, text: str) -> None:
        document = self.documents[number]
        frame = document.CurrentController.Frame
        document.CurrentController.setActiveSheet(self._sheet(number, sheet))
        dispatcher = self._service("com.sun.star.frame.DispatchHelper")
        dispatcher.executeDispatch(frame, ".uno:GoToCell", "", 0, self._properties(ToPoint=address))
        dispatcher.executeDispatch(frame, ".uno:EnterString", "", 0, self._properties(StringName=text))

    def set_text(self, number: int, sheet: str, address: str, text: str) -> None:
        self._range(number, sheet, address).getCellByPosition(0, 0).setString(text)

    def set_many(self, number: int, sheet: str, texts: dict[str, str]) -> None:
        for address, text in texts.items():
            self.set_text(number, sheet, address, text)

    def sort(self, number: int, sheet: str, address: str, column: int, ascending: bool) -> None:
        import uno

        field = uno.createUnoStruct("com.sun.star.table.TableSortField")
        field.Field, field.IsAscending = column, ascending
        fields = uno.Any("[]com.sun.star.table.TableSortField", (field,))
        # The properties hold a typed sequence, which needs an explicit call.
        options = self._properties(ContainsHeader=False, SortFields=fields, BindFormatsToContent=True)
        uno.invoke(self._range(number, sheet, address), "sort", (options,))

    def insert_columns(self, number: int, sheet: str, index: int, count: int) -> None:
        self._sheet(number, sheet).Columns.insertByIndex(index, count)

    def delete_columns(self, number: int, sheet: str, index: int, count: int) -> None:
        self._sheet(number, sheet).Columns.removeByIndex(index, count)

    def insert_rows(self, number: int, sheet: str, index: int, count: int) -> None:
        self._sheet(number, sheet).Rows.insertByIndex(index, count)

    def delete_rows(self, number: int, sheet: str, index: int, count: int) -> None:
        self._sheet(number, sheet).Rows.removeByIndex(index, count)

    def move_sheet(self, number: int, sheet: str, position: int) -> None:
        self.documents[number].Sheets.moveByName(sheet, position)

    def rename_sheet(self, number: int, sheet: str, name: str) -> None:
        self._sheet(number, sheet).setName(name)

    def delete_sheet(self, number: int, sheet: str) -> None:
        self.documents[number].Sheets.removeByName(sheet)

    def protected(self, number: int, sheet: str) -> bool:
        return bool(self._sheet(number, sheet).isProtected())

    def save(self, number: int, url: str, kind: str) -> None:
        self.documents[number].storeToURL(url, self._properties(FilterName=kind))

    def close(self, number: int) -> None:
        self.documents[number].close(True)
        self.documents[number] = None

    def stop(self) -> None:
        for document in self.documents:
            if document is not None:
                document.close(True)
        self.desktop.terminate()


def _each(container: Any) -> Any:
    items = container.createEnumeration()
    while items.hasMoreElements():
        yield items.nextElement()


def _drive(pipe: str) -> None:
    driver = _Driver(pipe)
    for line in sys.stdin:
        request, *arguments = json.loads(line)
        try:
            answer = {"result": getattr(driver, request)(*arguments)}
        except Exception as error:  # every error goes back to the test that asked
            answer = {"error": f"{request}: {type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    try:
        driver.stop()
    except Exception:  # the office is gone already
        return


if __name__ == "__main__":
    _drive(sys.argv[1])
