"""Hugging Face token classification: `tokens` with `ner_tags`, which are texts, or numbers with names (`tag_names`).

The records become vertical text, which the reader of columns reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.columns.cells import document_bounds, tag_cells
from clueval_xlsx.formats.columns.reader import read_columns
from clueval_xlsx.formats.json_format import written_records
from clueval_xlsx.formats.json_records import Path, Records, key_list, look_up, parse_path, shown
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions
from clueval_xlsx.text.strings import written_token

_TOKENS = ("tokens", "words", "text_tokens", "mbert_text_tokens", "mbert_tokens")
_TAGS = ("ner_tags", "ner", "bio_labels", "mbert_bio_labels", "tags", "labels", "token_labels")
_DOCUMENTS = ("document_id", "doc_id", "document")
ID_KEYS = ("doc_id", "document_id", "id", "uid")


def tell(opened: OpenedSource) -> bool:
    """Whether documents have tokens and tags."""
    record = opened.first_record
    if not isinstance(record, dict):
        return False
    tokens = next((record[key] for key in _TOKENS if _is_words(record.get(key))), None)
    return tokens is not None and any(_is_tags(record.get(key)) for key in _TAGS)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_tags(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str | int) for item in value)


def _fits(value: Any, tokens: Sequence[str]) -> bool:
    return _is_tags(value) and len(value) == len(tokens)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read records of tokens."""
    raw, records = opened.data, opened.json_records
    first = opened.first_record
    tokens = parse_path(options.fields["tokens"]) if "tokens" in options.fields else _known(first, _TOKENS)
    if tokens is None:
        raise InputError(
            f"{opened.name}: no list of tokens; the keys are {key_list(first)}. Say where they stand: "
            "--field tokens=KEY --field tags=KEY."
        )
    keys = _layer_keys(options, first, look_up(first, tokens), opened.name)
    table = _Table(opened.name, records, options)
    for index, record in enumerate(records.content):
        if record is not None:
            table.add(index, record, tokens, keys)
    text = table.text()
    layers = {layer: number for number, layer in enumerate(keys, 2)}
    reading = read_columns({opened.name: text}, opened.name, ReadOptions(layers=layers), origin=table.origin())
    columns = {layer: ".".join(map(str, path)) for layer, path in keys.items()}
    source = replace(reading.source, format="huggingface", sha256=digest(raw), columns=columns)
    return replace(reading, source=source, carrier=None)


def _known(record: Any, keys: Sequence[str]) -> Path | None:
    return next(((key,) for key in keys if isinstance(record, dict) and isinstance(record.get(key), list)), None)


def _layer_keys(options: ReadOptions, first: Any, tokens: Any, name: str) -> dict[str, Path]:
    """Where the tags of each layer stand."""
    if not isinstance(tokens, list):
        raise InputError(f"{name}: the tokens are {shown(tokens)}. Allowed: a list of texts.")
    fitting = [key for key, value in first.items() if _fits(value, tokens) and value is not tokens]
    fitting = fitting or [key for key in _TAGS if _is_tags(first.get(key))]  # their number is complained of later
    if options.layers:
        found = {layer: parse_path(str(key if key is not None else layer)) for layer, key in options.layers.items()}
        for layer, path in found.items():
            if not isinstance(look_up(first, path), list):
                if len(found) == 1 and options.layers[layer] is None and len(_likely(first, fitting)) == 1:
                    return {layer: (_likely(first, fitting)[0],)}
                raise OptionError(
                    f"{name}: --layer {layer}={'.'.join(map(str, path))}: there is no such list of tags. "
                    f"Lists as long as the tokens: {', '.join(fitting) or 'none'}."
                )
        return found
    if "tags" in options.fields:
        return {DEFAULT_LAYER: parse_path(options.fields["tags"])}
    likely = _likely(first, fitting)
    if len(likely) == 1 or "ner_tags" in likely:
        return {DEFAULT_LAYER: ("ner_tags" if "ner_tags" in likely else likely[0],)}
    calls = " or ".join(f"--layer {key}" for key in likely or fitting) or "--field tags=KEY"
    raise InputError(f"{name}: which list holds the tags? Keys: {key_list(first)}. Choose: {calls}.")


def _likely(record: Mapping[str, Any], fitting: Sequence[str]) -> list[str]:
    """The lists that hold tags by what they say, or failing that by their names."""
    said = [key for key in fitting if all(isinstance(tag, str) and parse_tag(tag) for tag in record[key])]
    return said or [key for key in _TAGS if key in fitting]


