"""Label alignment: mapped, equivalent, ignored and unmapped labels, what they change and what is reported."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.options import LabelRules, Options, SchemeOptions
from tests.support.commands import refused, run
from tests.support.relaxed import strict_against_relaxed
from tests.support.tables import pair_of

TABLE = """
    token    gold        pred
    <text id="a">
    Bonn     B-LOC       B-LOCATION
    is       O           O
    Siemens  B-ORG       B-LOC
    and      O           O
    Ann      B-PER       B-PER
    </text>
    <text id="b">
    Cy       B-MISC      B-PER
    Dee      B-PER       B-MISC
    Eve      B-PER       O
    Flo      O           B-MISC
    Gil      B-MISC      O
    </text>
"""


def result(labelled: str | None = "span", schemes: tuple[str, ...] = (), **rules: object) -> Evaluation:
    options = Options(
        level="exact",
        labelled=labelled,
        replicates=0,
        schemes=SchemeOptions(scheme=schemes),
        labels=LabelRules(**rules),  # type: ignore[arg-type]
    )
    return evaluate(pair_of(TABLE), options)


def counts(evaluation: Evaluation) -> tuple[int, ...]:
    return tuple(int(evaluation.headline[name]) for name in ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp"))


def test_mapping_renames_on_both_sides() -> None:
    assert counts(result()) == (7, 1, 6, 6, 1, 5)
    mapped = result(map=(("LOCATION", "LOC"),))
    assert counts(mapped) == (7, 2, 5, 6, 2, 4)
    assert mapped.alignment.mapped == {"LOCATION=LOC": {"gold": 0, "pred": 1}}
    assert "labels mapped: LOCATION=LOC (0 gold, 1 predicted)" in mapped.notes
    assert "|map:LOCATION=LOC|" in mapped.signature


def test_equivalent_labels_are_no_error_where_they_are_applied() -> None:
    found = result(map=(("LOCATION", "LOC"),), equivalent=(("ORG", "LOC"),))
    assert counts(found) == (7, 3, 4, 6, 3, 3)
    missed, unsupported = found.case_tables
    assert "Siemens" not in missed["surface"].tolist()
    assert "Siemens" not in unsupported["surface"].tolist()
    assert not missed["relaxed"].any()
    assert len(missed) == found.headline["fn"]
    assert len(unsupported) == found.headline["fp"]


def test_equivalent_labels_that_are_only_marked_leave_the_case_and_say_so() -> None:
    found = result(map=(("LOCATION", "LOC"),), equivalent=(("ORG", "LOC"),), equivalence="mark")
    assert counts(found) == (7, 2, 5, 6, 2, 4)
    for cases in found.case_tables:
        assert cases.set_index("surface")["relaxed"].to_dict().pop("Siemens")
        assert cases["relaxed"].sum() == 1


def test_strict_and_relaxed_stand_side_by_side() -> None:
    found = result(map=(("LOCATION", "LOC"),), equivalent=(("ORG", "LOC"),), schemes=("all",))
    table = strict_against_relaxed(found.scores)
    row = table[(table["scheme"] == "clueval") & (table["level"] == "exact") & table["layer"].isna()].iloc[0]
    assert (row["tp_gold_strict"], row["tp_gold_relaxed"], row["tp_gold_difference"]) == (2, 3, 1)
    assert row["recall_difference"] == pytest.approx(1 / 7)
    assert row["relaxed_matches"] == 1
    org = table[(table["scheme"] == "seqeval") & (table["variant"] == "default") & (table["label"] == "ORG")].iloc[0]
    assert (org["tp_gold_strict"], org["tp_gold_relaxed"]) == (0, 1)
    assert set(table["scheme"]) == {"clueval", "seqeval", "semeval", "scenario", "tokens", "iou", "coverage"}


@pytest.mark.parametrize("scheme", ["seqeval", "semeval", "scenario", "tokens", "iou", "chars"])
def test_ignored_labels_are_nowhere_an_error(scheme: str) -> None:
    found = result(ignore=("MISC",), schemes=(scheme,))
    rows = found.scores[(found.scores["scheme"] == scheme) & found.scores["group_key"].isna()]
    misc = rows[rows["label"] == "MISC"]
    assert (misc[["gold", "pred", "fn", "fp"]].fillna(0) == 0).all().all()
    person = rows[(rows["label"] == "PER")]
    size = 3 if scheme == "chars" else 1
    assert (person["fn"] == size).all()  # Eve, and not Dee
    assert (person["fp"] == 0).all()  # not Cy


def test_documents_with_unmapped_labels_are_left_out_and_named() -> None:
    found = result(labelled=None, unmapped="discard", schemes=("documents",))
    assert found.alignment.reasons == {"a": ("LOCATION",)}
    assert found.alignment.discarded_labels == {"LOCATION": 1}
    assert counts(found) == (4, 2, 2, 3, 2, 1)  # document b alone
    assert found.select(scheme="clueval", level="exact", labelled=None, group_key="document")["group"].tolist() == ["b"]
    assert found.overall("documents", level="exact")["gold"] == 1
    assert any("1 of 2 documents left out" in note and "LOCATION (1)" in note for note in found.notes)


def test_the_call_that_is_advised_for_unmapped_labels_works(write) -> None:
    gold, pred = write("g.vrt", "Ann\tB-PER\nBob\tB-X\n"), write("p.vrt", "Ann\tB-Y\nBob\tO\n")
    rules = ("--map", "PER=P", "--set", "labels.unmapped=discard")
    advised = re.search(r"\(--map (\S+)\), or", run("score", gold, pred, *rules).err)
    assert advised is not None
    done = run("score", gold, pred, "--map", advised[1].replace("…", "P"), *rules[2:])
    assert done.code == 0
    assert "left out" not in done.err


def test_with_a_mapping_labels_that_only_one_side_has_are_unmapped() -> None:
    mapping = (("LOCATION", "LOC"),)
    assert result(map=mapping, unmapped="discard").alignment.reasons == {"a": ("ORG",)}
    for accounted in ({"ignore": ("ORG",)}, {"equivalent": (("ORG", "LOC"),)}):
        assert result(map=mapping, unmapped="discard", **accounted).alignment.reasons == {}
    assert result(map=mapping, unmapped="keep").alignment.reasons == {}


def test_the_command_line_and_toml_say_the_same(
    write: Callable[..., Path], write_pair: Callable[..., tuple[Path, Path]], tmp_path: Path
) -> None:
    gold, pred = write_pair(TABLE)
    config = write(
        "c.toml",
        '[labels]\nequivalent = [["ORG", "LOC"]]\nignore = ["MISC"]\nunmapped = "keep"\nmap.LOCATION = "LOC"\n',
    )
    flags = ("--map", "LOCATION=LOC", "--equivalent", "ORG,LOC", "--ignore", "MISC")
    outputs = [
        run("score", gold, pred, "--labelled", "span", *given, "--json", "-") for given in (flags, ("--config", config))
    ]
    assert outputs[0].code == outputs[1].code == 0, outputs[1].err
    assert outputs[0].out == outputs[1].out
    content = json.loads(outputs[0].out)
    assert content["headline"]["variant"] == "relaxed"
    assert content["labels"]["mapped"] == {"LOCATION=LOC": {"gold": 0, "pred": 1}}
    done = run("score", gold, pred, "--set", "labels.unmapped=discard", "--json", "-")
    details = json.loads(done.out)["presidio"]["details"]
    assert (details["total_samples"], details["samples_evaluated"], details["samples_discarded"]) == (2, 1, 1)
    refused(run("score", gold, pred, "--equivalent", "ORG"), "found 'ORG'. Allowed: groups of two labels")
    refused(run("score", gold, pred, "--map", "ORG"), "found 'ORG'. Allowed: OLD=NEW")
