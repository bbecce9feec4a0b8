"""What a notebook or a script uses: data in memory, the public names, and results that show no word of the corpus."""

from __future__ import annotations

import dataclasses
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pandas as pd
import pytest
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import classification_report, f1_score

import clueval_xlsx
from clueval_xlsx import Evaluation, Options, SchemeOptions, evaluate_spans, evaluate_tags
from clueval_xlsx.cli import cli
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.review.judgements import Judgement
from tests.support.folders import ROOT
from tests.support.judging import workbook
from tests.support.workbooks import example

GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG", "I-ORG"]]
PRED = [["B-PER", "I-PER", "O", "O"], ["O", "B-ORG", "O"]]
WORDS = [["Ann", "Lee", "left", "Bonn"], ["The", "Ministry", "agreed"]]
TEXTS = ["Ann Lee left Bonn", "The Ministry agreed"]
LABELS = ["PER", "LOC", "ORG"]

tags = st.lists(st.sampled_from(["O", *(f"{prefix}-{label}" for prefix in "BI" for label in LABELS)]), max_size=9)


def spans_of(*documents: list[tuple[str, int, int]]) -> list[list[dict[str, str | int]]]:
    return [[{"start": start, "end": end, "label": label} for label, start, end in spans] for spans in documents]


def test_lists_of_tags_are_scored_as_seqeval_scores_them() -> None:
    result = evaluate_tags(GOLD, PRED, options=Options(schemes=SchemeOptions(scheme=("seqeval",))))
    ours = result.overall("seqeval", labelled="span", variant="default")
    theirs = classification_report(GOLD, PRED, output_dict=True, zero_division=0)["micro avg"]
    assert (ours.precision, ours.recall, ours.f1) == pytest.approx(
        (theirs["precision"], theirs["recall"], theirs["f1-score"])
    )


def test_lists_of_spans_are_scored_as_nervaluate_scores_them() -> None:
    gold = [[{"start": 0, "end": 1, "label": "PER"}, {"start": 3, "end": 3, "label": "LOC"}], []]
    pred = [[{"start": 0, "end": 1, "label": "PER"}], [{"start": 2, "end": 4, "label": "ORG"}]]
    result = evaluate_spans(gold, pred, options=Options(schemes=SchemeOptions(scheme=("semeval",))))
    theirs = Evaluator(gold, pred, tags=LABELS, loader="dict").evaluate()["overall"]["strict"]
    ours = result.select(scheme="semeval", variant="strict", layer=None, group_key=None, average="micro").iloc[0]
    assert (ours.precision, ours.recall) == pytest.approx((theirs.precision, theirs.recall))


def test_tags_tokens_and_character_spans_of_the_same_text_give_the_same_counts() -> None:
    by_tags = evaluate_tags(GOLD, PRED, WORDS)
    characters = (
        spans_of([("PER", 0, 7), ("LOC", 13, 17)], [("ORG", 4, 19)]),
        spans_of([("PER", 0, 7)], [("ORG", 4, 12)]),
    )
    positions = spans_of([("PER", 0, 1), ("LOC", 3, 3)], [("ORG", 1, 2)]), spans_of([("PER", 0, 1)], [("ORG", 1, 1)])
    expected = by_tags.summary
    pd.testing.assert_frame_equal(evaluate_spans(*characters, TEXTS).summary, expected)
    pd.testing.assert_frame_equal(evaluate_spans(*positions).summary, expected)
    assert list(by_tags.cases["surface"]) == ["Bonn", "Ministry agreed"]
    assert list(evaluate_spans(*characters, TEXTS).cases["surface"]) == ["Bonn", "Ministry agreed"]


