"""The table of all changes of the reference."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from clueval_xlsx.review.adjudication_words import case_number, judgements_of, label_difference, sentence_differences
from clueval_xlsx.review.case_words import judgement_names
from clueval_xlsx.review.correction import extent
from clueval_xlsx.views.tables import TableColumn, TableRow, TableView, ValueKind, WordDifference
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication


def change_table(run: Adjudication, words: Words) -> TableView:
    """Every change of the reference, in the order of the text."""
    names = judgement_names(judgements_of(run), words)
    changes = sorted(run.correction.changes, key=lambda change: extent(change.old or change.new))
    pair = run.raw.pair
    sentences = sentence_differences(changes, pair.corpus)
    rows: list[TableRow] = []
    for change, sentence, logged in zip(changes, sentences, run.changes.to_dict("records"), strict=True):
        case = case_number(run, change.case_id)
        if logged["twin"]:
            case = words("adjudicated.as_twin", case=case, twin=case_number(run, logged["twin"]))
        rows.append(
            (
                case,
                logged["document"],
                WordDifference(sentence),
                WordDifference(label_difference(change, pair.layers, pair.corpus, words)),
                names.get(change.code, change.code),
                logged["who"],
                logged["comment"],
                ", ".join(PurePath(name).name for name in logged["workbook"].split(", ")),
                change.case_id,
            )
        )
    headings = {key: words.get(f"adjudicated.{key}") or words[f"column.{key}"] for key in _COLUMNS}
    kinds = {"difference": ValueKind.DIFFERENCE, "labels": ValueKind.DIFFERENCE}
    columns = tuple(TableColumn(key, headings[key], kinds.get(key, ValueKind.TEXT)) for key in _COLUMNS)
    note, empty = words["adjudicated.changes_note"], words["adjudicated.none_changes"]
    return TableView("changes", words["adjudicated.changes"], columns, tuple(rows), note, empty)


_COLUMNS = ("case", "document", "difference", "labels", "judgement", "who", "comment", "workbook", "case_id")
