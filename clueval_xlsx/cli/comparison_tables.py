"""A comparison of systems as tables for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from clueval_xlsx.cli.tables import rate
from clueval_xlsx.comparison import IDENTITY, Comparison
from clueval_xlsx.layout import FN
from clueval_xlsx.scheme_words import short_name

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_SHOWN = {"recall": "Recall", "precision": "Precision", "f_beta": "F{beta}"}


def comparison_tables(comparison: Comparison, width: int = 80) -> list[RenderableType]:
    """Recall, precision and F-beta of all systems, what distinguishes them from the first; errors alone and shared."""
    from rich.text import Text

    beta = comparison.systems[0].evaluation.options.beta
    found: list[RenderableType] = [
        _rates(comparison, key, title.format(beta=f"{beta:g}"), width) for key, title in _SHOWN.items()
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


def _rates(comparison: Comparison, key: str, title: str, width: int) -> Table:
    from rich.text import Text

    names = comparison.names
    differences = comparison.differences
    chosen = differences[(differences["rate"] == key) & (differences["first"] == names[0])]
    by_row: dict[str, dict[str, dict[Any, Any]]] = {}
    for row in chosen.to_dict("records"):
        by_row.setdefault(short_name({name: row[name] for name in IDENTITY}), {})[row["second"]] = row
    table = _table(f"{title} in per cent")
    table.add_column("", no_wrap=True)
    table.add_column(Text(names[0]), justify="right", overflow="fold")
    # Value, difference with interval, p: what does not fit is left out, the interval first.
    longest = max(map(len, by_row), default=0)
    wide = width - longest - 10 >= 34 * (len(names) - 1)
    for name in names[1:]:
        table.add_column(Text(name), justify="right", overflow="fold")
        table.add_column("difference", justify="right", no_wrap=True)
        table.add_column("p", justify="right", no_wrap=True)
    for row_name, others in by_row.items():
        cells = [rate(next(iter(others.values()))["first_value"])]
        for name in names[1:]:
            row = others[name]
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
