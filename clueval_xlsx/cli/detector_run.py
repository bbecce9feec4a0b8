"""A detector run over a dataset from the command line: progress, the side file, and the pair for `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import say
from clueval_xlsx.cli.idle_options import refuse_idle_reading
from clueval_xlsx.cli.input_options import SideOptions, read_input
from clueval_xlsx.cli.parameters import was_chosen
from clueval_xlsx.cli.progress import work_progress
from clueval_xlsx.exceptions import ClusterError, InputError
from clueval_xlsx.files.names import with_name
from clueval_xlsx.formats.registry import DETECTOR

if TYPE_CHECKING:
    from clueval_xlsx.cli.detector_options import DetectorRequest
    from clueval_xlsx.corpus.pair import Pair
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


def run_dataset(dataset: Dataset, request: DetectorRequest, target: Path) -> Run:
    """Run the detector that the options name."""
    from clueval_xlsx.detectors.runner import run_detector
    from clueval_xlsx.files.names import is_stream

    place = side_file(target)
    sizes = [len(document.text) + 1 for document in dataset.documents]
    with work_progress("Detecting", "documents", sizes) as progress:
        try:
            run = run_detector(
                dataset.documents,
                request.settings,
                request.run,
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
                "documents and let those spans count as missed (--keep-unmapped)."
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
def detected_pair(
    gold: str, sides: SideOptions, options: Options, request: DetectorRequest, target: Path
) -> Iterator[Detected]:
    """Read gold, run the detector on its texts, and bring the two together; what it found stays until all is done."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.detectors.label_counterparts import align_entities
    from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, run_notes

    reading = read_input(gold, sides.gold)
    refuse_idle_reading({"gold": [reading.source.format], "pred": [DETECTOR.name]})
    dataset = make_dataset(reading, options.schemes.type_layer)
    run = run_dataset(dataset, request, target)
    with finds_kept(run, target):
        prediction = make_prediction(dataset, run, sides.pred.nested)
        pair = make_pair(dataset.gold, prediction.side, strict_tags=sides.strict_tags)
        aligned = align_entities(dataset.labels, run.description, options.labels.map)
        notes = (*pair.notes, *run_notes(run.description, dataset), *prediction.notes, *aligned.notes())
        rules = _with_entities(options.labels, aligned, run, keep_unmapped=request.keep_unmapped)
        yield Detected(replace(pair, notes=notes), dataset, run, target, replace(options, labels=rules))


def _with_entities(chosen: LabelRules, aligned: EntityAlignment, run: Run, *, keep_unmapped: bool) -> LabelRules:
    """The rules of the command line with what the detector adds to them."""

    kept = keep_unmapped or not aligned.known or (chosen.unmapped == "keep" and was_chosen("unmapped"))
    return replace(
        chosen,
        map={**dict(aligned.mapping), **chosen.map},
        accounted=tuple(sorted({*(run.description.entities or ()), *(one.entity for one in aligned.counterparts)})),
        unmapped="keep" if kept else "discard",
        left_out=tuple(run.failures),
    )
