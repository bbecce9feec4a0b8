"""Score tables: which rows, in which order, under which names; and what stands in their columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from clueval_xlsx.figures import Figures
from clueval_xlsx.options import Options
from clueval_xlsx.pages.scheme_words import full_row_name, leak_sentence, row_name, scheme_name, scheme_sentence
from clueval_xlsx.scoring.scheme_settings import gives_half_credit, is_relaxed
from clueval_xlsx.scoring.scores import COUNTS, MACRO, RIGHT_OR_WRONG
from clueval_xlsx.scoring.strict_relaxed import strict_against_relaxed
from clueval_xlsx.views import numbers
from clueval_xlsx.views.tables import TableColumn, TableRow, TableValue, TableView, ValueKind
from clueval_xlsx.words import Words


@dataclass(frozen=True)
class RateView:
    """A rate with its interval; what is not defined is not a number."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ScoreRow:
    """A name, and the counts and rates of one row of the score table."""

    name: str
    recall: RateView
    precision: RateView
    f1: RateView
    f_beta: RateView
    gold: float
    tp_gold: float
    fn: float
    pred: float
    tp_pred: float
    fp: float
    summary: bool = False  # an average, set apart from the rows above it
    chosen: bool = False  # the row of the headline
    opens: bool = False  # the first row of a new group

    @property
    def values(self) -> Mapping[str, TableValue]:
        """What stands in each column, by the column's key."""
        return {
            "recall": self.recall.value,
            "recall_interval": (self.recall.low, self.recall.high),
            "found": (self.tp_gold, self.gold),
            "gold": self.gold,
            "tp_gold": self.tp_gold,
            "fn": self.fn,
            "precision": self.precision.value,
            "precision_interval": (self.precision.low, self.precision.high),
            "supported": (self.tp_pred, self.pred),
            "pred": self.pred,
            "tp_pred": self.tp_pred,
            "fp": self.fp,
            "f1": self.f1.value,
            "f_beta": self.f_beta.value,
        }


@dataclass(frozen=True)
class ScoreTable:
    """A table of scores with its heading, what it counts, and further lines that belong to it."""

    key: str
    title: str
    first: str  # the heading of the names
    rows: tuple[ScoreRow, ...]
    beta: float
    note: str = ""
    details: tuple[str, ...] = ()
    spans: bool = True  # what is counted; else it is words, characters or documents
    by_support: bool = False  # a plot has the rows with most reference spans first

    @property
    def plotted(self) -> tuple[ScoreRow, ...]:
        """The rows of a plot, in its order."""
        rows = [row for row in self.rows if not row.summary]
        return tuple(sorted(rows, key=lambda row: -row.gold) if self.by_support else rows)


# Key of a column -> the word of its heading, and what its values are.
_COLUMNS = {
    "recall": ("metrics.recall", ValueKind.RATE),
    "recall_interval": ("metrics.interval", ValueKind.INTERVAL),
    "found": ("metrics.tp_gold", ValueKind.SHARE),
    "gold": ("metrics.gold", ValueKind.COUNT),
    "tp_gold": ("metrics.tp_gold", ValueKind.COUNT),
    "fn": ("metrics.fn", ValueKind.COUNT),
    "precision": ("metrics.precision", ValueKind.RATE),
    "precision_interval": ("metrics.interval", ValueKind.INTERVAL),
    "supported": ("metrics.tp_pred", ValueKind.SHARE),
    "pred": ("metrics.pred", ValueKind.COUNT),
    "tp_pred": ("metrics.tp_pred", ValueKind.COUNT),
    "fp": ("metrics.fp", ValueKind.COUNT),
    "f1": ("metrics.f1", ValueKind.RATE),
    "f_beta": ("metrics.f_beta", ValueKind.RATE),
}
# All counts by themselves, each as a share of its support, and the rates alone, as there is room.
WITH_COUNTS = (
    "recall",
    "recall_interval",
    "gold",
    "tp_gold",
    "fn",
    "precision",
    "precision_interval",
    "pred",
    "tp_pred",
    "fp",
    "f1",
    "f_beta",
)
WITH_SHARES = (
    "recall",
    "recall_interval",
    "found",
    "precision",
    "precision_interval",
    "supported",
    "f1",
    "f_beta",
)
RATES_ALONE = ("recall", "precision", "f_beta")
_OF_DOCUMENTS = ("gold", "tp_gold", "fn", "recall", "pred", "tp_pred", "fp", "precision")


