"""Writing from the command line: one set of outputs that spares people's work, unless they say --force."""

from __future__ import annotations

import gc
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli.config import CONFIG_FILE
from clueval_xlsx.cli.parameters import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clueval_xlsx.files.outputs import Guard, Outputs

force_option = click.option(
    "--force", is_flag=True, help="Overwrite workbooks that have judgements in them, or that cannot be read."
)


STANDARD_OUTPUT = "-"
_WRITTEN = "clueval_xlsx.cli.writing.written"  # the key under which a command remembers its files
_MOST_NAMED = 12  # files of one folder that are named one by one
INPUT_OPTIONS = (  # options that name a file, or several, which are only read; --config is known by itself
    "allow_file",
    "also",
    "baseline",
    "cluster_tls",
    "gold_file",
    "gold_tag_names",
    "gold_text",
    "nlp_config",
    "password_file",
    "pred",
    "pred_tag_names",
    "pred_text",
    "previous",
    "recognizers_config",
    "tag_names",
    "text",
)
_FORMAT_OPTIONS = ("format_", "gold_format", "pred_format")


def json_option(what: str) -> Callable[[Command], Command]:
    """`--json FILE`, which means the same in every command."""
    return click.option("--json", "json_path", metavar="FILE", help=f"Write {what} here; - prints it.")


def put_or_write(target: str, text: Callable[[], str], inputs: Iterable[str | Path], *, force: bool = False) -> None:
    """Print a text, or write it to a file that is no input of this run."""
    from clueval_xlsx.cli.console import put

    if target == STANDARD_OUTPUT:
        put(text())
        return
    with guarded_outputs(inputs, force=force) as outputs:
        outputs.write_text(Path(target), text())


def write_json_and_page(
    json: tuple[str | None, Callable[[], str]],
    page: tuple[Path | None, Callable[[], str]],
    inputs: Iterable[str | Path],
    *,
    force: bool,
) -> None:
    """Write what --json and --html want, each with its target, together; --json - prints it."""
    from clueval_xlsx.cli.console import put

    json_target, json_text = json
    page_target, page_text = page
    with guarded_outputs(inputs, force=force) as outputs:
        if page_target is not None:
            outputs.write_text(page_target, page_text())
        if json_target is not None and json_target != STANDARD_OUTPUT:
            outputs.write_text(Path(json_target), json_text())
    if json_target == STANDARD_OUTPUT:
        put(json_text())


def guard(force: bool) -> Guard | None:
    """What keeps judged workbooks from being overwritten; nothing does where somebody said --force."""
    return None if force else _why_not_overwrite


def guarded_outputs(inputs: Iterable[str | Path], *, force: bool) -> Outputs:
    """The outputs of a command, which spare its inputs, those that options name, and what people have judged."""
    from clueval_xlsx.files.outputs import Outputs

    return Outputs([*inputs, *_named_inputs()], guard(force), _remember_written, _files_behind)


def _remember_written(target: Path) -> None:
    """Keep a file that is in its place, to name it when the command is done."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.meta.setdefault(_WRITTEN, {})[target] = None


def _say_what_was_written() -> None:
    """Name every file that this command wrote; of a folder with many files, the folder and their number."""
    from clueval_xlsx.cli.console import say

    context = click.get_current_context(silent=True)
    written: list[Path] = list(context.meta.pop(_WRITTEN, {})) if context is not None else []
    by_folder: dict[Path, list[Path]] = {}
    for target in written:
        by_folder.setdefault(target.parent, []).append(target)
    for folder, targets in by_folder.items():
        if len(targets) > _MOST_NAMED:
            say(f"Written: {folder} ({len(targets)} files)")
            continue
        for target in targets:
            say(f"Written: {target}")


def _named_inputs() -> list[str]:
    """The files that are read because an option names them."""
    context = click.get_current_context(silent=True)
    if context is None:
        return []
    given = [context.params.get(name) for name in INPUT_OPTIONS] + [context.meta.get(CONFIG_FILE)]
    return [str(path) for value in given for path in (value if isinstance(value, tuple) else (value,)) if path]


def _files_behind(path: Path) -> set[Path]:
    """The files that are read where a folder or a glob is an input of this command."""
    from clueval_xlsx.formats.loading import files_behind

    context = click.get_current_context(silent=True)
    given = {context.params.get(name) for name in _FORMAT_OPTIONS} - {None} if context is not None else set()
    return {file for format_name in given or {None} for file in files_behind(path, format_name)}


def _why_not_overwrite(data: bytes, name: str) -> str:
    from clueval_xlsx.review.existing_judgements import why_not_overwrite

    return why_not_overwrite(data, name)


def settled(callback: Callable[..., object]) -> Callable[..., object]:
    """A command that names the files it has written."""

    @wraps(callback)
    def run(*arguments: object, **given: object) -> object:
        _keep_strings()
        if not gc.isenabled():  # everything large is loaded: from now on there may be garbage
            gc.freeze()
            gc.enable()
        try:
            return callback(*arguments, **given)
        finally:
            _say_what_was_written()

    return run


def _keep_strings() -> None:
    """Text in frames stays as it is: where pyarrow is installed, pandas would refuse half a surrogate pair."""
    import pandas as pd

    pd.set_option("mode.string_storage", "python")
