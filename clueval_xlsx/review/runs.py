"""Which run a workbook belongs to, whether it fits the gold file, and the pair that its manifest brings back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePath

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP, Sheet
from clueval_xlsx.cases.table import case_table
from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.pair import Pair, make_pair, on_pair
from clueval_xlsx.corpus.reading import Reading, digest, spans_on_tokens
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.sheets import SheetTable
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.review.manifest import Manifest, refuse_without_text
from clueval_xlsx.review.reading import (
    all_judgements,
    case_ids,
    find_run_ids,
    has_review_sheet,
    read_judgements,
    read_manifest,
    refuse_report,
)
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.review.vocabulary import MANIFEST_SHEET, Effect
from clueval_xlsx.scoring.matching import MatchedSpans

_CHANGING = frozenset({Effect.DELETE, Effect.BOUNDARY, Effect.LABEL})
_SHOWN = 10  # characters of a hash that people see; run IDs hold as many
_MOST_LINE_ENDS = 3  # at the end of a file that may be the same as another


@dataclass(frozen=True, eq=False)
class OpenedWorkbook:
    """A workbook before its judgements are read: its tables, and what it says about its run."""

    name: str
    tables: Sequence[SheetTable]
    manifest: Manifest | None
    run_id: str
    sha256: str = ""  # of the file as it was given
    saved: str = ""  # when the file was saved, as it says itself


def open_workbook(data: bytes, name: str, password: str | None = None) -> OpenedWorkbook:
    """Read a workbook's tables and find out which run it belongs to; raises if it is no review workbook."""
    workbook = read_workbook(data, name, password)
    tables = workbook.sheets
    manifest = read_manifest(tables, name)
    refuse_without_text(manifest, name)
    refuse_report(tables, name, manifest)
    without_cases = manifest is not None and not any(manifest.cases.values())
    if not without_cases and not has_review_sheet(tables):
        raise InputError(
            f"{name}: found no sheet with cases ({', '.join(table.name for table in tables) or 'no sheet at all'}). "
            "Allowed: a sheet whose rows carry case IDs. Send the workbook that `evaluate` wrote."
        )
    found = find_run_ids(tables)
    known = dict.fromkeys([*([manifest.run_id] if manifest else []), *found])
    if len(known) > 1:
        raise InputError(
            f"{name}: holds sheets of different runs ({', '.join(known)}). "
            "Put the sheets of each run into a workbook of its own."
        )
    return OpenedWorkbook(name, tables, manifest, next(iter(known), ""), digest(data), workbook.saved)


def group_by_run(workbooks: Sequence[OpenedWorkbook]) -> dict[str, list[OpenedWorkbook]]:
    """Workbooks by their run, in the order given."""
    runs: dict[str, list[OpenedWorkbook]] = {}
    for workbook in workbooks:
        run = workbook.run_id or _run_by_cases(workbook, workbooks)
        runs.setdefault(run, []).append(replace(workbook, run_id=run))
    return runs


def _run_by_cases(workbook: OpenedWorkbook, others: Sequence[OpenedWorkbook]) -> str:
    """The run of a workbook that says nothing of it, such as rows that were moved to a new one: told by its cases."""
    own = {case for sheet in Sheet for case in case_ids(workbook.tables, sheet)}
    found = {
        other.run_id for other in others if other.manifest is not None and own <= set(other.manifest.case_list.ids)
    }
    if len(found) != 1:
        raise InputError(
            f"{workbook.name}: found neither the hidden sheet {MANIFEST_SHEET} nor a run ID on a review sheet, so "
            "nobody can tell which files it belongs to. Give it along with the workbook that `evaluate` wrote."
        )
    return next(iter(found))


def manifest_of(workbooks: Sequence[OpenedWorkbook]) -> Manifest | None:
    """The manifest of a run: every workbook of the run has the same, if it has one."""
    return next((workbook.manifest for workbook in workbooks if workbook.manifest is not None), None)


def manifest_place(workbooks: Sequence[OpenedWorkbook]) -> str:
    """Where the manifest of a run stands, for a message."""
    return next((f"{book.name}!{MANIFEST_SHEET}" for book in workbooks if book.manifest is not None), "manifest")


def read_options_of(manifest: Manifest, side: str = "gold") -> ReadOptions:
    """How a side was read when the run was evaluated."""
    known = manifest.reading.get(side, ReadOptions())
    columns = manifest.settings.columns.get(side, {})
    layers = known.layers or {layer: column for layer, column in columns.items() if isinstance(column, int)}
    return replace(known, layers=layers)


