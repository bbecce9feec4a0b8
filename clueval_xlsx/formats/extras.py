"""Libraries that only some formats need: imported when they are used, and named with the way to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from clueval_xlsx.exceptions import OptionError


def need(module: str, extra: str, what: str) -> Any:
    """A library of an extra; without it the message says what needs it and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise OptionError(
            f"{what} by a library that is not installed: install clueval-xlsx[{extra}] "
            f'(pip install "clueval-xlsx[{extra}]").'
        ) from None
