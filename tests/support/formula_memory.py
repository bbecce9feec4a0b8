"""XlsxWriter remembers what it made of a formula.

It looks for thirty names of newer functions in each, one regular expression after the other, and the workbooks of the
tests have mostly the same formulas: that took a tenth of the time.
"""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from xlsxwriter.worksheet import Worksheet


def remember_formulas() -> None:
    """From now on, in this process; the results are the library's own."""
    original: Any = getattr(Worksheet, "_prepare_formula", None)
    if original is None:  # another version
        return

    @lru_cache(maxsize=20_000)
    def prepared(formula: str, expand: bool, future: bool) -> str:
        return original(SimpleNamespace(use_future_functions=future), formula, expand)

    def remembered(self: Any, formula: str, expand_future_functions: bool = False) -> str:
        return prepared(formula, expand_future_functions, self.use_future_functions)

    Worksheet._prepare_formula = remembered
