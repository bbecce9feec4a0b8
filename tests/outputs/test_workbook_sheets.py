"""The review workbook as openpyxl sees it: sheets, headers, contexts, dropdowns, links."""

from __future__ import annotations

import zipfile
from io import BytesIO
from itertools import groupby

import pytest
from python_calamine import CalamineWorkbook

from clueval_xlsx.cases.contexts import emoji_pieces, emoji_text
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.outputs.xlsx import ReviewOptions
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.words import Words
from tests.support.tables import Sides
from tests.support.workbooks import (
    FIRST,
    HEADER_ROW,
    LOOKS,
    ONE_LAYER,
    column,
    evaluated,
    example,
    find,
    headers,
    opened,
    runs,
    texts,
    written,
)


@pytest.fixture(scope="module")
def book():
    return opened(written(example()))


@pytest.mark.parametrize(
    ("lang", "names"),
    [
        ("en", ["Guide", "Metrics", "FN", "FP", "Documents", "Confusion", "clueval_lists", "clueval_manifest"]),
        (
            "de",
            [
                "Anleitung",
                "Kennzahlen",
                "FN",
                "FP",
                "Dokumente",
                "Verwechslungen",
                "clueval_lists",
                "clueval_manifest",
            ],
        ),
    ],
)
def test_sheets_stand_in_order_and_the_last_two_are_hidden(lang, names):
    book = opened(written(example(), ReviewOptions(lang=lang)))
    assert book.sheetnames == names
    assert [sheet.sheet_state for sheet in book] == ["visible"] * 6 + ["hidden"] * 2
    assert book.active.title == names[0]


ENGLISH = ["Case", "Class", "Document", "Span", "Label", "Other span", "Other label", "Context"]
ENGLISH += ["See also", "Case (again)", "Judgement", "Correct span", "Correct label", "Severity", "Comment"]


def test_english_headers_are_those_of_the_design():
    sheet = opened(written(evaluated(ONE_LAYER)))["FN"]
    assert headers(sheet)[: len(ENGLISH)] == ENGLISH


def test_german_headers_and_layers_by_name():
    sheet = opened(written(example(), ReviewOptions(lang="de")))["FP"]
    assert headers(sheet)[:18] == [
        "Fall",
        "Art",
        "Dokument",
        "Stelle",
        "Etikett: category",
        "Etikett: risk",
        "Andere Stelle",
        "Anderes Etikett: category",
        "Anderes Etikett: risk",
        "Kontext",
        "Siehe auch",
        "Fall (nochmals)",
        "Urteil",
        "Richtige Stelle",
        "Richtiges Etikett: category",
        "Richtiges Etikett: risk",
        "Schwere",
        "Bemerkung",
    ]


def test_nobody_reads_gold_and_predicted(book):
    """Lawyers read "reference" and "model"."""
    allowed = {"gold.vrt", "pred.vrt", "gold:", "pred:"}
    for sheet in book:
        if sheet.sheet_state == "hidden":
            continue
        for row in sheet.iter_rows(values_only=True):
            for value in row:
                words = str(value or "").lower()
                for name in allowed:
                    words = words.replace(name, "")
                assert "gold" not in words, (sheet.title, value)
                assert "predict" not in words, (sheet.title, value)


@pytest.mark.parametrize("name", ["FN", "FP"])
def test_context_runs_are_the_segments_of_the_error_table(book, name):
    table = dict(zip(("FN", "FP"), example().cases, strict=True))[name]
    cells = column(book[name], "Context")
    assert len(cells) == len(table) > 10
    seen = set()
    for cell, segments in zip(cells, table["segments"], strict=True):
        expected = [
            ("".join(piece.text for piece in group), LOOKS[mark])
            for mark, group in groupby(emoji_pieces(segments), key=lambda piece: piece.mark)
        ]
        assert runs(cell.value) == expected
        assert str(cell.value) == emoji_text(segments)
        assert cell.alignment.wrap_text
        seen.update(mark for _, mark in segments)
    assert seen == {"", "both", "gold", "pred"}


