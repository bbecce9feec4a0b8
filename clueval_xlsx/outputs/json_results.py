"""Every result as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
import pandas as pd
from msgspec import UNSET

from clueval_xlsx.figures import Figures, InputFacts, SideFacts, all_scores
from clueval_xlsx.options import LabelRules, Options
from clueval_xlsx.outputs.json_structs import (
    AgreeingTwo,
    AgreementMetrics,
    ComparedCase,
    ComparisonMetrics,
    InputFile,
    Interval,
    JudgedConflict,
    LayerMetrics,
    Metrics,
    PresidioDetails,
    PresidioMetrics,
    ReimportResult,
    RunResult,
    ScoreRow,
    StatusResult,
    SystemDifference,
    TableRow,
    ThresholdMetrics,
    UnusableRow,
    WorkbookAccount,
)
from clueval_xlsx.scoring.names import LEVELS, gives_half_credit
from clueval_xlsx.scoring.scores import COUNTS, RATES, RIGHT_OR_WRONG

if TYPE_CHECKING:
    from clueval_xlsx.comparison import Comparison
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.exceptions import Problem
    from clueval_xlsx.pairwise_agreement import PairwiseAgreement
    from clueval_xlsx.review.adjudication import Adjudication
    from clueval_xlsx.review.progress import Account, WorkbookProgress
    from clueval_xlsx.scoring.thresholds import Thresholds

Row = TypeVar("Row", bound=msgspec.Struct)
_END_OF_ROWS = b"\n ]\n}\n"  # of the last list of a result


def json_text(result: msgspec.Struct) -> str:
    """A result as JSON whose longest lists have one item a line, so that it can be read and compared line by line."""
    parts = []
    for field in msgspec.structs.fields(result):
        value = getattr(result, field.name)
        if value is UNSET:
            continue
        shown = _text(value, 1).replace("\n", "\n ")
        if isinstance(value, list) and value and isinstance(value[0], msgspec.Struct | dict):
            shown = "[\n  " + ",\n  ".join(_text(row, 0) for row in value) + "\n ]"
        parts.append(f' "{field.encode_name}": {shown}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _text(value: object, indent: int) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()
    except UnicodeEncodeError:  # half a surrogate pair in a label, which JSON may hold
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False, indent=indent or None)


def rows_of(kind: type[Row], table: pd.DataFrame, **more: Sequence[Any]) -> list[Row]:
    """The rows of a table by whole columns; `more` are columns that it does not have so."""
    columns: list[Sequence[Any]] = []
    for name in kind.__struct_fields__:
        if name in more:
            columns.append(more[name])
        else:
            columns.append(_or_none(table[name]) if name in table else [UNSET] * len(table))
    return list(map(kind, *columns))


def score_rows(table: pd.DataFrame) -> list[ScoreRow]:
    """All rows of a score table."""
    table = _whole_counts(table)
    keyed = zip(_or_none(table["group_key"]), _or_none(table["group"]), strict=True)
    groups = [None if key is None else {key: group} for key, group in keyed]
    named = [counts if isinstance(counts, dict) else UNSET for counts in table["counts"].tolist()]
    return rows_of(ScoreRow, table, interval=_intervals(table), group=groups, counts=named)


def _whole_counts(table: pd.DataFrame) -> pd.DataFrame:
    """The table with integers for counts. Where matches may be half right no true positives are whole, and so none."""
    schemes, variants = _or_none(table["scheme"]), _or_none(table["variant"])
    halves = np.array([gives_half_credit(*pair) for pair in zip(schemes, variants, strict=True)], dtype=bool)
    columns = {}
    for name in COUNTS:
        whole = table[name].mask(halves) if name in RIGHT_OR_WRONG else table[name]
        columns[name] = whole.astype("Int64")
    return table.assign(**columns)


def _headlines(table: pd.DataFrame, options: Options) -> list[ScoreRow]:
    """The headline at several thresholds, or in several states."""
    none = dict.fromkeys(("variant", "layer", "label", "group_key", "group", "counts"))
    chosen = {"scheme": "clueval", "level": options.level, "labelled": options.labelled, "average": "micro"}
    return score_rows(table.assign(**none, **chosen))


def _table(table: pd.DataFrame) -> list[TableRow]:
    """The rows of any table."""
    rows: list[TableRow] = table.astype(object).where(table.notna(), None).to_dict("records")
    return rows


def score_row(row: pd.Series) -> ScoreRow:
    """One row of a score table."""
    return score_rows(pd.DataFrame([row]))[0]


def _or_none(column: pd.Series) -> list[Any]:
    """The values of a column, None where there is none."""
    values: list[Any] = column.tolist()
    for row in np.flatnonzero(column.isna().to_numpy(bool)).tolist():
        values[row] = None
    return values


def _intervals(table: pd.DataFrame) -> list[dict[str, Interval] | None]:
    """The intervals that are known of each row; few rows have any."""
    found: list[dict[str, Interval] | None] = [None] * len(table)
    for name in RATES:
        low, high = table[f"{name}_low"].to_numpy(float), table[f"{name}_high"].to_numpy(float)
        for row in np.flatnonzero(~np.isnan(low)).tolist():
            found[row] = {**(found[row] or {}), name: (float(low[row]), float(high[row]))}
    return found


# From results


def metrics(evaluation: Figures, *others: Figures) -> Metrics:
    """Headline, score rows, and Presidio's figures under a key of their own; `others` are of further layers."""
    parts = (evaluation, *others)
    found = _metrics(evaluation, score_rows(all_scores(parts)))
    if others:
        found.layers = {part.layers[0]: LayerMetrics(part.signature, score_row(part.headline)) for part in parts}
    found.presidio = presidio_figures(evaluation)
    found.presidio.confusion = _confusion(evaluation)
    return found


