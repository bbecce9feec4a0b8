"""The log of a project: judgements as JSON Lines, each line with the hash of the one before it; and what it decides.

It holds what people decided and which cases a decision reached. What follows from that is derived anew: which decisions
stand, which of them a later run fills in again, which it only shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd
from msgspec import structs

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.cases.twins import TwinGroups, groups_of
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.files.typed_values import build, plain
from clueval_xlsx.review.answers import Wrong, settles
from clueval_xlsx.review.correction import correct
from clueval_xlsx.review.deciding import claimed_twins
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.judgements import Effect, Judgement, Outcome
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.version import __version__

LOG_FORM = 2  # the number of the form of a line
START = "0" * 64  # stands for the line before the first
PREVIOUS = "previous"
_DECIDED = (Outcome.APPLIED, Outcome.UNCHANGED)
_DISPUTED = (Outcome.OPEN, Outcome.HELD)
_COMPARING = frozenset({Effect.BOUNDARY, Effect.LABEL, Effect.ACCEPT})  # these judge gold by what the model has
_KEY_BYTES = 10
_REMEDY = "Take the log from a copy that was kept elsewhere, and compare"


def write_log(judgements: Iterable[Judgement], head: str = START) -> str:
    """Judgements as JSON Lines, to be appended to a log whose last line has the hash `head`.

    >>> first, second = write_log([Judgement("unclear", case_id=case) for case in ("FN-A", "FN-B")]).splitlines()
    >>> ChainLine(1, first).hash in second
    True
    """
    lines = []
    for judgement in judgements:
        line = {"form": LOG_FORM, "version": __version__, "case": judgement.case_id, **plain(judgement), PREVIOUS: head}
        del line["twin"]
        text = json.dumps(line, ensure_ascii=False)
        head = ChainLine(0, text).hash
        lines.append(f"{text}\n")
    return "".join(lines)


def read_log(text: str, name: str = "judgements.jsonl") -> list[Judgement]:
    """Read JSON Lines back, oldest first; blank lines are allowed.

    >>> judgement = Judgement("gold_wrong", case_id="FN-AAAA", final=True)
    >>> read_log(write_log([judgement])) == [judgement]
    True
    """
    judgements = []
    for line in chain_lines(text):
        try:
            judgements.append(_judgement(json.loads(line.text)))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{name}:{line.number}: this line is no judgement ({error}). Allowed: the JSON Lines that "
                "`reimport --judgements` writes. Remove the line or take another file."
            ) from None
    return judgements


def decisions_in(content: bytes, name: str) -> dict[str, Judgement]:
    """The decision about each case that stands in a log, which must be whole."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{name}: is not UTF-8. Give the file that `reimport --judgements` wrote.") from None
    problems = check_chain(text, name).problems
    if problems:
        raise InputError(problems=problems)
    return standing_decisions(read_log(text, name))


def _judgement(content: object) -> Judgement:
    if not isinstance(content, dict):
        raise ValueError(f"found {type(content).__name__}, allowed: an object")
    if content.get("form") != LOG_FORM:
        version = content.get("version", "an older version")
        raise ValueError(f"it has form {content.get('form')!r}, which {version} reads; this version reads {LOG_FORM}")
    judgement = build(Judgement, content)
    if judgement.case_id.partition("-")[0] not in tuple(Sheet):
        raise ValueError(f"{judgement.case_id!r} is no case ID")
    return judgement


def is_log(text: str) -> bool:
    """Whether a text is a log of judgements, told by its first line."""
    try:
        content = json.loads(next(iter(chain_lines(text))).text)
    except (ValueError, RecursionError, StopIteration):
        return False
    case = content.get("case") if isinstance(content, dict) else None
    return isinstance(case, str) and "judgement" in content and case.partition("-")[0] in tuple(Sheet)


# The chain


