"""`reimport`: judged workbooks become a corrected gold standard, with agreement and figures before and after."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options, review_options, scoring_options
from clueval_xlsx.cli.config import label_words, own_judgements
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.idle_options import refuse_idle
from clueval_xlsx.cli.parameters import group
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, force_option, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.formats.options import ReadOverrides
    from clueval_xlsx.options import Options
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.reimport import Reimport

_OF_LOST_SHEETS = ("level", "labelled", "map", "equivalent", "equivalence", "ignore", "unmapped", "by", "context")
_FILE = click.Path(path_type=Path)


@dataclass(frozen=True)
class ReimportTargets:
    """Where the outputs go, None for those that nobody asked for; `gold` may be `-`, standard output."""

    gold: str | None
    report: Path | None
    html: Path | None
    json: str | None
    changes: Path | None
    judgements: Path | None
    conflicts: Path | None

    @property
    def paths(self) -> list[Path]:
        """All files that are written, but for the workbook of conflicts, of which there may be none."""
        gold = Path(self.gold) if self.gold is not None and self.gold != STANDARD_OUTPUT else None
        json = Path(self.json) if self.json is not None and self.json != STANDARD_OUTPUT else None
        found = (gold, self.report, self.html, json, self.changes, self.judgements)
        return [path for path in found if path is not None]

    @property
    def in_clear_text(self) -> bool:
        """Whether there are outputs that no password protects, gold aside."""
        return any((self.html, self.json, self.changes, self.judgements))

    def check(self, workbooks: Sequence[str]) -> None:
        """No output may replace a workbook that somebody judged, and only one can be printed."""
        if self.gold == self.json == STANDARD_OUTPUT:
            raise OptionError("-o - and --json -: only one of them can go to standard output. Give one a file.")
        inputs = {Path(workbook).resolve() for workbook in workbooks}
        targets = [*self.paths, *([self.conflicts] if self.conflicts else [])]
        for target in targets:
            if target.resolve() in inputs:
                raise OptionError(f"{target}: is one of the judged workbooks. Write to another file.")
        if len({target.resolve() for target in targets}) < len(targets):
            raise OptionError("two outputs have the same name. Give each its own.")


@dataclass(frozen=True)
class ReportLook:
    """How the report and the workbook of conflicts look; `lang` None: as the first workbook."""

    lang: str | None
    contact: str
    blind: bool


_to_targets = group(
    "targets",
    ReimportTargets,
    [
        click.option(
            "-o", "--output", "gold", metavar="FILE", help="Write the corrected gold file here; `-` is standard output."
        ),
        click.option("--report", type=_FILE, metavar="FILE", help="Write the adjudicated report (.xlsx) here."),
        click.option("--html", type=_FILE, metavar="FILE", help="Write the report as a page to read here."),
        click.option(
            "--json", metavar="FILE", help="Write everything as JSON here; - prints it instead of the figures."
        ),
        click.option("--changes", type=_FILE, metavar="FILE", help="Write the change log (TSV) here."),
        click.option(
            "--judgements",
            type=_FILE,
            metavar="FILE",
            help="Append the judgements to this log (JSON Lines, for --previous).",
        ),
        click.option(
            "--conflicts",
            type=_FILE,
            metavar="FILE",
            help="Write a workbook of the cases in conflict here, for a third person.",
        ),
    ],
)

_looking = group(
    "look",
    ReportLook,
    [
        click.option("--blind", is_flag=True, help="The conflict workbook does not say who judged."),
        click.option("--contact", default="", metavar="TEXT", help="Whom the conflict workbook is sent back to."),
        click.option(
            "--lang",
            default=None,
            callback=review_options.language,
            help="Language of report and conflict workbook. Default: that of the first workbook.",
        ),
    ],
)


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx reimport anna.xlsx ben.xlsx --gold gold.vrt -o corrected.vrt",
        "clueval-xlsx reimport review.xlsx --gold gold.vrt --report report.xlsx",
    ),
)
@click.argument("workbooks", nargs=-1, required=True, metavar="WORKBOOK...")
@click.option(
    "--gold", "gold_file", required=True, metavar="FILE", help="The gold file that the workbooks were made from."
)
@_to_targets
@click.option(
    "--resolve",
    default="majority",
    show_default=True,
    metavar="HOW",
    help="How several judgements of a case are resolved: majority, unanimous, or the NAME of who has the last word.",
)
@click.option(
    "--trust-id",
    type=click.Choice(["row", "block"]),
    help="Which case ID counts where the two of a row differ: the row's own, or the one in the annotation block.",
)
@click.option("--pred", metavar="FILE", help="The prediction file, for workbooks that lost their hidden sheet.")
@review_options.password
@input_options.overrides
@scoring_options.scoring_with_cases
@_looking
@force_option
@common_options.common
def reimport(
    *,
    workbooks: tuple[str, ...],
    gold_file: str,
    targets: ReimportTargets,
    resolve: str,
    trust_id: str | None,
    pred: str | None,
    password: str | None,
    overrides: ReadOverrides,
    options: Options,
    look: ReportLook,
    force: bool,
) -> None:
    """Read judged WORKBOOKs and correct the gold file.

    How the files are read and what was evaluated comes from the workbooks; the options for reading and for the
    level are needed only where a workbook lost its hidden sheet. Exit code 3 says that a person must look:
    judgements clash or rows could not be used. What is clear is carried out all the same.
    """
    from clueval_xlsx.cli.console import counted, put, say, say_what_is_open
    from clueval_xlsx.files.locks import locked
    from clueval_xlsx.files.names import is_stream
    from clueval_xlsx.review.log import head_of
    from clueval_xlsx.review.reimport import reimport as reimport_workbooks

    if pred is None:
        refuse_idle(
            _OF_LOST_SHEETS, "--pred, for workbooks that lost their hidden sheet (all others know it themselves)"
        )
    targets.check(workbooks)
    result = reimport_workbooks(
        workbooks,
        gold_file,
        pred=pred,
        resolve=resolve,
        trust_id=trust_id,
        password=password,
        overrides=overrides,
        options=options,
        judgements=own_judgements(),
    )
    log = targets.judgements
    head = ""
    with locked(log, say) if log is not None else nullcontext():  # from reading it until the longer one is in its place
        with guarded_outputs([*workbooks, gold_file, pred or gold_file], force=force) as outputs:
            _write_gold(outputs, result, targets, Path(gold_file))
            _write_workbooks(outputs, result, targets, look, password)
            _write_texts(outputs, result, targets, look)
        if log is not None and not is_stream(log):
            head = head_of(log.read_text("utf-8"))
    if targets.gold == STANDARD_OUTPUT:
        put(result.content)
    if targets.json == STANDARD_OUTPUT:
        from clueval_xlsx.outputs.json_results import json_text, reimport_result

        put(json_text(reimport_result(result.runs)))
    say_what_is_open(workbooks)
    _report(result, targets)
    if head:
        say(f"Head of {log}: {head}")
    if password is not None and targets.in_clear_text:
        say("Note: the password protects workbooks only; --html, --json, --changes and --judgements are clear text.")
    if targets.conflicts is not None:
        disputed = sum(len(run.cases_in_conflict) for run in result.runs)
        say(
            f"Conflict workbook: {counted(disputed, 'case')} in conflict. Once decided, give it along with the others."
            if disputed
            else "No case is in conflict: no conflict workbook."
        )
    if result.needs_a_person:
        sys.exit(3)


def _write_gold(outputs: Outputs, result: Reimport, targets: ReimportTargets, source: Path) -> None:
    """The corrected gold, in its own format; packed by gzip if the target is called so."""
    from clueval_xlsx.formats.stored import packed_for

    if targets.gold in {None, STANDARD_OUTPUT}:
        return
    target = Path(str(targets.gold))
    if result.gold.source.folder:
        for name, content in result.files.items():
            outputs.write_bytes(target / name, content)
        return
    before = source.read_bytes() if source.is_file() else b""
    for content in result.files.values():
        outputs.write_bytes(target, packed_for(target.name, content, before))


def _write_workbooks(
    outputs: Outputs, result: Reimport, targets: ReimportTargets, look: ReportLook, password: str | None
) -> None:
    """The report, and what is open for a third person."""
    from clueval_xlsx.cli.reviews import save_workbook

    lang = _language(result, look)
    if targets.report:
        from clueval_xlsx.outputs.xlsx.page import write_page
        from clueval_xlsx.pages.adjudication import adjudication_page
        from clueval_xlsx.review.vocabulary import REPORT_SHEET
        from clueval_xlsx.words import Words

        for run, path in _paths(result.runs, targets.report):
            page = adjudication_page(run, Words(lang))
            save_workbook(outputs, path, password, partial(write_page, page, figures=REPORT_SHEET))
    if targets.conflicts:
        from clueval_xlsx.outputs.xlsx.conflicts import write_conflicts

        labels = label_words()
        for run, path in _paths(result.runs, targets.conflicts):
            if run.cases_in_conflict:
                write = partial(write_conflicts, run, lang=lang, contact=look.contact, blind=look.blind, labels=labels)
                save_workbook(outputs, path, password, write)


def _write_texts(outputs: Outputs, result: Reimport, targets: ReimportTargets, look: ReportLook) -> None:
    """The page to read, and what programs and later runs read."""
    runs = result.runs
    if targets.html:
        from clueval_xlsx.outputs.html.page import page_html
        from clueval_xlsx.pages.adjudication import adjudication_page
        from clueval_xlsx.words import Words

        for run, path in _paths(runs, targets.html):
            outputs.write_text(path, page_html(adjudication_page(run, Words(_language(result, look)))))
    if targets.json and targets.json != STANDARD_OUTPUT:
        from clueval_xlsx.outputs.json_results import json_text, reimport_result

        outputs.write_text(Path(targets.json), json_text(reimport_result(runs)))
    if targets.changes:
        import pandas as pd

        from clueval_xlsx.review.conflicts import changes_tsv

        outputs.write_text(targets.changes, changes_tsv(pd.concat([run.changes for run in runs], ignore_index=True)))
    if targets.judgements:
        outputs.write_text(targets.judgements, _longer_log(targets.judgements, runs))


def _language(result: Reimport, look: ReportLook) -> str:
    return look.lang or next((run.manifest.lang for run in result.runs if run.manifest), "en")


def _paths(runs: Sequence[Adjudication], path: Path) -> list[tuple[Adjudication, Path]]:
    """One path a run: with the layer's name where layers were evaluated by themselves."""
    if len(runs) == 1:
        return [(runs[0], path)]
    return [(run, with_end(path, f"-{file_name_part(run.raw.pair.layers[0])}")) for run in runs]


