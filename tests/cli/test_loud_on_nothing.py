"""Loud on nothing: what was asked for and is not there, and options that this call does not use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import refused, run

SOUND = '<text id="a">\nAnn\tB-PER\nmet\tO\n</text>\n<text id="b">\nBob\tB-PER\n</text>\n'


@pytest.fixture
def pair(write) -> tuple[Path, Path]:
    return write("gold.vrt", SOUND), write("pred.vrt", SOUND.replace("Bob\tB-PER", "Bob\tO"))


@pytest.mark.parametrize("content", ["", "\n\n", '<text id="a">\n</text>\n'])
def test_no_token_is_an_error(write, content: str) -> None:
    empty = write("empty.vrt", content)
    refused(run("score", empty, empty), "empty.vrt", "no token was read")


@pytest.mark.parametrize(("key", "tag"), [("read.document_tag", "doc"), ("read.sentence_tag", "sentence")])
def test_a_tag_that_was_asked_for_and_never_occurs_is_an_error(write, key: str, tag: str) -> None:
    plain = write("plain.vrt", "Ann\tB-PER\n\nBob\tO\n")
    refused(run("score", plain, plain, "--set", f"{key}={tag}"), "plain.vrt", f"there is no <{tag}>", key)
    tagged = write("tagged.vrt", f'<{tag} id="1">\nAnn\tB-PER\n</{tag}>\n')
    assert run("score", tagged, tagged, "--set", f"{key}={tag}").code == 0


def test_documents_without_the_key_of_annotations_are_an_error(write) -> None:
    gold = write("gold.json", json.dumps([{"full_text": "Ann met Bob", "doc_id": "d"}]))
    refused(
        run("score", gold, gold, "--format", "presidio"),
        "gold.json",
        "no document has 'spans'",
    )
    known = write("known.json", json.dumps([{"full_text": "Ann met Bob", "doc_id": "d", "spans": []}]))
    assert run("score", known, known, "--format", "presidio").code == 0


def test_sides_that_are_the_same_no_gold_span_and_one_document_are_notes(write, pair: tuple[Path, Path]) -> None:
    done = run("score", pair[0], pair[0])
    assert done.code == 0
    assert "Note: gold and prediction are the same: " in done.err
    nothing = write("nothing.vrt", "Ann\tO\n")
    done = run("score", nothing, write("other.vrt", "Ann\tB-PER\n"))
    assert done.code == 0
    assert "has no gold span, so recall is not defined" in done.err
    assert "one document only: no 95 % intervals" in done.err
    quiet = run("score", *pair)
    assert "the same" not in quiet.err
    assert "intervals" not in quiet.err


@pytest.mark.parametrize(
    ("options", "belongs"),
    [
        (("--set", "read.offsets=utf16"), "brat, JSON records, spaCy training pairs, TAB JSON and others, not to .vrt"),
        (("--discontinuous", "join"), "brat, not to .vrt"),
        (("--set", "gold.annotator=x"), "JSON records, spaCy training pairs, TAB JSON, LABEL and others, not to .vrt"),
        (("--text", "nope.vrt"), "brat, not to .vrt"),
        (("--set", "read.tag_names=O,B-X"), "Hugging Face tokens, not to .vrt"),
        (("--equivalent", "PER,PERSON", "--set", "labels.equivalence=mark"), "--labelled"),
    ],
)
def test_an_option_that_means_nothing_for_the_formats_says_what_it_belongs_to(
    pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], belongs: str
) -> None:
    monkeypatch.chdir(tmp_path)
    named = " ".join(options[-2:]).partition("=")[0] if "--set" in options else options[0]
    refused(run("evaluate", *pair, *options), f"{named} has no effect here: it belongs to {belongs}.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.vrt", "pred.vrt"]


def test_an_option_of_reading_belongs_to_the_side_whose_format_has_a_use_for_it(write, pair: tuple[Path, Path]) -> None:
    record = {"id": "a", "text": "Ann met", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    other = {"id": "b", "text": "Bob", "spans": []}
    told = write("pred.jsonl", f"{json.dumps(record)}\n{json.dumps(other)}\n")
    both = ("score", pair[0], told, "--align", "text")
    assert run(*both, "--set", "read.offsets=utf16").code == 0
    assert run(*both, "--set", "pred.offsets=utf16").code == 0
    refused(run(*both, "--set", "gold.offsets=utf16"), "gold.offsets has no effect here", "not to .vrt")
    refused(run(*both, "--set", "pred.token=2"), "pred.token has no effect here", "not to JSON records")
    checked = run("validate", pair[0], "--set", "read.offsets=utf16")
    assert checked.code == 2
    assert "read.offsets has no effect here" in checked.err
    for command in (("convert", pair[0], "out.jsonl"), ("agree", *pair), ("compare", *pair)):
        refused(run(*command, "--set", "read.offsets=utf16"), "read.offsets has no effect here", "not to .vrt")
    assert run("validate", pair[0], told, "--set", "read.offsets=utf16").code == 0
    assert not Path("out.jsonl").exists()


def test_one_side_may_be_read_otherwise_than_the_other(write) -> None:
    gold = write("gold.jsonl", json.dumps({"text": "Ann met", "label": [[0, 3, "PER"]]}) + "\n")
    results = [{"start": 0, "end": 3, "entity_type": "PER", "score": 0.9}]
    pred = write("pred.jsonl", json.dumps({"text": "Ann met", "results": results}) + "\n")
    unknown = run("score", gold, pred)
    refused(unknown, "pred.jsonl", "--field spans=KEY", "gold.field, pred.field for one side")
    alone = run("validate", pred)
    assert "--field spans=KEY" in alone.out
    assert "pred.field" not in alone.out  # which it does not have
    done = run("score", gold, pred, "--set", "pred.field=spans=results,label=entity_type", "--json", "-")
    assert done.code == 0, done.err
    assert json.loads(done.out)["headline"]["recall"] == 1


def test_keys_of_a_config_without_effect_are_no_error(pair: tuple[Path, Path], write) -> None:
    config = write("c.toml", '[scheme]\nchar_unit = "glyphs"\niou_threshold = [0.5]\n[labels]\nequivalence = "mark"\n')
    assert run("score", *pair, "--config", config).code == 0
