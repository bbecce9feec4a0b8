"""How the review workbook is written: options, limits, streaming, refusals of the library."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO

import pytest
import xlsxwriter.worksheet
from openpyxl.utils import get_column_letter
from python_calamine import CalamineWorkbook

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.outputs.xlsx import Handout, review
from clueval_xlsx.outputs.xlsx.book import Book
from clueval_xlsx.outputs.xlsx.hidden import quoted
from clueval_xlsx.review.judgements import JUDGEMENTS, custom_judgements
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.workbooks import (
    FIRST,
    TABS,
    answers_for,
    column,
    evaluated,
    example,
    find,
    headers,
    live_figures,
    manifest_of,
    opened,
    texts,
    written,
)

LINK = re.compile(r"""=HYPERLINK\("#'([^']+)'!D"&MATCH\("(\S+)",(.+),0\),"\S+ \d+( \(\+\d+\))?"\)""")


@pytest.fixture(scope="module")
def book():
    return opened(written(example()))


def test_sheets_are_unprotected_unless_asked_for(book):
    assert not any(sheet.protection.sheet for sheet in book)
    locked = opened(written(example(), Handout(lock_cells=True)))
    for sheet in locked:
        assert sheet.protection.sheet
        assert not sheet.protection.autoFilter  # false: allowed
        assert sheet.protection.sort  # true: not allowed, it would part judgements from their cases


def test_more_cases_than_rows_continue_on_further_sheets():
    evaluation = example()
    answers, _ = answers_for(evaluation)
    content = written(evaluation, Handout(max_rows=5, answers=answers))
    book, values = opened(content), opened(content, values=True)
    names = [name for name in book.sheetnames if name.startswith(TABS["FN"])]
    assert names == [TABS["FN"], *(f"{TABS['FN']} {number}" for number in (2, 3, 4, 5))]
    shown = [case for name in names for case in texts(book[name], "Case ID")]
    assert shown == list(evaluation.case_tables[0]["case_id"])
    for name in names:
        done = sum(state.startswith(("✓", "↔")) for state in texts(values[name], "State"))
        assert values[name]["D1"].value == f"{done} of {len(texts(values[name], 'State'))} done"
    counts, _ = live_figures(values["Metrics"])
    assert counts["judged"] == (7, 6)
    row, left = find(book["Metrics"], "judged")
    first, last = re.fullmatch(
        r"=SUM\(clueval_figures!\$B\$(\d+):\$B\$(\d+)\)", book["Metrics"].cell(row, left + 1).value
    ).groups()
    counted = [book["clueval_figures"].cell(line, 2).value for line in range(int(first), int(last) + 1)]
    assert counted == [f'=COUNTIF({own_name(name)}!{counted_cells(book[name])},">0")' for name in names]
    linked = 0
    for name in names:
        for cell in column(book[name], "See also"):
            if cell.value:
                target, case_id, range_ = LINK.fullmatch(cell.value).groups()[:3]
                sheet, _, area = range_.rpartition("!")
                assert target == sheet.strip("'")
                assert case_id in [line[0].value for line in book[target][area.replace("$", "")]]
                linked += 1
    assert linked


def own_name(name):
    return f"'{name}'"


def counted_cells(sheet):
    letter = get_column_letter(headers(sheet).index("Judgement that holds") + 1)
    last = f":${letter}${sheet.max_row}" if sheet.max_row > FIRST else ""
    return f"${letter}${FIRST}{last}"


OWN = custom_judgements(
    {code: {"effect": "gold_wrong", "en": f"{code} public figure " * 9} for code in ("first", "second")}
)


def test_every_formula_of_a_row_and_of_what_it_reads_has_under_600_characters():
    """Also where a case has many linked ones, twins, and long words beside it."""
    tokens = ["Ann B-PER B-PER", *(f"Lee{number} I-PER {'B' if number % 2 else 'O'}-PER" for number in range(80))]
    tokens += ["Kay B-PER O", ". O O"] * 12
    table = "token gold pred\n" + "\n".join(line.replace("O-PER", "O") for line in tokens) + "\n"
    for evaluation in (evaluated(table, level="exact"), example(level="exact")):
        book = opened(written(evaluation, Handout(lang="de", judgements=(*JUDGEMENTS, *OWN))))
        cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
        assert len(cells) > 1_000
        assert max(len(str(cell.value)) for cell in cells) <= 600


def test_a_formula_that_excel_refuses_is_not_written():
    with pytest.raises(OutputError) as raised, Book(BytesIO(), title="") as book:
        book.sheet("Missed").formula((2, 1), "=" + "+".join(["A1"] * 2732), 0, "plain")
    assert "Missed!B3 would have a formula of 8,196 characters, allowed are 8,000" in str(raised.value)


@pytest.mark.parametrize("text", ["a" * 255, "a" * 256, '"' * 700, "😀" * 400, ""])
def test_long_texts_stand_in_formulas_in_pieces(text):
    pieces = re.findall(r'"((?:[^"]|"")*)"', quoted(text))
    assert "".join(piece.replace('""', '"') for piece in pieces) == text
    assert all(len(piece.replace('""', '"').encode("utf-16-le")) // 2 <= 255 for piece in pieces)


def test_a_selection_of_cases_can_be_written():
    missed, unsupported = example().case_tables
    chosen = {"FN": missed.iloc[3:6], "FP": unsupported.iloc[:0]}
    book = opened(written(example(), cases=chosen))
    assert texts(book[TABS["FN"]], "Case ID") == list(missed["case_id"][3:6])
    assert manifest_of(book).cases == {"FN": 3, "FP": 0}
    assert texts(book[TABS["FN"]], "No.") == ["4", "5", "6"]  # as in the whole
    assert not any(cell.value for cell in column(book[TABS["FN"]], "See also"))  # the other side is not there


def test_the_same_run_gives_the_same_bytes(monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    paths = []
    for name in ("a", "b"):
        paths.append(tmp_path / f"{name}.xlsx")
        review.write_workbook(example(), paths[-1])
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert opened(first).properties.created.isoformat() == "2023-11-14T22:13:20"


def test_no_formula_is_without_a_value():
    with zipfile.ZipFile(BytesIO(written(example(level="exact")))) as archive:
        sheets = [archive.read(part).decode() for part in archive.namelist() if part.startswith("xl/worksheets/sheet")]
    cells = [cell for sheet in sheets for cell in re.findall(r"<c ([^>]*)><f>[^<]*</f><v>([^<]*)</v>", sheet)]
    empty = [attributes for attributes, value in cells if not value]
    assert empty  # States of open cases, for one
    assert all('t="str"' in attributes for attributes in empty)


@pytest.mark.parametrize(
    "method",
    [
        "_write_string",
        "_write_rich_string",
        "_write_number",
        "_write_blank",
        "_write_formula",
        "_write_url",
        "data_validation",
        "conditional_format",
        "insert_chart",
        "autofilter",
        "merge_range",
        "set_row",
        "set_column",
        "repeat_rows",
        "print_area",
    ],
)
def test_every_refusal_of_the_library_is_raised(monkeypatch, method):
    assert hasattr(xlsxwriter.worksheet.Worksheet, method)
    monkeypatch.setattr(xlsxwriter.worksheet.Worksheet, method, lambda *_, **__: -2)
    with pytest.raises(OutputError, match="-2"):
        written(example(level="exact", by=("domain",)))


def test_sheet_names_are_made_to_fit():
    with Book(BytesIO(), title="x") as book:
        names = [book.sheet(name).name for name in ("a/b:c", "A B C", "'quoted'", "History", "長" * 40, "", "x" * 31)]
        more = [book.sheet("x" * 31).name for _ in range(2)]
    assert names == ["a b c", "A B C 2", "quoted", "History 2", "長" * 31, "Sheet", "x" * 31]
    assert more == [f"{'x' * 27} 2", f"{'x' * 27} 3"]


def test_evaluate_writes_review_xlsx_by_default(monkeypatch, tmp_path, examples):
    monkeypatch.chdir(tmp_path)
    result = run(
        "evaluate", examples / "gold.vrt", examples / "pred.vrt", *EXAMPLE_OPTIONS, "--set", "score.replicates=0"
    )
    assert result.code == 0, result.err
    assert [path.name for path in tmp_path.iterdir()] == ["review.xlsx"]
    names = CalamineWorkbook.from_path(str(tmp_path / "review.xlsx")).sheet_names
    assert names[:6] == ["Guide", TABS["FN"], TABS["FP"], "Metrics", "Documents", "Confusion"]


def test_layers_that_are_not_merged_get_a_workbook_each(tmp_path, examples):
    target = tmp_path / "review.xlsx"
    result = run(
        "evaluate",
        examples / "gold.vrt",
        examples / "pred.vrt",
        *EXAMPLE_OPTIONS,
        "--no-merge",
        "--lang",
        "de",
        "--context",
        3,
        "-o",
        target,
    )
    assert result.code == 0, result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["review-category.xlsx", "review-risk.xlsx"]
    for layer in ("category", "risk"):
        book = opened(tmp_path / f"review-{layer}.xlsx")
        assert manifest_of(book).layers == (layer,)
        assert "Kategorie" in headers(book["Übersehen (FN)"])


def cells(path):
    """All cells of a workbook; formulas that rows share are translated for each."""
    return {sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()] for sheet in opened(path)}
