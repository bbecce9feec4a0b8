"""The readers as subjects: token formats, standoff formats, span tables, and what must hold of all they accept."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.sniffing import find_format
from clueval_xlsx.formats.writing import output_files
from clueval_xlsx.options import Options, ReadOptions, SchemeOptions
from clueval_xlsx.outputs.json_results import json_text, metrics
from clueval_xlsx.outputs.xlsx import write_workbook
from tests.fuzz.cases import Files, command, promise, subject
from tests.fuzz.mutators import mutate_bytes, mutate_json, word
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
    """Compare with another file: either they fit, and everything can be written, or it is said why not."""
    result = evaluate(make_pair(reading, other, align=rng.random() < 0.7), _EXACT)
    counts = [int(wrong.sum()) for wrong in result.errors]
    promise(counts == [len(table) for table in result.case_tables], "there are not as many cases as errors")
    if rng.random() < 0.04:
        write_workbook(result, io.BytesIO())
    if rng.random() < 0.04:
        from clueval_xlsx.outputs.html.report import report_html

        report_html(result)


# ---- token formats

FIXTURES = ROOT / "tests" / "fixtures" / "formats"
_TAGS = ("O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC", "S-PER", "E-PER", "U-LOC", "L-LOC", "B-A-B", "I-\xa0")
_TOKENS = ("Ann", "Lee", ",", ".", "von", "Müller", "&amp;", "<", "14.", "🏠", "e\u0301", "a b", "&#65;", "-", "#")
_STRUCTURE = (
    "", "<s>", "</s>", "<g/>", "<p>", "</p>", "<!-- note -->", "</text>", "<text>", "<text id='x'/>", "   ",
    '<text id="&lt;a&gt;" b="c">', "-DOCSTART- (d9)", "# newdoc id = d7", "# sent_id = 3", "<s a=b>",
)  # fmt: skip


@cache
def _fixture(name: str) -> bytes:
    return (FIXTURES / name).read_bytes()


def _composed_lines(rng: Random, separator: str) -> bytes:
    """A token file made of pieces, most of them sound: tokens, three columns of tags, an ID, and structure between."""
    lines: list[str] = []
    odd = rng.choice((0.0, 0.0, 0.01, 0.1))
    opened = False
    for number in range(rng.randint(0, 25)):
        if rng.random() < 0.15:
            if separator == " ":
                lines.append(rng.choice((f"-DOCSTART- (d{number})", f"# newdoc id = d{number}", "# a = b", "", "")))
            else:
                lines += ["</text>"] * opened + [f'<text id="d{number}" n="{number % 3}">']
                opened = True
        if rng.random() < 0.2:
            lines.append(rng.choice(_STRUCTURE[: None if rng.random() < odd else 7 if separator != " " else 1]))
        token = rng.choice(_TOKENS) if rng.random() >= odd else word(rng)
        token = token.replace(" ", "_") if separator == " " else token
        cells = [rng.choice(_TAGS) if rng.random() >= odd else word(rng) for _ in range(3)]
        lines.append(separator.join([token, *cells[:2], f"t{number}", cells[2]]))
    lines += ["</text>"] * opened
    return ("\n".join(lines) + rng.choice(("\n", "\n", "", "\n\n"))).encode("utf-8", "surrogatepass")


def _token_file(name: str, seeds: Sequence[str], separator: str) -> Callable[[Random], Files]:
    def make(rng: Random) -> Files:
        contents = [_fixture(seed) for seed in seeds]
        composed = rng.random() < 0.4
        data = _composed_lines(rng, separator) if composed else rng.choice(contents)
        return {name: data if composed and rng.random() < 0.5 else mutate_bytes(rng, data, contents)}

    return make


def _token_options(rng: Random, **known: Any) -> ReadOptions:
    if rng.random() < 0.6:
        return ReadOptions(layers=rng.choice(({}, {"span": 2})), **known)
    layers: dict[str, int | str | None] = rng.choice(({"span": 2}, {"category": 2, "risk": 3}, {"x": 5}))
    return ReadOptions(
        layers=layers,
        token_id=rng.choice((None, 3, 4)),
        document_id=rng.choice((None, None, None, 1, 2)),
        columns=rng.choice(({}, {}, {"more": 2})),
        space_column=rng.choice((None, None, None, 2)),
        sentence_tag=rng.choice(("s", "s", "p")),
        **known,
    )


def _check_stream(files: Files, rng: Random, folder: Path, options: ReadOptions, seed: bytes) -> None:
    """Read one file twice, check what was read, and try one more thing with it."""
    ((name, data),) = files.items()
    if rng.random() < 0.02:
        (folder / name).write_bytes(data)
        given = ("--format", options.format) if options.format else ()
        command("validate", folder / name, *given)
        if rng.random() < 0.2:  # writing everything takes as long as a hundred other cases
            _whole_command(folder / name, given, seed)
    reading = check_reading(lambda: read(io.BytesIO(data), options, name=name), files, rng)
    more = rng.random()
    if more < 0.15:
        check_conversion(reading, rng, folder)
    elif more < 0.3:
        check_against(reading, read(io.BytesIO(seed), replace(options, annotator=None), name=f"seed of {name}"), rng)


def _whole_command(path: Path, given: Sequence[object], seed: bytes) -> None:
    """Evaluate the file with everything that can be written; it may be refused, but not half way."""
    folder = path.parent
    other = folder / f"seed{path.suffix}"
    other.write_bytes(seed)
    outputs = (f"--html={folder / 'r.html'}", f"--json={folder / 'm.json'}", f"--files={folder / 'csv'}")
    try:
        command(
            "evaluate",
            path,
            other,
            "--align=text",
            "--set=score.replicates=5",
            "-o",
            folder / "r.xlsx",
            *outputs,
            *given,
        )
    except CluevalError:  # the check goes on to read it in its own way
        promise(not (folder / "r.xlsx").exists() and not (folder / "m.json").exists(), "it was refused, but written")


@subject("vertical", _token_file("fuzzed.vrt", ("gold.vrt", "pred.vrt"), "\t"), share=150)
def _check_vertical(files: Files, rng: Random, folder: Path) -> None:
    _check_stream(files, rng, folder, _token_options(rng, format=rng.choice((None, "vrt"))), _fixture("pred.vrt"))


@subject("conll", _token_file("fuzzed.conll", ("gold.conll", "pred.conll", "gold.vrt"), " "), share=110)
def _check_conll(files: Files, rng: Random, folder: Path) -> None:
    _check_stream(files, rng, folder, _token_options(rng, format=rng.choice((None, "conll"))), _fixture("pred.conll"))


@subject("unnamed", lambda rng: {"fuzzed": mutate_bytes(rng, rng.choice(_any_seed()), _any_seed())}, share=50)
def _check_unnamed(files: Files, rng: Random, folder: Path) -> None:
    """No ending says what it is, so the content has to."""
    opened = OpenedSource("fuzzed", files["fuzzed"])
    if not find_format(opened, ReadOptions()).needs_text:
        _check_stream(files, rng, folder, ReadOptions(), _fixture("pred.vrt"))


@cache
def _any_seed() -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted(FIXTURES.glob("*.*")) if path.suffix != ".py")


# ---- standoff formats ----------------------------------------------------------------------------------------------

_OFFSETS = (*["codepoints"] * 8, "utf16", "glyphs")
_NESTED = (None, None, "longest", "merge", "error")


def _text_options(rng: Random, format_: str, annotators: Sequence[str | None]) -> ReadOptions:
    fields = {"tab": "entity_type", "presidio": "entity_type", "label-studio": "label", "brat": "label"}
    layers: dict[str, int | str | None] = rng.choice(({}, {}, {"category": fields[format_]}, {"x": None}))
    if format_ == "tab" and rng.random() < 0.2:
        layers = {"type": "entity_type", "identifier_type": None}
    return ReadOptions(
        format=rng.choice((None, format_)),
        layers=layers,
        nested=rng.choice(_NESTED),
        offsets=rng.choice(_OFFSETS),
        annotator=rng.choice(annotators),
        side=rng.choice(("gold", "gold", "pred")),
    )


def _json_file(seeds: Sequence[str]) -> Callable[[Random], Files]:
    return lambda rng: {"fuzzed.json": mutate_json(rng, [_fixture(name) for name in seeds])}


@subject("tab", _json_file(("tab.json", "tab-flat.json")), share=90)
def _check_tab(files: Files, rng: Random, folder: Path) -> None:
    options = _text_options(rng, "tab", (None, "first", "union", "annotator1"))
    _check_stream(files, rng, folder, options, _fixture("tab-flat.json"))


@subject("presidio", _json_file(("presidio-gold.json", "presidio-pred.json")), share=90)
def _check_presidio(files: Files, rng: Random, folder: Path) -> None:
    _check_stream(files, rng, folder, _text_options(rng, "presidio", (None,)), _fixture("presidio-pred.json"))


@subject("label-studio", _json_file(("label-studio.json",)), share=90)
def _check_label_studio(files: Files, rng: Random, folder: Path) -> None:
    options = _text_options(rng, "label-studio", (None, "first", "union", "anna@example.org"))
    # The seed has one annotator a document, or the check would have to choose one of several.
    _check_stream(files, rng, folder, options, _one_annotator())


@cache
def _one_annotator() -> bytes:
    tasks = json.loads(_fixture("label-studio.json"))
    return json.dumps([{**task, "annotations": task["annotations"][:1]} for task in tasks]).encode()


def _composed_annotations(rng: Random, text: str) -> bytes:
    """Annotations of a text that fit it, but for some that overlap, repeat, or were written by another program."""
    lines = []
    begin = 0
    for number in range(1, rng.randint(1, 8)):
        start = min(begin + rng.randint(0, 12), len(text) - 1)
        end = min(start + rng.randint(1, 15), len(text))
        begin = end if rng.random() < 0.95 else start
        surface = " ".join(text[start:end].split("\n")) if rng.random() < 0.9 else word(rng)
        label = rng.choice(("PER", "LOC", "Ä-Ö", "1"))
        written = rng.choice((f"T{number}\t{label} {start} {end}\t{surface}", f"T{number} {label} {start} {end}"))
        lines.append(written if rng.random() < 0.97 else rng.choice((f"R1\tx Arg1:T{number}", "#1\tNote", word(rng))))
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def _brat_folder(rng: Random) -> Files:
    if rng.random() < 0.6:
        name = rng.choice(("AG-Birkenau-5-C-88-23", "LG-Seehafen-2-O-17-24"))
        data = (FIXTURES / "brat-gold" / f"{name}.txt").read_bytes()
        return {f"{name}.txt": data, f"{name}.ann": _composed_annotations(rng, data.decode())}
    files = {path.name: path.read_bytes() for path in sorted((FIXTURES / "brat-gold").iterdir())}
    if rng.random() < 0.5:  # one document is enough, and quicker
        files = {name: content for name, content in files.items() if name.startswith("AG")}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice([name for name in files if name.endswith((".ann", ".ann", ".txt"))])
        files[name] = mutate_bytes(rng, files[name], list(files.values()))
    if rng.random() < 0.03:
        files.pop(rng.choice(list(files)))
    if rng.random() < 0.03:
        files["sub/" + rng.choice(("a.ann", "a.txt", ".hidden.ann", "a.ANN"))] = rng.choice(
            list(files.values()) or [b""]
        )
    return files


@subject("brat", _brat_folder, share=110)
def _check_brat(files: Files, rng: Random, folder: Path) -> None:
    # Messages name the document, which is in the name of its file.
    own = folder / "brat"
    for name, content in files.items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_bytes(content)
    own.mkdir(exist_ok=True)
    options = _text_options(rng, "brat", (None,))
    if rng.random() < 0.02:
        command("validate", own)
    reading = check_reading(lambda: read(own, options), files, rng)
    if rng.random() < 0.2:
        check_conversion(reading, rng, folder)


# ---- span tables ---------------------------------------------------------------------------------------------------


@cache
def token_base() -> Reading:
    """The text that token tables belong to."""
    return read(io.BytesIO(_fixture("gold.vrt")), ReadOptions(token_id=3), name="base.vrt")


@cache
def text_base() -> Reading:
    """The text that tables of character offsets belong to."""
    return read(io.BytesIO(_fixture("presidio-gold.json")), name="base.json")


_TABLES = {"fuzzed.tsv": ("gold.tsv", "gold-chars.tsv"), "fuzzed.csv": ("pred.csv", "pred-chars.csv")}


def _composed_table(rng: Random, separator: str) -> bytes:
    """A table whose spans fit its text, by position, by token ID or by character."""
    kind = rng.randrange(3)
    columns = (("start", "end"), ("start_id", "end_id"), ("char_start", "char_end"))[kind]
    lines = [separator.join([*rng.sample((*columns, "label", "doc_id"), 4)])]
    header = lines[0].split(separator)
    documents = list(token_base().corpus.doc_ids)
    borders = token_base().corpus.documents.start.tolist()
    begin = 0
    for _ in range(rng.randint(0, 8)):
        start = begin + rng.randint(0, 6)
        end = start + rng.randint(0, 4)
        begin = end + 1 if rng.random() < 0.95 else start
        owner = max(index for index, border in enumerate(borders) if border <= start) if kind < 2 else 0
        cells = {"doc_id": documents[owner], "label": rng.choice(("PER", "LOC", "", '"x""y"', "ä ö"))}
        first, last = (start, end) if kind < 2 else (start, end + 1)
        cells |= dict(zip(columns, (f"t{first}", f"t{last}") if kind == 1 else (str(first), str(last)), strict=True))
        lines.append(separator.join(cells[name] if rng.random() < 0.995 else word(rng) for name in header))
    return ("\n".join(lines) + rng.choice(("\n", ""))).encode("utf-8", "surrogatepass")


def _table_file(rng: Random) -> Files:
    name = rng.choice(list(_TABLES))
    if rng.random() < 0.5:
        return {name: _composed_table(rng, "," if name.endswith("csv") else "\t")}
    seeds = [_fixture(seed) for seed in _TABLES[name]]
    return {name: mutate_bytes(rng, rng.choice(seeds), seeds)}


@subject("table", _table_file, share=110)
def check_table(files: Files, rng: Random, folder: Path) -> None:
    """Put a table on both kinds of text: on the one that it does not belong to it must be refused."""
    ((name, data),) = files.items()
    options = ReadOptions(
        format=rng.choice((None, "table")),
        layers=rng.choice(
            ({}, {}, {}, {"span": "label"}, {"span": "label"}, {"x": None}, {"a": "label", "b": "doc_id"})
        ),
        nested=rng.choice(_NESTED),
        offsets=rng.choice(_OFFSETS),
    )
    base = text_base() if b"char_" in data or rng.random() < 0.05 else token_base()

    check_reading(lambda: read(io.BytesIO(data), options, name=name, base=base), files, rng)
