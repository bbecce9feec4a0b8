"""Lists of tokens with lists of tags become a reading, whoever listed them: a program, or records of Hugging Face.

Those have `tokens` with `ner_tags`, which are texts, or numbers with names (`tag_names`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.corpus import Corpus, LineOrigin, Regions
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, TagColumn, parse_tag
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.json_records import Path as KeyPath
from clueval_xlsx.formats.json_records import key_list, look_up, parse_path, shown
from clueval_xlsx.formats.loading import unique_ids
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions
from clueval_xlsx.text.strings import PADDING, Strings

_LABEL = re.compile(r"[^\W\d_](?!-)[\w.:/+-]*")
Document = tuple[Mapping[str, str], int]  # attributes, and how many sentences
_TOKENS = ("tokens", "words", "text_tokens", "mbert_text_tokens", "mbert_tokens")
_TAGS = ("ner_tags", "ner", "bio_labels", "mbert_bio_labels", "tags", "labels", "token_labels")
_DOCUMENTS = ("document_id", "doc_id", "document")
ID_KEYS = ("doc_id", "document_id", "id", "uid")
_USUAL = "ner_tags"
_CARD = re.compile(r"---\r?\n(.*?)\r?\n---", re.DOTALL)  # the head of a dataset card (README.md)
_CARD_LINE = re.compile(r"\s*-\s+name:\s*(?P<column>\S+)\s*|\s*'?(?P<number>\d+)'?:\s*(?P<name>\S.*)")


def token_corpus(
    name: str, words: Sequence[str], lengths: Sequence[int], documents: Sequence[Document], places: Sequence[str] = ()
) -> Corpus:
    """A corpus of words one after another: the length of each sentence, and how many of them each document has.

    `places` is what a message calls each sentence. Documents must have different IDs.

    >>> corpus = token_corpus("x", ["Ann", "kam", "Lee"], [2, 1], [({"id": "a"}, 1), ({}, 1)])
    >>> corpus.doc_ids, corpus.breaks.tolist(), corpus.text(0, 1)
    (('a', '#2'), [0, 2], 'Ann kam')
    """
    doc_ids = tuple(attributes.get("id") or f"#{number}" for number, (attributes, _) in enumerate(documents, 1))
    if len(set(doc_ids)) < len(doc_ids):
        again = next(doc_id for number, doc_id in enumerate(doc_ids) if doc_id in doc_ids[:number])
        raise InputError(
            f"{name}: document {again!r} is there twice. Document IDs must be unique, and what belongs to a document "
            "must stand together."
        )
    sizes = [len(word.encode("utf-8", "surrogatepass")) for word in words]
    begin = np.array([0, *accumulate(size + 1 for size in sizes)], dtype=np.int64)[:-1]
    data = "".join(f"{word}\n" for word in words).encode("utf-8", "surrogatepass") + bytes(PADDING)
    start = np.array([0, *accumulate(lengths)], dtype=np.int64)
    border = start[[0, *accumulate(count for _, count in documents)]]
    lines = tuple((start[:-1] + 1).tolist())
    return Corpus(
        tokens=Strings(data, begin, np.array(sizes, dtype=np.int32)),
        doc_ids=doc_ids,
        documents=Regions(border[:-1], border[1:], rows=[attributes for attributes, _ in documents]),
        breaks=np.unique(start[start < len(words)]),
        hard_breaks=True,
        name=name,
        origin=LineOrigin(lines, tuple(places), ", token ") if places else None,
    )


def tag_column(tags: Sequence[Any], where: Callable[[int], str]) -> TagColumn:
    """The tags of one layer, one for each token; `where` says what a message calls the place of a token.

    Labels without prefixes are tags of the scheme IO.
    """
    try:
        column = TagColumn.of(tags)
    except TypeError:  # a tag that cannot even be compared with others
        column = TagColumn(np.full(1, -1), ())
    if (column.codes >= 0).all() and all(isinstance(tag, str) for tag in column.tags):
        if all(parse_tag(tag) is not None for tag in column.tags):
            return column
        if OUTSIDE in column.tags and all(tag in OUTSIDE_MARKS or _LABEL.fullmatch(tag) for tag in column.tags):
            return replace(column, plain=True)
    wrong = next(place for place, tag in enumerate(tags) if not isinstance(tag, str) or parse_tag(tag) is None)
    raise InputError(
        f"{where(wrong)}: {tags[wrong]!r} is no tag. Allowed: O, B-LABEL, I-LABEL "
        "(or the prefixes E S, L U of BIOES and BILOU)."
    )


class TokenLists:
    """Takes sentences of tokens with tags one by one; `reading` is all of them."""

    def __init__(self, layers: Sequence[str]) -> None:
        self.words: list[str] = []
        self.lengths: list[int] = []
        self.documents: list[Document] = []
        self.tags: dict[str, list[str]] = {layer: [] for layer in layers}
        self.places: list[str] = []

    def open_document(self, attributes: Mapping[str, str]) -> None:
        """Begin a document."""
        self.documents.append((attributes, 0))

    def add(self, words: Sequence[str], tags: Sequence[Sequence[str]], place: str) -> None:
        """Take a sentence of the last document: a tag of each layer for each word."""
        attributes, count = self.documents[-1]
        self.documents[-1] = attributes, count + 1
        self.words += words
        self.lengths.append(len(words))
        self.places.append(place)
        for own, new in zip(self.tags.values(), tags, strict=True):
            own.extend(new)

    def reading(self, source: Source) -> Reading:
        """The reading, which nothing is written back to."""
        if not self.words:
            raise InputError(f"{source.name}: there is no token in it. Check that this is the right file.")
        corpus = token_corpus(source.name, self.words, self.lengths, self.documents, self.places)
        columns = {}
        for layer, tags in self.tags.items():
            columns[layer] = tag_column(tags, lambda place, layer=layer: f"{corpus.place(place)}: layer {layer}")  # type: ignore[misc]
        return Reading(source, corpus, columns)


# ---- records of Hugging Face -----------------------------------------------------------------------------------------


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
    """Read records of tokens, a document or a sentence each."""
    return _read([opened], opened.name, options)


def read_together(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the files of a folder as one corpus."""
    return _read([opened.part(name) for name in opened.members], opened.name, options, apart=True)


