"""Options that this call does not use: an error that says what they belong to, not silence.

Only what somebody typed is looked at, never a key of a config file, which serves several commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import click
from click.core import ParameterSource

from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.registry import DETECTOR, FORMATS

_OF_FORMATS = frozenset(name for each in FORMATS for name in each.uses)
_NAMED = 4  # formats that a message names


def is_typed(name: str) -> bool:
    """Whether an option was typed on the command line."""
    return name in _typed()


def refuse_idle(names: Iterable[str], belongs_to: str) -> None:
    """Refuse the first of these options that was typed on the command line."""
    typed = _typed()
    for name in names:
        if name in typed:
            raise OptionError(
                f"{typed[name]} has no effect here: it belongs to {belongs_to}. Leave it out, or add that."
            )


def refuse_idle_reading(formats: Mapping[str, Iterable[str]]) -> None:
    """Refuse the first option of reading that was typed but means nothing for the formats of the inputs.

    `formats` are the names of those of each side (gold, pred), or of all that is read, whatever they are called.
    """
    known = {each.name: each for each in (*FORMATS, DETECTOR)}
    found = {side: [known[name] for name in names] for side, names in formats.items()}
    everything = [each for own in found.values() for each in own]
    for name, option in _typed().items():
        side, _, rest = name.partition("_")
        own, concerned = (rest, found[side]) if side in found else (name, everything)
        if own in _OF_FORMATS and not any(own in each.uses for each in concerned):
            titles = [each.title for each in FORMATS if own in each.uses and not each.needs_text]
            shown = ", ".join(titles[:_NAMED]) + (" and others" if len(titles) > _NAMED else "")
            given = " and ".join(dict.fromkeys(each.title for each in concerned))
            raise OptionError(f"{option} has no effect here: it belongs to {shown}, not to {given}. Leave it out.")


def _typed() -> dict[str, str]:
    """The options that were typed on the command line, by their names in the program."""
    context = click.get_current_context()
    return {
        param.name: max(param.opts, key=len)
        for param in context.command.params
        if param.name is not None and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
    }
