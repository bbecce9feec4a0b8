"""How the tests run: where nobody watches, so that what is missing is a failure, and how thoroughly."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

IN_CI = bool(os.environ.get("CI"))
# `nox --sessions properties`: every case of a sweep of which the usual run tries some.
THOROUGH = bool(os.environ.get("CLUEVAL_THOROUGH"))
# A test that needs LibreOffice, Chromium or an optional part must run: skipping it is a failure.
PROGRAMS_REQUIRED = bool(os.environ.get("CLUEVAL_REQUIRE_PROGRAMS"))


def some_of(cases: Iterable[T], step: int = 2) -> list[T]:
    """The cases of a sweep that the usual run tries: one of so many; the thorough run tries all."""
    return list(cases)[:: 1 if THOROUGH else step]
