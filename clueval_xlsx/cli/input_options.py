"""Options about inputs: which format, which of its fields, how annotations by character and tags are read."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.nothing import refuse_nothing, say_nothing
from clueval_xlsx.cli.parameters import (
    KeyValue,
    LayerField,
    ListOption,
    NamedColumn,
    NumberRange,
    TokenColumn,
    group,
    was_chosen,
)
from clueval_xlsx.exceptions import CluevalError, OptionError
from clueval_xlsx.formats.registry import FORMAT_NAMES

if TYPE_CHECKING:
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.evaluation import Options
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
        "A column may go by the name that a header gives it. Default: the one column that holds tags, or the main "
        "label.",
    ),
    click.option(
        "--format",
        "format_",
        type=_FORMAT,
        metavar="NAME",
        help="Input format, if it is not told by ending and content: `clueval-xlsx help formats` lists them.",
    ),
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
    click.option(
        "--field",
        "fields",
        type=KeyValue("text=body"),
        cls=ListOption,
        help="Where something stands in JSON: text, spans, start, end, label, score, id, or tokens and tags; "
        "dots lead inwards (text=data.body).",
    ),
    click.option(
        "--mismatch",
        type=click.Choice(["error", "warn"]),
        default="error",
        show_default=True,
        help="Annotations whose words do not fit their offsets: refuse them, or go on with the offsets.",
    ),
    click.option(
        "--discontinuous",
        type=click.Choice(["error", "join", "split"]),
        default="error",
        show_default=True,
        help="Annotations of several parts: refuse them, join them from first to last, or split them into spans.",
    ),
    click.option(
        "--several-tags",
        type=click.Choice(["error", "first", "layers"]),
        default="error",
        show_default=True,
        help="Cells with several tags: refuse them, take the first, or make further layers of the others.",
    ),
    click.option(
        "--tag-names",
        type=str,
        cls=ListOption,
        metavar="TAG",
        help="What tags mean that are numbers, from 0 on (O,B-PER,I-PER), or a file that lists the names.",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text that is not UTF-8, such as latin-1; a corrected file keeps it.",
    ),
    click.option(
        "--token",
        type=TokenColumn(),
        help="Column of the tokens, by number or by the name in the header. Default: 1; 2 where column 1 counts them.",
    ),
    click.option("--token-id", type=click.IntRange(1), metavar="COLUMN", help="Column of the token IDs."),
    click.option(
        "--document-id",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column of document IDs, for files without document tags.",
    ),
    click.option(
        "--sentence-id",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column of sentence IDs, for files without sentence ends.",
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

_ALIGN = click.option(
    "--align",
    type=click.Choice(["tokens", "text", "position"]),
    default="tokens",
    show_default=True,
    help="Whether both sides must have the same tokens, the same text whatever the tokens (quotation marks, dashes "
    "and Unicode normalisation may differ), or as many tokens whatever their words.",
)
_ALIGN_TEXT = click.option(
    "--align",
    type=click.Choice(["tokens", "text"]),
    default="tokens",
    show_default=True,
    help="Whether all sides must have the same tokens, or the same text whatever the tokens.",
)
_ALIGN_LIMIT = click.option(
    "--align-limit",
    type=NumberRange(0, 100),
    default=50,
    show_default=True,
    metavar="PERCENT",
    help="With --align position: the largest share of words that may differ.",
)

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
    _ALIGN,
    _ALIGN_LIMIT,
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
    by_position: float | None = None


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
        fields=dict(given["fields"]),
        token=given["token"],
        token_id=given["token_id"],
        document_id=given["document_id"],
        sentence_id=given["sentence_id"],
        columns=dict(given["columns"]),
        space_column=given["space_column"],
        document_tag=given["document_tag"],
        sentence_tag=given["sentence_tag"],
        text=own("text"),
        nested=own("nested"),
        offsets=given["offsets"],
        annotator=own("annotator"),
        mismatch=given["mismatch"],
        discontinuous=given["discontinuous"],
        several_tags=given["several_tags"],
        encoding=given["encoding"],
        tag_names=_tag_names(given["tag_names"], _tag_column(dict(given["fields"]), layers)),
    )


def _tag_names(given: tuple[str, ...], column: str | None) -> tuple[str, ...]:
    """Names as they are listed, or those that a file lists for this column."""
    from clueval_xlsx.formats.tag_names import names_in_file

    return names_in_file(given[0], column) if len(given) == 1 else tuple(given)


def _tag_column(fields: Mapping[str, str], layers: Sequence[tuple[str, int | str | None]]) -> str | None:
    """Where the numbers stand that names are given for, if somebody said so."""
    asked = fields.get("tags")
    return asked if asked or len(layers) != 1 else str(layers[0][1] or layers[0][0])


def _one_input(**given: Any) -> ReadOptions:
    return _read_options(given)


def _aligned_reading(*, align: str, **given: Any) -> tuple[ReadOptions, bool]:
    """How every one of several files is read, and whether their tokens may differ."""
    return _read_options(given), align == "text"


def _both_sides(**given: Any) -> SideOptions:
    return SideOptions(
        gold=_read_options(given, "gold"),
        pred=_read_options(given, "pred"),
        strict_tags=given["bio"] == "strict",
        align_text=given["align"] == "text",
        by_position=given["align_limit"] / 100 if given["align"] == "position" else None,
    )


def _overrides(**given: Any) -> ReadOverrides:
    from clueval_xlsx.formats.options import ReadOverrides

    names = frozenset(name.rstrip("_") for name in given if was_chosen(name))
    return ReadOverrides(_read_options(given), names)


reading = group("reading", _one_input, _READING)
overrides = group("overrides", _overrides, _READING)
aligned_reading = group("reading", _aligned_reading, [*_READING, _ALIGN_TEXT])
both_sides = group("sides", _both_sides, [*_READING, *_TWO_SIDES])


def read_input(path: str, options: ReadOptions) -> Reading:
    """Read one input; `-` is standard input."""
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.formats.options import ONE_SIDE

    try:
        if path == _STANDARD_INPUT:
            return read(sys.stdin.buffer, options, name="<standard input>")
        return read(path, options)
    except CluevalError as error:
        if "gold_layers" not in click.get_current_context().params:  # a command that knows no sides
            error.args = (str(error).replace(ONE_SIDE, ""),)
        raise


def as_listed(sides: SideOptions, options: Options) -> SideOptions:
    """Schemes that count annotations as they are listed need no choice: the longest stay for the others."""
    if not options.schemes.as_listed:
        return sides
    longest = [replace(side, nested=side.nested or "longest") for side in (sides.gold, sides.pred)]
    return replace(sides, gold=longest[0], pred=longest[1])


def load_pair(gold: str, pred: str, sides: SideOptions) -> Pair:
    """Read both sides and bring them together; one of them may be `-`, standard input."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.formats.loading import read_sides

    paths = (gold, pred)
    if gold == pred == _STANDARD_INPUT and sides.gold.layers == sides.pred.layers:
        raise OptionError(
            "only one side can come from standard input, unless both are layers of one file (--gold-layer, "
            "--pred-layer). Give a file for the other."
        )
    given = io.BytesIO(sys.stdin.buffer.read()) if _STANDARD_INPUT in paths else io.BytesIO()
    # Both sides may be layers of one file.
    sources = [io.BytesIO(given.getvalue()) if path == _STANDARD_INPUT else path for path in paths]
    names = ["<standard input>" if path == _STANDARD_INPUT else None for path in paths]
    found = read_sides(sources[0], sources[1], sides.gold, sides.pred, names=(names[0], names[1]))
    refuse_nothing(found, (sides.gold, sides.pred))
    pair = make_pair(*found, strict_tags=sides.strict_tags, align=sides.align_text, by_position=sides.by_position)
    say_nothing(pair)
    return pair
