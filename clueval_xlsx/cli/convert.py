"""`convert`: any input format to any output format that can hold the data; also the combined model of all layers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import put, say, say_notes
from clueval_xlsx.cli.inputs import read_only_input
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, Writing
from clueval_xlsx.exceptions import OptionError, counted
from clueval_xlsx.formats.registry import CONVERTED, Format, format_named
from clueval_xlsx.formats.writing import left_behind, output_files, output_format, refuse_labels

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading

_TABLE = "table"


def run(call: Call, source: str, target: str) -> None:
    """Read, say what gets lost, write."""
    merge = call.value("pair.merge")
    printed = target == STANDARD_OUTPUT and merge
    format_ = format_named(call.value("output.to") or (_TABLE if printed else output_format(Path(target))))
    if not format_.written:
        raise OptionError(f"--to {format_.name}: cannot be written. Allowed: {', '.join(CONVERTED)}.")
    reading = read_only_input(call, source)
    files = _files(call, reading, format_, Path(target))
    if printed:
        put(b"".join(files.values()))
        return
    with Writing(call, [source]) as out:
        for path, content in files.items():
            out.write_bytes(path, content)
    annotation = reading.annotation
    spans = ", ".join(f"{counted(len(frame), 'span')} of {layer}" for layer, frame in annotation.layers.items())
    merged = f"{counted(len(annotation.spans), 'merged span')} from " if merge else ""
    say(f"{counted(len(reading.corpus.documents), 'document')} with {merged}{spans} ({format_.name}).")
    if format_.columns:
        columns = " ".join(f"--layer {layer}={number}" for number, layer in enumerate(annotation.layers, 2))
        say(f"Read it with {columns}.")


def _files(call: Call, reading: Reading, format_: Format, target: Path) -> dict[Path, bytes]:
    """The files; merged, a table has a row for each span, and tags stay in the file that they came from."""
    annotation = reading.annotation
    layers = dict(annotation.layers)
    if call.value("pair.merge"):
        merged = annotation.spans
        if format_.name == _TABLE and target.suffix.lower() != ".xlsx":
            from clueval_xlsx.formats.span_table import span_table

            separator = "," if target.suffix.lower() == ".csv" else "\t"
            return {target: span_table(merged, reading.corpus, separator=separator).encode("utf-8", "replace")}
        layers = {layer: merged[["start", "end", layer]] for layer in layers}
        if format_.columns and format_.name == reading.source.format:
            from clueval_xlsx.corpus.correcting import correct

            (content,) = correct(reading, layers).values()
            return {target: content}
        layers = {layer: spans[spans[layer].notna()] for layer, spans in layers.items()}
    refuse_labels(layers, format_, reading.source.name)
    say_notes([*reading.notes, *left_behind(reading, format_)])
    return output_files(reading, layers, format_, target, sentences=call.value("output.sentences"))
