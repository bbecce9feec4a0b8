"""What the cells of a case row came with is known without the workbook: it says the same as the file."""

from __future__ import annotations

import io

import pytest

from clueval_xlsx import ReviewOptions, evaluate_spans, evaluate_tags, write_workbook
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.options import Options
from clueval_xlsx.review.case_sheet import WrittenCells, sheet_columns
from clueval_xlsx.words import Words
from tests.support.workbooks import HEADER_ROW

STRANGE = ["Jay\u00a0B.", "a\x07b", "_x000D_", "=1+1", "Größe", "ŉ", "x" * 40_000, "7", "007", "TRUE", "a\r\nb", "😀"]


def strange() -> Evaluation:
    """Words that a cell cannot hold as they are, each missed once and marked for nothing once."""
    tokens = [word for each in STRANGE for word in (each, "and")]
    marked = ["B-PER", "O"] * len(STRANGE)
    other = ["O", "B-LOC"] * len(STRANGE)
    return evaluate_tags([marked], [other], [tokens], options=Options(replicates=0))


def running_text() -> Evaluation:
    """A text with offsets, one span of each side in part of the other."""
    text = "Herr Jay B. Best und Frau Kay Lee kamen."
    gold = [[{"start": 5, "end": 16, "label": "PER"}, {"start": 26, "end": 33, "label": "PER"}]]
    pred = [[{"start": 0, "end": 11, "label": "ORG"}]]
    return evaluate_spans(gold, pred, [text], options=Options(replicates=0))


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("made", [strange, running_text])
def test_every_static_cell_of_the_file_is_as_written(made, language):
    evaluation, words = made(), Words(language)
    layers = evaluation.pair.layers
    book = io.BytesIO()
    write_workbook(evaluation, book, ReviewOptions(lang=language))
    sheets = {sheet.name: sheet.texts for sheet in read_workbook(book.getvalue(), "review.xlsx").sheets}
    written = WrittenCells.of(evaluation.case_tables, layers, words)
    compared = 0
    for kind, cases in zip(("fn", "fp"), evaluation.case_tables, strict=True):
        header, *rows = sheets[words[f"sheet.{kind}"]][HEADER_ROW - 1 :]
        columns = {column.header: column for column in sheet_columns(cases.columns, layers, words)}
        assert len(rows) == len(cases) > 0
        for case_id, row in zip(cases["case_id"], rows, strict=True):
            for title, text in zip(header, row, strict=True):
                column = columns.get(title)
                if column is None or not column.static:
                    continue
                compared += 1
                assert written.as_written(case_id, column.name, text), (column.name, text[:80])
                assert column.name in written.columns_of(case_id, text)
                assert not written.as_written(case_id, column.name, f"{text} 1")
    assert compared > 15 * sum(map(len, evaluation.case_tables))


def test_what_people_fill_in_and_formulas_calculate_has_no_fingerprint():
    evaluation = running_text()
    written = WrittenCells.of(evaluation.case_tables, evaluation.pair.layers, Words("en"))
    assert not {"state", "judgement", "comment", "correct_label:span", "earlier", "related"} & set(written.prints)
    assert {"context", "number", "case", "case_again", "span", "label:span"} <= set(written.prints)
    sizes = {len(prints) for prints in written.prints.values()}
    assert sizes == {3 * sum(map(len, evaluation.case_tables))}
