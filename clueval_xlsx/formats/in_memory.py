"""Data that is already in memory: lists of tags, lists of spans and data frames become a pair of two sides."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.token_lists import tag_column, token_corpus
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions
from clueval_xlsx.options.declaration import shown

Span = Mapping[str, Any]
Array: TypeAlias = "np.ndarray[Any, Any] | pd.Series[Any]"
Tags: TypeAlias = "Sequence[Sequence[str] | Array] | Array"
Spans: TypeAlias = "Sequence[Sequence[Span]] | pd.Series[Any] | pd.DataFrame"
Texts: TypeAlias = "str | Sequence[str] | Mapping[str, str] | pd.Series[str]"
Key: TypeAlias = "str | int"  # the name of a document, or its number where nobody names them

_NAMES = ("gold", "pred")
_NO_WORD = "□"  # stands for a token whose word nobody gave, so that each counts as one character
_DOCUMENT = "doc_id"
_WORDS_FORMAT = "presidio"  # the plainest of the formats with offsets: a text and one label a span


def pair_of_tags(
    gold: Tags, pred: Tags, tokens: Tags | None = None, documents: Sequence[str] | Array | None = None
) -> Pair:
    """Lists of tags, one list a sentence; `documents` names the document of each list, else each is one of its own."""
    sides = [_lists(tags, name) for tags, name in zip((gold, pred), _NAMES, strict=True)]
    words = None if tokens is None else _lists(tokens, "tokens")
    owners = None if documents is None else _entries(documents, "documents")
    lengths = [len(tags) for tags in sides[0]]
    for name, given in (("pred", sides[1]), ("tokens", words), ("documents", owners)):
        if given is not None and len(given) != len(lengths):
            raise InputError(
                f"{name}: has {len(given)} lists, but gold has {len(lengths)}. Give one for each of gold's."
            )
    for name, given in (("pred", sides[1]), ("tokens", words)):
        for number, (line, length) in enumerate(zip(given or (), lengths, strict=False)):
            if len(line) != length:
                raise InputError(
                    f"{name}[{number}]: has {len(line)} tokens, but gold[{number}] has {length}. "
                    "Both sides must have the same tokens."
                )
    for number, line in enumerate(words or ()):
        if not all(isinstance(word, str) for word in line):
            odd = next(word for word in line if not isinstance(word, str))
            raise InputError(f"tokens[{number}]: found {shown(odd)}. Allowed: words as texts.")
    if owners is None:
        corpus_documents: list[tuple[Mapping[str, str], int]] = [({}, 1) for _ in lengths]
    elif any(pd.isna(name) for name in owners):
        raise InputError("documents: a list has no document. Give the name of the document of each list.")
    else:
        corpus_documents = [({"id": name}, len(list(lists))) for name, lists in groupby(map(str, owners))]
    flat = [_NO_WORD] * sum(lengths) if words is None else list(chain.from_iterable(words))
    corpus = token_corpus("tokens", flat, lengths, corpus_documents)
    stops = np.cumsum(lengths)
    readings = []
    for side, name in zip(sides, _NAMES, strict=True):
        column = tag_column(
            list(chain.from_iterable(side)),
            lambda place, name=name: f"{name}[{np.searchsorted(stops, place, side='right')}]",  # type: ignore[misc]
        )
        readings.append(Reading(_source(side, name), corpus, {DEFAULT_LAYER: column}))
    return make_pair(*readings)


def pair_of_spans(gold: Spans, pred: Spans, texts: Texts | None = None, *, nested: str | None = None) -> Pair:
    """Lists of spans, one list a document, or data frames with a column `doc_id` where there are several.

    With `texts` offsets count characters, the end exclusive; without, `start` and `end` are tokens, both inclusive.
    """
    how = ReadOptions(nested=nested)  # type: ignore[arg-type]
    frames = [isinstance(spans, pd.DataFrame) for spans in (gold, pred)]
    if any(frames) and not all(frames):
        raise InputError("gold and pred: found a data frame and a list. Allowed: two data frames, or two lists.")
    sides = [_by_document(spans, name) for spans, name in zip((gold, pred), _NAMES, strict=True)]
    named = [isinstance(spans, pd.DataFrame) and _DOCUMENT in spans.columns for spans in (gold, pred)]
    if any(named) and not all(named):
        raise InputError(f"only one of the two frames has a column {_DOCUMENT}. Give it to both or to none.")
    given = None if texts is None else _texts(texts, named=all(named), frames=all(frames))
    counts = {name: len(side) for name, side in zip(_NAMES, sides, strict=True)}
    counts |= {} if given is None else {"texts": len(given)}
    if not all(named) and len(set(counts.values())) > 1:
        found = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise InputError(f"the documents differ: {found}. Give one list of spans for each document on both sides.")
    keys = list(dict.fromkeys(chain(given or (), *sides)))
    missing = [key for key in keys if given is not None and key not in given]
    if missing:
        raise InputError(f"texts: there is none for the document {missing[0]!r}. Give the text of every document.")
    corpus = _as_long_as_spans(keys, sides) if given is None else None
    format_ = format_named(_WORDS_FORMAT)
    layers = {DEFAULT_LAYER: format_.fields[0]}
    readings = []
    for side, name in zip(sides, _NAMES, strict=True):
        collector = Collector(name, format_, how, layers)
        collector.tokens = corpus
        for number, key in enumerate(keys):
            if given is not None:
                collector.add_document(TextDocument(key if isinstance(key, str) else None, given[key]))
                collector.homes.append(None)
            for index, span in enumerate(side.get(key, ())):
                start, end = _plain(span["start"]), _plain(span["end"])
                values, where = {format_.fields[0]: span["label"]}, f"{name}[{number}][{index}]"
                if corpus is None:
                    collector.add(number, (start, end), values, where=where)
                    continue
                first = int(corpus.documents.start[number])
                collector.add(0, (first + int(span["start"]), first + int(span["end"]) + 1), values, where=where)
        spans = [list(side.get(key, ())) for key in keys]
        source = _source(spans, name) if given is None else _source([[given[key] for key in keys], spans], name, layers)
        readings.append(collector.finish(source, None))
    return make_pair(*readings)


def _source(content: object, name: str, fields: Mapping[str, str] | None = None) -> Source:
    """Where data came from that has no file: its hash is that of its JSON."""
    data = json.dumps(content, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass")
    return Source(name, "vrt" if fields is None else _WORDS_FORMAT, digest(data), dict(fields or {}))


# -- what lists, arrays, series and frames hold


def _entries(given: object, name: str, each: str = "sentence") -> list[Any]:
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


def _lists(given: object, name: str) -> list[list[Any]]:
    """Lists of texts, whatever holds them."""
    lines = _entries(given, name)
    return [line if type(line) is list else _line(line, f"{name}[{number}]") for number, line in enumerate(lines)]


def _line(line: object, where: str) -> list[Any]:
    if isinstance(line, np.ndarray | pd.Series):
        return np.atleast_1d(np.asarray(line)).tolist()
    if isinstance(line, str) or not isinstance(line, Sequence):
        found = f"the text {line[:20]!r}" if isinstance(line, str) else type(line).__name__
        raise InputError(
            f'{where}: found {found}. Allowed: a list of texts for each sentence, such as [["B-PER", "I-PER", "O"]].'
        )
    return list(line)


def _by_document(given: Spans, name: str) -> dict[Key, list[Span]]:
    """The spans of each document: by its name in a frame that has names, else by its number."""
    if not isinstance(given, pd.DataFrame):
        entries = _entries(given, name, "document")
        return {number: _checked(spans, f"{name}[{number}]") for number, spans in enumerate(entries)}
    missing = [column for column in ("start", "end", "label") if column not in given.columns]
    if missing:
        raise InputError(
            f"{name}: there is no column {missing[0]!r}. Columns: {', '.join(map(str, given.columns))}. "
            f"Allowed: start, end, label, and {_DOCUMENT} where there are several documents."
        )
    if _DOCUMENT in given.columns and given[_DOCUMENT].isna().any():
        raise InputError(f"a row has no {_DOCUMENT}. Give the document of every span.")
    documents: dict[Key, list[Span]] = {} if _DOCUMENT in given.columns else {0: []}
    owners: list[Key] = [0] * len(given)
    if _DOCUMENT in given.columns:
        owners = [str(owner) for owner in given[_DOCUMENT]]
    labels = [None if pd.isna(label) else str(label) for label in given["label"]]
    for owner, start, end, label in zip(owners, given["start"].tolist(), given["end"].tolist(), labels, strict=True):
        documents.setdefault(owner, []).append({"start": start, "end": end, "label": label})
    return documents


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


def _texts(texts: Texts, *, named: bool, frames: bool) -> dict[Key, str]:
    """The text of each document: by its name where documents have names, else by its number.

    A series of texts goes by its index where documents are named; a text alone is that of the only document, which
    frames without names have.
    """
    if isinstance(texts, pd.Series):
        texts = texts.to_dict() if named else texts.tolist()
    if isinstance(texts, str) and frames:
        texts = [texts]
    if isinstance(texts, str) or not isinstance(texts, Sequence | Mapping | np.ndarray):
        raise InputError(f"texts: found {type(texts).__name__}. Allowed: a list of texts, one for each document.")
    by_name = isinstance(texts, Mapping)
    if by_name and not named:
        who = (
            f"the frames have no column {_DOCUMENT}. Add it."
            if frames
            else "lists of spans have none. Give a list of texts."
        )
        raise InputError(f"texts: found names of documents, but {who}")
    if named and not by_name:
        raise InputError(f"texts: found a list, but the frames name their documents. Give {{{_DOCUMENT}: text}}.")
    if frames and not named and len(texts) != 1:
        raise InputError(f"there are {len(texts)} texts, but the frames have no column {_DOCUMENT}. Add it.")
    items = texts.items() if isinstance(texts, Mapping) else enumerate(texts)
    found: dict[Key, str] = {str(key) if by_name else key: text for key, text in items}
    for key, text in found.items():
        if not isinstance(text, str):
            raise InputError(f"texts[{key!r}]: found {type(text).__name__}. Allowed: the text of the document.")
    return found


# -- spans of tokens nobody gave


def _as_long_as_spans(keys: Sequence[Key], sides: Sequence[Mapping[Key, list[Span]]]) -> Corpus:
    """Tokens without words: each document is as long as its last span wants."""
    lengths = [0] * len(keys)
    for side, name in zip(sides, _NAMES, strict=True):
        for number, key in enumerate(keys):
            for index, span in enumerate(side.get(key, ())):
                _check_positions(span["start"], span["end"], f"{name}[{number}][{index}]")
                lengths[number] = max(lengths[number], int(span["end"]) + 1)
    documents = [({"id": key} if isinstance(key, str) else {}, 1) for key in keys]
    return token_corpus("tokens", [_NO_WORD] * sum(lengths), lengths, documents)


def _check_positions(start: object, end: object, where: str) -> None:
    first, last = _plain(start), _plain(end)
    whole = isinstance(first, int) and isinstance(last, int) and not isinstance(start, bool) | isinstance(end, bool)
    if not whole or not 0 <= first <= last:  # type: ignore[operator]
        raise InputError(
            f"{where}: found {start!r} to {end!r}. Allowed: whole numbers from 0 on, start not behind "
            "end; both are tokens of the span. For characters, give the texts."
        )


def _plain(value: object) -> object:
    return int(value) if isinstance(value, np.integer) else value
