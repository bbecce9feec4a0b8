"""JSON Lines and JSON lists: what each tool writes, records of any keys, and what is answered to others."""

# ruff: noqa: E501  (one sample a line)
from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.formats.json_dialects import DIALECTS
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.folders import FIXTURES

TEXT = "Ann Lee met Bob."


def lines(*records: Any) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def load(content: bytes, name: str = "x.jsonl", **options: Any) -> Reading:
    return read(io.BytesIO(content), ReadOptions(**options), name=name)


def words(reading: Reading) -> list[tuple[str, str]]:
    spans = reading.annotation.layers["span"]
    return [(reading.corpus.text(a, b), label) for a, b, label in spans.itertuples(index=False, name=None)]


def complaint(content: bytes, **options: Any) -> str:
    with pytest.raises(CluevalError) as caught:
        load(content, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("record", "format_"),
    [
        ({"text": TEXT, "label": [[0, 7, "PER"]]}, "doccano"),
        ({"text": TEXT, "labels": [[0, 7, "PER"]]}, "doccano"),
        ({"data": TEXT, "label": [[0, 7, "PER"]]}, "doccano"),
        ({"text": TEXT, "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 7}], "relations": []}, "doccano"),
        ({"text": TEXT, "annotations": [{"label": "PER", "start_offset": 0, "end_offset": 7, "user": 2}]}, "doccano"),
        ({"text": TEXT, "spans": [{"start": 0, "end": 7, "label": "PER"}], "answer": "accept"}, "prodigy"),
        ({"text": TEXT, "spans": [{"start": 0, "end": 7, "label": "PER"}]}, "json"),
        ([TEXT, {"entities": [[0, 7, "PER"]]}], "spacy-json"),
        ({"text": TEXT, "ents": [{"start": 0, "end": 7, "label": "PER"}], "tokens": []}, "spacy-json"),
        ({"source_text": TEXT, "privacy_mask": [{"value": "Ann Lee", "start": 0, "end": 7, "label": "PER"}]}, "ai4privacy"),
        ({"tokens": ["Ann", "Lee"], "ner_tags": ["B-PER", "I-PER"]}, "huggingface"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("shape", ["lines", "list", "single"])
def test_a_record_is_told_by_its_keys_in_lines_lists_and_alone(record: Any, format_: str, shape: str) -> None:
    content = {"lines": lines(record), "list": json.dumps([record]).encode(), "single": json.dumps(record).encode()}[
        shape
    ]
    found = load(content, "x.json" if shape != "lines" else "x.jsonl")
    assert found.source.format == format_
    assert words(found) == [("Ann Lee", "PER")]
    if format_ != "huggingface":  # these are not written back
        assert next(iter(correct(found, found.annotation.layers).values())) == content


def test_a_relation_goes_with_the_entity_that_it_leads_to() -> None:
    found = read(FIXTURES / "gold-doccano-relations.jsonl")
    spans = found.annotation.layers["span"]
    files = correct(found, {"span": spans[1:]})
    first, second = (json.loads(line) for line in files["gold-doccano-relations.jsonl"].decode().splitlines())
    assert first["relations"] == []
    assert len(second["relations"]) == 1


def test_only_accepted_answers_are_documents_and_the_others_stay_untouched() -> None:
    found = read(FIXTURES / "gold-prodigy.jsonl")
    assert found.doc_ids == ("LG-Seehafen-2-O-17-24", "AG-Birkenau-5-C-88-23")
    assert "1 record were not accepted" in found.notes[0]
    spans = found.annotation.layers["span"]
    before = (FIXTURES / "gold-prodigy.jsonl").read_text(encoding="utf-8").splitlines()
    after = correct(found, {"span": spans[:-1]})["gold-prodigy.jsonl"].decode().splitlines()
    assert after[:2] == before[:2]
    assert {**json.loads(after[2]), "spans": None} == {**json.loads(before[2]), "spans": None}


def test_a_corrected_span_of_prodigy_has_the_tokens_of_its_words() -> None:
    found = read(FIXTURES / "gold-prodigy.jsonl")
    spans = found.annotation.layers["span"]
    shorter = spans.assign(end=spans["end"].where(spans["start"] != 5, 6))
    record = json.loads(correct(found, {"span": shorter})["gold-prodigy.jsonl"].decode().splitlines()[0])
    assert record["spans"][0] == {"start": 33, "end": 35, "token_start": 5, "token_end": 6, "label": "DATE"}


def test_the_masks_of_ai4privacy_may_be_texts_and_are_then_not_corrected() -> None:
    mask = "[{'value': 'Ann Lee', 'start': 0, 'end': 7, 'label': 'PER'}]"
    found = load(lines({"source_text": TEXT, "privacy_mask": mask}))
    assert words(found) == [("Ann Lee", "PER")]
    with pytest.raises(CluevalError, match="not corrected in place"):
        correct(found, {"span": found.annotation.layers["span"][:0]})


def test_other_keys_of_an_annotation_can_be_layers_and_scores_are_kept() -> None:
    found = load(lines({"text": TEXT, "spans": [{"start": 0, "end": 7, "label": "PER", "risk": "high", "score": 0.5}]}), layers={"label": None, "risk": None})  # fmt: skip
    assert {layer: list(frame[layer]) for layer, frame in found.annotation.layers.items()} == {"label": ["PER"], "risk": ["high"]}  # fmt: skip
    assert found.annotation.scores is not None
    assert found.annotation.scores["score"].tolist() == [0.5]


def test_unknown_keys_are_answered_with_the_keys_that_are_there() -> None:
    record = {"body": TEXT, "mentions": [{"begin": 0, "stop": 7, "kind": "PER"}], "n": 1}
    message = complaint(lines(record))
    assert "the first document has the keys 'body', 'mentions', 'n' (in mentions: 'begin', 'stop', 'kind')" in message
    assert "Say where things stand (--field text=KEY --field spans=KEY" in message
    fields = {"text": "body", "spans": "mentions", "start": "begin", "end": "stop", "label": "kind"}
    assert words(load(lines(record), fields=fields)) == [("Ann Lee", "PER")]


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        (lines({"text": TEXT, "label": [[0, 99, "PER"]]}), {}, "annotation 1: offsets 0-99 lie beyond the text"),
        (lines({"text": TEXT, "label": [[0, 7, "PER"], [0, "x"]]}), {"format": "doccano"}, "the end of an annotation is 'x'. Allowed: a whole number"),
        (lines({"text": 7, "label": [[0, 7, "PER"]]}), {"format": "doccano"}, "document 1: 'text' is 7"),
        (lines({"text": TEXT, "answer": "accept", "spans": 3}), {}, "document 1: 'spans' is 3. Allowed: a list of annotations"),
        (lines({"text": TEXT, "answer": "accept", "spans": [4]}), {}, "annotation 1: found 4. Allowed: an object with 'start'"),
        (lines({"text": TEXT, "answer": "reject", "spans": []}), {}, "none of its 1 records is a document"),
        (lines([TEXT, {"entities": [[5, 2, "PER"]]}]), {}, "offsets 5-2 have a negative length"),
        (lines([TEXT, {"cats": {}}]), {}, "no document has '1.entities', which should list its annotations"),
        (lines({"tokens": ["a"], "ner_tags": ["B-X", "O"]}), {"format": "huggingface"}, "'ner_tags' has 2 tags for 1 tokens"),
        (lines({"tokens": ["a"], "ner_tags": ["B-X"]}, {"tokens": ["a"], "ner_tags": []}), {}, "line 2: 'ner_tags' has 0 tags for 1 tokens"),
        (lines({"tokens": [" "], "ner_tags": ["O"]}), {}, "document 1, token 1: the token is ' '"),
        (lines({"tokens": ["a"], "ner_tags": [7]}), {"tag_names": ("O", "B-X")}, "the tag is 7, but read.tag_names gives 2 names"),
        (lines({"source_text": TEXT, "privacy_mask": [{"value": "Eve", "start": 0, "end": 3, "label": "PER"}]}), {}, "says 'Eve', but the text has 'Ann'"),
        (lines({"source_text": TEXT, "privacy_mask": {"[NAME]": "Ann"}}), {}, "'privacy_mask' is {'[NAME]': 'Ann'}. Allowed: a list"),
        (lines({"source_text": None, "privacy_mask": []}), {}, "'source_text' is None"),
        (lines({"text": TEXT, "spans": []}), {"fields": {"id": "nr"}}, "no document has 'nr', which --field id names"),
        (lines({"text": TEXT, "spans": []}), {"fields": {"spans": "finds"}}, "no document has 'finds'"),
        (lines({"text": TEXT, "spans": []}), {"fields": {"txt": "a"}}, "fields: found 'txt=a'. Allowed: text, spans"),
        (b'{"text": "a", "spans": []}\n{"text": \n', {}, "x.jsonl:2: not valid JSON"),
    ],
)  # fmt: skip
def test_broken_records_are_answered_with_where_what_and_what_to_do(
    content: bytes, options: dict, expected: str
) -> None:
    with pytest.raises(CluevalError) as caught:
        read(io.BytesIO(content), ReadOptions(**options), name="x.jsonl")
    assert expected in str(caught.value)


@given(st.text(min_size=1, max_size=30), st.data())
def test_offsets_mean_the_same_characters_in_every_record_format(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    span = {"start": start, "end": end, "label": "X"}
    records = [
        {"text": text, "label": [[start, end, "X"]]},
        {"text": text, "spans": [span], "answer": "accept"},
        [text, {"entities": [[start, end, "X"]]}],
        {"source_text": text, "privacy_mask": [{**span, "value": text[start:end]}]},
    ]
    for record in records:
        found = load(lines(record))
        assert found.documents[0].text == text
        ranges = found.running_text.ranges(found.annotation.layers["span"])
        assert (ranges.start.tolist(), ranges.end.tolist()) == ([start], [end])


def test_the_first_list_of_a_dialect_that_names_nobody_has_one_path_a_role():
    plain = [each for each in DIALECTS if not (each.detected or each.person or each.refusal)]
    assert plain
    for dialect in plain:
        spans = dialect.spans[0]
        assert "*" not in spans.at
        assert "person" not in spans.keys
        assert "|" not in "".join(spans.keys.values())
