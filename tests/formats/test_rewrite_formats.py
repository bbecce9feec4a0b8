"""Corrected gold in its own format: only the corrected annotations change."""

from __future__ import annotations

import difflib
import io
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import RunningText
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import CluevalError, InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.tokenise import Ranges
from tests.support.folders import FIXTURES
from tests.support.strategies import at_most

FOLDER = FIXTURES
GOLD_SOURCES = ["brat-gold", "tab.json", "tab-flat.json", "presidio-gold.json", "label-studio.json"]
SOURCES = [*GOLD_SOURCES, "presidio-pred.json"]
RECORDS = [
    "gold-doccano.jsonl",
    "gold-doccano-relations.jsonl",
    "gold-doccano-users.jsonl",
    "gold-prodigy.jsonl",
    "gold-spacy.json",
    "gold-ai4privacy.jsonl",
    "gold-label-studio-min.json",
]
COLUMNS = [
    "gold-uner.iob2",
    "gold-hipe.tsv",
    "gold.conllu",
    "gold-io.conll",
    "gold-bioes.conll",
    "gold-bilou.conll",
]
S, B = "LG-Seehafen-2-O-17-24", "AG-Birkenau-5-C-88-23"


def load(name: str, **options: object) -> Reading:
    if name.startswith("gold-chars"):
        options["text"] = FOLDER / "brat-gold"
    elif name in {"gold.tsv", "pred.csv"}:
        options["text"] = FOLDER / "gold.vrt"
    return read(FOLDER / name, ReadOptions(**options))  # type: ignore[arg-type]


def original(name: str) -> dict[str, bytes]:
    path = FOLDER / name
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir()}
    return {name: path.read_bytes()}


def frames(reading: Reading) -> dict[str, pd.DataFrame]:
    return dict(reading.annotation.layers)


def changed_lines(before: bytes, after: bytes) -> tuple[list[str], list[str]]:
    lines = list(difflib.ndiff(before.decode().splitlines(), after.decode().splitlines()))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


@pytest.mark.parametrize("name", [*SOURCES, *RECORDS, *COLUMNS, "gold.tsv", "gold-chars.tsv", "gold.vrt", "gold.conll"])
def test_no_correction_gives_the_identical_bytes(name: str) -> None:
    reading = load(name)
    assert correct(reading, frames(reading)) == original(name)


def wanted_spans(reading: Reading) -> dict[str, pd.DataFrame]:
    """Delete the date of the first court's judgement, shorten one span, relabel one, add one."""
    corpus = reading.corpus
    spans = frames(reading)["span"]
    words = [corpus.text(start, end) for start, end in zip(spans["start"], spans["end"], strict=True)]
    rows = []
    for start, end, label, word in zip(spans["start"], spans["end"], spans["span"], words, strict=True):
        if word == "3. April 2024":
            continue
        if word == "Lindenweg 7, 12345 Seehafen":
            rows.append((start, start + 1, label))
        elif word == "Nordwind & Co. KG":
            rows.append((start, end, "COMPANY"))
        else:
            rows.append((start, end, label))
    court = next(i for i in range(len(corpus)) if corpus.tokens[i] == "Landgericht")
    rows.append((court, court + 1, "COURT"))
    columns = list(zip(*rows, strict=True))
    return {"span": make_spans(np.array(columns[0]), np.array(columns[1]), {"span": list(columns[2])})}


@pytest.mark.parametrize(
    "name", [*GOLD_SOURCES, *RECORDS, *COLUMNS, "gold.tsv", "gold-chars.tsv", "gold.vrt", "gold.conll"]
)
def test_corrections_are_read_back(name: str, tmp_path: Path) -> None:
    reading = load(name)
    wanted = wanted_spans(reading)
    files = correct(reading, wanted)
    for path, content in files.items():
        (tmp_path / path).write_bytes(content)
    source = tmp_path if (FOLDER / name).is_dir() else tmp_path / name
    text = FOLDER / "brat-gold" if "chars" in name else FOLDER / "gold.vrt" if name == "gold.tsv" else None
    again = read(source, ReadOptions(text=text))
    expected = sorted(
        (reading.corpus.text(start, end), label)
        for start, end, label in wanted["span"].itertuples(index=False, name=None)
    )
    found = frames(again)["span"]
    assert (
        sorted((again.corpus.text(start, end), label) for start, end, label in found.itertuples(index=False, name=None))
        == expected
    )


