"""A comparison of systems: their headlines, what distinguishes them, the errors each makes alone or with others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED, SOME, Segment
from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.comparison import IDENTITY, Comparison
from clueval_xlsx.pages.scheme_words import full_row_name, scheme_name, scheme_sentence
from clueval_xlsx.review.case_words import class_name, spans_name
from clueval_xlsx.views import numbers
from clueval_xlsx.views.overview import Bar, BarPlot
from clueval_xlsx.views.scores import ScoreTable, level_sentence, score_view
from clueval_xlsx.views.tables import TableColumn, TableRow, TableValue, TableView, ValueKind
from clueval_xlsx.views.verdicts import DifferencePlot, difference_plot, verdict_sentences
from clueval_xlsx.words import Words

_RATES = ("recall", "precision", "f_beta")
MARKS = (BOTH, SOME, GOLD, PRED)  # of the words in the contexts of a comparison
_SHEETS: Mapping[str, str] = {FN: GOLD, FP: PRED}


@dataclass(frozen=True)
class SystemValue:
    """One rate of one system, and what distinguishes it from the first."""

    value: float
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class DifferenceRow:
    """One rate of every system; `others` are in the order of the systems behind the first."""

    name: str
    first: float
    others: tuple[SystemValue, ...]


@dataclass(frozen=True)
class DifferenceTable:
    """One rate, row by row of the score table."""

    key: str
    title: str
    systems: tuple[str, ...]
    rows: tuple[DifferenceRow, ...]


@dataclass(frozen=True)
class ComparedCase:
    """An error that at least one system makes: who makes it, and how each system errs (nothing: it does not)."""

    case_id: str
    sheet: str
    document: str
    sentence: str
    surface: str
    labels: tuple[str, ...]
    makers: str
    classes: tuple[str, ...]
    context: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class ComparedCases:
    """The errors of one sheet."""

    sheet: str
    title: str
    cases: tuple[ComparedCase, ...]  # first what one system alone gets wrong
    alone: int  # how many these are


@dataclass(frozen=True)
class ComparisonView:
    """Everything that is shown of a comparison, in the order in which it is shown."""

    reference: str
    systems: tuple[str, ...]
    layers: tuple[str, ...]
    verdicts: tuple[str, ...]  # what the others do better or worse than the first, in words
    chosen: str
    headline: ScoreTable
    plot: DifferencePlot
    explained: str  # how differences, intervals and p-values were made
    differences: tuple[DifferenceTable, ...]
    shared: TableView
    shared_bars: tuple[BarPlot, ...]
    schemes: tuple[tuple[str, str], ...]
    cases: tuple[ComparedCases, ...]
    signature: str
    notes: tuple[str, ...]


def comparison_view(comparison: Comparison, words: Words) -> ComparisonView:
    """What is shown of a comparison."""
    first = comparison.systems[0].evaluation
    names = tuple(comparison.names)
    schemes = dict.fromkeys(comparison.metrics["scheme"])
    return ComparisonView(
        PurePath(first.pair.gold.source.name).name,
        names,
        first.pair.layers,
        verdict_sentences(comparison, words),
        level_sentence(first.options, words),
        _headline(comparison, words),
        difference_plot(comparison, words),
        _explained(comparison, words),
        tuple(_differences(comparison, key, words) for key in _RATES),
        _shared(comparison, words),
        tuple(_shared_bars(comparison, sheet, words) for sheet in _SHEETS),
        tuple((scheme_name(scheme, words), scheme_sentence(scheme, words)) for scheme in schemes),
        tuple(_cases(comparison, sheet, words) for sheet in _SHEETS),
        comparison.signature,
        comparison.notes,
    )


def _explained(comparison: Comparison, words: Words) -> str:
    """How differences, intervals and p-values were made."""
    replicates = comparison.systems[0].evaluation.options.replicates
    return words(
        "compare.differences" if replicates else "compare.differences_alone",
        first=comparison.names[0],
        documents=numbers.count(len(comparison.documents), words),
        replicates=numbers.count(replicates, words),
        tests=numbers.count(comparison.tests, words),
    )


def difference_table(table: DifferenceTable, words: Words) -> TableView:
    """One rate of all systems as columns: the first, and for each other its value, difference, interval and p."""
    columns = [TableColumn("name", words["metrics.scheme"]), TableColumn("first", table.systems[0], ValueKind.RATE)]
    for name in table.systems[1:]:
        columns += [
            TableColumn("value", name, ValueKind.RATE),
            TableColumn("difference", words["compare.points"], ValueKind.POINTS),
            TableColumn("interval", words["compare.interval"], ValueKind.POINTS_INTERVAL),
            TableColumn("p", words["compare.p"], ValueKind.CHANCE),
        ]
    rows = []
    for row in table.rows:
        cells: list[TableValue] = [row.name, row.first]
        for other in row.others:
            cells += [other.value, other.difference, (other.low, other.high), other.p]
        rows.append(tuple(cells))
    return TableView(f"difference-{table.key}", table.title, tuple(columns), tuple(rows), empty=words["html.none"])


def _headline(comparison: Comparison, words: Words) -> ScoreTable:
    rows = tuple(score_view(system.name, system.evaluation.headline) for system in comparison.systems)
    beta = comparison.systems[0].evaluation.options.beta
    return ScoreTable("systems", words["compare.systems"], words["compare.system"], rows, beta)


def _differences(comparison: Comparison, key: str, words: Words) -> DifferenceTable:
    """One rate of all systems; rows where it is not defined for any of them are left out."""
    beta = comparison.systems[0].evaluation.options.beta
    table = comparison.differences
    chosen = table[(table["rate"] == key) & (table["first"] == comparison.names[0])]
    found: dict[tuple[Any, ...], list[dict[Any, Any]]] = {}
    for record in chosen.to_dict("records"):
        found.setdefault(tuple(record[name] for name in IDENTITY), []).append(record)
    rows = []
    for records in found.values():
        others = tuple(
            SystemValue(row["second_value"], row["difference"], row["low"], row["high"], row["p_holm"])
            for row in records
        )
        row = DifferenceRow(full_row_name(records[0], words), records[0]["first_value"], others)
        if not all(math.isnan(value) for value in (row.first, *(other.value for other in others))):
            rows.append(row)
    title = numbers.f_name(beta, words) if key == "f_beta" else words[f"metrics.{key}"]
    return DifferenceTable(key, title, tuple(comparison.names), tuple(rows))


def _shared(comparison: Comparison, words: Words) -> TableView:
    """How many errors are made by exactly these systems."""
    counts: dict[tuple[str, ...], dict[str, int]] = {}
    for row in comparison.shared.to_dict("records"):
        counts.setdefault(row["systems"], {})[row["sheet"]] = int(row["count"])
    columns = [TableColumn("made_by", words["compare.made_by"])]
    columns += [TableColumn(sheet, spans_name(sheet, words), ValueKind.COUNT) for sheet in _SHEETS]
    rows: list[TableRow] = [
        (_makers(systems, words), *(found.get(sheet, 0) for sheet in _SHEETS)) for systems, found in counts.items()
    ]
    return TableView("shared", words["compare.errors_title"], tuple(columns), tuple(rows), words["compare.errors"])


def _shared_bars(comparison: Comparison, sheet: str, words: Words) -> BarPlot:
    shared = comparison.shared
    bars = tuple(
        Bar(_makers(row["systems"], words), int(row["count"]), _SHEETS[sheet])
        for row in shared[shared["sheet"] == sheet].to_dict("records")
    )
    return BarPlot(spans_name(sheet, words), bars, empty=words["html.none"])


def _cases(comparison: Comparison, sheet: str, words: Words) -> ComparedCases:
    rows = comparison.errors[comparison.errors["sheet"] == sheet].to_dict("records")
    rows.sort(key=lambda row: len(row["systems"]) > 1)
    alone = sum(len(row["systems"]) == 1 for row in rows)
    title = words[f"compare.title_{sheet.lower()}"]
    return ComparedCases(sheet, title, tuple(_case(row, comparison, words) for row in rows), alone)


def _case(row: Mapping[Any, Any], comparison: Comparison, words: Words) -> ComparedCase:
    layers = comparison.systems[0].evaluation.pair.layers
    kinds = [row[f"class_{number}"] for number in range(len(comparison.names))]
    return ComparedCase(
        row["case_id"],
        row["sheet"],
        row["document"],
        row["sentence"],
        row["surface"],
        tuple(row[f"label_{layer}"] for layer in layers),
        _makers(row["systems"], words),
        tuple(class_name(kind, words) if kind else "" for kind in kinds),
        row["context"],
        tuple(row["segments"]),
    )


def _makers(systems: tuple[str, ...], words: Words) -> str:
    return words("compare.alone", name=systems[0]) if len(systems) == 1 else " + ".join(systems)
