"""Judgements as records: what one person decided about one case, and the log that keeps them as JSON Lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import msgspec
import pandas as pd

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.typed_values import build, plain
from clueval_xlsx.review.chain import START, chained
from clueval_xlsx.review.completeness import Completeness, completeness
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.vocabulary import Effect, Outcome, Scope, Severity

LOG_SCHEMA = 1
DECIDED = (Outcome.APPLIED, Outcome.UNCHANGED)
_DISPUTED = (Outcome.OPEN, Outcome.HELD)
_COMPARING = frozenset({Effect.BOUNDARY, Effect.LABEL, Effect.ACCEPT})  # these judge gold by what the model has
_KEY_BYTES = 10


@dataclass(frozen=True)
class JudgementRecord:
    """One judged row of a workbook, its words turned into codes.

    `correct_span` is a choice (`as_model`, …) or the words that were typed; `code` is empty where somebody only
    rated the severity or left a comment. `sheet` is FN or FP, `place` says where the row stands. `applies_to` says
    which twins it holds for, too; `twin` is the case that it was made on where it was carried over from a twin.
    """

    case_id: str
    code: str = ""
    effect: Effect | None = None
    correct_span: str = ""
    correct_labels: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None
    comment: str = ""
    judge: str = ""
    workbook: str = ""
    workbook_sha256: str = ""  # of the file as it was given
    place: str = ""
    final: bool = False  # from a conflict workbook: this person has the last word
    applies_to: Scope | None = None
    twin: str = ""

    @cached_property
    def completeness(self) -> Completeness:
        """Whether the row counts as judged, and what it lacks."""
        return completeness(self.effect, self.correct_span, self.correct_labels, applies=self.applies_to is not None)

    @cached_property
    def said(self) -> tuple[object, ...]:
        """What somebody said, without who and where."""
        labels = tuple(sorted(self.correct_labels.items()))
        comment = normalise(self.comment)
        return (self.code, normalise(self.correct_span), labels, self.severity, comment, self.applies_to)

    @property
    def sheet(self) -> Sheet:
        """The sheet of the case, which its ID begins with."""
        return Sheet(self.case_id.partition("-")[0])


@dataclass(frozen=True)
class LogEntry:
    """One line of the log: a judgement, when it was brought home, and what became of it."""

    record: JudgementRecord
    when: str = ""
    run_id: str = ""
    outcome: Outcome | None = None
    other: str = ""  # key of the other side's spans, see other_keys
    old: str = ""
    new: str = ""


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


def write_log(entries: Iterable[LogEntry], head: str = START) -> str:
    """Entries as JSON Lines, to be appended to a log whose last line has the hash `head`."""
    return "".join(f"{line}\n" for line in chained(map(_line, entries), head))


def read_log(text: str, name: str = "judgements.jsonl") -> list[LogEntry]:
    """Read JSON Lines back, oldest first; blank lines are allowed.

    >>> entry = LogEntry(JudgementRecord("FN-AAAA", "gold_wrong", Effect.DELETE), outcome=Outcome.APPLIED)
    >>> read_log(write_log([entry])) == [entry]
    True
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):  # a comment may hold what Python takes for a line end
        if not line.strip():
            continue
        try:
            found.append(_entry(json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{name}:{number}: this line is no judgement ({error}). Allowed: the JSON Lines that "
                "`reimport --judgements` writes. Remove the line or take another file."
            ) from None
    return found


def new_entries(known: Sequence[LogEntry], entries: Sequence[LogEntry]) -> list[LogEntry]:
    """The entries that say something else than the newest one about the same case by the same person."""
    newest = {(entry.record.case_id, entry.record.judge): entry for entry in known}

    def is_new(entry: LogEntry) -> bool:
        old = newest.get((entry.record.case_id, entry.record.judge))
        if old is None:
            return True
        record = replace(old.record, workbook_sha256=entry.record.workbook_sha256)  # saved once more, it says the same
        return replace(old, when=entry.when, record=record) != entry

    return [entry for entry in entries if is_new(entry)]


def latest_decisions(entries: Sequence[LogEntry]) -> dict[str, LogEntry]:
    """For each case the newest entry that decided it, unless it was disputed later: then it is open again."""
    found: dict[str, LogEntry] = {}
    for entry in entries:
        if entry.record.code and entry.outcome in DECIDED:
            found[entry.record.case_id] = entry
        elif entry.outcome in _DISPUTED:
            found.pop(entry.record.case_id, None)
    return found


def split_carried(
    decisions: Mapping[str, LogEntry], cases: pd.DataFrame
) -> tuple[dict[str, JudgementRecord], dict[str, JudgementRecord]]:
    """Which earlier decisions hold for these cases, and which are only hints.

    What compares gold with the model (`boundary`, `label`, `acceptable`) holds only where the other side's spans
    are unchanged; elsewhere a person should look again.
    """
    carried: dict[str, JudgementRecord] = {}
    hints: dict[str, JudgementRecord] = {}
    for case_id, key in zip(cases["case_id"].tolist(), other_keys(cases), strict=True):
        entry = decisions.get(case_id)
        if entry is None:
            continue
        compares = entry.record.effect in _COMPARING or bool(entry.record.correct_span)
        (hints if compares and entry.other != key else carried)[case_id] = entry.record
    return carried, hints


class _Line(msgspec.Struct, frozen=True):
    """A line of the log, in the order in which its keys are written."""

    schema: int
    case: str
    judgement: str = ""
    effect: Effect | None = None
    correct_span: str = ""
    correct_labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    severity: Severity | None = None
    comment: str = ""
    who: str = ""
    when: str = ""
    workbook: str = ""
    place: str = ""
    final: bool = False
    applies_to: Scope | None = None
    twin: str = ""
    run: str = ""
    outcome: Outcome | None = None
    other: str = ""
    old: str = ""
    new: str = ""
    workbook_sha256: str = ""
    previous: str = ""  # the hash of the line before


def _line(entry: LogEntry) -> dict[str, object]:
    record = entry.record
    line = _Line(
        schema=LOG_SCHEMA,
        case=record.case_id,
        judgement=record.code,
        effect=record.effect,
        correct_span=record.correct_span,
        correct_labels=dict(record.correct_labels),
        severity=record.severity,
        comment=record.comment,
        who=record.judge,
        when=entry.when,
        workbook=record.workbook,
        place=record.place,
        final=record.final,
        applies_to=record.applies_to,
        twin=record.twin,
        run=entry.run_id,
        outcome=entry.outcome,
        other=entry.other,
        old=entry.old,
        new=entry.new,
        workbook_sha256=record.workbook_sha256,
    )
    return {key: "" if value is None else value for key, value in plain(line).items()}


def _entry(content: object) -> LogEntry:
    if not isinstance(content, dict):
        raise ValueError(f"found {type(content).__name__}, allowed: an object")
    line = build(_Line, {key: value for key, value in content.items() if value is not None and value != ""})
    if not 1 <= line.schema <= LOG_SCHEMA:
        raise ValueError(f"schema {line.schema!r}, this version knows 1 to {LOG_SCHEMA}")
    if line.case.partition("-")[0] not in tuple(Sheet):
        raise ValueError(f"{line.case!r} is no case ID")
    record = JudgementRecord(
        line.case,
        code=line.judgement,
        effect=line.effect,
        correct_span=line.correct_span,
        correct_labels=line.correct_labels,
        severity=line.severity,
        comment=line.comment,
        judge=line.who,
        workbook=line.workbook,
        workbook_sha256=line.workbook_sha256,
        place=line.place,
        final=line.final,
        applies_to=line.applies_to,
        twin=line.twin,
    )
    return LogEntry(
        record,
        when=line.when,
        run_id=line.run,
        outcome=line.outcome,
        other=line.other,
        old=line.old,
        new=line.new,
    )
