"""The surface of the eleven commands; what each does stands in the module of its name, loaded when it runs."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from clueval_xlsx.cli.parameters import HeadedCommand, Typed, options_of
from clueval_xlsx.cli.settings import Call, call_of
from clueval_xlsx.exceptions import CluevalError, OptionError, did_you_mean
from clueval_xlsx.version import __version__

_EPILOG = """\b
Shell completion: put this into ~/.bashrc (or with zsh_source, fish_source):
  eval "$(_CLUEVAL_XLSX_COMPLETE=bash_source clueval-xlsx)"
"""


class Commands(click.Group):
    """The commands in the order in which people need them, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One sentence for each."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in self.commands])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """A misspelt command has a nearest one; files without a command are for `evaluate`."""
        name = args[0]
        if name in self.commands or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if Path(name).suffix or Path(name).exists():
            raise OptionError(f"{name}: a command is missing. Did you mean `clueval-xlsx evaluate {' '.join(args)}`?")
        hint = did_you_mean(name, self.commands)
        raise OptionError(f"{name}: there is no such command.{hint} Commands: {', '.join(self.commands)}.")


@click.group(
    cls=Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80}
)
@click.version_option(__version__, "-V", "--version", prog_name="clueval-xlsx")
def cli() -> None:
    """Compare gold and predicted spans in legal text, review the errors in Excel, and correct the gold standard."""


def _add(name: str, help_text: str, arguments: Sequence[click.Argument], examples: Sequence[str]) -> None:
    """Add a command; its body gets the call and the arguments, and returns the exit code."""

    def run(**params: Any) -> int | None:
        call = call_of(name, params)
        click.get_current_context().obj = call
        threads = call.value("general.threads")
        if threads is not None:
            from clueval_xlsx.threads import set_threads

            set_threads(threads)
        body = import_module(f"clueval_xlsx.cli.{name}").run
        if name != "help":
            _settle()
        given = {str(one.name): params[str(one.name)] for one in arguments}
        try:
            code: int | None = body(call, **given)
        except CluevalError:
            _recognise_workbooks(call, given)
            raise
        return code

    options = [option for option, _, _ in options_of(name)]
    command = HeadedCommand(name, callback=run, params=[*arguments, *options], help=help_text)
    command.examples = examples
    cli.add_command(command)


def _recognise_workbooks(call: Call, arguments: Mapping[str, Any]) -> None:
    """Where something went wrong: say so if a review workbook stands where annotations belong, or the other way."""
    from clueval_xlsx.cli.inputs import misplaced_workbook

    if call.command in {"status", "demo", "help"}:
        return
    if call.command == "reimport":
        gold, other = call.value("reimport.gold"), arguments["workbooks"][0]
        if gold is not None and misplaced_workbook(gold) is not None and misplaced_workbook(other) is None:
            swapped = f"`clueval-xlsx reimport {gold} --gold {other}`"
            raise OptionError(f"--gold {gold}: is a review workbook, and {other} is none. Did you mean {swapped}?")
        return
    for name, value in arguments.items():
        for path in (value,) if isinstance(value, str) else value or ():
            wrong = None if name == "target" else misplaced_workbook(path)
            if wrong is not None:
                raise wrong


def _settle() -> None:
    """Everything large is loaded: from now on there may be garbage, and text in frames stays as it is."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    import pandas as pd

    # Where pyarrow is installed, pandas would refuse half a surrogate pair.
    pd.set_option("mode.string_storage", "python")


def _file(name: str, metavar: str | None = None, **more: Any) -> click.Argument:
    return click.Argument([name], type=Typed(), metavar=metavar, **more)


def _several(name: str, metavar: str) -> click.Argument:
    return _file(name, metavar, nargs=-1, required=True)


