"""The review workbook in a real LibreOffice: what a person sees there, and what happens when they judge."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.review.case_words import span_choice_entry
from clueval_xlsx.review.judgements import JUDGEMENTS, SPAN_CHOICES
from clueval_xlsx.words import Words
from tests.support.office import case_rows, columns
from tests.support.workbooks import FIRST, HEADER_ROW, TABS, answers_for, example, written

pytestmark = pytest.mark.office
OFFERED = [judgement for judgement in JUDGEMENTS if {"FN", "FP"} & {*judgement.sheets}]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MISSED, UNSUPPORTED = TABS["FN"], TABS["FP"]


@pytest.fixture
def open_book(office, tmp_path):
    """A function that writes a workbook of the example and opens it."""
    books = []

    def opener(options=None, **evaluation):
        path = tmp_path / f"review-{len(books)}.xlsx"
        path.write_bytes(written(example(**evaluation), options))
        books.append(office.open(path))
        return books[-1]

    yield opener
    for book in books:
        book.close()


def letters(book, sheet=MISSED):
    """The letter of each header's column."""
    return columns(book, sheet, HEADER_ROW)


def place_of(book, sheet, text):
    """Row and column (from 0) of the first cell that shows a text."""
    rows, _ = book.used(sheet)
    for row, line in enumerate(book.values(sheet, f"A1:Z{rows}")):
        if text in line:
            return row, line.index(text)
    raise AssertionError(f"{text!r} is not on {sheet}")


def live(book, lang="en"):
    """The live figures of the Metrics sheet: counts by judgement, estimates by name."""
    words = Words(lang)
    sheet = words["sheet.metrics"]
    row, column = place_of(book, sheet, words["column.judgement"])
    counts = book.texts(sheet, f"{LETTERS[column]}{row + 2}:{LETTERS[column + 2]}{row + 2 + len(OFFERED)}")
    row, column = place_of(book, sheet, words["metrics.if_they_stand"])
    estimates = book.texts(sheet, f"{LETTERS[column]}{row + 2}:{LETTERS[column + 3]}{row + 7}")
    return {line[0]: tuple(line[1:]) for line in counts}, {line[0]: tuple(line[2:]) for line in estimates}


@pytest.mark.parametrize("lang", ["en", "de"])
def test_dropdowns_offer_all_their_values(open_book, lang):
    book, words = open_book(Handout(lang=lang)), Words(lang)
    spans = (example().pair.gold.spans, example().pair.pred.spans)
    for kind in ("FN", "FP"):
        sheet = words[f"sheet.{kind.lower()}"]
        at = letters(book, sheet)
        label = words["column.correct_label"]
        expected = {
            words["column.judgement"]: [
                f"{each.digit} {words[f'judgement.{each.code}']}" for each in JUDGEMENTS if kind in each.sheets
            ],
            words["column.correct_span"]: [span_choice_entry(choice, words) for choice in SPAN_CHOICES],
            f"{label}: category": label_vocabulary(spans, "category"),
            f"{label}: risk": label_vocabulary(spans, "risk"),
            words["column.severity"]: [
                f"{digit} {name}" for digit, name in enumerate(words.section("severity").values(), 1)
            ],
        }
        last, _ = book.used(sheet)
        for header, choices in expected.items():
            for row in (FIRST, last):
                rule = book.validation(sheet, f"{at[header]}{row}")
                assert rule["type"] == "LIST"
                assert rule["choices"] == choices
                assert not rule["strict"]  # a digit can be typed, no dialog interrupts
        assert book.validation(sheet, f"{at[words['column.comment']]}{FIRST}")["type"] == "ANY"


def test_what_a_person_types_stays_text(open_book):
    book = open_book()
    comment = letters(book)["Comment"]
    for row, typed in enumerate(["007", "1/2", "TRUE", "50%", "1e5", "=1+1", "12.03.2024"], FIRST):
        book.enter(MISSED, f"{comment}{row}", typed)
        cell = book.cell(MISSED, f"{comment}{row}")
        assert (cell["type"], cell["text"]) == ("TEXT", typed)


