"""The page on a re-import: figures before and after, what the cases turned out to be, what changed, what is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED
from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.html.page import render_page
from clueval_xlsx.outputs.html.tables import TextTable, text_table
from clueval_xlsx.review.vocabulary import JUDGEMENTS, words_of
from clueval_xlsx.views.numbers import decimal
from clueval_xlsx.views.overview import Bar, ScoreRow, ScoreTable
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.exceptions import Problem
    from clueval_xlsx.review.adjudication import Adjudication

# What the parts of the ledger are drawn as: whose error it was; grey where nobody's.
_LEDGER_MARKS = {"gold_error": PRED, "true_find": PRED, "model_error": GOLD, "acceptable": BOTH, "settled": BOTH}
_NOBODY = "nobody"


def adjudication_html(run: Adjudication, language: str = "en") -> str:
    """The adjudicated report of one run as one HTML file without a script."""
    words = Words(language)
    states = [ScoreRow(words[f"adjudicated.state_{row['state']}"], row) for row in run.scores.to_dict("records")]
    title = words["adjudicated.states_title"]
    judged = [record for record in run.records if record.code]
    return render_page(
        "adjudication.html",
        words,
        run=run,
        judged=len(judged),
        people=", ".join(dict.fromkeys(record.annotator for record in judged)) or words["adjudicated.nobody"],
        states=ScoreTable("states", title, words["adjudicated.state"], states),
        ledgers=[(words[f"html.{key}"], _ledger(run, sheet, words)) for sheet, key in _SHEETS],
        severities=[
            Bar(
                words[f"severity.{row['severity']}"] if row["severity"] else words["adjudicated.unrated"],
                row["misses"],
                GOLD,
            )
            for row in run.misses.to_dict("records")
        ],
        tables=[_changes(run, words), _conflicts(run, words), _agreement(run, words), _unusable(run, words)],
        signatures=list(dict.fromkeys((run.raw.signature, run.corrected.signature))),
    )


_SHEETS = ((FN, "missed"), (FP, "unsupported"))


def _ledger(run: Adjudication, sheet: str, words: Words) -> list[Bar]:
    """What the cases of a sheet turned out to be, without what never happened."""
    return [
        Bar(words[f"adjudicated.entry_{row['entry']}"], row[sheet], _LEDGER_MARKS.get(row["entry"], _NOBODY))
        for row in run.ledger.to_dict("records")
        if row[sheet]
    ]


def _table(key: str, words: Words, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> TextTable:
    return text_table(key, words[f"adjudicated.{key}"], header, rows, words[f"adjudicated.none_{key}"])


def _changes(run: Adjudication, words: Words) -> TextTable:
    name = _judgement_names(run, words)
    header = [words["column.case"], words["column.document"]]
    header += [words[f"adjudicated.{key}"] for key in ("old_span", "old_labels", "new_span", "new_labels")]
    header += [words["column.judgement"], words["adjudicated.who"], words["column.comment"]]
    rows = [
        [
            change["case"],
            change["document"],
            change["old_text"] or words["adjudicated.added"],
            change["old_labels"],
            change["new_text"] or words["adjudicated.deleted"],
            change["new_labels"],
            name(change["judgement"]),
            change["who"],
            change["comment"],
        ]
        for change in run.changes.to_dict("records")
    ]
    return _table("changes", words, header, rows)


def _conflicts(run: Adjudication, words: Words) -> TextTable:
    name = _judgement_names(run, words)
    header = [words["adjudicated.cases"], words["column.document"]]
    header += [words[f"adjudicated.{key}"] for key in ("words", "kind", "said", "place", "hint")]
    rows = [
        [
            ", ".join(conflict.cases),
            conflict.document,
            " | ".join(conflict.words),
            words[f"adjudicated.kind_{conflict.kind}"],
            "; ".join(dict.fromkeys(f"{vote.record.annotator}: {name(vote.record.code)}" for vote in conflict.rows)),
            ", ".join(dict.fromkeys(conflict.places)),
            words["adjudicated.hint_boundary" if conflict.hint else "adjudicated.hint_judge"],
        ]
        for conflict in run.conflicts
    ]
    return _table("conflicts", words, header, rows)


def _agreement(run: Adjudication, words: Words) -> TextTable:
    header = [words[f"adjudicated.{key}"] for key in ("over", "measure", "annotator", "number", "value")]
    rows = []
    for line in run.agreement.to_dict("records"):
        over = f"{line['layer']}: {line['label']}" if isinstance(line["label"], str) else line["sheet"]
        shown = over if isinstance(over, str) else words["adjudicated.over_all"]
        measure = words[f"adjudicated.measure_{line['measure']}"]
        rows.append([shown, measure, line["annotators"], line["cases"], decimal(line["value"], 2, words)])
    return _table("agreement", words, header, rows)


def _unusable(run: Adjudication, words: Words) -> TextTable:
    header = [words[f"adjudicated.{key}"] for key in ("place", "found", "reason")]
    rows = [[_place(problem), *_reason(problem, words)] for problem in run.problems]
    return _table("unusable", words, header, rows)


def _place(problem: Problem) -> str:
    """Where a row stands, without the folders of the machine that read it."""
    name, mark, place = problem.where.partition("!")
    return f"{PurePath(name).name}{mark}{place}"


def _reason(problem: Problem, words: Words) -> tuple[str, str]:
    reason = getattr(problem, "reason", "")  # rows of a workbook have one, other problems speak for themselves
    if reason:
        return getattr(problem, "value", ""), words[f"unusable.{reason}"]
    return problem.found, problem.allowed


def _judgement_names(run: Adjudication, words: Words) -> Callable[[str], str]:
    own = run.manifest.judgements if run.manifest else ()
    names = {each.code: words_of(each, words.language, words.section("judgement")) for each in (*JUDGEMENTS, *own)}
    return lambda code: names.get(code, code)