def score_columns(table: ScoreTable, keys: Iterable[str], words: Words) -> tuple[TableColumn, ...]:
    """The columns of a score table with their headings; the names of the rows stand before them."""
    found = []
    for key in keys:
        word, kind = _COLUMNS[key]
        if key in {"gold", "pred"} and not table.spans:
            word = f"{word}_units"
        found.append(TableColumn(key, numbers.f_name(table.beta, words) if key == "f_beta" else words[word], kind))
    return tuple(found)


def document_columns(words: Words) -> tuple[TableColumn, ...]:
    """The columns of scores that a list of documents has."""
    return tuple(TableColumn(key, words[_COLUMNS[key][0]], _COLUMNS[key][1]) for key in _OF_DOCUMENTS)


def score_view(
    name: str, row: Mapping[Any, Any], *, summary: bool = False, chosen: bool = False, opens: bool = False
) -> ScoreRow:
    """A row of the score table under a name."""
    halves = gives_half_credit(row.get("scheme", ""), row.get("variant"))
    gold, tp_gold, fn, pred, tp_pred, fp = (
        math.nan if halves and key in RIGHT_OR_WRONG else float(row[key]) for key in COUNTS
    )
    return ScoreRow(
        name,
        _rate(row, "recall"),
        _rate(row, "precision"),
        _rate(row, "f1"),
        _rate(row, "f_beta"),
        gold,
        tp_gold,
        fn,
        pred,
        tp_pred,
        fp,
        summary=summary,
        chosen=chosen,
        opens=opens,
    )


def _rate(row: Mapping[Any, Any], key: str) -> RateView:
    return RateView(float(row[key]), float(row[f"{key}_low"]), float(row[f"{key}_high"]))


def level_sentence(options: Options, words: Words) -> str:
    """What was chosen for headline and cases: the level, what it asks for, and whether labels must agree."""
    labels = words["chosen.labels_not_compared"]
    if options.labelled:
        labels = words("chosen.labels_compared", layer=options.labelled)
    level = words("chosen.level", level=words[f"level.{options.level}"])
    return f"{level} {words[f'chosen.means_{options.level}']} {labels}"


def level_table(evaluation: Figures, words: Words) -> ScoreTable:
    """The four levels, unlabelled first, then with the labels of each layer."""
    options = evaluation.options
    rows = []
    for labelled in (None, *evaluation.layers):
        found = evaluation.select(scheme="clueval", labelled=labelled, layer=None, group_key=None, average="micro")
        for place, row in enumerate(found.to_dict("records")):
            chosen = (row["level"], labelled) == (options.level, options.labelled)
            name = row_name({**row, "variant": None}, words)
            rows.append(score_view(name, row, chosen=chosen, opens=labelled is not None and place == 0))
    title, note = words["metrics.levels_title"], words["metrics.levels"]
    return ScoreTable("levels", title, words["metrics.level"], tuple(rows), options.beta, note)


def label_tables(evaluation: Figures, words: Words) -> tuple[ScoreTable, ...]:
    """The headline by the labels of each layer, with their mean."""
    several = len(evaluation.layers) > 1
    tables = []
    for layer in evaluation.layers:
        found = _chosen(evaluation, layer=layer, group_key=None)
        rows = tuple(
            score_view(words["metrics.macro"], row, summary=True)
            if row["average"] == MACRO
            else score_view(row["label"], row)
            for row in found.to_dict("records")
        )
        if rows:
            first = layer if several else words["column.label"]
            title = words("metrics.labels_title_of", layer=layer) if several else words["metrics.labels_title"]
            beta, note = evaluation.options.beta, words["metrics.labels"]
            tables.append(ScoreTable(f"layer-{layer}", title, first, rows, beta, note, by_support=True))
    return tuple(tables)


