"""The cases: every missed gold span and every unsupported prediction, with what a person needs to judge it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.cases.contexts import GOLD, NEITHER, PRED, Extents, Marks, Touched, contexts, emoji_text
from clueval_xlsx.cases.kinds import AG, FN, FP, UM, CaseClass, Sheet
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import check_frame, label_list, layers_of, positions
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.options.values import one_of, wanted
from clueval_xlsx.scoring.matching import MatchedSpans
from clueval_xlsx.scoring.names import LEVELS, MatchClass
from clueval_xlsx.text.strings import IntArray, covered

BETWEEN = " | "  # between the spans of the other side
NO_LABEL = "–"
_UNTOUCHED = {AG: CaseClass.AGREED, UM: CaseClass.UNMARKED}  # on other sheets the class has the sheet's name
# Who marked the words of a case's own span, and those of the other side's.
_MARKS = {FP: Marks(PRED, GOLD), UM: Marks(NEITHER, NEITHER)}
ID_LENGTH = 12  # characters of base 32, so 60 bits


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
    """One case for each span of `spans`, with the spans of the other side that touch it and its context.

    `spans`  the errors, which are rows of `a`: `gold[missed]` for FN, `pred[unsupported]` for FP
    `a`, `b`  the spans of their own side and of the other, frames with `start`, `end` (both inclusive) and the layers
    `corpus`  the text they stand in, such as `read(path).corpus`
    `sheet`  what the cases are: `FN` or `FP`
    `level`  how lenient a match may be: `exact`, `superset`, `tiling` or `overlap`
    `context`  how many tokens are shown on each side; None for the sentence
    `metadata`  keys of metadata that become columns

    Gives a frame with a row a case. Raises `InputError` if the frames are no spans or `spans` are not rows of `a`,
    `OptionError` if an option is not known.

    >>> from clueval_xlsx import evaluate_tags
    >>> pair = evaluate_tags([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]], [["Ann", "left", "Bonn"]]).pair
    >>> gold, pred = pair.gold.spans, pair.pred.spans
    >>> error_table(gold[1:], gold, pred, pair.corpus)[["sheet", "class", "surface"]]
      sheet class surface
    0    FN    FN    Bonn
    """
    for name, given in (("spans", spans), ("a", a), ("b", b)):
        check_frame(given, name)
    wanted("corpus", corpus, Corpus, "the corpus of what was read, such as read(path).corpus")
    one_of("sheet", sheet, Sheet)
    one_of("level", level, LEVELS)
    if context is not None and not isinstance(context, int):
        raise OptionError(f"context: found {shown(context)}. Allowed: a number of tokens, or None for the sentence.")
    matched = MatchedSpans.of(a, b)
    cases = case_table(_rows_of(spans, a), matched, corpus, sheet=Sheet(sheet), level=level, metadata=metadata)
    return add_contexts(cases, matched, corpus, context)


def case_table(
    rows: IntArray,
    matched: MatchedSpans,
    corpus: Corpus,
    *,
    sheet: Sheet = FN,
    level: str = "overlap",
    metadata: Sequence[str] = (),
) -> pd.DataFrame:
    """The cases of these rows of the matched spans, without their contexts, which take most of the time.

    `row` is the row of the case's own span among the spans of its side: by it everything else about it is found.
    `number` is what people call it: 1, 2, 3 … on its sheet, in whatever selection it is shown.
    """
    spans = matched.spans.iloc[rows]
    layers = layers_of(spans)
    start, end = positions(spans)
    documents = corpus.document_of(start)
    origin = corpus.documents.start[documents]
    surfaces = corpus.texts(start, end)
    labels = {layer: _texts(spans[layer]) for layer in layers}
    names = [corpus.doc_ids[index] for index in documents.tolist()]

    columns: dict[str, Any] = {
        "case_id": _case_ids(sheet, names, _places(corpus, start, end), _described(surfaces, labels)),
        "sheet": [sheet] * len(spans),
        "number": np.arange(1, len(spans) + 1),
        "class": _class_names(matched, rows, level, sheet),
        "document": names,
        "surface": surfaces,
        **{f"label_{layer}": labels[layer] for layer in layers},
        "row": rows,
        "start": start,
        "end": end,
        "document_start": start - origin,
        "document_end": end - origin,
        **_token_ids("", corpus, start, end),
    }
    if corpus.char_start is not None and corpus.char_end is not None:
        columns |= {"char_start": corpus.char_start[start], "char_end": corpus.char_end[end]}

    columns |= _other_columns(rows, matched, corpus)
    columns["sentence"] = _sentence_names(corpus, start)
    columns |= {f"meta_{key}": _texts(pd.Series(corpus.metadata(key, start))) for key in metadata}
    return pd.DataFrame(columns)


def _other_columns(rows: IntArray, matched: MatchedSpans, corpus: Corpus) -> dict[str, Any]:
    """What the other side has there: words and labels joined, from the first to the last span that touches."""
    others = matched.others
    first, stop = (column[rows] for column in matched.touched)
    touched = stop > first
    needed = covered((first[touched], stop[touched]))  # each written once, however many cases it touches
    low = np.searchsorted(needed, first)
    ranges = list(zip(low.tolist(), (low + stop - first).tolist(), strict=True))
    start, end = (column[needed] for column in positions(others))
    texts = {"other_surface": corpus.texts(start, end)}
    for layer in layers_of(matched.spans):
        texts[f"other_label_{layer}"] = _texts(others[layer].iloc[needed], NO_LABEL)
    columns: dict[str, Any] = {
        name: [BETWEEN.join(words[begin:end]) for begin, end in ranges] for name, words in texts.items()
    }
    start, end = (matched.match[name].to_numpy(np.int64)[rows] for name in ("partner_start", "partner_end"))
    return {**columns, "other_start": start, "other_end": end, **_token_ids("other_", corpus, start, end)}


def add_contexts(cases: pd.DataFrame, matched: MatchedSpans, corpus: Corpus, window: int | None = None) -> pd.DataFrame:
    """Cases of one sheet with their contexts, in segments and as text."""
    rows = cases["row"].to_numpy(np.int64)
    others, side = (Extents(*positions(spans)) for spans in (matched.others, matched.spans))
    first, stop = (column[rows] for column in matched.touched)
    return with_touched(cases, Touched(others, first, stop, side), corpus, window)


def with_touched(cases: pd.DataFrame, touched: Touched, corpus: Corpus, window: int | None = None) -> pd.DataFrame:
    """Cases of one sheet with their contexts, beside what touches them on the other side."""
    sheet = Sheet(cases["sheet"].iloc[0]) if len(cases) else FN
    marks = _MARKS.get(sheet, Marks(GOLD, PRED))
    segments = contexts(corpus, Extents(*positions(cases)), touched, marks, window=window)
    texts = [emoji_text(one) for one in segments]
    return cases.assign(segments=pd.Series(segments, index=cases.index, dtype=object), context=texts)


def _rows_of(spans: pd.DataFrame, a: pd.DataFrame) -> IntArray:
    """Where spans stand in the frame that they were taken from."""
    (start, end), (a_start, a_end) = positions(spans), positions(a)
    rows = np.searchsorted(a_start, start).astype(np.int64)
    strange = (rows == len(a)) | ((np.append(a_start, -1)[rows] != start) | (np.append(a_end, -1)[rows] != end))
    if strange.any():
        place = int(np.flatnonzero(strange)[0])
        raise InputError(
            f"error table: {start[place]}..{end[place]} is none of the spans of its side. "
            "Give rows of the second argument, such as gold[missed] with gold."
        )
    return rows


def agreed_table(
    rows: IntArray, matched: MatchedSpans, corpus: Corpus, *, metadata: Sequence[str] = ()
) -> pd.DataFrame:
    """Cases of gold spans on which both sides agree, so that errors which they share can be seen, too."""
    table = case_table(rows, matched, corpus, sheet=AG, metadata=metadata)
    nothing = pd.Series([[] for _ in range(len(table))], dtype=object)
    return table.assign(**{"class": CaseClass.AGREED, "number": rows + 1, "related": nothing})


def link_cases(
    tables: tuple[pd.DataFrame, pd.DataFrame], sides: tuple[MatchedSpans, MatchedSpans]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tell each case which cases of the other sheet show the same disagreement: those that share a token.

    `tables` are the FN and the FP cases in the order of their rows, `sides` the gold and the predicted spans.
    """
    linked = []
    for cases, others, matched in zip(tables, reversed(tables), sides, strict=True):
        before = np.zeros(len(matched.others) + 1, dtype=np.int64)  # cases among the other spans before each row
        before[others["row"].to_numpy(np.int64) + 1] = 1
        before = np.cumsum(before)
        low, high = (before[column[cases["row"].to_numpy(np.int64)]].tolist() for column in matched.touched)
        ids = others["case_id"].tolist()
        related = pd.Series([ids[begin:end] for begin, end in zip(low, high, strict=True)], dtype=object)
        linked.append(cases.assign(related=related))
    return linked[0], linked[1]


