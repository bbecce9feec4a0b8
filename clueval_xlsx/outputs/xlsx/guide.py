"""The Guide sheet: one page that tells a judge everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from clueval_xlsx.cases.contexts import Segment, emoji_pieces
from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.outputs.xlsx.book import Worksheet
from clueval_xlsx.outputs.xlsx.measure import LINE, lines
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import SEVERITIES, SPAN_CHOICES
from clueval_xlsx.views.case_words import class_name, sheet_name
from clueval_xlsx.views.judgement_words import judgement_name, severity_name, span_choice_name
from clueval_xlsx.words import Words

_WIDTHS = (2.5, 30, 42, 58)


class _GuidePage:
    """Writes downwards."""

    def __init__(self, sheet: Worksheet) -> None:
        self.sheet = sheet
        self.row = 0

    def title(self, text: str, subtitle: str) -> None:
        self.sheet.row(self.row, 30)
        self.sheet.text((self.row, 1), text, "title")
        self.row += 1
        self.sheet.across((self.row, 1), 3, subtitle, "subtitle")
        self.row += 2

    def section(self, text: str) -> None:
        self.row += 1
        self.sheet.row(self.row, 20)
        self.sheet.across((self.row, 1), 3, text, "section")
        self.row += 1

    def paragraph(self, text: str) -> None:
        self.sheet.row(self.row, LINE * lines(text, sum(_WIDTHS[1:])) + 4)
        self.sheet.across((self.row, 1), 3, text, "text")
        self.row += 1

    def cells(self, texts: Sequence[str], styles: Sequence[str]) -> None:
        """A table row; the last text may run over the columns that are left."""
        widths = [*_WIDTHS[1 : len(texts)], sum(_WIDTHS[len(texts) :])]
        most = max(lines(text, width) for text, width in zip(texts, widths, strict=True))
        self.sheet.row(self.row, LINE * most + 4)
        for column, (text, style) in enumerate(zip(texts, styles, strict=True), 1):
            if column == len(texts):
                self.sheet.across((self.row, column), 3, text, style)
            else:
                self.sheet.text((self.row, column), text, style)
        self.row += 1


def write_guide(sheet: Worksheet, content: ReviewContent) -> None:
    """What the workbook is, how to judge, what each judgement means and does, and where to send it."""
    evaluation, options, words, cases = content.evaluation, content.options, content.words, content.cases
    for column, width in enumerate(_WIDTHS):
        sheet.column(column, width)
    page = _GuidePage(sheet)
    pair = evaluation.pair
    page.title(
        words["guide.title"],
        words("guide.subtitle", gold=_name(pair.gold.source.name), pred=_name(pair.pred.source.name)),
    )
    for label, text in (
        (words["guide.judge_name"], options.judge),
        (words["guide.send_to"], options.contact or words["guide.sender"]),
    ):
        sheet.row(page.row, 20)
        sheet.text((page.row, 1), label, "form_name")
        sheet.text((page.row, 2), text, "input_name" if label == words["guide.judge_name"] else "form_text")
        if label == words["guide.judge_name"]:
            sheet.select((page.row, 2))
        page.row += 1
    page.section(words["guide.what_title"])
    counts = {name: len(table) for name, table in cases.items()}
    page.paragraph(words("guide.what", missed=counts.get(FN, 0), unsupported=counts.get(FP, 0)))
    page.section(words["guide.how_title"])
    for number in range(1, 6):
        page.paragraph(f"{number}.  {words[f'guide.step_{number}']}")
    _colours(page, words)
    page.section(words["guide.judgements_title"])
    page.cells([words["column.judgement"], words["guide.meaning"], words["guide.effect"]], ["header"] * 3)
    for judgement in options.judgements:
        if not set(cases) & set(judgement.sheets):
            continue
        page.cells(_judgement_row(judgement, words, list(cases)), ["row_name_bold", "row_name", "row_name"])
    _classes(page, words, cases)
    page.section(words["guide.corrections_title"])
    for choice in SPAN_CHOICES:
        page.cells([span_choice_name(choice, words), words[f"guide.span_{choice}"]], ["row_name_bold", "row_name"])
    page.cells([words["guide.span_typed_name"], words["guide.span_typed"]], ["row_name_bold", "row_name"])
    page.cells([words["column.correct_label"], words["guide.correct_label"]], ["row_name_bold", "row_name"])
    page.section(words["guide.severity_title"])
    for severity in SEVERITIES:
        page.cells([severity_name(severity, words), words[f"guide.severity_{severity}"]], ["row_name_bold", "row_name"])
    page.section(words["guide.absent_title"])
    level = evaluation.options.level
    page.paragraph(words[f"guide.absent_{level}"])
    if evaluation.options.labelled is None:
        page.paragraph(words["guide.absent_labels"])
    page.paragraph(words["guide.absent_agreed"])
    page.row += 1
    sheet.row(page.row, LINE * 2)
    sheet.across((page.row, 1), 3, evaluation.signature, "muted_wrap")
    sheet.print_setup(landscape=False, footer=words["guide.title"], pages=1)
    sheet.print_area((page.row, 3))


def _colours(page: _GuidePage, words: Words) -> None:
    page.section(words["guide.colours_title"])
    for mark in ("both", "gold", "pred"):
        page.sheet.row(page.row, 17)
        example = emoji_pieces([Segment(words["guide.example_words"], mark)])
        page.sheet.rich((page.row, 1), example, "row_name")
        page.sheet.across((page.row, 2), 3, words[f"guide.colour_{mark}"], "row_name")
        page.row += 1


def _classes(page: _GuidePage, words: Words, cases: Mapping[str, pd.DataFrame]) -> None:
    """What the words in the column Class mean: those that occur."""
    found = {name for table in cases.values() for name in table["class"].unique()}
    if found:
        page.section(words["guide.classes_title"])
    for name in (name for name in CLASSES if name in found):
        page.cells([class_name(name, words), words[f"guide.class_{name}"]], ["row_name_bold", "row_name"])


def _judgement_row(judgement: Judgement, words: Words, sheets: Sequence[str]) -> list[str]:
    """Words, meaning, effect; and on which sheets it is offered, where it is not on all."""
    name = judgement_name(judgement, words)
    offered = [sheet for sheet in sheets if sheet in judgement.sheets]
    if len(offered) < len(sheets):
        name = f"{name} ({', '.join(sheet_name(sheet, words) for sheet in offered)})"
    meaning = f"guide.meaning_{judgement.code}"
    return [name, words.get(meaning), words[f"guide.effect_{judgement.effect}"]]


def _name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
