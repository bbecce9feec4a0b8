"""Options about inputs: which format, which of its fields, how annotations by character and tags are read."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.idle_options import refuse_idle_reading
from clueval_xlsx.cli.nothing import refuse_nothing, say_nothing
from clueval_xlsx.cli.parameters import (
    Decorator,
    KeyValue,
    LayerField,
    ListOption,
    NamedColumn,
    TokenColumn,
    group,
    was_chosen,
)
from clueval_xlsx.exceptions import CluevalError, OptionError
from clueval_xlsx.formats.registry import FORMAT_NAMES

if TYPE_CHECKING:
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.formats.options import ReadOverrides
    from clueval_xlsx.options import Options, ReadOptions

_FORMAT = click.Choice(FORMAT_NAMES)
Asked = tuple[tuple[str, ...], dict[str, Any]]
_STANDARD_INPUT = "-"
# What reaches the reader as it was typed:
_PLAIN = (
    "format", "token", "token_id", "document_id", "sentence_id", "space_column", "document_tag", "sentence_tag",
    "text", "nested", "offsets", "annotator", "mismatch", "discontinuous", "several_tags", "encoding",
)  # fmt: skip


def _asked(*names: str, **settings: Any) -> Asked:
    """An option of reading: what `click.option` is given."""
    return names, settings


_ASKED: list[Asked] = [
    _asked(
        "--layer",
        "layers",
        type=LayerField(),
        cls=ListOption,
        help="A layer and its column of BIO tags, or the field its labels come from. "
        "A column may go by the name that a header gives it. Default: the one column that holds tags, or the main "
        "label.",
    ),
    _asked(
        "--format",
        "format_",
        type=_FORMAT,
        metavar="NAME",
        help="Input format, if it is not told by ending and content: `clueval-xlsx help formats` lists them.",
    ),
    _asked(
        "--text",
        metavar="PATH",
        help="Where the text is: a folder of .txt for brat annotations, the .vrt of a span table.",
    ),
    _asked(
        "--nested",
        type=click.Choice(["error", "longest", "merge"]),
        help="Annotations that overlap: refuse them, keep the longest, or merge them. "
        "Default: error; for a detector's list: longest.",
    ),
    _asked(
        "--offsets",
        type=click.Choice(["codepoints", "glyphs", "utf16"]),
        default="codepoints",
        show_default=True,
        help="What character offsets count.",
    ),
    _asked(
        "--annotator",
        metavar="NAME",
        help="Whose annotations: a name, `first` (of each document) or `union`. Needed where there are several.",
    ),
    _asked(
        "--field",
        "fields",
        type=KeyValue("text=body"),
        cls=ListOption,
        help="Where something stands in JSON: text, spans, start, end, label, score, id, or tokens and tags; "
        "dots lead inwards (text=data.body).",
    ),
    _asked(
        "--mismatch",
        type=click.Choice(["error", "warn"]),
        default="error",
        show_default=True,
        help="Annotations whose words do not fit their offsets: refuse them, or go on with the offsets.",
    ),
    _asked(
        "--discontinuous",
        type=click.Choice(["error", "join", "split"]),
        default="error",
        show_default=True,
        help="Annotations of several parts: refuse them, join them from first to last, or split them into spans.",
    ),
    _asked(
        "--several-tags",
        type=click.Choice(["error", "first", "layers"]),
        default="error",
        show_default=True,
        help="Cells with several tags: refuse them, take the first, or make further layers of the others.",
    ),
    _asked(
        "--tag-names",
        type=str,
        cls=ListOption,
        metavar="TAG",
        help="What tags mean that are numbers, from 0 on (O,B-PER,I-PER), or a file that lists the names.",
    ),
    _asked(
        "--encoding",
        metavar="NAME",
        help="Encoding of text that is not UTF-8, such as latin-1; a corrected file keeps it.",
    ),
    _asked(
        "--token",
        type=TokenColumn(),
        help="Column of the tokens, by number or by the name in the header. Default: 1; 2 where column 1 counts them.",
    ),
    _asked("--token-id", type=click.IntRange(1), metavar="COLUMN", help="Column of the token IDs."),
    _asked(
        "--document-id",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column of document IDs, for files without document tags.",
    ),
    _asked(
        "--sentence-id",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column of sentence IDs, for files without sentence ends.",
    ),
    _asked(
        "--column",
        "columns",
        type=NamedColumn(),
        cls=ListOption,
        help="A named column whose values metrics can be grouped by.",
    ),
    _asked(
        "--space-column",
        type=click.IntRange(1),
        metavar="COLUMN",
        help="Column that says whether a space follows (SpaceAfter=No, 0, no: none).",
    ),
    _asked("--document-tag", default="text", show_default=True, help="XML element of a document."),
    _asked("--sentence-tag", default="s", show_default=True, help="XML element of a sentence."),
]

_READING = [click.option(*names, **settings) for names, settings in _ASKED]
_SIDES = {"gold": "gold", "pred": "the prediction"}


def _twin(side: str, names: Sequence[str], settings: Mapping[str, Any]) -> Decorator:
    """An option of reading for one side alone, which goes before the one of both."""
    option, *own_name = names
    name = own_name[0].rstrip("_") if own_name else option.removeprefix("--").replace("-", "_")
    own = {key: value for key, value in settings.items() if key not in {"default", "show_default", "help"}}
    said = f"{option} for {_SIDES[side]} alone."
    return click.option(f"--{side}-{option.removeprefix('--')}", f"{side}_{name}", **own, help=said)


_TWINS = [_twin(side, *asked) for asked in _ASKED for side in _SIDES]

_ALIGN_TEXT = click.option(
    "--align",
    type=click.Choice(["tokens", "text"]),
    default="tokens",
    show_default=True,
    help="Whether all sides must have the same tokens, or the same text whatever the tokens.",
)
_ALIGN = _ALIGN_TEXT

_TWO_SIDES = [
    *_TWINS,
    _ALIGN,
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
    from clueval_xlsx.options import ReadOptions

    def own(name: str) -> Any:
        return given.get(f"{side}_{name}") or given["format_" if name == "format" else name]

    layers, fields = own("layers"), dict(own("fields"))
    names = [name for name, _ in layers]
    if len(set(names)) < len(names):
        raise OptionError(f"a layer is named twice: {', '.join(names)}. Give each layer its own name.")
    return ReadOptions(
        bio=given.get("bio", "lenient"),
        **{name: own(name) for name in _PLAIN},
        layers=dict(layers),
        fields=fields,
        columns=dict(own("columns")),
        tag_names=_tag_names(own("tag_names"), _tag_column(fields, layers)),
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
    )


def _overrides(**given: Any) -> ReadOverrides:
    from clueval_xlsx.formats.options import ReadOverrides

    names = frozenset(name.rstrip("_") for name in given if was_chosen(name))
    return ReadOverrides(_read_options(given), names)


reading = group("reading", _one_input, _READING)
overrides = group("overrides", _overrides, _READING)
aligned_reading = group("reading", _aligned_reading, [*_READING, _ALIGN_TEXT])
both_sides = group("sides", _both_sides, [*_READING, *_TWO_SIDES])


def read_only_input(path: str, options: ReadOptions) -> Reading:
    """Read the only input of a command: options that mean nothing for its format are refused."""
    reading = read_input(path, options)
    refuse_idle_reading({"": [reading.source.format]})
    return reading


def read_input(path: str, options: ReadOptions) -> Reading:
    """Read one input; `-` is standard input."""
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.formats.options import FIELDS_OF_ONE_SIDE, ONE_SIDE

    try:
        if path == _STANDARD_INPUT:
            return read(sys.stdin.buffer, options, name="<standard input>")
        return read(path, options)
    except CluevalError as error:
        if "gold_layers" not in click.get_current_context().params:  # a command that knows no sides
            error.args = (str(error).replace(ONE_SIDE, "").replace(FIELDS_OF_ONE_SIDE, ""),)
        raise


def as_listed(sides: SideOptions, options: Options) -> SideOptions:
    """Schemes that count annotations as they are listed need no choice: the longest stay for the others."""
    if not options.schemes.as_listed:
        return sides
    longest = [replace(side, nested=side.nested or "longest") for side in (sides.gold, sides.pred)]
    return replace(sides, gold=longest[0], pred=longest[1])


def load_only_pair(gold: str, pred: str, sides: SideOptions) -> Pair:
    """Read the only two inputs of a command: options that mean nothing for their formats are refused."""
    pair = load_pair(gold, pred, sides)
    refuse_idle_formats([pair])
    return pair


def refuse_idle_formats(pairs: Sequence[Pair]) -> None:
    """Refuse options of reading that mean nothing for the formats of these pairs, which are all that is read."""
    refuse_idle_reading(
        {
            "gold": [pair.gold.source.format for pair in pairs],
            "pred": [pair.pred.source.format for pair in pairs],
        }
    )


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
    pair = make_pair(*found, strict_tags=sides.strict_tags, align=sides.align_text)
    say_nothing(pair)
    return pair
