"""Hugging Face token classification: `tokens` with `ner_tags`, texts or numbers with names (`tag_names`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.tags import parse_tag
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.json_records import Path, key_list, look_up, parse_path, shown
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.token_lists import TokenLists
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

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
    """Read records of tokens, a document or a sentence each."""
    name, records = opened.name, opened.json_records
    first = opened.first_record
    path = parse_path(options.fields["tokens"]) if "tokens" in options.fields else _known(first, _TOKENS)
    if path is None:
        raise InputError(
            f"{name}: no list of tokens; the keys are {key_list(first)}. Say where they stand: "
            "--field tokens=KEY --field tags=KEY."
        )
    keys = _layer_keys(options, first, look_up(first, path), name)
    lists = TokenLists(list(keys))
    before: Any = None
    for index, record in enumerate(records.content):
        if record is None:
            continue
        place = f"{name}: {records.place(index)}"
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
    columns = {layer: ".".join(map(str, key)) for layer, key in keys.items()}
    return lists.reading(Source(name, "huggingface", digest(opened.data), columns))


def _first_value(record: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _attributes(record: Mapping[str, Any], shared: Any, options: ReadOptions) -> dict[str, str]:
    own = look_up(record, parse_path(options.fields["id"])) if "id" in options.fields else _first_value(record, ID_KEYS)
    doc_id = own if shared is None else shared
    more = {key: str(record[key]) for key in ("lang", "language", "domain", "genre") if key in record}
    return more if doc_id is None else {"id": str(doc_id), **more}


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


def _tags(record: Any, path: Path, words: Sequence[str], place: str, names: Sequence[str]) -> list[str]:
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
