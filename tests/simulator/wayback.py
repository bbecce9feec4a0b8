"""The way back as people call it: `reimport` on the command line, its log, and everything that it reports.

This is the only module that knows what the outputs of the re-import look like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.simulator.person import Decision, canonical
from tests.simulator.roles import CASE_ID
from tests.support.commands import run

# Parts of the JSON that tell what was done; naming a case there is no report that a person must look at it.
_NO_REPORT = {
    "changes",
    "judgements",
    "scores",
    "agreement",
    "ledger",
    "workbooks",
    "notes",
    "signature",
    "run",
    "undecided",
}
_PLACE = re.compile(r"(?P<file>[^!\"\n]+?\.(?:xlsx|ods|csv))!(?P<rest>.+)", re.DOTALL)
_CELLS = re.compile(r"\$?([A-Z]{1,3})\$?(\d+)?(?::\$?([A-Z]{1,3})\$?(\d+)?)?(?![A-Za-z0-9])")


@dataclass(frozen=True)
class Place:
    """A place that a report names: a cell, a range, a column or a whole sheet; rows and columns count from 0."""

    file: str
    sheet: str
    first: int | None = None
    last: int | None = None
    left: int | None = None
    right: int | None = None


@dataclass
class CameBack:
    """What came of a re-import."""

    code: int
    errors: str
    judged: dict[str, list[Decision]] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)  # workbooks by case
    carried: dict[str, list[tuple[str, Decision]]] = field(default_factory=dict)  # case → the case alike, what it says
    named: set[str] = field(default_factory=set)  # cases whose ID a report names
    places: list[Place] = field(default_factory=list)
    accounts: list[Mapping[str, int]] = field(default_factory=list)  # what became of the cases, for each run

    def closes(self, cases: int) -> bool:
        """Whether the books close: every case is accounted for once, or the call was refused."""
        whole = all(sum(each.values()) == 2 * each["cases"] for each in self.accounts)  # the sum itself counts as well
        return self.refused or (whole and sum(each["cases"] for each in self.accounts) == cases)

    @property
    def refused(self) -> bool:
        """Whether the whole call was refused with a message."""
        return self.code == 2 and "Traceback" not in self.errors and bool(self.errors.strip())

    @property
    def crashed(self) -> bool:
        """Whether the program failed by itself."""
        return self.code not in {0, 2, 3} or "Traceback" in self.errors


def reimport(files: Sequence[Path], gold: Path, folder: Path, sheets: Mapping[str, Iterable[str]]) -> CameBack:
    """Call the re-import; `sheets` are the names of the sheets of each file, so that places can be told apart."""
    log, out = folder / "log.jsonl", folder / "out.json"
    for path in (log, out):
        path.unlink(missing_ok=True)
    result = run("reimport", *files, "--gold", gold, "--judgements", log, "--json", out)
    found = CameBack(result.code, result.err)
    if log.exists():
        _read_log(log.read_text("utf-8"), found)
    content = json.loads(out.read_text("utf-8")) if out.exists() else {"runs": []}
    found.accounts = [each["account"] for each in content["runs"]]
    if result.code == 3:
        for text in [*_texts(content), *filter(_reports, result.err.split("\n"))]:
            found.named.update(CASE_ID.findall(text))
            place = _place(text, sheets)
            if place is not None:
                found.places.append(place)
    return found


def _reports(line: str) -> bool:
    """Whether a line of standard error says that a person must look."""
    return not line.startswith(("Note:", "Written:", "Beyond decision:"))


def _read_log(text: str, found: CameBack) -> None:
    for line in text.split("\n"):
        if line.strip():
            entry = json.loads(line)
            case = str(entry["case"])
            for twin in entry.get("reached", ()):
                found.carried.setdefault(twin, []).append((case, _decision(entry)))
            found.judged.setdefault(case, []).append(_decision(entry))
            found.sources.setdefault(case, []).append(str(entry.get("workbook", "")))


def _decision(entry: Mapping[str, Any]) -> Decision:
    values = {
        role: entry.get(role) or "" for role in ("judgement", "correct_span", "applies_to", "severity", "comment")
    }
    values.update(
        {f"correct_label:{layer.casefold()}": label for layer, label in entry.get("correct_labels", {}).items()}
    )
    return {role: canonical(role, str(value)) for role, value in values.items() if str(value).strip()}


def _texts(content: Any) -> Iterable[str]:
    """All texts of a JSON document that report something."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for item in content:
            yield from _texts(item)
    elif isinstance(content, dict):
        for key, value in content.items():
            if key not in _NO_REPORT:
                yield key
                yield from _texts(value)


def _place(text: str, sheets: Mapping[str, Iterable[str]]) -> Place | None:
    """The place that a text begins with or names: `file!sheet!cells`; sheet names may hold anything."""
    match = _PLACE.search(text)
    if match is None:
        return None
    file = next((name for name in sheets if match["file"].endswith(name)), None)
    for sheet in sorted(sheets.get(file or "", ()), key=len, reverse=True):
        for shown in (sheet, f"'{sheet}'"):
            if match["rest"].startswith(shown):
                return _cells(str(file), sheet, match["rest"][len(shown) :])
    return None


def _cells(file: str, sheet: str, rest: str) -> Place:
    match = _CELLS.match(rest[1:]) if rest.startswith("!") else None
    if match is None:
        return Place(file, sheet)
    left, first, right, last = match.groups()
    top = int(first) - 1 if first else None
    bottom = int(last) - 1 if last else (top if right is None else None)
    return Place(file, sheet, top, bottom, _column(left), _column(right or left))


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
