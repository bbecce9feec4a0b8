"""`convert`: any input format to any output format that can hold the data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import options
from clueval_xlsx.cli.writing import force_option, guarded_outputs
from clueval_xlsx.exceptions import OptionError

if TYPE_CHECKING:
    import pandas as pd

    from clueval_xlsx.corpus.reading import Reading

_TARGETS = ("vrt", "conll", "brat", "presidio", "label-studio", "table")
_BY_ENDING = {".vrt": "vrt", ".conll": "conll", ".tsv": "table", ".csv": "table", ".xlsx": "table"}


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "wanted",
    type=click.Choice(_TARGETS),
    help="Output format. Default: by the ending of OUT (.vrt, .conll, .tsv, .csv, .xlsx; none: a brat folder).",
)
@click.option(
    "--sentences/--no-sentences",
    default=None,
    help="Write sentence ends. Default: as in the source for .vrt, also guessed ones for CoNLL.",
)
@options.reading
@force_option
@options.common
def convert(source: str, target: Path, wanted: str | None, sentences: bool | None, force: bool, **given: Any) -> None:
    """Convert IN to OUT: spans and labels stay exactly as they are.

    IN is a file or a brat folder in any input format; OUT is a file, or a folder for brat.
    """
    from clueval_xlsx.cli.console import say, say_notes
    from clueval_xlsx.corpus.pair import annotate

    format_ = wanted or output_format(target)
    reading = options.read_input(source, given)
    corpus = reading.corpus
    annotation = annotate(reading, corpus, corpus.breaks if corpus.hard_breaks else corpus.documents.start)
    files = output_files(reading, dict(annotation.layers), format_, target, sentences)
    with guarded_outputs([source], force=force) as outputs:
        for path, content in files.items():
            outputs.write_bytes(path, content)
    say_notes(reading.notes)
    spans = ", ".join(f"{len(frame)} spans of {layer}" for layer, frame in annotation.layers.items())
    documents = f"{len(corpus.documents)} document{'s' if len(corpus.documents) != 1 else ''}"
    say(f"{documents} with {spans} written to {target} ({format_}).")
    if format_ in {"vrt", "conll"}:
        columns = " ".join(f"--layer {layer}={number}" for number, layer in enumerate(annotation.layers, 2))
        say(f"Read it with {columns}.")


def output_format(target: Path) -> str:
    """The format that a path asks for by its ending."""
    ending = target.suffix.lower()
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if target.is_dir() or not ending:
        return "brat"
    allowed = f"{', '.join(_BY_ENDING)}, or a folder for brat"
    raise OptionError(f"{target}: which format? Give --to {'|'.join(_TARGETS)}, or one of these endings: {allowed}.")


def output_files(
    reading: Reading, layers: dict[str, pd.DataFrame], format_: str, target: Path, sentences: bool | None
) -> dict[Path, bytes]:
    """What is to be written, by path."""
    if format_ in {"vrt", "conll"}:
        from clueval_xlsx.formats.token_writer import conll_text, vertical_text

        write = vertical_text if format_ == "vrt" else conll_text
        return {target: write(reading.corpus, layers, sentences=sentences).encode("utf-8", "replace")}
    if format_ == "table":
        from clueval_xlsx.formats.span_table_writer import span_table, span_workbook
        from clueval_xlsx.formats.standoff_writer import same_extents

        rows = same_extents(layers)
        if target.suffix.lower() == ".xlsx":
            return {target: span_workbook(rows, reading.corpus)}
        separator = "," if target.suffix.lower() == ".csv" else "\t"
        return {target: span_table(rows, reading.corpus, separator).encode("utf-8", "replace")}
    from clueval_xlsx.formats.standoff_writer import written_documents

    documents = written_documents(reading, layers, format_)
    if format_ == "brat":
        from clueval_xlsx.formats.brat_writer import brat_files

        if target.is_file():
            raise OptionError(f"{target}: is a file, but brat needs a folder. Choose another name.")
        return {target / name: content for name, content in brat_files(documents).items()}
    from clueval_xlsx.formats.label_studio_writer import label_studio_json
    from clueval_xlsx.formats.presidio_json_writer import presidio_json

    write_json = presidio_json if format_ == "presidio" else label_studio_json
    return {target: write_json(documents).encode("utf-8", "backslashreplace")}
