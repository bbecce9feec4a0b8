"""The HTML report as a file: self-contained, escaped, complete, the same figures and cases as the result."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.outputs.html.documents import shown_text, stretches
from clueval_xlsx.outputs.html.report import report_html
from clueval_xlsx.words import languages
from tests.support.pages import Page
from tests.support.tables import Sides, pair_of


@pytest.mark.parametrize("language", languages())
def test_nothing_is_loaded_from_anywhere_and_only_the_hashed_script_may_run(example: Evaluation, language: str) -> None:
    page = Page(report_html(example, language))
    addresses = [
        value
        for _, attributes in page.elements
        for name, value in attributes.items()
        if name in {"src", "href", "action", "data", "poster", "srcset"}
    ]
    assert addresses
    assert all(address.startswith("#") for address in addresses if address)
    assert "url(" not in page.style
    assert "@import" not in page.style
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    (data, _), (attributes, script) = page.scripts
    assert data["type"] == "application/json"
    assert attributes == {}
    for directive, content in (("script-src", script), ("style-src", page.style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    for name, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on") or key == "style"], name


def test_what_html_cannot_carry_is_replaced_one_for_one() -> None:
    sides = Sides(*(f"a\x01b\tB-X\n\x1b[31m\tO\nc\x0cd\t{tag}\n".encode() for tag in ("B-X", "O")))
    page = report_html(evaluate(pair_of(sides)))
    assert Page(page).documents == ["a\ufffdb \ufffd[31m c\ufffdd"]
    page.encode("utf-8")


def test_documents_hold_every_word_and_every_mark(example: Evaluation) -> None:
    page = Page(report_html(example))
    corpus = example.pair.corpus
    assert len(page.documents) == len(corpus.documents)
    for text, start, stop in zip(page.documents, corpus.documents.start, corpus.documents.stop, strict=True):
        assert text.split() == corpus.text(int(start), int(stop) - 1).split()
    anchors = {attributes["id"] for attributes in page.all("i") if "id" in attributes}
    assert anchors == {*example.cases["case_id"]}


def test_ids_are_unique_and_every_inner_link_arrives(example: Evaluation) -> None:
    page = Page(report_html(example))
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    targets = {link["href"].removeprefix("#") for link in page.all("a") if link["href"]}
    assert targets - {""} <= set(ids)
    named = {value for _, attributes in page.elements if (value := attributes.get("aria-labelledby"))}
    assert named
    assert named <= set(ids)


def test_readers_do_not_meet_gold_and_predicted(example: Evaluation) -> None:
    shown = re.sub(r"<(script|style|template)\b.*?</\1>|<[^>]*>", " ", report_html(example), flags=re.DOTALL)
    shown = shown.replace(example.signature, "").replace("gold.vrt", "").replace("pred.vrt", "")
    assert not re.search(r"\b(gold|pred|predicted|prediction)\b", shown, flags=re.IGNORECASE)


def test_an_edition_without_text_keeps_its_figures_and_none_of_its_words(example: Evaluation) -> None:
    from clueval_xlsx.review.assignment import without_text

    edition = without_text(example)
    text = report_html(edition)
    page = Page(text)
    corpus = example.pair.corpus
    assert [document.count("▢") for document in page.documents] == (
        corpus.documents.stop - corpus.documents.start
    ).tolist()
    anchors = {attributes["id"] for attributes in page.all("i") if "id" in attributes}
    assert anchors == {*edition.cases["case_id"]}
    assert len(anchors) == len(example.cases)
    assert not [case for case in example.cases["case_id"] if case in text]  # a hash of words gives words back
    ours = report_html(evaluate(pair_of(Sides(b"x\tO\n", b"x\tO\n"))))  # words that every report has
    words = {word for word in corpus.tokens if len(word) > 4 and word not in ours}
    assert len(words) > 200
    assert not {word for word in words if word in text}
    assert not [name for name in corpus.doc_ids if name in text]


@given(
    st.lists(st.tuples(st.sampled_from("OBI"), st.sampled_from("OBI"), st.sampled_from(["a", "𝕏", "."])), min_size=1)
)
def test_pieces_of_a_document_are_its_text_and_know_their_spans(rows: list[tuple[str, str, str]]) -> None:
    def column(side: int) -> bytes:
        lines = (f"{row[2]}\t{row[side] if row[side] == 'O' else row[side] + '-X'}\n" for row in rows)
        return "".join(lines).encode()

    pair = pair_of(Sides(column(0), column(1)))
    shown = shown_text(pair.corpus)
    (pieces,) = stretches(pair.corpus, shown, pair.gold.spans, pair.pred.spans)
    assert "".join(piece.text for piece in pieces) == shown.texts[0]
    for side, spans in (("gold", pair.gold.spans), ("pred", pair.pred.spans)):
        marked = "".join(piece.text for piece in pieces if piece.mark in {side, "both"})
        surfaces = [pair.corpus.text(start, end) for start, end in zip(spans["start"], spans["end"], strict=True)]
        assert "".join(marked.split()) == "".join("".join(surfaces).split())
    units = shown.texts[0].encode("utf-16-le")
    for index, token in enumerate(pair.corpus.tokens):
        begin, end = int(shown.unit_begin[index]), int(shown.unit_end[index])
        assert units[2 * begin : 2 * end].decode("utf-16-le") == token
