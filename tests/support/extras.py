"""Optional parts that tests need: without them they skip and say how to get them; in CI they must be there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from clueval_xlsx.formats.registry import format_named
from tests.support.ci import PROGRAMS_REQUIRED

_MODULES = {"dask": "distributed", "parquet": "pyarrow"}


def needed(extra: str, module: str = "") -> Any:
    """A module of an extra, by default the one that it is there for."""
    name = module or _MODULES.get(extra, extra)
    if PROGRAMS_REQUIRED:
        return import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: pip install clueval-xlsx[{extra}]")


def needed_by(format_: str) -> None:
    """What a format needs to be read and written."""
    extra = format_named(format_).extra
    if extra:
        needed(extra)
