"""The page on an evaluation: its headline, its score tables, its documents, and what was taken for what."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import nan
from pathlib import PurePath

import pandas as pd

from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.options import DEFAULT_LAYER
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.pages.page import (
    Bar,
    Bars,
    CaseLink,
    Cell,
    Chapter,
    Heading,
    Marked,
    Matrix,
    Page,
    Section,
    Table,
    TableRow,
    Text,
    TextStyle,
    Tiles,
    Tone,
)
from clueval_xlsx.pages.scores import RATES, PageMaker, ScoreSections
from clueval_xlsx.review.case_words import case_name, spans_name
from clueval_xlsx.scoring.matching import NOTHING, UNLABELLED
from clueval_xlsx.words import Words

_HUNDRED = 100
_HEATS = 5  # steps of shading, none apart
# How documents are put together by the number of spans missed in them: (first, last).
_LEAK_STEPS = ((0, 0), (1, 1), (2, 2), (3, 5), (6, 10), (11, None))
_OF_DOCUMENTS = ("gold", "tp_gold", "fn", "recall", "pred", "tp_pred", "fp", "precision")


def evaluation_page(evaluation: Evaluation, words: Words, cases: Iterable[pd.DataFrame] | None = None) -> Page:
    """Metrics, documents, confusion; `cases` are those that are shown, missed ones first, where they are not all."""
    make = PageMaker(words)
    pair, tables = evaluation.pair, ScoreSections(make, evaluation)
    metrics = (
        Text((plain_headline(evaluation, words),), TextStyle.HEADLINE),
        Text((make.level_sentence(evaluation.options),)),
        _tiles(evaluation, make),
        _error_bars(evaluation, make),
        _leak_bars(evaluation, make),
        tables.levels,
        *tables.by_label(plots=True),
        *tables.by_group(),
        *tables.by_scheme(),
        make.signatures([evaluation.signature]),
    )
    documents = _documents(evaluation, evaluation.bare_cases if cases is None else cases, make)
    sizes = {"documents": len(pair.corpus.doc_ids), "sentences": len(pair.corpus.breaks), "tokens": len(pair.corpus)}
    size = words("html.size", **{key: make.numbers.count(number).text for key, number in sizes.items()})
    layers = f" · {words('html.layers', layers=', '.join(pair.layers))}" if len(pair.layers) > 1 else ""
    chapters = (
        Chapter(words["sheet.metrics"], metrics),
        Chapter(words["sheet.documents"], (documents,), make.numbers.count(len(documents.rows)).text),
        Chapter(words["sheet.confusion"], confusion_sections(evaluation, make)),
    )
    return make.page(words["html.title"], [inputs_line(evaluation, words), size + layers], chapters)


def inputs_line(evaluation: Evaluation, words: Words) -> str:
    """What was compared with what."""
    gold, pred = (side.source.name for side in (evaluation.pair.gold, evaluation.pair.pred))
    return words("guide.subtitle", gold=PurePath(gold).name or gold, pred=PurePath(pred).name or pred)


def plain_headline(evaluation: Evaluation, words: Words) -> str:
    """Recall and precision for people who know neither word: of 100 passages so many.

    Of fewer than 100 passages the counts themselves are said, and of nothing nothing.
    """
    row, count = evaluation.headline, Numbers(words).count
    sentences = []
    if 0 < row["gold"] < _HUNDRED:
        counts = {"gold": count(row["gold"]).text, "found": count(row["tp_gold"]).text}
        sentences.append(words("metrics.plain_count_recall", **counts))
    elif row["gold"]:
        sentences.append(words("metrics.plain_recall", found=_of_hundred(row["tp_gold"] / row["gold"], words)))
    if 0 < row["pred"] < _HUNDRED:
        counts = {"pred": count(row["pred"]).text, "supported": count(row["tp_pred"]).text}
        sentences.append(words("metrics.plain_count_precision", **counts))
    elif row["pred"]:
        supported = _of_hundred(row["tp_pred"] / row["pred"], words)
        sentences.append(words("metrics.plain_precision", supported=supported))
    return " ".join(sentences)


def _of_hundred(rate: float, words: Words) -> str:
    """So many of 100; with decimals where a whole number would say all or none although it is not."""
    places = 0
    while places < 3 and rate not in (0, 1) and round(_HUNDRED * rate, places) in (0, _HUNDRED):
        places += 1
    return Numbers(words).decimal(_HUNDRED * rate, places)


def evaluation_sentence(evaluation: Evaluation, words: Words) -> str:
    """Recall, precision, the level, and how many cases there are to judge; with the layer where it has a name."""
    row, numbers = evaluation.headline, Numbers(words)
    sentence = words(
        "metrics.evaluated",
        recall=numbers.rate(row["recall"]).short,
        found=numbers.share(row["tp_gold"], row["gold"]).text,
        precision=numbers.rate(row["precision"]).short,
        supported=numbers.share(row["tp_pred"], row["pred"]).text,
        level=words[f"level.{evaluation.options.level}"],
        missed=numbers.count(row["fn"]).text,
        unsupported=numbers.count(row["fp"]).text,
    )
    layers = evaluation.pair.layers
    named = len(layers) == 1 and layers[0] != DEFAULT_LAYER
    return f"{layers[0]}: {sentence}" if named else sentence


def _tiles(evaluation: Evaluation, make: PageMaker) -> Tiles:
    """The headline: recall, precision, F; what is missed and unsupported; documents without a leak."""
    words, numbers, row = make.words, make.numbers, evaluation.headline
    found = words("metrics.tile_found", share=numbers.share(row["tp_gold"], row["gold"]).text)
    supported = words("metrics.tile_supported", share=numbers.share(row["tp_pred"], row["pred"]).text)
    f1 = words("metrics.tile_f1", f1=numbers.rate(row["f1"]).text)
    leaks = _leaks(evaluation)
    free = sum(not missed for missed in leaks)
    share = words("metrics.tile_documents", share=numbers.share(free, len(leaks)).text)
    # Its interval is known where scheme `documents` was asked for.
    rows = evaluation.select(scheme="documents", layer=None, group_key=None).to_dict("records")
    rate = free / len(leaks) if leaks else nan
    without_leak = rows[0] if rows else {"recall": rate, "recall_low": nan, "recall_high": nan}
    return Tiles(
        (
            make.rate_tile(words["metrics.recall"], row, "recall", found),
            make.rate_tile(words["metrics.precision"], row, "precision", supported),
            make.rate_tile(numbers.f_name(evaluation.options.beta), row, "f_beta", f1),
            make.count_tile(words["metrics.tile_fn"], row["fn"], make.of_all(row["gold"])),
            make.count_tile(words["metrics.tile_fp"], row["fp"], make.of_all(row["pred"])),
            make.rate_tile(words["metrics.tile_leak_free"], without_leak, "recall", share),
        )
    )


def _error_bars(evaluation: Evaluation, make: PageMaker) -> Bars:
    """How many cases each class has, missed ones beside unsupported ones."""
    panels = []
    for cases, sheet, tone in zip(evaluation.bare_cases, (FN, FP), (Tone.GOLD, Tone.PRED), strict=True):
        counts = cases["class"].value_counts()
        bars = []
        for kind in reversed(CLASSES):
            if kind in counts:
                bars.append(Bar(case_name(sheet, kind, make.words), make.numbers.count(int(counts[kind])), tone))
        panels.append((spans_name(sheet, make.words), tuple(bars)))
    return Bars(make.words["metrics.chart_classes"], tuple(panels), empty=make.words["html.no_cases"])


def _leak_bars(evaluation: Evaluation, make: PageMaker) -> Bars:
    """Documents by the number of reference spans missed in them at the chosen level, labels left aside."""
    words, leaks = make.words, _leaks(evaluation)
    bars = []
    for first, last in _LEAK_STEPS:
        name = f"{first}–{last}"
        if last is None:
            name = words("html.leaks.more", count=first)
        elif first == last:
            name = str(first) if first else words["html.leaks.none"]
        count = sum(first <= missed and (last is None or missed <= last) for missed in leaks)
        bars.append(Bar(name, make.numbers.count(count), Tone.GOLD if first else Tone.BOTH))
    while len(bars) > 1 and not bars[-1].number.value:
        bars.pop()
    return Bars(words["html.leaks.title"], (("", tuple(bars)),), (words["documents.explanation"],))


def _leaks(evaluation: Evaluation) -> list[int]:
    """How many reference spans were missed in each document at the chosen level, labels left aside."""
    return [int(missed) for missed in _by_document(evaluation, None)["fn"]]


def _by_document(evaluation: Evaluation, labelled: str | None) -> pd.DataFrame:
    level = evaluation.options.level
    return evaluation.select(scheme="clueval", level=level, labelled=labelled, group_key="document", layer=None)


def document_attributes(evaluation: Evaluation) -> dict[str, dict[str, str]]:
    """The metadata of each document that takes part, without what only repeats its name."""
    corpus = evaluation.pair.corpus
    counted = set(_by_document(evaluation, None)["group"])
    attributes = {}
    for index, name in enumerate(corpus.doc_ids):
        if name in counted:  # documents may have been left out
            values = corpus.documents.attributes(index).items()
            attributes[name] = {key: value for key, value in values if key != "id" and value != name}
    return attributes


def _documents(evaluation: Evaluation, cases: Iterable[pd.DataFrame], make: PageMaker) -> Table:
    """One row a document: its size, what was found and missed, whether it leaks, and its first case."""
    words, numbers, corpus = make.words, make.numbers, evaluation.pair.corpus
    attributes = document_attributes(evaluation)
    keys = tuple(dict.fromkeys(key for values in attributes.values() for key in values))
    columns = (
        Heading(words["column.document"]),
        *(Heading(key, rank=2) for key in keys),
        Heading(words["documents.tokens"], rank=3),
        *(Heading(words[f"metrics.{key}"], rank=int(key not in RATES), gauge=key in RATES) for key in _OF_DOCUMENTS),
        Heading(words["documents.leak_free"]),
        Heading(words["documents.first_case"], rank=2),
    )
    scores = {row["group"]: row for row in _by_document(evaluation, evaluation.options.labelled).to_dict("records")}
    leaks = dict(zip(_by_document(evaluation, None)["group"], _leaks(evaluation), strict=True))
    sizes = dict(zip(corpus.doc_ids, (corpus.documents.stop - corpus.documents.start).tolist(), strict=True))
    first = _first_cases(cases)
    rows = []
    for name, values in attributes.items():
        row = scores[name]
        cells: list[Cell] = [name, *(values.get(key, "") for key in keys), numbers.count(sizes[name])]
        cells += [numbers.rate(row[key]) if key in RATES else numbers.count(row[key]) for key in _OF_DOCUMENTS]
        cells.append((Marked(words["no"], Tone.ALARM),) if leaks[name] else words["yes"])
        cells.append(CaseLink(first[name], first[name]) if name in first else "")
        rows.append(TableRow(tuple(cells)))
    notes = (words["documents.explanation"],)
    return Table(words["documents.title"], columns, tuple(rows), notes, words["html.none"])


def _first_cases(tables: Iterable[pd.DataFrame]) -> dict[str, str]:
    first: dict[str, str] = {}
    for cases in tables:
        for name, case_id in zip(cases["document"], cases["case_id"], strict=True):
            first.setdefault(name, case_id)
    return first


def confusion_page(evaluation: Evaluation, words: Words) -> Page:
    """The matrices of all layers by themselves."""
    make = PageMaker(words)
    title = words["confusion.title"]
    hint = Text((words["matrix.hint"],), TextStyle.NOTE)
    sections = (hint, *confusion_sections(evaluation, make), make.signatures([evaluation.signature]))
    return make.page(title, [inputs_line(evaluation, words)], [Chapter(title, sections)])


def confusion_sections(evaluation: Evaluation, make: PageMaker) -> tuple[Section, ...]:
    """The matrix of each layer, and what it counts."""
    explained = Text((make.words["confusion.explanation"],), TextStyle.NOTE)
    return (explained, *(_matrix(evaluation, layer, make) for layer in evaluation.pair.layers))


def _matrix(evaluation: Evaluation, layer: str, make: PageMaker) -> Matrix:
    """Reference labels down, model labels across, shaded by errors; the last of both is for nothing marked."""
    words, count = make.words, make.numbers.count
    table = evaluation.confusion(layer)
    other_names = {UNLABELLED: words["confusion.no_label"], NOTHING: words["confusion.nothing"]}
    names = tuple(other_names.get(name, str(name)) for name in table.index)
    counts = table.to_numpy().tolist()
    rows, columns = [sum(row) for row in counts], [sum(column) for column in zip(*counts, strict=True)]
    errors = [[0 if line == place else value for place, value in enumerate(row)] for line, row in enumerate(counts)]
    top = max(chain.from_iterable(errors), default=0)
    hints = []
    for name, values, row in zip(names, counts, rows, strict=True):
        texts = []
        for other, value, column in zip(names, values, columns, strict=True):
            shares = {"row": _share(value, row, make), "column": _share(value, column, make)}
            shared = words("matrix.share", count=count(value).text, **shares)
            texts.append(f"{words('matrix.cell', gold=name, pred=other)}: {shared}")
        hints.append(tuple(texts))
    return Matrix(
        words("confusion.layer", layer=layer),
        words["confusion.corner"],
        names,
        tuple(tuple(map(count, row)) for row in counts),
        tuple(tuple(_heat(value, top) for value in row) for row in errors),
        tuple(hints),
        words["matrix.total"],
        tuple(map(count, rows)),
        tuple(map(count, columns)),
        count(sum(rows)),
    )


def _share(part: int, whole: int, make: PageMaker) -> str:
    return make.numbers.rate(part / whole).short if whole else "–"


def _heat(value: int, top: int) -> int:
    """A step on a root scale, so that small counts are still seen beside large ones."""
    return max(1, round(_HEATS * (value / top) ** 0.5)) if value else 0
