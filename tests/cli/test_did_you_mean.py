"""A misspelt name is answered with the nearest right one: labels, layers, headers and fields."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import refused, run

GOLD = "Zeugin O\nMira B-PERSON\nTannhof I-PERSON\nkam O\nnach O\nUlm B-PLACE\n"
PRED = "Zeugin O\nMira B-PERSON\nTannhof I-PERSON\nkam O\nnach O\nUlm O\n"


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    gold, pred = tmp_path / "gold.conll", tmp_path / "pred.conll"
    gold.write_text(GOLD, "utf-8")
    pred.write_text(PRED, "utf-8")
    return gold, pred


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--map", "PERSN=PER"], "no span has the label PERSN (is PERSON meant?)"),
        (["--ignore", "person"], "no span has the label person (is PERSON meant?), though it was named"),
        (["--equivalent", "PLACES,PERSON"], "no span has the label PLACES (is PLACE meant?), though it was named"),
    ],
)
def test_a_label_that_no_span_has_is_answered_with_the_one_most_like_it(
    sides: tuple[Path, Path], options: list[str], said: str
) -> None:
    done = run("score", *sides, *options)
    assert done.code == 0, done.err
    assert said in done.err


def test_a_mapping_for_more_labels_than_there_are_says_nothing_about_those_unlike_any(sides: tuple[Path, Path]) -> None:
    done = run("score", *sides, "--map", "ACCOUNT=NUMBER", "--map", "PERSON=PER", "--map", "PERSONS=PER")
    assert "meant?" not in done.err


def test_a_gate_on_a_misspelt_label_fails_and_names_the_labels(sides: tuple[Path, Path]) -> None:
    done = run("score", *sides, "--fail-under", "recall[PERSN]=0.9")
    assert done.code == 4
    assert "No span has this label. Did you mean 'PERSON'? Labels: PERSON, PLACE." in done.err


def test_a_misspelt_layer_is_answered_with_the_nearest(sides: tuple[Path, Path]) -> None:
    done = run("score", *sides, "--layer", "category=2", "--labelled", "categry")
    refused(done, "--labelled categry: there is no such layer. Did you mean 'category'? Layers: category.")


@pytest.mark.parametrize("layer", ["NE-COARS-LIT", "span=NE-COARS-LIT"])
def test_a_misspelt_header_is_answered_with_the_nearest(tmp_path: Path, layer: str) -> None:
    table = tmp_path / "hipe.tsv"
    table.write_text("TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\nUlm\tB-loc\tB-loc.town\nM\tB-pers\tB-pers.ind\n", "utf-8")
    done = run("validate", table, "--layer", layer)
    assert done.code == 2
    assert "Did you mean 'NE-COARSE-LIT'?" in done.out + done.err


def test_a_misspelt_field_is_answered_with_the_nearest(tmp_path: Path) -> None:
    records = tmp_path / "a.jsonl"
    records.write_text('{"text": "Mira kam.", "spans": [{"start": 0, "end": 4, "label": "PERSON"}]}\n', "utf-8")
    done = run("validate", records, "--layer", "span=lable")
    assert "Did you mean 'label'?" in done.out + done.err


def test_a_row_of_one_nameless_layer_speaks_of_labels(sides: tuple[Path, Path]) -> None:
    done = run("score", *sides, "--as", "markdown")
    assert "exact, same label" in done.out
    assert "same span" not in done.out
