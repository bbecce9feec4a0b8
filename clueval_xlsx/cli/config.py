"""`--config`: options, judgements and label words of a project from a TOML file, checked like the command line's."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.exceptions import InputError, did_you_mean

if TYPE_CHECKING:
    from clueval_xlsx.review.judgements import JudgementKind

JUDGEMENT_TABLES = "judgements"
CONFIG_FILE = "clueval_xlsx.cli.config.file"  # the key under which a command remembers where its config is
LABEL_TABLE = "labels"
_OWN_JUDGEMENTS = "clueval_xlsx.cli.config.judgements"
_LABEL_WORDS = "clueval_xlsx.cli.config.labels"


def load_config(ctx: click.Context, _param: click.Parameter, value: str | None) -> None:
    """Take defaults from the file given to `--config`."""
    if value is None:
        return
    from clueval_xlsx.review.judgements import custom_judgements

    ctx.meta[CONFIG_FILE] = value
    group = ctx.parent.command if ctx.parent else ctx.command
    commands = group.commands if isinstance(group, click.Group) else {}
    known = {name: config_keys(command) for name, command in commands.items()}
    try:
        content = Path(value).read_bytes()
    except OSError as error:
        raise InputError(f"{value}: cannot be read: {error.strerror}. Check the path given to --config.") from None
    command = ctx.info_name or ""
    config, judgements = split_judgements(parse_config(content, value), value)
    ctx.meta[_LABEL_WORDS] = checked_label_words(config.pop(LABEL_TABLE, {}), value)
    ctx.meta[_OWN_JUDGEMENTS] = custom_judgements(judgements, value)
    found = options_for(command, config, known, value)
    ctx.default_map = {
        known[command][key].name: _checked(known[command][key], given, ctx, f"{value}: {key.replace('_', '-')}")
        for key, given in found.items()
    }


def own_judgements() -> tuple[JudgementKind, ...]:
    """The judgements that the project defines in its config."""
    found: tuple[JudgementKind, ...] = click.get_current_context().meta.get(_OWN_JUDGEMENTS, ())
    return found


def label_words() -> dict[str, str]:
    """What the project's labels mean, as its config says."""
    found: dict[str, str] = click.get_current_context().meta.get(_LABEL_WORDS, {})
    return found


def checked_label_words(table: Any, name: str) -> dict[str, str]:
    """The table `[labels]`: each label with what it means.

    >>> checked_label_words({"PER": " natural  persons "}, "a.toml")
    {'PER': 'natural persons'}
    """
    if not isinstance(table, dict):
        raise InputError(f'{name}: labels must be a table. Write [labels], then PERSON = "what it means" and so on.')
    for label, meaning in table.items():
        if not isinstance(meaning, str) or not meaning.strip():
            raise InputError(f"{name}, [labels]: {label}: found {meaning!r}. Allowed: words that say what it means.")
    return {label: " ".join(meaning.split()) for label, meaning in table.items()}


def config_keys(command: click.Command) -> dict[str, click.Option]:
    """The options of a command that a config file may set, by the names they have on the command line."""
    return {
        name.removeprefix("--").replace("-", "_"): param
        for param in command.params
        if isinstance(param, click.Option) and param.name not in {"config", "debug", "help_all"}
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


def parse_config(content: bytes, name: str) -> dict[str, Any]:
    """Read TOML; dashes in keys become underscores."""
    from clueval_xlsx.files.typed_values import parse_toml

    try:
        parsed = parse_toml(content)
    except ValueError as error:
        raise InputError(f"{name}: {error}.") from None
    return {key.replace("-", "_"): value for key, value in parsed.items()}


def split_judgements(config: Mapping[str, Any], name: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The options of a config, and the judgements of a project's own: the tables `[judgements.CODE]`."""
    tables = config.get(JUDGEMENT_TABLES, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InputError(f'{name}: judgements must be tables. Write [judgements.CODE] with effect = "…" and en = "…".')
    return {key: value for key, value in config.items() if key != JUDGEMENT_TABLES}, tables


def options_for(
    command: str, config: Mapping[str, Any], known: Mapping[str, Collection[str]], name: str
) -> dict[str, Any]:
    """The options that a config gives to one command, by their names on the command line.

    Keys at the top hold for every command that has such an option; a table with a command's name holds for that
    command alone. `known` lists the options of every command. Tables such as `[layer]` become `KEY=VALUE` pairs.

    >>> options_for("score", {"seed": 1, "layer": {"risk": 3}}, {"score": ["layer"], "evaluate": ["seed"]}, "a.toml")
    {'layer': ['risk=3']}
    """
    everywhere = set().union(*known.values())
    commands = {other.replace("-", "_") for other in known}
    chosen: dict[str, Any] = {}
    for key, value in config.items():
        if key in commands and isinstance(value, dict):
            continue
        sections = {*commands, LABEL_TABLE, JUDGEMENT_TABLES} if isinstance(value, dict) else set()
        _check(key, everywhere, name, sections)
        if key in known[command]:
            chosen[key] = as_option(value)
    own = config.get(command.replace("-", "_"))
    if isinstance(own, dict):
        for raw, value in own.items():
            key = raw.replace("-", "_")
            _check(key, known[command], f"{name}, [{command}]")
            chosen[key] = as_option(value)
    return chosen


def as_option(value: Any) -> Any:
    """A TOML value as the command line would give it: tables become lists of `KEY=VALUE`."""
    if isinstance(value, dict):
        return [f"{key}={item}" for key, item in value.items()]
    return value


def _check(key: str, known: Collection[str], name: str, sections: Collection[str] = ()) -> None:
    """Refuse a key that is none; a table may also be meant as one of the sections."""
    if key in known:
        return
    hint = did_you_mean(key, {*known, *sections}).replace("_", "-")
    allowed = ", ".join(sorted(option.replace("_", "-") for option in known))
    also = f"; sections: {', '.join(f'[{section}]' for section in sorted(sections))}" if sections else ""
    raise InputError(f"{name}: unknown key {key.replace('_', '-')!r}.{hint} Allowed: {allowed}{also}.")
