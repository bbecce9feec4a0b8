"""The live part of the Metrics sheet: figures that follow the judgements as they are picked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.xlsx.book import Worksheet
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.outputs.xlsx.tables import write_value
from clueval_xlsx.views.case_words import sheet_name
from clueval_xlsx.views.judgement_words import judgement_name
from clueval_xlsx.views.tables import ValueKind

# Which effects of a judgement change the estimate, and how: (sheet, effect) -> added to each count.
# A corrected boundary or label is taken to fit the model; only the re-import knows whether it does.
_CHANGES: dict[tuple[str, str], dict[str, int]] = {
    (FN, "delete"): {"gold": -1},
    (FN, "boundary"): {"tp_gold": 1},
    (FN, "accept"): {"tp_gold": 1},
    (FP, "add"): {"gold": 1, "tp_gold": 1, "tp_pred": 1},
    (FP, "boundary"): {"tp_pred": 1},
    (FP, "accept"): {"tp_pred": 1},
}
_LABEL_CHANGES: dict[tuple[str, str], dict[str, int]] = {  # only where labels must agree
    (FN, "label"): {"tp_gold": 1},
    (FP, "label"): {"tp_pred": 1},
}


@dataclass(frozen=True)
class _LiveCount:
    """One figure: its cell, and what stands in it now."""

    address: str
    value: int


def write_live(sheet: Worksheet, row: int, case_sheets: CaseSheets) -> int:
    """Judgements counted by formulas, and recall and precision if they stand; returns the row behind."""
    content = case_sheets.content
    words, judgements = content.words, content.options.judgements
    sheet.row(row, 22)
    sheet.across((row, 1), 13, words["metrics.live_title"], "section")
    sheet.row(row + 1, 17)
    sheet.text((row + 1, 1), words["metrics.live"], "explanation")
    row += 2
    titles = [words["column.judgement"], sheet_name(FN, words), sheet_name(FP, words)]
    for column, title in enumerate(titles, 1):
        sheet.text((row, column), title, "header" if column == 1 else "header_right")
    states = case_sheets.states
    given = _given(case_sheets)
    counts: dict[tuple[str, str], _LiveCount] = {}
    line = row + 1
    for judgement in judgements:
        if not {FN, FP} & set(judgement.sheets):
            continue
        sheet.text((line, 1), judgement_name(judgement, words), "row_name")
        for column, name in ((2, FN), (3, FP)):
            if name not in judgement.sheets:
                sheet.text((line, column), "–", "undefined")
                continue
            number = states.numbers[judgement.code]
            formula = "+".join(f"COUNTIF({cells},{number})" for cells in case_sheets.ranges(name, "counted")) or "0"
            value = given[name, number]
            sheet.formula((line, column), f"={formula}", value, "count")
            counts[name, judgement.code] = _LiveCount(sheet.range((line, column), (line, column)), value)
        line += 1
    sheet.text((line, 1), words["metrics.judged"], "row_name_bold")
    for column, name in ((2, FN), (3, FP)):
        value = sum(count.value for (kind, _), count in counts.items() if kind == name)
        formula = "+".join(f'COUNTIF({cells},">0")' for cells in case_sheets.ranges(name, "counted")) or "0"
        sheet.formula((line, column), f"={formula}", value, "count")
    sheet.text((line + 1, 1), words["metrics.to_judge"], "row_name")
    for column, name in ((2, FN), (3, FP)):
        sheet.number((line + 1, column), case_sheets.total(name), "count")
    _estimate(sheet, row, content, counts)
    return line + 2


def _given(case_sheets: CaseSheets) -> Counter[tuple[str, int]]:
    """How often each judgement stands in a complete row already, by sheet and number."""
    return Counter(
        (name, case_sheets.states.counted(case_id))
        for name, parts in case_sheets.parts.items()
        for part in parts
        for case_id in part.cases["case_id"]
    )


def _estimate(sheet: Worksheet, row: int, content: ReviewContent, counts: Mapping[tuple[str, str], _LiveCount]) -> None:
    """Raw figures beside those that hold if the judgements stand."""
    evaluation, words, judgements = content.evaluation, content.words, content.options.judgements
    for column, key in ((5, ""), (7, "metrics.raw"), (8, "metrics.estimate")):
        text = words[key] if key else words["metrics.if_they_stand"]
        if column == 5:
            sheet.across((row, 5), 6, text, "header")
        else:
            sheet.text((row, column), text, "header_right")
    changes = {**_CHANGES, **(_LABEL_CHANGES if evaluation.options.labelled else {})}
    headline = evaluation.headline
    cells: dict[str, tuple[str, float]] = {}
    for line, key in enumerate(("gold", "tp_gold", "pred", "tp_pred"), row + 1):
        sheet.across((line, 5), 6, words[f"metrics.{key}"], "row_name")
        raw = float(headline[key])
        sheet.number((line, 7), raw, "count")
        formula, value = sheet.range((line, 7), (line, 7)), raw
        for (name, code), count in counts.items():
            effect = next(judgement.effect for judgement in judgements if judgement.code == code)
            step = changes.get((name, effect), {}).get(key, 0)
            if step:
                formula += f"{'+' if step > 0 else '-'}{count.address}"
                value += step * count.value
        sheet.formula((line, 8), f"={formula}", value, "count")
        cells[key] = (sheet.range((line, 8), (line, 8)), value)
    for line, (key, above, below) in enumerate(
        (("recall", "tp_gold", "gold"), ("precision", "tp_pred", "pred")), row + 5
    ):
        sheet.across((line, 5), 6, words[f"metrics.{key}"], "row_name_bold")
        write_value(sheet, (line, 7), float(headline[key]), ValueKind.RATE, words=words)
        undefined = words["undefined"].replace('"', '""')
        (part, part_value), (whole, whole_value) = cells[above], cells[below]
        value_now: float | str = part_value / whole_value if whole_value else words["undefined"]
        sheet.formula((line, 8), f'=IF({whole}>0,{part}/{whole},"{undefined}")', value_now, "rate_bold")
    sheet.across((row + 7, 5), 13, words["metrics.estimate_note"], "muted")
