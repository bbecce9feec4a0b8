"""The whole round in other formats: evaluate, judge, re-import; gold comes back in its own format."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.reimport import reimport
from tests.support.commands import run
from tests.support.folders import FIXTURES
from tests.support.judging import case, workbook

FOLDER = FIXTURES
S, B = "LG-Seehafen-2-O-17-24", "AG-Birkenau-5-C-88-23"
PAIRS = [
    ("brat-gold", "brat-pred"),
    ("brat-gold", "pred.vrt"),
    ("tab.json", "tab.json"),
    ("label-studio.json", "pred-chars.csv"),
    ("presidio-gold.json", "tab.json"),
    ("gold.vrt", "presidio-pred.json"),
    ("gold.vrt", "pred.csv"),
]


def evaluated(gold: str, pred: str, **options: object) -> Evaluation:
    how = ReadOptions(text=FOLDER / "brat-gold") if pred == "brat-pred" else ReadOptions()
    return evaluate(read_pair(FOLDER / gold, FOLDER / pred, None, how), Options(level="exact", replicates=0, **options))  # type: ignore[arg-type]


def answers(result: Evaluation) -> dict[str, Judgement]:
    return {
        case(result, "FN", "3. April 2024"): Judgement("gold_wrong"),
        case(result, "FP", "Überbeins"): Judgement("boundary", correct_span="as_model"),
        case(result, "FP", "Nord"): Judgement("gold_missing"),
        case(result, "FN", "👩\u200d👧 Familie"): Judgement("label", correct_labels={"span": "!FAMILY"}),
    }


def written(tmp_path: Path, gold: str, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path if (FOLDER / gold).is_dir() else tmp_path / gold


def words(path: Path) -> set[tuple[str, str]]:
    reading = read(path)
    corpus = reading.corpus
    own = reading.annotation.layers["span"]
    return {(corpus.text(start, end), str(label)) for start, end, label in own.itertuples(index=False, name=None)}


@pytest.mark.parametrize(("gold", "pred"), PAIRS)
def test_nothing_judged_gives_the_identical_files(gold: str, pred: str) -> None:
    result = reimport([workbook(evaluated(gold, pred))], FOLDER / gold)
    for name, content in result.files.items():
        path = FOLDER / gold / name if (FOLDER / gold).is_dir() else FOLDER / gold
        assert content == path.read_bytes()


@pytest.mark.parametrize(("gold", "pred"), PAIRS)
def test_judgements_correct_gold_in_its_own_format(gold: str, pred: str, tmp_path: Path) -> None:
    evaluation = evaluated(gold, pred)
    result = reimport([workbook(evaluation, answers(evaluation))], FOLDER / gold)
    assert not result.problems
    before, after = words(FOLDER / gold), words(written(tmp_path, gold, result.files))
    assert before - after == {("3. April 2024", "DATE"), ("👩\u200d👧 Familie", "GROUP"), ("Überbein", "PERSON")}
    assert after - before == {("Überbeins", "PERSON"), ("Nord", "ORGANISATION"), ("👩\u200d👧 Familie", "FAMILY")}


def test_a_label_that_the_format_cannot_hold_costs_its_row_alone(tmp_path: Path) -> None:
    evaluation = evaluated("brat-gold", "brat-pred")
    picked = answers(evaluation)
    family = case(evaluation, "FN", "👩\u200d👧 Familie")
    picked[family] = Judgement("label", correct_labels={"span": "TWO WORDS"})
    result = reimport([workbook(evaluation, picked)], FOLDER / "brat-gold")
    assert [(problem.reason, problem.case) for problem in result.problems] == [("new_label", family)]
    assert "!" in result.problems[0].where
    assert ("Nord", "ORGANISATION") in words(written(tmp_path, "brat-gold", result.files))


def test_a_correction_inside_a_token_of_gold_is_widened_and_said() -> None:
    gold = b"<s>\nAnn-Lee\tO\nkam\tO\n</s>\n"
    pair = read_pair(_named(gold, "gold.vrt"), io.BytesIO(b"Ann\tB-PER\n-Lee\tO\nkam\tO\n"), align="text")
    evaluation = evaluate(pair, Options(replicates=0))
    judged = workbook(evaluation, {case(evaluation, "FP", "Ann"): Judgement("gold_missing")})
    result = reimport([judged], _named(gold, "gold.vrt"))
    assert result.content == gold.replace(b"Lee\tO", b"Lee\tB-PER")
    assert "'Ann' is part of a token and was widened to the whole" in result.notes[0]


def _named(content: bytes, name: str) -> io.BytesIO:
    stream = io.BytesIO(content)
    stream.name = name
    return stream


def test_the_command_writes_a_folder_or_a_file(tmp_path: Path) -> None:
    for gold, pred in (("brat-gold", "brat-pred"), ("tab.json", "tab.json")):
        review, out = tmp_path / f"{gold}.xlsx", tmp_path / f"corrected-{gold}"
        made = run("evaluate", FOLDER / gold, FOLDER / pred, "-o", review, "--set", "score.replicates=0")
        assert made.code == 0, made.err
        done = run("reimport", review, "--gold", FOLDER / gold, "-o", out)
        assert done.code == 0, done.err
        if gold == "brat-gold":
            assert sorted(path.name for path in out.iterdir()) == sorted(
                path.name for path in (FOLDER / gold).iterdir()
            )
        else:
            assert out.read_bytes() == (FOLDER / gold).read_bytes()