@pytest.mark.parametrize("name", ["FN", "FP"])
def test_cells_of_a_case_are_those_of_the_error_table(book, name):
    table = dict(zip(("FN", "FP"), example().cases, strict=True))[name]
    sheet, words = book[name], Words("en")
    assert texts(sheet, "Case") == texts(sheet, "Case (again)") == list(table["case_id"])
    assert texts(sheet, "Class") == [words[f"class.{each}"] for each in table["class"]]
    assert texts(sheet, "Document") == list(table["document"])
    assert texts(sheet, "Span") == list(table["surface"])
    assert texts(sheet, "Other span") == list(table["other_surface"])
    for layer in ("category", "risk"):
        assert texts(sheet, f"Label: {layer}") == list(table[f"label_{layer}"])
        assert texts(sheet, f"Other label: {layer}") == list(table[f"other_label_{layer}"])
    assert [cell.value for cell in column(sheet, "Start")] == list(table["start"])
    assert texts(sheet, "Last token ID") == list(table["end_id"])
    assert texts(sheet, "Sentence") == list(table["sentence"])
    for header in ("Judgement", "Correct span", "Correct label: risk", "Severity", "Comment"):
        assert set(texts(sheet, header)) == {""}


def test_technical_columns_are_folded_away_and_the_others_are_not(book):
    sheet = book["FN"]
    hidden = set()
    for dimension in sheet.column_dimensions.values():
        assert bool(dimension.hidden) is (dimension.outlineLevel == 1)
        if dimension.hidden:
            hidden.update(range(dimension.min, dimension.max + 1))
    names = headers(sheet)
    assert hidden == set(range(names.index("Comment") + 2, len(names) + 1))
    assert {"Start", "End", "First token ID", "Sentence"} <= set(names[names.index("Comment") + 1 :])


def test_metadata_by_which_figures_are_grouped_stands_in_a_folded_column():
    evaluation = example(by=("domain",))
    sheet = opened(written(evaluation))["FN"]
    assert texts(sheet, "domain") == list(evaluation.cases[0]["meta_domain"])


@pytest.mark.parametrize("name", ["FN", "FP"])
def test_annotation_cells_are_text_and_unlocked_and_the_others_locked(book, name):
    sheet = book[name]
    free = {"Judgement", "Correct span", "Correct label: category", "Correct label: risk", "Severity", "Comment"}
    for header in headers(sheet):
        for cell in column(sheet, header):
            assert cell.protection.locked is (header not in free), header
            assert (cell.number_format == "@") is (header in free), header


def test_lists_come_from_ranges_that_hold_all_their_values(book):
    words, lists = Words("en"), book["clueval_lists"]
    spans = (example().pair.gold.spans, example().pair.pred.spans)
    for name in ("FN", "FP"):
        sheet = book[name]
        expected = {
            "Judgement": [words[f"judgement.{each.code}"] for each in JUDGEMENTS if name in each.sheets],
            "Correct span": list(words.section("span_choice").values()),
            "Correct label: category": label_vocabulary(spans, "category"),
            "Correct label: risk": label_vocabulary(spans, "risk"),
            "Severity": list(words.section("severity").values()),
        }
        found = {}
        for rule in sheet.data_validations.dataValidation:
            assert rule.type == "list"
            first = sheet[str(rule.sqref).split(":")[0]]
            last = sheet[str(rule.sqref).split(":")[1]]
            assert (first.row, last.row) == (FIRST, sheet.max_row)
            header = headers(sheet)[first.column - 1]
            place = rule.formula1.replace("'", "").removeprefix("clueval_lists!").replace("$", "")
            found[header] = [str(row[0].value) for row in lists[place]]
            assert bool(rule.showErrorMessage) is (header in {"Judgement", "Severity"})
            assert rule.allowBlank
        assert found == expected


def test_labels_with_commas_and_quotes_and_hundreds_of_labels_are_all_offered():
    labels = ["a,b", 'say "x"', "it's", "=1+1", "ä&<b>", *(f"LABEL_NUMBER_{number:03}" for number in range(400))]
    lines = "".join(f"word\tB-{label}\n" for label in labels)
    empty = "word\tO\n" * len(labels)
    content = written(evaluated(Sides(lines.encode(), empty.encode())))
    with zipfile.ZipFile(BytesIO(content)) as archive:  # openpyxl takes long for a table of so many labels
        sheet = archive.read("xl/worksheets/sheet3.xml").decode()
    lists = CalamineWorkbook.from_filelike(BytesIO(content)).get_sheet_by_name("clueval_lists").to_python()
    place = lists[0].index("label_span")
    assert sorted(row[place] for row in lists[1:]) == sorted(labels)
    letter = "ABCDEFGH"[place]
    assert f"<formula1>clueval_lists!${letter}$2:${letter}${len(labels) + 1}</formula1>" in sheet.replace(
        "'", ""
    )  # versions differ in quoting


