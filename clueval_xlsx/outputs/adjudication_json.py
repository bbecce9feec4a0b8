"""What came of a re-import as JSON; numbers are not rounded, what is not defined is null."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd

from clueval_xlsx.exceptions import Problem
from clueval_xlsx.outputs.json_values import counts, rates
from clueval_xlsx.review.accounting import CaseState
from clueval_xlsx.review.adjudication import Adjudication
from clueval_xlsx.review.conflicts import CaseConflict

SCHEMA = 1


def to_json(runs: Sequence[Adjudication]) -> str:
    """The JSON text; `runs` has one entry a run, which is one unless layers were evaluated by themselves."""
    content = {"schema": SCHEMA, "runs": [describe(run) for run in runs]}
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def describe(run: Adjudication) -> dict[str, Any]:
    """Everything the JSON file holds about one run."""
    return {
        "run": run.manifest.run_id if run.manifest else None,
        "signature": run.raw.signature,
        "signature_corrected": run.corrected.signature,
        "workbooks": [
            {
                "name": book.name,
                "judge": book.judge,
                "cases": len(book.present),
                "judged": account.counts[CaseState.JUDGED],
                "unusable": account.counts[CaseState.UNUSABLE],
            }
            for book, account in zip(run.workbooks, run.workbook_accounts, strict=True)
        ],
        "account": {"cases": run.account.cases, **{str(state): n for state, n in run.account.counts.items()}},
        "scores": [_state(row) for row in run.scores.to_dict("records")],
        "unseen": "Only disagreements were judged: errors on which gold and prediction agree are not seen.",
        "estimates": _plain(run.estimates),
        "remaining": [asdict(each) for each in run.remaining],
        "ledger": run.ledger.to_dict("records"),
        "misses_by_severity": [
            {"severity": row["severity"] or None, "misses": row["misses"]} for row in run.misses.to_dict("records")
        ],
        "judgements": _plain(run.counts),
        "agreement": _plain(run.agreement),
        "changes": _plain(run.changes.drop(columns=["old", "new"])),
        "conflicts": [_conflict(conflict) for conflict in run.conflicts],
        "undecided": list(run.undecided),
        "unusable": [_problem(problem) for problem in run.problems],
        "notes": list(run.notes),
    }


def _state(row: dict[Any, Any]) -> dict[str, Any]:
    return {"state": row["state"], **counts(row), **rates(row)}


def _plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.astype(object).where(table.notna(), None)
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]


def _conflict(conflict: CaseConflict) -> dict[str, Any]:
    return {
        "kind": conflict.kind,
        "cases": list(conflict.cases),
        "document": conflict.document,
        "words": list(conflict.words),
        "rows": [
            {"place": vote.record.place, "who": vote.record.judge, "judgement": vote.record.code}
            for vote in conflict.rows
        ],
        "suggested": conflict.hint or None,
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {"place": problem.where, "found": problem.found, "allowed": problem.allowed, "remedy": problem.remedy}
