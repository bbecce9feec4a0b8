"""spaCy's DocBin: entities and span groups, read and not written."""

from __future__ import annotations

import importlib
import io
from typing import Any

import pytest

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.extras import needed

tokens = needed("spacy", "spacy.tokens")
Doc, DocBin, Vocab = tokens.Doc, tokens.DocBin, needed("spacy", "spacy.vocab").Vocab


def packed(*, groups: bool = False) -> bytes:
    vocab = Vocab()
    doc = Doc(
        vocab,
        words=["😊", "Ann", "Lee", "met", "Bob"],
        spaces=[True] * 4 + [False],
        ents=["O", "B-PER", "I-PER", "O", "B-PER"],
    )
    doc.user_data["doc_id"] = "a"
    if groups:
        doc.spans["sc"] = [doc.char_span(2, 9, "NAME"), doc.char_span(2, 5, "FIRST")]
        doc.spans["sc"].attrs["scores"] = [0.75, 0.5]
    other = Doc(vocab, words=["Nobody", "."], spaces=[False, False])
    other.user_data["doc_id"] = "b"
    return DocBin(store_user_data=True, docs=[doc, other]).to_bytes()


def broken_tags() -> bytes:
    """Entities that go on without a beginning."""
    attrs = importlib.import_module("spacy.attrs")
    packed_docs = DocBin(attrs=["ENT_IOB", "ENT_TYPE"], docs=[Doc(Vocab(), words=["Ann", "Lee"], ents=["B-X", "I-X"])])
    packed_docs.tokens[0][:, packed_docs.attrs.index(attrs.ENT_IOB)] = 1
    return packed_docs.to_bytes()


def load(raw: bytes, **options: Any) -> Reading:
    reading = read(io.BytesIO(raw), ReadOptions(**options), name="x.spacy")
    assert not reading.tokenised
    return reading


def words(reading: Reading, layer: str = "span") -> list[tuple[str, str]]:
    ranges, labels = reading.mentions.ranges, reading.mentions.labels[layer]
    rows = reading.mentions.rows_of(layer).tolist()
    return [
        (reading.documents[int(ranges.document[row])].text[ranges.start[row] : ranges.end[row]], labels[row])
        for row in rows
    ]


def test_entities_are_spans_and_documents_have_their_names() -> None:
    reading = load(packed())
    assert reading.doc_ids == ("a", "b")
    assert words(reading) == [("Ann Lee", "PER"), ("Bob", "PER")]
    assert read(io.BytesIO(packed()), name="-").source.format == "docbin"


def test_a_span_group_is_a_layer_with_its_scores() -> None:
    reading = load(packed(groups=True), layers={"span": "sc"}, nested="longest")
    assert words(reading) == [("Ann Lee", "NAME")]
    assert reading.listed.scores is not None
    assert reading.listed.scores.tolist() == [0.75, 0.5]
    with pytest.raises(OptionError, match=r"there is no group of spans of this name\. Groups: ents, sc"):
        load(packed(groups=True), layers={"span": "xx"})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (packed()[:-20], "is no DocBin that spaCy can read"),
        (broken_tags(), "I without B"),
        (b"x\x9cnothing", "is no DocBin that spaCy can read"),
        (DocBin().to_bytes(), "is no DocBin that spaCy can read|there is no document in it"),
    ],
)
def test_a_broken_file_is_answered_with_what_is_wrong(raw: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(raw)
