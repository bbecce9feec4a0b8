"""The cases: every missed gold span and every unsupported prediction, with what a person needs to judge it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.cases.contexts import GOLD, PRED, Extents, contexts, emoji_text
from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import label_list, layers_of, positions, touching
from clueval_xlsx.scoring.matching import LEVELS, NONE, match_spans
from clueval_xlsx.text.strings import IntArray

AGREED = "agreed"  # the class of a case that is none
BETWEEN = " | "  # between the spans of the other side
NO_LABEL = "–"
_ID_LENGTH = 12  # characters of base 32, so 60 bits


def error_table(
    spans: pd.DataFrame,
    a: pd.DataFrame,
    b: pd.DataFrame,
    corpus: Corpus,
    *,
    sheet: str = FN,
    level: str = "overlap",
    context: int | None = None,
    metadata: Sequence[str] = (),
) -> pd.DataFrame:
    """One case for each span of `spans`, which are rows of `a`, with the spans of `b` that touch it and its context.

    `error_table(missed, gold, pred, corpus)` makes the FN cases,
    `error_table(unsupported, pred, gold, corpus, sheet="FP")` the FP cases.
    """
    return add_contexts(
        case_table(spans, a, b, corpus, sheet=sheet, level=level, metadata=metadata), b, corpus, context
    )


def case_table(
    spans: pd.DataFrame,
    a: pd.DataFrame,
    b: pd.DataFrame,
    corpus: Corpus,
    *,
    sheet: str = FN,
    level: str = "overlap",
    metadata: Sequence[str] = (),
) -> pd.DataFrame:
    """The cases without their contexts, which take most of the time."""
    layers = layers_of(a)
    start, end = positions(spans)
    other_start, other_end = positions(b)
    first, stop = touching(start, end, other_start, other_end)
    touched = stop > first
    documents = corpus.document_of(start)
    origin = corpus.documents.start[documents]
    surfaces = corpus.texts(start, end)
    labels = {layer: _texts(spans[layer]) for layer in layers}

    columns: dict[str, Any] = {
        "case_id": _case_ids(sheet, corpus, documents, start, end, surfaces, labels),
        "sheet": [sheet] * len(spans),
        "class": _class_names(spans, b, level, sheet),
        "document": [corpus.doc_ids[index] for index in documents.tolist()],
        "surface": surfaces,
        **{f"label_{layer}": labels[layer] for layer in layers},
        "start": start,
        "end": end,
        "document_start": start - origin,
        "document_end": end - origin,
        **_token_ids("", corpus, start, end),
    }
    if corpus.char_start is not None and corpus.char_end is not None:
        columns |= {"char_start": corpus.char_start[start], "char_end": corpus.char_end[end]}

    needed = _covered(first[touched], stop[touched], len(b))  # each written once, however many cases it touches
    low = np.searchsorted(needed, first)
    ranges = list(zip(low.tolist(), (low + stop - first).tolist(), strict=True))
    for name, texts in (
        ("other_surface", corpus.texts(other_start[needed], other_end[needed])),
        *((f"other_label_{layer}", _texts(b[layer].iloc[needed], NO_LABEL)) for layer in layers),
    ):
        columns[name] = [BETWEEN.join(texts[begin:end]) for begin, end in ranges]
    joined_start, joined_end = np.full(len(spans), -1, np.int64), np.full(len(spans), -1, np.int64)
    joined_start[touched], joined_end[touched] = other_start[first[touched]], other_end[stop[touched] - 1]
    columns |= {"other_start": joined_start, "other_end": joined_end}
    columns |= _token_ids("other_", corpus, joined_start, joined_end)
    columns["sentence"] = _sentence_names(corpus, start)
    columns |= {f"meta_{key}": _texts(pd.Series(corpus.metadata(key, start))) for key in metadata}
    return pd.DataFrame(columns)


def add_contexts(cases: pd.DataFrame, b: pd.DataFrame, corpus: Corpus, window: int | None = None) -> pd.DataFrame:
    """Cases of one sheet with their contexts, in segments and as text; `b` are the spans of the other side."""
    marks = (PRED, GOLD) if (cases["sheet"] == FP).any() else (GOLD, PRED)
    segments = contexts(corpus, Extents(*positions(cases)), Extents(*positions(b)), marks, window)
    texts = [emoji_text(one) for one in segments]
    return cases.assign(segments=pd.Series(segments, index=cases.index, dtype=object), context=texts)


def _covered(first: IntArray, stop: IntArray, size: int) -> IntArray:
    """The rows that lie in one of the ranges from `first` up to `stop`."""
    changes = np.zeros(size + 1, dtype=np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, stop, -1)
    return np.flatnonzero(np.cumsum(changes[:-1]) > 0)


def agreed_table(
    rows: IntArray, gold: pd.DataFrame, pred: pd.DataFrame, corpus: Corpus, *, metadata: Sequence[str] = ()
) -> pd.DataFrame:
    """Cases of spans on which both sides agree, so that errors which they share can be seen, too."""
    table = case_table(gold.iloc[rows], gold, pred, corpus, sheet=AG, metadata=metadata)
    return table.assign(**{"class": AGREED, "related": pd.Series([[] for _ in range(len(table))], dtype=object)})


def link_cases(fn: pd.DataFrame, fp: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tell each case which cases of the other sheet show the same disagreement: those that share a token."""
    linked = []
    for cases, others in ((fn, fp), (fp, fn)):
        first, stop = touching(*positions(cases), *positions(others))
        ids = others["case_id"].tolist()
        related = pd.Series([ids[low:high] for low, high in zip(first, stop, strict=True)], dtype=object)
        linked.append(cases.assign(related=related))
    return linked[0], linked[1]


