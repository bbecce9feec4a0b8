"""How a source is read, and how one is written: options as they leave the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clueval_xlsx.arguments import check_kinds, keep, one_of, texts
from clueval_xlsx.corpus.nested import NESTED
from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.text.offsets import UNITS

GOLD, PRED = "gold", "pred"
UNION, FIRST = "union", "first"
ERROR, WARN, JOIN, SPLIT, LAYERS = "error", "warn", "join", "split", "layers"
MISMATCH = (ERROR, WARN)
DISCONTINUOUS = (ERROR, JOIN, SPLIT)
SEVERAL_TAGS = (ERROR, FIRST, LAYERS)
FIELDS = ("text", "spans", "start", "end", "label", "score", "id", "tokens", "tags")
DEFAULT_LAYER = "span"
# What a message says where there may be two sides; a command that knows none leaves it out (`cli.input_options`).
ONE_SIDE = " (--gold-layer, --pred-layer for one side)"
FIELDS_OF_ONE_SIDE = ONE_SIDE.replace("-layer", "-field")
DEFAULT_COLUMN = 2
_MOST_COLUMNS = 1_000_000


@dataclass(frozen=True)
class ReadOptions:
    """How to read one side.

    `format`  the name of the format; None: found out from name and content
    `layers`  a layer to its column, or to its field (None: the field of that name); without it there is one, `span`
    `fields`  where things stand in JSON whose keys are not known, such as `{"text": "body", "spans": "entities"}`
    `token`  the column that holds the tokens
    `token_id`, `document_id`, `sentence_id`  the columns that hold these IDs
    `columns`  a name for each column whose values metrics can be grouped by
    `space_column`  the column that says whether a space follows
    `document_tag`, `sentence_tag`  the elements that hold documents and sentences in vertical text
    `text`  where the text lies if not with the annotations: a folder for brat, a file for a span table
    `nested`  annotations that overlap: `error`, `longest`, `merge`; None: `longest` for a detector's list, else `error`
    `offsets`  what character offsets count: `codepoints`, `glyphs` or `utf16`
    `annotator`  whose annotations are wanted: a name, `first` (of each document) or `union`
    `side`  whether annotations (`gold`) or predictions (`pred`) are wanted from a file that holds both
    `mismatch`  words that do not fit their offsets: `error` or `warn`
    `discontinuous`  spans of several parts: `error`, `join` or `split`
    `several_tags`  cells with more than one tag: `error`, `first` or `layers`
    `tag_names`  what numbers mean where tags are numbers
    `encoding`  of text that is not UTF-8
    `text_only`  nobody wants the annotations

    >>> ReadOptions(layers={"category": 2, "risk": 3}, token_id=4).layers["risk"]
    3
    """

    format: str | None = None
    layers: Mapping[str, int | str | None] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    token: int | str | None = None
    token_id: int | None = None
    document_id: int | None = None
    sentence_id: int | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    space_column: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    text: str | None = None
    nested: str | None = None
    offsets: str = "codepoints"
    annotator: str | None = None
    side: str = GOLD
    mismatch: str = ERROR
    discontinuous: str = ERROR
    several_tags: str = ERROR
    tag_names: Sequence[str] = ()
    encoding: str | None = None
    text_only: bool = False

    def __post_init__(self) -> None:
        keep(self, tag_names=texts("tag_names", self.tag_names, "names of tags"))
        if isinstance(self.text, os.PathLike):
            keep(self, text=os.fspath(self.text))
        check_kinds(self)
        for name, value, allowed in (
            ("--mismatch", self.mismatch, MISMATCH),
            ("--discontinuous", self.discontinuous, DISCONTINUOUS),
            ("--several-tags", self.several_tags, SEVERAL_TAGS),
            ("--offsets", self.offsets, UNITS),
            ("--nested", ERROR if self.nested is None else self.nested, NESTED),
            ("side", self.side, (GOLD, PRED)),
        ):
            one_of(name, value, allowed)
        unknown = [name for name in self.fields if name not in FIELDS]
        if unknown:
            raise OptionError(f"--field {unknown[0]}=…: there is no such field. Allowed: {', '.join(FIELDS)}.")
        numbered = {
            **{f"--layer {layer}={column}": column for layer, column in self.layers.items()},
            **{f"--column {name}={column}": column for name, column in self.columns.items()},
            "--token": self.token,
            "--token-id": self.token_id,
            "--sentence-id": self.sentence_id,
            "--document-id": self.document_id,
            "--space-column": self.space_column,
        }
        for name, column in numbered.items():
            if isinstance(column, int) and not 1 <= column <= _MOST_COLUMNS:
                raise OptionError(f"{name}: there is no column {column}. Allowed: 1 to {_MOST_COLUMNS:,}.")


@dataclass(frozen=True)
class WriteOptions:
    """How to write: the name of the file or folder, and whether sentence ends are written (None: as usual)."""

    name: str
    sentences: bool | None = None


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
