"""Options about input formats: which one, which of its fields, and how annotations by character are read."""

from __future__ import annotations

import click

from clueval_xlsx.cli.parameters import LayerField, ListOption
from clueval_xlsx.formats.registry import FORMAT_NAMES

_FORMAT = click.Choice(FORMAT_NAMES)


READING = [
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
]

TWO_SIDES = [
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
]
