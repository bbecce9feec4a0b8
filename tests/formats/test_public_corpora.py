"""Files laid out as public corpora and the formats' own documentation have them, on texts written for the project."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.commands import run
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


def test_a_line_with_another_number_of_columns_behind_a_hash_is_a_comment() -> None:
    """GermEval names a newspaper in words where it has no address; others write remarks."""
    text = "#\tnordwind.example vom 26.02.2005 [2005-02-26]\n1\tUni\tB-ORG\tO\n2\tKöln\tI-ORG\tB-LOC\n"
    found = load(text, "germeval.tsv", layers={"span": 3})
    assert list(found.corpus.tokens) == ["Uni", "Köln"]
    assert spans(found) == [(0, 1, "ORG")]
    assert untouched(found).decode() == text
    remark = "# by two people in 2023\nMira B-PER\n# O\n#Nordwind O\n"
    found = load(remark, "x.conll")
    assert list(found.corpus.tokens) == ["Mira", "#", "#Nordwind"]
    assert untouched(found).decode() == remark


def test_a_token_with_a_cell_too_many_is_no_comment() -> None:
    said = refused("Mira B-PER\nkam O\n# X O\n", "x.conll", layers={"span": 2})
    assert "x.conll:3: layer span: 'X' is no BIO tag" in said


def test_a_no_break_space_belongs_to_its_token() -> None:
    text = "10\u00a0000 O\nM.\u00a0Tannhof B-PER\n"
    found = load(text, "x.conll")
    assert list(found.corpus.tokens) == ["10\u00a0000", "M.\u00a0Tannhof"]
    assert spans(found) == [(1, 1, "PER")]
    assert untouched(found).decode() == text


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


def test_spans_in_brackets_are_called_by_their_name() -> None:
    row = "bn/x/00 0 {} {} NN * - - - - {} -\n"
    text = "#begin document (bn/x/00); part 000\n" + row.format(0, "Mira", "(PERSON*") + row.format(1, "T", "*)")
    said = refused(text + row.format(2, "kam", "*") + "\n#end document\n", "x.conll")
    assert "column 11 holds spans in brackets, as OntoNotes (CoNLL-2012) has them" in said


def test_a_file_without_tags_says_what_its_columns_hold() -> None:
    line = "{}\t{}\t{}\tX\t_\t_\t0\troot\t_\tEntity=(1-person)\n"
    said = refused(line.format(1, "Mira", "mira") + line.format(2, "kam", "kommen"), "x.conllu")
    assert "no column holds tags. column 1: 1, 2; column 3: mira, kommen; column 4: X" in said
    assert "(keys: Entity)" in said


def test_a_row_of_empty_cells_ends_a_sentence() -> None:
    text = "-DOCSTART-,O\nMira,B-PER\n,\nTannhof,I-PER\n"
    found = load(text, "ner.csv")
    assert list(found.corpus.tokens) == ["Mira", "Tannhof"]
    assert spans(found) == [(0, 0, "PER"), (1, 1, "PER")]


# --- Parquet as data sets have it ---

NAMES = ["O", "B-PER", "I-PER", "B-ORG", "I-ORG"]
TOKENS = {"id": ["0", "1"], "tokens": [["Mira", "Tannhof"], ["Nordwind", "kam"]], "ner_tags": [[1, 2], [3, 0]]}
CLASSES = {
    "tokens": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"},
    "ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "Sequence"},
}
MASKS = {
    "source_text": ["Mira kam.", "Nordwind kam."],
    "privacy_mask": [[{"label": "NAME", "start": 0, "end": 4, "value": "Mira"}], []],
    "uid": [7, 8],
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


def test_records_of_annotations_in_parquet_are_read() -> None:
    raw = packed(MASKS)
    found = load(raw, "x.parquet")
    assert found.corpus.doc_ids == ("7", "8")
    assert spans(found) == [(0, 0, "NAME")]


def test_a_parquet_table_of_nothing_known_says_what_is_allowed() -> None:
    said = refused(packed({"a": [[1]], "b": ["x"]}), "x.parquet")
    assert "the columns are a, b." in said
    assert "or of records (text and spans, tokens and ner_tags, or what --field names)" in said
    other = packed({"body": ["Mira kam."], "finds": [[{"from": 0, "to": 4, "kind": "PER"}]]})
    asked = {"text": "body", "spans": "finds", "start": "from", "end": "to", "label": "kind"}
    assert spans(load(other, "x.parquet", fields=asked)) == [(0, 0, "PER")]


# --- JSON ---


def test_annotations_written_as_text_are_read() -> None:
    text = json.dumps({"uid": 1, "text": "Mira kam.", "spans": "[{'start': 0, 'end': 4, 'label': 'PER'}]"})
    found = load(text, "x.jsonl")
    assert spans(found) == [(0, 0, "PER")]
    assert dict(found.corpus.documents.attributes(0)) == {"id": "1"}
    other = json.dumps({"generated_text": "Mira kam.", "pii": '[{"start": 0, "end": 4, "label": "PER"}]'})
    assert "the first document has the keys 'generated_text', 'pii', which no known format" in refused(other, "x.jsonl")
    assert spans(load(other, "x.jsonl", fields={"text": "generated_text", "spans": "pii"})) == [(0, 0, "PER")]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"id": 0, "paragraphs": [{"raw": "Mira"}]}, "this is JSON as spaCy 2 trained on it. `python -m spacy convert"),
        (
            {"content": "Mira", "annotation": [], "extras": None},
            "as Dataturks wrote it, whose offsets include",
        ),
        ({"tokenized_text": ["Mira"], "ner": [[0, 0, "x"]]}, "as GLiNER trains on it, whose offsets count tokens"),
    ],
)
def test_json_that_is_known_but_not_read_is_called_by_its_name(record: Any, expected: str) -> None:
    assert expected in refused(json.dumps(record), "x.json")


def test_answers_about_single_spans_of_a_text_are_several_answers_about_one_document() -> None:
    answer = {"text": "Mira kam.", "_input_hash": 1, "_view_id": "ner", "answer": "accept"}
    parts = [{"start": 0, "end": 4, "label": "PER"}, {"start": 5, "end": 8, "label": "X"}]
    text = "".join(
        json.dumps({**answer, "_task_hash": number, "spans": [part]}) + "\n" for number, part in enumerate(parts)
    )
    assert "1 document has several annotators (#1, #2). Choose: --annotator NAME" in refused(text, "x.jsonl")
    assert spans(load(text, "x.jsonl", annotator="union")) == [(0, 0, "PER"), (1, 1, "X")]


CARD = """---
language: de
dataset_info:
  features:
  - name: tokens
    sequence: string
  - name: chunk_tags
    sequence:
      class_label:
        names:
          '0': O
          '1': B-NP
  - name: ner_tags
    sequence:
      class_label:
        names:
          '0': O
          '1': B-PER
          '2': I-PER
