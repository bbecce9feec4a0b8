"""`reimport`: judged workbooks become a corrected gold standard, with agreement and figures before and after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import EVERYTHING, MOST, print_page, quiet, say, say_list, say_what_is_open
from clueval_xlsx.cli.inputs import reading_of
from clueval_xlsx.cli.workbooks import password_of
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, Writing, ends
from clueval_xlsx.exceptions import InputError, OptionError, counted
from clueval_xlsx.files.names import is_stream, with_end

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.pages.page import Page
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.reimport import Reimport

_ELSEWHERE = ("report", "html", "json")  # outputs that hold all that the terminal cuts short
_CLEAR = ("html", "json", "changes", "judgements")  # outputs that no password protects, gold aside


def run(call: Call, workbooks: Sequence[str]) -> int:
    """Read the workbooks, write what was asked for, and say what a lead should know."""
    from clueval_xlsx.files.locks import locked
    from clueval_xlsx.formats.registry import ReadOverrides
    from clueval_xlsx.review.reimport import reimport

    gold, password = call.value("reimport.gold"), password_of(call)
    if gold is None:
        raise OptionError(_which_gold(workbooks, password))
    log, out = call.value("output.judgements"), Writing(call, [*workbooks, gold])
    result = reimport(
        workbooks,
        gold,
        pred=call.value("reimport.pred"),
        resolve=call.value("reimport.resolve"),
        trust_id=call.value("reimport.trust_id"),
        password=password,
        overrides=ReadOverrides(reading_of(call), call.names_of("read")),
        options=call.scoring,
        judgements=call.judgements,
    )
    names = ends([run.raw.pair.layers[0] for run in result.runs])
    # From reading the log until the longer one is in its place nobody else may write to it.
    lock = locked(Path(log), say) if log not in {None, STANDARD_OUTPUT} else nullcontext()
    with lock, out:
        _write_gold(out, result, Path(gold))
        for end, run in zip(names, result.runs, strict=True):
            _write_run(out, run, end, password)
            out.afterwards(partial(_show, call, out.prints), run)
        _write_figures(out, result)
        out.afterwards(partial(_say_rest, call), result)
        if log is not None:
            _lengthen_log(out, result, log)
        out.afterwards(say_what_is_open, workbooks)
        if password is not None and any(call.value(f"output.{name}") for name in _CLEAR):
            out.afterwards(say, "Note: the password protects workbooks only; what other options write is clear text.")
    return 3 if result.needs_a_person else 0


def _which_gold(workbooks: Sequence[str], password: str | None) -> str:
    """What to say where --gold is missing: the file that a workbook knows."""
    from clueval_xlsx.review.reimport import gold_of

    name = gold_of(workbooks, password)
    if name is None:
        return "--gold is missing. Give the gold file that the workbooks were made from."
    return f"--gold is missing. The workbooks were made from {name}: give that file, --gold {name}."


def _write_gold(out: Writing, result: Reimport, source: Path) -> None:
    """The corrected gold, in its own format; packed by gzip if the target is called so."""
    from clueval_xlsx.formats.stored import packed_for

    place = out.place("corrected")
    if place is None:
        out.text("corrected", lambda: result.content)
    elif result.gold.source.folder:
        for name, content in result.files.items():
            out.write_bytes(place / name, content)
    else:
        out.write_bytes(place, packed_for(place.name, result.content, source.read_bytes() if source.is_file() else b""))


def _write_run(out: Writing, run: Adjudication, end: str, password: str | None) -> None:
    """What a lead and a third person read of one run."""
    from clueval_xlsx.pages.adjudication import adjudication_page
    from clueval_xlsx.words import Words

    call = out.call
    lang = (
        str(call.value("workbook.lang"))
        if call.names_of("workbook") & {"lang"} or not run.manifest
        else run.manifest.lang
    )
    out.page(lambda: adjudication_page(run, Words(lang)), end)
    report, conflicts = out.place("report", end), out.place("conflicts", end)
    if report is not None:
        from clueval_xlsx.outputs.xlsx.page import write_page
        from clueval_xlsx.review.judgements import REPORT_SHEET

        out.book(report, partial(write_page, adjudication_page(run, Words(lang)), figures=REPORT_SHEET), password)
    if conflicts is not None and run.cases_in_conflict:
        from clueval_xlsx.outputs.xlsx.review import write_conflicts

        contact, blind = call.value("workbook.contact"), call.value("workbook.blind")
        write = partial(write_conflicts, run, lang=lang, contact=contact, blind=blind, labels=call.label_words)
        out.book(conflicts, write, password)


def _write_figures(out: Writing, result: Reimport) -> None:
    """What programs read."""
    import pandas as pd

    from clueval_xlsx.outputs.json_results import reimport_result
    from clueval_xlsx.review.adjudication import changes_tsv

    runs = result.runs
    out.json(lambda: reimport_result(runs))
    out.text("changes", lambda: changes_tsv(pd.concat([run.changes for run in runs], ignore_index=True)))


def _lengthen_log(out: Writing, result: Reimport, log: str) -> None:
    """The log as it is with the new judgements behind; its end stays known by its head."""
    path = Path(log)
    try:
        there = log != STANDARD_OUTPUT and path.exists() and not is_stream(path)
        old = path.read_bytes().decode("utf-8") if there else ""  # its line ends stay as they are
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}. Give another file to --judgements.") from None
    text, head, problems = result.lengthen(old, log)
    if problems:
        breaks = counted(len(problems), "break")
        out.afterwards(say, f"Note: {log} is no whole chain, {breaks}; `clueval-xlsx validate {log}` lists them.")
    out.text("judgements", lambda: text)
    out.afterwards(say, f"Head of {log}: {head}")


def _show(call: Call, printed: bool, run: Adjudication) -> None:
    """What a lead reads, on standard output where that is free: at most ten of anything that stands elsewhere, too."""
    from clueval_xlsx.pages.adjudication import adjudication_page
    from clueval_xlsx.pages.page import Chapter, Page, Tone
    from clueval_xlsx.words import TERMINAL, Words

    page = adjudication_page(run, Words(TERMINAL))
    if not printed or not quiet():
        told = any(call.value(f"output.{name}") for name in _ELSEWHERE)
        show = partial(print_page, elsewhere="--report, --html or --json", stderr=printed)
        show(in_brief(page))
        for chapter in page.chapters[1:]:
            if chapter.count not in {"", "0"}:
                alone = Page(f"{chapter.title} {chapter.count}", (), (Chapter(chapter.title, chapter.sections),))
                show(alone, most=MOST if told or chapter.tone is Tone.PLAIN else EVERYTHING)
    if run.cases_in_conflict or run.problems:
        say(f"A person must look: {page.headline}", urgent=True)


def in_brief(page: Page) -> Page:
    """The headline of a page, what is next, what is expected, and its first table."""
    from clueval_xlsx.pages.page import Chapter, Table, Text, TextStyle

    sections = page.chapters[0].sections
    small = {TextStyle.NOTE, TextStyle.CODE}
    told = [one for one in sections if isinstance(one, Text) and one.style not in small]
    table = next(one for one in sections if isinstance(one, Table))
    return replace(page, chapters=(Chapter("", (*told, table)),))


def _say_rest(call: Call, result: Reimport) -> None:
    """What is to be known and done next."""
    elsewhere = "--json FILE lists them all"
    say_list("Note", [f"{note}." for note in result.notes], elsewhere)
    target, disputed = call.value("output.conflicts"), 0
    for end, run in zip(ends([run.raw.pair.layers[0] for run in result.runs]), result.runs, strict=True):
        third = with_end(Path(target or "third.xlsx"), end)
        if run.cases_in_conflict:
            more = f"{third} --gold GOLD" if target else f"--gold GOLD --conflicts {third}"
            say(f"Next: clueval-xlsx reimport WORKBOOK… {more}")
        if run.problems:
            say("Next: clueval-xlsx status WORKBOOK…")
        say_list("Missing", [f"no workbook of {name} is among these." for name in run.missing_people], elsewhere)
        say_list("Note", [f"{note}." for note in run.notes], elsewhere)
        if run.undecided:
            say(f"Beyond decision: {', '.join(run.undecided)}.")
        disputed += len(run.cases_in_conflict)
    if target is not None:
        cases = (
            f"Conflict workbook: {counted(disputed, 'case')} in conflict. Once decided, give it along with the others."
        )
        say(cases if disputed else "No case is in conflict: no conflict workbook.")
