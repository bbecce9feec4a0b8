"""Drives LibreOffice, run by the system's Python: one JSON request a line comes in, one JSON line goes out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any


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

    def open(self, url: str, shown: bool = False) -> int:
        document = self.desktop.loadComponentFromURL(url, "_blank", 0, self._properties(Hidden=not shown))
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

    def select(self, number: int, sheet: str, address: str) -> None:
        controller = self.documents[number].CurrentController
        controller.setActiveSheet(self._sheet(number, sheet))
        if address:
            controller.select(self._range(number, sheet, address))

    def cursor(self, number: int) -> list[str]:
        place = self.documents[number].CurrentController.ViewData.split(";")
        sheet = self.documents[number].CurrentController.ActiveSheet
        index = sheet.RangeAddress.Sheet
        column, row = place[3 + index].replace("+", "/").split("/")[:2]
        cell = sheet.getCellByPosition(int(column), int(row))
        return [sheet.Name, cell.AbsoluteName.rpartition(".")[2].replace("$", "")]

    def annotate(self, number: int, sheet: str, address: str, text: str) -> None:
        cell = self._range(number, sheet, address).getCellByPosition(0, 0)
        self._sheet(number, sheet).Annotations.insertNew(cell.CellAddress, text)

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

    def add_sheet(self, number: int, name: str) -> None:
        sheets = self.documents[number].Sheets
        sheets.insertNewByName(name, sheets.Count)

    def copy_sheet(self, number: int, sheet: str, name: str) -> None:
        sheets = self.documents[number].Sheets
        sheets.copyByName(sheet, name, sheets.Count)

    def import_sheet(self, number: int, other: int, sheet: str) -> None:
        sheets = self.documents[number].Sheets
        sheets.importSheet(self.documents[other], sheet, sheets.Count)

    def put(self, number: int, sheet: str, row: int, column: int, kind: str, value: Any) -> None:
        cell = self._sheet(number, sheet).getCellByPosition(column, row)
        if kind == "number":
            cell.setValue(value)
        elif kind == "formula":
            cell.setFormula(value)
        else:
            cell.setString(value if kind == "text" else "")

    def _places(self, number: int, sheet: str, area: Sequence[int], target: str, row: int, column: int) -> Any:
        top, left, bottom, right = area
        source = self._sheet(number, sheet).getCellRangeByPosition(left, top, right, bottom)
        place = self._sheet(number, target).getCellByPosition(column, row).CellAddress
        return place, source.RangeAddress

    def copy_range(self, number: int, sheet: str, area: Sequence[int], target: str, row: int, column: int) -> None:
        self._sheet(number, sheet).copyRange(*self._places(number, sheet, area, target, row, column))

    def move_range(self, number: int, sheet: str, area: Sequence[int], target: str, row: int, column: int) -> None:
        self._sheet(number, sheet).moveRange(*self._places(number, sheet, area, target, row, column))

    def merge(self, number: int, sheet: str, area: Sequence[int], on: bool) -> None:
        top, left, bottom, right = area
        self._sheet(number, sheet).getCellRangeByPosition(left, top, right, bottom).merge(on)

    def hide_rows(self, number: int, sheet: str, rows: Sequence[int]) -> None:
        for row in rows:
            self._sheet(number, sheet).Rows.getByIndex(row).IsVisible = False

    def undo_depth(self, number: int) -> int:
        return len(self.documents[number].UndoManager.getAllUndoActionTitles())

    def undo_to(self, number: int, depth: int) -> None:
        manager = self.documents[number].UndoManager
        while len(manager.getAllUndoActionTitles()) > depth:
            manager.undo()

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