def test_a_row_turns_red_when_its_ids_differ_and_green_when_it_is_judged(book):
    for name in ("FN", "FP"):
        sheet = book[name]
        [(area, rules)] = [(str(each.sqref), each.rules) for each in sheet.conditional_formatting]
        letters = {header: column(sheet, header)[0].column_letter for header in ("Case", "Case (again)", "Judgement")}
        last = column(sheet, "Comment")[0].column_letter
        assert area == f"A{FIRST}:{last}{sheet.max_row}"
        moved, judged = sorted(rules, key=lambda rule: rule.priority)
        assert moved.formula == [f"${letters['Case']}{FIRST}<>${letters['Case (again)']}{FIRST}"]
        assert moved.stopIfTrue
        assert moved.dxf.fill.bgColor.rgb == "FFF8D2CF"
        assert judged.formula == [f"LEN(${letters['Judgement']}{FIRST})>0"]
        assert judged.dxf.fill.bgColor.rgb == "FFE3F1E6"


def test_related_cases_link_to_each_other_both_ways():
    evaluation = example(level="exact")
    book = opened(written(evaluation))
    tables = dict(zip(("FN", "FP"), evaluation.cases, strict=True))
    linked = 0
    for name, other in (("FN", "FP"), ("FP", "FN")):
        for cell, related in zip(column(book[name], "See also"), tables[name]["related"], strict=True):
            if not related:
                assert cell.value is None
                assert cell.hyperlink is None
                continue
            more = f" (+{len(related) - 1})" if len(related) > 1 else ""
            assert cell.value == f"{related[0]}{more}"
            sheet, _, place = cell.hyperlink.location.partition("!")
            assert sheet.strip("'") == other
            assert book[other][place].value == related[0]
            linked += 1
    assert linked > 20


def test_header_is_frozen_filtered_and_repeated_in_print(book):
    for name in ("FN", "FP", "Documents"):
        sheet = book[name]
        assert sheet.freeze_panes == f"B{FIRST}"
        assert sheet.auto_filter.ref.startswith(f"A{HEADER_ROW}:")
        assert sheet.auto_filter.ref.endswith(str(sheet.max_row))
        assert sheet.print_title_rows == f"${HEADER_ROW}:${HEADER_ROW}"
    for sheet in book.worksheets[:6]:
        assert not sheet.sheet_view.showGridLines
        assert sheet.page_setup.paperSize == 9
        assert sheet.page_setup.orientation == ("portrait" if sheet.title == "Guide" else "landscape")
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert (sheet.page_setup.fitToWidth or 1) == 1
        assert sheet.page_setup.fitToHeight == (None if sheet.title == "Guide" else 0)  # none said: one page


def test_every_row_has_a_height_of_its_own(book):
    for name in ("FN", "FP"):
        sheet = book[name]
        for row in range(1, sheet.max_row + 1):
            assert 0 < sheet.row_dimensions[row].height <= 409


def test_no_errors_give_friendly_empty_sheets():
    same = b"Ann\tB-PER\n.\tO\n"
    content = written(evaluated(Sides(same, same)))
    book = opened(content)
    assert book["FN"].cell(FIRST, 1).value == "Nothing to judge here: the model found every span of the reference."
    assert book["FP"].cell(FIRST, 1).value == "Nothing to judge here: the reference supports every span of the model."
    for name in ("FN", "FP"):
        assert book[name]["A2"].value == "0 of 0 judged"
        assert not book[name].data_validations.dataValidation
        assert not list(book[name].conditional_formatting)
    assert "0 passages that the model missed" in "".join(
        str(row[1]) for row in book["Guide"].iter_rows(values_only=True)
    )


def test_no_spans_at_all_are_no_trouble():
    empty = b"Ann\tO\n.\tO\n"
    values = opened(written(evaluated(Sides(empty, empty))), values=True)
    row, _ = find(values["Metrics"], "Recall")
    assert values["Metrics"].cell(row + 1, 2).value == "n/a"
