"""`merge`: the combined model of several layers, as a span table or as vertical text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.writing import force_option, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.registry import format_named

if TYPE_CHECKING:
    from clueval_xlsx.options import ReadOptions


@click.command(
    cls=GroupedCommand, examples=("clueval-xlsx merge gold.vrt --layer category=2 --layer risk=3 -o merged.tsv",)
)
@click.argument("file")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A span table (.tsv, .csv) or the same text with merged tags (.vrt). Default: TSV to standard output.",
)
@input_options.reading
@force_option
@common_options.common
def merge(*, file: str, output: Path | None, reading: ReadOptions, force: bool) -> None:
    """Merge the layers of FILE into one sequence of spans with several labels.

    Overlapping spans of all layers become one span; each layer gives it the label with most tokens.
    """
    from clueval_xlsx.cli.console import put, say
    from clueval_xlsx.formats.span_table import span_table

    source = input_options.read_only_input(file, reading)
    corpus = source.corpus
    annotation = source.annotation
    ending = output.suffix.lower() if output else ".tsv"
    if ending in {".tsv", ".csv"}:
        text = span_table(annotation.spans, corpus, separator="\t" if ending == ".tsv" else ",")
        content = text.encode("utf-8", "replace")
    elif ending == ".vrt":
        merged = {layer: annotation.spans[["start", "end", layer]] for layer in source.layer_names}
        if format_named(source.source.format).columns:
            from clueval_xlsx.corpus.correcting import correct

            (content,) = correct(source, merged).values()
        else:
            from clueval_xlsx.formats.token_files import vertical_text

            content = vertical_text(corpus, merged).encode("utf-8", "replace")
    else:
        raise OptionError(f"{output}: unknown ending {ending!r}. Allowed: .tsv, .csv, .vrt.")
    if output is None:
        put(content)
        return
    with guarded_outputs([file], force=force) as outputs:
        outputs.write_bytes(output, content)
    before = ", ".join(f"{len(spans)} of {layer}" for layer, spans in annotation.layers.items())
    say(f"{len(annotation.spans)} merged spans ({before}).")