def _texts(labels: pd.Series, missing: str = "") -> list[str]:
    return [missing if label is None else label for label in label_list(labels)]


def _places(corpus: Corpus, start: IntArray, end: IntArray) -> Iterable[tuple[int, int]]:
    """Where spans lie within their documents: character offsets where the source has them, else token positions."""
    if corpus.char_start is not None and corpus.char_end is not None:
        return zip(corpus.char_start[start].tolist(), corpus.char_end[end].tolist(), strict=True)
    origin = corpus.documents.start[corpus.document_of(start)]
    return zip((start - origin).tolist(), (end - origin).tolist(), strict=True)


def _described(surfaces: list[str], labels: dict[str, list[str]]) -> Iterable[tuple[str, ...]]:
    """The words of each span, the names of the layers, and its labels on them."""
    named = sorted(labels)
    own = zip(*(labels[layer] for layer in named), strict=True) if named else iter([()] * len(surfaces))
    return ((surface, *named, *label) for surface, label in zip(surfaces, own, strict=True))


def _case_ids(
    sheet: Sheet, documents: list[str], places: Iterable[tuple[int, int]], described: Iterable[tuple[str, ...]]
) -> list[str]:
    """IDs that stay the same as long as document, place, words and labels do."""
    ids = []
    for document, place, words in zip(documents, places, described, strict=True):
        key = "\x1f".join([document, sheet, *map(str, place), *words])
        code = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=10).digest()
        ids.append(f"{sheet}-{base64.b32encode(code).decode('ascii')[:ID_LENGTH]}")
    return ids


def _class_names(matched: MatchedSpans, rows: IntArray, level: str, sheet: Sheet) -> list[CaseClass]:
    """`label` where the boundaries pass the level; else the class, `partial`, or the sheet's name for nothing."""
    names = {
        kind: CaseClass.LABEL if kind <= LEVELS[level] else CaseClass(kind.word)
        for kind in MatchClass
        if kind is not MatchClass.NONE
    }
    nothing = _UNTOUCHED.get(sheet) or CaseClass(sheet)
    first, stop = (column[rows] for column in matched.touched)
    return [
        names.get(number, CaseClass.PARTIAL if touched else nothing)
        for number, touched in zip(matched.classes[rows].tolist(), (stop > first).tolist(), strict=True)
    ]


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
