"""A comparison of systems as tables for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from clueval_xlsx.cases.kinds import FN
from clueval_xlsx.comparison import IDENTITY, Comparison
from clueval_xlsx.outputs.terminal.tables import rate
from clueval_xlsx.views.scheme_words import short_name

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_ROOM, _WIDE_ROOM = 22, 34  # the columns that one system needs, without and with intervals
_SHOWN = {"recall": "Recall", "precision": "Precision", "f_beta": "F{beta}"}


def comparison_tables(comparison: Comparison, width: int = 80) -> list[RenderableType]:
    """Recall, precision and F-beta of all systems, what distinguishes them from the first; errors alone and shared."""
    from rich.text import Text

    beta = comparison.systems[0].evaluation.options.beta
    found: list[RenderableType] = [
        table
        for key, title in _SHOWN.items()
        for table in _rates(comparison, key, f"{title.format(beta=f'{beta:g}')} in per cent", width)
    ]
    replicates = comparison.systems[0].evaluation.options.replicates
    if replicates:
        found.append(
            Text(
                f"Differences to {comparison.names[0]} in percentage points, 95 % interval by paired bootstrap, p by "
                f"approximate randomisation ({replicates} times, over {len(comparison.documents)} documents).",
                style="dim",
            )
        )
    found += [Text(), _errors(comparison), Text()]
    return found


def _rates(comparison: Comparison, key: str, title: str, width: int) -> list[Table]:
    """One rate of all systems: in one table if the terminal has room for it, else one for each pair of systems."""
    first, *others = comparison.names
    differences = comparison.differences
    chosen = differences[(differences["rate"] == key) & (differences["first"] == first)]
    by_row: dict[str, dict[str, dict[Any, Any]]] = {}
    for row in chosen.to_dict("records"):
        by_row.setdefault(short_name({name: row[name] for name in IDENTITY}), {})[row["second"]] = row
    room = width - max(map(len, by_row), default=0) - 10
    # Value, difference with interval, p: what does not fit is left out, the interval first.
    if room >= _ROOM * len(others):
        return [_rate_table(title, first, others, by_row, wide=room >= _WIDE_ROOM * len(others))]
    tables = [_rate_table(title, first, [other], by_row, wide=room >= _WIDE_ROOM) for other in others]
    if room < _ROOM:  # not even for one pair: the names of the rows go on in further lines
        for table in tables:
            table.columns[0].no_wrap = False
    return tables


def _rate_table(
    title: str, first: str, others: list[str], by_row: dict[str, dict[str, dict[Any, Any]]], *, wide: bool
) -> Table:
    from rich.text import Text

    table = _table(title)
    table.add_column("", no_wrap=True)
    table.add_column(Text(first), justify="right", overflow="fold", min_width=5)
    for name in others:
        table.add_column(Text(name), justify="right", overflow="fold", min_width=5)
        table.add_column("difference" if wide else "diff.", justify="right", no_wrap=True, min_width=5)
        table.add_column("p", justify="right", no_wrap=True, min_width=5)
    for row_name, found in by_row.items():
        cells = [rate(found[others[0]]["first_value"])]
        for name in others:
            row = found[name]
            cells += [rate(row["second_value"]), _difference(row, wide), _chance(row["p"])]
        if any(cell not in {"n/a", ""} for cell in cells):
            table.add_row(Text(row_name), *cells)
    return table


def _difference(row: dict[Any, Any], wide: bool) -> str:
    if math.isnan(row["difference"]):
        return ""
    text = f"{100 * row['difference']:+.1f}"
    if wide and not math.isnan(row["low"]):
        text += f" [{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]"
    return text


def _chance(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}" if value >= 0.001 else "<0.001"


def _errors(comparison: Comparison) -> Table:
    from rich.text import Text

    table = _table("Errors alone and shared")
    table.add_column("made by", overflow="fold")
    table.add_column("missed", justify="right")
    table.add_column("unsupported", justify="right")
    counts: dict[tuple[str, ...], dict[str, int]] = {}
    for row in comparison.shared.to_dict("records"):
        counts.setdefault(row["systems"], {})[row["sheet"]] = row["count"]
    for systems, found in counts.items():
        name = f"{systems[0]} alone" if len(systems) == 1 else " + ".join(systems)
        table.add_row(Text(name), *(str(found.get(sheet, 0)) for sheet in (FN, "FP")))
    return table


def _table(title: str) -> Table:
    from rich import box
    from rich.table import Table

    return Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
