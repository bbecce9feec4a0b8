"""Records every call that a workbook makes to XlsxWriter, so that the library can be timed with those calls alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import xlsxwriter

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.outputs.xlsx.book import SharedText

BOOK = -1  # the target of a call: the workbook, or the number of a sheet


@dataclass(frozen=True)
class Made:
    """Stands for a format or a chart, by its number among all things that were made."""

    number: int


@dataclass
class Recording:
    """The calls of one workbook, in their order."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)
    calls: list[tuple[Any, str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    made: int = 0

    def replay(self) -> None:
        """Make the same calls again, without any code of ours between them."""
        book = xlsxwriter.Workbook(str(self.path), self.options)
        sheets: list[Any] = []
        made: list[Any] = []
        for target, name, arguments, options in self.calls:
            owner = made[target.number] if type(target) is Made else book if target == BOOK else sheets[target]
            given = [
                made[each.number] if type(each) is Made else _real(each, made) if type(each) is dict else each
                for each in arguments
            ]
            if name == "add_worksheet":
                given = given[:1]  # a sheet of XlsxWriter's own
            result = getattr(owner, name)(*given, **options)
            if target == BOOK and name == "add_worksheet":
                sheets.append(result)
            elif target == BOOK and name in {"add_format", "add_chart"}:
                made.append(result)
        book.close()


def _real(options: dict[str, Any], made: list[Any]) -> dict[str, Any]:
    return {key: made[each.number] if type(each) is Made else each for key, each in options.items()}


class _Recorder:
    """Passes every call on to the real thing and writes it down."""

    def __init__(self, recording: Recording, real: Any, target: Any) -> None:
        self.__dict__.update(_recording=recording, _real=real, _target=target, _sheets=0, _shared={})

    def __getattr__(self, name: str) -> Any:
        real, recording = getattr(self._real, name), self._recording
        if not callable(real):
            return real

        def call(*arguments: Any, **options: Any) -> Any:
            kept = tuple(_kept(each) for each in arguments)
            if name == "write_formula" and isinstance(arguments[2], SharedText):
                kept = (*kept[:2], self._whole(*arguments[:3]), *kept[3:])
            if name != "close":
                recording.calls.append((self._target, name, kept, {key: _kept(each) for key, each in options.items()}))
            result = real(*[_given(each) for each in arguments], **{k: _given(v) for k, v in options.items()})
            if name == "add_worksheet":
                self.__dict__["_sheets"] += 1
                return _Recorder(recording, result, self._sheets - 1)
            if name in {"add_format", "add_chart"}:
                recording.made += 1
                return _Recorder(recording, result, Made(recording.made - 1))
            return result

        return call

    def _whole(self, row: int, column: int, text: SharedText) -> str:
        """A shared formula as XlsxWriter must write it, which knows none: with its text in every row."""
        if "ref=" in text.attributes:
            self._shared[column, text.attributes.rpartition("si=")[2]] = row, str(text)
        first, whole = self._shared[column, text.attributes.rpartition("si=")[2]]
        return re.sub(rf"(\$[A-Z]+){first + 1}\b", rf"\g<1>{row + 1}", whole)


def _kept(value: Any) -> Any:
    """An argument as it is written down: what was made by number, containers copied, because callees change them."""
    if isinstance(value, _Recorder):
        return value._target
    if isinstance(value, dict):
        return {key: _kept(each) for key, each in value.items()}
    return list(value) if isinstance(value, list) else value


def _given(value: Any) -> Any:
    """An argument as the library wants it."""
    if isinstance(value, _Recorder):
        return value._real
    if isinstance(value, dict):
        return {key: _given(each) for key, each in value.items()}
    return value


def record(evaluation: Evaluation, path: Path, options: Handout | None = None) -> Recording:
    """Write a workbook and record its calls."""
    recording = Recording(path)
    workbook = xlsxwriter.Workbook

    def recorded(target: str, settings: dict[str, Any]) -> _Recorder:
        recording.options = dict(settings)
        return _Recorder(recording, workbook(target, settings), BOOK)

    with mock.patch("xlsxwriter.Workbook", recorded):
        write_workbook(evaluation, path, options)
    return recording