---
# A data set
"""
INFO = {
    "features": {
        "pos_tags": {"feature": {"names": ["NN", "VB", "."], "_type": "ClassLabel"}},
        "chunk_tags": {"feature": {"names": ["O", "B-NP", "I-NP"], "_type": "ClassLabel"}},
        "ner_tags": {"feature": {"names": ["O", "B-PER", "I-PER"], "_type": "ClassLabel"}},
    }
}


@pytest.mark.parametrize(("name", "content"), [("README.md", CARD), ("dataset_info.json", json.dumps(INFO))])
def test_names_of_tags_are_those_of_their_column(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    data = tmp_path / "x.jsonl"
    data.write_text(json.dumps({"tokens": ["Mira", "T"], "chunk_tags": [1, 1], "ner_tags": [1, 2]}), encoding="utf-8")
    done = run("validate", data, "--set", f"read.tag_names={tmp_path / name}")
    assert "span: 1 span, 1 label" in done.out
    done = run("validate", data, "--set", f"read.tag_names={tmp_path / name}", "--field", "tags=chunk_tags")
    assert "span: 2 spans, 1 label" in done.out


# --- UIMA CAS ---


def test_the_last_link_of_a_chain_is_no_span() -> None:
    link = '<custom:Link xmi:id="{}" sofa="1" begin="{}" end="{}"{}/>'
    links = link.format(10, 0, 4, ' next="11"') + link.format(11, 5, 8, "")
    text = (
        '<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" '
        f'xmlns:custom="http:///webanno/custom.ecore" xmi:version="2.0">{links}'
        '<custom:Chain xmi:id="12" sofa="1" first="10"/>'
        '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="Mira kam"/>'
        '<cas:View sofa="1" members="10 11 12"/></xmi:XMI>'
    )
    found = load(text, "x.xmi")
    assert spans(found) == []
    assert found.notes == ("x.xmi: 2 links of chains are left alone, because they are no spans",)
    structures = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": "Mira kam"},
        {"%ID": 2, "%TYPE": "custom.Link", "@sofa": 1, "begin": 0, "end": 4, "@next": 3},
        {"%ID": 3, "%TYPE": "custom.Link", "@sofa": 1, "begin": 5, "end": 8},
    ]
    found = load(json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": structures, "%VIEWS": {}}), "x.json")
    assert spans(found) == []


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


def test_a_folder_of_packed_records_comes_back_packed(tmp_path: Path) -> None:
    for number in (1, 2):
        line = json.dumps({"id": number, "text": "Mira kam.", "label": [[0, 4, "PER"]]})
        (tmp_path / f"{number}.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    found = read(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert correct(found, found.annotation.layers) == before
    after = correct(found, {"span": make_spans([0], [0], {"span": ["PER"]})})
    assert after["1.jsonl.gz"] == before["1.jsonl.gz"]
    assert b'"label": []' in gzip.decompress(after["2.jsonl.gz"])


def test_a_corrected_file_is_packed_if_it_is_called_so(tmp_path: Path) -> None:
    gold, pred, book = tmp_path / "gold.conll.gz", tmp_path / "pred.conll", tmp_path / "review.xlsx"
    gold.write_bytes(gzip.compress(b"Mira B-PER\nkam O\n"))
    pred.write_bytes(b"Mira O\nkam O\n")
    assert run("evaluate", gold, pred, "-o", book).code == 0
    assert run("reimport", book, "--gold", gold, "-o", tmp_path / "new.conll.gz").code == 0
    assert (tmp_path / "new.conll.gz").read_bytes() == gold.read_bytes()
    assert run("reimport", book, "--gold", gold, "-o", tmp_path / "new.conll").code == 0
    assert (tmp_path / "new.conll").read_bytes() == b"Mira B-PER\nkam O\n"


def test_an_encoding_that_does_not_exist_or_fit_is_refused() -> None:
    assert "read.encoding=latin-77: there is no such encoding" in refused(b"a O\n", "x.conll", encoding="latin-77")
    assert "is neither UTF-8 nor ascii" in refused(b"\xe4 O\n", "x.conll", encoding="ascii")


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


@pytest.mark.parametrize("target", ["label", "lawnotation"])
def test_spans_without_a_label_are_refused_where_a_format_cannot_hold_them(target: str, tmp_path: Path) -> None:
    gold = tmp_path / "gold.conll"
    gold.write_text("Mira B\nkam O\n", encoding="utf-8")
    done = run("convert", gold, tmp_path / "x.json", "--to", target)
    assert done.code == 2
    assert "1 span has no label, which" in done.err
    assert not (tmp_path / "x.json").exists()


def test_annotations_written_as_text_stay_as_they_are_if_nothing_changes() -> None:
    text = json.dumps({"id": 1, "text": "Mira kam.", "spans": "[{'start': 0, 'end': 4, 'label': 'PER'}]"})
    found = load(text, "x.jsonl")
    assert untouched(found).decode() == text
    with pytest.raises(CluevalError, match="its annotations are written as texts that hold JSON"):
        correct(found, {"span": make_spans([1], [1], {"span": ["PER"]})})


def test_tasks_that_nobody_annotated_are_read_by_their_predictions() -> None:
    region = {"value": {"start": 0, "end": 4, "labels": ["PER"]}, "from_name": "l", "to_name": "t", "type": "labels"}
    task = {"id": 1, "data": {"text": "Mira kam."}, "annotations": [], "predictions": [{"result": [region]}]}
    found = load(json.dumps([task]), "x.json")
    assert spans(found) == [(0, 0, "PER")]
    assert found.notes == ("x.json: nobody has annotated these tasks; their predictions are read",)
    judged = {**task, "annotations": [{"result": []}]}
    assert spans(load(json.dumps([judged]), "x.json")) == []


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


def test_a_folder_of_parquet_data_sets_is_one_corpus(tmp_path: Path) -> None:
    for number in (0, 1):
        (tmp_path / f"train-0000{number}-of-00002.parquet").write_bytes(packed(TOKENS, CLASSES))
    found = read(tmp_path)
    assert len(found.corpus) == 8
    assert found.corpus.doc_ids[0] == "train-00000-of-00002/0"


def test_older_versions_number_the_description_of_a_project(tmp_path: Path) -> None:
    text = "#FORMAT=WebAnno TSV 3.2\n#T_SP=custom.Span|value\n\n\n#Text=Mira\n1-1\t0-4\tMira\tPER\t\n"
    archive = tmp_path / "project.zip"
    with zipfile.ZipFile(archive, "w") as packed_files:
        packed_files.writestr("exportedproject4711.json", json.dumps({"name": "p", "source_documents": []}))
        packed_files.writestr("annotation/a.txt/anna.tsv", text)
    assert spans(read(archive)) == [(0, 0, "PER")]


def test_annotations_in_two_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Mira kam.", encoding="utf-8")
    (tmp_path / "a.a1").write_text("T1\tPER 0 4\tMira\n", encoding="utf-8")
    with pytest.raises(CluevalError, match=r"the annotations are in \.a1, \.a2 files, as the BioNLP shared tasks"):
        read(tmp_path)
