"""Folders and globs of one format are one corpus, in natural order, paired by document IDs."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path

import pytest

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import ReadOptions
from tests.support.commands import run


def folder(place: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return place


def record(text: str, start: int, end: int, **more: object) -> str:
    return json.dumps({"text": text, "label": [[start, end, "PER"]], **more}) + "\n"


COLUMNS = {"doc-10.conll": "Bob B-PER\nran O\n", "doc-2.conll": "\ufeffAnn B-PER\nLee I-PER", "README.md": "# About\n"}


def test_a_folder_of_columns_is_one_corpus_in_natural_order(tmp_path: Path) -> None:
    found = read(folder(tmp_path, COLUMNS))
    assert found.doc_ids == ("doc-2", "doc-10")
    assert list(found.corpus.tokens) == ["Ann", "Lee", "Bob", "ran"]
    assert len(found.annotation.layers["span"]) == 2


def test_a_message_names_the_file_of_a_folder_and_its_own_line(tmp_path: Path) -> None:
    files = {"a.conll": "Ann B-PER\nLee I-PER\n", "b.conll": "Bob O\nran nonsense!\n"}
    with pytest.raises(InputError, match=r"/b\.conll:2: layer span: 'nonsense!' is no BIO tag"):
        read(folder(tmp_path, files))


def test_a_folder_of_json_lines_is_one_corpus_and_is_corrected_file_by_file(tmp_path: Path) -> None:
    files = {"b.jsonl": record("Ann Lee", 0, 3, id=1), "a.jsonl": record("Bob ran", 0, 3, id=1)}
    found = read(folder(tmp_path, files))
    assert found.doc_ids == ("a/1", "b/1")
    assert correct(found, found.annotation.layers) == {name: text.encode() for name, text in files.items()}
    changed = correct(found, {"span": found.annotation.layers["span"][1:]})
    assert json.loads(changed["a.jsonl"]) == {"text": "Bob ran", "label": [], "id": 1}
    assert changed["b.jsonl"] == files["b.jsonl"].encode()


def test_a_glob_is_a_corpus(tmp_path: Path) -> None:
    folder(tmp_path, {**COLUMNS, "notes.jsonl": "{}\n"})
    assert read(str(tmp_path / "*.conll")).doc_ids == ("doc-2", "doc-10")
    with pytest.raises(InputError, match="no file is called like that"):
        read(str(tmp_path / "*.vrt"))


def test_files_of_several_formats_are_listed(tmp_path: Path) -> None:
    folder(tmp_path, {"a.conll": "Ann O\n", "b.jsonl": record("Ann", 0, 3)})
    with pytest.raises(InputError, match=r"several formats: 1 × conll \(a\.conll, …\); 1 × doccano"):
        read(tmp_path)
    assert read(tmp_path, ReadOptions(format="doccano")).doc_ids == ("b",)


def test_token_folders_are_paired_by_document_id_whatever_their_order(tmp_path: Path) -> None:
    gold = folder(tmp_path / "g", {"a.conll": "Ann B-PER\n", "b.conll": "Bob O\n"})
    both = "# newdoc id = b\nBob B-PER\n\n# newdoc id = a\nAnn B-PER\n"
    pred = folder(tmp_path / "p", {"all.conll": both})
    pair = read_pair(gold, pred)
    assert pair.pred.spans["start"].tolist() == [0, 1]
    assert pair.gold.spans["start"].tolist() == [0]


def test_documents_without_a_common_id_are_paired_by_their_texts(tmp_path: Path) -> None:
    one = folder(tmp_path, {"g.jsonl": record("Ann", 0, 3, id=1) + record("Bob", 0, 3, id=2)})
    other = folder(tmp_path, {"p.jsonl": record("Bob", 0, 3, id=8) + record("Ann", 0, 3, id=9)})
    pair = read_pair(one / "g.jsonl", other / "p.jsonl")
    assert pair.pred.spans["start"].tolist() == [0, 1]
    assert any("paired by their texts" in note for note in pair.notes)


def test_a_folder_goes_through_review_and_back(tmp_path: Path) -> None:
    gold = folder(tmp_path / "g", COLUMNS)
    pred = folder(tmp_path / "p", {"doc-10.conll": "Bob O\nran O\n", "doc-2.conll": "Ann B-PER\nLee I-PER\n"})
    assert run("evaluate", gold, pred, "-o", tmp_path / "r.xlsx").code == 0
    done = run("reimport", tmp_path / "r.xlsx", "--gold", gold, "-o", tmp_path / "corrected")
    assert done.code in {0, 3}, done.err
    found = {path.name: path.read_bytes() for path in (tmp_path / "corrected").iterdir()}
    assert found == {name: text.encode() for name, text in COLUMNS.items()}


def test_annotations_alone_lie_on_the_text_of_gold_whatever_its_format(tmp_path: Path) -> None:
    tags = '<TAGS><NAME id="P0" start="0" end="7" text="Ann Lee" TYPE="PATIENT" comment=""/></TAGS>'
    xml = f"<deIdi2b2><TEXT><![CDATA[Ann Lee came]]></TEXT>{tags}</deIdi2b2>"
    gold = folder(tmp_path / "g", {"d.xml": xml})
    pred = folder(tmp_path / "p", {"d.ann": "T1\tPATIENT 0 3\tAnn\n"})
    for source in (gold, gold / "d.xml"):
        pair = read_pair(source, pred)
        assert (pair.corpus.text(0, 1), pair.pred.spans["end"].tolist()) == ("Ann Lee", [0])


def test_a_zip_of_other_files_says_what_it_holds(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        archive.writestr("a.txt", "Ann")
    with pytest.raises(InputError, match=r"It holds 1 other files \(a\.txt\): unpack them"):
        read(tmp_path / "texts.zip")


def test_what_is_left_aside_in_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret.vrt").write_text("Eve\tB-PER\n")
    gold = folder(tmp_path / "gold", {"a.vrt": "Ann\tB-PER\n"})
    (gold / "b.vrt").symlink_to(tmp_path / "secret.vrt")
    (gold / "sub").symlink_to(tmp_path)
    os.mkfifo(gold / "c.vrt")
    said = rf"left aside: b\.vrt \(a link to .*secret\.vrt\), c\.vrt \(a pipe\), sub \(a link to {tmp_path}\)"
    found = read(gold)
    assert found.doc_ids == ("a",)
    assert re.search(said, " ".join(found.notes))
    for command in ("validate", "score"):
        done = run(command, gold, *[gold] * (command == "score"))
        assert re.search(said, done.out + done.err), command


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, pred = (folder(tmp_path / name, {"a.vrt": "Ann\tB-PER\n", "b.vrt": "Bob\tB-PER\n"}) for name in ("g", "p"))
    assert run("evaluate", gold / "a.vrt", pred / "b.vrt", "-o", tmp_path / "x.xlsx", "--align", "text").code == 2
    assert run("evaluate", gold / "a.vrt", pred / "a.vrt", "-o", tmp_path / "x.xlsx").code == 0

    original = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.is_relative_to(gold):
            raise PermissionError(13, "Permission denied")
        return original(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    calls = (("validate", gold), ("score", gold, pred), ("score", gold / "a.vrt", pred / "a.vrt"))
    for call in (*calls, ("reimport", tmp_path / "x.xlsx", "--gold", gold / "a.vrt")):
        done = run(*call)
        assert (done.code, "a.vrt: cannot be read: Permission denied" in done.out + done.err) == (2, True), done
