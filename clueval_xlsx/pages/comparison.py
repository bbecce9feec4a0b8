"""The page on a comparison: a verdict in words, what distinguishes the systems, the errors each makes alone."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from pathlib import PurePath
from typing import Any

from clueval_xlsx.cases.kinds import FN, FP, Sheet
from clueval_xlsx.comparison import Comparison, System
from clueval_xlsx.pages.page import (
    Bar,
    Bars,
    Cell,
    Chapter,
    Dot,
    Dots,
    Form,
    Heading,
    Look,
    Marked,
    Page,
    Section,
    Table,
    TableRow,
    Text,
    TextStyle,
    Tone,
    marked,
)
from clueval_xlsx.pages.scores import PageMaker, Scored, full_row_name, scheme_name, scheme_sentence
from clueval_xlsx.review.case_words import class_name, sheet_name, spans_name
from clueval_xlsx.words import Words

_RATES = ("recall", "precision", "f_beta")
_SHEETS = {FN: Tone.GOLD, FP: Tone.PRED}
_MARKS = (Tone.BOTH, Tone.GOLD, Tone.PRED)  # of the words in contexts


def comparison_page(comparison: Comparison, words: Words) -> Page:
    """The verdict, systems, differences, errors alone and shared, and the errors themselves."""
    make = PageMaker(words)
    first = comparison.systems[0].evaluation
    systems = [Scored(system.name, system.evaluation.headline) for system in comparison.systems]
    schemes = dict.fromkeys(comparison.metrics["scheme"])
    counted = tuple(f"{scheme_name(scheme, words)}: {scheme_sentence(scheme, words)}" for scheme in schemes)
    sections: list[Section] = [
        Text(_verdicts(comparison, make), TextStyle.HEADLINE),
        Text((make.level_sentence(first.options),)),
        make.rate_dots(words["compare.systems"], systems),
        make.score_table("", words["compare.system"], systems, first.options.beta),
        _difference_dots(comparison, make),
        Text((_explained(comparison, make),), TextStyle.NOTE, words["compare.difference"]),
        *(_differences(comparison, rate, make) for rate in _RATES),
        *_shared(comparison, make),
        Text(counted, TextStyle.NOTE, words["metrics.scheme"]),
        make.signatures([comparison.signature]),
    ]
    gold = PurePath(first.pair.gold.source.name).name
    chapters = [Chapter(words["compare.sheet_metrics"], tuple(sections))]
    for sheet, tone in _SHEETS.items():
        errors = _errors(comparison, sheet, make)
        count = make.numbers.count(len(errors.rows)).text
        chapters.append(Chapter(sheet_name(sheet, words), (errors,), count, tone))
    subtitle = words("compare.subtitle", gold=gold, systems="   ·   ".join(comparison.names))
    return make.page(words["compare.title"], [subtitle], chapters)


def _verdicts(comparison: Comparison, make: PageMaker) -> tuple[str, ...]:
    """For each system behind the first: what it finds more or less, how sure that is, and what it costs."""
    first, *others = comparison.systems
    return tuple(_verdict(first, other, comparison.headline_difference(other.name, "recall"), make) for other in others)


def _verdict(first: System, other: System, row: Mapping[Any, Any] | None, make: PageMaker) -> str:
    words = make.words
    names = {"first": first.name, "second": other.name}
    if row is None or isnan(row["difference"]):
        parts = [words("compare.verdict_undefined", **names)]
    else:
        parts = [_recall(row, names, make)]
    more = int(other.evaluation.headline["fp"]) - int(first.evaluation.headline["fp"])
    key = "compare.alarms_same" if not more else "compare.alarms_more" if more > 0 else "compare.alarms_fewer"
    parts.append(words(key, count=make.numbers.count(abs(more)).text))
    return words("compare.verdict", parts=words["lead.joined"].join(parts))


def _recall(row: Mapping[Any, Any], names: Mapping[str, str], make: PageMaker) -> str:
    """What is found more or less, in points, with interval and p."""
    words, numbers, difference = make.words, make.numbers, row["difference"]
    points = numbers.decimal(abs(100 * difference), 1)
    key = "same" if points == numbers.decimal(0, 1) else "more" if difference > 0 else "less"
    text = words(f"compare.verdict_{key}", points=points, **names)
    if isnan(row["low"]):
        return text
    ends = (row["low"], row["high"]) if key != "less" else (-row["high"], -row["low"])
    low, high = (numbers.decimal(100 * end, 1).replace("-", "−") for end in ends)
    certainty = [words("compare.verdict_interval", low=low, high=high)]
    if chance := numbers.chance(row["p_holm"]).text:
        certainty.append(f"p {chance}" if chance.startswith("<") else f"p = {chance}")
    if row["low"] <= 0 <= row["high"]:
        certainty.append(words["compare.verdict_unsure"])
    return f"{text} ({', '.join(certainty)})"


def _difference_dots(comparison: Comparison, make: PageMaker) -> Dots:
    """Recall, precision and F-beta of the headline, for each system behind the first."""
    beta = comparison.systems[0].evaluation.options.beta
    rows = []
    for rate in _RATES:
        for other in comparison.names[1:]:
            row = comparison.headline_difference(other, rate)
            if row is not None and not isnan(row["difference"]):
                dot = Dot(make.numbers.points(row["difference"]), row["low"], row["high"])
                rows.append((f"{make.rate_name(rate, beta)}: {other}", (dot,)))
    axis = make.numbers.axis((end for _, (dot,) in rows for end in (dot.number.value, dot.low, dot.high)), Form.POINTS)
    title = make.words("compare.plot", first=comparison.names[0])
    known = any(not isnan(dot.low) for _, (dot,) in rows)
    notes = (make.words["compare.plot_note"],) if known else ()
    return Dots(title, (make.words["compare.difference"],), tuple(rows), axis, notes)


def _explained(comparison: Comparison, make: PageMaker) -> str:
    """How differences, intervals and p-values were made."""
    replicates = comparison.systems[0].evaluation.options.replicates
    return make.words(
        "compare.differences" if replicates else "compare.differences_alone",
        first=comparison.names[0],
        documents=make.numbers.count(len(comparison.documents)).text,
        replicates=make.numbers.count(replicates).text,
        tests=make.numbers.count(comparison.tests).text,
    )


def _differences(comparison: Comparison, rate: str, make: PageMaker) -> Table:
    """One rate of all systems; rows where it is not defined for any of them are left out."""
    words, numbers = make.words, make.numbers
    first, *others = comparison.names
    columns = [Heading(words["metrics.scheme"]), Heading(first)]
    for other in others:
        columns.append(Heading(other))
        columns.append(Heading(words["compare.points"], words["compare.points_short"]))
        columns.append(Heading(words["compare.interval"], words["metrics.interval_short"], rank=1))
        columns.append(Heading(words["compare.p"]))
    table = comparison.differences
    chosen = table[(table["rate"] == rate) & (table["first"] == first)].to_dict("records")
    rows: dict[str, list[Cell]] = {}
    values: dict[str, list[float]] = {}
    tested = set()
    for row in chosen:
        name = full_row_name(row, words)
        cells = rows.setdefault(name, [name, numbers.rate(row["first_value"])])
        values.setdefault(name, [row["first_value"]]).append(row["second_value"])
        cells += [numbers.rate(row["second_value"]), numbers.points(row["difference"])]
        cells += [numbers.points_interval(row["low"], row["high"]), numbers.chance(row["p_holm"])]
        if not isnan(row["p_holm"]):
            tested.add(name)
    shown = [name for name in rows if not all(map(isnan, values[name]))]
    lines = tuple(TableRow(tuple(rows[name]), Look.CHOSEN if name in tested else Look.PLAIN) for name in shown)
    beta = comparison.systems[0].evaluation.options.beta
    return Table(make.rate_name(rate, beta), tuple(columns), lines, empty=words["html.none"])


def _makers(systems: tuple[str, ...], words: Words) -> str:
    return words("compare.alone", name=systems[0]) if len(systems) == 1 else " + ".join(systems)


def _shared(comparison: Comparison, make: PageMaker) -> tuple[Bars, Table]:
    """How many errors are made by exactly these systems."""
    words, numbers = make.words, make.numbers
    counts: dict[str, dict[str, int]] = {}
    for row in comparison.shared.to_dict("records"):
        counts.setdefault(_makers(row["systems"], words), {})[row["sheet"]] = int(row["count"])
    panels = []
    for sheet, tone in _SHEETS.items():
        bars = tuple(Bar(name, numbers.count(found.get(sheet, 0)), tone) for name, found in counts.items())
        panels.append((spans_name(sheet, words), bars))
    title, notes = words["compare.errors_title"], (words["compare.errors"],)
    columns = (Heading(words["compare.made_by"]), *(Heading(spans_name(sheet, words)) for sheet in _SHEETS))
    rows = tuple(
        TableRow((name, *(numbers.count(found.get(sheet, 0)) for sheet in _SHEETS))) for name, found in counts.items()
    )
    return Bars(title, tuple(panels), empty=words["html.none"], tabled=True), Table("", columns, rows, notes)


def _errors(comparison: Comparison, sheet: Sheet, make: PageMaker) -> Table:
    """Every error of any system, first what one alone gets wrong; what several get wrong is folded away."""
    words, names = make.words, comparison.names
    layers = comparison.systems[0].evaluation.pair.layers
    label = words["column.label"]
    columns = (
        Heading(words["compare.made_by"]),
        Heading(words["column.span"]),
        Heading(words["column.context"], long=True),
        *(Heading(label if len(layers) == 1 else f"{label}: {layer}") for layer in layers),
        *(Heading(name) for name in names),
        Heading(words["column.document"]),
        Heading(words["column.case"], rank=2),
    )
    errors = comparison.errors[comparison.errors["sheet"] == sheet].to_dict("records")
    errors.sort(key=lambda row: len(row["systems"]) > 1)
    rows = []
    for row in errors:
        kinds = [row[f"class_{place}"] for place in range(len(names))]
        cells: tuple[Cell, ...] = (
            _makers(row["systems"], words),
            row["surface"],
            marked(row["segments"]),
            *(row[f"label_{layer}"] for layer in layers),
            *(class_name(kind, words) if kind else "" for kind in kinds),
            row["document"],
            row["case_id"],
        )
        rows.append(TableRow(cells))
    alone = sum(len(row["systems"]) == 1 for row in errors)
    folded = words("compare.by_several", count=make.numbers.count(len(rows) - alone).text)
    legend = []
    for mark in _MARKS:
        legend += [Marked(words[f"mark.{mark}"], mark), Marked("   ")]
    notes: tuple[Cell, ...] = (words["compare.cases"], words["compare.folded"], tuple(legend))
    title = words[f"compare.title_{sheet.lower()}"]
    return Table(title, columns, tuple(rows), notes, words["html.none"], alone, folded)
