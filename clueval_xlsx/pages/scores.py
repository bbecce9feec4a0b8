"""Score tables and what stands around them: which rows, in which order, under which names, with plots and tiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan
from typing import Any

import pandas as pd

from clueval_xlsx.figures import Figures
from clueval_xlsx.options import DEFAULT_LAYER, Options
from clueval_xlsx.pages.numbers import NARROW_SPACE, Numbers
from clueval_xlsx.pages.page import (
    Axis,
    Chapter,
    Dot,
    Dots,
    Heading,
    Look,
    Number,
    Page,
    Section,
    Table,
    TableRow,
    Text,
    TextStyle,
    Tile,
)
from clueval_xlsx.scoring.names import gives_half_credit, is_relaxed, strict_variant
from clueval_xlsx.scoring.scores import MACRO
from clueval_xlsx.words import Words

RATES = ("recall", "precision")
_WITH_THRESHOLD = ("presidio", "iou", "coverage")
_BY_LABEL_OR_NOT = ("presidio", "iou", "tokens")
ScoreRecord = Mapping[Any, Any]  # a row of the score table, by its columns


@dataclass(frozen=True)
class Scored:
    """A row of the score table under the name that it is shown by."""

    name: str
    scores: ScoreRecord
    look: Look = Look.PLAIN


class PageMaker:
    """What all pages share: words, numbers, score tables and their plots."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.numbers = Numbers(words)

    def page(self, title: str, subtitle: Sequence[str], chapters: Iterable[Chapter]) -> Page:
        """A page in this language."""
        return Page(title, tuple(subtitle), tuple(chapters), self.words.language, self.words["page.more"])

    def rate_name(self, rate: str, beta: float) -> str:
        """The heading of a rate."""
        return self.numbers.f_name(beta) if rate == "f_beta" else self.words[f"metrics.{rate}"]

    def signatures(self, signatures: Iterable[str]) -> Text:
        """What was computed, exactly."""
        return Text(tuple(dict.fromkeys(signatures)), TextStyle.CODE, self.words["metrics.signature"])

    def level_sentence(self, options: Options) -> str:
        """What was chosen for headline and cases: the level, what it asks for, and whether labels must agree."""
        words = self.words
        labels = words["chosen.labels_not_compared"]
        if options.labelled:
            labels = words("chosen.labels_compared", layer=options.labelled)
        level = words("chosen.level", level=words[f"level.{options.level}"])
        return f"{level} {words[f'chosen.means_{options.level}']} {labels}"

    def score_table(
        self,
        title: str,
        first: str,
        rows: Iterable[Scored],
        beta: float,
        notes: Iterable[str] = (),
        *,
        spans: bool = True,
    ) -> Table:
        """Counts and rates under names; `spans`: what is counted, else words, characters or documents."""
        words = self.words
        wholes = [words[key if spans else f"{key}_units"] for key in ("metrics.gold", "metrics.pred")]
        between, short = words["metrics.interval"], words["metrics.interval_short"]
        columns = (
            Heading(first),
            Heading(words["metrics.recall"]),
            Heading(between, short, rank=1),
            Heading(words["metrics.tp_gold"], rank=2, whole=wholes[0], rest=words["metrics.fn"]),
            Heading(words["metrics.precision"]),
            Heading(between, short, rank=1),
            Heading(words["metrics.tp_pred"], rank=2, whole=wholes[1], rest=words["metrics.fp"]),
            Heading(words["metrics.f1"], rank=3),
            Heading(self.numbers.f_name(beta)),
        )
        lines = tuple(TableRow((row.name, *self._score_cells(row.scores)), row.look) for row in rows)
        return Table(title, columns, lines, tuple(note for note in notes if note))

    def _score_cells(self, row: ScoreRecord) -> tuple[Number, ...]:
        """Recall and precision with interval and counts, and both F."""
        # Where half a match counts half, nothing is simply right or wrong.
        halves = gives_half_credit(row.get("scheme", ""), row.get("variant"))
        cells = []
        for rate, part, whole in (("recall", "tp_gold", "gold"), ("precision", "tp_pred", "pred")):
            found = nan if halves else float(row[part])
            cells.append(self.numbers.rate(float(row[rate])))
            cells.append(self.numbers.interval(float(row[f"{rate}_low"]), float(row[f"{rate}_high"])))
            cells.append(self.numbers.share(found, float(row[whole])))
        return (*cells, self.numbers.rate(float(row["f1"])), self.numbers.rate(float(row["f_beta"])))

    def rate_dots(self, title: str, rows: Iterable[Scored]) -> Dots:
        """Recall and precision with their intervals, in the order of their table."""
        names, dots = [], []
        for row in rows:
            if row.look is not Look.SUMMARY:
                names.append(row.name)
                dots.append(tuple(self._dot(row.scores, rate) for rate in RATES))
        ends = [end for pair in dots for dot in pair for end in (dot.number.value, dot.low, dot.high)]
        axis = self.numbers.axis(ends)
        notes = [self.words["plot.dots"]] if any(not isnan(dot.low) for pair in dots for dot in pair) else []
        notes += [self.cut_sentence(axis)] if axis.low > 0 else []
        series = tuple(self.words[f"metrics.{rate}"] for rate in RATES)
        return Dots(title, series, tuple(zip(names, dots, strict=True)), axis, tuple(notes))

    def _dot(self, row: ScoreRecord, rate: str) -> Dot:
        return Dot(self.numbers.rate(float(row[rate])), float(row[f"{rate}_low"]), float(row[f"{rate}_high"]))

    def cut_sentence(self, axis: Axis) -> str:
        """That an axis does not begin with nothing."""
        low, high = axis.ticks[0][1], axis.ticks[-1][1]
        return self.words("plot.cut", low=low.removesuffix(f"{NARROW_SPACE}%"), high=high)

    def rate_tile(self, name: str, row: ScoreRecord, rate: str, note: str) -> Tile:
        """A rate as a large figure."""
        low, high = float(row[f"{rate}_low"]), float(row[f"{rate}_high"])
        interval = self.numbers.interval(low, high).text
        between = [self.words("metrics.between", interval=interval)] if interval else []
        return Tile(name, self.numbers.rate(float(row[rate])), (*between, note), low, high)

    def count_tile(self, name: str, count: float, note: str) -> Tile:
        """A count as a large figure."""
        return Tile(name, self.numbers.count(count), (note,))

    def of_all(self, total: float) -> str:
        """Of how many."""
        return self.words("of_all", total=self.numbers.count(total).text)


