"""The page on several annotations of the same documents: who stands apart, F1 of everyone with everyone else."""

from __future__ import annotations

from math import nan

from clueval_xlsx.pages.page import Cell, Chapter, Heading, Page, Section, Table, TableRow, Text, TextStyle
from clueval_xlsx.pages.scores import PageMaker, same_words
from clueval_xlsx.pairwise_agreement import AgreeingPair, PairwiseAgreement
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.words import Words


def agreement_page(agreement: PairwiseAgreement, words: Words) -> Page:
    """Who stands apart, a matrix at the chosen level, every pair by level, labels, documents, signatures."""
    make = PageMaker(words)
    options = agreement.options
    evaluations = [pair.evaluation for pair in agreement.pairs if pair.evaluation is not None]
    sections: list[Section] = [
        Text(_sentences(agreement, make), TextStyle.HEADLINE),
        Text((make.level_sentence(options),)),
        _matrix(agreement, make),
        *(_pairs(agreement, labelled, make) for labelled in (None, *agreement.layers)),
        *(_labels(agreement, layer, make) for layer in agreement.layers),
        make.signatures(result.signature for result in evaluations),
    ]
    title = words["agree.title"]
    chapters = (Chapter(title, tuple(sections)), Chapter(words["sheet.documents"], (_documents(agreement, make),)))
    return make.page(title, [" · ".join(agreement.names)], chapters)


def _sentences(agreement: PairwiseAgreement, make: PageMaker) -> tuple[str, ...]:
    apart, sentences = agreement.apart, []
    if apart is not None:
        rates = {"own": make.numbers.rate(apart.own).text, "others": make.numbers.rate(apart.others).text}
        sentences.append(make.words("agree.apart", name=apart.name, **rates))
    strange = [_name(pair) for pair in agreement.pairs if pair.evaluation is None]
    if strange:
        sentences.append(make.words("agree.nothing_common", pairs=", ".join(strange)))
    return tuple(sentences)


def _name(pair: AgreeingPair) -> str:
    return f"{pair.first} – {pair.second}"


def _way(level: str, labelled: str | None, words: Words) -> str:
    name = words[f"level.{level}"]
    return name if labelled is None else f"{name}, {same_words(labelled, words)}"


def _matrix(agreement: PairwiseAgreement, make: PageMaker) -> Table:
    """Everyone with everyone else at the chosen level."""
    level, labelled = agreement.options.level, agreement.options.labelled
    rates = agreement.matrix(level, labelled)
    rows = []
    for name in agreement.names:
        cells: list[Cell] = [name]
        for other in agreement.names:
            cells.append("" if name == other else make.numbers.rate(float(rates.loc[name, other])))
        rows.append(TableRow(tuple(cells)))
    columns = (Heading(make.words["agree.who"]), *(Heading(name) for name in agreement.names))
    return Table(make.words("agree.matrix", way=_way(level, labelled, make.words)), columns, tuple(rows))


def _pairs(agreement: PairwiseAgreement, labelled: str | None, make: PageMaker) -> Table:
    """Every pair by level."""
    words = make.words
    columns = (Heading(words["agree.pair"]), *(Heading(words[f"level.{level}"]) for level in LEVELS))
    rows = tuple(
        TableRow((_name(pair), *(make.numbers.rate(pair.f1(level, labelled)) for level in LEVELS)))
        for pair in agreement.pairs
    )
    title = words["agree.pairs"] + ("" if labelled is None else f", {same_words(labelled, words)}")
    return Table(title, columns, rows)


def _labels(agreement: PairwiseAgreement, layer: str, make: PageMaker) -> Table:
    """F1 by label at the chosen level; labels must agree, or they would not be those of both."""
    title = make.words("agree.labels", way=_way(agreement.options.level, layer, make.words))
    asked = {"labelled": layer, "layer": layer, "group_key": None, "average": "micro"}
    return _across(agreement, "label", asked, title, make)


def _documents(agreement: PairwiseAgreement, make: PageMaker) -> Table:
    options = agreement.options
    title = make.words("agree.documents", way=_way(options.level, options.labelled, make.words))
    asked = {"labelled": options.labelled, "layer": None, "group_key": "document"}
    return _across(agreement, "group", asked, title, make)


def _across(
    agreement: PairwiseAgreement, column: str, asked: dict[str, str | None], title: str, make: PageMaker
) -> Table:
    """One row for each label or document that any pair has a rate for, one column a pair."""
    rates = []
    for pair in agreement.pairs:
        rows = pair.rows(level=agreement.options.level, **asked)
        rates.append({str(row[column]): float(row["f1"]) for row in rows.to_dict("records")})
    names = dict.fromkeys(name for of_pair in rates for name in of_pair)
    lines = tuple(TableRow((name, *(make.numbers.rate(of_pair.get(name, nan)) for of_pair in rates))) for name in names)
    first = make.words["column.label" if column == "label" else "column.document"]
    columns = (Heading(first), *(Heading(_name(pair)) for pair in agreement.pairs))
    return Table(title, columns, lines, empty=make.words["html.none"])
