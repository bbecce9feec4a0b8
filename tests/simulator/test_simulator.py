"""A dozen sequences of edits in every run of the tests, dozens in a thorough one; the long run is `tests.simulator`."""

from __future__ import annotations

import pytest

from tests.simulator.mirror import OfficeProgram
from tests.simulator.oracle import KEPT, LOST, judge
from tests.simulator.sequences import Simulator
from tests.simulator.wayback import CameBack
from tests.support.ci import THOROUGH
from tests.support.office import Office

SEQUENCES, OFFICE_SEQUENCES = (30, 5) if THOROUGH else (8, 1)
SEED = 15


@pytest.fixture(scope="module")
def simulator(tmp_path_factory: pytest.TempPathFactory) -> Simulator:
    return Simulator(tmp_path_factory.mktemp("simulator"), SEED)


def told(ran) -> str:
    return "\n".join([f"--seed {SEED} --replay {ran.number}: {' > '.join(ran.names)}", *map(str, ran.failures)])


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
