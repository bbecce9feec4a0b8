"""Judgements as records: what one person decided about one case, and the log that keeps them as JSON Lines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.exceptions import InputError

LOG_SCHEMA = 1
# How a judgement fared: it changed gold, it left gold alone, others outvoted it, nobody won, or it clashed.
APPLIED, UNCHANGED, OUTVOTED, OPEN, HELD = "applied", "unchanged", "outvoted", "open", "held"
DECIDED = (APPLIED, UNCHANGED)
_KEY_BYTES = 10


@dataclass(frozen=True)
class JudgementRecord:
    """One judged row of a workbook, its words turned into codes.

    `correct_span` is a choice (`as_model`, …) or the words that were typed; `code` is empty where somebody only
    rated the severity or left a comment. `sheet` is FN or FP, `place` says where the row stands.
    """

    case_id: str
    code: str = ""
    effect: str = ""
    correct_span: str = ""
    correct_labels: Mapping[str, str] = field(default_factory=dict)
    severity: str = ""
    comment: str = ""
    annotator: str = ""
    workbook: str = ""
    place: str = ""
    final: bool = False  # from a conflict workbook: this person has the last word

    @property
    def sheet(self) -> str:
        """FN or FP, which the case ID begins with."""
        return self.case_id.partition("-")[0]


@dataclass(frozen=True)
class LogEntry:
    """One line of the log: a judgement, when it was brought home, and what became of it."""

    record: JudgementRecord
    when: str = ""
    run_id: str = ""
    outcome: str = ""
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


def write_log(entries: Iterable[LogEntry]) -> str:
    """Entries as JSON Lines, to be appended to what is there."""
    return "".join(json.dumps(_line(entry), ensure_ascii=False) + "\n" for entry in entries)


def read_log(text: str, name: str = "judgements.jsonl") -> list[LogEntry]:
    """Read JSON Lines back, oldest first; blank lines are allowed.

    >>> entry = LogEntry(JudgementRecord("FN-AAAA", "gold_wrong", "delete", annotator="Anna"), outcome="applied")
    >>> read_log(write_log([entry])) == [entry]
    True
    """
    found = []
    for number, line in enumerate(text.split("\n"), 1):  # a comment may hold what Python takes for a line end
        if not line.strip():
            continue
        try:
            found.append(_entry(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise InputError(
                f"{name}:{number}: this line is no judgement ({error}). Allowed: the JSON Lines that "
                "`reimport --judgements` writes. Remove the line or take another file."
            ) from None
    return found


def new_entries(known: Sequence[LogEntry], entries: Sequence[LogEntry]) -> list[LogEntry]:
    """The entries that say something else than the newest one about the same case by the same person."""
    newest = {(entry.record.case_id, entry.record.annotator): entry for entry in known}

    def is_new(entry: LogEntry) -> bool:
        old = newest.get((entry.record.case_id, entry.record.annotator))
        return old is None or replace(old, when=entry.when) != entry

    return [entry for entry in entries if is_new(entry)]


def latest_decisions(entries: Sequence[LogEntry]) -> dict[str, LogEntry]:
    """For each case the newest entry that decided it."""
    return {entry.record.case_id: entry for entry in entries if entry.outcome in DECIDED and entry.record.code}


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
        compares = entry.record.effect in {"boundary", "label", "accept"} or bool(entry.record.correct_span)
        (hints if compares and entry.other != key else carried)[case_id] = entry.record
    return carried, hints


def _line(entry: LogEntry) -> dict[str, Any]:
    record = entry.record
    line: dict[str, Any] = {
        "schema": LOG_SCHEMA,
        "case": record.case_id,
        "judgement": record.code,
        "effect": record.effect,
        "correct_span": record.correct_span,
        "correct_labels": dict(record.correct_labels),
        "severity": record.severity,
        "comment": record.comment,
        "who": record.annotator,
        "when": entry.when,
        "workbook": record.workbook,
        "place": record.place,
        "final": record.final,
        "run": entry.run_id,
        "outcome": entry.outcome,
        "other": entry.other,
        "old": entry.old,
        "new": entry.new,
    }
    return line


def _entry(line: Mapping[str, Any]) -> LogEntry:
    schema = line["schema"]
    if not isinstance(schema, int) or schema > LOG_SCHEMA:
        raise ValueError(f"schema {schema!r}, this version knows up to {LOG_SCHEMA}")
    case_id = str(line["case"])
    if case_id.partition("-")[0] not in {FN, FP, AG}:
        raise ValueError(f"{case_id!r} is no case ID")
    labels = {str(layer): str(label) for layer, label in line.get("correct_labels", {}).items()}
    texts = {
        name: str(line.get(key) or "")
        for name, key in (
            ("code", "judgement"),
            ("effect", "effect"),
            ("correct_span", "correct_span"),
            ("severity", "severity"),
            ("comment", "comment"),
            ("annotator", "who"),
            ("workbook", "workbook"),
            ("place", "place"),
        )
    }
    record = replace(JudgementRecord(case_id, correct_labels=labels, final=bool(line.get("final"))), **texts)  # type: ignore[arg-type]
    return LogEntry(
        record,
        **{
            name: str(line.get(key) or "")
            for name, key in (
                ("when", "when"),
                ("run_id", "run"),
                ("outcome", "outcome"),
                ("other", "other"),
                ("old", "old"),
                ("new", "new"),
            )
        },
    )
