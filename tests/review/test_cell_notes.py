"""Notes that a judge attaches to cells of a case row come back as its comment; looks alone say nothing."""

from __future__ import annotations

import io
import zipfile

import openpyxl
import pytest
from openpyxl.comments import Comment

from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.review.judgements import JUDGEMENTS
from clueval_xlsx.review.reading import read_judgements, read_manifest
from clueval_xlsx.review.review_sheets import SheetWords
from tests.support.office import case_rows, columns
from tests.support.workbooks import FIRST, TABS, example, headers, written

MISSED = TABS["FN"]
_THREADS = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
_RELATION = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"


def read(data):
    """What a workbook says."""
    tables = read_workbook(data, "review.xlsx").sheets
    manifest = read_manifest(tables, "review.xlsx")
    return read_judgements(tables, "review.xlsx", manifest, SheetWords(("category", "risk"), JUDGEMENTS))


def comments(data):
    """The comments of the rows that somebody filled in, by case."""
    return {row.record.case_id: (row.record.code, row.record.comment) for row in read(data).rows}


def edited(edit):
    """The example's workbook after an edit with openpyxl."""
    book = openpyxl.load_workbook(io.BytesIO(written(example(), Handout())))
    sheet = book[MISSED]
    cases = [cell.value for cell in sheet[openpyxl.utils.get_column_letter(headers(sheet).index("Case ID") + 1)]]
    edit(sheet, {name: place for place, name in enumerate(headers(sheet), 1)})
    target = io.BytesIO()
    book.save(target)
    return target.getvalue(), cases[FIRST - 1 :]


def test_an_excel_note_anywhere_in_a_case_row_comes_back_behind_its_comment():
    def edit(sheet, at):
        sheet.cell(FIRST, at["Judgement"], "1")
        sheet.cell(FIRST, at["Comment"], "typed")
        sheet.cell(FIRST, at["Judgement"]).comment = Comment("Anna:\nsee the\nnext case", "Anna")
        sheet.cell(FIRST + 1, at["Context"]).comment = Comment("ask the chamber", "Anna")
        sheet.cell(1, 1).comment = Comment("nice sheet", "Anna")

    data, cases = edited(edit)
    assert comments(data) == {
        cases[0]: ("model_error", "typed / see the next case"),
        cases[1]: ("", "ask the chamber"),
    }
    assert [note for note in read(data).notes if "'nice sheet' is attached to no row of a case" in note]


def threaded(threads):
    """The example's workbook with a note at the first judgement, and beside it a part with these threads."""

    def edit(sheet, at):
        sheet.cell(FIRST, at["Judgement"]).comment = Comment("[Threaded comment] Your version of Excel …", "tc={1}")

    data, cases = edited(edit)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    related = next(name for name, content in parts.items() if name.endswith(".rels") and b"/comments" in content)
    link = f'<Relationship Id="rId99" Type="{_RELATION}" Target="../threadedComments/threadedComment1.xml"/></Relation'
    parts[related] = parts[related].replace(b"</Relation", link.encode(), 1)
    parts["xl/threadedComments/threadedComment1.xml"] = threads.encode()
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue(), cases


def test_a_threaded_comment_counts_with_its_answers_and_its_placeholder_does_not():
    cell = f"{openpyxl.utils.get_column_letter(4)}{FIRST}"
    data, cases = threaded(
        f'<ThreadedComments xmlns="{_THREADS}">'
        f'<threadedComment ref="{cell}" id="{{1}}"><text>Is this a name?</text></threadedComment>'
        f'<threadedComment ref="{cell}" id="{{2}}" parentId="{{1}}"><text>Yes &amp; no</text></threadedComment>'
        "</ThreadedComments>"
    )
    assert comments(data) == {cases[0]: ("", "Is this a name? / Yes & no")}


@pytest.mark.office
@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_a_comment_made_in_libreoffice_comes_back(office, tmp_path, ending):
    path = tmp_path / "review.xlsx"
    path.write_bytes(written(example(), Handout()))
    book = office.open(path)
    at = columns(book, MISSED)
    cases = {row: case for case, row in case_rows(book, MISSED).items()}
    book.enter(MISSED, f"{at['Judgement']}{FIRST}", "1")
    book.annotate(MISSED, f"{at['Judgement']}{FIRST}", "first line\nsecond line")
    book.annotate(MISSED, f"{at['Context']}{FIRST + 2}", "ask the chamber")
    saved = book.save(tmp_path / f"back{ending}")
    book.close()
    assert comments(saved.read_bytes()) == {
        cases[FIRST]: ("model_error", "first line second line"),
        cases[FIRST + 2]: ("", "ask the chamber"),
    }
