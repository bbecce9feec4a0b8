"""Twins in hand-outs, samples, later rounds, conflict workbooks, editions without text, and broken workbooks."""

from __future__ import annotations

import io
from collections import Counter

import openpyxl
import pytest

from clueval_xlsx.cases.twins import groups_of
from clueval_xlsx.outputs.xlsx.review import write_conflicts
from clueval_xlsx.review.assignment import select
from clueval_xlsx.review.judgements import Judgement, Scope
from clueval_xlsx.review.reimport import reimport
from tests.support.judging import judged, spans, workbook
from tests.support.tables import cut
from tests.support.workbooks import TABS

pytestmark = pytest.mark.slow

ALL, DOCUMENT = Scope.ALL, Scope.DOCUMENT


def document(number: int) -> str:
    """Two Kays that were missed, one Lea that was found, one name of its own that was missed."""
    return f"""
    <text id="d{number}">
    <s>
    Kay    B-PER  O
    rief   O      O
    kay    B-PER  O
    Lea    B-PER  B-PER
    an     O      O
    N{number}     B-PER  O
    </s>
    </text>
    """.strip("\n")


TABLE = "\n".join(["    token  gold   pred", *map(document, range(1, 7))])


@pytest.fixture(scope="module")
def run():
    return judged(TABLE)


def kays(run):
    table = run.bare_cases[0]
    return table[table["surface"].str.casefold() == "kay"]["case_id"].tolist()


def gold_file(table=TABLE):
    stream = io.BytesIO(cut(table).gold)
    stream.name = "gold.vrt"
    return stream


def test_twins_stay_with_one_judge(run):
    hands = select(run, judges=["anna", "ben", "cem"], seed=3).hands
    groups = groups_of(run.bare_cases).members
    assert groups
    for group in groups:
        holders = [name for name, tables in hands.items() if set(group) & set(tables["FN"]["case_id"])]
        assert len(holders) == 1
    assert sorted(len(tables["FN"]) for tables in hands.values()) == [3, 3, 12]


def test_twins_that_are_judged_twice_have_one_second_judge(run):
    hands = select(run, judges=["anna", "ben", "cem"], double=0.5, seed=3).hands
    times = Counter(case for tables in hands.values() for case in tables["FN"]["case_id"])
    assert sum(times.values()) == 18 + 9
    holders = {name for name, tables in hands.items() if set(kays(run)) & set(tables["FN"]["case_id"])}
    assert len(holders) == 2


def test_the_conflict_workbook_shows_contested_twins_with_both_claims_and_its_last_word_holds_for_all(run):
    first, second, *others = kays(run)
    answers = {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("model_error", applies_to=ALL)}
    book = workbook(run, answers, "anna.xlsx", judge="Anna")
    (found,) = reimport([book], gold_file()).runs
    assert found.cases_in_conflict == tuple(others)
    stream = io.BytesIO()
    write_conflicts(found, stream, lang="en")
    sheet = openpyxl.load_workbook(io.BytesIO(stream.getvalue()))[TABS["FN"]]
    headers = [cell.value for cell in sheet[3]]
    said = [
        cell.value for row in sheet.iter_rows(min_row=4) for cell in row if cell.value and "Anna: " in str(cell.value)
    ]
    assert said
    assert all("Should not be marked" in text and "Model is wrong" in text for text in said)
    changed = openpyxl.load_workbook(io.BytesIO(stream.getvalue()))
    row = changed[TABS["FN"]][4]
    row[headers.index("Judgement")].value, row[headers.index("Applies to")].value = "2", "1"
    last = io.BytesIO()
    changed.save(last)
    last.name = "conflicts.xlsx"
    last.seek(0)
    book.seek(0)
    (final,) = reimport([book, last], gold_file()).runs
    assert not final.cases_in_conflict
    assert [words for words, _ in spans(final) if words.casefold() == "kay"] == ["kay"]
    assert set(final.carried) == set(others[1:])


# ---- broken workbooks ---------------------------------------------------------------------------------------------
