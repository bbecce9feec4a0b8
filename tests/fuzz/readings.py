"""What must hold of every file that a reader accepts: sound spans, equal to itself, written back as it was."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.writing import output_files
from clueval_xlsx.options import Options, ReadOptions, SchemeOptions
from clueval_xlsx.outputs.json_results import json_text, metrics
from clueval_xlsx.outputs.xlsx import write_workbook
from tests.fuzz.cases import Files, command, promise
from tests.support.tables import listed

_EXACT = Options(level="exact", replicates=0)
_EVERYTHING = Options(level="exact", replicates=5, schemes=SchemeOptions(scheme=("all",)))
_CONVERSIONS = ("vrt", "conll", "presidio", "label-studio", "brat", "table")


def check_reading(read_it: Callable[[], Reading], files: Files, rng: Random) -> Reading:
    """Whatever was read is sound, comes back unchanged where nothing was corrected, and equals itself."""
    reading = read_it()
    layers = spans_of(reading)
    for layer, spans in layers.items():
        check_spans(spans, reading, layer)
    for name, content in correct(reading, layers).items() if reading.carrier is not None else ():
        promise(content == files[name], f"{name} changed though nothing was corrected")
    if rng.random() < 0.4:  # this takes most of the time
        _check_equal(reading, read_it(), rng)
    return reading


def _check_equal(reading: Reading, again: Reading, rng: Random) -> None:
    pair = make_pair(reading, again)
    labelled = rng.choice((None, *reading.layer_names))
    options = _EVERYTHING if rng.random() < 0.02 else _EXACT
    result = evaluate(pair, Options(**{**vars(options), "labelled": labelled}))
    missed, unsupported = (int(wrong.sum()) for wrong in result.errors)
    promise(missed == 0 and unsupported == 0, f"compared with itself: {missed} FN, {unsupported} FP")
    if options is _EVERYTHING:  # the whole table of figures takes most of the time
        found = result.headline
        promise(found["fn"] == 0 and found["fp"] == 0, "the headline says otherwise")
        promise(found["gold"] == len(pair.gold.spans), "not every span was counted")
        json_text(metrics(result))


def spans_of(reading: Reading) -> dict[str, pd.DataFrame]:
    """The spans of every layer, as `convert` takes them."""
    return dict(reading.annotation.layers)


def check_spans(spans: pd.DataFrame, reading: Reading, layer: str) -> None:
    """Spans are sorted, free of overlap, inside the corpus and inside one document each."""
    start, end = spans["start"].to_numpy(np.int64), spans["end"].to_numpy(np.int64)
    promise((start <= end).all() and (start[1:] > end[:-1]).all(), f"spans of {layer} overlap or are not sorted")
    promise((start >= 0).all() and (end < len(reading.corpus)).all(), f"spans of {layer} lie outside the corpus")
    documents = [reading.corpus.document_of(places).tolist() for places in (start, end)]
    promise(documents[0] == documents[1], f"a span of {layer} runs over the end of a document")


def check_conversion(reading: Reading, rng: Random, folder: Path) -> None:
    """Whatever can be converted reads the same in the other format; what cannot is refused by the package."""
    layers = spans_of(reading)
    target = rng.choice(_CONVERSIONS)
    names = {"vrt": "out.vrt", "conll": "out.conll", "brat": "out", "table": "out.tsv"}
    path = folder / names.get(target, "out.json")
    try:
        with Outputs() as outputs:
            for written, content in output_files(reading, layers, format_named(target), path).items():
                outputs.write_bytes(written, content)
    except CluevalError:
        return  # more layers or other tokens than the format can hold, names that no file can have
    if target in {"vrt", "conll"}:
        columns = {layer: number for number, layer in enumerate(layers, 2)}
        again = read(path, ReadOptions(format=target, layers=columns))
        promise(len(again.corpus) == len(reading.corpus), f"as {target}: {len(again.corpus)} tokens")
        for layer, spans in spans_of(again).items():
            promise(listed(spans) == listed(layers[layer]), f"as {target}: other spans of {layer}")
    elif target != "table":
        again = read(path, ReadOptions(format=target))
        promise(_words(again, spans_of(again)) == _words(reading, layers), f"as {target}: other spans")


def _words(reading: Reading, layers: Mapping[str, pd.DataFrame]) -> list[tuple[str, str | None]]:
    """Surface (without white space) and label of every span of the first layer."""
    layer, spans = next(iter(layers.items()))
    corpus = reading.corpus
    rows = listed(spans[["start", "end", layer]])
    found = [("".join(corpus.text(start, end).split()), label) for start, end, label in rows]
    return sorted(found, key=str)  # brat has its documents in the order of their names


def check_against(reading: Reading, other: Reading, rng: Random) -> None:
    """Compare with another file: either they fit, and everything can be written, or it is said why not."""
    result = evaluate(make_pair(reading, other, align=rng.random() < 0.7), _EXACT)
    counts = [int(wrong.sum()) for wrong in result.errors]
    promise(counts == [len(table) for table in result.case_tables], "there are not as many cases as errors")
    if rng.random() < 0.04:
        write_workbook(result, io.BytesIO())
    if rng.random() < 0.04:
        from clueval_xlsx.outputs.html.report import report_html

        report_html(result)


def validate_in_the_shell(path: Path, *options: object) -> None:
    """The command that lists what is wrong with a file."""
    command("validate", path, *options)
