"""The formats: what each is called, how it is told, what it holds, and the module that reads and writes it.

This is all that help, options and messages need to know; nothing heavy is imported before a format is used. A new
format is an entry here and a module, or what the module's `format_module(name)` gives if it has several formats, with

`tell(opened) -> bool`  whether a file whose name says nothing looks like this format
`read(opened, options) -> Reading`  reads it, or raises with all that is wrong; what is read carries how to correct it
`write(reading, layers, how) -> dict[str, bytes]`  if it is written: the new files by name

and if it needs to `annotators(opened)`, which lists by name who annotated, and `needs_text(opened)`, where only the
content tells whether the text lies elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import PurePath
from typing import Any, Final

from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.options import (
    ANNOTATORS,
    COLUMNS,
    DEFAULT_LAYER,
    FIELDS,
    NUMBERS,
    OFFSETS,
    SPANS,
    STANDOFF,
    TAGS,
    ReadOptions,
)
from clueval_xlsx.options.declaration import settings_of

SCORES, METADATA, TOKEN_IDS = "scores", "metadata", "token IDs"
ONE_WORD, LABELLED = "a label of one word", "a label"


@dataclass(frozen=True)
class Format:
    """One format.

    `kinds` say which settings of reading mean something for it. `endings` are those of its files; several formats may
    share one, and then the content tells. `targets` are the endings by which it is chosen for writing. `fields` are
    what labels can be taken from, the main one first. `sign` says by what a document of it is known, `labels` what a
    span must have there (anything, if empty), `holds` what a file of it says besides spans (None: whatever there is).
    `written` is false where nothing can be converted to it. `needs_text` says that its text lies elsewhere, `binary`
    that a file of it is no text, `extra` which extra has the library that it needs.
    """

    name: str
    title: str
    module: str
    kinds: tuple[str, ...]
    endings: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    sign: str = ""
    labels: str = ""
    holds: tuple[str, ...] | None = ()
    written: bool = True
    needs_text: bool = False
    binary: bool = False
    extra: str = ""

    def load(self) -> Any:
        """Its module, imported when it is needed."""
        module = import_module(f"clueval_xlsx.formats.{self.module}")
        return module.format_module(self.name) if hasattr(module, "format_module") else module

    @property
    def columns(self) -> bool:
        """Whether its layers are columns of tags."""
        return COLUMNS in self.kinds and not self.needs_text

    @property
    def folder(self) -> bool:
        """Whether it is a folder of files."""
        return self.name == FOLDER_FORMAT

    @property
    def uses(self) -> frozenset[str]:
        """The settings of reading that mean something for it, by their names in `ReadOptions`; others do for all."""
        return frozenset(setting.name for setting in settings_of(ReadOptions) if setting.formats in self.kinds)


FOLDER_FORMAT, PROJECT_FORMAT = "brat", "inception"
_JSON = (".json", ".jsonl", ".ndjson")
_ROWS = (COLUMNS, TAGS)
_TEXT = (SPANS, OFFSETS)
_RECORDS = (*_TEXT, FIELDS, ANNOTATORS)
_ANY = (*_ROWS, *_RECORDS, STANDOFF, NUMBERS)  # the text that a table belongs to may be a file of any format
_SAID = (SCORES, METADATA)


def _dialect(name: str, title: str, sign: str, **more: object) -> Format:
    """A dialect of JSON: what its records look like, and whatever is not as usual."""
    usual = {"kinds": _RECORDS, "endings": _JSON, "fields": ("label",), "sign": sign}
    return Format(name, title, "json_format", **{**usual, **more})  # type: ignore[arg-type]


FORMATS = (
    Format("vrt", ".vrt", "token_files", _ROWS, (".vrt", ".vert"), (".vrt",), holds=(METADATA, TOKEN_IDS)),
    Format(
        "conll", "CoNLL", "token_files", _ROWS, (".conll", ".conllu", ".bio", ".iob", ".iob2"), (".conll",),
        labels=ONE_WORD,
    ),
    Format("token-csv", "token CSV", "token_files", _ROWS, written=False),
    Format("brat", "brat", "brat", (*_TEXT, STANDOFF), (".ann",), fields=("label",), labels=ONE_WORD),
    _dialect("json", "JSON records", "text, spans (or what --field names)", targets=(".jsonl",), holds=_SAID),
    _dialect("spacy-json", "spaCy training pairs", '[text, {"entities": …}], or text, entities (or ents)'),
    _dialect(
        "tab", "TAB JSON", "doc_id, text, annotations (or presidio_detected_pii)",
        fields=("entity_type", "identifier_type", "entity_id"), holds=None, written=False,
    ),
    _dialect("label", "LABEL", "text, annotations with category", fields=("category",), labels=LABELLED, holds=_SAID),
    _dialect(
        "juritools", "juritools", "entities with entityId",
        kinds=_ANY, needs_text=True, labels=LABELLED, holds=_SAID,
    ),
    _dialect("lawnotation", "Lawnotation", "full_text, assignments", labels=LABELLED),
    _dialect(
        "presidio", "Presidio JSON", "full_text, spans",
        kinds=(*_TEXT, FIELDS), fields=("entity_type",), holds=None,
    ),
    _dialect("doccano", "doccano", "text, label (or labels, entities, annotations)", holds=(METADATA,)),
    _dialect("prodigy", "Prodigy", "text, spans, answer", holds=_SAID),
    Format(
        "huggingface", "Hugging Face tokens", "token_lists", (FIELDS, NUMBERS), _JSON,
        sign="tokens, ner_tags", written=False,
    ),
    _dialect("ai4privacy", "ai4privacy", "source_text, privacy_mask", holds=_SAID),
    _dialect(
        "label-studio", "Label Studio JSON", "data, annotations (or predictions)",
        kinds=(*_RECORDS, TAGS), holds=_SAID,
    ),
    Format("cas", "UIMA CAS XMI", "uima.xmi", (SPANS,), (".xmi",), (".xmi",)),
    Format(
        "cas-json", "UIMA CAS JSON", "uima.cas_json", (SPANS,), (".json",),
        sign="%TYPES, %FEATURE_STRUCTURES, %VIEWS", written=False,
    ),
    Format("webanno", "WebAnno TSV", "uima.webanno", (SPANS,), written=False),
    Format(
        "inception", "INCEpTION's export", "uima.inception", (SPANS, ANNOTATORS), (".zip",), written=False, binary=True,
    ),
    Format("i2b2", "i2b2 XML", "xml_files", _TEXT, (".xml",), fields=("TYPE", "tag"), written=False),
    Format(
        "docbin", "spaCy DocBin", "docbin", (SPANS,), (".spacy",), fields=("ents",),
        written=False, extra="spacy", binary=True,
    ),
    Format(
        "parquet", "Parquet", "parquet", _ANY, (".parquet", ".pq"),
        needs_text=True, written=False, binary=True, extra="parquet",
    ),
    Format(
        "table", "the table", "span_table", _ANY, (".xlsx",), (".tsv", ".csv", ".xlsx"),
        needs_text=True, binary=True, holds=None,
    ),
)  # fmt: skip
DETECTOR = Format("detector", "a detector's list", "", (SPANS,))  # no file, and in no list of formats
FORMAT_NAMES = tuple(each.name for each in FORMATS)
CONVERTED = tuple(each.name for each in FORMATS if each.written)
PREDICTED = tuple(each.name for each in FORMATS if each.written or each.name == "tab")
JSON_FORMATS = tuple(each.name for each in FORMATS if ".json" in each.endings)
TARGET_ENDINGS = {ending: each.name for each in FORMATS for ending in each.targets}


def format_named(name: str) -> Format:
    """The format of a name."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise OptionError(f"unknown format {name!r}. Allowed: {', '.join(FORMAT_NAMES)}.")