class ScoreSections:
    """The score tables of one result."""

    def __init__(self, make: PageMaker, result: Figures) -> None:
        self.make, self.result = make, result
        self.words, self.beta = make.words, result.options.beta

    @cached_property
    def levels(self) -> Table:
        """The four levels, unlabelled first, then with the labels of each layer."""
        words, options = self.words, self.result.options
        rows = []
        for labelled in (None, *self.result.layers):
            scores = self.result.select(
                scheme="clueval", labelled=labelled, layer=None, group_key=None, average="micro"
            )
            for place, row in enumerate(scores.to_dict("records")):
                look = Look.OPENS if labelled is not None and place == 0 else Look.PLAIN
                if (row["level"], labelled) == (options.level, options.labelled):
                    look = Look.CHOSEN
                rows.append(Scored(row_name({**row, "variant": None}, words), row, look))
        title, note = words["metrics.levels_title"], words["metrics.levels"]
        return self.make.score_table(title, words["metrics.level"], rows, self.beta, [note])

    @cached_property
    def labels(self) -> tuple[tuple[str, tuple[Scored, ...]], ...]:
        """The headline by the labels of each layer, those with most reference spans first, then their mean."""
        layers = []
        for layer in self.result.layers:
            rows = self._chosen(layer=layer, group_key=None).to_dict("records")
            rows.sort(key=lambda row: (row["average"] == MACRO, -row["gold"]))
            named = [
                Scored(self.words["metrics.macro"], row, Look.SUMMARY)
                if row["average"] == MACRO
                else Scored(row["label"], row)
                for row in rows
            ]
            if named:
                layers.append((layer, tuple(named)))
        return tuple(layers)

    def by_label(self, *, plots: bool = False) -> list[Section]:
        """A table for each layer, under its plot if there are plots."""
        words, several = self.words, len(self.result.layers) > 1
        sections: list[Section] = []
        for layer, rows in self.labels:
            title = words("metrics.labels_title_of", layer=layer) if several else words["metrics.labels_title"]
            if plots:
                sections.append(self.make.rate_dots(title, rows))
                title = ""
            first = layer if several else words["column.label"]
            sections.append(self.make.score_table(title, first, rows, self.beta, [words["metrics.labels"]]))
        return sections

    def by_group(self) -> list[Section]:
        """The headline by each metadata key that was asked for."""
        sections: list[Section] = []
        for key in self.result.options.by:
            scores = self._chosen(layer=None, group_key=key).to_dict("records")
            rows = [Scored(str(row["group"]), row) for row in scores]
            title = self.words("metrics.group_title", key=key)
            sections.append(self.make.score_table(title, key, rows, self.beta))
        return sections

    def by_scheme(self) -> list[Section]:
        """One table for each other scheme that was asked for; relaxed rows have a table of their own behind them."""
        scores = self._whole()
        relaxed = scores["variant"].map(is_relaxed).astype(bool)
        others = scores[~relaxed & (scores["scheme"] != "clueval")]
        sections: list[Section] = []
        for scheme in dict.fromkeys(others["scheme"]):
            sections.append(self._scheme_table(scheme, others[others["scheme"] == scheme]))
        changed = self._strict_and_relaxed()
        return sections if changed is None else [*sections, changed]

    def _scheme_table(self, scheme: str, scores: pd.DataFrame) -> Table:
        words = self.words
        rows = [Scored(row_name(row, words), row) for row in scores.to_dict("records")]
        notes = [scheme_sentence(scheme, words), *self._further_counts(rows)]
        if scheme == "documents":
            first = rows[0].scores
            notes = [notes[0], leak_sentence(first["gold"], first["tp_gold"], first["recall_low"], words)]
        name = scheme_name(scheme, words)
        return self.make.score_table(name, name, rows, self.beta, notes, spans=False)

    def _further_counts(self, rows: Iterable[Scored]) -> list[str]:
        """The counts that a scheme has beside the usual ones, once for all rows that share them."""
        names: dict[str, list[str]] = {}
        for row in rows:
            counts = row.scores["counts"]
            if isinstance(counts, dict):
                outcomes = [f"{self.words.get(f'scheme.outcome.{key}', key)} {value}" for key, value in counts.items()]
                names.setdefault(", ".join(outcomes), []).append(row.name)
        return [f"{' / '.join(alike)}: {text}" for text, alike in names.items()]

    def _strict_and_relaxed(self) -> Table | None:
        """Each score that has a relaxed form beside it, if labels count as the same; `compare` tests the difference."""
        words, labels = self.words, self.result.options.labels
        pairs: dict[str, list[Scored]] = {}
        for row in self._whole().to_dict("records"):
            strict = {**row, "variant": strict_variant(row["variant"])} if is_relaxed(row["variant"]) else row
            look = Look.OPENS if strict is row else Look.PLAIN
            pairs.setdefault(full_row_name(strict, words), []).append(Scored(full_row_name(row, words), row, look))
        rows = [row for pair in pairs.values() if len(pair) > 1 for row in pair]
        if not labels.equivalent or not rows:
            return None
        groups = "; ".join(", ".join(group) for group in labels.equivalent)
        notes = (words["scheme.row.strict_relaxed_counts"], words("scheme.row.equivalent", groups=groups))
        title = words["scheme.row.strict_relaxed"]
        return self.make.score_table(title, words["metrics.scheme"], rows, self.beta, notes, spans=False)

    def _whole(self) -> pd.DataFrame:
        """The rows of everything at once."""
        scores = self.result.scores
        return scores[scores["layer"].isna() & scores["group_key"].isna() & (scores["average"] == "micro")]

    def _chosen(self, **identity: str | None) -> pd.DataFrame:
        """Score rows at the level and with the labels that were chosen."""
        options = self.result.options
        return self.result.select(scheme="clueval", level=options.level, labelled=options.labelled, **identity)


