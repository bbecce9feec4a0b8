"""The whole re-import in one call: workbooks and gold in, adjudications and the corrected file out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePath
from typing import BinaryIO

import numpy as np
import pandas as pd
from msgspec import structs

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.table import case_table
from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.pair import Pair, make_pair, own_tokens
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.figures import notebook_table
from clueval_xlsx.files.names import shown_name
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.registry import PRED, ReadOverrides
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.options.values import one_of, wanted
from clueval_xlsx.review.adjudication import Adjudication, adjudicate
from clueval_xlsx.review.judgements import Effect, Judgement, JudgementKind, Role, Rule, TrustId
from clueval_xlsx.review.log import check_chain, head_of, new_judgements, read_log, write_log
from clueval_xlsx.review.manifest import (
    SET_ASIDE,
    Manifest,
    WithoutTextError,
    from_evaluation,
    read_options_of,
    restore_pair,
)
from clueval_xlsx.review.reading import (
    OpenedWorkbook,
    all_judgements,
    case_ids,
    group_by_run,
    manifest_of,
    manifest_place,
    open_workbook,
    read_judgements,
    without_stale_copies,
)
from clueval_xlsx.review.review_sheets import SheetWords
from clueval_xlsx.scoring.matching import MatchedSpans
from clueval_xlsx.scoring.scores import RATES
from clueval_xlsx.threads import nothing_collected

_CHANGING = frozenset({Effect.DELETE, Effect.BOUNDARY, Effect.LABEL})
_SHOWN = 10  # characters of a hash that people see; run IDs hold as many
Source = str | Path | BinaryIO


@dataclass(frozen=True, eq=False)
class Reimport:
    """What came of a re-import: one adjudication a run (several if layers were evaluated by themselves)."""

    gold: Reading
    runs: tuple[Adjudication, ...]
    given_twice: tuple[str, ...] = ()  # notes on workbooks that count once

    def __repr__(self) -> str:
        """What came of it in one line, and no word of the corpus."""
        changes = sum(len(run.correction.changes) for run in self.runs)
        rows = sum(len(run.unusable) for run in self.runs)
        look = "; a person must look" if self.needs_a_person else ""
        return f"<Reimport: {changes} changes of gold, {rows} rows that cannot be used{look}>"

    def _repr_html_(self) -> str:
        """The rates of each run before and after, for a notebook; no word of the corpus."""
        shown = [run.scores.set_index("state")[list(RATES)].astype(float) for run in self.runs]
        return "".join(map(notebook_table, shown))

    @property
    def layers(self) -> dict[str, pd.DataFrame]:
        """The corrected spans of every layer that was reviewed."""
        return {layer: spans for run in self.runs for layer, spans in run.correction.layers.items()}

    @cached_property
    def _own(self) -> tuple[dict[str, pd.DataFrame], list[str]]:
        """The corrected spans on gold's own tokens, and what had to give for that."""
        found: dict[str, pd.DataFrame] = {}
        notes: list[str] = []
        for run in self.runs:
            layers, widened = own_tokens(run.correction.layers, run.raw.pair)
            found.update(layers)
            notes += widened
        return found, notes

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know about the corrected file."""
        return (*self.given_twice, *self._own[1])

    @cached_property
    def files(self) -> dict[str, bytes]:
        """The corrected gold in its own format, by file name; only what was corrected differs."""
        return correct(self.gold, self._own[0], self.runs[0].raw.pair.corpus)

    @property
    def content(self) -> bytes:
        """The corrected gold file, where gold is one file."""
        if len(self.files) != 1:
            raise OptionError(f"{self.gold.source.name}: gold is a folder. Give the name of a folder for the output.")
        return next(iter(self.files.values()))

    def lengthen(self, log: str, name: str) -> tuple[str, str, tuple[Problem, ...]]:
        """A log with the new judgements behind, its head, and where its chain is broken.

        What is in it already is not repeated.
        """
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        known = read_log(log.removeprefix("\ufeff"), name)
        chain, more = check_chain(log, name), list[Judgement]()
        for run in self.runs:
            taken_back = run.taken_back(when, known)
            more += [*taken_back, *new_judgements([*known, *taken_back], run.log(when), when)]
        longer = log + ("" if not log or log.endswith("\n") else "\n") + write_log(more, chain.head)
        return longer, head_of(longer), chain.problems

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Rows that could not be used."""
        return tuple(problem for run in self.runs for problem in run.problems)

    @property
    def needs_a_person(self) -> bool:
        """Whether something was left undone."""
        return any(run.needs_a_person for run in self.runs)