def _texts(labels: pd.Series, missing: str = "") -> list[str]:
    return [missing if label is None else label for label in label_list(labels)]


def _case_ids(
    sheet: str,
    corpus: Corpus,
    documents: IntArray,
    start: IntArray,
    end: IntArray,
    surfaces: list[str],
    labels: dict[str, list[str]],
) -> list[str]:
    """IDs that stay the same as long as document, place, words and labels do."""
    if corpus.char_start is not None and corpus.char_end is not None:
        places = zip(corpus.char_start[start].tolist(), corpus.char_end[end].tolist(), strict=True)
    else:
        origin = corpus.documents.start[documents]
        places = zip((start - origin).tolist(), (end - origin).tolist(), strict=True)
    named = sorted(labels)
    own = zip(*(labels[layer] for layer in named), strict=True) if named else iter([()] * len(surfaces))
    ids = []
    for document, place, surface, label in zip(documents.tolist(), places, surfaces, own, strict=True):
        key = "\x1f".join([corpus.doc_ids[document], sheet, *map(str, place), surface, *named, *label])
        code = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=10).digest()
        ids.append(f"{sheet}-{base64.b32encode(code).decode('ascii')[:_ID_LENGTH]}")
    return ids


def _class_names(spans: pd.DataFrame, b: pd.DataFrame, level: str, sheet: str) -> list[str]:
    """`label` where the boundaries pass the level; else the class, `partial`, or the sheet's name for nothing."""
    match = match_spans(spans.reset_index(drop=True), b, layers=[])
    names = {number: name for name, number in LEVELS.items()}
    touched = (match["stop"] > match["first"]).to_numpy()
    found = []
    for number, touches in zip(match["class"].tolist(), touched.tolist(), strict=True):
        if number <= LEVELS[level]:
            found.append("label")
        elif number == NONE:
            found.append("partial" if touches else sheet)
        else:
            found.append(names[number])
    return found


def _token_ids(prefix: str, corpus: Corpus, start: IntArray, end: IntArray) -> dict[str, npt.NDArray[np.object_]]:
    found = {}
    for name, values in (("start_id", start), ("end_id", end)):
        ids = np.full(len(values), "", dtype=object)
        if corpus.token_ids is not None:
            ids[values >= 0] = corpus.token_ids.take(values[values >= 0])
        found[f"{prefix}{name}"] = ids
    return found


def _sentence_names(corpus: Corpus, start: IntArray) -> list[str]:
    """The sentence's own ID where it has one, else its running number from 1."""
    numbers = corpus.sentence_of(start)
    regions = corpus.regions.get(corpus.sentence_tag)
    inside = regions.find(start) if regions is not None else np.full(len(start), -1)
    own = {
        region: regions.attributes(region).get("id")
        for region in np.unique(inside).tolist()
        if regions is not None and region >= 0
    }
    return [
        own.get(region) or str(number + 1) for number, region in zip(numbers.tolist(), inside.tolist(), strict=True)
    ]
