"""Options that this call does not use: an error that says what they belong to, not silence.

Only what somebody typed is looked at, never a key of a config file, which serves several commands.
"""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.core import ParameterSource

from clueval_xlsx.exceptions import OptionError


def refuse_idle(names: Iterable[str], belongs_to: str) -> None:
    """Refuse the first of these options that was typed on the command line."""
    context = click.get_current_context()
    known = {param.name: param for param in context.command.params}
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = max(known[name].opts, key=len)
            raise OptionError(f"{option} has no effect here: it belongs to {belongs_to}. Leave it out, or add that.")