def test_data_frames_are_taken_with_and_without_documents() -> None:
    frame = pd.DataFrame({"start": [0, 13], "end": [7, 17], "label": ["PER", "LOC"]})
    assert evaluate_spans(frame, frame.iloc[:1], TEXTS[:1]).headline.fn == 1
    named = frame.assign(doc_id=["a", "a"])
    other = pd.DataFrame({"doc_id": ["b"], "start": [4], "end": [12], "label": ["ORG"]})
    texts = {"a": TEXTS[0], "b": TEXTS[1]}
    result = evaluate_spans(named, other, texts)
    assert (result.headline.fn, result.headline.fp) == (2, 1)
    assert result.pair.corpus.doc_ids == ("a", "b")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: evaluate_tags(GOLD, PRED[:1]), "pred: has 1 lists, but gold has 2"),
        (lambda: evaluate_tags(GOLD, [PRED[0], ["O"]]), r"pred\[1\]: has 1 tokens, but gold\[1\] has 3"),
        (lambda: evaluate_tags([["PER"]], [["O"]]), r"gold\[0\]: 'PER' is no tag"),
        (lambda: evaluate_tags(["O O"], [["O"]]), r"gold\[0\]: found the text"),
        (lambda: evaluate_tags(GOLD * 2, PRED * 2, documents=["a", "b", "a", "b"]), "must stand together"),
        (lambda: evaluate_tags(GOLD, PRED, Options()), "tokens: found Options.*options="),
        (lambda: evaluate_spans([[]], [[]], "Ann"), "texts: found str"),
        (lambda: evaluate_spans([[{"start": 0}]], [[]]), r"gold\[0\]\[0\]: found"),
        (lambda: evaluate_spans([{"start": 0, "end": 1, "label": "X"}], [[]]), "a list of spans for each document"),
        (lambda: evaluate_spans([[{"start": 3, "end": 1, "label": "X"}]], [[]]), "start not behind end"),
        (lambda: evaluate_spans([[{"start": 0, "end": 99, "label": "X"}]], [[]], ["short"]), "beyond the text"),
        (lambda: evaluate_spans([[]], [[], []]), "the documents differ: gold has 1, pred has 2"),
        (lambda: evaluate_spans([[]], [[]], {"a": "x"}), "Give a list of texts"),
        (lambda: evaluate_spans(pd.DataFrame({"start": [0]}), pd.DataFrame()), "there is no column 'end'"),
        (lambda: evaluate_spans(pd.DataFrame(), [[]]), "two data frames, or two lists"),
    ],
)  # fmt: skip
def test_data_that_does_not_fit_is_refused_with_its_place(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()  # type: ignore[operator]


def test_overlapping_spans_are_refused_or_resolved_as_told() -> None:
    nested = [[{"start": 0, "end": 7, "label": "PER"}, {"start": 4, "end": 7, "label": "PER"}]]
    with pytest.raises(InputError, match="overlap"):
        evaluate_spans(nested, nested, TEXTS[:1])
    assert evaluate_spans(nested, nested, TEXTS[:1], nested="longest").headline.gold == 1
    with pytest.raises(InputError, match="overlap"):
        evaluate_spans(nested, [[]])


def words_of(result: Evaluation) -> set[str]:
    """The tokens of a corpus that could not stand in a result by chance."""
    return {word for word in result.pair.corpus.tokens if len(word) > 3}


def test_nothing_that_shows_itself_has_a_word_of_the_corpus() -> None:
    result = example()
    shown = [repr(each) for each in (result, result.pair, result.pair.corpus, result.pair.gold, result.strict)]
    shown += [repr(result.pair.corpus.tokens), result._repr_html_(), str(result)]
    tokens = {word for text in shown for word in re.findall(r"\w+", text)}
    assert not tokens & words_of(result)


def test_comparisons_and_reimports_show_tables_without_a_word_of_the_corpus(tmp_path: Path) -> None:
    result = example()
    compared = clueval_xlsx.compare([("one", result), ("<two>", result)])
    path = tmp_path / "anna.xlsx"
    first = result.case_tables[0]["case_id"].iloc[0]
    path.write_bytes(workbook(result, {first: Judgement("gold_wrong")}).getvalue())
    reimported = clueval_xlsx.reimport([path], ROOT / "examples" / "gold.vrt")
    for each in (compared, reimported):
        page = each._repr_html_()
        assert not set(re.findall(r"\w+", page)) & words_of(result)
        assert "recall" in page.lower()
        assert "<two>" not in page
        assert len(page) < 3_000
    assert "0.720" in reimported._repr_html_()


def test_every_public_name_is_listed_and_can_be_had() -> None:
    assert dir(clueval_xlsx) == sorted(clueval_xlsx.__all__)
    for name in clueval_xlsx.__all__:
        assert getattr(clueval_xlsx, name) is not None
    with pytest.raises(AttributeError, match="evalute"):
        _ = clueval_xlsx.evalute  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_misspelt_import_fails_the_type_check(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("from clueval_xlsx import evaluate_tag\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", str(tmp_path / "cache"), str(script)],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert "evaluate_tag" in done.stdout
    assert done.returncode == 1


def manual(name: str) -> str:
    return (ROOT / "clueval_xlsx" / "manual" / f"{name}.md").read_text("utf-8")


@pytest.mark.filterwarnings("ignore")  # seqeval warns of labels without predictions
def test_the_manual_shows_how_to_get_the_numbers_of_seqeval() -> None:
    block = next(each for each in re.findall(r"```python\n(.*?)```", manual("python"), re.DOTALL) if "y_true" in each)
    made: dict[str, Any] = {}
    exec(compile(block, "python.md", "exec"), made)
    theirs = classification_report(made["y_true"], made["y_pred"], output_dict=True, zero_division=0)
    ours = {
        row.label or f"{row.average} avg": (row.precision, row.recall, row.f1) for row in made["report"].itertuples()
    }
    assert ours == {name: (each["precision"], each["recall"], each["f1-score"]) for name, each in theirs.items()}
    assert made["f1"] == f1_score(made["y_true"], made["y_pred"])
    counted = {row.label: row.gold for row in made["report"].itertuples() if row.label}
    assert counted == {name: theirs[name]["support"] for name in counted}


FUNCTIONS = [name for name in clueval_xlsx.__all__ if inspect.isfunction(getattr(clueval_xlsx, name))]
OPTIONS = [name for name in clueval_xlsx.__all__ if name.endswith(("Options", "Rules"))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_on_a_function_says_what_it_takes_gives_and_raises_with_an_example(name: str) -> None:
    function = getattr(clueval_xlsx, name)
    text = inspect.getdoc(function) or ""
    described = re.findall(r"^((?:`\w+`, )*`\w+`)  \S", text, re.MULTILINE)
    arguments = set(re.findall(r"`(\w+)`", " ".join(described)))
    assert set(inspect.signature(function).parameters) <= arguments
    assert re.search(r"^Gives ", text, re.MULTILINE)
    assert re.search(r"Raises `(?:Option|Input)Error`", text)
    assert f">>> {name}(" in text or re.search(rf">>> .*\b{name}\(", text)  # --doctest-modules runs it


@pytest.mark.parametrize("name", OPTIONS)
def test_help_on_options_says_what_every_field_is(name: str) -> None:
    kind = getattr(clueval_xlsx, name)
    text = inspect.getdoc(kind) or ""
    described = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^((?:`\w+`, )*`\w+`)  \S", text, re.MULTILINE))))
    assert {field.name for field in dataclasses.fields(kind)} <= described


def test_names_are_those_of_the_command_line_but_for_the_ones_that_the_manual_lists() -> None:
    known = {name for each in FUNCTIONS for name in inspect.signature(getattr(clueval_xlsx, each)).parameters}
    known |= {field.name for each in OPTIONS for field in dataclasses.fields(getattr(clueval_xlsx, each))}
    section = manual("python").partition("### Names that differ")[2].partition("\n## ")[0]
    listed = set(re.findall(r"--[a-z][a-z-]+", section))
    options = {
        option
        for command in ("evaluate", "score", "compare", "reimport")
        for parameter in cli.commands[command].params
        if isinstance(parameter, click.Option)
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("--")
    }
    of_both = {re.sub(r"^--(gold|pred)-", "--", each) for each in options}  # those of one side are said to be the same
    assert {each for each in of_both if each.removeprefix("--").replace("-", "_") not in known} <= listed
    assert listed <= options


def test_rows_that_are_not_there_are_refused() -> None:
    result = evaluate_tags(GOLD, PRED)
    with pytest.raises(OptionError, match=r"no row with scheme='seqeval'.*Computed: clueval"):
        result.overall("seqeval")
    with pytest.raises(OptionError, match=r"schem: there is no such column. Columns: scheme"):
        result.select(schem="seqeval")