_add(
    "evaluate",
    "Compare PRED with GOLD and write the errors out for review.\n\n"
    "One of the two may be `-`, standard input. With --detector there is no PRED: the detector is run over GOLD.",
    (_file("gold"), _file("pred", required=False)),
    (
        "evaluate gold.vrt pred.vrt -o review.xlsx --html report.html",
        "evaluate gold/ pred/ --judges anna,ben --double 20% --lang de",
        "evaluate gold.jsonl --detector presidio -o review.xlsx",
    ),
)
_add(
    "reimport",
    "Read judged WORKBOOKs and correct the gold file.\n\n"
    "How the files are read and what was evaluated comes from the workbooks. Exit code 3 says that a person must "
    "look: judgements clash or rows could not be used. What is clear is carried out all the same.",
    (_several("workbooks", "WORKBOOK..."),),
    (
        "reimport anna.xlsx ben.xlsx --gold gold.vrt -o corrected.vrt",
        "reimport review.xlsx --gold gold.vrt --report report.xlsx",
    ),
)
_add(
    "status",
    "Say who has judged how much in each WORKBOOK, and whose workbook is missing.",
    (_several("workbooks", "WORKBOOK..."),),
    ("status review-anna.xlsx review-ben.xlsx",),
)
_add(
    "score",
    "Compare PRED with GOLD and print precision and recall at every level.\n\n"
    "One of the two may be `-`, standard input. With --thresholds: at every threshold of the scores that PRED "
    "carries; --fail-under recall.low=0.95 then chooses the highest that holds it.",
    (_file("gold"), _file("pred")),
    (
        "score gold.vrt pred.vrt --labelled span --scheme seqeval",
        "score gold.conll pred.conll --fail-under recall=0.95",
        "score gold.json pred.json --thresholds",
    ),
)
_add(
    "compare",
    "Compare several predictions PRED with the same GOLD.\n\n"
    "One prediction alone is compared strict against relaxed, if labels are declared equivalent. A prediction may "
    "be `-`, standard input.",
    (_file("gold"), _several("preds", "PRED...")),
    (
        "compare gold.vrt a.vrt b.vrt -o comparison.xlsx",
        "compare gold.vrt a.vrt --equivalent ORG,LOC --labelled span",
    ),
)
_add(
    "agree",
    "How far several annotations of the same documents agree, two by two: F1 at every level, by label and document."
    "\n\nOne FILE alone must have several annotators, who are compared by their names; --annotator anna,ben chooses "
    "among them. The figures of a pair are those of `score` for the two.",
    (_several("files", "FILE..."),),
    ("agree anna.vrt ben.vrt cara.vrt --html agreement.html", "agree tab.json --json -"),
)
_add(
    "predict",
    "Run a detector over every document of DATASET and write its predictions.\n\n"
    "What was found so far lies in a side file beside the output until the run is complete: --resume continues a "
    "run that broke off. Exit code 3 means that the detector failed on some documents.",
    (_file("dataset"),),
    (
        "predict texts.json -o pred.json --detector presidio",
        'predict gold.vrt -o pred.vrt --detector command:"python my.py"',
    ),
)
_add(
    "convert",
    "Convert IN to OUT: spans and labels stay exactly as they are.\n\n"
    "IN is a file, a folder or a glob in any input format; OUT is a file, or a folder for brat. What OUT cannot say "
    "is listed before it is written. With --merge, overlapping spans of all layers become one span with several "
    "labels.",
    (_file("source", "IN"), _file("target", "OUT")),
    ("convert gold.vrt gold.jsonl", "convert brat-folder gold.vrt", "convert gold.vrt merged.tsv --merge"),
)
_add(
    "validate",
    "Check FILEs and list what is wrong with them: one line a cause, how often, and the first three places.\n\n"
    "Several files are also compared with the first: they must hold the same documents and tokens (running text: "
    "the same text). Exit code 0 means that nothing is wrong, 2 that something is. A language file (.toml) is "
    "checked for missing words, a log of judgements (.jsonl) for lines that were changed, lost or moved.",
    (_several("files", "FILE..."),),
    ("validate gold.vrt pred.vrt",),
)
_add(
    "demo",
    "Show the whole round on example files, in DIR (default: clueval-demo).\n\n"
    "Lays out two small files, compares them, writes the review workbook, judges some cases in it as a lawyer "
    "would, brings the judgements home, and shows the figures before and after.",
    (_file("folder", "[DIR]", default="clueval-demo"),),
    ("demo my-folder --lang de",),
)
_add(
    "help",
    "Show a page of the manual, or the help of a command; without TOPIC, what there is.",
    (click.Argument(["topic"], required=False),),
    ("help", "help formats", "help settings", "help score"),
)
