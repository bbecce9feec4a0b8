"""`agree`: several annotators or systems against each other, none of them gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from clueval_xlsx.cli.compare import system_names
from clueval_xlsx.cli.console import print_page, say_notes
from clueval_xlsx.cli.inputs import STANDARD_INPUT, read_input, reading_of
from clueval_xlsx.cli.writing import Writing
from clueval_xlsx.exceptions import InputError, OptionError

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading


def run(call: Call, files: Sequence[str]) -> None:
    """Compare the files, or the annotators of the only one, two by two."""
    from clueval_xlsx.outputs.json_results import agreement_metrics
    from clueval_xlsx.pages.agreement import agreement_page
    from clueval_xlsx.pairwise_agreement import pairwise_agreement
    from clueval_xlsx.words import TERMINAL, Words

    result = pairwise_agreement(_readings(call, files), call.scoring, align=call.value("pair.align") == "text")
    with Writing(call, files) as out:
        out.page(lambda: agreement_page(result, Words(call.value("workbook.lang"))))
        out.json(lambda: agreement_metrics(result))
    pairs = [(pair, pair.evaluation) for pair in result.pairs if pair.evaluation is not None]
    notes = dict.fromkeys(note for _, evaluation in pairs for note in evaluation.notes)
    for pair, evaluation in pairs:
        if len(files) > 1 and evaluation.inputs.one_file and evaluation.raw.same_spans:
            notes[f"{pair.first} and {pair.second} are the same: {evaluation.raw.gold.source.name}"] = None
    say_notes(notes)
    if not out.prints:
        print_page(agreement_page(result, Words(TERMINAL)), "--html FILE")


def _readings(call: Call, files: Sequence[str]) -> list[tuple[str, Reading]]:
    """What is compared, by name: the files, or the annotators of the only one."""
    names, how, file = call.value("pair.name"), reading_of(call), files[0]
    if len(files) > 1:
        systems = system_names(files, names)
        if files.count(STANDARD_INPUT) > 1:
            raise OptionError("only one file can come from standard input. Give files for the others.")
        readings = [read_input(call, each, how) for each in files]
        call.refuse_idle_reading({"": [reading.source.format for reading in readings]})
        return list(zip(systems, readings, strict=True))
    from clueval_xlsx.formats.loading import annotators

    if file == STANDARD_INPUT:
        raise OptionError("the annotators of one file are read several times. Give a file, not standard input.")
    if names:
        raise OptionError("--name belongs to several files; the annotators of one have names. Leave it out.")
    known = annotators(file, how)
    chosen = [name.strip() for name in how.annotator.split(",")] if how.annotator else known
    if len(chosen) < 2 <= len(known):
        raise OptionError(
            f"--annotator {how.annotator}: 2 annotators or more are needed to compare them, and this is one. "
            f"{file} has {', '.join(known)}: name several, or leave --annotator out to compare all of them."
        )
    if len(chosen) < 2:
        raise InputError(
            f"{file}: 2 annotators or more are needed to compare them; found {', '.join(known) or 'none by name'}. "
            "Give a file with several annotators, or several files."
        )
    return [(name, read_input(call, file, replace(how, annotator=name))) for name in chosen]