def _read(parts: Sequence[OpenedSource], name: str, options: ReadOptions, *, apart: bool = False) -> Reading:
    """Read files one behind the other; the first says where things stand. `apart`: they are named by their files."""
    first = parts[0].first_record
    path = parse_path(options.fields["tokens"]) if "tokens" in options.fields else _known(first, _TOKENS)
    if path is None:
        raise InputError(
            f"{name}: no list of tokens; the keys are {key_list(first)}. Say where they stand: "
            "--field tokens=KEY --field tags=KEY."
        )
    keys = _layer_keys(options, first, look_up(first, path), name)
    lists = TokenLists(list(keys))
    firsts = []
    for part in parts:
        firsts.append(len(lists.documents))
        before: Any = None
        for index, record in enumerate(part.json_records.content):
            if record is None:
                continue
            place = f"{part.name}: {part.json_records.place(index)}"
            words = look_up(record, path)
            if not _is_words(words):
                written = ".".join(map(str, path))
                raise InputError(f"{place}: {written!r} is {shown(words)}. Allowed: a list of texts.")
            for number, word in enumerate(words, 1):
                if not word.strip():
                    raise InputError(f"{place}, token {number}: the token is {word!r}. Allowed: a word. Mend the file.")
            shared = None if "id" in options.fields else _first_value(record, _DOCUMENTS)
            if shared is None or shared != before:
                lists.open_document(_attributes(record, shared, options))
            before = shared
            lists.add(words, [_tags(record, keys[layer], words, place, options.tag_names) for layer in keys], place)
    if apart:
        lists.documents = _named_apart(lists.documents, firsts, [PurePath(part.name).stem for part in parts])
    columns = {layer: ".".join(map(str, key)) for layer, key in keys.items()}
    return lists.reading(Source(name, "huggingface", digest(parts[0].data), columns))


def _named_apart(documents: Sequence[Document], firsts: Sequence[int], stems: Sequence[str]) -> list[Document]:
    """The documents of several files under different IDs; those without any are called by their file."""
    own = []
    for stem, (first, stop) in zip(stems, pairwise([*firsts, len(documents)]), strict=True):
        named = enumerate((attributes.get("id") for attributes, _ in documents[first:stop]), 1)
        own.append((stem, [doc_id or f"{stem}#{number}" for number, doc_id in named]))
    ids = [doc_id for doc_ids in unique_ids(own) for doc_id in doc_ids]
    return [({**attributes, "id": doc_id}, count) for doc_id, (attributes, count) in zip(ids, documents, strict=True)]


