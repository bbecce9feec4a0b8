"""A detector run over a dataset from the command line: progress, the side file, and the pair for `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx import clusters
from clueval_xlsx.cli.console import say
from clueval_xlsx.cli.inputs import Sides, read_input
from clueval_xlsx.cli.progress import work_progress
from clueval_xlsx.clusters import ClusterPlace
from clueval_xlsx.exceptions import ClusterError, InputError, OptionError
from clueval_xlsx.files.names import with_name
from clueval_xlsx.formats.registry import DETECTOR
from clueval_xlsx.options import ClusterOptions, DetectorOptions

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.detectors.base import DetectorSettings
    from clueval_xlsx.detectors.label_counterparts import EntityAlignment
    from clueval_xlsx.detectors.prediction import Dataset
    from clueval_xlsx.detectors.runner import Run
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.options import LabelRules, Options


def side_file(target: Path) -> Path:
    """Where a run keeps what it has found so far: beside what it is made for, if that is a regular file."""
    named = with_name(target)
    return named.with_name(f"{named.name}.progress.jsonl")


def detector_settings(options: DetectorOptions) -> DetectorSettings:
    """What the detector is told: Presidio's files and a threshold have places of their own."""
    from clueval_xlsx.detectors.base import DetectorSettings

    more = dict(options.option)
    threshold = more.pop("score_threshold", None)
    try:
        least = None if threshold is None else float(threshold)
    except ValueError:
        least = -1.0
    if least is not None and not 0 <= least <= 1:
        raise OptionError(f"--detector-option score_threshold: found {threshold!r}. Allowed: a number from 0 to 1.")
    return DetectorSettings(
        detector=str(options.name),
        language=options.language,
        score_threshold=least,
        nlp_config=more.pop("nlp_config", None),
        recognizers_config=more.pop("recognizers_config", None),
        options=more,
    )


def run_dataset(call: Call, dataset: Dataset, target: Path) -> Run:
    """Run the detector that the options name."""
    from clueval_xlsx.detectors.runner import RunOptions, run_detector
    from clueval_xlsx.files.names import is_stream

    options, cluster = call.of(DetectorOptions), call.of(ClusterOptions)
    where = None if cluster.address is None else ClusterPlace(cluster.address, cluster.tls, clusters.WAIT)
    how = RunOptions(options.workers, options.time_limit, options.fail_fast, options.resume, where)
    place = side_file(target)
    sizes = [len(document.text) + 1 for document in dataset.documents]
    with work_progress("Detecting", "documents", sizes) as progress:
        try:
            run = run_detector(
                dataset.documents,
                detector_settings(options),
                how,
                side_file=None if is_stream(target) else place,
                sha256=dataset.gold.source.sha256,
                advance=progress.advance,
                seen=progress.seen,
            )
        except (KeyboardInterrupt, ClusterError):
            if place.exists():
                say(f"Stopped. What was found so far is in {place}; the same command with --resume goes on from there.")
            raise
    if run.resumed:
        say(f"{run.resumed} of {len(dataset.documents)} documents were taken from the run that broke off.")
    return run


@contextmanager
def finds_kept(run: Run, target: Path) -> Iterator[None]:
    """What the detector found is not lost if anything goes wrong before it is written; then it is needed no more."""
    place = side_file(target)
    try:
        yield
    except BaseException:
        if place.exists():
            say(f"What the detector found is kept in {place}; the same command with --resume takes it from there.")
        raise
    if not run.failures:
        place.unlink(missing_ok=True)


def say_failures(dataset: Dataset, run: Run, target: Path) -> None:
    """Every document that the detector failed on."""
    for number, reason in run.failures.items():
        say(f"Failed: document {dataset.documents[number].id!r}: {reason}.", urgent=True)
    if run.failures:
        place = side_file(target)
        kept = f"; the same command with --resume tries them again (the others are kept in {place})"
        say(
            f"{len(run.failures)} of {len(dataset.documents)} documents failed{kept if place.exists() else ''}.",
            urgent=True,
        )


@dataclass(frozen=True, eq=False)
class Detected:
    """Gold and a detector's predictions, ready to be compared."""

    pair: Pair
    dataset: Dataset
    run: Run
    target: Path
    options: Options  # with what the detector adds to the rules for labels

    def check(self, result: Evaluation) -> None:
        """Refuse to report on nothing at all."""
        if len(result.alignment.discarded) == len(self.dataset.documents):
            labels = ", ".join(result.alignment.discarded_labels)
            raise InputError(
                f"{self.dataset.gold.source.name}: no document is left to evaluate: each has labels for which the "
                f"detector has none ({labels}). Map them to the detector's labels (--map OLD=NEW), or keep the "
                "documents and let those spans count as missed (--set labels.unmapped=keep)."
            )

    def forget_with(self, outputs: Outputs) -> None:
        """What was kept for the case of an accident goes when the outputs are in place."""
        if not self.run.failures:
            outputs.remove_afterwards(side_file(self.target))

    def say_failures(self) -> bool:
        """Tell about every document that the detector failed on; whether there are any."""
        say_failures(self.dataset, self.run, self.target)
        return bool(self.run.failures)


@contextmanager
def detected_pair(call: Call, gold: str, sides: Sides, options: Options, target: Path) -> Iterator[Detected]:
    """Read gold, run the detector on its texts, and bring the two together; what it found stays until all is done."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.detectors.label_counterparts import align_entities
    from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, run_notes

    reading = read_input(call, gold, sides.gold)
    call.refuse_idle_reading({"gold": [reading.source.format], "pred": [DETECTOR.name]})
    dataset = make_dataset(reading, options.schemes.type_layer)
    run = run_dataset(call, dataset, target)
    with finds_kept(run, target):
        prediction = make_prediction(dataset, run, sides.pred.nested)
        pair = make_pair(dataset.gold, prediction.side, strict_tags=sides.strict_tags)
        aligned = align_entities(dataset.labels, run.description, options.labels.map)
        notes = (*pair.notes, *run_notes(run.description, dataset), *prediction.notes, *aligned.notes())
        rules = _with_entities(options.labels, aligned, run)
        yield Detected(replace(pair, notes=notes), dataset, run, target, replace(options, labels=rules))


def _with_entities(chosen: LabelRules, aligned: EntityAlignment, run: Run) -> LabelRules:
    """The rules of the command line with what the detector adds to them."""
    kept = not aligned.known or chosen.unmapped == "keep"
    return replace(
        chosen,
        map={**dict(aligned.mapping), **chosen.map},
        accounted=tuple(sorted({*(run.description.entities or ()), *(one.entity for one in aligned.counterparts)})),
        unmapped="keep" if kept else "discard",
        left_out=tuple(run.failures),
    )
