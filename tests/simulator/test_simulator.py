"""A dozen sequences of edits in every run of the tests, dozens in a thorough one; the long run is `tests.simulator`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.simulator.book import Cell, Sheet
from tests.simulator.mirror import OfficeProgram
from tests.simulator.oracle import KEPT, LOST, MOVED, REPORTED, judge, read_lines
from tests.simulator.person import canonical
from tests.simulator.sequences import Simulator
from tests.simulator.wayback import CameBack, Place
from tests.support.ci import THOROUGH
from tests.support.office import Office

SEQUENCES, OFFICE_SEQUENCES = (30, 5) if THOROUGH else (8, 1)
SEED = 15


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("simulator"), SEED)


def told(ran) -> str:
    return "\n".join([f"--replay {SEED}:{ran.number}: {' > '.join(ran.names)}", *map(str, ran.failures)])


def test_a_judged_workbook_that_nobody_edited_comes_back_whole(simulator: Simulator) -> None:
    for number in range(3):
        ran = simulator.run_named([], number)
        assert ran.back is not None
        assert ran.back.code == 0, ran.back.errors
        assert ran.verdicts
        assert {verdict.outcome for verdict in ran.verdicts} == {KEPT}
        assert all(verdict.readable for verdict in ran.verdicts)


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(SEQUENCES))
def test_no_judgement_is_lost_or_moved_by_a_sequence_of_edits(simulator: Simulator, number: int) -> None:
    ran = simulator.run(number)
    assert not ran.failures, told(ran)
    assert ran.closes, ran.back


@pytest.mark.parametrize("name", ["save as .csv", "through .csv and back", "sheet: delete the hidden one"])
def test_what_lost_its_hidden_sheet_is_refused_with_a_message(simulator: Simulator, name: str) -> None:
    ran = simulator.run_named([name])
    assert ran.back is not None
    assert ran.back.refused
    assert ran.files[0].name in ran.back.errors


def test_the_same_seed_gives_the_same_sequence(tmp_path: Path, simulator: Simulator) -> None:
    again = Simulator(tmp_path, SEED)
    first, second = simulator.run(3), again.run(3)
    assert first.names == second.names
    assert list(map(str, first.verdicts)) == list(map(str, second.verdicts))


# -- the oracle sees what it must see


@pytest.fixture
def came_back(simulator: Simulator):
    """A world with some judgements, its sheets, and a way back on which everything is right."""
    from random import Random

    world = simulator.start(Random(4))
    judged = {case: [dict(decision)] for case, decision in world.intent.items()}
    return world, {"judged.xlsx": world.books[0].sheets}, CameBack(0, "", judged)


def test_a_judgement_that_does_not_come_back_is_lost(came_back) -> None:
    world, files, back = came_back
    case = next(iter(back.judged))
    del back.judged[case]
    assert [verdict.case for verdict in judge(world, files, back) if verdict.outcome == LOST] == [case]


def test_a_severity_that_does_not_come_back_is_lost(came_back) -> None:
    world, files, back = came_back
    case = next(case for case, decision in world.intent.items() if "severity" in decision)
    del back.judged[case][0]["severity"]
    assert [verdict.case for verdict in judge(world, files, back) if verdict.outcome == LOST] == [case]


def test_a_judgement_on_another_case_is_lost_here_and_moved_there(came_back) -> None:
    world, files, back = came_back
    case = next(iter(back.judged))
    other = next(each for each in world.facts if each not in world.intent)
    back.judged[other] = back.judged.pop(case)
    outcomes = {verdict.case: verdict.outcome for verdict in judge(world, files, back)}
    assert (outcomes[case], outcomes[other]) == (LOST, MOVED)


def test_another_value_is_moved(came_back) -> None:
    world, files, back = came_back
    case = next(case for case, decision in world.intent.items() if decision["judgement"] != "acceptable")
    back.judged[case][0]["judgement"] = "acceptable"
    assert [verdict.case for verdict in judge(world, files, back) if verdict.outcome == MOVED] == [case]


def test_a_lost_judgement_whose_cell_is_named_is_reported(came_back) -> None:
    world, files, back = came_back
    case = next(iter(back.judged))
    sheet = next(sheet for sheet in files["judged.xlsx"] if any(line.case == case for line in read_lines(sheet)))
    row = next(row for row, column, cell in sheet.cells() if cell.role == "case" and cell.shown == case)
    del back.judged[case]
    named = replace(back, code=3, places=[Place("judged.xlsx", sheet.name, row, row, 3, 3)])
    assert [verdict.case for verdict in judge(world, files, named) if verdict.outcome == REPORTED] == [case]
    elsewhere = replace(back, code=3, places=[Place("judged.xlsx", sheet.name, row + 1, row + 1, 3, 3)])
    assert [verdict.case for verdict in judge(world, files, elsewhere) if verdict.outcome == LOST] == [case]


def test_a_case_that_stands_nowhere_any_more_is_lost_unless_it_is_named(came_back) -> None:
    world, files, back = came_back
    case = next(each for each in world.facts if each not in world.intent)
    for sheet in files["judged.xlsx"]:
        sheet.rows = [row for row in sheet.rows if all(cell.shown != case for cell in row)]
    assert [verdict.case for verdict in judge(world, files, back) if verdict.outcome == LOST] == [case]
    named = replace(back, code=3, named={case})
    assert [verdict.case for verdict in judge(world, files, named) if verdict.outcome == REPORTED] == [case]


def test_a_crash_loses_everything(came_back) -> None:
    world, files, back = came_back
    assert {verdict.outcome for verdict in judge(world, files, replace(back, code=1))} == {LOST}


def test_books_close_only_if_every_case_is_counted_once() -> None:
    account = {"cases": 5, "judged": 3, "open": 2}
    assert CameBack(0, "", accounts=[account]).closes(5)
    assert not CameBack(0, "", accounts=[account]).closes(6)
    assert not CameBack(0, "", accounts=[{**account, "open": 1}]).closes(5)
    assert not CameBack(0, "").closes(5)
    assert CameBack(2, "Error: no workbook.").closes(5)


def test_two_copies_of_a_row_that_differ_are_disputed() -> None:
    cells = [("FN-AAAAAAAA", "case"), ("Model is wrong", "judgement")]
    rows = [[Cell(text, role) for text, role in cells], [Cell("FN-AAAAAAAA", "case"), Cell("Good enough", "judgement")]]
    says = [line.says["judgement"] for line in read_lines(Sheet("FN", rows))]
    assert says == ["model_error", "acceptable"]


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("1", "FN", "model_error"),
        ("2", "FN", "gold_wrong"),
        ("2", "FP", "gold_missing"),
        ("2 Good enough", "FP", "?2 Good enough"),
    ],
)
def test_digits_mean_judgements_where_they_are_switched_on(text: str, kind: str, code: str) -> None:
    assert canonical("judgement", text, kind, digits=True) == code
    assert canonical("judgement", text, kind) == f"?{text}"


@pytest.fixture(scope="module")
def in_office(office: Office, tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("edited"), SEED, program=OfficeProgram(office))


@pytest.mark.office
@pytest.mark.sweep
@pytest.mark.parametrize("number", range(OFFICE_SEQUENCES))
def test_no_judgement_is_lost_or_moved_when_libreoffice_edits_and_saves(in_office: Simulator, number: int) -> None:
    ran = in_office.run(number)
    assert not ran.failures, told(ran)
    assert ran.closes, ran.back
