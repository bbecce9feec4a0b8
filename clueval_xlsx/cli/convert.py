"""`convert`: any input format to any output format that can hold the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.writing import force_option, guarded_outputs
from clueval_xlsx.formats.registry import CONVERTED, TARGET_ENDINGS, format_named

if TYPE_CHECKING:
    from clueval_xlsx.options import ReadOptions


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx convert gold.vrt gold.jsonl",
        "clueval-xlsx convert brat-folder gold.vrt",
    ),
)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "wanted",
    type=click.Choice(CONVERTED),
    metavar="FORMAT",
    help=f"Output format: {', '.join(CONVERTED)}. Default: by the ending of OUT ({', '.join(TARGET_ENDINGS)}; "
    "none: a brat folder).",
)
@click.option(
    "--sentences/--no-sentences",
    default=None,
    help="Write sentence ends. Default: as in the source for .vrt, also guessed ones for CoNLL.",
)
@input_options.reading
@force_option
@common_options.common
def convert(
    *, source: str, target: Path, wanted: str | None, sentences: bool | None, reading: ReadOptions, force: bool
) -> None:
    """Convert IN to OUT: spans and labels stay exactly as they are.

    IN is a file, a folder or a glob in any input format; OUT is a file, or a folder for brat. What OUT cannot say is
    listed before it is written.
    """
    from clueval_xlsx.cli.console import say, say_notes
    from clueval_xlsx.formats.writing import left_behind, output_files, output_format, refuse_labels

    format_ = format_named(wanted or output_format(target))
    found = input_options.read_only_input(source, reading)
    corpus = found.corpus
    annotation = found.annotation
    refuse_labels(annotation.layers, format_, found.source.name)
    say_notes([*found.notes, *left_behind(found, format_)])
    files = output_files(found, annotation.layers, format_, target, sentences=sentences)
    with guarded_outputs([source], force=force) as outputs:
        for path, content in files.items():
            outputs.write_bytes(path, content)
    spans = ", ".join(f"{len(frame)} spans of {layer}" for layer, frame in annotation.layers.items())
    documents = f"{len(corpus.documents)} document{'s' if len(corpus.documents) != 1 else ''}"
    say(f"{documents} with {spans} ({format_.name}).")
    if format_.columns:
        columns = " ".join(f"--layer {layer}={number}" for number, layer in enumerate(annotation.layers, 2))
        say(f"Read it with {columns}.")
