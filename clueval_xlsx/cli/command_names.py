"""The commands by their names: a module is loaded when its command is asked for."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from importlib import import_module

import click

_ATTRIBUTES = {"help": "help_command"}  # where the command is not called as its module


class CommandsByName(MutableMapping[str, click.Command]):
    """Commands in a given order, each loaded when it is first looked at."""

    def __init__(self, names: Sequence[str]) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> click.Command:
        command = self._loaded[name]
        if command is None:
            command = self._loaded[name] = _load(name)
        return command

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)


def _load(name: str) -> click.Command:
    """The command; all but `help` first settle what a killed run left behind."""
    from clueval_xlsx.cli.writing import settled

    module = import_module(f"clueval_xlsx.cli.{name}")
    command: click.Command = getattr(module, _ATTRIBUTES.get(name, name))
    if name not in _ATTRIBUTES and command.callback is not None:
        command.callback = settled(command.callback)
    return command
