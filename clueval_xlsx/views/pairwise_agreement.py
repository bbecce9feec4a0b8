"""What is shown of pairwise agreement: who stands apart, a matrix for each level, labels and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from clueval_xlsx.pages.scheme_words import same_words
from clueval_xlsx.pairwise_agreement import AgreeingPair, PairwiseAgreement
from clueval_xlsx.scoring.levels import LEVELS
from clueval_xlsx.views import numbers
from clueval_xlsx.views.scores import level_sentence
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind
from clueval_xlsx.words import Words


@dataclass(frozen=True)
class PairwiseView:
    """Everything that is shown, in its order; the first of the matrices is the chosen one."""

    names: tuple[str, ...]
    level: str
    sentences: tuple[str, ...]
    chosen: TableView
    matrices: tuple[TableView, ...]  # every level, without labels and with those of each layer
    by_layer: tuple[TableView, ...]  # every pair by level: without labels, and with those of each layer
    labels: tuple[TableView, ...]
    documents: TableView
    signatures: tuple[str, ...]
    notes: tuple[str, ...]


def pairwise_view(found: PairwiseAgreement, words: Words) -> PairwiseView:
    """What is shown of several annotations."""
    options = found.options
    ways = [(level, labelled) for labelled in (None, *found.layers) for level in LEVELS]
    evaluations = [pair.evaluation for pair in found.pairs if pair.evaluation is not None]
    return PairwiseView(
        found.names,
        level_sentence(options, words),
        _sentences(found, words),
        _matrix(found, options.level, options.labelled, words),
        tuple(_matrix(found, *way, words) for way in ways),
        tuple(_pairs(found, labelled, words) for labelled in (None, *found.layers)),
        tuple(_labels(found, layer, words) for layer in found.layers),
        _documents(found, words),
        tuple(result.signature for result in evaluations),
        tuple(dict.fromkeys(note for result in evaluations for note in result.notes)),
    )


def _sentences(found: PairwiseAgreement, words: Words) -> tuple[str, ...]:
    apart = found.apart
    said = []
    if apart is not None:
        own, others = numbers.rate(apart.own, words), numbers.rate(apart.others, words)
        said.append(words("agree.apart", name=apart.name, own=own, others=others))
    strange = [_name(pair) for pair in found.pairs if pair.evaluation is None]
    if strange:
        said.append(words("agree.nothing_common", pairs=", ".join(strange)))
    return tuple(said)


def _name(pair: AgreeingPair) -> str:
    return f"{pair.first} – {pair.second}"


def _way(level: str, labelled: str | None, words: Words) -> str:
    name = words[f"level.{level}"]
    return name if labelled is None else f"{name}, {same_words(labelled, words)}"


def _matrix(found: PairwiseAgreement, level: str, labelled: str | None, words: Words) -> TableView:
    table = found.matrix(level, labelled)
    columns = [TableColumn("name", words["agree.who"])]
    columns += [TableColumn(f"with-{place}", name, ValueKind.RATE) for place, name in enumerate(found.names)]
    rows: list[TableRow] = [
        (name, *("" if name == other else float(table.loc[name, other]) for other in found.names))
        for name in found.names
    ]
    key = f"matrix-{level}-{labelled or 'any'}"
    return TableView(key, words("agree.matrix", way=_way(level, labelled, words)), tuple(columns), tuple(rows))


def _pairs(found: PairwiseAgreement, labelled: str | None, words: Words) -> TableView:
    columns = [TableColumn("pair", words["agree.pair"])]
    columns += [TableColumn(level, words[f"level.{level}"], ValueKind.RATE) for level in LEVELS]
    rows: list[TableRow] = [(_name(pair), *(pair.f1(level, labelled) for level in LEVELS)) for pair in found.pairs]
    title = words["agree.pairs"] + ("" if labelled is None else f", {same_words(labelled, words)}")
    return TableView(f"pairs-{labelled or 'any'}", title, tuple(columns), tuple(rows))


def _across(found: PairwiseAgreement, values: Sequence[dict[str, float]], table: tuple[str, str, str]) -> TableView:
    """One row for each name that any pair has a value for, one column a pair."""
    key, title, first = table
    names = list(dict.fromkeys(name for own in values for name in own))
    columns = [TableColumn("name", first)]
    columns += [TableColumn(f"pair-{place}", _name(pair), ValueKind.RATE) for place, pair in enumerate(found.pairs)]
    rows: list[TableRow] = [(name, *(own.get(name, nan) for own in values)) for name in names]
    return TableView(key, title, tuple(columns), tuple(rows))


def _labels(found: PairwiseAgreement, layer: str, words: Words) -> TableView:
    """F1 by label at the chosen level; labels must agree, or they would not be those of both."""
    level = found.options.level
    values = []
    for pair in found.pairs:
        rows = pair.rows(level=level, labelled=layer, layer=layer, group_key=None, average="micro")
        values.append({str(row["label"]): float(row["f1"]) for row in rows.to_dict("records")})
    title = words("agree.labels", way=_way(level, layer, words))
    return _across(found, values, (f"labels-{layer}", title, words["column.label"]))


def _documents(found: PairwiseAgreement, words: Words) -> TableView:
    options = found.options
    values = []
    for pair in found.pairs:
        rows = pair.rows(level=options.level, labelled=options.labelled, layer=None, group_key="document")
        values.append({str(row["group"]): float(row["f1"]) for row in rows.to_dict("records")})
    title = words("agree.documents", way=_way(options.level, options.labelled, words))
    return _across(found, values, ("documents", title, words["column.document"]))
