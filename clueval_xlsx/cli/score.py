"""`score`: the numbers in the terminal, or as a table for another document or program; also at every threshold."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from clueval_xlsx.cli.console import Progress, print_page, put, say, say_notes
from clueval_xlsx.cli.detecting import cluster_of
from clueval_xlsx.cli.gates import FAILED, gated
from clueval_xlsx.cli.inputs import Sides, load_pair, refuse_idle_formats, sides_of
from clueval_xlsx.cli.writing import Writing
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options import GateOptions

if TYPE_CHECKING:
    from clueval_xlsx.batches.counting import Listing
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.figures import Figures

_NOT_OF_THRESHOLDS = ("scheme", "cluster", "pair.merge", "score.by", "score.replicates", "gates.baseline")


def run(call: Call, gold: str, pred: str) -> int:
    """Print the figures of PRED against GOLD."""
    if call.value("output.thresholds"):
        return _thresholds(call, gold, pred)
    sides, form = sides_of(call), call.value("output.as")
    with tempfile.TemporaryFile() as lines:
        out = Writing(call, [gold, pred])
        json = form == "json" or call.value("output.json") is not None
        results = _in_batches(call, [gold, pred], sides, lines, _listing("json" if json else form))
        if results is None:
            results = _at_once(call, [gold, pred], sides)
        with gated(call, [("", result) for result in results]) as code, out:
            place = out.place("json")
            if place is not None:
                out.write_parts(place, _json(results, lines))
        say_notes(dict.fromkeys(note for result in results for note in result.notes))
        for part in _shown(results, "json" if out.prints else form, lines):
            put(part)
    return code


def _at_once(call: Call, inputs: Sequence[str], sides: Sides) -> Sequence[Figures]:
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    pair = load_pair(inputs[0], inputs[1], sides)
    refuse_idle_formats(call, [pair])
    return evaluate_each(evaluation_parts(pair, merged=sides.merged), call.scoring)


def _in_batches(
    call: Call, inputs: Sequence[str], sides: Sides, lines: IO[bytes], listing: Listing | None
) -> Sequence[Figures] | None:
    """The figures of folders, some files at a time; None for files, and where batches do not add up."""
    place = cluster_of(call)
    if place is None and not all(Path(path).is_dir() or glob.has_magic(path) for path in inputs):
        return None
    from clueval_xlsx.batches import adding, counting
    from clueval_xlsx.formats import loading

    request = counting.CorpusRequest(
        sides.gold, sides.pred, call.scoring, sides.merged, sides.strict_tags, sides.align_text, listing
    )
    try:
        pairs = counting.pair_files(inputs[0], inputs[1], request)
        if place is None and len(pairs) <= counting.MOST_FILES:
            return None
        sizes = [first.size + second.size + 1 for first, second in pairs]
        with Progress("Scoring", "files", len(sizes), sum(sizes)) as bar:
            corpus = adding.count_corpus(pairs, request, lines, place, bar.advance, bar.seen)
    except counting.WholeCorpusError as error:
        lines.seek(0)
        lines.truncate()
        if place is not None or counting.is_large(inputs[0]):
            say(f"Note: {inputs[0]} is read at once, because {error}.")
        return None
    loading.refuse_empty(corpus.contents, sides.gold)
    gold, pred = corpus.contents
    call.refuse_idle_reading({"gold": [gold.format], "pred": [pred.format]})
    say_notes(corpus.inputs.meaningless(same_spans=corpus.same_spans))
    return corpus.figures


def _listing(form: str) -> Listing | None:
    """What writes the score rows of documents, where they are wanted."""
    if form == "csv":
        from clueval_xlsx.outputs import csv_files

        return csv_files.score_lines
    if form != "json":
        return None
    from clueval_xlsx.outputs import json_results

    return json_results.score_lines


def _json(results: Sequence[Figures], lines: IO[bytes]) -> Iterator[bytes]:
    from clueval_xlsx.outputs.json_results import metrics_parts

    lines.seek(0)
    return metrics_parts(results, lines)


def _shown(results: Sequence[Figures], form: str, lines: IO[bytes]) -> Iterator[str | bytes]:
    """What goes to standard output; a table is printed at once."""
    from clueval_xlsx.pages.scores import score_page
    from clueval_xlsx.words import TERMINAL, Words

    if form == "json":
        yield from _json(results, lines)
    elif form == "csv":
        from clueval_xlsx.outputs.csv_files import scores_csv

        yield scores_csv(*results)
        lines.seek(0)
        yield from lines
    else:
        pages = [score_page(result, Words(TERMINAL)) for result in results]
        if form == "table":
            for page in pages:
                print_page(page, "--as csv or --as json")
            return
        from clueval_xlsx.outputs.markup import latex, markdown

        yield "\n".join(map(markdown if form == "markdown" else latex, pages))


def _thresholds(call: Call, gold: str, pred: str) -> int:
    """Print the headline at every threshold; the least lower bound of recall chooses one, and is the only gate."""
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.outputs.json_results import json_text, threshold_metrics
    from clueval_xlsx.pages.thresholds import threshold_page
    from clueval_xlsx.scoring.thresholds import threshold_rates
    from clueval_xlsx.words import TERMINAL, Words

    call.refuse(_NOT_OF_THRESHOLDS, "`score` without --thresholds")
    least, form, options = _least_recall(call), call.value("output.as"), call.scoring
    if form not in {"table", "json", "csv"}:
        raise OptionError(f"--as {form}: --thresholds knows other forms. Allowed: table, json, csv.")
    pair = load_pair(gold, pred, sides_of(call))
    refuse_idle_formats(call, [pair])
    result = evaluate(pair, options)
    say_notes(result.notes)
    rates = threshold_rates(
        result.raw, options.labels, level=options.level, labelled=options.labelled, beta=options.beta
    )
    text = json_text(threshold_metrics(result, rates, least))
    with Writing(call, [gold, pred]) as out:
        out.text("json", lambda: text)
    if form == "json" and not out.prints:
        put(text)
    elif form == "csv":
        put(rates.table.set_index("threshold").to_csv())
    elif not out.prints:
        print_page(threshold_page(result, rates, least, Words(TERMINAL)), "--json FILE")
    if least is None or rates.highest_with_recall(least) is not None:
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
