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


@pytest.mark.parametrize(("option", "tag"), [("--document-tag", "doc"), ("--sentence-tag", "sentence")])
def test_a_tag_that_was_asked_for_and_never_occurs_is_an_error(write, option: str, tag: str) -> None:
    plain = write("plain.vrt", "Ann\tB-PER\n\nBob\tO\n")
    refused(run("score", plain, plain, option, tag), "plain.vrt", f"there is no <{tag}>", option)
    tagged = write("tagged.vrt", f'<{tag} id="1">\nAnn\tB-PER\n</{tag}>\n')
    assert run("score", tagged, tagged, option, tag).code == 0


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
        (("--detector-language", "de"), "--detector"),
        (("--workers", "2"), "--detector"),
        (("--allow", r"ALL=\s"), "--scheme chars"),
        (("--char-unit", "glyphs"), "--scheme chars"),
        (("--iou-threshold", "0.5"), "--scheme iou or --scheme presidio"),
        (("--skip-words", "none"), "--scheme presidio"),
        (("--coverage-threshold", "0.5"), "--scheme coverage"),
        (("--scenario-threshold", "0.7"), "--scheme scenario"),
        (("--equivalence", "mark"), "--equivalent"),
        (("--equivalent", "PER,PERSON", "--equivalence", "mark"), "--labelled"),
        (("--offsets", "utf16"), "brat, JSON records, spaCy training pairs, TAB JSON and others, not to .vrt"),
        (("--mismatch", "warn"), "brat, JSON records, spaCy training pairs, TAB JSON and others, not to .vrt"),
        (("--nested", "longest"), "brat, JSON records, spaCy training pairs, TAB JSON and others, not to .vrt"),
        (("--discontinuous", "join"), "brat, not to .vrt"),
        (("--annotator", "x"), "JSON records, spaCy training pairs, TAB JSON, LABEL and others, not to .vrt"),
        (("--gold-annotator", "x"), "JSON records, spaCy training pairs, TAB JSON, LABEL and others, not to .vrt"),
        (("--text", "nope.vrt"), "brat, not to .vrt"),
        (("--field", "text=x"), "JSON records, spaCy training pairs, TAB JSON, LABEL and others, not to .vrt"),
        (("--tag-names", "O,B-X"), "Hugging Face tokens, not to .vrt"),
        (("--sample", "5", "--json", "m.json"), "a workbook (-o FILE)"),
    ],
)
def test_an_option_without_effect_says_what_it_belongs_to(
    pair: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], belongs: str
) -> None:
    monkeypatch.chdir(tmp_path)
    named = options[-2] if "--equivalence" in options else options[0]
    refused(run("evaluate", *pair, *options), f"{named} has no effect here: it belongs to {belongs}.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.vrt", "pred.vrt"]


def test_the_level_of_a_re_import_belongs_to_workbooks_that_lost_theirs(
    pair: tuple[Path, Path], tmp_path: Path
) -> None:
    book = tmp_path / "review.xlsx"
    assert run("evaluate", *pair, "-o", book).code == 0
    done = run("reimport", book, "--gold", pair[0], "--level", "exact")
    refused(done, "--level has no effect here: it belongs to --pred")


def test_an_option_of_reading_belongs_to_the_side_whose_format_has_a_use_for_it(write, pair: tuple[Path, Path]) -> None:
    record = {"id": "a", "text": "Ann met", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    other = {"id": "b", "text": "Bob", "spans": []}
    told = write("pred.jsonl", f"{json.dumps(record)}\n{json.dumps(other)}\n")
    both = ("score", pair[0], told, "--align", "text")
    assert run(*both, "--offsets", "utf16").code == 0
    assert run(*both, "--pred-offsets", "utf16").code == 0
    refused(run(*both, "--gold-offsets", "utf16"), "--gold-offsets has no effect here", "not to .vrt")
    refused(run(*both, "--pred-token", "2"), "--pred-token has no effect here", "not to JSON records")
    checked = run("validate", pair[0], "--offsets", "utf16")
    assert checked.code == 2
    assert "--offsets has no effect here" in checked.err
    for command in (("convert", pair[0], "out.jsonl"), ("agree", *pair), ("compare", *pair)):
        refused(run(*command, "--offsets", "utf16"), "--offsets has no effect here", "not to .vrt")
    assert run("validate", pair[0], told, "--offsets", "utf16").code == 0
    assert not Path("out.jsonl").exists()


def test_one_side_may_be_read_otherwise_than_the_other(write) -> None:
    gold = write("gold.jsonl", json.dumps({"text": "Ann met", "label": [[0, 3, "PER"]]}) + "\n")
    results = [{"start": 0, "end": 3, "entity_type": "PER", "score": 0.9}]
    pred = write("pred.jsonl", json.dumps({"text": "Ann met", "results": results}) + "\n")
    unknown = run("score", gold, pred)
    refused(unknown, "pred.jsonl", "--field spans=KEY", "--gold-field, --pred-field for one side")
    alone = run("validate", pred)
    assert "--field spans=KEY" in alone.out
    assert "--pred-field" not in alone.out  # which it does not have
    done = run("score", gold, pred, "--pred-field", "spans=results,label=entity_type", "--json", "-")
    assert done.code == 0, done.err
    assert json.loads(done.out)["headline"]["recall"] == 1


def test_options_that_have_an_effect_and_keys_of_a_config_are_no_error(pair: tuple[Path, Path], write) -> None:
    assert run("score", *pair, "--scheme", "chars,iou", "--allow", r"ALL=\s", "--iou-threshold", "0.5").code == 0
    assert run("score", *pair, "--scheme", "all", "--skip-words", "none", "--coverage-threshold", "0.5").code == 0
    config = write("c.toml", 'char-unit = "glyphs"\nequivalence = "mark"\niou-threshold = [0.5]\n')
    assert run("score", *pair, "--config", config).code == 0
