"""A detector run over a dataset from the command line: progress, the side file, and the pair for `evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx import clusters
from clueval_xlsx.cli.console import Progress, say
from clueval_xlsx.cli.inputs import Sides, read_input
from clueval_xlsx.clusters import ClusterPlace
from clueval_xlsx.exceptions import OptionError, counted
from clueval_xlsx.files.names import is_stream, with_name
from clueval_xlsx.formats.registry import DETECTOR
from clueval_xlsx.options import ClusterOptions, DetectorOptions

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.detectors.prediction import Dataset
    from clueval_xlsx.detectors.runner import Run
    from clueval_xlsx.options import Options


def cluster_of(call: Call) -> ClusterPlace | None:
    """The cluster that is to work, if there is one."""
    cluster = call.of(ClusterOptions)
    return None if cluster.address is None else ClusterPlace(cluster.address, cluster.tls, clusters.WAIT)


@contextmanager
def detection(call: Call, dataset: Dataset, target: Path) -> Iterator[Run]:
    """Run the detector that the options name; what it finds stays in a file beside the target until all is written.

    At the end every document is named that it failed on.
    """
    from clueval_xlsx.detectors.base import DetectorSettings
    from clueval_xlsx.detectors.runner import RunOptions, run_detector

    options = call.of(DetectorOptions)
    how = RunOptions(options.workers, options.time_limit, options.fail_fast, options.resume, cluster_of(call))
    named = with_name(target)
    place = named.with_name(f"{named.name}.progress.jsonl")
    documents = dataset.documents
    sizes = [len(document.text) + 1 for document in documents]
    try:
        with Progress("Detecting", "documents", len(sizes), sum(sizes)) as bar:
            run = run_detector(
                documents,
                DetectorSettings.of(options),
                how,
                side_file=None if is_stream(target) else place,
                sha256=dataset.gold.source.sha256,
                advance=lambda number: bar.advance(sizes[number]),
                seen=bar.seen,
            )
        if run.resumed:
            say(f"Taken from the run that broke off: {run.resumed} of {counted(len(documents), 'document')}.")
        yield run
    except BaseException as error:
        if place.exists() and not isinstance(error, OptionError):
            say(f"What was found so far is in {place}; the same command with --resume goes on from there.")
        raise
    if not run.failures:
        place.unlink(missing_ok=True)
        return
    for number, reason in run.failures.items():
        say(f"Failed: document {documents[number].id!r}: {reason}.", urgent=True)
    kept = f"; the same command with --resume tries them again (the others are kept in {place})"
    more = kept if place.exists() else ""
    say(f"Failed: {len(run.failures)} of {counted(len(documents), 'document')}{more}.", urgent=True)


@contextmanager
def detected_pair(
    call: Call, gold: str, sides: Sides, options: Options, target: Path
) -> Iterator[tuple[Pair, Options, Run]]:
    """Gold and what the detector finds in its texts, with what that adds to the rules for labels."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.detectors.label_counterparts import align_entities
    from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, run_notes

    reading = read_input(call, gold, sides.gold)
    call.refuse_idle_reading({"gold": [reading.source.format], "pred": [DETECTOR.name]})
    dataset = make_dataset(reading, options.schemes.type_layer)
    with detection(call, dataset, target) as run:
        prediction = make_prediction(dataset, run, sides.pred.nested)
        pair = make_pair(dataset.gold, prediction.side, strict_tags=sides.strict_tags)
        aligned = align_entities(dataset.labels, run.description, options.labels.map)
        notes = (*pair.notes, *run_notes(run.description, dataset), *prediction.notes, *aligned.notes())
        rules = aligned.rules(options.labels, run.description, tuple(run.failures))
        yield replace(pair, notes=notes), replace(options, labels=rules), run
