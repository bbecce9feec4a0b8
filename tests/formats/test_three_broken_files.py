"""Three broken files of each format, and what is said of them: where, what was found, what is allowed or to be done."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.registry import FORMAT_NAMES
from tests.support.extras import needed

pa, pq = needed("parquet"), needed("parquet", "pyarrow.parquet")


def j(content: Any) -> bytes:
    return json.dumps(content).encode()


def archive(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("exportedproject.json", "{}")
        for name, content in files.items():
            packed.writestr(f"{name.replace('__', '/')}", content)
    return buffer.getvalue()


def table(**columns: list[Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def span(**other: Any) -> dict[str, Any]:
    return {"start": 0, "end": 4, "label": "PER", **other}


def mention(**other: Any) -> bytes:
    found = {"start_offset": 0, "end_offset": 4, "entity_type": "PERSON", **other}
    return j([{"doc_id": "a", "text": "Mira", "annotations": {"ann": {"entity_mentions": [found]}}}])


def masked(**other: Any) -> bytes:
    return j({"source_text": "Mira", "privacy_mask": [{"value": "Mira", "start": 0, "end": 4, "label": "N", **other}]})


def finding(**other: Any) -> bytes:
    found = {"entity_type": "P", "start_position": 0, "end_position": 4, **other}
    return j([{"full_text": "Mira", "spans": [found]}])


def french(**other: Any) -> dict[str, Any]:
    found = {"category": "personnePhysique", "start": 0, "text": "Mira", "entityId": "x", **other}
    return {"text": "Mira", "annotations": [found]}


def answer(**other: Any) -> dict[str, Any]:
    return {"text": "Mira", "start": 0, "end": 4, "label": "personnePhysique", "source": "NER model", **other}


def task(**other: Any) -> bytes:
    found = {"start": 0, "end": 4, "label": "PER", "text": "Mira", "relations": [], **other}
    document = {"name": "a.txt", "full_text": "Mira", "assignments": [{"annotator": 1, "annotations": [found]}]}
    return j({"name": "t", "documents": [document], "counts": {"annotations": 1}})


def region(end: int) -> list[dict[str, Any]]:
    value = {"start": 0, "end": end, "labels": ["P"]}
    return [{"result": [{"id": "a", "from_name": "l", "type": "labels", "value": value}]}]


def xmi(content: str, *, sofa: str = '<cas:Sofa xmi:id="1" sofaID="_InitialView" sofaString="Mira"/>') -> bytes:
    spaces = 'xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmlns:c="http:///c.ecore"'
    return f"<xmi:XMI {spaces}>{sofa}{content}</xmi:XMI>".encode()


def cas_json(*structures: dict[str, Any]) -> bytes:
    return j({"%TYPES": {}, "%FEATURE_STRUCTURES": list(structures), "%VIEWS": {}})


def webanno(row: str) -> bytes:
    return f"#FORMAT=WebAnno TSV 3.3\n#T_SP=c.Span|value\n\n\n#Text=Mira kam\n{row}\n".encode()


def i2b2(tags: str) -> bytes:
    return f"<deIdi2b2><TEXT>Mira</TEXT><TAGS>{tags}</TAGS></deIdi2b2>".encode()


SOFA = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "Mira"}
BEYOND = "lie beyond the text, which has 4"
BROKEN: dict[str, list[tuple[str, bytes, str]]] = {
    "vrt": [
        ("x.vrt", b"Mira\tX-PER\n", "x.vrt:1: layer span: 'X-PER' is no BIO tag"),
        ("x.vrt", b"<text id=1\nMira\tB-PER\n", "x.vrt:1: '<text id=1' has 1 column"),
        ("x.vrt", b'<text id="a">\nMira\tO\n<text id="b">\nkam\tO\n', "x.vrt:3: <text> opens inside another <text>"),
    ],
    "conll": [
        ("x.conll", b"Mira B-PER\nkam X-PER\n", "x.conll:2: layer span: 'X-PER' is no BIO tag"),
        ("x.conll", b"Mira B-PER\nkam\n", "x.conll:2: 'kam' has 1 column, but column 2 (layer span) is asked for"),
        ("x.conll", b"Mira\0B-PER\n", "x.conll:1: a NUL byte, so this is not a text file"),
    ],
    "token-csv": [
        ("x.csv", b'Word,Tag\n"Mira,B-PER\n', "x.csv:2: a quotation mark that does not close"),
        ("x.csv", b"Word,Tag\nMira,PER;\nkam,B-X\n", "x.csv:2: layer span: 'PER;' is no BIO tag"),
        ("x.csv", b"Word,Tag\n,B-PER\n", "x.csv:2: the token in column 1 is empty"),
    ],
    "json": [
        ("x.jsonl", j({"text": "Mira", "spans": [span(end=9)]}), f"document 1, annotation 1: offsets 0-9 {BEYOND}"),
        ("x.jsonl", j({"text": "Mira", "spans": [span(start="a")]}), "the start of an annotation is 'a'"),
        ("x.jsonl", b'{"text": "Mira", "spans": [}\n', "x.jsonl:1: not valid JSON: Expecting value (column 28)"),
    ],
    "spacy-json": [
        ("x.json", j([["Mira", {"entities": [[0, 9, "PER"]]}]]), f"document 1, annotation 1: offsets 0-9 {BEYOND}"),
        ("x.json", j([["Mira", {"entities": [[0, "x", "PER"]]}]]), "the end of an annotation is 'x'"),
        ("x.json", j([["Mira", {"entities": [[0, 4, "A"], [2, 3, "B"]]}]]), "'r' (B, 2-3) overlaps 'Mira' (A, 0-4)"),
    ],
    "tab": [
        ("x.json", mention(end_offset=9), f"document 'a', mention 1 of ann: offsets 0-9 {BEYOND}"),
        ("x.json", mention(span_text="Anna"), "the annotation says 'Anna', but the text has 'Mira' at 0-4"),
        ("x.json", j([{"doc_id": "a", "text": "M", "annotations": {"b": {}}}]), "annotations of 'b' are {}. Allowed"),
    ],
    "presidio": [
        ("x.json", finding(end_position=9), f"document 1, span 1: offsets 0-9 {BEYOND}"),
        ("x.json", finding(entity_value="Anna"), "the annotation says 'Anna', but the text has 'Mira' at 0-4"),
        (
            "x.json",
            j([{"full_text": 7, "spans": []}]),
            "document 1: 'full_text' is 7; the keys are 'full_text', 'spans'. Allowed: a text",
        ),
    ],
    "label": [
        ("x.json", j([french(start=1)]), "document 1, annotation 1: offsets 1-5 ('Mira') lie beyond the text"),
        ("x.json", j([french(text="Anna")]), "the annotation says 'Anna', but the text has 'Mira' at 0-4"),
        ("x.json", j([french(), french(text=None)]), "annotation 1: the end of an annotation is None"),
    ],
    "juritools": [
        ("x.json", j([{"entities": [answer()]}]), "document 1 has no text. Give the file that holds it: --text FILE"),
        ("x.json", j([{"text": "Mira", "entities": [answer(end=9)]}]), "offsets 0-9 ('Mira') lie beyond the text"),
        ("x.json", j([{"text": "Mira", "entities": [answer(label=[1, 2])]}]), "several labels on one span: 1, 2"),
    ],
    "lawnotation": [
        ("x.json", task(end=9), "document 'a.txt', annotation 1 of 1: offsets 0-9 ('Mira') lie beyond the text"),
        ("x.json", task(html_metadata={"a": 1}), "document 1 is a document in HTML"),
        ("x.json", task(label={}), "the label of an annotation is {}. Allowed: a text"),
    ],
    "doccano": [
        ("x.jsonl", j({"id": 1, "text": "Mira", "label": [[0, 9, "P"]]}), f"annotation 1: offsets 0-9 {BEYOND}"),
        ("x.jsonl", j({"id": 1, "text": "Mira", "label": ["good"]}), "the keys 'id', 'text', 'label', which no known"),
        (
            "x.jsonl",
            b"\n".join([j({"id": 1, "text": "Mira", "label": []})] * 2),
            "document '1' was already there as number 1. Document IDs must be unique",
        ),
    ],
    "prodigy": [
        ("x.jsonl", j({"text": "Mira", "spans": [span(end=9)], "answer": "accept"}), f"offsets 0-9 {BEYOND}"),
        ("x.jsonl", j({"text": "Mira", "spans": [], "answer": "reject"}), "none of its 1 records is a document"),
        ("x.jsonl", j({"text": "Mira", "spans": {}, "answer": "accept"}), "document 1: 'spans' is {}. Allowed: a list"),
    ],
    "huggingface": [
        ("x.jsonl", j({"tokens": ["Mira", "kam"], "ner_tags": ["O"]}), "'ner_tags' has 1 tags for 2 tokens"),
        ("x.jsonl", j({"tokens": ["Mira"], "ner_tags": [1]}), "'ner_tags' holds numbers. Say what they mean"),
        ("x.jsonl", j({"tokens": ["Mira"], "ner_tags": ["X-PER"]}), "token 1: layer span: 'X-PER' is no tag"),
    ],
    "ai4privacy": [
        ("x.jsonl", masked(end=9), "annotation 1: offsets 0-9 ('Mira') lie beyond the text"),
        ("x.jsonl", masked(value="Anna"), "the annotation says 'Anna', but the text has 'Mira' at 0-4"),
        (
            "x.jsonl",
            j({"source_text": "Mira", "privacy_mask": {"a": 1}}),
            "'privacy_mask' is {'a': 1}. Allowed: a list",
        ),
    ],
    "label-studio": [
        ("x.json", j([{"id": 1, "data": {"text": "Mira"}, "annotations": region(9)}]), f"offsets 0-9 {BEYOND}"),
        (
            "x.json",
            j([{"id": 1, "data": {"text": "Mira"}, "annotations": [{}]}]),
            "annotations 1 is {}. Allowed: an object with",
        ),
        (
            "x.json",
            j([{"id": 1, "data": {"a": "x", "b": "y"}, "annotations": []}]),
            "there is no 'text'; the keys are 'a', 'b'",
        ),
    ],
    "cas": [
        ("x.xmi", xmi("", sofa=""), "x.xmi: there is no text in this CAS"),
        ("x.xmi", xmi('<c:Span xmi:id="2" sofa="1" begin="0" end="x"/>'), "c.Span 2: begin is 0, end is 'x'"),
        ("x.xmi", xmi("")[:-5], "x.xmi:1: the XML is not well-formed (unclosed token). Mend it, or export it again"),
    ],
    "cas-json": [
        ("x.json", j({"%TYPES": {}, "%FEATURE_STRUCTURES": {}, "%VIEWS": {}}), "%FEATURE_STRUCTURES is {}. Allowed"),
        ("x.json", cas_json({"%ID": 1, "%TYPE": "uima.cas.Sofa"}), "x.json: there is no text in this CAS"),
        (
            "x.json",
            cas_json(SOFA, {"%ID": 2, "%TYPE": "c.Span", "@sofa": 1, "begin": 0, "end": 9}),
            f"c.Span 2: offsets 0-9 {BEYOND} UTF-16 units",
        ),
    ],
    "webanno": [
        ("x.tsv", webanno("1-1\t0-4\tMira\t"), "x.tsv:6: 0 cells of annotations. Allowed: 1, as the header says"),
        ("x.tsv", webanno("1-1\t0-9\tMira\tPER\t"), "x.tsv:6: the row says 'Mira', but the text has '' at 0-9"),
        ("x.tsv", webanno("1-1\t0-x\tMira\tPER\t"), "x.tsv:6: '1-1\\t0-x\\tMira\\tPER\\t' is no row of a token"),
    ],
    "inception": [
        ("x.zip", archive(**{"annotation_ser/a/b.ser": "x"}), "holds 1 annotations as serialized Java objects only"),
        ("x.zip", archive(**{"annotation/a/b.xmi": "<a/>"}), "x.zip, annotation/a/b.xmi: is no CAS. Allowed"),
        ("x.zip", archive()[:-30], "x.zip: the archive is damaged"),
    ],
    "i2b2": [
        ("x.xml", i2b2("<N start='0' end='9' TYPE='P'/>"), f"x.xml: N 1: offsets 0-9 {BEYOND}"),
        ("x.xml", i2b2("<N start='a' end='4'/>"), "N 1: start is 'a', end is '4'. Allowed: whole numbers"),
        ("x.xml", i2b2("<N>"), "x.xml:1: the XML is not well-formed (mismatched tag). Mend it, or export it again"),
    ],
    "docbin": [
        ("x.spacy", b"abc", "x.spacy: is no DocBin that spaCy can read"),
        ("x.spacy", zlib.compress(b"\x81\xa7version\xa30.1"), "x.spacy: is no DocBin that spaCy can read ('attrs')"),
        ("x.spacy", b"", "Allowed: what DocBin.to_disk writes. Save it again"),
    ],
    "parquet": [
        ("x.parquet", table(a=["b"])[:-9], "x.parquet: is no Parquet file that can be read"),
        ("x.parquet", table(token=["a"], x=["y"]), "x.parquet: the columns are token, x. Allowed: a table of spans"),
        ("x.parquet", table(start=[0], end=[1]), "a span table needs the text it belongs to. Give it with --text FILE"),
    ],
    "table": [
        ("x.xlsx", b"PK\x03\x04abc", "x.xlsx: the archive is damaged"),
        ("x.tsv", b"start\tend\tlabel\n0\t1\tX\n", "x.tsv: a span table needs the text it belongs to"),
        ("x.csv", b"start,end,label\n0,1,X\n", "x.csv: a span table needs the text it belongs to"),
    ],
}


BROKEN_FOLDERS = {  # of brat: its annotations on the text "Mira kam."
    "T1\tPER 0 99\tMira\n": "x.ann:1: offsets 0-99 ('Mira') lie beyond the text, which has 9",
    "T1\tPER 0 4\tAnna\n": "x.ann:1: the annotation says 'Anna', but the text has 'Mira' at 0-4",
    "T1\tPER 0 4;6 8\tMira am\n": "x.ann:1: a discontinuous span",
}


def test_every_format_has_three_broken_files() -> None:
    counts = {**{name: len(cases) for name, cases in BROKEN.items()}, "brat": len(BROKEN_FOLDERS)}
    assert counts == dict.fromkeys(FORMAT_NAMES, 3)


@pytest.mark.parametrize("content", BROKEN_FOLDERS)
def test_a_broken_folder_is_answered_with_what_is_wrong(content: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("Mira kam.", encoding="utf-8")
    (tmp_path / "x.ann").write_text(content, encoding="utf-8")
    with pytest.raises(CluevalError) as caught:
        read(tmp_path)
    assert BROKEN_FOLDERS[content] in str(caught.value)


def test_annotations_of_brat_by_themselves_are_called_by_their_name() -> None:
    with pytest.raises(CluevalError, match="this is what brat keeps in"):
        read(io.BytesIO(b"T1\tPER 0 4\tMira\n"), name="x.tsv")


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        pytest.param(*case, id=f"{key}-{number}")
        for key, cases in BROKEN.items()
        for number, case in enumerate(cases, 1)
    ],
)
def test_a_broken_file_is_answered_with_what_is_wrong(name: str, raw: bytes, expected: str) -> None:
    with pytest.raises(CluevalError) as caught:
        read(io.BytesIO(raw), name=name)
    assert expected in str(caught.value)