def group_tables(evaluation: Figures, words: Words) -> tuple[ScoreTable, ...]:
    """The headline by each metadata key that was asked for."""
    tables = []
    for key in evaluation.options.by:
        found = _chosen(evaluation, layer=None, group_key=key)
        rows = tuple(score_view(str(row["group"]), row) for row in found.to_dict("records"))
        title = words("metrics.group_title", key=key)
        tables.append(ScoreTable(f"group-{key}", title, key, rows, evaluation.options.beta))
    return tuple(tables)


def scheme_tables(evaluation: Figures, words: Words) -> tuple[ScoreTable, ...]:
    """One table for each other scheme that was asked for; its relaxed rows have a table of their own."""
    scores = evaluation.scores
    whole = scores["layer"].isna() & scores["group_key"].isna() & (scores["average"] == "micro")
    relaxed = scores["variant"].map(is_relaxed).astype(bool)
    others = scores[whole & ~relaxed & (scores["scheme"] != "clueval")]
    return tuple(
        _scheme_table(scheme, others[others["scheme"] == scheme], evaluation.options.beta, words)
        for scheme in dict.fromkeys(others["scheme"])
    )


def _scheme_table(scheme: str, rows: pd.DataFrame, beta: float, words: Words) -> ScoreTable:
    records = rows.to_dict("records")
    views = tuple(score_view(row_name(row, words), row) for row in records)
    details = _counts_in_words(views, rows["counts"], words)
    if scheme == "documents":
        details = (leak_sentence(records[0]["gold"], records[0]["tp_gold"], records[0]["recall_low"], words),)
    title = scheme_name(scheme, words)
    return ScoreTable(
        f"scheme-{scheme}", title, title, views, beta, scheme_sentence(scheme, words), details, spans=False
    )


def _counts_in_words(rows: Iterable[ScoreRow], counts: Iterable[object], words: Words) -> tuple[str, ...]:
    """The counts that a scheme has beside the usual ones, once for all rows that share them."""
    lines: dict[str, list[str]] = {}
    for row, found in zip(rows, counts, strict=True):
        if isinstance(found, dict):
            text = ", ".join(f"{words.get(f'scheme.outcome.{key}', key)} {value}" for key, value in found.items())
            lines.setdefault(text, []).append(row.name)
    return tuple(f"{' / '.join(names)}: {text}" for text, names in lines.items())


def strict_relaxed_table(evaluation: Figures, words: Words) -> TableView | None:
    """What changes when equivalent labels count as the same, if there are any."""
    if not evaluation.options.labels.equivalent:
        return None
    found = strict_against_relaxed(evaluation.scores)
    found = found[found["layer"].isna()]
    if found.empty:
        return None
    relaxed = words["scheme.row.relaxed"]
    columns = [TableColumn("name", words["metrics.scheme"])]
    titles = {
        "recall": words["metrics.recall"],
        "precision": words["metrics.precision"],
        "f_beta": numbers.f_name(evaluation.options.beta, words),
    }
    for key, title in titles.items():
        columns += [
            TableColumn(f"{key}_strict", title, ValueKind.RATE),
            TableColumn(f"{key}_relaxed", f"{title}, {relaxed}", ValueKind.RATE),
            TableColumn(f"{key}_difference", words["compare.points"], ValueKind.POINTS),
        ]
    for key in ("fn", "fp"):
        columns.append(TableColumn(f"{key}_relaxed", f"{words[f'metrics.{key}']}, {relaxed}", ValueKind.COUNT))
    columns.append(TableColumn("relaxed_matches", words["scheme.row.relaxed_matches"], ValueKind.COUNT))
    rows: list[TableRow] = [
        (full_row_name(row, words), *(float(row[column.key]) for column in columns[1:]))
        for row in found.to_dict("records")
    ]
    groups = "; ".join(", ".join(group) for group in evaluation.options.labels.equivalent)
    note = f"{words['scheme.row.strict_relaxed_counts']} {words('scheme.row.equivalent', groups=groups)}"
    return TableView("strict-relaxed", words["scheme.row.strict_relaxed"], tuple(columns), tuple(rows), note)


def _chosen(evaluation: Figures, **identity: str | None) -> pd.DataFrame:
    """Score rows at the level and with the labels that were chosen."""
    options = evaluation.options
    return evaluation.select(scheme="clueval", level=options.level, labelled=options.labelled, **identity)
