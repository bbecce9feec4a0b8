"""CoNLL files: every rule of the format, one test each."""

from __future__ import annotations

import io

import pytest

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.sniffing import find_format
from clueval_xlsx.options import ReadOptions
from tests.support.tables import listed


def reading(text: str, **options: object) -> Reading:
    return read(io.BytesIO(text.encode("utf-8")), ReadOptions(**options), name="file.conll")  # type: ignore[arg-type]


def spans(text: str, **options: object) -> list[tuple]:
    found = reading(text, **options)
    return listed(found.annotation.spans)


@pytest.mark.parametrize("separator", [" ", "\t", "  ", " \t ", "   \t"])
def test_columns_are_separated_by_any_spaces_and_tabs(separator: str) -> None:
    text = f"Ann{separator}B-PER\nLee{separator}I-PER\n"
    assert list(reading(text).corpus.tokens) == ["Ann", "Lee"]
    assert spans(text) == [(0, 1, "PER")]


def test_blanks_around_a_line_do_not_matter() -> None:
    assert spans("  Ann B-PER  \r\n Lee I-PER\t\r\n") == [(0, 1, "PER")]


def test_the_column_that_holds_tags_is_found_wherever_it_stands() -> None:
    assert spans("Ann NNP B-PER x\nLee NNP I-PER y\n") == [(0, 1, "PER")]
    assert spans("Ann NNP x O\nLee NNP y O\n") == []


def test_where_several_columns_hold_tags_the_message_names_them_with_the_calls() -> None:
    text = "Ann NNP B-NP B-PER\nLee NNP I-NP I-PER\n"
    assert spans(text, layers={"chunk": 3}) == [(0, 1, "NP")]
    with pytest.raises(InputError) as caught:
        reading(text)
    assert str(caught.value) == (
        "file.conll: 2 columns hold tags. column 3: B-NP, I-NP; column 4: B-PER, I-PER. Choose one: --layer layer3=3 "
        "or --layer layer4=4; several are merged: --layer layer3=3 --layer layer4=4 (--gold-layer, --pred-layer "
        "for one side)."
    )
    with pytest.raises(InputError, match="several are merged: --layer chunk=3 --layer layer4=4 "):
        reading(text, layers={"chunk": None})


def test_the_last_column_is_told_by_the_first_token_line_not_by_a_comment() -> None:
    text = "#newdoc id = d1 and so on\n# text = Ann Lee came\n-DOCSTART- -X- -X- -X- O\n\nAnn B-PER\nLee I-PER\n"
    assert spans(text) == [(0, 1, "PER")]


def test_a_blank_line_ends_a_sentence() -> None:
    text = "Ann B-PER\n\nLee I-PER\n \t \nBob I-PER\n"
    assert spans(text) == [(0, 0, "PER"), (1, 1, "PER"), (2, 2, "PER")]
    assert reading(text).corpus.breaks.tolist() == [0, 1, 2]


def test_docstart_lines_open_documents() -> None:
    text = "-DOCSTART- -X- O O\n\nAnn B-PER\n\n-DOCSTART- (d2) -X- O\n\nLee I-PER\n-DOCSTART- O\n"
    corpus = reading(text, layers={"x": 2}).corpus
    assert corpus.doc_ids == ("#1", "d2", "#3")
    assert corpus.documents.start.tolist() == [0, 1, 2]
    assert list(corpus.tokens) == ["Ann", "Lee"]


def test_newdoc_comments_open_documents_and_other_comments_are_no_tokens() -> None:
    corpus = reading("# newdoc id = d1\n# sent_id = 7\nAnn B-PER\n\n# newdoc id = d2\nLee O\n").corpus
    assert corpus.doc_ids == ("d1", "d2")
    assert list(corpus.tokens) == ["Ann", "Lee"]


def test_a_number_sign_can_be_a_token() -> None:
    assert list(reading("# O\n#7 B-X\n- O\n").corpus.tokens) == ["#", "#7", "-"]


def test_angle_brackets_and_ampersands_are_plain_text() -> None:
    assert list(reading("<s> O\n&amp; O\n").corpus.tokens) == ["<s>", "&amp;"]


def test_a_document_id_column_serves_where_nothing_else_does() -> None:
    corpus = reading("Ann d1 B-PER\nLee d2 I-PER\n", document_id=2).corpus
    assert corpus.doc_ids == ("d1", "d2")
    assert spans("Ann d1 B-PER\nLee d2 I-PER\n", document_id=2) == [(0, 0, "PER"), (1, 1, "PER")]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_missing_final_newline_loses_no_token(end: str) -> None:
    assert spans("Ann B-PER\nLee I-PER" + end) == [(0, 1, "PER")]


def test_a_line_with_too_few_columns_is_named() -> None:
    with pytest.raises(
        InputError, match=r"file\.conll:3: 'Lee' has 1 column, but column 2 \(layer span\) is asked for"
    ):
        reading("Ann B-PER\n\nLee\n")


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.vrt", b"Ann B-PER\n", "vrt"),
        ("a.conll", b"Ann\tB-PER\n", "conll"),
        ("a.IOB2", b"", "conll"),
        ("a.txt", b"<text>\n<s>\nAnn\tB-PER\n", "vrt"),
        ("a.txt", b"\n\nAnn B-PER\n", "conll"),
        ("-", b"-DOCSTART-\t-X-\tO\n\nAnn\tB-PER\n", "conll"),
        ("-", b"# a comment\nAnn\tB-PER\n", "vrt"),
        ("-", b"", "vrt"),
    ],
)
def test_the_format_is_told_by_ending_then_by_content(name: str, head: bytes, expected: str) -> None:
    assert find_format(OpenedSource(name, head), ReadOptions()).name == expected
