"""The command line: opens paths, prints, exits. Heavy libraries are imported by the commands that need them."""

from __future__ import annotations

import io
import os
import sys

import click

from clueval_xlsx.cli.compare import compare
from clueval_xlsx.cli.convert import convert
from clueval_xlsx.cli.demo import demo
from clueval_xlsx.cli.evaluate import evaluate
from clueval_xlsx.cli.merge import merge
from clueval_xlsx.cli.predict import predict
from clueval_xlsx.cli.reimport import reimport
from clueval_xlsx.cli.score import score
from clueval_xlsx.cli.status import status
from clueval_xlsx.cli.validate import validate
from clueval_xlsx.exceptions import CluevalError, readable
from clueval_xlsx.version import __version__

_EPILOG = (
    'Shell completion: put  eval "$(_CLUEVAL_XLSX_COMPLETE=bash_source clueval-xlsx)"  into ~/.bashrc '
    "(zsh_source and fish_source for the others)."
)


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="clueval-xlsx")
def cli() -> None:
    """Compare gold and predicted spans in legal text, review the errors in Excel, and correct the gold standard."""


for command in (evaluate, score, compare, merge, convert, predict, reimport, validate, status, demo):
    cli.add_command(command)


def main() -> None:
    """Run the command line; every error becomes a message and an exit code."""
    debug = "--debug" in sys.argv
    show_everything()
    try:
        sys.exit(cli.main(prog_name="clueval-xlsx", standalone_mode=False) or 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.Abort:
        _complain("stopped.")
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except CluevalError as error:
        if debug:
            raise
        _complain(str(error))
        sys.exit(2)
    except OSError as error:  # a path that nothing can be done with, such as a name that is too long
        if debug:
            raise
        where = f"{error.filename}: " if error.filename else ""
        _complain(readable(f"{where}cannot be read or written: {error.strerror or error}. Check the path."))
        sys.exit(2)
    except MemoryError:
        _complain("not enough memory for these files.")
        sys.exit(1)
    except Exception as error:  # the last resort: people get a sentence, developers the traceback
        if debug:
            raise
        _complain(f"something went wrong that should not have ({type(error).__name__}: {error}). ")
        _complain("Run the same command with --debug for the details.")
        sys.exit(1)


def show_everything() -> None:
    """Standard output takes every text: half a surrogate pair, or what the terminal cannot show, is spelt out."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> None:
    click.echo(f"Error: {message}", err=True)
