"""`reimport`: judged workbooks become a corrected gold standard, with agreement and figures before and after."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import options, review_options
from clueval_xlsx.cli.config_file import own_judgements
from clueval_xlsx.cli.writing import force_option, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.reimport import Reimport

_MOST_SHOWN = 20
_FILE = click.Path(path_type=Path)
# the options of reading, by the name that ReadOptions has for them
_READING = {
    "layers": "layers",
    "token_id": "token_id",
    "document_id": "document_id",
    "columns": "columns",
    "space_column": "space_column",
    "document_tag": "document_tag",
    "sentence_tag": "sentence_tag",
    "format_": "format",
    "text": "text",
    "nested": "nested",
    "offsets": "offsets",
    "annotator": "annotator",
}


@click.command()
@click.argument("workbooks", nargs=-1, required=True, metavar="WORKBOOK...")
@click.option("--gold", required=True, metavar="FILE", help="The gold file that the workbooks were made from.")
@click.option("-o", "--output", metavar="FILE", help="Write the corrected gold file here; `-` is standard output.")
@click.option("--report", type=_FILE, metavar="FILE", help="Write the adjudicated report (.xlsx) here.")
@click.option("--html", "html_path", type=_FILE, metavar="FILE", help="Write the report as a page to read here.")
@click.option("--json", "json_path", type=_FILE, metavar="FILE", help="Write everything as JSON here.")
@click.option("--changes", type=_FILE, metavar="FILE", help="Write the change log (TSV) here.")
@click.option(
    "--judgements", type=_FILE, metavar="FILE", help="Append the judgements to this log (JSON Lines, for --previous)."
)
@click.option(
    "--conflicts", type=_FILE, metavar="FILE", help="Write a workbook of the open cases here, for a third person."
)
@click.option(
    "--resolve",
    default="majority",
    show_default=True,
    metavar="HOW",
    help="How several judgements of a case are resolved: majority, unanimous, or the NAME of who has the last word.",
)
@click.option(
    "--trust-id",
    type=click.Choice(["left", "block"]),
    help="Which case ID counts where the two of a row differ: left, or the one in the annotation block.",
)
@click.option("--blind", is_flag=True, help="The conflict workbook does not say who judged.")
@click.option("--pred", metavar="FILE", help="The prediction file, for workbooks that lost their hidden sheet.")
@review_options.password
@options.reading
@options.scoring
@options.schemes
@options.labels
@click.option("--context", type=click.IntRange(0), metavar="N", help="The --context of the run, with --pred.")
@click.option("--contact", default="", metavar="TEXT", help="Whom the conflict workbook is sent back to.")
@click.option(
    "--lang",
    default=None,
    callback=review_options.language,
    help="Language of report and conflict workbook. Default: that of the first workbook.",
)
@force_option
@options.common
@click.pass_context
def reimport(
    ctx: click.Context,
    /,
    workbooks: tuple[str, ...],
    gold: str,
    output: str | None,
    resolve: str,
    trust_id: str | None,
    pred: str | None,
    password_file: Path | None,
    **given: Any,
) -> None:
    """Read judged WORKBOOKs and correct the gold file.

    How the files are read and what was evaluated comes from the workbooks; the options for reading and for the
    level are needed only where a workbook lost its hidden sheet. Exit code 3 says that a person must look:
    judgements clash or rows could not be used. What is clear is carried out all the same.
    """
    from clueval_xlsx.cli.console import put, say, say_what_is_open
    from clueval_xlsx.files.encryption import find_password
    from clueval_xlsx.files.locks import locked
    from clueval_xlsx.review.reimport import reimport as reimport_workbooks

    password = find_password(password_file)

    _check_targets(workbooks, output, given)
    result = reimport_workbooks(
        workbooks,
        gold,
        pred=pred,
        resolve=resolve,
        trust_id=trust_id,
        password=password,
        gold_options=_explicit(ctx, given),
        options=options.evaluation_options(given),
        judgements=own_judgements(),
    )
    log = given["judgements"]
    with (
        locked(log, say) if log is not None else nullcontext(),  # from reading it until the longer one is in its place
        guarded_outputs([*workbooks, gold, pred or gold], force=given["force"]) as outputs,
    ):
        _write(outputs, result, output, password, given)
    if output == "-":
        put(result.content)
    say_what_is_open(workbooks)
    _report(result, to_stdout=output != "-")
    for target in (output, *(given[name] for name in ("report", "html_path", "json_path", "changes", "judgements"))):
        if target is not None and target != "-":
            say(f"Written: {target}")
    if password is not None and any(given[name] for name in ("html_path", "json_path", "changes", "judgements")):
        say("Note: the password protects workbooks only; --html, --json, --changes and --judgements are clear text.")
    if given["conflicts"] is not None:
        opened = sum(len(run.open_cases) for run in result.runs)
        say(
            f"Written: {given['conflicts']} ({opened} open cases)" if opened else "No open cases: no conflict workbook."
        )
    if result.needs_a_person:
        sys.exit(3)


def _check_targets(workbooks: tuple[str, ...], output: str | None, given: dict[str, Any]) -> None:
    """No output may replace a workbook that somebody judged."""
    inputs = {Path(workbook).resolve() for workbook in workbooks}
    names = ("report", "html_path", "json_path", "changes", "judgements", "conflicts")
    targets = [Path(output)] if output is not None and output != "-" else []
    targets += [given[name] for name in names if given[name] is not None]
    for target in targets:
        if target.resolve() in inputs:
            raise OptionError(f"{target}: is one of the judged workbooks. Write to another file.")
    if len({target.resolve() for target in targets}) < len(targets):
        raise OptionError("two outputs have the same name. Give each its own.")


def _explicit(ctx: click.Context, given: dict[str, Any]) -> dict[str, Any]:
    """The reading options that were really given; the others come from the workbooks."""
    from click.core import ParameterSource

    found: dict[str, Any] = {}
    for option, field in _READING.items():
        if ctx.get_parameter_source(option) not in {None, ParameterSource.DEFAULT}:
            value = given[option]
            found[field] = dict(value) if field in {"layers", "columns"} else value
    return found


def _write(outputs: Outputs, result: Reimport, output: str | None, password: str | None, given: dict[str, Any]) -> None:
    from clueval_xlsx.cli.reviews import save_workbook

    runs = result.runs
    lang = given["lang"] or next((run.manifest.lang for run in runs if run.manifest), "en")
    if output not in {None, "-"}:
        target = Path(str(output))
        single = result.gold.source.format != "brat"
        for name, content in result.files.items():
            outputs.write_bytes(target if single else target / name, content)
    if given["report"]:
        from clueval_xlsx.outputs.xlsx.adjudicated import write_adjudicated

        for run, path in _paths(runs, given["report"]):
            save_workbook(outputs, path, password, partial(write_adjudicated, run, lang=lang))
    if given["html_path"]:
        from clueval_xlsx.outputs.html.adjudication import adjudication_html

        for run, path in _paths(runs, given["html_path"]):
            outputs.write_text(path, adjudication_html(run, lang))
    if given["json_path"]:
        from clueval_xlsx.outputs.adjudication_json import to_json

        outputs.write_text(given["json_path"], to_json(runs))
    if given["changes"]:
        import pandas as pd

        from clueval_xlsx.review.conflicts import changes_tsv

        outputs.write_text(given["changes"], changes_tsv(pd.concat([run.changes for run in runs], ignore_index=True)))
    if given["judgements"]:
        outputs.write_text(given["judgements"], _longer_log(given["judgements"], runs))
    if given["conflicts"]:
        from clueval_xlsx.outputs.xlsx.conflicts import write_conflicts

        for run, path in _paths(runs, given["conflicts"]):
            if run.open_cases:
                write = partial(write_conflicts, run, lang=lang, contact=given["contact"], blind=given["blind"])
                save_workbook(outputs, path, password, write)


def _paths(runs: Sequence[Adjudication], path: Path) -> list[tuple[Adjudication, Path]]:
    """One path a run: with the layer's name where layers were evaluated by themselves."""
    if len(runs) == 1:
        return [(runs[0], path)]
    return [(run, path.with_stem(f"{path.stem}-{file_name_part(run.raw.pair.layers[0])}")) for run in runs]


