"""`convert`: any input format to any output format that can hold the data; also the combined model of all layers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from clueval_xlsx.cli.console import counted, put, say, say_notes
from clueval_xlsx.cli.inputs import read_only_input
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.registry import CONVERTED, Format, format_named
from clueval_xlsx.formats.writing import left_behind, output_files, output_format, refuse_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading

_TABLE = "table"


def run(call: Call, source: str, target: str) -> None:
    """Read, say what gets lost, write."""
    printed = target == STANDARD_OUTPUT and call.value("pair.merge")
    format_ = format_named(call.value("output.to") or (_TABLE if printed else output_format(Path(target))))
    if not format_.written:
        raise OptionError(f"--to {format_.name}: cannot be written. Allowed: {', '.join(CONVERTED)}.")
    reading = read_only_input(call, source)
    annotation = reading.annotation
    layers = annotation.layers
    if call.value("pair.merge"):
        layers = {layer: annotation.spans[["start", "end", layer]] for layer in layers}
        files = _merged(reading, layers, format_, Path(target), call.value("output.sentences"))
    else:
        refuse_labels(layers, format_, reading.source.name)
        say_notes([*reading.notes, *left_behind(reading, format_)])
        files = output_files(reading, layers, format_, Path(target), sentences=call.value("output.sentences"))
    if printed:
        put(b"".join(files.values()))
        return
    with guarded_outputs(call, [source]) as outputs:
        for path, content in files.items():
            outputs.write_bytes(path, content)
    spans = ", ".join(f"{counted(len(frame), 'span')} of {layer}" for layer, frame in annotation.layers.items())
    merged = f"{counted(len(annotation.spans), 'merged span')} from " if call.value("pair.merge") else ""
    say(f"{counted(len(reading.corpus.documents), 'document')} with {merged}{spans} ({format_.name}).")
    if format_.columns:
        columns = " ".join(f"--layer {layer}={number}" for number, layer in enumerate(layers, 2))
        say(f"Read it with {columns}.")


def _merged(
    reading: Reading, layers: Mapping[str, pd.DataFrame], format_: Format, target: Path, sentences: bool | None
) -> dict[Path, bytes]:
    """Merged spans in a format: a table has a row for each of them, tags stay in the file that they came from."""
    if format_.name == _TABLE and target.suffix.lower() != ".xlsx":
        from clueval_xlsx.formats.span_table import span_table

        separator = "," if target.suffix.lower() == ".csv" else "\t"
        table = span_table(reading.annotation.spans, reading.corpus, separator=separator)
        return {target: table.encode("utf-8", "replace")}
    if format_.columns and format_.name == reading.source.format:
        from clueval_xlsx.corpus.correcting import correct

        (content,) = correct(reading, dict(layers)).values()
        return {target: content}
    present = {layer: spans[spans[layer].notna()] for layer, spans in layers.items()}
    refuse_labels(present, format_, reading.source.name)
    say_notes([*reading.notes, *left_behind(reading, format_)])
    return output_files(reading, present, format_, target, sentences=sentences)