def score_lines(table: pd.DataFrame) -> list[bytes]:
    """Score rows as they follow others in metrics.json."""
    return [f",\n  {_text(row, 0)}".encode("utf-8", "backslashreplace") for row in score_rows(table)]


def metrics_parts(parts: Sequence[Figures], lines: Iterable[bytes]) -> Iterator[bytes]:
    """metrics.json piece by piece: score rows that `score_lines` has written follow those of the figures."""
    whole = json_text(metrics(*parts)).encode("utf-8", "backslashreplace")
    yield whole.removesuffix(_END_OF_ROWS)
    yield from lines
    yield _END_OF_ROWS


def presidio_metrics(evaluation: Figures) -> PresidioMetrics:
    """The file that Presidio's pipeline writes, and ours below it."""
    found = presidio_figures(evaluation)
    found.clueval = _metrics(evaluation, score_rows(all_scores([evaluation])))
    return found


def _metrics(evaluation: Figures, rows: list[ScoreRow]) -> Metrics:
    inputs = evaluation.inputs
    found = Metrics(
        signature=evaluation.signature,
        inputs={"gold": _side(inputs, inputs.gold), "pred": _side(inputs, inputs.pred)},
        headline=score_row(evaluation.headline),
        notes=list(evaluation.notes),
        scores=rows,
    )
    if evaluation.options.labels != LabelRules():
        found.labels = evaluation.alignment.describe()
    return found


def _side(inputs: InputFacts, side: SideFacts) -> InputFile:
    return InputFile(
        path=side.name,
        sha256=side.sha256,
        documents=inputs.documents,
        sentences=inputs.sentences,
        tokens=inputs.tokens,
        spans=side.spans,
        orphans=dict(side.orphans),
    )


def _confusion(evaluation: Figures) -> dict[str, dict[str, int]] | None:
    """By type of gold, then by type of the predictions; `O` is none."""
    if (counts := evaluation.presidio_confusion) is None:
        return None
    found: dict[str, dict[str, int]] = {}
    for (gold, pred), count in sorted(counts.items()):
        found.setdefault(gold, {})[pred] = count
    return found


def presidio_figures(evaluation: Figures) -> PresidioMetrics:
    """What Presidio's pipeline reports."""
    rows = evaluation.presidio
    overall = score_rows(rows[rows["labelled"].isna() & rows["layer"].isna()])[0]
    found_somewhere = (rows["gold"] > 0) | (rows["pred"] > 0)
    by_type = score_rows(rows[rows["labelled"].notna() & rows["label"].notna() & found_somewhere])
    documents, discarded = evaluation.inputs.documents, len(evaluation.alignment.discarded)
    details = PresidioDetails(
        overall.precision,
        overall.recall,
        overall.f_beta,
        {str(row.label): row.precision for row in by_type},
        {str(row.label): row.recall for row in by_type},
        documents,
        documents - discarded,
        discarded,
    )
    return PresidioMetrics(overall.precision, overall.recall, overall.f_beta, details)


def comparison_metrics(comparison: Comparison) -> ComparisonMetrics:
    """Everything that `compare` found."""
    differences, errors = comparison.differences, comparison.errors
    low, high = _or_none(differences["low"]), _or_none(differences["high"])
    intervals = [None if None in pair else pair for pair in zip(low, high, strict=True)]
    labels = {name.removeprefix("label_"): errors[name].tolist() for name in errors if name.startswith("label_")}
    classes = {name: [kind or None for kind in errors[f"class_{at}"]] for at, name in enumerate(comparison.names)}
    systems = []
    for each in comparison.systems:
        source, own = each.evaluation.pair.pred.source, each.evaluation.signature
        systems.append(InputFile(name=each.name, path=source.name, sha256=source.sha256, signature=own))
    return ComparisonMetrics(
        signature=comparison.signature,
        systems=systems,
        documents=len(comparison.documents),
        notes=list(comparison.notes),
        metrics=score_rows(comparison.metrics),
        differences=rows_of(SystemDifference, differences, interval=intervals),
        errors=_table(comparison.shared),
        cases=rows_of(
            ComparedCase,
            errors,
            labels=[dict(zip(labels, own, strict=True)) for own in zip(*labels.values(), strict=True)],
            class_=[dict(zip(classes, own, strict=True)) for own in zip(*classes.values(), strict=True)],
        ),
    )


