"""Several annotators, overlapping annotations, layers of TAB, and recall of whole entities."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import LabelRules, Options, ReadOptions
from tests.support.commands import run
from tests.support.folders import FIXTURES

FOLDER = FIXTURES
TEXT = "Ann Lee met Bob Ray in Rome"


def mention(start: int, end: int, label: str = "PER", need: str = "DIRECT", entity: str = "e") -> dict[str, Any]:
    return {
        "start_offset": start,
        "end_offset": end,
        "entity_type": label,
        "identifier_type": need,
        "entity_id": entity,
    }


def document(doc_id: str, detected: list[tuple[int, int, str]] | None = None, **annotators: Any) -> dict[str, Any]:
    found = {
        "doc_id": doc_id,
        "text": TEXT,
        "annotations": {name: {"entity_mentions": mentions} for name, mentions in annotators.items()},
    }
    if detected is not None:
        found["presidio_detected_pii"] = [{"start": s, "end": e, "label": label} for s, e, label in detected]
    return found


def stream(*documents: dict[str, Any]) -> io.BytesIO:
    return io.BytesIO(json.dumps(list(documents)).encode())


def surfaces(reading: Reading, layer: str = "span") -> list[tuple[str, str]]:
    frame = reading.annotation.layers[layer]
    return [
        (reading.corpus.text(start, end), str(label)) for start, end, label in frame.itertuples(index=False, name=None)
    ]  # type: ignore[union-attr]


def load(*documents: dict[str, Any], **options: Any) -> Reading:
    return read(stream(*documents), ReadOptions(**options), name="x.json")


TWO = document("d", anna=[mention(0, 7), mention(12, 19)], ben=[mention(0, 7), mention(23, 27, "LOC")])


def test_several_annotators_must_be_chosen_from() -> None:
    with pytest.raises(InputError, match=r"1 document has several annotators \(anna, ben\). Choose: --annotator NAME"):
        load(TWO)


@pytest.mark.parametrize(
    ("annotator", "expected"),
    [
        ("anna", [("Ann Lee", "PER"), ("Bob Ray", "PER")]),
        ("ben", [("Ann Lee", "PER"), ("Rome", "LOC")]),
        ("first", [("Ann Lee", "PER"), ("Bob Ray", "PER")]),
        ("union", [("Ann Lee", "PER"), ("Bob Ray", "PER"), ("Rome", "LOC")]),
    ],
)
def test_one_annotator_by_name_the_first_or_the_union(annotator: str, expected: list[tuple[str, str]]) -> None:
    assert surfaces(load(TWO, annotator=annotator)) == expected


def test_two_people_of_one_file_can_be_compared_on_the_documents_both_have_seen() -> None:
    only_anna = document("a", anna=[mention(0, 7)])
    pair = read_pair(
        stream(only_anna, TWO), stream(only_anna, TWO), ReadOptions(annotator="anna"), ReadOptions(annotator="ben")
    )
    assert pair.corpus.doc_ids == ("d",)
    assert len(pair.gold.spans) == len(pair.pred.spans) == 2
    assert any("1 document that the chosen annotator has not seen was left out" in note for note in pair.notes)


NESTED = document(
    "d", anna=[mention(0, 3, "FIRST"), mention(0, 7, "NAME"), mention(4, 19, "LONG"), mention(23, 27, "LOC")]
)


def test_the_longest_stay_and_the_dropped_are_listed() -> None:
    reading = load(NESTED, nested="longest")
    assert surfaces(reading) == [("Ann", "FIRST"), ("Lee met Bob Ray", "LONG"), ("Rome", "LOC")]
    assert len(reading.resolved) == 1
    assert "dropped 'Ann Lee' (NAME, 0-7), which overlaps the longer 'Lee met Bob Ray'" in reading.notes[0]


def test_a_detector_keeps_the_longest_without_being_told() -> None:
    data = document("d", [(0, 3, "PER"), (0, 7, "PER"), (12, 19, "PER")], anna=[mention(0, 7)])
    pair = read_pair(stream(data), stream(data), ReadOptions(), ReadOptions())
    assert len(pair.pred.spans) == 2
    assert pair.pred.listed is not None
    assert len(pair.pred.listed) == 3
    assert any("dropped 'Ann'" in note for note in pair.notes)
    with pytest.raises(InputError, match="overlaps"):
        read_pair(stream(data), stream(data), ReadOptions(), ReadOptions(nested="error"))


def entity_rows(result: Any) -> dict[str | None, tuple[int, int]]:
    rows = result.scores[(result.scores["scheme"] == "entities") & result.scores["group_key"].isna()]
    return {
        None if row.variant != row.variant else row.variant: (int(row.tp_gold), int(row.gold))
        for row in rows.itertuples()
    }


def test_an_entity_is_protected_only_if_all_its_mentions_are() -> None:
    first = document(
        "d1",
        [(0, 7, "PER"), (23, 27, "LOC")],
        anna=[
            mention(0, 7, entity="ann"),
            mention(12, 15, entity="bob"),
            mention(16, 19, entity="ann"),
            mention(23, 27, "LOC", "QUASI", "rome"),
            mention(8, 11, "MISC", "NO_MASK", "met"),
        ],
    )
    second = document("d2", [(0, 7, "PER")], anna=[mention(0, 7, entity="ann")])
    result = evaluate(read_pair(stream(first, second), stream(first, second)), Options(replicates=0))
    # ann of d1 is exposed by its second mention, ann of d2 is another entity; met needs no masking
    assert entity_rows(result) == {None: (2, 4), "direct": (1, 3), "quasi": (1, 1)}
    overall = result.scores[result.scores["scheme"] == "entities"].iloc[0]
    assert overall["counts"] == {"protected": 2, "exposed": 2}
    assert overall["precision"] != overall["precision"]  # not defined
    ignoring = Options(replicates=0, labels=LabelRules(ignore=["LOC"]))
    without = evaluate(read_pair(stream(first, second), stream(first, second)), ignoring)
    assert entity_rows(without) == {None: (1, 3), "direct": (1, 3)}


def test_validate_lists_what_was_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(stream(NESTED).getvalue())
    result = run("validate", str(path))
    assert result.code == 2
    assert "2 times: 'Ann Lee' (NAME, 0-7) overlaps 'Ann' (FIRST, 0-3)." in result.out
    assert "mention 2 of anna, " in result.out
    result = run("validate", str(path), "--nested", "longest")
    assert result.code == 0
    assert "dropped 'Ann Lee'" in result.out
    two = run("validate", str(FOLDER / "tab.json"), str(FOLDER / "brat-gold"), str(FOLDER / "gold.vrt"))
    assert two.code == 0, two.err
