"""`--config`: options and judgements of a project's own from a TOML file, checked like the command line's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.exceptions import InputError

if TYPE_CHECKING:
    from clueval_xlsx.review.vocabulary import Judgement

_OWN_JUDGEMENTS = "clueval_xlsx.review.log"


def load_config(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Take defaults from the file given to `--config`."""
    if value is None:
        return
    from clueval_xlsx.cli.config import options_for, parse_config, split_judgements
    from clueval_xlsx.review.vocabulary import custom_judgements

    group = ctx.parent.command if ctx.parent else ctx.command
    commands = group.commands if isinstance(group, click.Group) else {}
    known = {name: config_keys(command) for name, command in commands.items()}
    try:
        content = Path(value).read_bytes()
    except OSError as error:
        raise InputError(f"{value}: cannot be read: {error.strerror}. Check the path given to --config.") from None
    command = ctx.info_name or ""
    config, judgements = split_judgements(parse_config(content, value), value)
    ctx.meta[_OWN_JUDGEMENTS] = custom_judgements(judgements, value)
    found = options_for(command, config, known, value)
    ctx.default_map = {
        known[command][key].name: _checked(known[command][key], given, ctx, f"{value}: {key.replace('_', '-')}")
        for key, given in found.items()
    }


def own_judgements() -> tuple[Judgement, ...]:
    """The judgements that the project defines in its config."""
    found: tuple[Judgement, ...] = click.get_current_context().meta.get(_OWN_JUDGEMENTS, ())
    return found


def config_keys(command: click.Command) -> dict[str, click.Option]:
    """The options of a command that a config file may set, by the names they have on the command line."""
    return {
        name.removeprefix("--").replace("-", "_"): param
        for param in command.params
        if isinstance(param, click.Option) and param.name not in {"config", "debug"}
        for name in param.opts
        if name.startswith("--")
    }


def _text(item: Any) -> Any:
    """A number or a date as the command line would give it: options of every type take texts."""
    return item if isinstance(item, str | bool | list | dict) else str(item)


def _checked(option: click.Option, given: Any, ctx: click.Context, where: str) -> Any:
    """A value from a config file, refused with its place if the option does not take it."""
    if isinstance(given, list) != option.multiple:
        if isinstance(given, list):
            raise InputError(f"{where}: found a list or table. Allowed: one value. Give one.")
        given = [given]
    if any(isinstance(item, bool) != option.is_flag for item in (given if option.multiple else [given])):
        allowed = "true or false, without quotation marks" if option.is_flag else "a text or a number"
        raise InputError(f"{where}: found {given!r}. Allowed: {allowed}.")
    given = [_text(item) for item in given] if option.multiple else _text(given)
    try:
        option.type_cast_value(ctx, given)
    except click.BadParameter as error:
        raise InputError(f"{where}: {error.message}") from None
    return given
