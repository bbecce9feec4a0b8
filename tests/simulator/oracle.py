"""What became of each judgement: kept, reported, lost or moved; and whether a careful person could have read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tests.simulator.book import ErrorValue, Formula, Sheet
from tests.simulator.person import Decision, canonical, usable
from tests.simulator.roles import case_of_row, ids_of_row, is_annotation, normalise
from tests.simulator.wayback import CameBack, Place
from tests.simulator.world import World

KEPT, REPORTED, LOST, MOVED = "kept", "reported", "lost", "moved"
WITHOUT_CORRECTIONS = {"model_error", "gold_wrong", "acceptable", "unclear"}
OUTCOMES = (KEPT, REPORTED, LOST, MOVED)


@dataclass(frozen=True)
class Verdict:
    """What became of one judgement. `readable` says that a careful person could have read it without asking."""

    case: str
    outcome: str
    readable: bool
    meant: Decision
    found: Sequence[Decision]

    def __str__(self) -> str:
        found = " / ".join(_said(each) for each in self.found) or "nothing"
        return f"{self.outcome}: {self.case} meant {_said(self.meant) or 'nothing'}, came back as {found}"


def _said(decision: Decision) -> str:
    return ", ".join(f"{role}={text}" for role, text in sorted(decision.items()))


@dataclass(frozen=True)
class Line:
    """One row of a workbook that carries a case ID."""

    case: str
    says: Decision
    clear: bool  # one ID, plain values
    two: bool  # two columns of one role differ


def judge(world: World, files: Mapping[str, Sequence[Sheet]], back: CameBack) -> list[Verdict]:
    """The verdict on every case that the person said something about, that came back, or that is gone.

    `files` are the sheets as they were written, by the name of their file.
    """
    lines: dict[str, list[Line]] = {}
    for sheets in files.values():
        for sheet in sheets:
            for line in read_lines(sheet, digits=world.digits):
                lines.setdefault(line.case, []).append(line)
    named = _named(files, back)
    verdicts = _carried(world, lines, named, back)
    for case in world.facts:
        meant, found = world.intent.get(case, {}), back.judged.get(case, [])
        if not meant and not found:
            if case not in lines:  # nobody judged it, and nobody can any more: that must be said
                outcome = REPORTED if case in named or back.refused else LOST
                verdicts.append(Verdict(case, outcome, False, {}, []))
            continue
        disputed = case in world.disputed or _disputed(lines.get(case, []))
        same = _same_as(meant, found, lines.get(case, []))
        if len(files) > 1 and _undecided_beside(lines.get(case, []), found):
            disputed, same = False, True
        outcome = _outcome(meant, found, same=same, disputed=disputed, reported=case in named or back.refused)
        if outcome == KEPT and _doubled(case, world, back):
            outcome = MOVED
        if back.crashed:
            outcome = LOST
        clear = not disputed and not world.must_be_refused
        readable = clear and _readable(meant, lines.get(case, [])) and usable(world.facts[case], meant)
        if meant or outcome != KEPT:
            verdicts.append(Verdict(case, outcome, readable, meant, found))
    return verdicts


def _outcome(meant: Decision, found: Sequence[Decision], *, same: bool, disputed: bool, reported: bool) -> str:
    if reported and (disputed or not same):
        return REPORTED
    if disputed and found:
        return MOVED
    if same:
        return KEPT
    if all(_part_of(each, meant) for each in found):
        return LOST
    return MOVED


def _same_as(meant: Decision, found: Sequence[Decision], lines: Sequence[Line]) -> bool:
    """Whether the judgement came back, and nothing else beside it; severity and comment may be those of a copy."""
    if not meant or not found:
        return not meant and not found
    if any(_effect(each) not in (_effect(meant), ()) for each in found):
        return False
    said = [meant, *(line.says for line in lines if len(lines) > 1)]
    return any(
        _effect(each) == _effect(meant)
        and all(
            _text(each, role) in {_text(one, role) for one in said} for role in ("applies_to", "severity", "comment")
        )
        for each in found
    )


def _text(decision: Decision, role: str) -> str:
    return normalise(decision.get(role, ""))


def _effect(decision: Decision) -> tuple[tuple[str, str], ...]:
    """What would change gold; corrections beside a judgement that takes none change nothing."""
    ignored = {"applies_to", "severity", "comment"}
    if decision.get("judgement") in WITHOUT_CORRECTIONS:
        ignored |= {role for role in decision if role.startswith("correct_")}
    return tuple(sorted((role, normalise(text)) for role, text in decision.items() if role not in ignored))


def _part_of(found: Decision, meant: Decision) -> bool:
    return all(normalise(meant.get(role, "")) == normalise(text) for role, text in found.items())


def _carried(
    world: World, lines: Mapping[str, Sequence[Line]], named: Collection[str], back: CameBack
) -> list[Verdict]:
    """What is wrong with decisions that hold for cases alike: claimed by nobody, over a judgement, or not carried."""
    verdicts = []
    for case, decisions in back.carried.items():
        for twin, found in decisions:
            claim = world.intent.get(twin, {})
            scope = claim.get("applies_to", "")
            claimed = twin in world.facts and world.facts[twin].is_twin(world.facts[case], scope)
            own = world.intent.get(case, {}).get("judgement", "")
            if case not in named and (own or not claimed or _effect(found) != _effect(claim)):
                verdicts.append(Verdict(case, MOVED, False, world.intent.get(case, {}), [found]))
    for twin, claim in world.intent.items():
        sure = usable(world.facts[twin], claim) and _readable(claim, lines.get(twin, [])) and twin in back.judged
        for case, facts in world.facts.items():
            empty = not world.intent.get(case) and bool(lines.get(case)) and _readable({}, lines[case])
            wanted = sure and empty and world.facts[twin].is_twin(facts, claim.get("applies_to", ""))
            if wanted and case not in back.carried and not {case, twin} & {*named, *back.judged.keys() - {twin}}:
                verdicts.append(Verdict(case, LOST, True, {**claim, "comment": f"as on {twin}"}, []))
    return verdicts


def _doubled(case: str, world: World, back: CameBack) -> bool:
    """The same workbook given twice must not count as two judges."""
    same = {name for name in back.sources.get(case, []) if name.startswith(world.books[0].name)}
    return world.given_twice and len(same) > 1


# -- the rows of the written workbooks


def read_lines(sheet: Sheet, *, digits: bool = False) -> list[Line]:
    """The rows of a sheet that carry a case ID, and what they say."""
    covered = {
        (row, column): area[:2]
        for area in sheet.merges
        for row in range(area[0], area[2] + 1)
        for column in range(area[1], area[3] + 1)
    }
    found = []
    for number, row in enumerate(sheet.rows):
        case = case_of_row(sheet, number)
        if not case:
            continue
        ids = ids_of_row(sheet, number)
        says: dict[str, str] = {}
        plain, two = True, False
        for column in range(len(row)):
            cell = sheet.cell(*covered.get((number, column), (number, column)))
            if is_annotation(row[column].role):
                value = cell.value
                plain &= not isinstance(value, ErrorValue) and not (isinstance(value, Formula) and value.cached is None)
                text = canonical(row[column].role, cell.shown, case.partition("-")[0], digits=digits)
                two |= bool(text) and says.get(row[column].role, text) != text
                if text:
                    says[row[column].role] = text
        found.append(Line(case, says, plain and len(ids) == 1, two))
    return found


def _disputed(lines: Sequence[Line]) -> bool:
    """Whether the workbooks say two things about a case."""
    judged = {_effect(line.says) for line in lines if line.clear and line.says.get("judgement")}
    return len(judged) > 1 or any(line.two for line in lines)


def _undecided_beside(lines: Sequence[Line], found: Sequence[Decision]) -> bool:
    """Whether one workbook cannot decide and another does: that is no dispute, and each of them may come back."""
    said = {_effect(line.says) for line in lines}
    undecided = any(line.says.get("judgement") == "unclear" for line in lines)
    return undecided and bool(found) and all(_effect(each) in said for each in found)


def _readable(meant: Decision, lines: Sequence[Line]) -> bool:
    """Whether every row of the case says what is meant, in plain values."""
    return bool(lines) and all(line.clear and dict(line.says) == dict(meant) for line in lines)


# -- reports


def _named(files: Mapping[str, Sequence[Sheet]], back: CameBack) -> set[str]:
    """The cases that a report names, by their IDs or by their cells."""
    found = set(back.named)
    for place in back.places:
        for sheet in files.get(place.file, ()):
            if sheet.name == place.sheet:
                found |= _covered_cases(sheet, place)
    return found


def _covered_cases(sheet: Sheet, place: Place) -> set[str]:
    """The cases of a place. A merged cell stands for all its rows, a cell in a row without a case for its column."""
    rows = range(len(sheet.rows))
    if place.first is not None:
        last = place.last if place.last is not None else len(sheet.rows) - 1
        rows = range(place.first, min(last, len(sheet.rows) - 1) + 1)
        merged = [
            range(area[0], area[2] + 1) for area in sheet.merges if place.first == area[0] and place.left == area[1]
        ]
        own = {case for each in [rows, *merged] for row in each for case in ids_of_row(sheet, row)}
        if own:
            return own
        rows = range(len(sheet.rows))
    if place.left is None or place.right is None:
        return {case for row in rows for case in ids_of_row(sheet, row)}
    columns = range(place.left, place.right + 1)
    filled = [row for row in rows if any(sheet.cell(row, column).shown for column in columns)]
    return {case for row in filled for case in ids_of_row(sheet, row)}