def score_page(result: Figures, words: Words) -> Page:
    """What `score` shows: what was chosen, levels, labels, groups, other schemes, the signature."""
    make = PageMaker(words)
    tables = ScoreSections(make, result)
    sections = (
        Text((make.level_sentence(result.options),)),
        tables.levels,
        *tables.by_label(),
        *tables.by_group(),
        *tables.by_scheme(),
        make.signatures([result.signature]),
    )
    title = words["metrics.title"]
    return make.page(title, (), [Chapter(title, sections)])


# ---- what schemes and their rows are called ----


def scheme_name(scheme: str, words: Words) -> str:
    """The name of a scheme."""
    return words.get(f"scheme.{scheme}.name", scheme)


def scheme_sentence(scheme: str, words: Words) -> str:
    """What a scheme counts, in one plain sentence."""
    return words.get(f"scheme.{scheme}.counts")


def row_name(row: Mapping[str, Any], words: Words) -> str:
    """What distinguishes one row of a scheme from its others.

    >>> row = {"scheme": "iou", "variant": "0.9 relaxed", "level": None, "labelled": "risk"}
    >>> row_name(row, Words("en"))
    'at least 0.9, same label, relaxed'
    """
    scheme, variant = str(row["scheme"]), _text(row["variant"])
    labelled, level = _text(row["labelled"]), _text(row["level"])
    parts = []
    plain = strict_variant(variant)
    if scheme == "clueval":
        parts.append(words.get(f"level.{level}", str(level)))
        if labelled:
            parts.append(same_words(labelled, words))
    elif scheme in _WITH_THRESHOLD and plain:
        parts.append(words("scheme.row.threshold", threshold=plain))
    elif plain:
        parts.append(words.get(f"scheme.{scheme}.{plain}", plain))
    elif level:
        parts.append(words("scheme.row.level", level=words.get(f"level.{level}", level)))
    if scheme in _BY_LABEL_OR_NOT:
        parts.append(words["scheme.row.same_label" if labelled else "scheme.row.any_label"])
    if is_relaxed(variant):
        parts.append(words["scheme.row.relaxed"])
    return ", ".join(parts) or scheme_name(scheme, words)


