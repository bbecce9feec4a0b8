"""Options about input formats: which one, which of its fields, and how annotations by character are read."""

from __future__ import annotations

from typing import Any

import click

FORMAT_NAMES = ("vrt", "conll", "brat", "tab", "presidio", "label-studio", "table")
_FORMAT = click.Choice(FORMAT_NAMES)


class LayerField(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`NAME=COLUMN` with a column counted from 1, or in formats without columns `NAME=FIELD` or `NAME`."""

    name = "NAME[=COLUMN]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int | str | None]:
        """Split the pair; a number is a column, anything else a field."""
        if isinstance(value, tuple):
            return value
        name, equals, field = (part.strip() for part in str(value).partition("="))
        if not name or (equals and not field) or (field.isdigit() and int(field) < 1):
            self.fail(
                f"{value!r} is not NAME=COLUMN with a column counted from 1, such as risk=3, nor NAME=FIELD or NAME.",
                param,
                ctx,
            )
        if name in {"start", "end"}:
            self.fail(f"{name!r} cannot be the name of a layer: span tables use it for positions.", param, ctx)
        return name, int(field) if field.isascii() and field.isdigit() else field or None


READING = [
    click.option(
        "--layer",
        "layers",
        type=LayerField(),
        multiple=True,
        help="A layer and its column of BIO tags, or the field its labels come from; repeatable. "
        "Default: span=2 (CoNLL: the last column; other formats: the main label).",
    ),
    click.option("--format", "format_", type=_FORMAT, metavar="NAME", help=f"Input format: {', '.join(FORMAT_NAMES)}."),
    click.option(
        "--text",
        metavar="PATH",
        help="Where the text is: a folder of .txt for brat annotations, the .vrt of a span table.",
    ),
    click.option(
        "--overlaps",
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
    click.option("--gold-layer", "gold_layers", type=LayerField(), multiple=True, help="--layer for gold alone."),
    click.option("--pred-layer", "pred_layers", type=LayerField(), multiple=True, help="--layer for pred alone."),
    click.option("--gold-format", type=_FORMAT, metavar="NAME", help="--format for gold alone."),
    click.option("--pred-format", type=_FORMAT, metavar="NAME", help="--format for the prediction alone."),
    click.option("--gold-annotator", metavar="NAME", help="--annotator for gold alone."),
    click.option("--pred-annotator", metavar="NAME", help="--annotator for the prediction alone."),
    click.option(
        "--gold-overlaps", type=click.Choice(["error", "longest", "merge"]), help="--overlaps for gold alone."
    ),
    click.option(
        "--pred-overlaps", type=click.Choice(["error", "longest", "merge"]), help="--overlaps for pred alone."
    ),
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
