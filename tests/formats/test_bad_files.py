"""A bad file, whatever its format: where, what was found, what is allowed; exit code 2, nothing written."""

# ruff: noqa: E501  (one bad input and its message a line)
from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx.exceptions import CluevalError, InputError, OptionError
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import ReadOptions
from tests.support.commands import refused, run
from tests.support.folders import FIXTURES
from tests.support.tables import SOUND

TEXT = "Ann Lee kam."


def presidio(*spans: dict[str, Any], **keys: Any) -> bytes:
    return json.dumps([{"full_text": TEXT, "spans": list(spans), **keys}]).encode()


def span(start: Any, end: Any, words: str | None = None) -> dict[str, Any]:
    found = {"entity_type": "X", "start_position": start, "end_position": end}
    return found if words is None else {**found, "entity_value": words}


def complaint(content: bytes, name: str = "x.json", options: ReadOptions | None = None) -> str:
    with pytest.raises(CluevalError) as caught:
        read(io.BytesIO(content), options, name=name)
    return str(caught.value)


def folder_complaint(tmp_path: Path, files: dict[str, str], options: ReadOptions | None = None) -> str:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content.encode("utf-8"))
    with pytest.raises(CluevalError) as caught:
        read(tmp_path, options)
    return str(caught.value).replace(str(tmp_path), "GOLD")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (presidio(span(0, 13)), "document 1, span 1: offsets 0-13 lie beyond the text, which has 12 code points"),
        (presidio(span(-1, 3)), "offsets -1-3 lie beyond the text"),
        (presidio(span(4, 3, "Lee")), "offsets 4-3 ('Lee') have a negative length. Allowed: start before end"),
        (presidio(span(4, 4)), "offsets 4-4 have no length"),
        (presidio(span("4", 7)), "the start of an annotation is '4'. Allowed: a whole number"),
        (presidio(span(None, 7)), "the start of an annotation is None"),
        (presidio(span(True, 7)), "the start of an annotation is True"),
        (presidio(span(0, 3, "Bob")), "the annotation says 'Bob', but the text has 'Ann' at 0-3"),
        (b'{"full_text": 7}', "x.json: document 1: 'full_text' is 7; the keys are 'full_text'. Allowed: a text"),
        (b"3", "the JSON is 3. Allowed: a list of documents"),
        (b"[]", "the list of documents is empty"),
        (b'["a"]', "document 1 is 'a'. Allowed: an object for each document"),
        (b'[{"content": "a", "marks": []}]', "the first document has the keys 'content', 'marks', which no known format has"),
        (b'[{"full_text": "a", "spans": {}}]', "document 1: 'spans' is {}. Allowed: a list of annotations"),
        (b'[{"full_text": 3, "spans": []}]', "document 1: 'full_text' is 3; the keys are 'full_text', 'spans'. Allowed: a text"),
        (b'[{"full_text": "a", "spans": [7]}]', "document 1, span 1: found 7. Allowed: an object"),
        (b'[{"full_text": "a"\n', "x.json:2: not valid JSON"),
        (b"", "x.json: the file is empty. Check that this is the right file."),
        (b"\n \n", "x.json: the file is empty. Check that this is the right file."),
        (b'[{"full_text": "\xe4"}]', "x.json:1: byte 0xE4 is not UTF-8"),
        (b'{"a": 1}\n{"a": 2}\n', "the first document has the keys 'a', which no known format has"),
        (b'{"a": 1}\n{"a" 2}\n', "x.json:2: not valid JSON"),
        (b'[{"text": "abc", "annotations": {"anna": []}}]', "annotations of 'anna' are []. Allowed: an object with 'entity_mentions'"),
        (b'[{"text": "abc", "annotations": [4]}]', "the keys 'text', 'annotations', which no known format has"),
        (b'[{"doc_id": "d", "text": "abc", "annotations": [{"start_offset": 0, "end_offset": 9}]}]', "document 'd', mention 1: offsets 0-9 lie beyond"),
        (b'[{"doc_id": "d", "annotations": [], "text": null}]', "document 1: 'text' is None"),
        (b'[{"data": {"txt": "abc", "b": "c"}}]', "there is no 'text'; the keys are 'txt', 'b'. Allowed: a text. Say where it stands: --field text=KEY"),
        (b'[{"data": {"text": "abc"}, "annotations": 4}]', "'annotations' is 4. Allowed: a list of annotations"),
        (b'[{"data": {"text": "abc"}, "annotations": [{}]}]', "annotations 1 is {}. Allowed: an object with 'result'"),
        (
            b'[{"data": {"text": "abc"}, "annotations": [{"result": [{"value": {"start": 0, "end": 1, "labels": ["A", "B"]}}]}]}]',
            "several labels on one span: A, B. Allowed: one label",
        ),
        (b'[{"doc_id": "d", "full_text": "a", "spans": []}, {"doc_id": "d", "full_text": "b"}]', "document 'd' was already there as number 1"),
    ],
)  # fmt: skip
def test_json(content: bytes, expected: str) -> None:
    assert expected in complaint(content)


