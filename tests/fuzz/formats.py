"""The readers as subjects: token formats, standoff formats, span tables, and what must hold of all they accept."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
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
from tests.fuzz.cases import Files, command, promise, subject
from tests.fuzz.mutators import mutate_bytes, mutate_json, mutate_parts, mutate_xml, packed, unpacked
from tests.support.folders import ROOT
from tests.support.tables import listed

# ---- what must hold of every file that a reader accepts: sound spans, equal to itself, written back as it was

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
    """Compare with another file: either they fit, or it is said why not."""
    result = evaluate(make_pair(reading, other, align=rng.random() < 0.7), _EXACT)
    counts = [int(wrong.sum()) for wrong in result.errors]
    promise(counts == [len(table) for table in result.case_tables], "there are not as many cases as errors")
    if rng.random() < 0.04:
        write_workbook(result, io.BytesIO())


# ---- the files: fixtures of all formats with changes, and the options that they may be read with ---------------------

FIXTURES = ROOT / "tests" / "fixtures" / "formats"
SEEDS = {
    "columns": ("*.vrt", "*.conll", "*.conllu", "*.iob2", "*-hipe.tsv", "webanno.tsv", "gold-tokens.csv"),
    "records": ("*.json", "*.jsonl"),
    "elements": ("*.xmi",),
    "table": ("gold.tsv", "gold-chars.tsv", "pred.csv", "pred-chars.csv"),
    "archive-of-cas": ("*.zip",),
}
_LAYERS: tuple[dict[str, int | str | None], ...] = ({}, {}, {}, {"span": 2}, {"span": "label"}, {"x": None})
_NESTED = (None, None, "longest", "merge", "error")
_OFFSETS = (*["codepoints"] * 8, "utf16", "glyphs")


@cache
def _seeds(kind: str) -> tuple[Path, ...]:
    return tuple(sorted(path for pattern in SEEDS[kind] for path in FIXTURES.glob(pattern)))


@cache
def _records(path: Path) -> bytes:
    """The records of a file as one list."""
    text = path.read_text("utf-8")
    return f"[{','.join(text.splitlines())}]".encode() if path.suffix == ".jsonl" else text.encode()


@cache
def base(name: str) -> Reading:
    """A text that tables belong to."""
    return read(FIXTURES / name, ReadOptions(token_id=3) if name.endswith("vrt") else None)


def _changed(rng: Random, path: Path, kind: str) -> bytes:
    data = path.read_bytes()
    if rng.random() < 0.1:
        return data
    if kind == "records":
        return mutate_json(rng, [_records(path)])
    if kind == "archive-of-cas":
        return packed(mutate_parts(rng, unpacked(data)), rng)
    return mutate_xml(rng, data) if kind == "elements" else mutate_bytes(rng, data)


def _maker(kind: str) -> Callable[[Random], Files]:
    def make(rng: Random) -> Files:
        path = rng.choice(_seeds(kind))
        named = path.suffix if rng.random() < 0.8 or kind == "table" else ""  # without an ending the content tells
        return {f"fuzzed{named}": _changed(rng, path, kind)}

    return make


def _options(rng: Random) -> ReadOptions:
    return ReadOptions(
        layers=rng.choice(_LAYERS),
        nested=rng.choice(_NESTED),
        offsets=rng.choice(_OFFSETS),
        annotator=rng.choice((None, "first", "first", "union", "anna")),
        side=rng.choice(("gold", "gold", "pred")),
    )


def _check_file(files: Files, rng: Random, folder: Path) -> None:
    """Read one file twice, check what was read, and try one more thing with it."""
    ((name, data),) = files.items()
    if rng.random() < 0.02:
        (folder / name).write_bytes(data)
        command("validate", folder / name)
    options, text = _options(rng), base("presidio-gold.json" if b"char_" in data else "gold.vrt")
    reading = check_reading(lambda: read(io.BytesIO(data), options, name=name, base=text), files, rng)
    more = rng.random()
    if more < 0.15:
        check_conversion(reading, rng, folder)
    elif more < 0.3:
        check_against(reading, base(rng.choice(("gold.vrt", "presidio-gold.json"))), rng)


for kind in SEEDS:
    subject(kind, _maker(kind), share=150)(_check_file)


def _brat_folder(rng: Random) -> Files:
    files = {path.name: path.read_bytes() for path in sorted((FIXTURES / "brat-gold").glob("AG*"))}
    for _ in range(rng.choice((0, 1, 1, 2))):
        name = rng.choice(list(files))
        files[name] = mutate_bytes(rng, files[name], list(files.values()))
    if rng.random() < 0.05:
        files["sub/" + rng.choice(("a.ann", "a.txt", ".hidden.ann", "a.ANN"))] = rng.choice(list(files.values()))
    return files


@subject("brat", _brat_folder, share=110)
def _check_brat(files: Files, rng: Random, folder: Path) -> None:
    for name, content in files.items():
        (folder / "brat" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "brat" / name).write_bytes(content)
    options = replace(_options(rng), annotator=None)
    reading = check_reading(lambda: read(folder / "brat", options), files, rng)
    if rng.random() < 0.2:
        check_conversion(reading, rng, folder)