class _Table:
    """The records as lines of vertical text, one document or sentence for each."""

    def __init__(self, name: str, records: Records, options: ReadOptions) -> None:
        self._name, self._records, self._options = name, records, options
        self._lines: list[str] = []
        self._first: list[int] = []
        self._names: list[str] = []
        self._document: str | None = None
        self._open = False
        self._id = parse_path(options.fields["id"]) if "id" in options.fields else None

    def add(self, index: int, record: Any, tokens: Path, keys: Mapping[str, Path]) -> None:
        """Take a record."""
        place = f"{self._name}: {self._records.place(index)}"
        words = look_up(record, tokens)
        if not _is_words(words):
            written = ".".join(map(str, tokens))
            raise InputError(f"{place}: {written!r} is {shown(words)}. Allowed: a list of texts.")
        columns = [self._tags(record, path, words, place) for path in keys.values()]
        self._start(record)
        self._first.append(len(self._lines) + 1)
        self._names.append(place)
        for number, (word, *tags) in enumerate(zip(words, *columns, strict=True)):
            if not word.strip():
                raise InputError(f"{place}, token {number + 1}: the token is {word!r}. Allowed: a word. Mend the file.")
            self._lines.append("\t".join([written_token(word), *tags]))
        self._lines.append("</s>")

    def _start(self, record: Mapping[str, Any]) -> None:
        document = next((record[key] for key in _DOCUMENTS if record.get(key) is not None), None)
        shared = None if self._id is not None or document is None else str(document)
        if self._open and (shared is None or shared != self._document):
            self._lines.append("</text>")
            self._open = False
        if not self._open:
            own = (
                look_up(record, self._id)
                if self._id is not None
                else next((record[key] for key in ID_KEYS if record.get(key) is not None), None)
            )
            doc_id = shared if shared is not None else own
            attributes = {"id": str(doc_id)} if doc_id is not None else {}
            attributes.update(
                {key: str(record[key]) for key in ("lang", "language", "domain", "genre") if key in record}
            )
            written = "".join(f' {key}="{written_token(value, quote=True)}"' for key, value in attributes.items())
            self._lines.append(f"<text{written}>")
            self._open, self._document = True, shared
        self._lines.append("<s>")

    def _tags(self, record: Any, path: Path, words: Sequence[str], place: str) -> list[str]:
        tags, written = look_up(record, path), ".".join(map(str, path))
        if not isinstance(tags, list) or len(tags) != len(words):
            found = f"{len(tags)} tags" if isinstance(tags, list) else shown(tags)
            raise InputError(
                f"{place}: {written!r} has {found} for {len(words)} tokens. Allowed: a tag for each token."
            )
        names = self._options.tag_names
        found_tags = []
        for number, tag in enumerate(tags, 1):
            if isinstance(tag, int) and not isinstance(tag, bool):
                if not names:
                    raise InputError(
                        f"{place}: {written!r} holds numbers. Say what they mean: read.tag_names=O,B-PER,I-PER,… in "
                        "the order of the numbers, or a file that lists the names (dataset_info.json, config.json)."
                    )
                if not 0 <= tag < len(names):
                    raise InputError(
                        f"{place}, token {number}: the tag is {tag}, but read.tag_names gives {len(names)} names. "
                        f"Allowed: 0 to {len(names) - 1}."
                    )
                found_tags.append(names[tag])
            elif isinstance(tag, str) and tag.strip() and "\t" not in tag and "\n" not in tag:
                found_tags.append(tag)
            else:
                raise InputError(f"{place}, token {number}: the tag is {shown(tag)}. Allowed: a tag, or its number.")
        return found_tags

    def text(self) -> bytes:
        """All lines."""
        end = ["</text>"] if self._open else []
        return ("\n".join([*self._lines, *end]) + "\n").encode("utf-8", "surrogatepass")

    def origin(self) -> LineOrigin:
        """Where the lines come from."""
        return LineOrigin(tuple(self._first), tuple(self._names), ", token ")


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:
    """A new file: one record for each document, tags as texts."""
    corpus = reading.corpus
    cells = tag_cells(corpus, layers, "huggingface", r"[\t\r\n]")
    keys = ["ner_tags"] if len(cells) == 1 else list(layers)
    records = []
    for index, (first, stop) in enumerate(document_bounds(corpus)):
        attributes = dict(corpus.documents.attributes(index))
        records.append(
            {
                "id": attributes.pop("id", str(index)),
                "tokens": [corpus.tokens[position] for position in range(first, stop)],
                **{key: column[first:stop] for key, column in zip(keys, cells, strict=True)},
            }
        )
    return {how.name: written_records(records, how.name)}