class ChainLine(NamedTuple):
    """A line that is not blank: its number in the file, counted from 1, and its text without the line end."""

    number: int
    text: str

    @property
    def hash(self) -> str:
        """What the next line must carry."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Chain:
    """A log that was checked: how many lines it has, the hash of the last one, and what is wrong."""

    lines: int
    head: str
    problems: tuple[Problem, ...]


def head_of(text: str) -> str:
    """The hash of the last line of a log: whoever knows it can tell whether the log is still the whole one."""
    lines = chain_lines(text)
    return lines[-1].hash if lines else START


def chain_lines(text: str) -> list[ChainLine]:
    """The lines of a log; blank ones, a byte order mark and the kind of line end say nothing."""
    rows = text.removeprefix("\ufeff").split("\n")  # a comment may hold what Python takes for a line end
    return [ChainLine(number, row.removesuffix("\r")) for number, row in enumerate(rows, 1) if row.strip()]


def check_chain(text: str, name: str, head: str | None = None) -> Chain:
    """Find lines that were changed, lost, added or moved; with `head` also whether the end is missing."""
    lines = chain_lines(text)
    hashes = {line.hash: line.number for line in lines}
    problems = []
    expected, last = START, 0
    for line in lines:
        given = _previous(line.text)
        if given != expected:
            problems.append(Problem(f"{name}:{line.number}", _break(given, last, hashes), remedy=_REMEDY))
        expected, last = line.hash, line.number
    if head is not None and expected != head.lower():
        problems.append(Problem(name, _end(head.lower(), expected, last, hashes), remedy=_REMEDY))
    return Chain(len(lines), expected, tuple(problems))


def _break(given: str | None, last: int, hashes: Mapping[str, int]) -> str:
    """What must have happened before a line that does not follow the one above it."""
    above = f"line {last}" if last else "the beginning"
    if given is not None and given in hashes:
        return f"this line was written behind line {hashes[given]}, not behind {above}: lines were moved or added"
    if given is None or given == START:
        return f"this line does not follow {above}: lines were put before it, or logs were joined"
    return f"this line does not follow {above}: that line was changed, or lines between them are missing"


def _end(head: str, found: str, last: int, hashes: Mapping[str, int]) -> str:
    if head in hashes:
        return f"the head that was noted is line {hashes[head]}; {last - hashes[head]} lines were written after it"
    return f"the log ends with {found[:16]}…, not with {head[:16]}…: lines are missing at its end, or were changed"


def _previous(text: str) -> str | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found = content.get(PREVIOUS) if isinstance(content, dict) else None
    return found if isinstance(found, str) else None


# Which decisions stand


def new_judgements(known: Sequence[Judgement], judgements: Sequence[Judgement], when: str) -> list[Judgement]:
    """Of the judgements that were brought home now, at `when`, those that say something else than the log.

    What a workbook came with, and nobody changed, is older: it is new only if something else became of it, or if
    nothing in the log leads to it any more.
    """
    newest = newest_judgements(known)

    def is_new(judgement: Judgement) -> bool:
        old = newest.get((judgement.case_id, judgement.judge))
        if old is None:
            return True
        # A workbook that was saved once more, or sorted, says the same.
        moved = {name: getattr(judgement, name) for name in ("when", "workbook", "workbook_sha256", "place")}
        return structs.replace(old, **moved) != judgement

    now = [each for each in judgements if each.when == when and is_new(each)]
    decisions = standing_decisions([*known, *now])
    earlier = []
    for judgement in judgements:
        if judgement.when == when:
            continue
        old = newest.get((judgement.case_id, judgement.judge)) or decisions.get(judgement.case_id)
        if old is None or (old.judge, old.code, old.outcome) != (judgement.judge, judgement.code, judgement.outcome):
            earlier.append(judgement)
    return [*earlier, *now]


def newest_judgements(log: Sequence[Judgement]) -> dict[tuple[str, str], Judgement]:
    """The last word of each person on each case, oldest first; what was taken back is left out."""
    newest: dict[tuple[str, str], Judgement] = {}
    for judgement in log:
        who = judgement.case_id, judgement.whose or judgement.judge
        newest.pop(who, None)
        if judgement.outcome is not Outcome.WITHDRAWN:
            newest[who] = judgement
    return newest


def standing_decisions(log: Sequence[Judgement]) -> dict[str, Judgement]:
    """For each case the decision that stands: the newest one about the case itself, else one on a twin that reached it.

    A case that was disputed after it had been decided is open; so is one that different decisions reach. Nothing
    that follows from a decision is in the log, so that nothing is left of a decision that was taken back or overruled.
    """
    newest = newest_judgements(log)
    taken_back = {judgement.case_id for judgement in log if judgement.outcome is Outcome.WITHDRAWN}
    decisions: dict[str, Judgement] = {}
    judged: dict[str, list[Judgement]] = {}
    for (case, _), judgement in newest.items():
        if judgement.code:
            judged.setdefault(case, []).append(judgement)
            if judgement.outcome in _DECIDED:
                decisions[case] = judgement
            elif judgement.outcome in _DISPUTED:
                decisions.pop(case, None)
    for case in taken_back & judged.keys():
        if len(judged[case]) == 1 and judged[case][0].outcome is not Outcome.HELD:
            decisions[case] = judged[case][0]  # nobody speaks against it any more
    reached: dict[str, list[Judgement]] = {}
    for judgement in decisions.values():
        for twin in judgement.reached:
            if twin not in judged:
                source, key = judgement.case_id, judgement.reached[twin]
                carried = structs.replace(judgement, case_id=twin, twin=source, applies_to=None, reached={}, other=key)
                reached.setdefault(twin, []).append(carried)
    for twin, carried_here in reached.items():
        if len({each.said[:3] for each in carried_here}) == 1:
            decisions[twin] = carried_here[0]
    return decisions


def judged_right(decisions: Mapping[str, Judgement], evaluation: Evaluation) -> IntArray:
    """Rows of the predictions that were judged to be forgotten by gold, as they stand."""
    added = [case for case, one in decisions.items() if one.effect is Effect.ADD and not one.correct_span]
    unsupported = evaluation.bare_cases[1]
    return unsupported["row"][unsupported["case_id"].isin(added)].to_numpy("int64")


def other_keys(cases: pd.DataFrame) -> list[str]:
    """A short key of what the other side has at each case: the same as long as its spans and labels are."""
    columns = ["other_surface", *(name for name in cases.columns if name.startswith("other_label_"))]
    origin = cases["start"] - cases["document_start"]
    touched = cases["other_start"] >= 0
    places = [(cases[name] - origin).where(touched, -1).astype(str) for name in ("other_start", "other_end")]
    texts = zip(*places, *(cases[name].astype(str) for name in columns), strict=True)
    return [
        hashlib.blake2b("\x1f".join(text).encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).hexdigest()
        for text in texts
    ]


@dataclass
class Previous:
    """Earlier decisions about the cases of a run, by case ID."""

    filled_in: dict[str, Judgement] = field(default_factory=dict)
    decided: dict[str, Judgement] = field(default_factory=dict)  # what these decide, twins included
    changed: dict[str, Judgement] = field(default_factory=dict)  # the other side has changed since: shown
    carried_out: dict[str, Judgement] = field(default_factory=dict)  # gold has it already: shown


def previous_decisions(decisions: Mapping[str, Judgement], evaluation: Evaluation) -> Previous:
    """Which earlier decisions are filled in again for these cases, and which are only shown.

    What compares gold with the model (`boundary`, `label`, `acceptable`) holds only where the other side's spans are
    unchanged; elsewhere a person should look again. What changed gold and finds nothing to change any more was
    carried out: its case is another one now.
    """
    previous = Previous()
    tables = [*evaluation.bare_cases, *([] if evaluation.unmarked_cases is None else [evaluation.unmarked_cases])]
    done = _carried_out(decisions, evaluation)
    for table in tables:
        kept: dict[str, Judgement] = {}
        for case, key in zip(table["case_id"].tolist(), other_keys(table), strict=True):
            judgement = decisions.get(case)
            if judgement is None:
                continue
            compares = judgement.effect in _COMPARING or bool(judgement.correct_span)
            if case in done:
                previous.carried_out[case] = judgement
            elif compares and judgement.other != key:
                previous.changed[case] = judgement
            else:
                kept[case] = judgement
        previous.filled_in.update(with_scopes(kept, groups_of([table])))
        previous.decided.update(kept)
    return previous


def left_to_judge(previous: Previous, tables: Iterable[pd.DataFrame]) -> int:
    """How many of these cases have no earlier decision, and are not settled by that of a linked case either."""
    links: dict[str, Sequence[str]] = {}
    for table in tables:
        related = table["related"].tolist() if "related" in table else [()] * len(table)
        links.update(zip(table["case_id"].tolist(), related, strict=True))
    left = 0
    for case, others in links.items():
        settled = False
        for other in others:
            judgement = previous.decided.get(other)
            only = len(others) == 1 and len(links.get(other, ())) == 1
            settled |= judgement is not None and judgement.effect is not None and settles(judgement.effect, only=only)
        left += case not in previous.decided and not settled
    return left


def _carried_out(decisions: Mapping[str, Judgement], evaluation: Evaluation) -> set[str]:
    """The cases whose decision changed gold once and would change nothing now."""
    applied = {case: each for case, each in decisions.items() if each.outcome is Outcome.APPLIED}
    if not applied:
        return set()
    book, known = CaseBook(evaluation, applied.values()), []
    done = applied.keys() & book.cases.keys()
    for case in sorted(done):
        decision = book.decide(applied[case])
        if not isinstance(decision, Wrong):
            known.append(decision)
        elif decision not in {Wrong.SAME_SPAN, Wrong.SAME_LABEL}:
            done.discard(case)  # the model has changed since, or the words are gone
    correction = correct(evaluation.raw.gold.layers, known, evaluation.raw.corpus.documents.start)
    clashing = {case for conflict in correction.conflicts for case in conflict.cases}
    return done - {change.case_id for change in correction.changes} - correction.held - clashing


def with_scopes(earlier: Mapping[str, Judgement], twins: TwinGroups) -> dict[str, Judgement]:
    """Earlier decisions as they are filled in again: once, with their scope, where they reach what they reached before.

    Where twins have come that nobody decided upon, or one was decided otherwise since, a decision stands in each of
    its rows, so that it claims nothing that nobody chose.
    """
    found: dict[str, Judgement] = {}
    again: set[str] = set()
    for case_id, record in earlier.items():
        reached = claimed_twins(record, twins)
        known = [earlier[twin] for twin in reached if twin in earlier]
        same = len(known) == len(reached) and all(each.twin in {"", case_id} for each in known)
        found[case_id] = record if reached and same else structs.replace(record, applies_to=None)
        if reached and same:
            again.update(twin for twin in reached if earlier[twin].twin == case_id)
    return {case_id: structs.replace(record, twin="") for case_id, record in found.items() if case_id not in again}
