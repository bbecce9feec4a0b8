"""Writing from the command line: one set of outputs that spares people's work, unless they say --force."""

from __future__ import annotations

import contextlib
import os
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clueval_xlsx.files.outputs import Guard, Outputs

force_option = click.option(
    "--force", is_flag=True, help="Overwrite workbooks that have judgements in them, or that cannot be read."
)


def guard(force: bool) -> Guard | None:
    """What keeps judged workbooks from being overwritten; nothing does where somebody said --force."""
    return None if force else _why_not_overwrite


def guarded_outputs(inputs: Iterable[str | Path], *, force: bool) -> Outputs:
    """The outputs of a command, which spare its inputs and what people have judged."""
    from clueval_xlsx.files.outputs import Outputs

    return Outputs(inputs, guard(force))


def _why_not_overwrite(data: bytes, name: str) -> str:
    from clueval_xlsx.review.existing_judgements import why_not_overwrite

    return why_not_overwrite(data, name)


def settled(callback: Callable[..., object]) -> Callable[..., object]:
    """A command that first brings to an end what a killed run left half done where its files are."""

    @wraps(callback)
    def run(*arguments: object, **given: object) -> object:
        from clueval_xlsx.cli.console import say
        from clueval_xlsx.files.journal import settle

        for folder in _folders_of(given.values()):
            for sentence in settle(folder):
                say(sentence)
        return callback(*arguments, **given)

    return run


def _folders_of(values: Iterable[object]) -> list[Path]:
    """The folders in which the files lie that a command was given, and those that it was given themselves."""
    found: dict[Path, None] = {}
    for value in values:
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, str | Path) and str(item) not in {"", "-"}:
                with contextlib.suppress(OSError, ValueError):  # not everything that is said is a path
                    path = Path(os.path.realpath(item))
                    found.update(dict.fromkeys([path.parent, path] if path.is_dir() else [path.parent]))
    return [folder for folder in found if folder.is_dir()]