def _longer_log(path: Path, runs: Sequence[Adjudication]) -> str:
    """The log as it is with the new judgements behind; what is in it already is not repeated."""
    import datetime

    from clueval_xlsx.cli.console import counted, say
    from clueval_xlsx.exceptions import InputError
    from clueval_xlsx.files.names import is_stream
    from clueval_xlsx.review.log import check_chain, new_judgements, read_log, write_log

    try:
        there = path.exists() and not is_stream(path)
        old = path.read_bytes().decode("utf-8") if there else ""  # its line ends stay as they are
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}. Give another file to --judgements.") from None
    when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    known = read_log(old.removeprefix("\ufeff"), str(path))
    more = []
    for run in runs:
        taken_back = run.taken_back(when, known)
        more += [*taken_back, *new_judgements([*known, *taken_back], run.log(when), when)]
    chain = check_chain(old, str(path))
    if chain.problems:
        breaks = counted(len(chain.problems), "break")
        say(f"Note: {path} is no whole chain, {breaks}; `clueval-xlsx validate {path}` lists them.")
    return old + ("" if not old or old.endswith("\n") else "\n") + write_log(more, chain.head)


def _report(result: Reimport, targets: ReimportTargets) -> None:
    """What a lead reads, on standard output where that is free; what else people should know to standard error."""
    from clueval_xlsx.cli.console import lay_out, output, quiet, room, say
    from clueval_xlsx.outputs.terminal import page_parts
    from clueval_xlsx.pages.adjudication import adjudication_page
    from clueval_xlsx.words import TERMINAL, Words

    words = Words(TERMINAL)
    to_stdout = STANDARD_OUTPUT not in {targets.gold, targets.json}
    console = output(stderr=not to_stdout)
    _list("Note", [f"{note}." for note in result.notes])
    for run, sent in _paths(result.runs, targets.conflicts or Path("third.xlsx")):
        page = adjudication_page(run, words)
        if to_stdout or not quiet():
            lay_out(console, page_parts(page, room(console, "--report, --html or --json")))
        if run.cases_in_conflict:
            third = f"{sent} --gold GOLD" if targets.conflicts else f"--gold GOLD --conflicts {sent}"
            say(f"Next: clueval-xlsx reimport WORKBOOK… {third}")
        if run.problems:
            say("Next: clueval-xlsx status WORKBOOK…")
        _list("Missing", [f"no workbook of {name} is among these." for name in run.missing_people])
        _list("Note", [f"{note}." for note in run.notes])
        if run.undecided:
            say(f"Beyond decision: {', '.join(run.undecided)}.")
        if run.cases_in_conflict or run.problems:
            say(f"A person must look: {page.headline}", urgent=True)


def _list(what: str, lines: Sequence[str]) -> None:
    from clueval_xlsx.cli.console import say_list

    say_list(what, lines, "--report and --json list them all")
