"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clueval_xlsx.cli import format_options
from clueval_xlsx.exceptions import InputError, OptionError

if TYPE_CHECKING:
    from clueval_xlsx.evaluation import Options
    from clueval_xlsx.loading import ReadOptions
    from clueval_xlsx.pairing import Pair
    from clueval_xlsx.readers import Reading
    from clueval_xlsx.workbook import ReviewOptions

Command = TypeVar("Command", bound=Callable[..., Any])
LEVEL_NAMES = ("exact", "superset", "tiling", "overlap")


class NamedColumn(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`NAME=COLUMN`, columns counted from 1."""

    name = "NAME=COLUMN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Split the pair and check the number."""
        if isinstance(value, tuple):
            return value
        name, equals, number = str(value).partition("=")
        if not equals or not name.strip() or not number.strip().isdigit() or int(number) < 1:
            self.fail(f"{value!r} is not NAME=COLUMN with a column counted from 1, such as risk=3.", param, ctx)
        if name.strip() in {"start", "end"}:
            self.fail(f"{name.strip()!r} cannot be the name of a layer: span tables use it for positions.", param, ctx)
        return name.strip(), int(number)


def apply(options: list[Callable[[Command], Command]]) -> Callable[[Command], Command]:
    """One decorator of many."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _load_config(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    from clueval_xlsx.config import options_for, parse_config

    group = ctx.parent.command if ctx.parent else ctx.command
    commands = group.commands if isinstance(group, click.Group) else {}
    known = {name: config_keys(command) for name, command in commands.items()}
    try:
        content = Path(value).read_bytes()
    except OSError as error:
        raise InputError(f"{value}: cannot be read: {error.strerror}. Check the path given to --config.") from None
    command = ctx.info_name or ""
    found = options_for(command, parse_config(content, value), known, value)
    ctx.default_map = {
        known[command][key].name: _checked(known[command][key], given, ctx, f"{value}: {key.replace('_', '-')}")
        for key, given in found.items()
    }


def config_keys(command: click.Command) -> dict[str, click.Option]:
    """The options of a command that a config file may set, by the names they have on the command line."""
    return {
        name.removeprefix("--").replace("-", "_"): param
        for param in command.params
        if isinstance(param, click.Option) and param.name not in {"config", "debug"}
        for name in param.opts
        if name.startswith("--")
    }


def _checked(option: click.Option, given: Any, ctx: click.Context, where: str) -> Any:
    """A value from a config file, refused with its place if the option does not take it."""
    if isinstance(given, list) != option.multiple:
        if isinstance(given, list):
            raise InputError(f"{where}: found a list or table. Allowed: one value. Give one.")
        given = [given]
    if any(isinstance(item, bool) != option.is_flag for item in (given if option.multiple else [given])):
        allowed = "true or false, without quotation marks" if option.is_flag else "a text or a number"
        raise InputError(f"{where}: found {given!r}. Allowed: {allowed}.")
    try:
        option.type_cast_value(ctx, given)
    except click.BadParameter as error:
        raise InputError(f"{where}: {error.message}") from None
    return given


common = apply(
    [
        click.option(
            "--config",
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=_load_config,
            help="TOML file with options; the command line wins.",
        ),
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
    ]
)

reading = apply(
    [
        *format_options.READING,
        click.option("--token-id", type=click.IntRange(1), metavar="COLUMN", help="Column of the token IDs."),
        click.option(
            "--document-id",
            type=click.IntRange(1),
            metavar="COLUMN",
            help="Column of document IDs, for files without document tags.",
        ),
        click.option(
            "--column",
            "columns",
            type=NamedColumn(),
            multiple=True,
            help="A named column whose values metrics can be grouped by; repeatable.",
        ),
        click.option(
            "--space-column",
            type=click.IntRange(1),
            metavar="COLUMN",
            help="Column that says whether a space follows (SpaceAfter=No, 0, no: none).",
        ),
        click.option("--document-tag", default="text", show_default=True, help="XML element of a document."),
        click.option("--sentence-tag", default="s", show_default=True, help="XML element of a sentence."),
    ]
)

two_sides = apply(
    [
        *format_options.TWO_SIDES,
        click.option(
            "--bio",
            type=click.Choice(["lenient", "strict"]),
            default="lenient",
            show_default=True,
            help="Whether an I- tag that continues nothing opens a span or is an error.",
        ),
    ]
)

scoring = apply(
    [
        click.option(
            "--level",
            type=click.Choice(LEVEL_NAMES),
            default="overlap",
            show_default=True,
            help="How lenient a match may be, for the headline and the cases.",
        ),
        click.option("--labelled", metavar="LAYER", help="Labels of this layer must agree, too."),
        click.option(
            "--merge/--no-merge",
            "merged",
            default=True,
            show_default=True,
            help="Several layers: one sequence of merged spans, or each layer by itself.",
        ),
        click.option("--by", multiple=True, metavar="KEY", help="Group by this metadata key; repeatable."),
        click.option(
            "--beta",
            type=click.FloatRange(0, min_open=True),
            default=2.0,
            show_default=True,
            help="Weight of recall in F-beta.",
        ),
        click.option("--seed", type=int, default=20240, show_default=True, help="Seed of the bootstrap."),
        click.option(
            "--replicates",
            type=click.IntRange(0),
            default=1000,
            show_default=True,
            help="Bootstrap replicates over documents; 0 gives no intervals.",
        ),
    ]
)


def _language(ctx: click.Context, param: click.Parameter, value: str) -> str:
    from clueval_xlsx.words import languages

    if value not in languages():
        raise click.BadParameter(f"{value!r} is not one of {', '.join(languages())}.", ctx, param)
    return value


password = click.option(
    "--password-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File whose first line is the workbooks' password; or set CLUEVAL_PASSWORD.",
)

review = apply(
    [
        click.option(
            "--lang", default="en", show_default=True, callback=_language, help="Language of the outputs: en, de."
        ),
        click.option("--contact", default="", metavar="TEXT", help="Whom the judge sends the workbook back to."),
        click.option("--protect", is_flag=True, help="Lock the cells that are not for judging."),
        click.option(
            "--max-rows",
            type=click.IntRange(1, 1_048_570),
            default=1_048_570,
            metavar="N",
            help="Continue on a further sheet after N cases.",
        ),
        click.option("--force", is_flag=True, help="Overwrite a workbook that has judgements in it."),
    ]
)


def review_options(given: dict[str, Any]) -> ReviewOptions:
    """How the review workbook is to look, from the command's keyword arguments."""
    from clueval_xlsx.workbook import ReviewOptions

    return ReviewOptions(
        lang=given["lang"], contact=given["contact"], protect=given["protect"], max_rows=given["max_rows"]
    )


def read_options(given: dict[str, Any], side: str = "") -> ReadOptions:
    """Reading options from the command's keyword arguments; `side` is gold, pred or nothing."""
    from clueval_xlsx.loading import ReadOptions

    layers = given.get(f"{side}_layers") or given["layers"]
    names = [name for name, _ in layers]
    if len(set(names)) < len(names):
        raise OptionError(f"a layer is named twice: {', '.join(names)}. Give each layer its own name.")
    return ReadOptions(
        format=_own(given, side, "format", "format_"),
        layers=dict(layers),
        token_id=given["token_id"],
        document_id=given["document_id"],
        columns=dict(given["columns"]),
        space_column=given["space_column"],
        document_tag=given["document_tag"],
        sentence_tag=given["sentence_tag"],
        text=_own(given, side, "text"),
        overlaps=_own(given, side, "overlaps"),
        offsets=given["offsets"],
        annotator=_own(given, side, "annotator"),
    )


def _own(given: dict[str, Any], side: str, name: str, common_name: str = "") -> Any:
    """An option of one side, or the one of both."""
    return given.get(f"{side}_{name}") or given[common_name or name]


def read_input(path: str, given: dict[str, Any], side: str = "") -> Reading:
    """Read one input; `-` is standard input."""
    from clueval_xlsx.loading import read

    options = read_options(given, side)
    if path == "-":
        return read(sys.stdin.buffer, options, name="<standard input>")
    return read(path, options)


def load_pair(gold: str, pred: str, given: dict[str, Any]) -> Pair:
    """Read both sides and bring them together; one of them may be `-`, standard input."""
    from clueval_xlsx.loading import read_sides
    from clueval_xlsx.pairing import make_pair

    if gold == pred == "-":
        raise OptionError("only one side can come from standard input. Give a file for the other.")
    names = ("<standard input>" if gold == "-" else None, "<standard input>" if pred == "-" else None)
    sides = read_sides(
        sys.stdin.buffer if gold == "-" else gold,
        sys.stdin.buffer if pred == "-" else pred,
        read_options(given, "gold"),
        read_options(given, "pred"),
        names=names,
    )
    return make_pair(*sides, strict_tags=given["bio"] == "strict", align=given["align"] == "text")


def evaluation_options(given: dict[str, Any]) -> Options:
    """Evaluation options from the command's keyword arguments."""
    from clueval_xlsx.evaluation import Options

    return Options(
        level=given["level"],
        labelled=given["labelled"],
        beta=given["beta"],
        by=tuple(given["by"]),
        seed=given["seed"],
        replicates=given["replicates"],
        context=given.get("context"),
    )
