"""What the workbook tests share: the example evaluated, workbooks written and opened, columns by header."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.worksheet.worksheet import Worksheet

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.resources import resource_folder
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.manifest import Manifest, decode
from tests.support.tables import Sides, pair_of

HEADER_ROW = 3  # of the case sheets, counted from 1
TABS = {"FN": "Missed (FN)", "FP": "Unsupported (FP)", "AG": "Agreed", "UM": "Unmarked"}  # in English
FIRST = HEADER_ROW + 1
LOOKS = {
    "": "1F2933",
    "emoji": "1F2933",
    "both": "1B7F3Bb",
    "gold": "B3261Ebu",
    "pred": "B35900bi",
}  # as `runs` says them
ONE_LAYER = """
    token    gold   pred
    <s>
    Ann      B-PER  B-PER
    Lee      I-PER  O
    of       O      O
    Bonn     O      B-LOC
    .        O      O
    </s>
"""
EXAMPLE_READING = ReadOptions(layers={"category": 2, "risk": 3}, token_id=4)


@cache
def example(**options: Any) -> Evaluation:
    """The example files, evaluated."""
    folder = resource_folder("examples")
    readings = [
        read(io.BytesIO((folder / name).read_bytes()), EXAMPLE_READING, name=name) for name in ("gold.vrt", "pred.vrt")
    ]
    return evaluate(make_pair(*readings), Options(**{"replicates": 50, **options}))


def evaluated(table: str | Sides, reading: Mapping[str, Any] | None = None, **options: Any) -> Evaluation:
    """A table as `tests.support.tables.cut` takes it, evaluated."""
    return evaluate(pair_of(table, **(reading or {})), Options(**{"replicates": 0, **options}))


def written(evaluation: Evaluation, options: Handout | None = None, **more: Any) -> bytes:
    """The workbook's bytes."""
    target = io.BytesIO()
    write_workbook(evaluation, target, options, **more)
    return target.getvalue()


def opened(content: bytes | Path, *, values: bool = False) -> openpyxl.Workbook:
    """A workbook in openpyxl, with rich text; with `values` the stored results stand in place of formulas."""
    source = content if isinstance(content, Path) else io.BytesIO(content)
    return openpyxl.load_workbook(source, rich_text=True, data_only=values)


def headers(sheet: Worksheet) -> list[str]:
    """The headers of a case sheet."""
    return [str(cell.value) for cell in sheet[HEADER_ROW] if cell.value is not None]


def column(sheet: Worksheet, header: str) -> list[Any]:
    """The cells of a case sheet's column, below the header."""
    index = headers(sheet).index(header) + 1
    return [sheet.cell(row, index) for row in range(HEADER_ROW + 1, sheet.max_row + 1)]


def texts(sheet: Worksheet, header: str) -> list[str]:
    """The texts of a case sheet's column; an empty cell is the empty string."""
    return ["" if cell.value is None else str(cell.value) for cell in column(sheet, header)]


def runs(value: Any) -> list[tuple[str, str]]:
    """The runs of a rich text as (text, look): colour and then b, i, u."""
    if not isinstance(value, CellRichText):
        return [(str(value), "")]
    found = []
    for part in value:
        if isinstance(part, TextBlock):
            font = part.font
            look = "".join(sign for sign, on in (("b", font.b), ("i", font.i), ("u", font.u)) if on)
            found.append((part.text, f"{font.color.rgb[2:] if font.color else ''}{look}"))
        else:
            found.append((str(part), ""))
    return found


def manifest_of(book: openpyxl.Workbook) -> Manifest:
    """The manifest on the hidden sheet."""
    sheet = book["clueval_manifest"]
    return decode("".join(str(row[0]) for row in sheet.iter_rows(values_only=True)))


def find(sheet: Worksheet, text: str) -> tuple[int, int]:
    """Row and column of the first cell with this text."""
    for row in sheet.iter_rows():
        for cell in row:
            if cell.value is not None and str(cell.value) == text:
                return cell.row, cell.column
    raise AssertionError(f"{text!r} is not on sheet {sheet.title}")


def answers_for(evaluation):
    """Judgements for some cases, all effects among them."""
    missed, unsupported = (list(table["case_id"]) for table in evaluation.case_tables)
    codes = {
        "FN": ["gold_wrong", "gold_wrong", "boundary", "acceptable", "model_error", "unclear", "label"],
        "FP": ["boundary", "gold_missing", "gold_missing", "gold_missing", "acceptable", "model_error"],
    }
    answers = {case: Judgement(code) for case, code in zip(missed, codes["FN"], strict=False)}
    crossed = list(evaluation.case_tables[1]["class"]).index("partial")  # where the reference has a span to correct
    others = [case for place, case in enumerate(unsupported) if place != crossed]
    answers |= {case: Judgement(code) for case, code in zip(others, codes["FP"][1:], strict=False)}
    answers[unsupported[crossed]] = Judgement(codes["FP"][0], "as_model")
    answers[missed[6]] = Judgement("label", correct_labels={"category": "CONTACT"})
    answers[missed[2]] = Judgement("boundary", "as_reference", {"risk": "MEDIUM"}, "direct", "= not a formula")
    answers[missed[10]] = Judgement(comment="only a comment")
    return answers, codes


def live_figures(sheet):
    """The live figures: judgement counts by words, and estimates by words."""
    top, left = find(sheet, "Judgement")
    counts, row = {}, top + 1
    while sheet.cell(row, left).value != "cases in this workbook":
        counts[sheet.cell(row, left).value] = (sheet.cell(row, left + 1).value, sheet.cell(row, left + 2).value)
        row += 1
    top, left = find(sheet, "If the judgements stand")
    estimate = {
        sheet.cell(line, left).value: (sheet.cell(line, left + 2).value, sheet.cell(line, left + 3).value)
        for line in range(top + 1, top + 7)
    }
    return counts, estimate


def renamed_judge(data: bytes, old: str, new: str) -> bytes:
    """The workbook of another judge: wherever one name stands alone in a cell, the other does."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value == old:
                    cell.value = new
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()