def test_numbers_longer_than_any_text_are_refused_in_every_format(tmp_path: Path) -> None:
    for digits in (25, 5000):
        files = {"a.txt": TEXT, "a.ann": f"T1\tX 0 {'9' * digits}\tAnn\n"}
        assert "GOLD/a.ann:1:" in folder_complaint(tmp_path, files)
        assert "whole numbers" in complaint_of_table(f"start\tend\tlabel\n0\t{'9' * digits}\tX\n".encode())


def test_offsets_that_fit_another_unit_are_recognised() -> None:
    text = "😀 Ann kam"
    content = json.dumps([{"full_text": text, "spans": [span(3, 6, "Ann")]}]).encode()
    assert "The offsets fit if they count UTF-16 units: give read.offsets=utf16" in complaint(content)
    reading = read(io.BytesIO(content), ReadOptions(offsets="utf16"), name="x.json")
    assert reading.corpus.text(1, 1) == "Ann"


def test_an_offset_inside_a_character_is_refused() -> None:
    content = json.dumps([{"full_text": "😀 Ann", "spans": [span(1, 6)]}]).encode()
    assert "lies inside a character" in complaint(content, options=ReadOptions(offsets="utf16"))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"notes.md": "x"}, "GOLD: no file of a known format; the endings are .md. Name the format (--format)"),
        ({"a.ann": "T1\tX 0 1\ta\n"}, "GOLD/a.ann: its text is nowhere: neither GOLD/a.txt. Put the texts beside"),
        ({"a.txt": TEXT, "a.ann": "T1\tX 0 3;8 11\tAnn kam\n"}, "GOLD/a.ann:1: a discontinuous span: 'T1\\tX 0 3;8 11\\tAnn kam'"),
        ({"a.txt": TEXT, "a.ann": "T1\tX 0 3\tAnn\nT2\tX 4 7\tBob\n"}, "GOLD/a.ann:2: the annotation says 'Bob', but the text has 'Lee' at 4-7"),
        ({"a.txt": TEXT, "a.ann": "T1\tX 4 99\tLee\n"}, "GOLD/a.ann:1: offsets 4-99 ('Lee') lie beyond the text, which has 12 code points"),
        ({"a.txt": TEXT, "a.ann": "T1\tX 7 4\tLee\n"}, "GOLD/a.ann:1: offsets 7-4 ('Lee') have a negative length"),
        ({"a.txt": TEXT, "a.ann": "T1\tX Ann\n"}, "GOLD/a.ann:1: 'T1\\tX Ann' is no annotation"),
        ({"a.txt": TEXT, "a.ann": "T1\tX 0 3\tAnn\nT2\tY 0 7\tAnn Lee\n"}, "'Ann Lee' (Y, 0-7) overlaps 'Ann' (X, 0-3)"),
    ],
)  # fmt: skip
def test_brat(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert expected in folder_complaint(tmp_path, files)


def table_complaint(content: str, options: ReadOptions | None = None) -> list[str]:
    with pytest.raises(CluevalError) as caught:
        read_pair(FIXTURES / "gold.vrt", io.BytesIO(content.encode()), ReadOptions(token_id=3), options)
    problems = getattr(caught.value, "problems", ())
    return [str(problem) for problem in problems] or [str(caught.value)]


def test_every_inconsistent_row_of_a_table_is_listed() -> None:
    rows = [
        "doc_id\tstart\tend\tstart_id\tend_id\tlabel\ttext",
        "\t0\t0\t\t\tX\tLandgericht",
        "\t0\t9999\tt0\tt0\tX\t",
        "\tone\t1\tt1\tt1\tX\t",
        "\t3\t2\tt3\tt2\tX\t",
        "\t1\t1\tt2\tt2\tX\t",
        "\t1\t1\tt1\tt1\tX\tHamburg",
        "nowhere\t1\t1\tt1\tt1\tX\t",
        "\t1\t60\tt1\tt60\tX\t",
    ]
    found = table_complaint("\n".join(rows) + "\n", ReadOptions(format="table"))
    assert [line.split(":")[1] for line in found] == ["2", "3", "4", "5", "6", "7", "8", "9"]
    for line, expected in zip(
        found,
        [
            "token ID '' is not in",
            "start 0, end 9999. Allowed: positions from 0 to",
            "start 'one', end '1'. Allowed: whole numbers",
            "the end not before the start",
            "the positions 1..1 are not those of the token IDs t2 and t2, which are 2..2",
            "the table says 'Hamburg', but the corpus has 'Seehafen' at 1..1",
            "doc_id is 'nowhere', but 1..1 lies in document 'LG-Seehafen-2-O-17-24'",
            "runs from document 'LG-Seehafen-2-O-17-24' into the next",
        ],
        strict=True,
    ):
        assert expected in line


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("first\tlast\tlabel\n1\t2\tX\n", "the columns are 'first', 'last', 'label'. Allowed: a header with start and end"),
        ("start\tend\tcolour\tsize\n1\t2\tred\tbig\n", "which column holds the labels? Columns: colour, size"),
        ("char_start\tchar_end\tlabel\n1\t2\tX\n", "has character offsets, but"),
        ("start\tend\tlabel\n1\t2\tX\n2\t3\tY\n", "overlaps"),
    ],
)  # fmt: skip
def test_tables(content: str, expected: str) -> None:
    assert expected in table_complaint(content, ReadOptions(format="table"))[0]