def test_json_changes_only_its_annotations() -> None:
    before = original("tab.json")["tab.json"]
    after = correct(load("tab.json"), wanted_spans(load("tab.json")))["tab.json"]
    gone, new = changed_lines(before, after)
    assert new == [
        '      "end_offset": 95,',
        '      "span_text": "Lindenweg 7",',
        '      "entity_type": "COMPANY",',
        "     },",
        "     {",
        '      "entity_type": "COURT",',
        '      "start_offset": 0,',
        '      "end_offset": 20,',
        '      "span_text": "Landgericht Seehafen"',
    ]
    assert '      "entity_mention_id": "LG-Seehafen-2-O-17-24_0",' in gone
    left, right = json.loads(before), json.loads(after)
    assert list(left[0]) == list(right[0])
    assert left[1] == right[1]
    assert left[0]["presidio_detected_pii"] == right[0]["presidio_detected_pii"]


def test_labels_of_other_layers_stay() -> None:
    options = {"layers": {"entity_type": None, "identifier_type": None}}
    reading = load("tab.json", **options)
    layers = frames(reading)
    moved = {layer: spans.assign(end=spans["end"].where(spans["start"] != 5, 7)) for layer, spans in layers.items()}
    after = json.loads(correct(reading, moved)["tab.json"])
    mention = after[0]["annotations"]["annotator1"]["entity_mentions"][0]
    assert (mention["end_offset"], mention["span_text"]) == (41, "3. April")
    assert (mention["entity_type"], mention["identifier_type"], mention["entity_id"]) == ("DATE", "QUASI", "s-date")


def test_offsets_are_written_in_the_unit_they_were_read_in() -> None:
    content = '[{"full_text": "😀 Ann Lee", "spans": [{"entity_type": "X", "start_position": 3, "end_position": 10}]}]'
    reading = read(io.BytesIO(content.encode()), ReadOptions(offsets="utf16"), name="x.json")
    spans = make_spans(np.array([2]), np.array([2]), {"span": ["X"]})
    assert correct(reading, {"span": spans})["x.json"].decode() == content.replace(": 3,", ": 7,")


def test_a_correction_inside_a_glyph_cannot_be_written_in_glyphs() -> None:
    content = '[{"full_text": "e\u0301", "spans": [{"entity_type": "X", "start_position": 0, "end_position": 1}]}]'
    reading = read(io.BytesIO(content.encode()), ReadOptions(offsets="glyphs"), name="x.json")
    assert not reading.tokenised
    cut = Ranges(np.array([0]), np.array([0]), np.array([1]))
    corpus = reading.cut_at(cut)
    start, end = RunningText.of(corpus).positions(cut)
    with pytest.raises(InputError, match="inside a glyph"):
        correct(reading, {"span": make_spans(start, end, {"span": ["X"]})}, corpus)


@at_most(40)
@given(
    kept=st.lists(st.booleans(), min_size=4, max_size=4),
    moved=st.lists(st.booleans(), min_size=4, max_size=4),
    added=st.booleans(),
    layout=st.sampled_from([None, 0, 2, "\t", "compact"]),
)
def test_any_edit_of_a_list_leaves_valid_json(
    kept: list[bool], moved: list[bool], added: bool, layout: int | str | None
) -> None:
    text = "aa bb cc dd ee"
    spans = [{"entity_type": "X", "start_position": 3 * i, "end_position": 3 * i + 2, "note": [i]} for i in range(4)]
    separators = (",", ":") if layout == "compact" else None
    document = [{"full_text": text, "spans": spans, "more": {"z": 1}}]
    raw = json.dumps(document, indent=None if layout == "compact" else layout, separators=separators)  # type: ignore[arg-type]
    reading = read(io.BytesIO(raw.encode()), name="x.json")
    rows = [(i, "Y" if moved[i] else "X") for i in range(4) if kept[i]] + ([(4, "Z")] if added else [])
    wanted = make_spans(
        np.array([row[0] for row in rows], np.int64), np.array([row[0] for row in rows], np.int64),
        {"span": [row[1] for row in rows]},
    )  # fmt: skip
    after = correct(reading, {"span": wanted})["x.json"].decode()
    found = json.loads(after)
    assert [(span["start_position"] // 3, span["entity_type"]) for span in found[0]["spans"]] == rows
    assert [span["note"] for span in found[0]["spans"] if "note" in span] == [[i] for i in range(4) if kept[i]]
    assert found[0]["more"] == {"z": 1}
    if all(kept) and not any(moved) and not added:
        assert after == raw


@pytest.mark.parametrize(("name", "target"), [("gold-tokens.jsonl", ".vrt"), ("gold-tokens.csv", ".vrt")])
def test_what_is_read_but_not_written_back_is_said_with_the_call_that_converts(name: str, target: str) -> None:
    reading = load(name)
    call = f"clueval-xlsx convert {FOLDER / name} {(FOLDER / name).with_suffix(target)}"
    with pytest.raises(CluevalError, match=f"is read, but not written back.*{re.escape(call)}"):
        correct(reading, frames(reading))