def restore_pair(manifest: Manifest, gold: Reading, where: str = "manifest") -> Pair:
    """Gold and the predictions of the manifest, brought together as they were when the run was evaluated."""
    where = f"{where}, run {manifest.run_id}"
    added = None
    if manifest.cut is not None:
        added = manifest.cut.added
        gold = on_pair(gold, added, manifest.cut.documents)
    if manifest.tokens and manifest.tokens != len(gold.corpus):
        raise InputError(
            f"{where}: {gold.source.name} has {len(gold.corpus):,} tokens as it is read now, but the run "
            f"had {manifest.tokens:,}. Read it with the options it was evaluated with, or give --pred."
        )
    missing = [layer for layer in manifest.layers if layer not in gold.layer_names]
    if missing:
        raise InputError(
            f"{where}: {gold.source.name} has no layer {', '.join(missing)}, which the run was about. "
            f"Layers: {', '.join(gold.layer_names)}. Give the columns with --layer."
        )
    layers = manifest.predictions
    if set(layers) != set(manifest.layers):
        raise InputError(f"{where}: the manifest lacks the predictions of a layer. Give the prediction with --pred.")
    if any(len(spans) and int(spans["end"].max()) >= len(gold.corpus) for spans in layers.values()):
        raise InputError(f"{where}: the manifest has predictions behind the end of the text. Give --pred.")
    source = Source(
        manifest.pred.name or "pred",
        "manifest",
        manifest.pred.sha256,
        manifest.settings.columns.get("pred", {}),
        reading=asdict(manifest.reading["pred"]) if "pred" in manifest.reading else {},
        detector=manifest.pred.detector,
    )
    gold = gold.only_layers(manifest.layers)
    pred = spans_on_tokens(source, gold.corpus, {layer: layers[layer] for layer in manifest.layers})
    return replace(make_pair(gold, pred), added=added, gold_token=gold.token_of)


def expected_gold(workbook: OpenedWorkbook) -> str:
    """The hash of the gold file that a workbook was made from; only its beginning if the manifest is lost."""
    return workbook.run_id[:_SHOWN] if workbook.manifest is None else workbook.manifest.gold.sha256


def check_gold(workbooks: Sequence[OpenedWorkbook], gold: Reading, path: Path | None = None) -> None:
    """Refuse workbooks of another gold file, of an older state of it, and those that were applied to it already.

    `path` is the gold file, if it is one; what differs only in its line ends is told as that.
    """
    known = manifest_of(workbooks)
    for workbook in workbooks:
        expected = expected_gold(workbook)
        if gold.source.sha256.startswith(expected) and expected:
            continue
        made = f"{known.gold.name or 'a file'} ({expected[:_SHOWN]})" if known else f"a file {expected[:_SHOWN]}"
        given = f"{PurePath(gold.source.name).name} ({gold.source.sha256[:_SHOWN]})"
        if known is not None and gold.source.sha256 == known.pred.sha256:
            raise InputError(
                f"{workbook.name}: --gold is {given}, the prediction of this run. Give its gold file, {made}."
            )
        if known is not None and _looks_applied(workbook, known, gold):
            raise InputError(
                f"{workbook.name}: was already applied: {given} holds its corrections. Give the gold file as it was "
                f"before, {made}, or evaluate the corrected one anew."
            )
        if path is not None and path.is_file() and _same_but_for_line_ends(path.read_bytes(), expected):
            raise InputError(
                f"{workbook.name}: belongs to another state of the gold file: it was made from {made}, and --gold is "
                f"{given}, the same but for line ends (LF or CRLF, or blank lines at its end). Give the file as it "
                "was, or change its line ends back."
            )
        raise InputError(
            f"{workbook.name}: belongs to another gold file: it was made from {made}, but --gold is {given}. "
            "Give the gold file it was made from. If gold has been changed since, the judgements can be carried over "
            "to it: `reimport … --gold OLD --judgements log.jsonl`, then `evaluate NEW PRED --previous log.jsonl`."
        )


def _same_but_for_line_ends(content: bytes, expected: str) -> bool:
    """Whether content with other line ends, or with other blank lines at its end, has the expected hash."""
    bare = content.replace(b"\r\n", b"\n").rstrip(b"\n")
    with_ends = (bare + b"\n" * number for number in range(_MOST_LINE_ENDS + 1))
    found = (text.replace(b"\n", end) for text in with_ends for end in (b"\n", b"\r\n"))
    return bool(expected) and any(digest(text).startswith(expected) for text in found)


def _looks_applied(workbook: OpenedWorkbook, manifest: Manifest, gold: Reading) -> bool:
    """Whether everything that a workbook would change is changed in this file."""
    try:
        pair = restore_pair(manifest, gold)
        words = SheetWords(manifest.layers, all_judgements([manifest]), columns=manifest.columns)
        judged = read_judgements(workbook.tables, workbook.name, manifest, words)
    except InputError:
        return False
    missed, unsupported = (
        set(_case_ids(pair, side.spans, sheet)) for side, sheet in ((pair.gold, FN), (pair.pred, FP))
    )
    added = set(_case_ids(pair, pair.gold.spans, FP))  # what a gold span would be called if the model had it
    records = [row.record for row in judged.rows]
    done = [record.case_id not in missed for record in records if record.sheet == FN and record.effect in _CHANGING]
    done += [
        record.case_id in unsupported & added
        for record in records
        if record.effect == Effect.ADD and not record.correct_span and not record.correct_labels
    ]
    changed = {record.case_id for record in records if record.effect in _CHANGING}
    kept = [case_id in missed for case_id in case_ids(workbook.tables, FN) if case_id not in changed]
    return bool(done) and all(done) and 2 * sum(kept) >= len(kept)  # another file would lack the other gold spans


def _case_ids(pair: Pair, spans: pd.DataFrame, sheet: Sheet) -> list[str]:
    table = case_table(np.arange(len(spans)), MatchedSpans.alone(spans), pair.corpus, sheet=sheet)
    return table["case_id"].tolist()
