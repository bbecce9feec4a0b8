"""`agree`: several annotators or systems against each other, none of them gold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options, review_options, scoring_options
from clueval_xlsx.cli.compare import system_names
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.idle_options import refuse_idle_reading
from clueval_xlsx.cli.parameters import ListOption
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, force_option, json_option, write_json_and_page
from clueval_xlsx.exceptions import InputError, OptionError

if TYPE_CHECKING:
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.options import Options, ReadOptions
    from clueval_xlsx.pairwise_agreement import PairwiseAgreement

_FEWEST = 2


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx agree anna.vrt ben.vrt cara.vrt --html agreement.html",
        "clueval-xlsx agree tab.json --json -",
    ),
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--name", "names", cls=ListOption, metavar="TEXT", help="Name of an annotation, in the order of the files."
)
@json_option("everything as JSON")
@click.option("--html", "html_path", type=click.Path(path_type=Path), metavar="FILE", help="Write a page here.")
@input_options.aligned_reading
@scoring_options.headline
@review_options.language_option
@force_option
@common_options.common
def agree(
    *,
    files: tuple[str, ...],
    names: tuple[str, ...],
    json_path: str | None,
    html_path: Path | None,
    reading: tuple[ReadOptions, bool],
    options: Options,
    lang: str,
    force: bool,
) -> None:
    """How far several annotations of the same documents agree, two by two: F1 at every level, by label and document.

    One FILE alone must have several annotators, who are compared by their names; --annotator anna,ben chooses among
    them. The figures of a pair are those of `score` for the two.
    """
    from clueval_xlsx.cli.console import say_notes
    from clueval_xlsx.outputs.json_results import agreement_metrics, json_text
    from clueval_xlsx.pairwise_agreement import pairwise_agreement

    how, align = reading
    found = pairwise_agreement(_readings(files, names, how), options, align=align)

    def page() -> str:
        from clueval_xlsx.outputs.html.page import page_html
        from clueval_xlsx.pages.agreement import agreement_page
        from clueval_xlsx.words import Words

        return page_html(agreement_page(found, Words(lang)))

    write_json_and_page((json_path, lambda: json_text(agreement_metrics(found))), (html_path, page), files, force=force)
    evaluations = [pair.evaluation for pair in found.pairs if pair.evaluation is not None]
    notes = dict.fromkeys(note for result in evaluations for note in result.notes)
    say_notes([*notes, *(_same_files(found) if len(files) > 1 else ())])
    if json_path != STANDARD_OUTPUT:
        _print(found)


def _readings(files: tuple[str, ...], names: tuple[str, ...], how: ReadOptions) -> list[tuple[str, Reading]]:
    """What is compared, by name: the files, or the annotators of the only one."""
    if len(files) > 1:
        found = system_names(files, names)
        if files.count(STANDARD_OUTPUT) > 1:
            raise OptionError("only one file can come from standard input. Give files for the others.")
        readings = [input_options.read_input(file, how) for file in files]
        refuse_idle_reading({"": [reading.source.format for reading in readings]})
        return list(zip(found, readings, strict=True))
    from clueval_xlsx.formats.loading import annotators

    if files[0] == STANDARD_OUTPUT:
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
    return [(name, input_options.read_input(files[0], replace(how, annotator=name))) for name in chosen]


def _same_files(found: PairwiseAgreement) -> list[str]:
    """Notes on files that agree because they are one."""
    from clueval_xlsx.cli.nothing import is_one_input

    return [
        f"{pair.first} and {pair.second} are the same: {pair.evaluation.raw.gold.source.name}"
        for pair in found.pairs
        if pair.evaluation is not None and is_one_input(pair.evaluation.raw)
    ]


def _print(found: PairwiseAgreement) -> None:
    from clueval_xlsx.cli.console import lay_out, output, room
    from clueval_xlsx.outputs.terminal import page_parts
    from clueval_xlsx.pages.agreement import agreement_page
    from clueval_xlsx.words import TERMINAL, Words

    console = output()
    lay_out(console, page_parts(agreement_page(found, Words(TERMINAL)), room(console, "--html FILE")))
