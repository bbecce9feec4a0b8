"""Twins in a real LibreOffice: State follows as digits are typed, and sorted files bring the same decisions home."""

from __future__ import annotations

import pytest

from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from tests.support.judging import judged
from tests.support.office import case_rows, columns
from tests.support.workbooks import TABS

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
    assert states(book, MISSED, kays) == ["✗ other list?", "", ""]
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
