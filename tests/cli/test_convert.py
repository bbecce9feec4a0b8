"""`convert` there and back is identity on spans and labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.cli import cli
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.folders import FIXTURES
from tests.support.strategies import at_most

FOLDER = FIXTURES
TARGETS = {
    "vrt": "out.vrt",
    "conll": "out.conll",
    "brat": "out",
    "presidio": "out.json",
    "label-studio": "out.json",
    "table": "out.tsv",
}
Spans = list[tuple[str, str, str | None]]


def convert(source: Path, target: Path, *arguments: str) -> str:
    result = CliRunner().invoke(cli, ["convert", str(source), str(target), *arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def spans(reading: Reading) -> Spans:
    """Document, words without white space, and label of every span."""
    corpus = reading.corpus
    annotation = reading.annotation
    frame = annotation.layers["span"]
    documents = corpus.document_of(frame["start"].to_numpy(np.int64))
    return sorted(
        (corpus.doc_ids[document], "".join(corpus.text(start, end).split()), str(label))
        for document, start, end, label in zip(documents, frame["start"], frame["end"], frame["span"], strict=True)
    )


def characters(reading: Reading) -> list[tuple[str, int, int, str]]:
    frame = reading.annotation.layers["span"]
    text = reading.running_text
    documents, ranges = text.documents, text.ranges(frame)  # type: ignore[arg-type]
    return sorted(
        (documents[number].id or "", start, end, label)
        for number, start, end, label in zip(
            ranges.document.tolist(),
            ranges.start.tolist(),
            ranges.end.tolist(),
            frame["span"],
            strict=True,  # type: ignore[index,arg-type]
        )
    )


def reread(path: Path, format_: str, source: Path) -> Reading:
    return read(path, ReadOptions(text=source if format_ == "table" else None, format=format_))


@pytest.mark.parametrize("format_", TARGETS)
@pytest.mark.parametrize("name", ["brat-gold", "tab.json", "presidio-pred.json", "label-studio.json", "gold.vrt"])
def test_to_every_format_and_back(name: str, format_: str, tmp_path: Path) -> None:
    source, target = FOLDER / name, tmp_path / TARGETS[format_]
    convert(source, target, "--to", format_)
    again = reread(target, format_, source)
    assert spans(again) == spans(read(source))
    back = tmp_path / "back.json"
    extra = ["--text", str(source)] if format_ == "table" else []
    convert(target, back, "--to", "presidio", "--format", format_, *extra)
    assert spans(read(back)) == spans(read(source))


def test_several_layers_side_by_side(tmp_path: Path) -> None:
    layers = ["--layer", "entity_type", "--layer", "identifier_type"]
    convert(FOLDER / "tab.json", tmp_path / "out.vrt", *layers)
    convert(FOLDER / "tab.json", tmp_path / "out.tsv", *layers)
    both = {"entity_type": None, "identifier_type": None}
    table = read(tmp_path / "out.tsv", ReadOptions(layers=both, text=FOLDER / "tab.json"))
    vertical = read(tmp_path / "out.vrt", ReadOptions(layers={"entity_type": 2, "identifier_type": 3}))
    original = read(FOLDER / "tab.json", ReadOptions(layers=both))
    decoded = vertical.annotation
    for layer in both:
        expected = original.annotation.layers[layer]
        assert table.annotation.layers[layer].to_numpy().tolist() == expected.to_numpy().tolist()
        assert decoded.layers[layer].to_numpy().tolist() == expected.to_numpy().tolist()


words = st.text(st.sampled_from("abÄ1😀e\u0301.,-&<>\"'#\u200d"), min_size=1, max_size=5)
gaps = st.sampled_from(["", " ", "  ", "\n", "\r\n", "\t", "\u00a0"])


@st.composite
def documents(draw: st.DrawFn) -> list[dict[str, object]]:
    """Presidio documents with spans that begin and end anywhere, white space included."""
    content = []
    for number in range(draw(st.integers(1, 3))):
        text = "".join(part for pair in draw(st.lists(st.tuples(words, gaps), max_size=8)) for part in pair)
        edges = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
        content.append(
            {
                "full_text": text,
                "spans": [
                    {
                        "entity_type": draw(st.sampled_from(["A", "B-x", "C_1"])),
                        "start_position": low,
                        "end_position": high,
                    }
                    for low, high in zip(edges[::2], edges[1::2], strict=False)
                ],
                "metadata": {"doc_id": f"d{number}"},
            }
        )
    return content


@at_most(25)
@given(content=documents(), format_=st.sampled_from(["vrt", "brat", "label-studio", "table"]))
def test_any_text_there_and_back(
    content: list[dict[str, object]], format_: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("convert")
    source, target, back = folder / "in.json", folder / TARGETS[format_], folder / "back.json"
    source.write_text(json.dumps(content), "utf-8")
    convert(source, target, "--to", format_)
    extra = ["--text", str(source)] if format_ == "table" else []
    convert(target, back, "--to", "presidio", "--format", format_, *extra)
    if format_ == "vrt":  # spacing is not kept, but the spans' visible characters are
        assert spans(read(back)) == spans(read(source))
    else:
        assert characters(read(back)) == characters(read(source))
