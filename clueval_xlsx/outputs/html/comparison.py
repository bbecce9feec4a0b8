"""The page on a comparison: systems side by side, their differences with paired tests, errors alone and shared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clueval_xlsx.cases.contexts import GOLD, PRED
from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.report import ShownCase
from clueval_xlsx.outputs.html.tables import TextTable, text_table
from clueval_xlsx.views.numbers import decimal, rate
from clueval_xlsx.views.overview import Bar, ScoreRow, ScoreTable, error_name
from clueval_xlsx.views.scheme_words import row_name, scheme_name, scheme_sentence
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.comparison import Comparison

# Errors of each sheet that are listed in their sentences; the workbook has them all.
LISTED_CASES = 100
_RATES = ("recall", "precision", "f_beta")
_IDENTITY = ("scheme", "variant", "level", "labelled")


def comparison_html(comparison: Comparison, language: str = "en") -> str:
    """The comparison as one HTML file without a script."""
    words = Words(language)
    first = comparison.systems[0].evaluation
    beta = f"F{first.options.beta:g}".replace(".", words["html.decimal"])
    titles = {"recall": words["html.recall"], "precision": words["html.precision"], "f_beta": beta}
    schemes = dict.fromkeys(comparison.metrics["scheme"])
    errors = comparison.errors
    return render_page(
        "comparison.html",
        words,
        comparison=comparison,
        first=first,
        headline=_headline(comparison, words),
        differences=[_differences(comparison, key, titles[key], words) for key in _RATES],
        shared=[(words[f"html.{key}"], _shared(comparison, sheet, mark, words)) for sheet, key, mark in _SHEETS],
        schemes=[(scheme_name(scheme, words), scheme_sentence(scheme, words)) for scheme in schemes],
        lists=[
            (
                key,
                words[f"compare.title_{sheet.lower()}"],
                [
                    _case(row, comparison, words)
                    for row in errors[errors["sheet"] == sheet].head(LISTED_CASES).to_dict("records")
                ],
                int((errors["sheet"] == sheet).sum()),
            )
            for sheet, key, _ in _SHEETS
        ],
    )


_SHEETS = ((FN, "missed", GOLD), (FP, "unsupported", PRED))


def _headline(comparison: Comparison, words: Words) -> ScoreTable:
    """The headline of every system."""
    rows = [ScoreRow(system.name, system.evaluation.headline.to_dict()) for system in comparison.systems]
    return ScoreTable("systems", words["html.systems"], words["html.system"], rows)


def _differences(comparison: Comparison, key: str, title: str, words: Words) -> TextTable:
    """One rate of all systems, and what distinguishes each from the first."""
    names = comparison.names
    header = [words["compare.metric"], names[0]]
    for name in names[1:]:
        header += [name, words["compare.difference"], words["compare.interval"], words["compare.p"]]
    table = comparison.differences
    chosen = table[(table["rate"] == key) & (table["first"] == names[0])]
    rows: dict[tuple[Any, ...], list[str]] = {}
    for record in chosen.to_dict("records"):
        if math.isnan(record["first_value"]) and math.isnan(record["second_value"]):
            continue
        identity = tuple(record[name] for name in _IDENTITY)
        named = f"{scheme_name(record['scheme'], words)}: {row_name(record, words)}"
        row = rows.setdefault(identity, [named, rate(record["first_value"], words)])
        row += [
            rate(record["second_value"], words),
            _signed(record["difference"], words),
            _range(record["low"], record["high"], words),
            decimal(record["p"], 3, words),
        ]
    return text_table(f"difference-{key}", title, header, list(rows.values()), words["html.none"])


def _signed(value: float, words: Words) -> str:
    """A difference in percentage points, with its sign."""
    if math.isnan(value):
        return words["undefined"]
    return f"{'+' if value >= 0 else '−'}{decimal(100 * abs(value), 1, words)}"


def _range(low: float, high: float, words: Words) -> str:
    return "" if math.isnan(low) or math.isnan(high) else f"{_signed(low, words)} … {_signed(high, words)}"


def _shared(comparison: Comparison, sheet: str, mark: str, words: Words) -> list[Bar]:
    shared = comparison.shared
    return [
        Bar(_makers(row["systems"], words), row["count"], mark)
        for row in shared[shared["sheet"] == sheet].to_dict("records")
    ]


def _makers(systems: tuple[str, ...], words: Words) -> str:
    return words("compare.alone", name=systems[0]) if len(systems) == 1 else " + ".join(systems)


def _case(row: Mapping[Any, Any], comparison: Comparison, words: Words) -> ShownCase:
    """An error with who makes it, and how each system errs."""
    layers = comparison.systems[0].evaluation.pair.layers
    labels = ", ".join(row[f"label_{layer}"] for layer in layers if row[f"label_{layer}"]) or "–"
    found = [(name, row[f"class_{number}"]) for number, name in enumerate(comparison.names)]
    how = "; ".join(f"{name}: {error_name(row['sheet'], kind, words)}" for name, kind in found if kind)
    missed = row["sheet"] == FN
    return ShownCase(
        row["case_id"],
        row["sheet"],
        _makers(row["systems"], words),
        row["document"],
        row["sentence"] or None,
        labels if missed else words["html.nothing"],
        how if missed else f"{labels} ({how})",
        row["segments"],
        relaxed=False,
    )
