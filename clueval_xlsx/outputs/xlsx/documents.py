"""The Documents sheet: one row a document, with a link to its first case."""

from __future__ import annotations

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx.book import Sheet
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.tables import write_count, write_rate
from clueval_xlsx.words import Words

_HEADER_ROW = 3
_COUNTS = ("gold", "tp_gold", "fn", "recall", "pred", "tp_pred", "fp", "precision")


def write_documents(sheet: Sheet, evaluation: Evaluation, words: Words, case_sheets: CaseSheets) -> None:
    """Counts, rates, leak-free or not, and where the first case of the document stands."""
    options, corpus = evaluation.options, evaluation.pair.corpus
    rows = evaluation.select(
        scheme="clueval", level=options.level, labelled=options.labelled, group_key="document", layer=None
    )
    keys = [
        key
        for key in dict.fromkeys(
            key for index in range(len(corpus.documents)) for key in corpus.documents.attributes(index)
        )
        if key != "id"
    ]
    headers = [words["column.document"], *keys, words["documents.tokens"]]
    headers += [words(f"metrics.{key}", beta=f"{options.beta:g}") for key in _COUNTS]
    headers += [words["documents.leak_free"], words["documents.first_case"]]
    sheet.row(0, 30)
    sheet.text((0, 0), words["documents.title"], "title")
    sheet.text((1, 0), words["documents.explanation"], "subtitle")
    sheet.row(_HEADER_ROW, 44)  # two lines, and room for the buttons of the filter below them
    for column, header in enumerate(headers):
        is_text = column <= len(keys) or column == len(headers) - 1
        style = "header_filter" if is_text else "header_filter_right"
        sheet.text((_HEADER_ROW, column), header, "header_filter_centre" if column == len(headers) - 2 else style)
        sheet.column(column, 34 if column == 0 else 16 if column <= len(keys) else 12)
    sheet.column(len(headers) - 1, 20)

    first = _first_cases(case_sheets)
    number = {doc_id: index for index, doc_id in enumerate(corpus.doc_ids)}
    for row, record in enumerate(rows.to_dict("records"), _HEADER_ROW + 1):
        doc_id = record["group"]
        index = number[doc_id]  # documents may have been left out
        sheet.text((row, 0), doc_id, "row_name")
        attributes = corpus.documents.attributes(index)
        for column, key in enumerate(keys, 1):
            sheet.text((row, column), attributes.get(key, ""), "row_name")
        column = len(keys) + 1
        sheet.number((row, column), int(corpus.documents.stop[index] - corpus.documents.start[index]), "count")
        for offset, key in enumerate(_COUNTS, column + 1):
            if key in {"recall", "precision"}:
                write_rate(sheet, (row, offset), record[key], words)
            else:
                write_count(sheet, (row, offset), record[key])
        column += len(_COUNTS) + 1
        sheet.text((row, column), words["yes"] if record["fn"] == 0 else words["no"], "centre")
        case_id = first.get(doc_id)
        if case_id is None:
            sheet.text((row, column + 1), "", "row_name")
        else:
            place, case_row = case_sheets.places[case_id]
            sheet.link((row, column + 1), place.address((case_row, 0)), case_id, "row_link")
    last = _HEADER_ROW + max(len(rows), 1)
    sheet.filter((_HEADER_ROW, 0), (last, len(headers) - 1))
    sheet.freeze(_HEADER_ROW + 1, 1)
    sheet.print_setup(landscape=True, header_row=_HEADER_ROW, footer=words["documents.title"])


def _first_cases(case_sheets: CaseSheets) -> dict[str, str]:
    """The first case of each document, a missed one if there is any."""
    first: dict[str, str] = {}
    for name in (FN, FP):
        for part in case_sheets.parts.get(name, []):
            for doc_id, case_id in zip(part.cases["document"], part.cases["case_id"], strict=True):
                first.setdefault(doc_id, case_id)
    return first
