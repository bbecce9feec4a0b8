"""The live part of the Metrics sheet: figures that follow the judgements as they are picked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isnan

from clueval_xlsx.cases.kinds import FN, FP, UM
from clueval_xlsx.outputs.xlsx.book import Cell, Formula, Worksheet
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures, quoted
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.case_words import judgement_name, sheet_name

# Which effects of a judgement change the estimate, and how: (sheet, effect) -> added to each count.
# A corrected boundary or label is taken to fit the model; only the re-import knows whether it does.
_CHANGES: dict[tuple[str, str], dict[str, int]] = {
    (FN, "delete"): {"gold": -1},
    (FN, "boundary"): {"tp_gold": 1},
    (FN, "accept"): {"tp_gold": 1},
    (FP, "add"): {"gold": 1, "tp_gold": 1, "tp_pred": 1},
    (FP, "boundary"): {"tp_pred": 1},
    (FP, "accept"): {"tp_pred": 1},
    (UM, "add"): {"gold": 1},
}
_LABEL_CHANGES: dict[tuple[str, str], dict[str, int]] = {  # only where labels must agree
    (FN, "label"): {"tp_gold": 1},
    (FP, "label"): {"tp_pred": 1},
}

_ANY = 0  # stands for any judgement


_LiveCount = tuple[str, int]  # the cell of a figure, and what stands in it now


def write_live(sheet: Worksheet, row: int, case_sheets: CaseSheets, figures: HiddenFigures) -> int:
    """Judgements counted by formulas, and recall and precision if they stand; returns the row behind."""
    content = case_sheets.content
    words, judgements = content.words, content.options.judgements
    sheet.row(row, 22)
    sheet.across((row, 1), 13, words["metrics.live_title"], "section")
    sheet.row(row + 1, 17)
    sheet.text((row + 1, 1), words["metrics.live"], "explanation")
    row += 2
    shown = {column: name for column, name in enumerate((FN, FP, UM), 2) if name != UM or name in content.cases}
    sheet.row(row, 30)  # the names of sheets may need two lines
    titles = [words["column.judgement"], *(sheet_name(name, words) for name in shown.values())]
    for column, title in enumerate(titles, 1):
        sheet.text((row, column), title, "header" if column == 1 else "header_right")
    numbers = case_sheets.states.numbers
    sums = {name: _SheetSums(case_sheets, name, figures) for name in shown.values()}
    counts: dict[tuple[str, str], _LiveCount] = {}
    line = row + 1
    for judgement in judgements:
        if not set(shown.values()) & set(judgement.sheets):
            continue
        sheet.text((line, 1), judgement_name(judgement, words), "row_name")
        for column, name in shown.items():
            if name not in judgement.sheets:
                sheet.text((line, column), "–", "undefined")
                continue
            formula, value = sums[name].of(numbers[judgement.code])
            sheet.formula((line, column), formula, value, "count")
            counts[name, judgement.code] = sheet.range((line, column), (line, column)), value
        line += 1
    sheet.text((line, 1), words["metrics.judged"], "row_name_bold")
    for column, name in shown.items():
        sheet.formula((line, column), *sums[name].of(_ANY), "count")
    sheet.text((line + 1, 1), words["metrics.to_judge"], "row_name")
    for column, name in shown.items():
        sheet.number((line + 1, column), case_sheets.total(name), "count")
    _estimate(sheet, (row, len(titles) + 2), content, counts)
    return line + 2


class _SheetSums:
    """How often each judgement stands in a complete row: counted sheet by sheet, then added up.

    A kind may have hundreds of sheets, and Excel takes 8,192 characters in a formula.
    """

    def __init__(self, case_sheets: CaseSheets, name: str, figures: HiddenFigures) -> None:
        states, parts = case_sheets.states, case_sheets.parts.get(name, [])
        numbers = (_ANY, *states.numbers.values())
        given = [Counter(map(states.holding, part.cases["case_id"])) for part in parts]
        for counts in given:
            counts[_ANY] = sum(count for number, count in counts.items() if number > 0)
        rows: list[list[str | float | Formula]] = [
            [part.sheet.name, *(_counted(part.cells("holding"), number, counts[number]) for number in numbers)]
            for part, counts in zip(parts, given, strict=True)
        ]
        first, _ = figures.table([name, "*", *states.numbers], rows)
        ends = (first, first + max(len(rows), 1) - 1)
        self._cells = {
            number: figures.sheet.range((ends[0], column), (ends[1], column))
            for column, number in enumerate(numbers, 1)
        }
        self._values = {number: sum(counts[number] for counts in given) for number in numbers}

    def of(self, number: int) -> tuple[str, int]:
        """A formula for how many rows of all sheets have the judgement of this number, and its value now."""
        return f"=SUM({self._cells[number]})", self._values[number]


def _counted(cells: str, number: int, value: int) -> Formula:
    """How often a judgement stands in cells."""
    return Formula(f"=COUNTIF({cells},{number})" if number else f'=COUNTIF({cells},">0")', value)


def _estimate(
    sheet: Worksheet, place: Cell, content: ReviewContent, counts: Mapping[tuple[str, str], _LiveCount]
) -> None:
    """Raw figures beside those that hold if the judgements stand."""
    evaluation, words, judgements = content.evaluation, content.words, content.options.judgements
    row, name = place
    raw_column, own_column = name + 2, name + 3
    sheet.across((row, name), name + 1, words["metrics.if_they_stand"], "header")
    sheet.text((row, raw_column), words["metrics.raw"], "header_right")
    sheet.text((row, own_column), words["metrics.estimate"], "header_right")
    changes = {**_CHANGES, **(_LABEL_CHANGES if evaluation.options.labelled else {})}
    headline = evaluation.headline
    cells: dict[str, tuple[str, float]] = {}
    for line, key in enumerate(("gold", "tp_gold", "pred", "tp_pred"), row + 1):
        sheet.across((line, name), name + 1, words[f"metrics.{key}"], "row_name")
        raw = float(headline[key])
        sheet.number((line, raw_column), raw, "count")
        formula, value = sheet.range((line, raw_column), (line, raw_column)), raw
        for (kind, code), (address, count) in counts.items():
            effect = next(judgement.effect for judgement in judgements if judgement.code == code)
            step = changes.get((kind, effect), {}).get(key, 0)
            if step:
                formula += f"{'+' if step > 0 else '-'}{address}"
                value += step * count
        sheet.formula((line, own_column), f"={formula}", value, "count")
        cells[key] = (sheet.range((line, own_column), (line, own_column)), value)
    for line, (key, above, below) in enumerate(
        (("recall", "tp_gold", "gold"), ("precision", "tp_pred", "pred")), row + 5
    ):
        sheet.across((line, name), name + 1, words[f"metrics.{key}"], "row_name_bold")
        if isnan(headline[key]):
            sheet.text((line, raw_column), words["undefined"], "undefined")
        else:
            sheet.number((line, raw_column), float(headline[key]), "rate")
        (part, part_value), (whole, whole_value) = cells[above], cells[below]
        value_now: float | str = part_value / whole_value if whole_value else words["undefined"]
        own = f"=IF({whole}>0,{part}/{whole},{quoted(words['undefined'])})"
        sheet.formula((line, own_column), own, value_now, "rate_bold")
    sheet.across((row + 7, name), 13, words["metrics.estimate_note"], "muted")
