"""What a command writes: files in their places when all of them are complete, then what is printed and said."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from clueval_xlsx.cli.console import put, say
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end
from clueval_xlsx.files.outputs import Guard, Outputs

if TYPE_CHECKING:
    from msgspec import Struct

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.pages.page import Page

STANDARD_OUTPUT = "-"
_MOST_NAMED = 12  # files of one folder that are named one by one


class Writing(Outputs):
    """The outputs of a command, each where its option says, which spare its inputs and what people have judged.

    What is printed, and what is said `afterwards`, comes when every file is in its place; the files are named last.
    """

    def __init__(self, call: Call, inputs: Iterable[str | Path]) -> None:
        printed = [
            each.where for each in call.given if each.setting.section == "output" and each.value == STANDARD_OUTPUT
        ]
        if len(printed) > 1:
            raise OptionError(f"{' and '.join(printed)}: only one can go to standard output. Give the others files.")
        formats = {each.value for each in call.given if each.setting.key == "read.format"} or {None}

        def files_behind(path: Path) -> set[Path]:
            from clueval_xlsx.formats.loading import files_behind

            return {file for name in formats for file in files_behind(path, name)}

        self.call = call
        self.prints = bool(printed)
        self._done: list[Path] = []
        self._then: list[tuple[Callable[..., object], Any]] = []
        super().__init__([*inputs, *call.files_read], guard(call), self._done.append, files_behind)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
            if kind is None:
                for tell, what in self._then:
                    tell(what)
        finally:
            _say_what_was_written(self._done)

    def afterwards(self, tell: Callable[[Any], object], what: object) -> None:
        """Say or print something when the files are in their places."""
        self._then.append((tell, what))

    def place(self, key: str, end: str = "") -> Path | None:
        """The file that an output goes to, whose name ends so; None if nobody asked for it, or if it is printed."""
        value = self.call.value(f"output.{key}")
        return None if value in {None, STANDARD_OUTPUT} else with_end(Path(value), end)

    def text(self, key: str, make: Callable[[], str | bytes], end: str = "") -> None:
        """Write or print an output, if it was asked for."""
        if self.call.value(f"output.{key}") is None:
            return
        place, content = self.place(key, end), make()
        if place is None:
            self.afterwards(put, content)
        elif isinstance(content, str):
            self.write_text(place, content)
        else:
            self.write_bytes(place, content)

    def page(self, make: Callable[[], Page], end: str = "") -> None:
        """Write or print a page for a browser."""

        def html() -> str:
            from clueval_xlsx.outputs.html.page import page_html

            return page_html(make())

        self.text("html", html, end)

    def json(self, make: Callable[[], Struct], end: str = "") -> None:
        """Write or print figures for a program."""

        def text() -> str:
            from clueval_xlsx.outputs.json_results import json_text

            return json_text(make())

        self.text("json", text, end)

    def book(self, target: Path, write: Callable[[Path | BinaryIO], None], password: str | None = None) -> None:
        """Write a workbook; under a password in memory first, so that no clear text reaches the disk."""
        if password is None:
            write(self.path(target))
            return
        from clueval_xlsx.files.workbooks import encrypt

        memory = io.BytesIO()
        write(memory)
        self.write_bytes(target, encrypt(memory.getvalue(), password), workbook=True)


def ends(layers: Sequence[str]) -> list[str]:
    """What the names of files end with: nothing for a single result, the names of layers for several.

    >>> ends(["risk"]), ends(["risk", "a/b"])
    ([''], ['-risk', '-a_b'])
    """
    made = [f"-{file_name_part(layer)}" for layer in layers] if len(layers) > 1 else [""]
    if len(set(made)) < len(made):
        raise OptionError(f"two of the layers {', '.join(layers)} would share their files. Give one another name.")
    return made


def guard(call: Call) -> Guard | None:
    """What keeps judged workbooks from being overwritten; nothing does where somebody said --force."""
    return None if call.value("output.force") else _why_not_overwrite


def _why_not_overwrite(data: bytes, name: str) -> str:
    from clueval_xlsx.review.progress import why_not_overwrite

    return why_not_overwrite(data, name)


def _say_what_was_written(written: Iterable[Path]) -> None:
    """Name every file; of a folder with many files, the folder and their number."""
    by_folder: dict[Path, list[Path]] = {}
    for target in written:
        by_folder.setdefault(target.parent, []).append(target)
    for folder, targets in by_folder.items():
        if len(targets) > _MOST_NAMED:
            say(f"Written: {folder} ({len(targets)} files)")
            continue
        for target in targets:
            say(f"Written: {target}")
