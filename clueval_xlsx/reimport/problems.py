"""Rows that cannot be used, with a reason that the report can say in any language."""

from __future__ import annotations

from dataclasses import dataclass

from clueval_xlsx.exceptions import Problem


@dataclass(frozen=True)
class RowProblem(Problem):
    """A problem of a workbook row. `reason` is a key of the language files (`unusable.KEY`), `value` what was found."""

    reason: str = ""
    value: str = ""