def formats_ending(name: str) -> list[Format]:
    """The formats whose files have the ending of this name, one of a packed file aside."""
    ending = PurePath(name).suffix.lower()
    return [each for each in FORMATS if ending in each.endings]


def need(module: str, extra: str, what: str) -> Any:
    """A library of an extra; without it the message says what needs it and how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module.partition(".")[0]:
            raise
        raise OptionError(
            f"{what} by a library that is not installed: install clueval-xlsx[{extra}] "
            f'(pip install "clueval-xlsx[{extra}]").'
        ) from None


# ---- how a source is read, and how one is written

GOLD: Final = "gold"
PRED: Final = "pred"
UNION, FIRST = "union", "first"
ERROR, WARN, JOIN, SPLIT = "error", "warn", "join", "split"
# What a message says where there may be two sides; a command that knows none leaves it out (`cli.input_options`).
ONE_SIDE = " (--gold-layer, --pred-layer for one side)"
FIELDS_OF_ONE_SIDE = " (gold.field, pred.field for one side)"
DEFAULT_COLUMN = 2


@dataclass(frozen=True)
class WriteOptions:
    """How to write: the name of the file or folder, and whether sentence ends are written (None: as usual)."""

    name: str
    sentences: bool | None = None


@dataclass(frozen=True)
class ReadOverrides:
    """Reading options that somebody chose, to go before those that a workbook remembers: the fields of these names."""

    options: ReadOptions = field(default_factory=ReadOptions)
    names: frozenset[str] = frozenset()

    def over(self, remembered: ReadOptions) -> ReadOptions:
        """What was remembered, with what was chosen.

        >>> ReadOverrides(ReadOptions(offsets="utf16"), frozenset({"offsets"})).over(ReadOptions(token_id=4)).token_id
        4
        """
        return replace(remembered, **{name: getattr(self.options, name) for name in self.names})


def choose_annotators(
    per_document: Sequence[Sequence[str]], wanted: str | None, name: str
) -> tuple[list[list[int]], set[int]]:
    """Which annotators of each document count, as indices; and the documents that the wanted one has not seen.

    `wanted` is a name, `first`, `union`, or None: then no document may have more than one.
    """
    known = sorted({annotator for annotators in per_document for annotator in annotators if annotator})
    if wanted is None:
        crowded = sum(len(annotators) > 1 for annotators in per_document)
        if crowded:
            raise InputError(
                f"{name}: {crowded} document{'s have' if crowded != 1 else ' has'} several annotators "
                f"({', '.join(known[:10])}{', …' if len(known) > 10 else ''}). Choose: --annotator NAME, "
                f"--annotator {FIRST} (the first of each document) or --annotator {UNION} (all of them)."
            )
        wanted = FIRST
    if wanted in {UNION, FIRST}:
        return [list(range(len(names) if wanted == UNION else min(len(names), 1))) for names in per_document], set()
    if wanted not in known:
        raise InputError(
            f"{name}: there is no annotator {wanted!r}. Annotators: {', '.join(known) or 'none'}; "
            f"or --annotator {FIRST}, --annotator {UNION}."
        )
    chosen = [[index for index, other in enumerate(names) if other == wanted] for names in per_document]
    return chosen, {number for number, indices in enumerate(chosen) if not indices}


def choose_fields(
    layers: Mapping[str, int | str | None], fields: tuple[str, ...], name: str, what: str
) -> dict[str, str]:
    """Which field of the source each layer takes its labels from; without layers, `span` from the first.

    >>> choose_fields({"category": None}, ("label",), "gold.json", "Label Studio")
    {'category': 'label'}
    """
    if not layers:
        return {DEFAULT_LAYER: fields[0]}
    chosen = {}
    for layer, wanted in layers.items():
        if wanted is None and layer not in fields and len(fields) == len(layers) == 1:
            chosen[layer] = fields[0]
            continue
        named = layer if wanted is None else wanted
        if named not in fields:
            asked = layer if wanted is None else f"{layer}={wanted}"
            raise OptionError(
                f"{name}: --layer {asked}: {what} has no field {named!r}.{did_you_mean(str(named), fields)} "
                f"Fields: {', '.join(fields)}. "
                f"Give --layer NAME=FIELD, such as {layer}={fields[0]}{ONE_SIDE}."
            )
        chosen[layer] = str(named)
    return chosen
