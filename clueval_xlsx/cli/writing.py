"""Writing from the command line: one set of outputs that spares people's work, unless they say --force."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli.console import put, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.files.outputs import Guard, Outputs

STANDARD_OUTPUT = "-"
_WRITTEN = "clueval_xlsx.cli.writing.written"  # the key under which a command remembers its files
_MOST_NAMED = 12  # files of one folder that are named one by one


def path_of(call: Call, key: str) -> Path | None:
    """Where an output goes; None if nobody asked for it, or if it is printed."""
    value = call.value(key)
    return None if value in {None, STANDARD_OUTPUT} else Path(value)


def is_printed(call: Call, key: str) -> bool:
    """Whether an output goes to standard output."""
    return bool(call.value(key) == STANDARD_OUTPUT)


def write_json_and_page(
    call: Call, json: Callable[[], str], page: Callable[[], str], inputs: Iterable[str | Path]
) -> None:
    """Write what --json and --html want together; `--json -` prints it."""
    with guarded_outputs(call, inputs) as outputs:
        html, path = path_of(call, "output.html"), path_of(call, "output.json")
        if html is not None:
            outputs.write_text(html, page())
        if path is not None:
            outputs.write_text(path, json())
    if is_printed(call, "output.json"):
        put(json())


def guard(call: Call) -> Guard | None:
    """What keeps judged workbooks from being overwritten; nothing does where somebody said --force."""
    return None if call.value("output.force") else _why_not_overwrite


def guarded_outputs(call: Call, inputs: Iterable[str | Path]) -> Outputs:
    """The outputs of a command, which spare its inputs, those that settings name, and what people have judged."""
    from clueval_xlsx.files.outputs import Outputs

    formats = {each.value for each in call.given if each.setting.key == "read.format"} or {None}

    def files_behind(path: Path) -> set[Path]:
        from clueval_xlsx.formats.loading import files_behind

        return {file for name in formats for file in files_behind(path, name)}

    return Outputs([*inputs, *call.files_read], guard(call), _remember_written, files_behind)


def _remember_written(target: Path) -> None:
    """Keep a file that is in its place, to name it when the command is done."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_WRITTEN, {})[target] = None


def say_what_was_written() -> None:
    """Name every file that this command wrote; of a folder with many files, the folder and their number."""
    written: list[Path] = list(click.get_current_context().meta.pop(_WRITTEN, {}))
    by_folder: dict[Path, list[Path]] = {}
    for target in written:
        by_folder.setdefault(target.parent, []).append(target)
    for folder, targets in by_folder.items():
        if len(targets) > _MOST_NAMED:
            say(f"Written: {folder} ({len(targets)} files)")
            continue
        for target in targets:
            say(f"Written: {target}")


def _why_not_overwrite(data: bytes, name: str) -> str:
    from clueval_xlsx.review.existing_judgements import why_not_overwrite

    return why_not_overwrite(data, name)
