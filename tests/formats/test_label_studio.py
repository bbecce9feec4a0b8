"""Label Studio exports: every shape that the tool writes, one test each."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions

TEXT = "Ann Lee met Bob."


def region(start: int, end: int, *labels: str, id_: str = "a", control: str = "label", **more: Any) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": TEXT[start:end], "labels": list(labels)}
    return {"id": id_, "from_name": control, "to_name": "text", "type": "labels", "value": value, **more}


def task(*results: dict[str, Any], **data: Any) -> dict[str, Any]:
    return {"id": 1, "data": data or {"text": TEXT}, "annotations": [{"id": 7, "result": list(results)}]}


def load(content: Any, name: str = "x.json", **options: Any) -> Reading:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return read(io.BytesIO(raw), ReadOptions(**options), name=name)


def words(reading: Reading) -> dict[str, list[tuple[str, str | None]]]:
    corpus = reading.corpus
    return {
        layer: [
            (corpus.text(start, end), None if label != label else label)  # noqa: PLR0124  # no label is NaN
            for start, end, label in frame.itertuples(index=False, name=None)
        ]
        for layer, frame in reading.annotation.layers.items()
    }


CHOICE = {
    "id": "a",
    "from_name": "sure",
    "to_name": "text",
    "type": "choices",
    "value": {"start": 0, "end": 7, "text": "Ann Lee", "choices": ["yes"]},
}
AREA = {
    "id": "a",
    "from_name": "why",
    "to_name": "text",
    "type": "textarea",
    "value": {"start": 0, "end": 7, "text": ["title"]},
}
RELATION = {"from_id": "a", "to_id": "b", "type": "relation", "direction": "right"}


def test_whoever_deletes_a_region_deletes_all_that_shares_its_id() -> None:
    found = load([task(region(0, 7, "PER"), CHOICE, AREA, region(12, 15, "PER", id_="b"), RELATION)])
    spans = found.annotation.layers["span"]
    after = json.loads(correct(found, {"span": spans[spans["start"] > 0]})["x.json"])
    assert after[0]["annotations"][0]["result"] == [region(12, 15, "PER", id_="b")]


def test_each_label_control_is_a_layer_and_they_may_overlap() -> None:
    content = [task(region(0, 7, "PER"), region(0, 3, "high", id_="b", control="risk"))]
    assert words(load(content)) == {"label": [("Ann Lee", "PER")], "risk": [("Ann", "high")]}
    assert words(load(content, layers={"x": "risk"})) == {"x": [("Ann", "high")]}


def test_the_text_may_stand_in_any_field() -> None:
    assert words(load([task(region(0, 7, "PER"), content=TEXT)])) == {"span": [("Ann Lee", "PER")]}
    two = [task(region(0, 7, "PER"), content=TEXT, title="x")]
    with pytest.raises(InputError, match=r"the keys are 'content', 'title'.*--field text=KEY"):
        load(two)
    assert words(load(two, fields={"text": "content"})) == {"span": [("Ann Lee", "PER")]}


MIN = {
    "text": TEXT,
    "id": 4,
    "label": [{"start": 0, "end": 7, "text": "Ann Lee", "labels": ["PER"]}],
    "annotator": 1,
    "annotation_id": 9,
    "created_at": "2024-01-01",
    "lead_time": 3.2,
}


def test_json_min_has_the_regions_under_the_name_of_their_control() -> None:
    found = load([MIN])
    assert found.doc_ids == ("4",)
    assert words(found) == {"span": [("Ann Lee", "PER")]}
    assert correct(found, found.annotation.layers)["x.json"] == json.dumps([MIN]).encode()
    after = json.loads(correct(found, {"span": found.annotation.layers["span"].assign(end=0)})["x.json"])
    assert after == [{**MIN, "label": [{"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}]}]


def test_a_single_task_lines_of_tasks_and_completions_are_read() -> None:
    one = task(region(0, 7, "PER"))
    old = {"id": 1, "data": {"text": TEXT}, "completions": one["annotations"]}
    lines = (json.dumps(one) + "\n" + json.dumps({**one, "id": 2, "data": {"text": TEXT}}) + "\n").encode()
    for content, name in ((one, "x.json"), (old, "x.json"), ([old], "x.json")):
        found = load(content, name)
        assert words(found) == {"span": [("Ann Lee", "PER")]}
        assert correct(found, found.annotation.layers)[name] == json.dumps(content).encode()
    assert load(lines, "x.jsonl").doc_ids == ("1", "2")


def test_a_new_region_has_the_control_of_its_layer() -> None:
    content = [task(region(0, 7, "PER", control="ner"))]
    found = load(content)
    spans = found.annotation.layers["span"]
    moved = spans.assign(start=3, end=3)
    new = json.loads(correct(found, {"span": moved})["x.json"])[0]["annotations"][0]["result"]
    assert [(each["from_name"], each["value"]["text"]) for each in new] == [("ner", "Bob")]