def same_words(layer: str, words: Words) -> str:
    """That labels agree, with the layer where it has a name.

    >>> same_words("risk", Words("en")), same_words("span", Words("en"))
    ('same risk', 'same label')
    """
    return words["scheme.row.same_label"] if layer == DEFAULT_LAYER else words("scheme.row.same", layer=layer)


def full_row_name(row: Mapping[str, Any], words: Words) -> str:
    """A row's name where rows of several schemes stand together.

    >>> full_row_name({"scheme": "clueval", "variant": None, "level": "exact", "labelled": "risk"}, Words("en"))
    'Match levels: exact, same risk'
    """
    scheme, name = scheme_name(str(row["scheme"]), words), row_name(row, words)
    return scheme if name == scheme else f"{scheme}: {name}"


def leak_sentence(documents: float, leak_free: float, low: float, words: Words) -> str:
    """The document verdict in words; without any leak it states how many there may still be."""
    if documents <= 0:
        return words["scheme.documents.none"]
    numbers = Numbers(words)
    values = {
        "documents": numbers.count(documents).text,
        "leak_free": numbers.count(leak_free).text,
        "leaking": numbers.count(documents - leak_free).text,
    }
    if leak_free == documents:
        return words.counted("scheme.documents.bound", documents, **values, bound=numbers.decimal(100 * (1 - low), 1))
    return words.counted("scheme.documents.verdict", documents, **values)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
