"""What a lead reads first of a re-import: one sentence, a few large figures, and what is to be done next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval_xlsx.cases.kinds import FN, FP, UM, Sheet
from clueval_xlsx.views import numbers
from clueval_xlsx.views.overview import Tile
from clueval_xlsx.views.scores import RateView, score_view
from clueval_xlsx.views.tables import ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication

_UNSETTLED = ("undecided", "open", "unjudged")
_NONE = float("nan")


@dataclass(frozen=True)
class NextStep:
    """Something to be done: in words, and for those at a command line what they type."""

    text: str
    command: str = ""


def headline_sentence(run: Adjudication, words: Words) -> str:
    """One sentence: how much is judged, what the misses were, what that does to recall, and what is open."""
    ledger = run.ledger.set_index("entry")
    settled = int(ledger[FN].drop(list(_UNSETTLED)).sum())
    parts = [
        words.counted(
            "lead.judged",
            _all(run),
            judged=numbers.count(_all(run) - _number(run, "unjudged"), words),
            cases=numbers.count(_all(run), words),
        )
    ]
    if settled:
        errors = int(ledger.loc["gold_error", FN])
        key = "lead.misses_counted" if 1 in (settled, errors) else "lead.misses"
        parts.append(words(key, settled=numbers.count(settled, words), errors=numbers.count(errors, words)))
    if UM in ledger.columns:
        both, listed = int(ledger.loc["missed_by_both", UM]), int(ledger[UM].sum())
        counts = {"both": numbers.count(both, words), "listed": numbers.count(listed, words)}
        parts.append(words.counted("lead.both_missed", both, **counts))
    parts += [_recall(run, words), *_left(run, words)]
    return words("lead.sentence", parts=words["lead.joined"].join(parts))


def lead_tiles(run: Adjudication, words: Words) -> tuple[Tile, ...]:
    """Recall and precision after correction, and how much was judged, changed, and is left."""
    before, after = (score_view("", each.headline) for each in (run.raw, run.corrected))
    ledger = run.ledger.set_index("entry")
    wrong = int(ledger.loc["gold_error", [FN, FP]].sum()) + int(ledger.loc["true_find", [FN, FP]].sum())
    return (
        *(
            Tile(
                words[f"metrics.{rate}"],
                getattr(after, rate),
                ValueKind.RATE,
                words("lead.before", rate=numbers.rate(getattr(before, rate).value, words)),
            )
            for rate in ("recall", "precision")
        ),
        _count(words["lead.tile_judged"], _all(run) - _number(run, "unjudged"), _of_all(_all(run), words)),
        _count(words["lead.tile_wrong"], wrong, words["lead.tile_wrong_note"]),
        _count(words["lead.tile_changes"], len(run.correction.changes), words["lead.tile_changes_note"]),
        _count(
            words["lead.tile_open"],
            _number(run, "open"),
            words("lead.tile_open_note", rows=numbers.count(len(run.problems), words)),
        ),
    )


def next_steps(run: Adjudication, words: Words, conflict_workbook: str = "") -> tuple[NextStep, ...]:
    """What is to be done, the most pressing first; one step that says so where nothing is.

    Where the workbook of the cases in conflict is written already, its step says how it comes back.
    """
    steps = []
    if conflicts := _number(run, "open"):
        files = f"{conflict_workbook} --gold GOLD" if conflict_workbook else "--gold GOLD --conflicts third.xlsx"
        steps.append(
            NextStep(
                words("lead.next_conflicts", count=numbers.count(conflicts, words)),
                f"clueval-xlsx reimport WORKBOOK… {files}",
            )
        )
    if run.problems:
        steps.append(
            NextStep(
                words("lead.next_unusable", count=numbers.count(len(run.problems), words)),
                "clueval-xlsx status WORKBOOK…",
            )
        )
    if run.missing_people:
        steps.append(NextStep(words("lead.next_missing", people=", ".join(run.missing_people))))
    if unjudged := run.unjudged:
        steps.append(NextStep(words("lead.next_open", count=numbers.count(unjudged, words))))
    return tuple(steps) or (NextStep(words["lead.next_nothing"]),)


def unjudged_sentence(run: Adjudication, words: Words) -> str:
    """How many cases nobody judged, in words: as a bar they would flatten the rest."""
    row = run.ledger.set_index("entry").loc["unjudged"]
    if not _number(run, "unjudged"):
        return words["lead.all_judged"]
    parts = [
        words(f"lead.unjudged_{sheet.lower()}", count=numbers.count(int(row[sheet]), words))
        for sheet in _sheets(run)
        if row[sheet]
    ]
    return words("lead.unjudged", parts=", ".join(parts))


def _all(run: Adjudication) -> int:
    """All cases of the run."""
    return int(run.ledger[_sheets(run)].to_numpy().sum())


def _number(run: Adjudication, entry: str) -> int:
    """How many cases turned out to be this."""
    return int(run.ledger.set_index("entry").loc[entry, _sheets(run)].sum())


def _sheets(run: Adjudication) -> list[str]:
    return [sheet for sheet in Sheet if sheet in run.ledger.columns]


def _recall(run: Adjudication, words: Words) -> str:
    before, after = (score_view("", each.headline).recall.value for each in (run.raw, run.corrected))
    shown = {"before": numbers.per_cent(before, words), "after": numbers.rate(after, words)}
    if numbers.undefined(before) or numbers.undefined(after):
        return words["lead.recall_undefined"]
    if shown["before"] == numbers.per_cent(after, words):
        return words("lead.recall_stays", **shown)
    return words("lead.recall_rises" if after > before else "lead.recall_falls", **shown)


def _left(run: Adjudication, words: Words) -> list[str]:
    conflicts, rows = _number(run, "open"), len(run.problems)
    if not conflicts and not rows:
        return [words["lead.nothing_left"]]
    return [
        words("lead.in_conflict", count=numbers.count(conflicts, words)),
        words("lead.rows", count=numbers.count(rows, words)),
    ]


def _of_all(total: int, words: Words) -> str:
    return words("of_all", total=numbers.count(total, words))


def _count(name: str, value: int, note: str) -> Tile:
    return Tile(name, RateView(value, _NONE, _NONE), ValueKind.COUNT, note)
