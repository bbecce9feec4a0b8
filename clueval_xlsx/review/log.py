"""The log of a project: judgements as JSON Lines, each line with the hash of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import structs

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.files.typed_values import build, plain
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.previous import newest_judgements, standing_decisions
from clueval_xlsx.version import __version__

LOG_FORM = 2  # the number of the form of a line
START = "0" * 64  # stands for the line before the first
PREVIOUS = "previous"


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


_REMEDY = "Take the log from a copy that was kept elsewhere, and compare"


def _break(given: str | None, last: int, hashes: dict[str, int]) -> str:
    """What must have happened before a line that does not follow the one above it."""
    above = f"line {last}" if last else "the beginning"
    if given is None:
        return f"this line carries no hash of the line before it, so that nothing ties it to {above}"
    if given == START:
        return "this line was the first of a log; lines were put before it, or the logs of two projects were joined"
    if given in hashes:
        return f"this line was written behind line {hashes[given]}, not behind {above}: lines were moved or added"
    return f"this line does not follow {above}: that line was changed, or lines between them are missing"


def _end(head: str, found: str, last: int, hashes: dict[str, int]) -> str:
    if head == START:
        return f"the log has {last} lines, but it was empty when its head was noted"
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


def is_log(text: str) -> bool:
    """Whether a text is a log of judgements, told by its first line."""
    try:
        content = json.loads(next(iter(chain_lines(text))).text)
    except (ValueError, RecursionError, StopIteration):
        return False
    case = content.get("case") if isinstance(content, dict) else None
    return isinstance(case, str) and "judgement" in content and case.partition("-")[0] in tuple(Sheet)
