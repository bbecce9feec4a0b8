"""Data that is already in memory: lists of tags, lists of spans and data frames become a pair of two sides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, Regions
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading, digest, spans_on_tokens
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.corpus.tags import TagColumn, parse_tag
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.text.strings import Strings

if TYPE_CHECKING:
    from clueval_xlsx.text.strings import IntArray

Span = Mapping[str, Any]
Array: TypeAlias = "np.ndarray[Any, Any] | pd.Series[Any]"
Tags: TypeAlias = "Sequence[Sequence[str] | Array] | Array"
Spans: TypeAlias = "Sequence[Sequence[Span]] | pd.Series[Any] | pd.DataFrame"
Texts: TypeAlias = "str | Sequence[str] | Mapping[str, str] | pd.Series[str]"

_Given: TypeAlias = list[str] | dict[str, str]

GOLD_NAME, PRED_NAME = "gold", "pred"
_NO_WORD = "□"  # stands for a token whose word nobody gave, so that each counts as one character
_DOCUMENT = "doc_id"
_WORDS_FORMAT = "presidio"  # the plainest of the formats with offsets: a text and one label a span


def pair_of_tags(
    gold: Tags,
    pred: Tags,
    tokens: Tags | None = None,
    documents: Sequence[str] | Array | None = None,
) -> Pair:
    """Lists of tags, one list a sentence; `documents` names the document of each list, else each is one of its own."""
    gold, pred = _lists(gold, GOLD_NAME), _lists(pred, PRED_NAME)
    tokens = None if tokens is None else _lists(tokens, "tokens")
    documents = None if documents is None else _entries(documents, "documents")
    _check_lengths(gold, pred, tokens, documents)
    lengths = np.array([len(tags) for tags in gold], dtype=np.int64)
    words = [_NO_WORD] * int(lengths.sum()) if tokens is None else _words(tokens)
    corpus = _corpus(words, lengths, documents)
    sides = [
        Reading(_source(tags, name), corpus, {DEFAULT_LAYER: _tag_column(tags, name)})
        for tags, name in ((gold, GOLD_NAME), (pred, PRED_NAME))
    ]
    return make_pair(*sides)


def pair_of_spans(gold: Spans, pred: Spans, texts: Texts | None = None, *, nested: str | None = None) -> Pair:
    """Lists of spans, one list a document, or data frames with a column `doc_id` where there are several.

    With `texts` offsets count characters, the end exclusive; without, `start` and `end` are tokens, both inclusive.
    """
    how = ReadOptions(nested=nested)  # type: ignore[arg-type]
    frames = [isinstance(spans, pd.DataFrame) for spans in (gold, pred)]
    named = all(isinstance(spans, pd.DataFrame) and _DOCUMENT in spans.columns for spans in (gold, pred))
    given = None if texts is None else _given_texts(texts, named=named, alone=all(frames))
    doc_ids, sides = _by_document([(gold, GOLD_NAME), (pred, PRED_NAME)], given)
    if given is None:
        return _pair_on_tokens(doc_ids, sides)
    words = _texts_of(doc_ids, given)
    names = (GOLD_NAME, PRED_NAME)
    readings = [_text_reading(doc_ids, words, spans, name, how) for spans, name in zip(sides, names, strict=True)]
    return make_pair(*readings)


def _entries(given: object, name: str, each: str = "sentence") -> list[Any]:
    """What a list, an array or a series holds."""
    if isinstance(given, list):
        return given
    if isinstance(given, np.ndarray | pd.Series):
        return given.tolist() if given.ndim else []
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        raise InputError(
            f"{name}: found {type(given).__name__}. Allowed: a list with one entry for each {each}; options are "
            "given by name (options=…)."
        )
    return list(given)


def _lists(given: object, name: str) -> list[list[str]]:
    """Lists of texts, whatever holds them."""
    lines = _entries(given, name)
    if all(type(line) is list for line in lines):
        return lines
    return [_line(line, f"{name}[{number}]") for number, line in enumerate(lines)]


def _line(line: object, where: str) -> list[str]:
    if isinstance(line, np.ndarray | pd.Series):
        return np.atleast_1d(np.asarray(line)).tolist()
    if isinstance(line, str) or not isinstance(line, Sequence):
        found = f"the text {line[:20]!r}" if isinstance(line, str) else type(line).__name__
        raise InputError(
            f'{where}: found {found}. Allowed: a list of texts for each sentence, such as [["B-PER", "I-PER", "O"]].'
        )
    return list(line)


def _check_lengths(
    gold: Sequence[Sequence[str]],
    pred: Sequence[Sequence[str]],
    tokens: Sequence[Sequence[str]] | None,
    documents: Sequence[str] | None,
) -> None:
    for name, given in ((GOLD_NAME, gold), (PRED_NAME, pred), ("tokens", tokens), ("documents", documents)):
        if given is not None and len(given) != len(gold):
            raise InputError(f"{name}: has {len(given)} lists, but gold has {len(gold)}. Give one for each of gold's.")
    for name, lists in ((GOLD_NAME, gold), (PRED_NAME, pred), ("tokens", tokens)):
        for number, (line, wanted) in enumerate(zip(lists or (), gold, strict=False)):
            if len(line) != len(wanted):
                raise InputError(
                    f"{name}[{number}]: has {len(line)} tokens, but gold[{number}] has {len(wanted)}. "
                    "Both sides must have the same tokens."
                )


def _words(tokens: Sequence[Sequence[str]]) -> list[str]:
    found = [word for line in tokens for word in line]
    if not all(isinstance(word, str) for word in found):
        number, odd = next((n, word) for n, line in enumerate(tokens) for word in line if not isinstance(word, str))
        raise InputError(f"tokens[{number}]: found {shown(odd)}. Allowed: words as texts.")
    return found


def _corpus(words: Sequence[str], lengths: IntArray, documents: Sequence[str] | None) -> Corpus:
    stop = np.cumsum(lengths, dtype=np.int64)
    start = stop - lengths
    names = [f"#{number}" for number in range(1, len(lengths) + 1)]
    if documents is not None:
        if any(pd.isna(name) for name in documents):
            raise InputError("documents: a list has no document. Give the name of the document of each list.")
        names = [str(name) for name in documents]
    first = [index for index in range(len(names)) if index == 0 or names[index] != names[index - 1]]
    doc_ids = tuple(names[index] for index in first)
    if len(set(doc_ids)) < len(doc_ids):
        raise InputError("documents: the lists of a document must stand together. Sort the lists by document.")
    last = [*(index - 1 for index in first[1:]), len(names) - 1] if first else []
    rows: tuple[Mapping[str, str], ...] = tuple({"id": name} if documents is not None else {} for name in doc_ids)
    regions = Regions(start[first], stop[last], rows=rows)
    breaks = np.unique(start[start < len(words)])
    return Corpus(Strings.of(words), doc_ids, regions, breaks, hard_breaks=True, name="tokens")


def _tag_column(lists: Sequence[Sequence[str]], name: str) -> TagColumn:
    flat = [tag for tags in lists for tag in tags]
    try:
        column = TagColumn.of(flat)
    except TypeError:  # a tag that cannot even be compared with others
        column = None
    if column is not None and (column.codes >= 0).all() and all(_is_tag(tag) for tag in column.tags):
        return column
    number, strange = next((number, tag) for number, tags in enumerate(lists) for tag in tags if not _is_tag(tag))
    raise InputError(
        f"{name}[{number}]: {strange!r} is no tag. Allowed: O, B-LABEL, I-LABEL "
        "(or the prefixes E S, L U of BIOES and BILOU)."
    )


def _is_tag(tag: object) -> bool:
    return isinstance(tag, str) and parse_tag(tag) is not None


def _source(content: object, name: str, fields: Mapping[str, str] | None = None) -> Source:
    """Where data came from that has no file: its hash is that of its JSON."""
    data = json.dumps(content, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    return Source(name, "vrt" if fields is None else _WORDS_FORMAT, digest(data), dict(fields or {}))


def _given_texts(texts: Texts, *, named: bool, alone: bool) -> _Given:
    """The texts by document where documents have names, else one after the other.

    A series of texts goes by its index where documents are named; a text alone is that of the only document, which
    frames without names have.
    """
    if isinstance(texts, pd.Series):
        texts = texts.to_dict() if named else texts.tolist()
    if isinstance(texts, str) and alone:
        texts = [texts]
    if isinstance(texts, str) or not isinstance(texts, Sequence | Mapping | np.ndarray):
        raise InputError(f"texts: found {type(texts).__name__}. Allowed: a list of texts, one for each document.")
    found: _Given = {str(name): text for name, text in texts.items()} if isinstance(texts, Mapping) else list(texts)
    for key, text in found.items() if isinstance(found, Mapping) else enumerate(found):
        if not isinstance(text, str):
            raise InputError(f"texts[{key!r}]: found {type(text).__name__}. Allowed: the text of the document.")
    return found


def _by_document(
    given: Sequence[tuple[Spans, str]], texts: _Given | None
) -> tuple[list[str | None], list[list[list[Span]]]]:
    """The documents' names (None where nobody names them), and each side's spans document by document."""
    frames = [isinstance(spans, pd.DataFrame) for spans, _ in given]
    if all(frames):
        return _frames_by_document([(_frame(spans), name) for spans, name in given], texts)
    if any(frames):
        raise InputError("gold and pred: found a data frame and a list. Allowed: two data frames, or two lists.")
    if isinstance(texts, Mapping):
        raise InputError("texts: found names of documents, but lists of spans have none. Give a list of texts.")
    lists = [(_entries(spans, name, "document"), name) for spans, name in given]
    counts = {name: len(spans) for spans, name in lists} | ({} if texts is None else {"texts": len(texts)})
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"the documents differ: {found}. Give one list of spans for each document on both sides.")
    sides = [[_checked(spans, f"{name}[{number}]") for number, spans in enumerate(side)] for side, name in lists]
    return [None] * counts[GOLD_NAME], sides


def _checked(spans: object, where: str) -> list[Span]:
    if isinstance(spans, Mapping | str) or not isinstance(spans, Iterable):
        raise InputError(f"{where}: found {type(spans).__name__}. Allowed: a list of spans for each document.")
    found = list(spans)
    for number, span in enumerate(found):
        fits = isinstance(span, Mapping) and {"start", "end", "label"} <= set(span)
        if not fits or not isinstance(span["label"], str | None):
            raise InputError(
                f'{where}[{number}]: found {span!r}. Allowed: a span such as {{"start": 0, "end": 2, "label": "PER"}}.'
            )
    return found


def _frame(spans: object) -> pd.DataFrame:
    assert isinstance(spans, pd.DataFrame)
    return spans


def _frames_by_document(
    frames: Sequence[tuple[pd.DataFrame, str]], texts: _Given | None
) -> tuple[list[str | None], list[list[list[Span]]]]:
    for frame, name in frames:
        missing = [column for column in ("start", "end", "label") if column not in frame.columns]
        if missing:
            raise InputError(
                f"{name}: there is no column {missing[0]!r}. Columns: {', '.join(map(str, frame.columns))}. "
                f"Allowed: start, end, label, and {_DOCUMENT} where there are several documents."
            )
    named = [_DOCUMENT in frame.columns for frame, _ in frames]
    if not all(named):
        if any(named):
            raise InputError(f"only one of the two frames has a column {_DOCUMENT}. Give it to both or to none.")
        if isinstance(texts, Mapping):
            raise InputError(f"texts: found names of documents, but the frames have no column {_DOCUMENT}. Add it.")
        if texts is not None and len(texts) != 1:
            raise InputError(f"there are {len(texts)} texts, but the frames have no column {_DOCUMENT}. Add it.")
        return [None], [[_records(frame)] for frame, _ in frames]
    known = list(texts) if isinstance(texts, Mapping) else []
    if texts is not None and not isinstance(texts, Mapping):
        raise InputError(f"texts: found a list, but the frames name their documents. Give {{{_DOCUMENT}: text}}.")
    if any(frame[_DOCUMENT].isna().any() for frame, _ in frames):
        raise InputError(f"a row has no {_DOCUMENT}. Give the document of every span.")
    doc_ids = list(dict.fromkeys([*known, *(str(name) for frame, _ in frames for name in frame[_DOCUMENT])]))
    sides = []
    for frame, _ in frames:
        parts = {str(name): _records(part) for name, part in frame.groupby(_DOCUMENT, sort=False)}
        sides.append([parts.get(doc_id, []) for doc_id in doc_ids])
    return list(doc_ids), sides


def _records(frame: pd.DataFrame) -> list[Span]:
    labels = [None if pd.isna(label) else str(label) for label in frame["label"]]
    rows = zip(frame["start"].tolist(), frame["end"].tolist(), labels, strict=True)
    return [{"start": start, "end": end, "label": label} for start, end, label in rows]


def _pair_on_tokens(doc_ids: Sequence[str | None], sides: Sequence[Sequence[Sequence[Span]]]) -> Pair:
    """Spans of tokens nobody gave: each document is as long as its last span wants."""
    names = (GOLD_NAME, PRED_NAME)
    for name, side in zip(names, sides, strict=True):
        for number, spans in enumerate(side):
            _check_positions(spans, f"{name}[{number}]")
    lengths = np.array(
        [
            max((int(span["end"]) + 1 for spans in both for span in spans), default=0)
            for both in zip(*sides, strict=True)
        ],
        dtype=np.int64,
    )
    named = [doc_id for doc_id in doc_ids if doc_id is not None]
    corpus = _corpus([_NO_WORD] * int(lengths.sum()), lengths, named or None)
    offsets = np.cumsum(lengths) - lengths
    readings = []
    for name, side in zip(names, sides, strict=True):
        rows = [(offset, span) for offset, spans in zip(offsets.tolist(), side, strict=True) for span in spans]
        frame = make_spans(
            np.array([offset + int(span["start"]) for offset, span in rows], dtype=np.int64),
            np.array([offset + int(span["end"]) for offset, span in rows], dtype=np.int64),
            {DEFAULT_LAYER: [span["label"] for _, span in rows]},
        )
        readings.append(spans_on_tokens(_source(side, name), corpus, {DEFAULT_LAYER: frame}))
    return make_pair(*readings)


def _check_positions(spans: Sequence[Span], where: str) -> None:
    for number, span in enumerate(spans):
        start, end = span["start"], span["end"]
        whole = all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in (start, end))
        if not whole or not 0 <= start <= end:
            raise InputError(
                f"{where}[{number}]: found {start!r} to {end!r}. Allowed: whole numbers from 0 on, start not behind "
                "end; both are tokens of the span. For characters, give the texts."
            )


def _texts_of(doc_ids: Sequence[str | None], texts: _Given) -> list[str]:
    if not isinstance(texts, Mapping):
        return list(texts)
    missing = [doc_id for doc_id in doc_ids if doc_id not in texts]
    if missing:
        raise InputError(f"texts: there is none for the document {missing[0]!r}. Give the text of every document.")
    return [texts[str(doc_id)] for doc_id in doc_ids]


def _text_reading(
    doc_ids: Sequence[str | None], texts: Sequence[str], side: Sequence[Sequence[Span]], name: str, how: ReadOptions
) -> Reading:
    format_ = format_named(_WORDS_FORMAT)
    field = format_.fields[0]
    collector = Collector(name, format_, how, {DEFAULT_LAYER: field})
    for number, (doc_id, text, spans) in enumerate(zip(doc_ids, texts, side, strict=True)):
        collector.add_document(TextDocument(doc_id, text))
        collector.homes.append(None)
        for index, span in enumerate(spans):
            collector.add(
                number,
                (_plain(span["start"]), _plain(span["end"])),
                {field: span["label"]},
                where=f"{name}[{number}][{index}]",
            )
    return collector.finish(_source([list(texts), [list(spans) for spans in side]], name, {DEFAULT_LAYER: field}), None)


def _plain(value: object) -> object:
    return int(value) if isinstance(value, np.integer) else value
