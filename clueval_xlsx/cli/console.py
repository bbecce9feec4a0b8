"""Words to people: data goes to standard output, everything else to standard error.

A label or a file name can hold the escape sequences by which programs move the cursor, recolour, retitle or even
answer for the person at the keyboard. So whatever is shown goes through `visible`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli.settings import spelt
from clueval_xlsx.exceptions import counted

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console, RenderableType
    from rich.progress import Progress as Bar

    from clueval_xlsx.pages.page import Page

MOST = 10  # rows of a table and messages of one kind
EVERYTHING = 10**9
_PLACES = 3  # that are named of messages with one cause
_PARTICULAR = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+(?:[.,]\d+)*|\([^()]*\)")
# Control characters but for line end and tab, and the marks that turn the direction of what follows.
_COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""The text with control characters written out, as Python writes them.

    >>> visible("B-\x1b[31mPER\x07"), visible("evil\u202etxt")
    ('B-\\x1b[31mPER\\x07', 'evil\\u202etxt')
    """
    return _COMMANDING.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def output(*, stderr: bool = False) -> Console:
    """The console for tables, whose colours stay while those of the data do not work."""
    from rich.console import Console, ConsoleOptions
    from rich.segment import Segment

    class VisibleConsole(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for segment in super().render(renderable, options):
                yield segment if segment.control else Segment(visible(segment.text), segment.style)

    # rich takes a terminal without control codes (TERM=dumb, an editor's) to be 80 columns wide, whatever it is.
    dumb = os.environ.get("TERM", "").lower() in {"dumb", "unknown"}
    width, height = shutil.get_terminal_size() if dumb else (None, None)
    return VisibleConsole(stderr=stderr, highlight=False, soft_wrap=False, width=width, height=height)


def print_page(page: Page, elsewhere: str, *, most: int = MOST, stderr: bool = False) -> None:
    """Lay a page out; `elsewhere` names the options that show what there is no room for.

    A line that is too long goes on in the next, it is not cut.
    """
    from clueval_xlsx.outputs.terminal import Room, page_parts

    console = output(stderr=stderr)
    for part in page_parts(page, Room(console.width, console.file.isatty(), elsewhere, most)):
        console.print(part, crop=False)


def put(data: str | bytes) -> None:
    """Data for another program: UTF-8 wherever it runs, so that what is written here can be read there.

    If a person looks on, control characters are made visible; a file or a program gets every byte as it is.
    """
    if sys.stdout.isatty():
        click.echo(visible(data if isinstance(data, str) else data.decode("utf-8", "replace")), nl=False)
    else:
        click.echo(data.encode("utf-8", "replace") if isinstance(data, str) else data, nl=False)


def show(line: str) -> None:
    """A line of a report that was asked for, on standard output."""
    click.echo(visible(spelt(line)), file=sys.stdout)


def say(message: str, *, urgent: bool = False) -> None:
    """A message for a person; with --quiet only what is urgent, because a person must look."""
    if quiet() and not urgent:
        return
    # The stream by its name: click would put one of its own in the place of a stream that knows only ASCII.
    click.echo(visible(spelt(message)), file=sys.stderr)


def quiet() -> bool:
    """Whether this command was told to be quiet."""
    context = click.get_current_context(silent=True)
    return context is not None and context.obj is not None and bool(context.obj.value("general.quiet"))


def say_notes(notes: Iterable[str]) -> None:
    """What a person should know about the input."""
    parted = [note.rpartition(": ") for note in notes]
    for line in grouped([(where, what) for where, _, what in parted], few=_PLACES):
        say(f"Note: {line}")


def grouped(said: Iterable[tuple[str, str]], unlisted: int = 0, few: int = 1) -> list[str]:
    """One line for each cause: how often, and the first three places; so `few` stand in a line each.

    What differs in words, numbers and places only has one cause. `unlisted` are more of these kinds.

    >>> print(*grouped([("a:1", "'X' is no tag."), ("a:7", "'Y' is no tag.")]))
    2 times: 'X' is no tag. Places: a:1, a:7.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for where, what in said:
        groups.setdefault(_PARTICULAR.sub("…", what), []).append((where, what.rstrip(".")))
    lines = []
    for group in groups.values():
        count = len(group) + (unlisted if len(groups) == 1 else 0)
        if count <= few:
            lines += [f"{where}: {what}." if where else f"{what}." for where, what in group]
            continue
        places = ", ".join(where for where, _ in group[:_PLACES])
        listed = f"First places: {places}, …" if count > _PLACES else f"Places: {places}"
        lines.append(f"{count} times: {group[0][1]}. {listed}.")
    return lines + ([f"And {unlisted} more problems of these kinds."] if unlisted and len(groups) > 1 else [])


def say_list(what: str, lines: Sequence[str], where: str) -> None:
    """Messages of one kind, the first of them in full; `where` says what lists the rest."""
    urgent = what != "Note"
    for line in lines[:MOST]:
        say(f"{what}: {line}", urgent=urgent)
    if len(lines) > MOST:
        say(f"{what}: {len(lines) - MOST} more; {where}.", urgent=urgent)


def say_what_is_open(workbooks: Iterable[str | Path]) -> None:
    """Tell that somebody is still at work on a workbook that was read: the file holds only what was saved."""
    from pathlib import Path

    from clueval_xlsx.files.locks import who_has_it_open

    for workbook in workbooks:
        opened = who_has_it_open(Path(workbook))
        if opened:
            say(f"Note: {workbook} is open in {opened.who}: what is not saved there was not read.")


class Progress:
    """A bar on standard error for long work, if that is a terminal: how much is done, and how long the rest takes.

    It shows itself when the work takes longer than about a second, and goes away when it is done. Time left goes by
    the sizes of the items, because they differ.
    """

    def __init__(self, doing: str, what: str, items: int, size: int) -> None:
        self._done = 0
        self._any_worker = True
        self._began = time.monotonic()
        self._bar: Bar | None = None
        if not sys.stderr.isatty() or not items or quiet():
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        words = TextColumn(f"{{task.fields[done]}}/{items} {what}{{task.fields[workers]}}, left:")
        columns = (TextColumn("{task.description}"), BarColumn(), words, TimeRemainingColumn())
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.add_task(doing, total=size, done=0, workers="")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, size: int, items: int = 1) -> None:
        """So many items of this size are done."""
        self._done += items
        if self._bar is None:
            return
        if time.monotonic() - self._began > 1:
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], advance=size, done=self._done)

    def seen(self, workers: int) -> None:
        """The cluster has so many workers; it is said when there is none, and when there is one again."""
        shown = counted(workers, "worker")
        if not workers and self._any_worker:
            say("Note: the cluster has no worker; waiting for one.")
        elif workers and not self._any_worker:
            say(f"Note: the cluster has {shown} now.")
        self._any_worker = workers > 0
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], workers=f", {shown}")
