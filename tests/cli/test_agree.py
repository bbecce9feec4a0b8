"""Several annotators or systems against each other: the figures of every pair are those of `score`."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.commands import run
from tests.support.folders import ROOT

TAB = ROOT / "tests" / "fixtures" / "formats" / "tab.json"
LEVELS = ("exact", "superset", "tiling", "overlap")

# Anna and Ben agree on all four spans but for a label; Cara sees two of them, one too long, and one of her own.
SIDES = {
    "anna": ("B-PER I-PER O B-LOC O O", "B-PER O B-ORG I-ORG O O"),
    "ben": ("B-PER I-PER O B-ORG O O", "B-PER O B-ORG I-ORG O O"),
    "cara": ("B-PER I-PER I-PER O O O", "O O B-ORG I-ORG O B-LOC"),
}


@pytest.fixture
def files(write) -> dict[str, Path]:
    found = {}
    for name, documents in SIDES.items():
        text = "".join(
            f'<text id="d{number}">\n' + "".join(f"w{at}\t{tag}\n" for at, tag in enumerate(tags.split())) + "</text>\n"
            for number, tags in enumerate(documents)
        )
        found[name] = write(f"{name}.vrt", text)
    return found


def test_every_pair_has_the_figures_of_score_at_every_level_label_and_document(files: dict[str, Path]) -> None:
    content = json.loads(run("agree", *files.values(), "--json", "-").out)
    assert [item["name"] for item in content["compared"]] == list(files)
    assert [(pair["first"], pair["second"]) for pair in content["pairs"]] == list(combinations(files, 2))
    for pair in content["pairs"]:
        one, other = files[pair["first"]], files[pair["second"]]
        assert pair["scores"] == json.loads(run("score", one, other, "--json", "-").out)["scores"]
        swapped = json.loads(run("score", other, one, "--json", "-").out)["scores"]
        key = ("level", "labelled", "layer", "label", "average", "group")
        f1 = {str([row[name] for name in key]): row["f1"] for row in swapped}
        for row in pair["scores"]:  # none of the two is gold: F1 is the same the other way round
            assert row["f1"] == pytest.approx(f1[str([row[name] for name in key])])


def test_the_matrices_and_who_stands_apart_by_hand(files: dict[str, Path]) -> None:
    """Exact, unlabelled: Anna and Ben share 4 of 4 spans; Cara shares one of her 3 with either: F1 2/7."""
    content = json.loads(run("agree", *files.values(), "--level", "exact", "--json", "-").out)
    matrices = {(one["level"], one["labelled"]): one["f1"] for one in content["matrices"]}
    assert set(matrices) == {(level, labelled) for level in LEVELS for labelled in (None, "span")}
    assert matrices["exact", None] == [
        [None, 1.0, pytest.approx(2 / 7)],
        [1.0, None, pytest.approx(2 / 7)],
        [pytest.approx(2 / 7), pytest.approx(2 / 7), None],
    ]
    assert matrices["exact", "span"][0][1] == pytest.approx(3 / 4)
    assert content["apart"] == {"name": "cara", "f1": pytest.approx(2 / 7), "f1_of_others": 1.0}
    two = json.loads(run("agree", files["anna"], files["ben"], "--json", "-").out)
    assert two["apart"] is None  # of two, neither stands apart


def mention(text: str, words: str, label: str) -> dict:
    start = text.index(words)
    return {"start_offset": start, "end_offset": start + len(words), "span_text": words, "entity_type": label}


def test_the_annotators_of_one_file_are_compared_by_name(write) -> None:
    text = "Ann Lee met Bob Ray in Oslo."
    people = {
        "anna": [("Ann Lee", "PERSON"), ("Bob Ray", "PERSON"), ("Oslo", "LOC")],
        "ben": [("Ann Lee", "PERSON"), ("Bob", "PERSON"), ("Oslo", "ORG")],
        "cara": [("Oslo", "LOC")],
    }
    annotations = {
        name: {"entity_mentions": [mention(text, *one) for one in mentions]} for name, mentions in people.items()
    }
    tab = write("tab.json", json.dumps([{"doc_id": "d", "text": text, "annotations": annotations}]))
    done = run("agree", tab, "--level", "exact", "--json", "-")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    names = [item["name"] for item in content["compared"]]
    assert names == ["anna", "ben", "cara"]
    f1 = {(one["level"], one["labelled"]): one["f1"] for one in content["matrices"]}
    assert f1["exact", None][0] == [None, pytest.approx(2 / 3), pytest.approx(1 / 2)]
    assert f1["exact", "span"][0] == [None, pytest.approx(1 / 3), pytest.approx(1 / 2)]
    for pair in content["pairs"]:
        sides = [read(tab, ReadOptions(annotator=pair[key])) for key in ("first", "second")]
        headline = evaluate(make_pair(*sides)).headline
        assert f1["overlap", None][names.index(pair["first"])][names.index(pair["second"])] == headline.f1
    chosen = json.loads(run("agree", tab, "--annotator", "anna,cara", "--json", "-").out)
    assert [item["name"] for item in chosen["compared"]] == ["anna", "cara"]


# ---- what people should know -------------------------------------------------------------------------------------
