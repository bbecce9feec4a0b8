"""The two functions of scipy.special that intervals need, without loading the whole package.

scipy.special loads every array library that it could be used with, and with them parts of numpy that nobody needs
here: a third of the time in which pandas is loaded, for a command that prints a table in less. The functions
themselves are in one extension module of it.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"
_BELOW = ("scipy.linalg",)  # from scipy 1.18 on, the extension asks it for another extension


@cache
def beta_and_t() -> tuple[Any, Any]:
    """`betaincinv` and `stdtrit`."""
    if _PACKAGE not in sys.modules:
        try:
            return _from_extension()
        except (ImportError, AttributeError):  # another version keeps them elsewhere
            pass
    from scipy.special import betaincinv, stdtrit

    return betaincinv, stdtrit


def _from_extension() -> tuple[Any, Any]:
    """Load the extension as if its packages were there; they themselves can still be loaded afterwards."""
    scipy = import_module("scipy")
    hollow = [name for name in (_PACKAGE, *_BELOW) if name not in sys.modules]
    for name in hollow:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [f"{folder}/{name.rpartition('.')[2]}" for folder in scipy.__path__]
    try:
        extension = import_module(f"{_PACKAGE}._ufuncs")
    finally:
        for name in hollow:
            del sys.modules[name]
    return extension.betaincinv, extension.stdtrit
