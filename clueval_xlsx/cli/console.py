"""Words to people: data goes to standard output, everything else to standard error.

A label or a file name can hold the escape sequences by which programs move the cursor, recolour, retitle or even
answer for the person at the keyboard. So whatever is shown goes through `visible`.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli.settings import spelt

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, RenderableType

    from clueval_xlsx.outputs.terminal import Room
    from clueval_xlsx.pages.page import Page

_MOST_SHOWN = 10  # messages of one kind
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


def print_page(page: Page, elsewhere: str) -> None:
    """Lay a page out on standard output; `elsewhere` names the options that show what there is no room for."""
    from clueval_xlsx.outputs.terminal import page_parts

    console = output()
    lay_out(console, page_parts(page, room(console, elsewhere)))


def room(console: Console, elsewhere: str = "") -> Room:
    """How wide tables may be there; `elsewhere` names the options that show what a terminal has no room for."""
    from clueval_xlsx.outputs.terminal import Room

    return Room(console.width, screen=console.file.isatty(), elsewhere=elsewhere)


def lay_out(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print tables and texts; a line that is too long goes on in the next, it is not cut."""
    for part in parts:
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


def counted(number: int, what: str) -> str:
    """A number with what it counts.

    >>> counted(1, "case"), counted(2, "case")
    ('1 case', '2 cases')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


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
    for note in notes:
        say(f"Note: {note}.")


def say_list(what: str, lines: Sequence[str], where: str) -> None:
    """Messages of one kind, the first of them in full; `where` says what lists the rest."""
    urgent = what != "Note"
    for line in lines[:_MOST_SHOWN]:
        say(f"{what}: {line}", urgent=urgent)
    if len(lines) > _MOST_SHOWN:
        say(f"{what}: {len(lines) - _MOST_SHOWN} more; {where}.", urgent=urgent)


def say_what_is_open(workbooks: Iterable[str]) -> None:
    """Tell that somebody is still at work on a workbook that was read: the file holds only what was saved."""
    from pathlib import Path

    from clueval_xlsx.files.locks import who_has_it_open

    for workbook in workbooks:
        opened = who_has_it_open(Path(workbook))
        if opened:
            say(f"Note: {workbook} is open in {opened.who}: what is not saved there was not read.")


@contextmanager
def progress(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error if that is a terminal; yields a function that advances it.

    It shows itself only when the work takes longer than about a second, and goes away when it is done.
    """
    import time

    if not sys.stderr.isatty() or total <= 0 or quiet():
        yield lambda _step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(description, total=total)
    began = time.monotonic()
    started = False

    def advance(step: int) -> None:
        nonlocal started
        if not started and time.monotonic() - began > 1:
            bar.start()
            started = True
        bar.advance(task, step)

    try:
        yield advance
    finally:
        if started:
            bar.stop()