def test_figures_follow_the_judgements(open_book):
    book, words = open_book(), Words("en")
    before = live(book)
    assert before[0]["Model is wrong"] == ("0", "0")
    assert before[1]["Recall"] == ("72.0%", "72.0%")
    assert book.cell(MISSED, "D1")["text"] == "0 of 21 done"
    column = letters(book)["Judgement"]
    chosen = {"FN": ["gold_wrong", "gold_wrong", "acceptable", "model_error"], "FP": ["gold_missing", "unclear"]}
    for sheet, codes in chosen.items():
        for row, code in enumerate(codes, FIRST):
            book.enter(TABS[sheet], f"{column}{row}", words[f"judgement.{code}"])
    counts, estimates = live(book)
    assert counts == {
        "Model is wrong": ("1", "0"),
        "Should not be marked": ("2", "–"),
        "Reference forgot this": ("–", "1"),
        "Reference too long or short": ("0", "0"),
        "Reference has wrong label": ("0", "0"),
        "Good enough": ("1", "0"),
        "Cannot decide": ("0", "1"),
        "judged": ("4", "2"),
    }
    # 75 reference spans, 54 found: two go, one is good enough, one is added and found; 61 of 74 supported, one more.
    assert estimates == {
        "Reference spans": ("75", "74"),
        "found": ("54", "56"),
        "Model spans": ("74", "74"),
        "supported": ("61", "62"),
        "Recall": ("72.0%", f"{56 / 74:.1%}"),
        "Precision": ("82.4%", f"{62 / 74:.1%}"),
    }


def test_stored_figures_are_those_that_the_program_calculates(open_book):
    """Some programs show stored values until the first edit: an edit elsewhere must not change anything."""
    answers = answers_for(example(level="exact"))[0]
    book = open_book(Handout(answers=answers, lang="de", max_rows=10), level="exact")
    stored = live(book, "de")
    sheet = Words("de")["sheet.fn"]
    kept = book.cell(sheet, f"D{FIRST}")["text"]
    book.enter(sheet, f"D{FIRST}", "")
    assert live(book, "de") != stored
    book.enter(sheet, f"D{FIRST}", kept)
    assert live(book, "de") == stored
    rows, _ = book.used("Kennzahlen")
    assert all(value is not None for row in book.values("Kennzahlen", f"A1:Z{rows}") for value in row)  # no errors


def test_rows_have_the_colour_of_their_state(open_book, tmp_path):
    book = open_book()
    at = letters(book)
    for row, typed in enumerate(["1", "3", "x"], FIRST):
        book.enter(MISSED, f"{at['Judgement']}{row}", typed)
    html = book.save(tmp_path / "colours.html").read_text("utf-8", errors="replace")
    rows = re.findall(r"<tr.*?</tr>", html.replace("\n", " "), re.DOTALL | re.IGNORECASE)
    header = next(place for place, row in enumerate(rows) if "Context" in row and "Judgement" in row)
    colours = []
    for row in rows[header + 1 : header + 5]:
        shown = re.split(r"<td", row)[1:10]  # up to Comment; what is hidden is not there
        colours.append({colour.upper() for cell in shown for colour in re.findall(r'bgcolor="(#\w+)"', cell)})
    assert colours == [{"#E3F1E6"}, {"#FDE7BF"}, {"#F8D2CF"}, {"#F4F6F8", "#FFFFFF", "#FFFBEA"}]


