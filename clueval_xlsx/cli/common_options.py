"""Options that every command has."""

from __future__ import annotations

import click

from clueval_xlsx.cli.config import load_config
from clueval_xlsx.cli.console import QUIET
from clueval_xlsx.cli.parameters import Command


def _set_threads(_context: click.Context, _parameter: click.Parameter, count: int | None) -> None:
    if count is not None:
        from clueval_xlsx.threads import set_threads

        set_threads(count)


def _set_quiet(context: click.Context, _parameter: click.Parameter, quiet: bool) -> None:
    context.meta[QUIET] = quiet


_COMMON = (
    click.option(
        "--threads",
        type=click.IntRange(1),
        metavar="N",
        expose_value=False,
        callback=_set_threads,
        help="How many threads compute at once (one a processor). The result is the same.",
    ),
    click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=load_config,
        help="TOML file with options; the command line wins.",
    ),
    click.option(
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_set_quiet,
        help="Say nothing but errors and what a person must look at.",
    ),
    click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
)


def common(command: Command) -> Command:
    """Threads, a config file, few words, and tracebacks for developers."""
    for option in reversed(_COMMON):
        command = option(command)
    return command
