"""Any text goes in, a valid workbook comes out, and the text comes back as documented."""

from __future__ import annotations

import pytest
from hypothesis import example as tried
from hypothesis import given
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from clueval_xlsx.outputs.xlsx.book import Book
from clueval_xlsx.text.cells import ELLIPSIS, JOINER, LONGEST_CELL, clean, shorten, utf16_length
from tests.support.commands import run
from tests.support.strategies import at_most
from tests.support.tables import Sides
from tests.support.workbooks import (
    FIRST,
    LOOKS,
    TABS,
    column,
    evaluated,
    opened,
    runs,
    texts,
    written,
)

ODD = [
    "🟥👩‍👩‍👧‍👦🇩🇪",
    "e\u0301\u0327",
    "שלום עולם",
    "\u202eمرحبا\u202c",
    "a\x00b\x07c\x1bd\x7f",
    "\ud800lone\udfff",
    "_x0041_ _x000D_ _x005F_x0041_",
    "=1+1",
    "+49",
    "-1",
    "@SUM(A1)",
    "http://example.org/?a=1&b=2",
    "a\r\nb\rc\nd\te",
    "<b>&amp;</b> ]]>",
    "  spaces  ",
    "\ufffe\uffff",
    "\U0001fffe\U0010ffff",
    "\x85\u2028\xa0",
    "日本語" * 10,
]
anything = st.one_of(
    st.sampled_from(ODD),
    st.text(st.characters(), max_size=30),  # lone surrogates, too
    st.text(st.sampled_from("=+-@_x04 \t\n\r\x01🟥e\u0301א"), max_size=20),
)


@at_most(60)
@given(values=st.lists(anything, min_size=1, max_size=6))
@tried(values=ODD)
def test_text_comes_back_clean_from_both_readers(tmp_path_factory, values):
    target = tmp_path_factory.mktemp("text") / "text.xlsx"
    with Book(target, title="t") as book:
        sheet = book.sheet("Text")
        for row, value in enumerate(values):
            sheet.text((row, 0), value)
            sheet.rich((row, 1), [(value, "gold"), (value, ""), (value, "pred")], "cell_context")
            sheet.text((row, 2), "end")
    expected = [clean(value) for value in values]
    rich = [3 * text.replace(JOINER, "") for text in expected]
    found = opened(target)["Text"]
    # openpyxl drops every `x005F_`, also where it is no escape.
    assert [_plain(found.cell(row + 1, 1)) for row in range(len(values))] == [_dropped(text) for text in expected]
    assert [_plain(found.cell(row + 1, 2)).replace(JOINER, "") for row in range(len(values))] == [
        _dropped(text) for text in rich
    ]
    again = CalamineWorkbook.from_path(str(target)).get_sheet_by_index(0).to_python(skip_empty_area=False)
    assert [row[0] for row in again] == expected
    assert [row[1].replace(JOINER, "") for row in again] == rich


def _dropped(text):
    return text.replace("x005F_", "")


def _plain(cell):
    assert cell.data_type in {"s", "n", "inlineStr"}, cell.data_type  # `n` is an empty cell
    return "" if cell.value is None else str(cell.value)


def test_control_characters_become_a_sign_that_says_so():
    assert clean("a\x00b\x1fc\ud800d\r\ne\rf\tg") == "a\ufffdb\ufffdc\ufffdd\ne\nf\tg"
    assert clean("_x0041_") == "_x0041_"


@given(text=anything, repeat=st.integers(1, 40), limit=st.integers(20, 60))
def test_long_text_is_shortened_visibly_and_never_otherwise(text, repeat, limit):
    text = clean(text * repeat)
    short = shorten(text, limit)
    assert utf16_length(short) <= limit
    if utf16_length(text) <= limit:
        assert short == text
    else:
        assert short.endswith(f" {ELLIPSIS}")
        assert text.startswith(short.removesuffix(f" {ELLIPSIS}"))


@pytest.mark.parametrize("character", ["x", "🟥"])
def test_a_hundred_thousand_characters_fit_into_a_cell(character):
    token = character * 100_000
    evaluation = evaluated(Sides(f"{token}\tB-X\n.\tO\n".encode(), f"{token}\tO\n.\tO\n".encode()))
    book = opened(written(evaluation))
    [cell] = column(book[TABS["FN"]], "Context")
    shown = str(cell.value)
    assert utf16_length(shown) <= LONGEST_CELL
    assert ELLIPSIS in shown
    assert shown.count(character) > 10_000
    marked = [text for text, look in runs(cell.value) if look == LOOKS["gold"]]
    assert "".join(marked).strip(character) == ""
    assert len(marked[0]) > 10_000
    assert texts(book[TABS["FN"]], "Span")[0].endswith(ELLIPSIS)
    assert book[TABS["FN"]].row_dimensions[FIRST].height == 300


def test_corpus_text_is_never_a_formula_a_link_or_a_number(tmp_path, write_pair):
    tokens = ["=1+1", "+1", "-1", "@SUM(A1)", "http://example.org", "mailto:a@b.de", "007", "1e5", "TRUE", "{=1}"]
    gold = "".join(f"<text id='={token}'>\n{token}\tB-={token}\n</text>\n" for token in tokens)
    pred = "".join(f"<text id='={token}'>\n{token}\tO\n</text>\n" for token in tokens)
    paths = write_pair(Sides(gold.encode(), pred.encode()))
    target = tmp_path / "review.xlsx"
    assert run("evaluate", *paths, "-o", target, "--level", "exact").code == 0
    book = opened(target)
    assert texts(book[TABS["FN"]], "Span") == tokens
    assert texts(book[TABS["FN"]], "Label") == [f"={token}" for token in tokens]
    for sheet in book:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    assert sheet.title in {"Metrics", "Documents", "clueval_figures", *TABS.values()}
                    assert str(cell.value) not in tokens
                    assert "example" not in str(cell.value)
                if cell.hyperlink:
                    assert sheet.title == "Guide"
                    assert cell.hyperlink.target is None
    for cell in column(book[TABS["FN"]], "Span"):
        assert cell.data_type == "s"
