"""`compare`: differences and their tests against plain loops, errors alone and shared, all three outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clueval_xlsx.comparison import Comparison, compare, holm
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import LabelRules, Options, SchemeOptions
from clueval_xlsx.scoring.scores import swaps
from tests.support.commands import run
from tests.support.tables import Sides, pair_of

TAGS = {
    "gold": "B-X O B-X O | B-X B-X O O | B-X O O O | O B-X O B-X",
    "one": "B-X O O O | B-X B-X O B-X | O O O B-X | O B-X O O",
    "two": "B-X O B-X O | B-X O O B-X | O B-X O O | O B-X O B-X",
}


def file(name: str) -> bytes:
    documents = []
    for number, tags in enumerate(TAGS[name].split("|")):
        lines = "".join(f"w{number}{place}\t{tag}\n" for place, tag in enumerate(tags.split()))
        documents.append(f'<text id="d{number}">\n{lines}</text>\n')
    return "".join(documents).encode()


def evaluation(name: str, **options: object) -> Evaluation:
    given = {"level": "exact", "replicates": 300, "schemes": SchemeOptions(scheme=("documents", "chars")), **options}
    return evaluate(pair_of(Sides(file("gold"), file(name))), Options(**given))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def both() -> Comparison:
    return compare([("one", evaluation("one")), ("two", evaluation("two"))])


def counts_by_document(name: str) -> list[tuple[int, int, int, int]]:
    """gold, found, predicted, right, in each document; spans are single tokens here."""
    found = []
    for gold, pred in zip(TAGS["gold"].split("|"), TAGS[name].split("|"), strict=True):
        marks = [(g != "O", p != "O") for g, p in zip(gold.split(), pred.split(), strict=True)]
        right = sum(g and p for g, p in marks)
        found.append((sum(g for g, _ in marks), right, sum(p for _, p in marks), right))
    return found


def row_of(comparison: Comparison, rate: str, scheme: str = "clueval", labelled: str | None = None) -> dict:
    rows = comparison.differences
    rows = rows[(rows["rate"] == rate) & (rows["scheme"] == scheme) & (rows["level"] == "exact")]
    rows = rows[rows["labelled"].isna() if labelled is None else rows["labelled"] == labelled]
    assert len(rows) == 1
    return rows.iloc[0].to_dict()


def test_difference_and_chance_are_those_of_plain_steps(both: Comparison) -> None:
    one, two = counts_by_document("one"), counts_by_document("two")
    row = row_of(both, "recall")
    assert row["first_value"] == 4 / 7
    assert row["second_value"] == 5 / 7
    assert row["difference"] == pytest.approx(1 / 7)

    def recall(documents: list[tuple[int, int, int, int]]) -> float:
        return sum(d[1] for d in documents) / sum(d[0] for d in documents)

    assert row["low"] < row["difference"] < row["high"]
    as_large = 1
    for mask in np.concatenate(list(swaps(4, 300, Options().seed))):
        first = [b if swap else a for a, b, swap in zip(one, two, mask, strict=True)]
        second = [a if swap else b for a, b, swap in zip(one, two, mask, strict=True)]
        as_large += abs(recall(second) - recall(first)) >= abs(row["difference"]) - 1e-12
    assert row["p"] == pytest.approx(as_large / 301)


def test_only_the_headline_of_each_system_is_tested_against_the_first() -> None:
    three = compare([(name, evaluation(source)) for name, source in (("a", "one"), ("b", "two"), ("c", "gold"))])
    tested = three.differences[three.differences["p"].notna()]
    assert set(zip(tested["first"], tested["second"], strict=True)) == {("a", "b"), ("a", "c")}
    assert set(tested["rate"]) == {"recall", "precision", "f_beta"}
    assert set(zip(tested["scheme"], tested["level"], strict=True)) == {("clueval", "exact")}
    assert tested["labelled"].isna().all()
    assert three.tests == len(tested) == 6
    assert tested["p_holm"].tolist() == pytest.approx(holm(tested["p"].tolist()))


def test_errors_alone_and_shared(both: Comparison) -> None:
    found = {(row["sheet"], row["systems"]): row["count"] for row in both.shared.to_dict("records")}
    assert found == {
        ("FN", ("one",)): 2,  # w02, w33
        ("FN", ("two",)): 1,  # w11
        ("FN", ("one", "two")): 1,  # w20
        ("FP", ("one",)): 1,  # w23
        ("FP", ("two",)): 1,  # w21
        ("FP", ("one", "two")): 1,  # w13
    }
    errors = both.errors.set_index("surface")
    assert errors.loc["w11", ["class_0", "class_1"]].tolist() == ["", "FN"]
    assert errors.loc["w13", "systems"] == ("one", "two")
    assert "🟧" not in "".join(both.errors[both.errors["sheet"] == "FN"]["context"])


def test_one_system_is_compared_strict_against_relaxed() -> None:
    files = Sides(b"a\tB-X\nb\tB-Y\n", b"a\tB-Y\nb\tB-Y\n")
    options = Options(level="exact", labelled="span", replicates=0, labels=LabelRules(equivalent=(("X", "Y"),)))
    found = compare([("one", evaluate(pair_of(files), options))])
    assert found.names == ["strict", "relaxed"]
    row = row_of(found, "recall", labelled="span")
    assert (row["first_value"], row["second_value"]) == (0.5, 1.0)
    assert found.shared.set_index(["sheet", "systems"])["count"].loc["FN", ("strict",)] == 1
    with pytest.raises(OptionError, match="--equivalent"):
        compare([("one", evaluation("one"))])


def test_the_signature_names_every_input(both: Comparison) -> None:
    hashes = [system.evaluation.pair.pred.source.sha256[:12] for system in both.systems]
    assert both.signature.endswith(f"|compare:one={hashes[0]},two={hashes[1]}")


def test_the_command_line(write: Callable[..., Path], tmp_path: Path) -> None:
    gold, one, two = (write(f"{name}.vrt", file(name)) for name in ("gold", "one", "two"))
    output, as_json = tmp_path / "out.xlsx", tmp_path / "out.json"
    done = run("compare", gold, one, two, "--level", "exact", "--scheme", "all", "-o", output, "--json", as_json)
    assert done.code == 0, done.err
    assert "Match levels: exact" in done.out
    assert "+14.3" in done.out
    assert "one alone" in done.out
    assert output.stat().st_size > 5000
    content = json.loads(as_json.read_text("utf-8"))
    assert [system["name"] for system in content["systems"]] == ["one", "two"]
    assert {row["scheme"] for row in content["metrics"]} >= {"clueval", "seqeval", "documents"}
    assert sum(entry["count"] for entry in content["errors"]) == len(content["cases"]) == 7
    printed = run("compare", gold, one, two, "--level", "exact", "--scheme", "all", "--json", "-")
    assert json.loads(printed.out) == content
