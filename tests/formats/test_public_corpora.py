"""Files laid out as public corpora and the formats' own documentation have them, on texts written for the project."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.extras import needed
from tests.support.tables import listed

pa, pq = needed("parquet"), needed("parquet", "pyarrow.parquet")


def load(text: str | bytes, name: str, **options: Any) -> Reading:
    raw = text.encode() if isinstance(text, str) else text
    return read(io.BytesIO(raw), ReadOptions(**options), name=name)


def spans(reading: Reading) -> list[tuple]:
    return listed(reading.annotation.layers["span"])


def untouched(reading: Reading) -> bytes:
    (content,) = correct(reading, reading.annotation.layers).values()
    return content


def refused(text: str | bytes, name: str, **options: Any) -> str:
    with pytest.raises(CluevalError) as caught:
        load(text, name, **options)
    return str(caught.value)


def test_webanno_tsv_2_is_read_as_columns() -> None:
    text = (
        " # de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity | value\n#id=1\n#text=Mira Tannhof kam\n"
        "1-1\tMira\tB-PER\t\n1-2\tTannhof\tI-PER\t\n1-3\tkam\tO\t\n\n"
    )
    found = load(text, "x.tsv")
    assert list(found.corpus.tokens) == ["Mira", "Tannhof", "kam"]
    assert spans(found) == [(0, 1, "PER")]
    assert untouched(found).decode() == text


@pytest.mark.parametrize(("one", "two"), [("B_PER", "I_PER"), ("PER-B", "PER-I")])
def test_tags_that_are_written_otherwise_are_no_labels(one: str, two: str) -> None:
    said = refused(f"Mira\t{one}\nTannhof\t{two}\nkam\tO\n", "x.tsv")
    assert f"column 2 holds {one!r}, {two!r}, which look like tags" in said
    assert "Allowed: B-LABEL, I-LABEL, O." in said


# --- Parquet as data sets have it ---

NAMES = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG"]
TOKENS = {"id": ["0", "1"], "tokens": [["Mira", "Tannhof"], ["Nordwind", "kam"]], "ner_tags": [[1, 2], [3, 0]]}
CLASSES = {
    "tokens": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
    "ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "Sequence"},
}


def packed(columns: dict[str, Any], features: Any = None) -> bytes:
    table = pa.table(columns)
    if features is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def test_numbers_in_parquet_have_the_names_that_the_file_knows() -> None:
    raw = packed(TOKENS, CLASSES)
    found = load(raw, "train-00000-of-00001.parquet")
    assert list(found.corpus.tokens) == ["Mira", "Tannhof", "Nordwind", "kam"]
    assert found.corpus.doc_ids == ("0", "1")
    assert spans(found) == [(0, 1, "PER"), (2, 2, "ORG")]


def test_numbers_in_parquet_without_names_are_asked_for() -> None:
    raw = packed(TOKENS)
    assert "'ner_tags' holds numbers. Say what they mean: read.tag_names" in refused(raw, "x.parquet")
    assert spans(load(raw, "x.parquet", tag_names=tuple(NAMES))) == [(0, 1, "PER"), (2, 2, "ORG")]


# --- JSON ---


def test_annotations_written_as_text_are_read() -> None:
    text = json.dumps({"uid": 1, "text": "Mira kam.", "spans": "[{'start': 0, 'end': 4, 'label': 'PER'}]"})
    found = load(text, "x.jsonl")
    assert spans(found) == [(0, 0, "PER")]
    assert dict(found.corpus.documents.attributes(0)) == {"id": "1"}
    other = json.dumps({"generated_text": "Mira kam.", "pii": '[{"start": 0, "end": 4, "label": "PER"}]'})
    assert "the first document has the keys 'generated_text', 'pii', which no known format" in refused(other, "x.jsonl")
    assert spans(load(other, "x.jsonl", fields={"text": "generated_text", "spans": "pii"})) == [(0, 0, "PER")]


# --- UIMA CAS ---


# --- Encodings, gzip ---


def test_latin_1_is_read_and_stays_latin_1() -> None:
    raw = "Königsbrück NP B-LOC\nging VB O\nMüller NP B-PER\n".encode("latin-1")
    assert "x.conll:1: byte 0xF6 is not UTF-8. Save the file as UTF-8, or give its encoding" in refused(raw, "x.conll")
    found = load(raw, "x.conll", encoding="latin-1")
    assert list(found.corpus.tokens) == ["Königsbrück", "ging", "Müller"]
    assert untouched(found) == raw
    frame = make_spans([2], [2], {"span": ["PER"]})
    (content,) = correct(found, {"span": frame}).values()
    assert content == raw.replace(b"B-LOC", b"O")
    with pytest.raises(CluevalError, match="'Ω' cannot be written in latin-1"):
        correct(found, {"span": make_spans([2], [2], {"span": ["Ω"]})})
    utf8 = "Königsbrück NP B-LOC\n".encode()
    assert list(load(utf8, "x.conll", encoding="latin-1").corpus.tokens) == ["Königsbrück"]


def test_a_folder_in_latin_1_or_packed_comes_back_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_bytes("Königsbrück B-LOC\n".encode("latin-1"))
    (tmp_path / "b.conll").write_bytes(b"Mira B-PER\n")
    (tmp_path / "c.conll.gz").write_bytes(gzip.compress(b"Nordwind B-ORG\n"))
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\xff")
    found = read(tmp_path, ReadOptions(encoding="latin-1"))
    assert list(found.corpus.tokens) == ["Königsbrück", "Mira", "Nordwind"]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert correct(found, found.annotation.layers) == before
    after = correct(found, {"span": make_spans([1], [1], {"span": ["PER"]})})
    assert after["a.conll"] == "Königsbrück O\n".encode("latin-1")
    assert gzip.decompress(after["c.conll.gz"]) == b"Nordwind O\n"
    assert {name: after[name] for name in ("b.conll", "logo.png")} == {
        name: before[name] for name in ("b.conll", "logo.png")
    }


# --- What is no input, and what formats cannot hold ---


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.py", b"TRAIN = [('Mira kam.', {'entities': [(0, 4, 'PER')]})]\n", "this is Python code. Save its list as"),
        ("x.csv", b"annotation_id,annotator,label,text\n1,1,[],Mira\n", "this is a CSV export of Label Studio. Export"),
        ("x.arrow", b"\xff\xff\xff\xff\x10\0\0\0", "this is an Arrow stream, as data sets are cached. Save it as"),
        ("x.xml", b'<!DOCTYPE collection SYSTEM "BioC.dtd"><collection></collection>', "this is a BioC collection."),
    ],
)
def test_what_is_no_input_is_called_by_its_name(name: str, content: bytes, expected: str) -> None:
    assert expected in refused(content, name)


# --- Folders of tokens ---

HALVES = {
    "huggingface": {
        "train.jsonl": '{"tokens": ["Mira", "kam"], "ner_tags": ["B-PER", "O"]}\n'
        '{"tokens": ["Ja"], "ner_tags": ["O"]}\n',
        "test.jsonl": '{"tokens": ["Nordwind", "&", "Co"], "ner_tags": ["B-ORG", "I-ORG", "I-ORG"]}\n',
    },
    "token-csv": {
        "train.csv": "Sentence #,Word,Tag\n1,Mira,B-PER\n,kam,O\n2,Ja,O\n",
        "test.csv": "Sentence #,Word,Tag\n1,Nordwind,B-ORG\n,&,I-ORG\n,Co,I-ORG\n",
    },
}


@pytest.mark.parametrize("format_", HALVES)
def test_a_folder_of_token_files_is_one_corpus(format_: str, tmp_path: Path) -> None:
    for name, content in HALVES[format_].items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    found = read(tmp_path)
    assert found.source.format == format_
    assert list(found.corpus.tokens) == ["Nordwind", "&", "Co", "Mira", "kam", "Ja"]
    assert spans(found) == [(0, 2, "ORG"), (3, 3, "PER")]
    assert len(set(found.corpus.doc_ids)) == len(found.corpus.doc_ids)