@nothing_collected()
def reimport(
    workbooks: Source | Sequence[Source],
    gold: Source,
    *,
    pred: Source | None = None,
    resolve: str = Rule.MAJORITY,
    trust_id: str | None = None,
    password: str | None = None,
    overrides: ReadOverrides | None = None,
    options: Options | None = None,
    judgements: Sequence[JudgementKind] = (),
) -> Reimport:
    """Turn judged workbooks into a corrected gold standard.

    `workbooks`  a path or an open file, or a list of them
    `gold`  the gold standard that they were made from: a path or an open file
    `pred`  the prediction, for workbooks that lost their hidden sheet
    `resolve`  who is right where judges differ: `majority`, `unanimous` or the name of a judge
    `trust_id`  which of two case IDs counts where they differ: `row` or `block`
    `password`  of workbooks that are encrypted
    `overrides`  other ways to read the files than the workbooks remember
    `options`  what was evaluated, for workbooks that lost their hidden sheet
    `judgements`  further judgements than those that the workbooks know

    Gives a `Reimport`. Raises `InputError` if a workbook cannot be read or belongs to another gold standard,
    `OptionError` if an option does not fit.

    >>> import io
    >>> from clueval_xlsx import evaluate, read_pair, write_workbook
    >>> gold, pred, book = b"Ann\\tB-PER\\nLee\\tI-PER\\n", b"Ann\\tB-PER\\nLee\\tO\\n", io.BytesIO()
    >>> write_workbook(evaluate(read_pair(io.BytesIO(gold), io.BytesIO(pred))), book)
    >>> reimport(io.BytesIO(book.getvalue()), io.BytesIO(gold))
    <Reimport: 0 changes of gold, 0 rows that cannot be used>
    """
    sources = _sources(workbooks)
    if not sources:
        raise OptionError("no workbook was given. Give at least one judged workbook.")
    if trust_id is not None:
        one_of("trust_id", trust_id, TrustId)
    trusted = None if trust_id is None else TrustId(trust_id)
    opened, notes = _open_once(sources, password)
    runs = group_by_run(opened)
    for run_id, own in runs.items():
        if pred is None and manifest_of(own) is None:  # before gold, which nobody can say how to read
            raise _lost_manifest(run_id, own)
    given = [manifest for own in runs.values() if (manifest := manifest_of(own)) is not None]
    changes = wanted("overrides", ReadOverrides() if overrides is None else overrides, ReadOverrides, "ReadOverrides")
    how = [changes.over(read_options_of(given[0], side) if given else ReadOptions()) for side in ("gold", "pred")]
    gold_reading = _read_gold(gold, how[0], opened, chosen=bool(changes.names))
    settings = wanted("options", Options() if options is None else options, Options, "Options")
    known = all_judgements(given, judgements, manifest_place(opened))
    adjudications = []
    for run_id, own in runs.items():
        check_gold(own, gold_reading, Path(gold) if isinstance(gold, str | Path) else None)
        manifest, pair, used = _restored(run_id, own, gold_reading, (pred, how[1], settings))
        # A workbook that lost its manifest is not another person's for that.
        shared = structs.replace(manifest, judge="", part="", role=Role.REVIEW)
        words = SheetWords(pair.layers, known, manifest.lang, manifest.columns)
        judged = [
            replace(
                read_judgements(
                    book.tables, book.name, book.manifest or shared, words, trust_id=trusted, sha256=book.sha256
                ),
                saved=book.saved,
            )
            for book in own
        ]
        judged = without_stale_copies(judged, [book.manifest is not None for book in own])
        _check_round(own)
        _check_name(resolve, [book.judge for book in judged])
        try:
            adjudications.append(adjudicate(pair, used, judged, manifest=manifest, mode=resolve))
        except OptionError as error:  # the options are those of the manifest, not somebody's at the command line
            raise InputError(f"{manifest_place(own)}: the run cannot be repeated: {error}") from None
    _check_layers(adjudications)
    return Reimport(gold_reading, tuple(adjudications), tuple(notes))