def agreement_metrics(found: PairwiseAgreement) -> AgreementMetrics:
    """Who was compared, a matrix of F1 for each level, who stands apart, and the score rows of every two."""
    pairs = []
    for pair in found.pairs:
        two = AgreeingTwo(pair.first, pair.second, 0, None, [], [])
        if (result := pair.evaluation) is not None:
            two.documents, two.signature = len(result.pair.corpus.documents), result.signature
            two.scores, two.notes = score_rows(all_scores([result])), list(result.notes)
        pairs.append(two)
    sources = [(name, reading.source) for name, reading in zip(found.names, found.readings, strict=True)]
    apart = found.apart
    return AgreementMetrics(
        compared=[InputFile(name=name, path=source.name, sha256=source.sha256) for name, source in sources],
        level=found.options.level,
        labelled=found.options.labelled,
        apart=None if apart is None else {"name": apart.name, "f1": apart.own, "f1_of_others": apart.others},
        matrices=[
            {"level": level, "labelled": labelled, "f1": found.matrix(level, labelled).to_numpy(float).tolist()}
            for labelled in (None, *found.layers)
            for level in LEVELS
        ],
        pairs=pairs,
    )


def threshold_metrics(evaluation: Evaluation, found: Thresholds, least: float | None) -> ThresholdMetrics:
    """Every threshold, and the one that was chosen for this least recall."""
    rows, chosen = _headlines(found.table, evaluation.options), found.highest_with_recall(least)
    inputs = evaluation.inputs
    return ThresholdMetrics(
        signature=evaluation.signature,
        inputs={"gold": _side(inputs, inputs.gold), "pred": _side(inputs, inputs.pred)},
        least_recall=least,
        chosen=None if chosen is None else rows[chosen],
        constant=found.constant,
        unscored=found.unscored,
        notes=list(evaluation.notes),
        thresholds=rows,
    )


def reimport_result(runs: Sequence[Adjudication]) -> ReimportResult:
    """What came of a re-import."""
    return ReimportResult(runs=[_judged_run(run) for run in runs])


def _judged_run(run: Adjudication) -> RunResult:
    conflicts = []
    for conflict in run.conflicts:
        votes = [vote.record for vote in conflict.rows]
        said = [{"place": vote.place, "who": vote.judge, "judgement": vote.code} for vote in votes]
        about = (conflict.kind, list(conflict.cases), conflict.document, list(conflict.words))
        conflicts.append(JudgedConflict(*about, said, conflict.hint or None))
    return RunResult(
        run.manifest.run_id if run.manifest else None,
        run.raw.signature,
        run.corrected.signature,
        [
            WorkbookAccount(name=book.name, judge=book.judge, account=_account(account))
            for book, account in zip(run.workbooks, run.workbook_accounts, strict=True)
        ],
        _account(run.account),
        _headlines(run.scores, run.raw.options),
        "Only disagreements were judged: errors on which gold and prediction agree are not seen.",
        _table(run.estimates),
        [asdict(each) for each in run.remaining],
        _table(run.ledger),
        _table(run.misses.replace({"severity": {"": None}})),
        _table(run.agreement),
        _table(run.changes.drop(columns=["old", "new"])),
        conflicts,
        list(run.undecided),
        [_row(problem) for problem in run.unusable],
        [_row(problem) for problem in run.left_over],
        list(run.notes),
    )


def _row(problem: Problem) -> UnusableRow:
    return UnusableRow(problem.where, problem.found, problem.allowed, problem.remedy)


def status_result(workbooks: Sequence[WorkbookProgress], missing: Sequence[str]) -> StatusResult:
    """Where the cases of each workbook stand, and whose workbook is missing."""
    rows = [
        WorkbookAccount(
            name=book.name,
            judge=book.judge,
            account=_account(book.account),
            problems=[str(problem) for problem in book.problems],
            notes=list(book.notes),
            run=book.manifest.run_id if book.manifest else None,
        )
        for book in workbooks
    ]
    return StatusResult(workbooks=rows, missing=list(missing))


def _account(account: Account) -> dict[str, int]:
    return {"cases": account.cases, **{str(state): number for state, number in account.counts.items()}}
