"""Options from a TOML file: every option of the command line under its own name."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.toml_source import parse_toml

JUDGEMENT_TABLES = "judgements"


def parse_config(content: bytes, name: str) -> dict[str, Any]:
    """Read TOML; dashes in keys become underscores."""
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
        _check(key, everywhere, name)
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


def _check(key: str, known: Collection[str], name: str) -> None:
    if key in known:
        return
    close = difflib.get_close_matches(key, known, n=1)
    hint = f" Did you mean {close[0].replace('_', '-')!r}?" if close else ""
    allowed = ", ".join(sorted(option.replace("_", "-") for option in known))
    raise InputError(f"{name}: unknown key {key.replace('_', '-')!r}.{hint} Allowed: {allowed}.")
