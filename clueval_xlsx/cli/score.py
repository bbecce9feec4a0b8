"""`score`: the numbers in the terminal, or as a table for another document or program; also at every threshold."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from clueval_xlsx import clusters
from clueval_xlsx.cli.console import print_page, put, say, say_notes
from clueval_xlsx.cli.gates import FAILED, gated_outputs, runs_by_layer, say_verdicts, verdicts
from clueval_xlsx.cli.inputs import Sides, load_pair, refuse_empty, refuse_idle_formats, say_meaningless, sides_of
from clueval_xlsx.cli.writing import guarded_outputs, is_printed, path_of
from clueval_xlsx.clusters import ClusterPlace
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import ClusterOptions, GateOptions

if TYPE_CHECKING:
    from clueval_xlsx.batches import Listing
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.figures import Figures
    from clueval_xlsx.options import Options

_TABLE, _JSON, _CSV, _MARKDOWN, _LATEX = "table", "json", "csv", "markdown", "latex"
_NOT_OF_THRESHOLDS = ("scheme", "cluster", "pair.merge", "score.by", "score.replicates", "gates.baseline")


def run(call: Call, gold: str, pred: str) -> int:
    """Print the figures of PRED against GOLD."""
    if call.value("output.thresholds"):
        return _thresholds(call, gold, pred)
    sides, options, inputs = sides_of(call), call.scoring, [gold, pred]
    form = _JSON if is_printed(call, "output.json") else call.value("output.as")
    json = path_of(call, "output.json")
    wanted = form if json is None else _JSON
    with tempfile.TemporaryFile() as lines:
        listing = _listing(wanted) if wanted in {_JSON, _CSV} else None
        results = _in_batches(call, inputs, sides, lines, listing)
        if results is None:
            results = _at_once(call, inputs, sides, options)
        found = verdicts(call, runs_by_layer(results))
        with gated_outputs(call, inputs, found) as outputs:
            if json is not None:
                outputs.write_parts(json, _json(results, lines))
        say_notes(dict.fromkeys(note for result in results for note in result.notes))
        _print(results, form, lines)
    return 0 if say_verdicts(found) else FAILED


def _at_once(call: Call, inputs: Sequence[str], sides: Sides, options: Options) -> Sequence[Figures]:
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    pair = load_pair(inputs[0], inputs[1], sides)
    refuse_idle_formats(call, [pair])
    return evaluate_each(evaluation_parts(pair, merged=sides.merged), options)


def _in_batches(
    call: Call, inputs: Sequence[str], sides: Sides, lines: IO[bytes], listing: Listing | None
) -> Sequence[Figures] | None:
    """The figures of folders, some files at a time; None for files, and where batches do not add up."""
    cluster = call.of(ClusterOptions)
    place = None if cluster.address is None else ClusterPlace(cluster.address, cluster.tls, clusters.WAIT)
    if place is None and not all(Path(path).is_dir() or glob.has_magic(path) for path in inputs):
        return None
    from clueval_xlsx import batches
    from clueval_xlsx.cli.progress import work_progress

    request = batches.CorpusRequest(
        sides.gold, sides.pred, call.scoring, sides.merged, sides.strict_tags, sides.align_text, listing
    )
    try:
        pairs = batches.pair_files(inputs[0], inputs[1], request)
        if place is None and len(pairs) <= batches.MOST_FILES:
            return None
        with work_progress("Scoring", "files", [first.size + second.size + 1 for first, second in pairs]) as progress:
            if place is None:
                found = batches.count_corpus(pairs, request, lines, progress.advance)
            else:
                found = batches.count_on_cluster(place, pairs, request, lines, progress.advance, progress.seen)
    except batches.WholeCorpusError as error:
        lines.seek(0)
        lines.truncate()
        if place is not None or batches.is_large(inputs[0]):
            say(f"Note: {inputs[0]} is read at once, because {error}.")
        return None
    refuse_empty(found.contents, sides.gold)
    gold, pred = found.contents
    call.refuse_idle_reading({"gold": [gold.format], "pred": [pred.format]})
    say_meaningless(found.inputs, same_spans=found.same_spans)
    return found.figures


def _listing(form: str) -> Listing:
    """What writes the score rows of documents."""
    if form == _CSV:
        from clueval_xlsx.outputs import csv_files

        return csv_files.score_lines
    from clueval_xlsx.outputs import json_results

    return json_results.score_lines


def _json(results: Sequence[Figures], lines: IO[bytes]) -> Iterator[bytes]:
    from clueval_xlsx.outputs.json_results import metrics_parts

    lines.seek(0)
    return metrics_parts(results, lines)


def _thresholds(call: Call, gold: str, pred: str) -> int:
    """Print the headline at every threshold; the least lower bound of recall chooses one, and is the only gate."""
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.outputs.json_results import json_text, threshold_metrics
    from clueval_xlsx.pages.thresholds import threshold_page
    from clueval_xlsx.scoring.thresholds import threshold_rates
    from clueval_xlsx.words import TERMINAL, Words

    call.refuse(_NOT_OF_THRESHOLDS, "`score` without --thresholds")
    least = _least_recall(call)
    form = call.value("output.as")
    if form not in {_TABLE, _JSON, _CSV}:
        raise OptionError(f"--as {form}: --thresholds knows other forms. Allowed: table, json, csv.")
    options, pair = call.scoring, load_pair(gold, pred, sides_of(call))
    refuse_idle_formats(call, [pair])
    result = evaluate(pair, options)
    say_notes(result.notes)
    found = threshold_rates(
        result.raw, options.labels, level=options.level, labelled=options.labelled, beta=options.beta
    )
    text = json_text(threshold_metrics(result, found, least))
    json = path_of(call, "output.json")
    if json is not None:
        with guarded_outputs(call, [gold, pred]) as outputs:
            outputs.write_text(json, text)
    if form == _JSON or is_printed(call, "output.json"):
        put(text)
    elif form == _CSV:
        put(found.table.set_index("threshold").to_csv())
    else:
        print_page(threshold_page(result, found, least, Words(TERMINAL)), "--json FILE")
    if least is None or found.highest_with_recall(least) is not None:
        return 0
    say(f"Gate recall.low: wanted at least {least:.15g}, which no threshold holds: failed.", urgent=True)
    return FAILED


def _least_recall(call: Call) -> float | None:
    gates = call.of(GateOptions).fail_under
    if not gates:
        return None
    if len(gates) > 1 or (gates[0].rate, gates[0].bound, gates[0].label) != ("recall", "low", None):
        raise OptionError("--fail-under: with --thresholds it is the recall to hold. Allowed: recall.low=0.95, once.")
    return gates[0].value


def _print(results: Sequence[Figures], form: str, lines: IO[bytes]) -> None:
    from clueval_xlsx.pages.scores import score_page
    from clueval_xlsx.words import TERMINAL, Words

    if form == _JSON:
        for part in _json(results, lines):
            put(part)
        return
    if form == _CSV:
        from clueval_xlsx.outputs.csv_files import scores_csv

        put(scores_csv(*results))
        lines.seek(0)
        for line in lines:
            put(line)
        return
    pages = [score_page(result, Words(TERMINAL)) for result in results]
    if form == _MARKDOWN:
        from clueval_xlsx.outputs.markup import markdown

        put("\n".join(map(markdown, pages)))
    elif form == _LATEX:
        from clueval_xlsx.outputs.markup import latex

        put("\n".join(map(latex, pages)))
    else:
        for page in pages:
            print_page(page, "--as csv or --as json")
