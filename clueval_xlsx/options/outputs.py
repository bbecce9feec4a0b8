"""Where the results of a command go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clueval_xlsx.options.declaration import Section, setting
from clueval_xlsx.options.values import File, Text

_SCORING = "evaluate score compare"


@dataclass(frozen=True, kw_only=True)
class OutputOptions(Section, section="output"):
    """Where results go."""

    output: File | None = setting(
        None, "The review workbook [review.xlsx].", "-o/--output", "FILE", typed=True, commands="evaluate"
    )
    comparison: File | None = setting(
        None, "The comparison as a workbook.", "-o/--output", "FILE", typed=True, commands="compare"
    )
    corrected: File | None = setting(
        None, "The corrected gold file; - prints it.", "-o/--output", "FILE", typed=True, commands="reimport"
    )
    predictions: File | None = setting(
        None, "The predictions: a file, or a folder for brat.", "-o/--output", "FILE", typed=True, commands="predict"
    )
    json: File | None = setting(
        None, "All figures as JSON; - prints them.", "--json", "FILE", typed=True,
        commands=f"{_SCORING} agree reimport status",
    )  # fmt: skip
    html: File | None = setting(
        None, "The report to read, as a page.", "--html", "FILE", typed=True, commands="evaluate compare agree reimport"
    )
    files: File | None = setting(
        None, "Folder for metrics.json, CSV of scores and cases.", "--files", "DIR", typed=True, commands="evaluate"
    )
    report: File | None = setting(
        None, "The adjudicated report (.xlsx).", "--report", "FILE", typed=True, commands="reimport"
    )
    judgements: File | None = setting(
        None, "Append the judgements to this log.", "--judgements", "FILE", typed=True, commands="reimport"
    )
    conflicts: File | None = setting(
        None, "Workbook of open cases, for a third person.", "--conflicts", "FILE", typed=True, commands="reimport"
    )
    changes: File | None = setting(None, "The change log (TSV).", "--changes", "FILE", typed=True, commands="reimport")
    as_: Literal["table", "json", "csv", "markdown", "latex"] = setting(
        "table", "table, json, csv, markdown, latex.", "--as", "FORM", commands="score"
    )
    to: Text | None = setting(None, "Output format [by the ending].", "--to", "FORMAT", commands="convert predict")
    sentences: bool | None = setting(
        None,
        "Whether sentence ends are written [.vrt: as in the source; CoNLL: also guessed ones].",
        commands="convert",
    )
    thresholds: bool = setting(
        False, "Figures at every threshold of the scores.", "--thresholds", typed=True,
        commands="score", heading="Scores",
    )  # fmt: skip
    force: bool = setting(
        False, "Overwrite workbooks with judgements in them.", "--force", typed=True,
        commands="evaluate compare agree reimport convert predict demo",
    )  # fmt: skip
    head: Text | None = setting(
        None, "Head of the log, as reimport printed it.", "--head", "HASH", typed=True,
        commands="validate", heading="General",
    )  # fmt: skip
