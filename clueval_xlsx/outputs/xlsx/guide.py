"""The Guide sheet: one page that tells a judge everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from clueval_xlsx.cases.contexts import BOTH, GOLD, NEITHER, PRED, Segment, signed_pieces
from clueval_xlsx.cases.kinds import UM
from clueval_xlsx.cases.order import OrderKind
from clueval_xlsx.outputs.xlsx.book import Worksheet
from clueval_xlsx.outputs.xlsx.cases import FIRST_ROW, CaseSheets
from clueval_xlsx.outputs.xlsx.measure import INDENT, LINE, lines
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.pages.numbers import Numbers
from clueval_xlsx.review.case_words import judgement_entry, severity_entry, sheet_name, span_choice_entry
from clueval_xlsx.review.judgements import SEVERITIES, SPAN_CHOICES, JudgementKind, Role
from clueval_xlsx.words import Words

_WIDTHS = (2, 37, 72, 51)
_GAP = 7.5  # points between two sections


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
        self.gap(1)

    def gap(self, rows: int = 0) -> None:
        """Some room, so many rows further down."""
        self.row += rows
        self.sheet.row(self.row, _GAP)
        self.row += 1

    def notice(self, text: str) -> None:
        """What must be read before anything else."""
        self.sheet.row(self.row, 22)
        self.sheet.across((self.row, 1), 3, text, "notice")
        self.gap(1)

    def form(self, name: str, text: str, style: str) -> None:
        """A line of a form: what is asked, and where the answer goes."""
        self.sheet.row(self.row, 20)
        self.sheet.text((self.row, 1), name, "form_name")
        self.sheet.text((self.row, 2), text, style)
        self.row += 1

    def link(self, name: str, target: str, text: str) -> None:
        """A link to a sheet, and what stands there."""
        self.sheet.row(self.row, 17)
        self.sheet.link((self.row, 1), target, name, "row_link")
        self.sheet.across((self.row, 2), 3, text, "row_name")
        self.row += 1

    def section(self, text: str) -> None:
        self.gap()
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
        most = max(lines(text, width - INDENT) for text, width in zip(texts, widths, strict=True))
        self.sheet.row(self.row, LINE * most + 4)
        for column, (text, style) in enumerate(zip(texts, styles, strict=True), 1):
            if column == len(texts):
                self.sheet.across((self.row, column), 3, text, style)
            else:
                self.sheet.text((self.row, column), text, style)
        self.row += 1


def write_guide(sheet: Worksheet, content: ReviewContent, case_sheets: CaseSheets) -> None:
    """What the workbook is, how to judge, what each judgement means and does, and where to send it."""
    evaluation, options, words, cases = content.evaluation, content.options, content.words, content.cases
    for column, width in enumerate(_WIDTHS):
        sheet.column(column, width)
    page = _GuidePage(sheet)
    pair = evaluation.pair
    conflicts = options.role == Role.CONFLICTS
    page.title(
        words["guide.conflict_title" if conflicts else "guide.title"],
        words("guide.subtitle", gold=_name(pair.gold.source.name), pred=_name(pair.pred.source.name)),
    )
    page.notice(words["guide.enable"])
    page.form(words["guide.judge_name"], options.judge, "input_name")
    sheet.select((page.row - 1, 2))
    page.form(words["guide.send_to"], options.contact or words["guide.sender"], "form_text")
    page.section(words["guide.judgements_title"])
    page.cells([words["column.judgement"], words["guide.meaning"], words["guide.effect"]], ["header"] * 3)
    for judgement in options.judgements:
        if set(cases) & set(judgement.sheets):
            page.cells(_judgement_row(judgement, words, list(cases)), ["row_name_bold", "row_name", "row_name"])
    page.section(words["guide.what_title"])
    what = "what" if not conflicts else "conflict_what_blind" if options.blind else "conflict_what"
    page.paragraph(words[f"guide.{what}"])
    for name in cases:
        first = case_sheets.parts[name][0]
        target = first.sheet.address((FIRST_ROW, first.at["judgement", None]))
        total = case_sheets.total(name)
        listed = words.counted(f"guide.sheet_{name.lower()}", total, count=Numbers(words).count(total).text)
        page.link(sheet_name(name, words), target, listed)
    _how(page, content, case_sheets)
    _colours(page, words, cases, plain=options.plain_signs)
    if options.label_words:
        page.section(words["guide.labels_title"])
        for label, meaning in options.label_words.items():
            page.cells([label, meaning], ["row_name_bold", "row_name"])
    page.section(words["guide.corrections_title"])
    for choice in SPAN_CHOICES:
        page.cells([span_choice_entry(choice, words), words[f"guide.span_{choice}"]], ["row_name_bold", "row_name"])
    page.cells([words["guide.span_typed_name"], words["guide.span_typed"]], ["row_name_bold", "row_name"])
    page.cells([words["column.correct_label"], words["guide.correct_label"]], ["row_name_bold", "row_name"])
    page.section(words["guide.severity_title"])
    for severity in SEVERITIES:
        texts = [severity_entry(severity, words), words[f"guide.severity_{severity}"]]
        page.cells(texts, ["row_name_bold", "row_name"])
    if not conflicts:
        _absent(page, content)
    sheet.print_setup(landscape=False, footer=words["guide.title"], pages=1)
    sheet.print_area((page.row, 3))


def _how(page: _GuidePage, content: ReviewContent, case_sheets: CaseSheets) -> None:
    """How to judge, step by step."""
    words, order = content.words, content.evaluation.order
    page.section(words["guide.how_title"])
    for number in range(1, 6):
        page.paragraph(f"{number}.  {words[f'guide.step_{number}']}")
    if order is not None and order.kind is OrderKind.SUSPICION and content.options.role != Role.CONFLICTS:
        page.paragraph(words["guide.from_the_top"])
    if case_sheets.states.twins.members:
        page.paragraph(words["guide.twins"])
    if not case_sheets.live:
        page.paragraph(words["guide.state_static"])


def _absent(page: _GuidePage, content: ReviewContent) -> None:
    """What is not among the cases at this level."""
    words, options = content.words, content.evaluation.options
    page.section(words["guide.absent_title"])
    page.paragraph(words[f"guide.absent_{options.level}"])
    if options.labelled is None:
        page.paragraph(words["guide.absent_labels"])
    page.paragraph(words["guide.absent_agreed"])


def _colours(page: _GuidePage, words: Words, cases: Mapping[str, pd.DataFrame], *, plain: bool) -> None:
    page.section(words["guide.colours_title"])
    for mark in (BOTH, GOLD, PRED, NEITHER) if UM in cases else (BOTH, GOLD, PRED):
        page.sheet.row(page.row, 17)
        example = signed_pieces([Segment(words["guide.example_words"], mark)], plain=plain)
        page.sheet.rich((page.row, 1), example, "row_name")
        page.sheet.across((page.row, 2), 3, words[f"guide.colour_{mark}"], "row_name")
        page.row += 1


def _judgement_row(judgement: JudgementKind, words: Words, sheets: Sequence[str]) -> list[str]:
    """Words, meaning, effect; and on which sheets it is offered, where it is not on all."""
    name = judgement_entry(judgement, words)
    offered = [sheet for sheet in sheets if sheet in judgement.sheets]
    if len(offered) < len(sheets):
        name = f"{name} ({', '.join(sheet_name(sheet, words) for sheet in offered)})"
    meaning = f"guide.meaning_{judgement.code}"
    effect = words.get(f"guide.effect_of_{judgement.code}") or words[f"guide.effect_{judgement.effect}"]
    return [name, words.get(meaning), effect]


def _name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
