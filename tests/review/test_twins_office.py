"""Twins in a real LibreOffice: State follows as digits are typed, and sorted files bring the same decisions home."""

from __future__ import annotations

import io

import pytest

from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.review.vocabulary import Scope
from tests.support.judging import decide, judged, spans
from tests.support.office import case_rows, columns, letter
from tests.support.tables import cut
from tests.support.workbooks import FIRST, TABS

pytestmark = pytest.mark.office
MISSED, UNSUPPORTED = TABS["FN"], TABS["FP"]
TABLE = """
    token  gold   pred
    <text id="d1">
    <s>
    Kay    B-PER  O
    rief   O      O
    KAY    B-PER  O
    </s>
    <s>
    Frau   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    </s>
    </text>
    <text id="d2">
    <s>
    Kay    B-PER  O
    und    O      O
    Frau   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    </s>
    </text>
"""
KAY, KAY_2, JAY, KAY_3, JAY_2 = range(5)


@pytest.fixture(scope="module")
def run():
    return judged(TABLE, level="exact")


@pytest.fixture
def book(office, run, tmp_path):
    path = tmp_path / "review.xlsx"
    write_workbook(run, path, Handout(judge="Anna"))
    document = office.open(path)
    yield document
    document.close()


def states(book, sheet, cases):
    at, rows = columns(book, sheet)["State"], case_rows(book, sheet)
    return [book.cell(sheet, f"{at}{rows[case]}")["text"] for case in cases]


def enter(book, case, header, text):
    at, rows = columns(book, MISSED), case_rows(book, MISSED)
    book.enter(MISSED, f"{at[header]}{rows[case]}", text)


def test_state_follows_what_a_judgement_applies_to(book, run):
    missed, unsupported = (table["case_id"].tolist() for table in run.bare_cases)
    kays = [missed[place] for place in (KAY, KAY_2, KAY_3)]
    enter(book, missed[KAY], "Applies to", "1")
    assert states(book, MISSED, kays) == ["… judgement?", "", ""]
    enter(book, missed[KAY], "Judgement", "2")
    assert states(book, MISSED, kays) == ["✓ Should not be marked", "≡ as no. 1", "≡ as no. 1"]
    assert book.cell(MISSED, "D1")["text"].startswith("3 of 5 done")
    enter(book, missed[KAY], "Applies to", "2")
    assert states(book, MISSED, kays) == ["✓ Should not be marked", "≡ as no. 1", ""]
    enter(book, missed[KAY], "Applies to", "x")
    assert states(book, MISSED, kays) == ["✓ Should not be marked · applies to?", "", ""]
    enter(book, missed[KAY], "Applies to", "alle gleichen Fälle")
    enter(book, missed[KAY_2], "Judgement", "1")
    assert states(book, MISSED, kays) == ["✓ Should not be marked", "✓ Model is wrong", "≡ as no. 1"]
    enter(book, missed[KAY_2], "Applies to", "1")
    assert states(book, MISSED, kays)[2] == "✗ twins differ"
    enter(book, missed[KAY_2], "Judgement", "2")
    assert states(book, MISSED, kays)[2] == "≡ as no. 1"
    enter(book, missed[JAY_2], "Judgement", "3")
    enter(book, missed[JAY_2], "Applies to", "1")
    assert states(book, MISSED, [missed[JAY]]) == [""]  # not complete
    enter(book, missed[JAY_2], "Correct span", "as the model")
    assert states(book, MISSED, [missed[JAY]]) == ["≡ as no. 5"]
    assert states(book, UNSUPPORTED, unsupported) == ["↔ settled by FN 3", "↔ settled by FN 5"]


@pytest.mark.parametrize("ending", [".xlsx", ".ods"])
def test_a_sorted_half_finished_workbook_is_the_same_as_judging_every_twin_by_hand(book, run, tmp_path, ending):
    missed = run.bare_cases[0]["case_id"].tolist()
    enter(book, missed[JAY_2], "Judgement", "3")
    enter(book, missed[JAY_2], "Correct span", "Frau Jay B.")
    enter(book, missed[JAY_2], "Applies to", "1")
    rows, last = book.used(MISSED)
    book.sort(MISSED, f"A{FIRST}:{letter(last - 1)}{rows}", 2, ascending=False)
    enter(book, missed[KAY_3], "Judgement", "2")
    enter(book, missed[KAY_3], "Applies to", "1")
    enter(book, missed[KAY_2], "Judgement", "1")
    kays = [missed[place] for place in (KAY, KAY_2, KAY_3)]
    assert states(book, MISSED, kays) == ["≡ as no. 4", "✓ Model is wrong", "✓ Should not be marked"]
    assert states(book, MISSED, [missed[JAY]]) == ["≡ as no. 5"]
    path = book.save(tmp_path / f"judged{ending}")
    gold = io.BytesIO(cut(TABLE).gold)
    gold.name = "gold.vrt"
    result = reimport([path], gold)
    (found,) = result.runs
    frau = Judgement("boundary", "Frau Jay B.")
    wrong = Judgement("gold_wrong")
    hand = {missed[JAY]: frau, missed[JAY_2]: frau, missed[KAY]: wrong, missed[KAY_3]: wrong}
    assert spans(found) == spans(decide(run, {**hand, missed[KAY_2]: Judgement("model_error")}))
    assert spans(found) == [("KAY", "PER"), ("Frau Jay B.", "PER"), ("Frau Jay B.", "PER")]
    assert found.carried == {missed[KAY]: missed[KAY_3], missed[JAY]: missed[JAY_2]}
    assert {record.applies_to for record in found.records} == {Scope.ALL, None}
    assert not result.problems
