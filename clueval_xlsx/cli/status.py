"""`status`: who has judged how much, without the gold file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import output, put, say, say_list, say_what_is_open
from clueval_xlsx.cli.workbooks import password_of
from clueval_xlsx.cli.writing import guarded_outputs, is_printed, path_of
from clueval_xlsx.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.review.progress import Progress

_WIDTH_OF_FIGURES = 38  # the columns beside the names


def run(call: Call, workbooks: Sequence[str]) -> int:
    """Count what is judged, and name what cannot be used."""
    from clueval_xlsx.outputs.json_results import json_text, status_result
    from clueval_xlsx.pages.adjudication import account_sentence
    from clueval_xlsx.review.progress import missing_people, workbook_progress
    from clueval_xlsx.words import TERMINAL, Words

    found = []
    for path in workbooks:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path.") from None
        found.append(workbook_progress(data, path, password_of(call)))
    say_what_is_open(workbooks)
    missing = missing_people(found)
    text, json = json_text(status_result(found, missing)), path_of(call, "output.json")
    if json is not None:
        with guarded_outputs(call, workbooks) as outputs:
            outputs.write_text(json, text)
    if is_printed(call, "output.json"):
        put(text)
    else:
        console = output()
        console.print(_progress_table(found, console.width))
    words = Words(TERMINAL)
    for each in found:
        say(f"{each.name}: {account_sentence(each.account, words)}")
        for problem in each.problems:
            say(f"Not used: {problem}", urgent=True)
        say_list("Note", [f"{note}." for note in each.notes], "--json lists them all")
    for name in missing:
        say(f"Missing: no workbook of {name} is among these.")
    return 3 if any(each.problems for each in found) else 0


def _progress_table(found: Sequence[Progress], width: int) -> Table:
    """Who has judged how much; in a narrow terminal names stand above their figures, which stay whole."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from clueval_xlsx.review.accounting import CaseState

    names = [(each.name, each.judge) for each in found]
    narrow = width < _WIDTH_OF_FIGURES + sum(max(map(len, column)) for column in zip(*names, strict=True))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("workbook, judge",) if narrow else ("workbook", "judge"):
        table.add_column(name, overflow="fold")
    for name in ("done", "of", "%") if narrow else ("done", "of", "per cent", "not usable"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in found:
        account = each.account
        unusable = str(account.counts[CaseState.UNUSABLE] or "")
        figures = (str(account.done), str(account.cases), each.share)
        if narrow:
            more = f" ({unusable} not usable)" if unusable else ""
            table.add_row(Text(f"{each.name}, {each.judge}{more}"), *figures)
        else:
            table.add_row(Text(each.name), Text(each.judge), *figures, unusable)
    return table
