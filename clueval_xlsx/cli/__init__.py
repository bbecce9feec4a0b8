"""The command line: opens paths, prints, exits. Heavy libraries are imported by the commands that need them."""

from __future__ import annotations

import contextlib
import errno
import io
import sys

import click

from clueval_xlsx.cli.commands import cli
from clueval_xlsx.cli.console import visible
from clueval_xlsx.cli.settings import spelt
from clueval_xlsx.cli.streams import abandon_streams, flush, prepare_streams
from clueval_xlsx.exceptions import CluevalError

__all__ = ["cli", "main"]


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    debug = "--debug" in sys.argv
    prepare_streams()
    try:
        sys.exit(_invoke())
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        _complain("stopped.")
        sys.exit(130)
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            words = io.StringIO()
            error.show(words)
            click.echo(visible(words.getvalue()), file=sys.stderr, nl=False)
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        abandon_streams()
        sys.exit(0)
    except CluevalError as error:
        if debug:
            raise
        _complain(str(error))
        sys.exit(2)
    except MemoryError:
        _complain("not enough memory for these files.")
        sys.exit(1)
    except OSError as error:
        if debug:
            raise
        what = error.strerror or str(error)
        if error.errno == errno.ENAMETOOLONG:  # nothing was written, and nothing but another name will help
            _complain(f"{_place(error)}: cannot be read or written: {what}. Check the path.")
            sys.exit(2)
        _complain(f"{_place(error)}: {what}. Make room or choose another place, and run again.")
        abandon_streams()
        sys.exit(1)
    except Exception as error:  # the last resort: people get a sentence, developers the traceback
        if debug:
            raise
        _complain(f"something went wrong that should not have ({type(error).__name__}: {error}). ")
        _complain("Run the same command with --debug for the details.")
        sys.exit(1)


def _invoke() -> int:
    """Run the command; a closed pipe is an exception again, of which click and rich make exit code 1."""
    stdout = sys.stdout
    try:
        code = cli.main(prog_name="clueval-xlsx", standalone_mode=False)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError) or sys.stdout is not stdout:  # click puts another there
            raise BrokenPipeError from None
        raise
    flush()
    return code or 0


def _complain(message: str) -> None:
    with contextlib.suppress(OSError):  # nobody may be listening
        click.echo(visible(spelt(f"Error: {message}")), file=sys.stderr)


def _place(error: OSError) -> str:
    """What could not be read or written, as far as the system says."""
    return str(error.filename) if error.filename is not None else "standard output"
