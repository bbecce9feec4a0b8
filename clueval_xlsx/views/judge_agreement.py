"""How far judges agree, as a small matrix: a row for what is compared and by whom, a column for each measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.review.agreement import ALPHA, COHEN, FLEISS, RAW
from clueval_xlsx.review.case_words import sheet_name
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clueval_xlsx.review.adjudication import Adjudication

FEW = 10  # what rests on fewer cases is shown in grey
_MEASURES = (RAW, COHEN, FLEISS, ALPHA)
_NONE = float("nan")


def agreement_matrix(run: Adjudication, words: Words) -> TableView:
    """All measures over the same cases of the same judges stand in one row, beside the number of these cases."""
    found: dict[tuple[str, str, int], dict[str, float]] = {}
    for line in run.agreement.to_dict("records"):
        key = (_over(line, words), str(line["judges"]), int(line["cases"]))
        found.setdefault(key, {})[line["measure"]] = float(line["value"])
    shown = [measure for measure in _MEASURES if any(measure in values for values in found.values())]
    everybody = {judges for _, judges, _ in found}
    alike = len(everybody) == 1  # then the note names them once
    columns = [TableColumn("over", words["adjudicated.over"])]
    columns += [] if alike else [TableColumn("judge_name", words["adjudicated.judge_name"])]
    columns.append(TableColumn("number", words["adjudicated.number"], ValueKind.COUNT))
    columns += [TableColumn(each, words[f"adjudicated.measure_{each}"], ValueKind.MEASURE) for each in shown]
    rows: list[TableRow] = [
        (over, *(() if alike else (judges,)), cases, *(values.get(measure, _NONE) for measure in shown))
        for (over, judges, cases), values in found.items()
    ]
    faint = frozenset(place for place, (_, _, cases) in enumerate(found) if cases < FEW)
    note = words("adjudicated.agreement_counts", few=FEW)
    note = f"{words['adjudicated.judge_name']}: {everybody.pop()}. {note}" if alike else note
    empty = words["adjudicated.none_agreement"]
    return TableView("agreement", words["adjudicated.agreement"], tuple(columns), tuple(rows), note, empty, faint)


def _over(line: Mapping[str, object], words: Words) -> str:
    if isinstance(line["label"], str):
        return f"{line['layer']}: {line['label']}"
    if isinstance(line["sheet"], str):
        return sheet_name(line["sheet"], words)
    return words["adjudicated.over_all"]