def _longer_log(path: Path, runs: Sequence[Adjudication]) -> str:
    """The log as it is with the new judgements behind; what is in it already is not repeated."""
    import datetime

    from clueval_xlsx.exceptions import InputError
    from clueval_xlsx.review.log import new_entries, read_log, write_log

    try:
        old = path.read_bytes().decode("utf-8") if path.exists() else ""  # its line ends stay as they are
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}. Give another file to --judgements.") from None
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    known = read_log(old.removeprefix("\ufeff"), str(path))
    more = [entry for run in runs for entry in new_entries(known, run.log(when))]
    return old + ("" if not old or old.endswith("\n") else "\n") + write_log(more)


def _report(result: Reimport, *, to_stdout: bool) -> None:
    """Figures to standard output, everything a person must look at to standard error."""
    from clueval_xlsx.cli.console import output, say
    from clueval_xlsx.outputs.terminal.scores import score_table
    from clueval_xlsx.views.adjudication import (
        adjudication_sentence,
        conflict_sentence,
        estimate_sentences,
        state_table,
    )
    from clueval_xlsx.words import TERMINAL, Words

    words = Words(TERMINAL)
    _list("Note", [f"{note}." for note in result.notes])
    for run in result.runs:
        if to_stdout:
            console = output()
            console.print(score_table(state_table(run, words), words, console.width))
        say(adjudication_sentence(run, words))
        for sentence in estimate_sentences(run, words):
            say(sentence)
        _list("Missing", [f"no workbook of {name} is among these." for name in run.missing_people])
        _list("Note", [f"{note}." for note in run.notes])
        _list("Not used", [str(problem) for problem in run.problems])
        _list("Conflict", [conflict_sentence(run, conflict, words) for conflict in run.conflicts])
        if run.undecided:
            say(f"Beyond decision: {', '.join(run.undecided)}.")


def _list(what: str, lines: Sequence[str]) -> None:
    from clueval_xlsx.cli.console import say

    for line in lines[:_MOST_SHOWN]:
        say(f"{what}: {line}")
    if len(lines) > _MOST_SHOWN:
        say(f"{what}: {len(lines) - _MOST_SHOWN} more; --report and --json list them all.")
