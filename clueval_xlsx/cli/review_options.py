"""Options of commands that write or read review workbooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.config_file import own_judgements
from clueval_xlsx.cli.parameters import ListOption, apply
from clueval_xlsx.cli.writing import force_option

if TYPE_CHECKING:
    from clueval_xlsx.outputs.xlsx import ReviewOptions


def language(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Check the name of a language."""
    from clueval_xlsx.words import languages

    if value is not None and value not in languages():
        raise click.BadParameter(f"{value!r} is not one of {', '.join(languages())}.", ctx, param)
    return value


password = click.option(
    "--password-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File whose first line is the workbooks' password; or set CLUEVAL_PASSWORD.",
)

language_option = click.option(
    "--lang", default="en", show_default=True, callback=language, help="Language of the outputs: en, de."
)

review = apply(
    [
        language_option,
        click.option("--contact", default="", metavar="TEXT", help="Whom the judge sends the workbook back to."),
        click.option("--lock-cells", is_flag=True, help="Lock the cells that are not for judging."),
        click.option(
            "--max-rows",
            type=click.IntRange(1, 1_048_570),
            default=1_048_570,
            metavar="N",
            help="Continue on a further sheet after N cases.",
        ),
        force_option,
    ]
)


handing_out = apply(
    [
        click.option(
            "--judges",
            cls=ListOption,
            metavar="NAME",
            help="Write a workbook for each of these people (anna,ben,cara) and share the cases out.",
        ),
        click.option(
            "--double", default="", metavar="SHARE", help="Share of cases that two people judge, such as 20%."
        ),
        click.option(
            "--sample",
            type=click.IntRange(1),
            metavar="N",
            help="Draw N cases (linked ones count once) by label and class.",
        ),
        click.option(
            "--agreed",
            type=click.IntRange(0),
            default=0,
            metavar="N",
            help="Add a sheet with N spans on which both sides agree.",
        ),
        password,
        click.option(
            "--without-text", is_flag=True, help="Also write an edition that can be shared: no word of the corpus."
        ),
    ]
)


def review_options(given: dict[str, Any]) -> ReviewOptions:
    """How the review workbook is to look, from the command's keyword arguments."""
    from clueval_xlsx.outputs.xlsx import ReviewOptions
    from clueval_xlsx.review.vocabulary import JUDGEMENTS

    return ReviewOptions(
        lang=given["lang"],
        contact=given["contact"],
        lock_cells=given["lock_cells"],
        max_rows=given["max_rows"],
        judgements=(*JUDGEMENTS, *own_judgements()),
    )
