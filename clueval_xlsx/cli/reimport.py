"""`reimport`: judged workbooks become a corrected gold standard, with agreement and figures before and after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import (
    counted,
    lay_out,
    output,
    put,
    quiet,
    room,
    say,
    say_list,
    say_what_is_open,
)
from clueval_xlsx.cli.inputs import reading_of
from clueval_xlsx.cli.workbooks import password_of, save_workbook
from clueval_xlsx.cli.writing import guarded_outputs, is_printed, path_of
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.reimport import Reimport


@dataclass(frozen=True)
class ReimportTargets:
    """Where the outputs go, None for those that nobody asked for."""

    gold: Path | None
    report: Path | None
    html: Path | None
    json: Path | None
    changes: Path | None
    judgements: Path | None
    conflicts: Path | None

    @classmethod
    def of(cls, call: Call, workbooks: Sequence[str]) -> ReimportTargets:
        """No output may replace a workbook that somebody judged, and only one can be printed."""
        if is_printed(call, "output.corrected") and is_printed(call, "output.json"):
            raise OptionError("-o - and --json -: only one of them can go to standard output. Give one a file.")
        names = ("corrected", "report", "html", "json", "changes", "judgements", "conflicts")
        made = cls(*(path_of(call, f"output.{name}") for name in names))
        inputs = {Path(workbook).resolve() for workbook in workbooks}
        paths = [path for path in vars(made).values() if path is not None]
        for path in paths:
            if path.resolve() in inputs:
                raise OptionError(f"{path}: is one of the judged workbooks. Write to another file.")
        if len({path.resolve() for path in paths}) < len(paths):
            raise OptionError("two outputs have the same name. Give each its own.")
        return made

    @property
    def in_clear_text(self) -> bool:
        """Whether there are outputs that no password protects, gold aside."""
        return any((self.html, self.json, self.changes, self.judgements))


def run(call: Call, workbooks: Sequence[str]) -> int:
    """Read the workbooks, write what was asked for, and say what a lead should know."""
    from clueval_xlsx.files.locks import locked
    from clueval_xlsx.files.names import is_stream
    from clueval_xlsx.formats.options import ReadOverrides
    from clueval_xlsx.review.log import head_of
    from clueval_xlsx.review.reimport import reimport

    gold, pred, password = call.value("reimport.gold"), call.value("reimport.pred"), password_of(call)
    if gold is None:
        raise OptionError("--gold is missing. Give the gold file that the workbooks were made from.")
    targets = ReimportTargets.of(call, workbooks)
    chosen = frozenset(each.setting.name for each in call.given if each.setting.section == "read")
    result = reimport(
        workbooks,
        gold,
        pred=pred,
        resolve=call.value("reimport.resolve"),
        trust_id=call.value("reimport.trust_id"),
        password=password,
        overrides=ReadOverrides(reading_of(call), chosen),
        options=call.scoring,
        judgements=call.judgements,
    )
    log = targets.judgements
    head = ""
    with locked(log, say) if log is not None else nullcontext():  # from reading it until the longer one is in its place
        with guarded_outputs(call, [*workbooks, gold]) as outputs:
            _write_gold(outputs, result, targets, Path(gold))
            _write_workbooks(outputs, result, targets, call, password)
            _write_texts(outputs, result, targets, call)
        if log is not None and not is_stream(log):
            head = head_of(log.read_text("utf-8"))
    if is_printed(call, "output.corrected"):
        put(result.content)
    if is_printed(call, "output.json"):
        from clueval_xlsx.outputs.json_results import json_text, reimport_result

        put(json_text(reimport_result(result.runs)))
    say_what_is_open(workbooks)
    to_stdout = not (is_printed(call, "output.corrected") or is_printed(call, "output.json"))
    _report(result, targets, to_stdout=to_stdout)
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
    return 3 if result.needs_a_person else 0


def _write_gold(outputs: Outputs, result: Reimport, targets: ReimportTargets, source: Path) -> None:
    """The corrected gold, in its own format; packed by gzip if the target is called so."""
    from clueval_xlsx.formats.stored import packed_for

    target = targets.gold
    if target is None:
        return
    if result.gold.source.folder:
        for name, content in result.files.items():
            outputs.write_bytes(target / name, content)
        return
    before = source.read_bytes() if source.is_file() else b""
    for content in result.files.values():
        outputs.write_bytes(target, packed_for(target.name, content, before))


def _write_workbooks(
    outputs: Outputs, result: Reimport, targets: ReimportTargets, call: Call, password: str | None
) -> None:
    """The report, and what is open for a third person."""
    lang = _language(result, call)
    if targets.report:
        from clueval_xlsx.outputs.xlsx.page import write_page
        from clueval_xlsx.pages.adjudication import adjudication_page
        from clueval_xlsx.review.vocabulary import REPORT_SHEET
        from clueval_xlsx.words import Words

        for run, path in _paths(result.runs, targets.report):
            page = adjudication_page(run, Words(lang))
            save_workbook(outputs, path, password, partial(write_page, page, figures=REPORT_SHEET))
    if targets.conflicts:
        from clueval_xlsx.outputs.xlsx.review import write_conflicts

        contact, blind = call.value("workbook.contact"), call.value("workbook.blind")
        for run, path in _paths(result.runs, targets.conflicts):
            if run.cases_in_conflict:
                write = partial(write_conflicts, run, lang=lang, contact=contact, blind=blind, labels=call.label_words)
                save_workbook(outputs, path, password, write)


def _write_texts(outputs: Outputs, result: Reimport, targets: ReimportTargets, call: Call) -> None:
    """The page to read, and what programs and later runs read."""
    runs = result.runs
    if targets.html:
        from clueval_xlsx.outputs.html.page import page_html
        from clueval_xlsx.pages.adjudication import adjudication_page
        from clueval_xlsx.words import Words

        for run, path in _paths(runs, targets.html):
            outputs.write_text(path, page_html(adjudication_page(run, Words(_language(result, call)))))
    if targets.json:
        from clueval_xlsx.outputs.json_results import json_text, reimport_result

        outputs.write_text(targets.json, json_text(reimport_result(runs)))
    if targets.changes:
        import pandas as pd

        from clueval_xlsx.review.conflicts import changes_tsv

        outputs.write_text(targets.changes, changes_tsv(pd.concat([run.changes for run in runs], ignore_index=True)))
    if targets.judgements:
        outputs.write_text(targets.judgements, _longer_log(targets.judgements, runs))


def _language(result: Reimport, call: Call) -> str:
    if any(each.setting.key == "workbook.lang" for each in call.given):
        return str(call.value("workbook.lang"))
    return next((run.manifest.lang for run in result.runs if run.manifest), "en")


def _paths(runs: Sequence[Adjudication], path: Path) -> list[tuple[Adjudication, Path]]:
    """One path a run: with the layer's name where layers were evaluated by themselves."""
    if len(runs) == 1:
        return [(runs[0], path)]
    return [(run, with_end(path, f"-{file_name_part(run.raw.pair.layers[0])}")) for run in runs]


def _longer_log(path: Path, runs: Sequence[Adjudication]) -> str:
    """The log as it is with the new judgements behind; what is in it already is not repeated."""
    import datetime

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


def _report(result: Reimport, targets: ReimportTargets, *, to_stdout: bool) -> None:
    """What a lead reads, on standard output where that is free; what else people should know to standard error."""
    from clueval_xlsx.outputs.terminal import page_parts
    from clueval_xlsx.pages.adjudication import adjudication_page
    from clueval_xlsx.words import TERMINAL, Words

    words = Words(TERMINAL)
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
    say_list(what, lines, "--report and --json list them all")
