"""Conversion between formats: spans and labels stay as they are, and what cannot be said is listed first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.registry import CONVERTED, format_named
from clueval_xlsx.options import ReadOptions
from tests.support.commands import run
from tests.support.folders import FIXTURES

SOURCES = ["gold-doccano.jsonl", "gold-prodigy.jsonl", "gold-spacy.json", "gold-ai4privacy.jsonl", "label-studio.json"]
TEXTS = ["json", "doccano", "prodigy", "spacy-json", "ai4privacy", "label-studio", "presidio", "brat"]
TOKENS = ["vrt", "conll"]


def spans(reading: Reading) -> list[tuple[str, str, str]]:
    """Documents, words without white space, and labels."""
    corpus, frame = reading.corpus, reading.annotation.layers["span"]
    rows = frame.itertuples(index=False, name=None)
    found = [
        (
            corpus.doc_ids[int(corpus.document_of(frame["start"].to_numpy()[:1] * 0 + start)[0])],
            corpus.text(start, end),
            label,
        )
        for start, end, label in rows
    ]
    return [(document, "".join(words.split()), label) for document, words, label in found]


def offsets(reading: Reading) -> list[tuple[str, int, int]]:
    ranges = reading.running_text.ranges(reading.annotation.layers["span"])
    rows = zip(ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist(), strict=True)
    return [(reading.doc_ids[document], start, end) for document, start, end in rows]


@pytest.mark.parametrize("target", [*TEXTS, *TOKENS])
@pytest.mark.parametrize("source", SOURCES)
def test_spans_and_labels_are_the_same_after_a_conversion(source: str, target: str, tmp_path: Path) -> None:
    out = tmp_path / ("out" if target == "brat" else "out.data")
    done = run("convert", FIXTURES / source, out, "--to", target)
    assert done.code == 0, done.err
    before, after = read(FIXTURES / source), read(out, ReadOptions(format=target))
    assert sorted(spans(after)) == sorted(spans(before))
    if target in TEXTS:
        assert sorted(offsets(after)) == sorted(offsets(before))


def test_what_cannot_be_said_is_listed_before_anything_is_written(tmp_path: Path) -> None:
    content = {"id": "d", "text": "Ann", "court": "x", "spans": [{"start": 0, "end": 3, "label": "PER", "score": 0.5}]}
    (tmp_path / "in.jsonl").write_text(json.dumps(content) + "\n")
    done = run("convert", tmp_path / "in.jsonl", tmp_path / "out.conll")
    assert done.code == 0
    assert "CoNLL cannot say, and the new file will not have: 1 scores" in done.err
    assert "CoNLL cannot say, and the new file will not have: metadata of documents (court)" in done.err
    kept = run("convert", tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--to", "prodigy")
    assert "cannot say" not in kept.err
    assert json.loads((tmp_path / "out.jsonl").read_text())["spans"] == [
        {"start": 0, "end": 3, "label": "PER", "score": 0.5}
    ]


@pytest.mark.parametrize("target", CONVERTED)
def test_scores_and_metadata_are_kept_or_their_loss_is_said(tmp_path: Path, target: str) -> None:
    spans_ = [{"start": 0, "end": 3, "label": "PER", "score": 0.5}]
    (tmp_path / "in.jsonl").write_text(json.dumps({"id": "d", "text": "Ann", "court": "x", "spans": spans_}) + "\n")
    out = tmp_path / ("out" if target in {"brat", "cas"} else "out.tsv")
    done = run("convert", tmp_path / "in.jsonl", out, "--to", target)
    assert done.code == 0, done.err
    text = str(tmp_path / "in.jsonl") if format_named(target).needs_text else None
    after = read(out, ReadOptions(format=target, text=text))
    kept = after.annotation.scores is not None and after.annotation.scores["score"].tolist() == [0.5]
    assert ("will not have: 1 scores" in done.err) == (not kept)
    if text is None:  # whose text lies elsewhere has its metadata there
        known = "court" in after.corpus.documents.attributes(0)
        assert ("metadata of documents (court)" in done.err) == (not known)


def test_every_label_that_cannot_be_held_is_listed_and_nothing_is_written(tmp_path: Path) -> None:
    spans_ = [{"start": 0, "end": 1, "label": "A B"}, {"start": 2, "end": 3, "label": "C D"}]
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "a b", "spans": spans_}) + "\n")
    done = run("convert", tmp_path / "in.jsonl", tmp_path / "out")
    assert done.code == 2
    assert "1 span has 'A B', which brat cannot hold" in done.err
    assert "(1 more" in done.err
    assert not (tmp_path / "out").exists()