def test_sorting_whole_rows_keeps_ids_together_and_links_hit(open_book):
    book = open_book(level="exact")
    at, (last, _) = letters(book), book.used(MISSED)
    before = case_rows(book, MISSED)
    book.enter(MISSED, f"{at['Judgement']}{FIRST}", "1")
    judged = next(case for case, row in before.items() if row == FIRST)
    numbers = {case: book.cell(MISSED, f"A{row}")["text"] for case, row in before.items()}
    book.sort(MISSED, f"A{FIRST}:{at['Case ID']}{last}", columns_before(at, "Span"))
    after = case_rows(book, MISSED)
    assert after != before
    spans = [row[0] for row in book.values(MISSED, f"{at['Span']}{FIRST}:{at['Span']}{last}")]
    assert spans == sorted(spans, key=str.casefold)
    for case, row in after.items():
        assert book.cell(MISSED, f"{at['Case ID (again)']}{row}")["text"] == case
        assert book.cell(MISSED, f"A{row}")["text"] == numbers[case]
        state = "✓ Model is wrong" if case == judged else ""
        assert book.cell(MISSED, f"{at['State']}{row}")["text"] == state
    assert book.cell(MISSED, "D1")["text"] == "1 of 31 done"
    assert live(book)[0]["judged"] == ("1", "0")
    other = letters(book, UNSUPPORTED)["See also"]
    hits = 0
    for row in range(FIRST, book.used(UNSUPPORTED)[0] + 1):
        formula = book.cell(UNSUPPORTED, f"{other}{row}")["formula"]
        if formula:
            row_found = re.search(r'MATCH\("(\S+)"', formula)
            book.put("Confusion", 60, 20, "formula", "=" + re.search(r"MATCH\(.*,0\)|MATCH\(.*;0\)", formula)[0])
            assert int(book.cell("Confusion", "U61")["value"]) == after[row_found[1]]
            hits += 1
    assert hits > 3


def columns_before(at, header):
    """The place of a column, counted from 0."""
    return list(at).index(header)


@pytest.mark.parametrize("lang", ["en", "de"])
def test_rows_fit_their_text_within_a_line(open_book, lang):
    book, words = open_book(Handout(lang=lang), level="exact", labelled="category"), Words(lang)
    for row in range(book.used(words["sheet.guide"])[0]):
        guide = words["sheet.guide"]
        if any(book.texts(guide, f"B{row + 1}:D{row + 1}")[0]):
            assert book.row_height(guide, row) >= book.fitted_height(guide, row) - 20, row
    line = 13.2 * 35.28  # in 1/100 mm
    wrong = total = 0
    for kind in ("fn", "fp"):
        sheet = words[f"sheet.{kind}"]
        rows, marks = book.used(sheet)[0], letters(book, sheet)[words["column.marks"]]
        book.set_many(sheet, {f"{marks}{row}": "" for row in range(FIRST, rows + 1)})  # nobody sees its lines
        for row in range(FIRST - 1, rows):
            more = book.row_height(sheet, row) - book.fitted_height(sheet, row)
            wrong += not -20 <= more <= line
            total += 1
            assert -line <= more <= 2 * line
    assert wrong <= total * 0.05


def test_protected_sheets_take_judgements_and_nothing_else(open_book):
    book = open_book(Handout(lock_cells=True))
    assert all(book.protected(sheet) for sheet in book.sheets())
    at = letters(book)
    book.enter(MISSED, f"{at['Judgement']}{FIRST}", "Model is wrong")
    assert book.cell(MISSED, "D1")["text"] == "1 of 21 done"
    before = book.cell(MISSED, f"{at['Span']}{FIRST}")["text"]
    book.enter(MISSED, f"{at['Span']}{FIRST}", "changed")
    assert book.cell(MISSED, f"{at['Span']}{FIRST}")["text"] == before


@pytest.mark.parametrize("lang", ["en", "de"])
def test_pages_can_be_printed_and_the_guide_takes_one(open_book, tmp_path, lang):
    book = open_book(Handout(lang=lang, contact="Dr. Weber"), level="exact", labelled="category")
    pdf = book.save(tmp_path / "review.pdf")
    assert pdf.read_bytes().startswith(b"%PDF")
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext is not installed; the PDF was made")
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, check=True).stdout.decode()
    pages = text.rstrip("\f").split("\f")
    words = Words(lang)
    total = len(pages)
    assert total >= 8
    sheets = [re.search(rf"(\S+)\s+\d+ / {total}\s*$", page.rstrip()).group(1) for page in pages]
    assert sheets.count(words["sheet.guide"]) == 1
    for name in ("metrics", "fn", "fp", "documents", "confusion"):
        assert words[f"sheet.{name}"].split()[-1] in sheets
    assert words["guide.absent_agreed"] in " ".join(pages[0].split())
    for page, sheet in zip(pages, sheets, strict=True):
        if sheet == "(FN)":
            assert words["column.context"] in page  # the header is repeated