def _first_value(record: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _attributes(record: Mapping[str, Any], shared: Any, options: ReadOptions) -> dict[str, str]:
    own = look_up(record, parse_path(options.fields["id"])) if "id" in options.fields else _first_value(record, ID_KEYS)
    doc_id = own if shared is None else shared
    more = {key: str(record[key]) for key in ("lang", "language", "domain", "genre") if key in record}
    return more if doc_id is None else {"id": str(doc_id), **more}


def _known(record: Any, keys: Sequence[str]) -> KeyPath | None:
    return next(((key,) for key in keys if isinstance(record, dict) and isinstance(record.get(key), list)), None)


def _layer_keys(options: ReadOptions, first: Any, tokens: Any, name: str) -> dict[str, KeyPath]:
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


def _tags(record: Any, path: KeyPath, words: Sequence[str], place: str, names: Sequence[str]) -> list[str]:
    """The tags of a record; numbers are tags by their names."""
    tags, written = look_up(record, path), ".".join(map(str, path))
    if not isinstance(tags, list) or len(tags) != len(words):
        found = f"{len(tags)} tags" if isinstance(tags, list) else shown(tags)
        raise InputError(f"{place}: {written!r} has {found} for {len(words)} tokens. Allowed: a tag for each token.")
    for number, tag in enumerate(tags, 1):
        if isinstance(tag, str) and tag.strip():
            continue
        if not isinstance(tag, int) or isinstance(tag, bool):
            raise InputError(f"{place}, token {number}: the tag is {shown(tag)}. Allowed: a tag, or its number.")
        if not names:
            raise InputError(
                f"{place}: {written!r} holds numbers. Say what they mean: read.tag_names=O,B-PER,I-PER,… in the "
                "order of the numbers, or a file that lists the names (dataset_info.json, config.json)."
            )
        if not 0 <= tag < len(names):
            raise InputError(
                f"{place}, token {number}: the tag is {tag}, but read.tag_names gives {len(names)} names. "
                f"Allowed: 0 to {len(names) - 1}."
            )
    return [tag if isinstance(tag, str) else names[tag] for tag in tags]


# ---- names of tags -------------------------------------------------------------------------------------------------


def with_listed_names(options: ReadOptions) -> ReadOptions:
    """The same options with the names that a file lists, which stands in the place of names."""
    column = options.fields.get("tags")
    if column is None and len(options.layers) == 1:
        ((layer, place),) = options.layers.items()
        column = str(place or layer)
    return replace(options, tag_names=names_in_file(options.tag_names[0], column))


def names_in_file(source: str, column: str | None = None) -> tuple[str, ...]:
    """The names that a file lists: one a line, or as datasets (`names`, a card) and models (`id2label`) describe them.

    Where a dataset describes several columns, those of `column` count, else those of `ner_tags`, else names of tags.
    """
    path = Path(source)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{source}: cannot be read: {error.strerror or error}. read.tag_names takes two or more names, or a file."
        ) from None
    text = decode_text(raw, source)
    card = _CARD.match(text)
    try:
        content = json.loads(text)
    except ValueError:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        described = list(_card_lists(card[1])) if card else [("", lines)]
    else:
        described = list(_name_lists(content))
    names = max(described, key=lambda each: _fit(each[0], each[1], column), default=("", []))[1]
    if len(names) < 2:
        raise InputError(
            f"{source}: there are no names of tags in it. Allowed: one name a line, JSON with 'names' or 'id2label', "
            "or the card of a data set."
        )
    return tuple(names)


def _fit(key: str, names: list[str], column: str | None) -> int:
    """How well a list of names fits: by its column, or by what it holds."""
    return 4 * (key == column) + 2 * (key == _USUAL) + all(parse_tag(name) is not None for name in names)


def _card_lists(text: str) -> Iterator[tuple[str, list[str]]]:
    """The names of each column that a card describes, in the order of their numbers."""
    column, names = "", list[str]()
    for line in text.splitlines():
        match = _CARD_LINE.fullmatch(line)
        if match is None:
            continue
        if match["column"] is not None:
            if names:
                yield column, names
            column, names = match["column"], []
        elif int(match["number"]) == len(names):
            names.append(match["name"].strip().strip("'\""))
    if names:
        yield column, names


def _name_lists(content: Any, key: str = "") -> Iterator[tuple[str, list[str]]]:
    """Every list of names in a JSON value, however deep it lies, with the key of the column that it is about."""
    if isinstance(content, list):
        if content and all(isinstance(item, str) for item in content):
            yield key, content
        for item in content:
            yield from _name_lists(item, key)
    elif isinstance(content, dict):
        numbered = content.get("id2label")
        if isinstance(numbered, dict) and all(str(number).isdigit() for number in numbered):
            yield key, [str(numbered[number]) for number in sorted(numbered, key=int)]
        elif "names" in content:
            yield from _name_lists(content["names"], key)
        for name, value in content.items():
            if name not in {"names", "id2label"} and isinstance(value, dict | list):
                yield from _name_lists(value, key if name in {"feature", "class_label", "sequence"} else name)