def gold_of(workbooks: Source | Sequence[Source], password: str | None = None) -> str | None:
    """The name of the gold file that workbooks were made from; None if they do not tell."""
    try:
        opened, _ = _open_once(_sources(workbooks), password)
    except (InputError, OptionError):
        return None
    manifest = manifest_of(opened)
    return None if manifest is None else manifest.gold.name


def _sources(workbooks: Source | Sequence[Source]) -> list[Source]:
    """The workbooks of a list; one alone counts as one."""
    given = [workbooks] if isinstance(workbooks, str | Path) or not isinstance(workbooks, Sequence) else [*workbooks]
    strange = [each for each in given if not isinstance(each, str | Path) and not hasattr(each, "read")]
    if strange:
        raise OptionError(f"workbooks: found {shown(strange[0])}. Allowed: paths or open files, one or a list of them.")
    return given


def _open_once(sources: Sequence[Source], password: str | None) -> tuple[list[OpenedWorkbook], list[str]]:
    """The workbooks, and notes on those that were given twice: the same file counts once, whatever it is called."""
    opened: dict[str, OpenedWorkbook] = {}
    notes = []
    for source in sources:
        data, name = _bytes(source), _name(source)
        first = opened.get(key := digest(data))
        if first is not None:
            notes.append(f"{name}: is the same file as {first.name}; it counts once")
            continue
        try:
            opened[key] = open_workbook(data, name, password)
        except WithoutTextError:
            if len(sources) == 1:
                raise
            notes.append(f"{name}: {SET_ASIDE}")
    if not opened:
        raise InputError(f"{'; '.join(notes)}. Give the workbooks that people judged.")
    return list(opened.values()), notes


def _check_round(workbooks: Sequence[OpenedWorkbook]) -> None:
    """A conflict workbook decides what others left open; without theirs, all that they agreed on would be lost."""
    roles = {book.manifest.role for book in workbooks if book.manifest is not None}
    if roles == {Role.CONFLICTS}:
        last = next(book for book in workbooks if book.manifest is not None)
        others = ", ".join(last.manifest.sources) if last.manifest is not None else ""
        raise InputError(
            f"{last.name}: holds only the cases that were left open. Give it together with the workbooks that it came "
            f"from{f': {others}' if others else ''}; what was decided there would be lost otherwise."
        )


def _read_gold(gold: Source, how: ReadOptions, workbooks: Sequence[OpenedWorkbook], *, chosen: bool) -> Reading:
    """Read gold; a file that cannot be read as the workbooks say is more likely another file than a broken one.

    `chosen` says that somebody gave options of their own for reading it: then these may be wrong.
    """
    try:
        return read(gold, how, name=_name(gold))
    except (InputError, OptionError) as error:
        path = Path(gold) if isinstance(gold, str | Path) else None
        if path is not None and not path.is_file():
            raise
        found = "" if path is None else digest(_bytes(path))
        for workbook in workbooks:
            expected = workbook.gold_hash
            if found and not found.startswith(expected):
                raise InputError(
                    f"{workbook.name}: belongs to another gold file ({expected[:_SHOWN]}) than {_name(gold)} "
                    f"({found[:_SHOWN]}), which cannot even be read as that one: {error}"
                ) from None
        if chosen or manifest_of(workbooks) is None:
            raise
        place = manifest_place(workbooks)
        raise InputError(f"{place}: the gold file cannot be read as the manifest says. {error}") from None


def _lost_manifest(run_id: str, workbooks: Sequence[OpenedWorkbook]) -> InputError:
    return InputError(
        f"{workbooks[0].name}: has lost its hidden sheet, and no other workbook of the run {run_id} was given. Add one "
        "of these, or give the prediction file with --pred."
    )


