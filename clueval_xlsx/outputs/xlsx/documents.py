"""The Documents sheet: one row a document, with a link to its first case."""

from __future__ import annotations

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.xlsx.book import Cell, Worksheet
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.styles import BAR
from clueval_xlsx.outputs.xlsx.tables import write_value
from clueval_xlsx.views.documents import DocumentList, DocumentView, document_list
from clueval_xlsx.views.scores import document_columns
from clueval_xlsx.views.tables import TableColumn, ValueKind
from clueval_xlsx.words import Words

_HEADER_ROW = 3


def write_documents(sheet: Worksheet, case_sheets: CaseSheets) -> None:
    """Counts, rates, leak-free or not, and where the first case of the document stands."""
    content = case_sheets.content
    words = content.words
    shown = [part.cases for name in (FN, FP) for part in case_sheets.parts.get(name, [])]
    documents = document_list(content.evaluation, shown)
    columns = document_columns(words)
    sheet.row(0, 30)
    sheet.text((0, 0), words["documents.title"], "title")
    sheet.text((1, 0), words["documents.explanation"], "subtitle")
    last_column = _header(sheet, documents, columns, words)
    rows = [row for row in documents.rows if row.scores is not None]  # documents may have been left out
    for line, row in enumerate(rows, _HEADER_ROW + 1):
        sheet.text((line, 0), row.name, "row_name")
        for column, key in enumerate(documents.keys, 1):
            sheet.text((line, column), row.attributes.get(key, ""), "row_name")
        column = len(documents.keys) + 1
        sheet.number((line, column), row.tokens, "count")
        values = row.scores.values if row.scores else {}
        for offset, each in enumerate(columns, column + 1):
            write_value(sheet, (line, offset), values[each.key], each.kind, words=words)
        sheet.text((line, last_column - 1), words["yes" if row.leak_free else "no"], "centre")
        _link(sheet, (line, last_column), row, case_sheets)
    if rows:
        _looks(sheet, len(documents.keys) + 2, columns, (_HEADER_ROW + len(rows), last_column - 1), words)
    sheet.filter((_HEADER_ROW, 0), (_HEADER_ROW + max(len(rows), 1), last_column))
    sheet.freeze(_HEADER_ROW + 1, 1)
    sheet.print_setup(landscape=True, header_row=_HEADER_ROW, footer=words["documents.title"])


def _looks(sheet: Worksheet, first: int, columns: tuple[TableColumn, ...], last: Cell, words: Words) -> None:
    """Bars behind the rates; a colour for documents with a leak and for those without; `last` is that column's end."""
    last_row, leaks = last
    for place, column in enumerate(columns, first):
        if column.kind is ValueKind.RATE:
            sheet.bars((_HEADER_ROW + 1, place), (last_row, place), BAR)
    cell = sheet.in_column((_HEADER_ROW + 1, leaks))
    for answer, style in (("yes", "if_done"), ("no", "if_strange")):
        sheet.highlight((_HEADER_ROW + 1, leaks), last, f'=EXACT({cell},"{words[answer]}")', style)


def _header(sheet: Worksheet, documents: DocumentList, columns: tuple[TableColumn, ...], words: Words) -> int:
    """The headings; returns the last column."""
    texts = (TableColumn("document", words["column.document"]), *(TableColumn(key, key) for key in documents.keys))
    tokens = TableColumn("tokens", words["documents.tokens"], ValueKind.COUNT)
    last = (TableColumn("leak_free", words["documents.leak_free"]), TableColumn("first", words["documents.first_case"]))
    sheet.row(_HEADER_ROW, 44)  # two lines, and room for the buttons of the filter below them
    everything = (*texts, tokens, *columns, *last)
    for place, column in enumerate(everything):
        style = "header_filter_name" if column.kind is ValueKind.TEXT else "header_filter_right"
        sheet.text((_HEADER_ROW, place), column.title, "header_filter_centre" if column.key == "leak_free" else style)
        sheet.column(place, 34 if place == 0 else 16 if place < len(texts) else 12)
    return len(everything) - 1


def _link(sheet: Worksheet, cell: Cell, row: DocumentView, case_sheets: CaseSheets) -> None:
    if not row.first_case:
        sheet.text(cell, "", "row_name")
        return
    link = case_sheets.link_to(row.first_case)
    sheet.formula(cell, link.text, link.value, "row_link")
