"""The confusion matrix as a page: what a cell says, what it lists, and that no text of the corpus can act in it."""

from __future__ import annotations

import json
import re
from typing import Any

from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.options import Options
from clueval_xlsx.outputs.html.report import confusion_html
from clueval_xlsx.scoring.matching import confusion, confusion_members
from tests.support.tables import both_ways, pair_of, spans_of

HOSTILE = "</script><script>document.title='owned'</script>"
TABLE = f"""
    token      gold     pred
    <text id="one">
    Ann        B-PER    B-PER
    wrote      O        O
    {HOSTILE.replace(" ", "_")}  B-ORG    B-PER
    to         O        O
    Berlin     B-LOC    O
    and        O        B-ORG
    </text>
"""


def page(language: str = "en") -> str:
    files = pair_of(TABLE.replace("</script>", "&lt;/script&gt;").replace("<script>", "&lt;script&gt;"))
    return confusion_html(evaluate(files, Options(level="exact", labelled="span", replicates=0)), language)


def data_of(html: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    assert match
    return json.loads(match[1])


def test_members_of_cells_are_what_the_matrix_counts() -> None:
    gold = spans_of((0, 1, "A"), (3, 6, "B"), (8, 8, None), (10, 10, "A"))
    pred = spans_of((0, 1, "A"), (2, 3, "A"), (5, 6, "B"), (8, 8, "B"), (12, 13, "C"))
    matched = both_ways(gold, pred)
    names, members = confusion_members(*matched, "span")
    table = confusion(*matched, "span")
    assert names == ["A", "B", "C", "–", ""]
    assert members[["row", "column", "gold", "pred"]].to_numpy().tolist() == [
        [0, 0, 0, 0],
        [1, 1, 1, 2],  # two tokens shared with the second, one with the first
        [3, 1, 2, 3],
        [0, 4, 3, -1],
        [4, 2, -1, 4],
    ]
    assert table.to_numpy().sum() == len(members)
    assert table.loc["B", "B"] == 1


def test_cells_list_their_spans_with_case_and_context() -> None:
    layer = data_of(page())["layers"][0]
    org, person = layer["rows"].index("ORG"), layer["columns"].index("PER")
    [[document, reference, model, case, context]] = layer["cells"][f"{org}-{person}"]
    assert document == "one"
    assert reference == model == HOSTILE.replace(" ", "_")
    assert case.startswith("FN-")
    assert [mark for _, mark in context if mark] == ["both"]
