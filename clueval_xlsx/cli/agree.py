"""`agree`: several annotators or systems against each other, none of them gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clueval_xlsx.cli.compare import system_names
from clueval_xlsx.cli.console import print_page, say_notes
from clueval_xlsx.cli.inputs import STANDARD_INPUT, is_one_input, read_input, reading_of
from clueval_xlsx.cli.writing import is_printed, write_json_and_page
from clueval_xlsx.exceptions import InputError, OptionError

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.pairwise_agreement import PairwiseAgreement

_FEWEST = 2


def run(call: Call, files: Sequence[str]) -> None:
    """Compare the files, or the annotators of the only one, two by two."""
    from clueval_xlsx.outputs.html.page import page_html
    from clueval_xlsx.outputs.json_results import agreement_metrics, json_text
    from clueval_xlsx.pages.agreement import agreement_page
    from clueval_xlsx.pairwise_agreement import pairwise_agreement
    from clueval_xlsx.words import TERMINAL, Words

    found = pairwise_agreement(_readings(call, files), call.scoring, align=call.value("pair.align") == "text")
    write_json_and_page(
        call,
        lambda: json_text(agreement_metrics(found)),
        lambda: page_html(agreement_page(found, Words(call.value("workbook.lang")))),
        files,
    )
    evaluations = [pair.evaluation for pair in found.pairs if pair.evaluation is not None]
    notes = dict.fromkeys(note for result in evaluations for note in result.notes)
    say_notes([*notes, *(_same_files(found) if len(files) > 1 else ())])
    if not is_printed(call, "output.json"):
        print_page(agreement_page(found, Words(TERMINAL)), "--html FILE")


def _readings(call: Call, files: Sequence[str]) -> list[tuple[str, Reading]]:
    """What is compared, by name: the files, or the annotators of the only one."""
    names, how = call.value("pair.name"), reading_of(call)
    if len(files) > 1:
        found = system_names(files, names)
        if files.count(STANDARD_INPUT) > 1:
            raise OptionError("only one file can come from standard input. Give files for the others.")
        readings = [read_input(call, file, how) for file in files]
        call.refuse_idle_reading({"": [reading.source.format for reading in readings]})
        return list(zip(found, readings, strict=True))
    from clueval_xlsx.formats.loading import annotators

    if files[0] == STANDARD_INPUT:
        raise OptionError("the annotators of one file are read several times. Give a file, not standard input.")
    if names:
        raise OptionError("--name belongs to several files; the annotators of one have names. Leave it out.")
    known = annotators(files[0], how)
    chosen = [name.strip() for name in how.annotator.split(",")] if how.annotator else known
    if len(chosen) < _FEWEST <= len(known):
        raise OptionError(
            f"--annotator {how.annotator}: {_FEWEST} annotators or more are needed to compare them, and this is one. "
            f"{files[0]} has {', '.join(known)}: name several, or leave --annotator out to compare all of them."
        )
    if len(chosen) < _FEWEST:
        raise InputError(
            f"{files[0]}: {_FEWEST} annotators or more are needed to compare them; found "
            f"{', '.join(known) or 'none by name'}. Give a file with several annotators, or several files."
        )
    return [(name, read_input(call, files[0], replace(how, annotator=name))) for name in chosen]


def _same_files(found: PairwiseAgreement) -> list[str]:
    """Notes on files that agree because they are one."""
    return [
        f"{pair.first} and {pair.second} are the same: {pair.evaluation.raw.gold.source.name}"
        for pair in found.pairs
        if pair.evaluation is not None and is_one_input(pair.evaluation.raw)
    ]