def _restored(
    run_id: str,
    workbooks: Sequence[OpenedWorkbook],
    gold: Reading,
    given: tuple[Source | None, ReadOptions, Options],
) -> tuple[Manifest, Pair, Options]:
    """The pair of a run: from its manifest, or from the prediction file that was given with how it is read."""
    source, how, options = given
    manifest, place = manifest_of(workbooks), manifest_place(workbooks)
    if source is None:
        if manifest is None:
            raise _lost_manifest(run_id, workbooks)
        return manifest, restore_pair(manifest, gold, place), manifest.settings.options
    pred = read(source, replace(how, side=PRED), name=_name(source), base=gold)
    pair = make_pair(gold, pred, align=manifest is not None and manifest.cut is not None)
    if manifest is not None:
        if pred.source.sha256 != manifest.pred.sha256:
            raise InputError(
                f"{pred.source.name}: is not the prediction of the run {run_id} ({manifest.pred.name}). Give that "
                "file, or leave out --pred."
            )
        one = tuple(pair.layers) != tuple(manifest.layers)
        return manifest, pair.layer(manifest.layers[0]) if one else pair, manifest.settings.options
    for part in [pair] if len(pair.layers) == 1 else [pair, *map(pair.layer, pair.layers)]:
        if options.labelled in {None, *part.layers}:
            found = from_evaluation(evaluate(part, options))
            if found.run_id == run_id:
                return found, part, options
    raise InputError(
        f"{workbooks[0].name}: the run {run_id} cannot be repeated from {gold.source.name} and {pred.source.name} with "
        "these options. Give the options that `evaluate` was given: layers, --level, --labelled, --by, --context."
    )


def _check_layers(runs: Sequence[Adjudication]) -> None:
    """Two runs may correct different layers of a file, not the same: nobody compared their decisions."""
    seen: dict[str, str] = {}
    for run in runs:
        run_id = run.manifest.run_id if run.manifest else ""
        for layer in run.raw.pair.layers:
            if layer in seen:
                raise InputError(
                    f"the workbooks belong to two runs that both review layer {layer}: {seen[layer]} and {run_id}. "
                    "Re-import one run, evaluate with the corrected gold file, and go on from there."
                )
            seen[layer] = run_id


def _check_name(resolve: str, judges: Sequence[str]) -> None:
    known = {name.casefold() for name in judges}
    if resolve.casefold() not in {*Rule, *known}:
        raise OptionError(
            f"--resolve {resolve}: nobody of that name has judged. "
            f"Allowed: {', '.join(Rule)}, {', '.join(dict.fromkeys(judges))}."
        )


def _name(source: Source) -> str:
    return shown_name(source) if isinstance(source, str | Path) else str(getattr(source, "name", "<stream>"))


def _bytes(source: Source) -> bytes:
    if not isinstance(source, str | Path):
        return source.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or error}. Check the path.") from None


def check_gold(workbooks: Sequence[OpenedWorkbook], gold: Reading, path: Path | None = None) -> None:
    """Refuse workbooks of another gold file, of an older state of it, and those that were applied to it already.

    `path` is the gold file, if it is one; what differs only in its line ends is told as that.
    """
    known = manifest_of(workbooks)
    for workbook in workbooks:
        expected = workbook.gold_hash
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
    texts = [bare + b"\n" * number for number in range(4)]
    return bool(expected) and any(
        digest(text.replace(b"\n", end)).startswith(expected) for text in texts for end in (b"\n", b"\r\n")
    )


def _looks_applied(workbook: OpenedWorkbook, manifest: Manifest, gold: Reading) -> bool:
    """Whether everything that a workbook would change is changed in this file, and the other gold spans are there."""
    try:
        pair = restore_pair(manifest, gold)
        words = SheetWords(manifest.layers, all_judgements([manifest]))
        judged = read_judgements(workbook.tables, workbook.name, manifest, words)
    except InputError:
        return False
    spans = pair.gold.spans
    missed, added = (
        set(case_table(np.arange(len(spans)), MatchedSpans.alone(spans), pair.corpus, sheet=sheet)["case_id"])
        for sheet in (FN, FP)  # what gold's spans are called, and what they would be called if the model had them
    )
    records = [row.record for row in judged.rows]
    done = [record.case_id not in missed for record in records if record.sheet == FN and record.effect in _CHANGING]
    for record in records:
        if record.effect == Effect.ADD and not record.correct_span and not record.correct_labels:
            done.append(record.case_id in added)
    changed = {record.case_id for record in records if record.effect in _CHANGING}
    kept = [case_id in missed for case_id in case_ids(workbook.tables, FN) if case_id not in changed]
    return bool(done) and all(done) and 2 * sum(kept) >= len(kept)