def test_a_table_needs_its_text() -> None:
    with pytest.raises(OptionError, match="needs the text it belongs to"):
        read(FIXTURES / "gold.tsv")
    with pytest.raises(OptionError, match="needs the text it belongs to"):
        read_pair(FIXTURES / "gold.tsv", FIXTURES / "pred.csv")
    with pytest.raises(InputError, match=r"positions of tokens, but .* is running text"):
        read_pair(FIXTURES / "brat-gold", FIXTURES / "pred.csv")


def test_a_broken_workbook_is_refused() -> None:
    assert "damaged" in complaint_of_table(b"PK\x03\x04 nothing")


def complaint_of_table(content: bytes) -> str:
    with pytest.raises(CluevalError) as caught:
        read_pair(FIXTURES / "gold.vrt", io.BytesIO(content), None, ReadOptions(format="table"))
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "layers", "expected"),
    [
        ("tab.json", {"risk": None}, "TAB JSON has no field 'risk'. Fields: entity_type, identifier_type, entity_id"),
        ("tab.json", {"risk": 3}, "has no field 3"),
        ("gold.vrt", {"risk": None, "b": 2}, "here a layer is a column of tags. Give its number, such as risk=2"),
        ("gold.vrt", {"risk": "label"}, "--layer risk=label"),
        ("presidio-gold.json", {"a": None, "b": None}, "has no field 'a'"),
    ],
)
def test_layers_that_a_format_does_not_have(name: str, layers: dict[str, Any], expected: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(FIXTURES / name, ReadOptions(layers=layers))
    assert expected in str(caught.value)


def test_a_folder_or_a_stream_in_the_wrong_format() -> None:
    with pytest.raises(InputError, match=r"brat-gold: no column holds tags. column 2: AnnotatorNotes T1"):
        read(FIXTURES / "brat-gold", ReadOptions(format="vrt"))
    with pytest.raises(OptionError, match="brat is read from a folder"):
        read(io.BytesIO(b""), ReadOptions(format="brat"))


def test_a_missing_file(tmp_path: Path, write) -> None:
    gold = write("gold.vrt", SOUND)
    refused(run("score", gold, tmp_path / "absent.vrt"), "absent.vrt: cannot be read: No such file", "Check the path")


def test_a_directory_in_place_of_a_file(tmp_path: Path, write) -> None:
    gold = write("gold.vrt", SOUND)
    (tmp_path / "folder").mkdir()
    refused(run("score", gold, tmp_path / "folder"), "folder: the folder has no documents: neither .txt nor .ann")
    named = run("score", gold, tmp_path / "folder", "--pred-format", "vrt")
    refused(named, "folder: there is no file in the folder. Check the path.")


def test_a_file_that_is_not_utf8(both_refuse) -> None:
    latin = "Ann\tO\tt1\nMüller\tO\tt2\n".encode("latin-1")
    both_refuse(SOUND, latin, "pred.vrt:2: byte 0xFC is not UTF-8. Save the file as UTF-8, or give its encoding")


def test_utf16(both_refuse) -> None:
    both_refuse(
        SOUND,
        SOUND.encode("utf-16"),
        "pred.vrt:1: the file is UTF-16. Save it as UTF-8, or give its encoding",
    )


def test_a_binary_file(both_refuse) -> None:
    both_refuse(SOUND, "Ann\tO\nx\0\tO\n", "pred.vrt:2: a NUL byte, so this is not a text file")


def test_old_macintosh_line_ends(both_refuse) -> None:
    both_refuse(SOUND, SOUND.replace("\n", "\r"), "pred.vrt:1: lines end in CR alone. Allowed: LF or CRLF")


def test_a_tag_that_is_no_bio(both_refuse) -> None:
    bad = SOUND.replace("I-PER", "PER")
    both_refuse(
        SOUND, bad, "pred.vrt:2: layer span: 'PER' is no BIO tag. Allowed: O, B-LABEL, I-LABEL", "Check that --layer"
    )


def test_a_column_that_is_not_there(both_refuse) -> None:
    both_refuse(
        SOUND, SOUND, "gold.vrt:1:", "has 3 columns, but column 7 (layer risk) is asked for", "--layer NAME=COLUMN",
        "(2 more: `clueval-xlsx validate` lists them.)", options=("--layer", "risk=7"),
    )  # fmt: skip


def test_an_empty_token(both_refuse) -> None:
    both_refuse(SOUND, SOUND.replace("Lee", ""), "pred.vrt:2: the token in column 1 is empty")


def test_a_broken_tag_line(both_refuse) -> None:
    bad = '<text id="a>\n' + SOUND
    both_refuse(SOUND, bad, "pred.vrt:1: '<text id=\"a>' has 1 column", "If the line is meant as an XML tag")


def test_document_tags_that_are_not_well_formed(both_refuse) -> None:
    both_refuse(
        f"<text id=a>\n{SOUND}</text>\n", SOUND, "gold.vrt:1: '<text id=a>' is not a well-formed tag", "Allowed: <name"
    )


def test_document_tags_that_do_not_fit_each_other(both_refuse) -> None:
    both_refuse(SOUND, f"{SOUND}</text>\n", "pred.vrt:4: </text> closes nothing")
    nested = f'<text id="a">\n{SOUND}<text id="b">\n</text>\n'
    both_refuse(SOUND, nested, "pred.vrt:5: <text> opens inside another <text>. Add the missing </text>")


def test_a_duplicate_token_id(both_refuse) -> None:
    bad = SOUND.replace("t3", "t1")
    both_refuse(
        SOUND, bad, "pred.vrt:3: token ID 't1' was already used in line 1", "unique", options=("--token-id", "3")
    )


def test_a_duplicate_document_id(both_refuse) -> None:
    bad = '<text id="a">\nAnn\tO\n</text>\n<!-- x -->\n<text id="a">\nLee\tO\n</text>\n'
    both_refuse(bad, bad, "gold.vrt:5: document 'a' starts here, but a document of this ID came before")


def test_documents_of_an_id_column_that_do_not_stand_together(both_refuse) -> None:
    bad = "a\tO\td1\nb\tO\td2\nc\tO\td1\n"
    both_refuse(bad, bad, "gold.vrt:3: document 'd1' starts here", options=("--set", "read.document_id=3"))


def test_an_orphan_with_strict_tags(both_refuse) -> None:
    bad = "Ann\tO\nLee\tI-PER\nx\tI-LOC\n"
    words = "pred.vrt:2: layer span: 'I-PER' continues nothing (1 more)", "read.bio=lenient"
    both_refuse("Ann\tO\nLee\tO\nx\tO\n", bad, *words, options=("--set", "read.bio=strict"))


def test_a_file_that_is_not_what_its_ending_says_is_called_what_it_is(tmp_path: Path) -> None:
    for ending in (".xlsx", ".spacy", ".parquet", ".zip", ".conll"):
        path = tmp_path / f"review{ending}"
        path.write_bytes(b"%PDF-1.7\n%\xe2\xe3\x9c\n")
        refused(run("score", path, path), f"review{ending}: this is a PDF")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_told_and_read_where_somebody_says_so(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "gold.conll"
    path.write_bytes("Überlingen B-LOC\nist O\nschön O\n".encode(encoding))
    for given in ((), ("--set", "read.encoding=latin-1")):
        refused(run("score", path, path, *given), "gold.conll:1", "UTF-16", "read.encoding=utf-16")
    assert read(path, ReadOptions(encoding=encoding)).corpus.text(0, 2) == "Überlingen ist schön"
