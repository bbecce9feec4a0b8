"""Options of commands that write or read review workbooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.config import label_words, own_judgements
from clueval_xlsx.cli.parameters import FileName, ListOption, group
from clueval_xlsx.cli.writing import force_option
from clueval_xlsx.exceptions import OptionError

if TYPE_CHECKING:
    from clueval_xlsx.cases.unmarked import UnmarkedOptions
    from clueval_xlsx.outputs.xlsx import Handout


def language(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Check the name of a language."""
    from clueval_xlsx.words import languages

    if value is not None and value not in languages():
        raise click.BadParameter(f"{value!r} is not one of {', '.join(languages())}.", ctx, param)
    return value


_PASSWORD_FILE = click.option(
    "--password-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File whose first line is the workbooks' password; or set CLUEVAL_PASSWORD.",
)

language_option = click.option(
    "--lang", default="en", show_default=True, callback=language, help="Language of the outputs: en, de."
)

_LOOK = [
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

_ASSIGNMENT = [
    click.option(
        "--judges",
        cls=ListOption,
        metavar="NAME",
        help="Write a workbook for each of these people (anna,ben,cara) and share the cases out.",
    ),
    click.option("--double", default="", metavar="SHARE", help="Share of cases that two people judge, such as 20%."),
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
    click.option(
        "--order",
        type=click.Choice(["place", "suspicion", "label"]),
        default="place",
        metavar="ORDER",
        help="Cases by place, by suspicion (likely errors of gold first), or by label. Default: place.",
    ),
    click.option(
        "--also",
        cls=ListOption,
        type=FileName(),
        help="Predictions of a further system over the same text: whether it sides with PRED counts for suspicion.",
    ),
    click.option(
        "--unmarked",
        is_flag=True,
        help="Add a sheet: words marked elsewhere, here by nobody.",
    ),
    click.option(
        "--unmarked-from",
        metavar="SHARE",
        help="List unmarked passages from this chance on, told by how regularly the words are marked. Default: 50%.",
    ),
    click.option(
        "--unmarked-words",
        cls=ListOption,
        type=click.Choice(["once", "common"]),
        help="List unmarked passages also of words that are marked only once, or of common words (lower case).",
    ),
    _PASSWORD_FILE,
    click.option(
        "--without-text", is_flag=True, help="Also write an edition that can be shared: no word of the corpus."
    ),
    click.option(
        "--previous",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Fill in what was decided before, from the log that `reimport --judgements` wrote.",
    ),
    click.option("--hide-previous", is_flag=True, help="Fold away the rows that --previous fills in."),
]


@dataclass(frozen=True)
class ReviewRequest:
    """Which workbooks are written and for whom: one for all without `judges`, else one for each of them."""

    lang: str = "en"
    contact: str = ""
    lock_cells: bool = False
    max_rows: int = 1_048_570
    force: bool = False
    judges: tuple[str, ...] = ()
    double: float = 0.0
    sample: int | None = None
    agreed: int = 0
    order: str = "place"
    also: tuple[str, ...] = ()
    unmarked: UnmarkedOptions | None = None
    password: str | None = field(default=None, repr=False)
    without_text: bool = False
    previous: Path | None = None
    hide_previous: bool = False

    def look(self) -> Handout:
        """How a workbook is to look."""
        from clueval_xlsx.outputs.xlsx import Handout
        from clueval_xlsx.review.judgements import JUDGEMENTS

        return Handout(
            lang=self.lang,
            contact=self.contact,
            lock_cells=self.lock_cells,
            max_rows=self.max_rows,
            judgements=(*JUDGEMENTS, *own_judgements()),
            in_memory=self.password is not None,
            label_words=label_words(),
            hide_previous=self.hide_previous,
        )


def _review_request(
    *,
    judges: Sequence[str],
    double: str,
    order: str,
    also: Sequence[str],
    unmarked: bool,
    unmarked_from: str | None,
    unmarked_words: Sequence[str],
    password_file: Path | None,
    **given: Any,
) -> ReviewRequest:
    names = _people(judges)
    if also and order != "suspicion":
        raise OptionError("--also tells whom further systems side with. It belongs to --order suspicion.")
    return ReviewRequest(
        order=order,
        also=tuple(also),
        judges=names,
        double=_share(double, names),
        unmarked=_unmarked(unmarked, unmarked_from, unmarked_words),
        password=_password(password_file),
        **given,
    )


def _unmarked(wanted: bool, least: str | None, also: Sequence[str]) -> UnmarkedOptions | None:
    """Which unmarked passages are listed, if they are."""
    if not wanted:
        for option, given in (("--unmarked-from", least is not None), ("--unmarked-words", bool(also))):
            if given:
                raise OptionError(f"{option} says which unmarked passages are listed. Give --unmarked, too.")
        return None
    from clueval_xlsx.cases.samples import parse_share
    from clueval_xlsx.cases.unmarked import UnmarkedOptions

    options = UnmarkedOptions(once="once" in also, common="common" in also)
    return options if least is None else replace(options, least=parse_share(least))


def _people(judges: Sequence[str]) -> tuple[str, ...]:
    """The people who judge; nobody can be named twice."""
    from clueval_xlsx.review.normalising import normalise

    names = tuple(name for name in judges if name)
    keys = [normalise(name) for name in names]
    twice = {name for name in names if keys.count(normalise(name)) > 1}
    if twice:
        raise OptionError(f"--judges names {', '.join(sorted(twice))} twice. Give each person once.")
    return names


def _share(double: str, judges: Sequence[str]) -> float:
    """The share of cases that two people judge, of whom there must be two."""
    from clueval_xlsx.cases.samples import parse_share

    if not double:
        return 0.0
    if not judges:
        raise OptionError("--double needs --judges. Say who judges, such as --judges anna,ben.")
    if len(judges) == 1:
        raise OptionError(f"--double needs two people or more, but --judges names only {judges[0]}.")
    return parse_share(double)


def _password(password_file: Path | None) -> str | None:
    from clueval_xlsx.files.encryption import find_password

    return find_password(password_file)


review = group("review", _review_request, [*_LOOK, *_ASSIGNMENT])
password = group("password", _password, [_PASSWORD_FILE])
