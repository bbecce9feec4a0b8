"""Options about inputs: which format, which of its fields, how annotations by character and tags are read."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.parameters import LayerField, ListOption, NamedColumn, group, was_chosen
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.registry import FORMAT_NAMES

if TYPE_CHECKING:
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.formats.options import ReadOptions, ReadOverrides

_FORMAT = click.Choice(FORMAT_NAMES)
_STANDARD_INPUT = "-"

_READING = [
    click.option(
        "--layer",
        "layers",
        type=LayerField(),
        cls=ListOption,
        help="A layer and its column of BIO tags, or the field its labels come from. "
        "Default: span=2 (CoNLL: the last column; other formats: the main label).",
    ),
    click.option("--format", "format_", type=_FORMAT, metavar="NAME", help=f"Input format: {', '.join(FORMAT_NAMES)}."),
    click.option(
        "--text",
        metavar="PATH",
        help="Where the text is: a folder of .txt for brat annotations, the .vrt of a span table.",
    ),
    click.option(
        "--nested",
        type=click.Choice(["error", "longest", "merge"]),
        help="Annotations that overlap: refuse them, keep the longest, or merge them. "
        "Default: error; for a detector's list: longest.",
    ),
    click.option(
        "--offsets",
        type=click.Choice(["codepoints", "glyphs", "utf16"]),
        default="codepoints",
        show_default=True,
        help="What character offsets count.",
    ),
    click.option(
        "--annotator",
        metavar="NAME",
        help="Whose annotations: a name, `first` (of each document) or `union`. Needed where there are several.",
    ),
    click.option("--token-id", type=click.IntRange(1), metavar="COLUMN", help="Column of the token IDs."),
    click.option(
        "--document-id",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column of document IDs, for files without document tags.",
    ),
    click.option(
        "--column",
        "columns",
        type=NamedColumn(),
        cls=ListOption,
        help="A named column whose values metrics can be grouped by.",
    ),
    click.option(
        "--space-column",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column that says whether a space follows (SpaceAfter=No, 0, no: none).",
    ),
    click.option("--document-tag", default="text", show_default=True, help="XML element of a document."),
    click.option("--sentence-tag", default="s", show_default=True, help="XML element of a sentence."),
]

_TWO_SIDES = [
    click.option("--gold-layer", "gold_layers", type=LayerField(), cls=ListOption, help="--layer for gold alone."),
    click.option("--pred-layer", "pred_layers", type=LayerField(), cls=ListOption, help="--layer for pred alone."),
    click.option("--gold-format", type=_FORMAT, metavar="NAME", help="--format for gold alone."),
    click.option("--pred-format", type=_FORMAT, metavar="NAME", help="--format for the prediction alone."),
    click.option("--gold-annotator", metavar="NAME", help="--annotator for gold alone."),
    click.option("--pred-annotator", metavar="NAME", help="--annotator for the prediction alone."),
    click.option("--gold-nested", type=click.Choice(["error", "longest", "merge"]), help="--nested for gold alone."),
    click.option("--pred-nested", type=click.Choice(["error", "longest", "merge"]), help="--nested for pred alone."),
    click.option("--gold-text", metavar="PATH", help="--text for gold alone."),
    click.option("--pred-text", metavar="PATH", help="--text for the prediction alone."),
    click.option(
        "--align",
        type=click.Choice(["tokens", "text"]),
        default="tokens",
        show_default=True,
        help="Whether both sides must have the same tokens, or the same text, whatever the tokens.",
    ),
    click.option(
        "--bio",
        type=click.Choice(["lenient", "strict"]),
        default="lenient",
        show_default=True,
        help="Whether an I- tag that continues nothing opens a span or is an error.",
    ),
]


@dataclass(frozen=True)
class SideOptions:
    """How gold and prediction are read and brought together."""

    gold: ReadOptions
    pred: ReadOptions
    strict_tags: bool = False
    align_text: bool = False


def _read_options(given: Mapping[str, Any], side: str = "") -> ReadOptions:
    """Reading options of one side (gold, pred) or of both; an option of a side goes before the one of both."""
    from clueval_xlsx.formats.options import ReadOptions

    def own(name: str, common_name: str = "") -> Any:
        return given.get(f"{side}_{name}") or given[common_name or name]

    layers = own("layers")
    names = [name for name, _ in layers]
    if len(set(names)) < len(names):
        raise OptionError(f"a layer is named twice: {', '.join(names)}. Give each layer its own name.")
    return ReadOptions(
        format=own("format", "format_"),
        layers=dict(layers),
        token_id=given["token_id"],
        document_id=given["document_id"],
        columns=dict(given["columns"]),
        space_column=given["space_column"],
        document_tag=given["document_tag"],
        sentence_tag=given["sentence_tag"],
        text=own("text"),
        nested=own("nested"),
        offsets=given["offsets"],
        annotator=own("annotator"),
    )


def _one_input(**given: Any) -> ReadOptions:
    return _read_options(given)


def _both_sides(**given: Any) -> SideOptions:
    return SideOptions(
        gold=_read_options(given, "gold"),
        pred=_read_options(given, "pred"),
        strict_tags=given["bio"] == "strict",
        align_text=given["align"] == "text",
    )


def _overrides(**given: Any) -> ReadOverrides:
    from clueval_xlsx.formats.options import ReadOverrides

    names = frozenset(name.rstrip("_") for name in given if was_chosen(name))
    return ReadOverrides(_read_options(given), names)


reading = group("reading", _one_input, _READING)
overrides = group("overrides", _overrides, _READING)
both_sides = group("sides", _both_sides, [*_READING, *_TWO_SIDES])


def read_input(path: str, options: ReadOptions) -> Reading:
    """Read one input; `-` is standard input."""
    from clueval_xlsx.formats.loading import read

    if path == _STANDARD_INPUT:
        return read(sys.stdin.buffer, options, name="<standard input>")
    return read(path, options)


def load_pair(gold: str, pred: str, sides: SideOptions) -> Pair:
    """Read both sides and bring them together; one of them may be `-`, standard input."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.formats.loading import read_sides

    if gold == pred == _STANDARD_INPUT:
        raise OptionError("only one side can come from standard input. Give a file for the other.")
    paths = (gold, pred)
    sources = [sys.stdin.buffer if path == _STANDARD_INPUT else path for path in paths]
    names = ["<standard input>" if path == _STANDARD_INPUT else None for path in paths]
    found = read_sides(sources[0], sources[1], sides.gold, sides.pred, names=(names[0], names[1]))
    return make_pair(*found, strict_tags=sides.strict_tags, align=sides.align_text)
