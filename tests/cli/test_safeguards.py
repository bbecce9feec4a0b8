"""Nothing is lost by a slip: inputs stay, rounds stay whole, typing errors are named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clueval_xlsx.review.adjudication import adjudicate
from clueval_xlsx.review.manifest import CONFLICTS, from_evaluation
from clueval_xlsx.review.vocabulary import Answer
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.judging import case, decide, judged, records, spans, workbook
from tests.support.tables import SOUND

# The model ends "Petra Weidmann" too early and begins too soon: one disagreement, shown on both sheets.
LINKED = """
    token       gold   pred
    <s>
    die         O      O
    Anwältin    O      B-PER
    Petra       B-PER  I-PER
    Weidmann    I-PER  I-PER
    und         I-PER  O
    Partner     I-PER  O
    </s>
    <s>
    Marlene     B-PER  O
    </s>
"""


@pytest.fixture
def home(examples: Path, tmp_path: Path) -> Path:
    for name in ("gold.vrt", "pred.vrt"):
        shutil.copy(examples / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("option", ["--html", "--json"])
@pytest.mark.parametrize("name", ["gold.vrt", "pred.vrt"])
def test_an_output_never_overwrites_an_input(option: str, name: str, home: Path) -> None:
    before = (home / name).read_bytes()
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", *EXAMPLE_OPTIONS, option, home / "." / name)
    refused(done, f"{name}: is an input of this run and would be overwritten. Choose another name.")
    assert (home / name).read_bytes() == before
    assert sorted(path.name for path in home.iterdir()) == ["gold.vrt", "pred.vrt"]


def test_the_corrected_file_never_overwrites_gold(home: Path) -> None:
    sides = home / "gold.vrt", home / "pred.vrt"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", home / "review.xlsx").code == 0
    done = run("reimport", home / "review.xlsx", "--gold", sides[0], "-o", sides[0])
    assert done.code == 2
    assert "gold.vrt" in done.err
    done = run("convert", sides[0], sides[0], "--layer", "category=2")
    refused(done, "is an input of this run")


def test_a_folder_of_annotations_is_not_overwritten_but_other_files_may_go_there(home: Path) -> None:
    assert run("convert", home / "gold.vrt", home / "brat", "--layer", "category=2").code == 0
    before = {path.name: path.read_bytes() for path in (home / "brat").iterdir()}
    refused(run("convert", home / "brat", home / "brat"), "is an input of this run and would be overwritten")
    assert run("convert", home / "brat", home / "brat" / "gold.tsv").code == 0
    assert {name: (home / "brat" / name).read_bytes() for name in before} == before


def test_a_review_workbook_has_the_ending_of_one(home: Path) -> None:
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", "-o", home / "review.docx")
    refused(done, "review.docx: a review workbook ends in .xlsx")


def test_options_that_change_no_case_leave_the_run_the_same() -> None:
    plain = from_evaluation(judged(LINKED)).run_id
    for options in ({"beta": 1.0}, {"seed": 7}, {"context": 3}, {"replicates": 5}):
        assert from_evaluation(judged(LINKED, **options)).run_id == plain
    for options in ({"level": "exact"}, {"labelled": "span"}):
        assert from_evaluation(judged(LINKED, **options)).run_id != plain


def test_a_conflict_workbook_alone_is_refused_and_names_the_others(home: Path) -> None:
    evaluation = judged(LINKED)
    gold = home / "linked.vrt"
    from tests.support.tables import cut

    gold.write_bytes(cut(LINKED).gold)
    book = workbook(evaluation, role=CONFLICTS, sources=("anna.xlsx", "ben.ods"))
    (home / "second.xlsx").write_bytes(book.read())
    done = run("reimport", home / "second.xlsx", "--gold", gold, "-o", home / "corrected.vrt")
    refused(done, "second.xlsx: holds only the cases that were left open.", "anna.xlsx, ben.ods")
    assert not (home / "corrected.vrt").exists()


def test_the_last_word_on_a_case_covers_the_linked_one() -> None:
    evaluation = judged(LINKED)
    missed, unsupported = (
        case(evaluation, "FN", "Petra Weidmann und Partner"),
        case(evaluation, "FP", "Anwältin Petra Weidmann"),
    )
    anna = records({missed: Answer("boundary", "common"), unsupported: Answer("model_error")})
    first = adjudicate(evaluation.raw, evaluation.options, [anna])
    assert set(first.open_cases) == {missed, unsupported}  # the reference is right, and it is too long
    cara = records({missed: Answer("boundary", "common")}, "Cara", final=True)
    second = adjudicate(evaluation.raw, evaluation.options, [anna, cara])
    assert not second.open_cases
    assert spans(second) == [("Petra Weidmann", "PER"), ("Marlene", "PER")]
    assert second.settled == {unsupported: missed}


def test_a_label_that_nobody_has_used_is_named_with_its_cell() -> None:
    evaluation = judged(LINKED)
    slip = decide(evaluation, {case(evaluation, "FN", "Marlene"): Answer("label", correct_labels={"span": "PRE"})})
    assert [note for note in slip.notes if "'PRE' is a new label of layer span" in note]
    fine = decide(evaluation, {case(evaluation, "FN", "Marlene"): Answer("label", correct_labels={"span": "per"})})
    assert not [note for note in fine.notes if "new label" in note]


def test_a_failing_run_leaves_the_old_file_whole(write, tmp_path: Path) -> None:
    old = write("out/metrics.json", "old")
    gold = write("gold.vrt", SOUND)
    blocked = write("file", "in the way")
    done = run("evaluate", gold, gold, "--json", old, "--files", blocked / "sub")
    refused(done, "file/sub: the folder cannot be made: Not a directory")
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "gold.vrt", "metrics.json", "out"]
