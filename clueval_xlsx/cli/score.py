"""`score`: the numbers in the terminal, or as a table for another document or program."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from clueval_xlsx.cli import cluster_options, common_options, input_options, scoring_options
from clueval_xlsx.cli.gate_outcome import FAILED, outcome_of, runs_by_layer
from clueval_xlsx.cli.gates import GateRequest, gating
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.run_history import check_history
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, json_option

if TYPE_CHECKING:
    from clueval_xlsx.batches import Listing
    from clueval_xlsx.cli.input_options import SideOptions
    from clueval_xlsx.clusters import ClusterPlace
    from clueval_xlsx.figures import Figures
    from clueval_xlsx.options import Options

_TABLE, _JSON, _CSV, _MARKDOWN, _LATEX = "table", "json", "csv", "markdown", "latex"


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx score gold.vrt pred.vrt --labelled span --scheme seqeval",
        "clueval-xlsx score gold.conll pred.conll --fail-under recall=0.95",
    ),
)
@click.argument("gold")
@click.argument("pred")
@input_options.both_sides
@scoring_options.merging
@scoring_options.scoring
@click.option(
    "--as",
    "form",
    type=click.Choice([_TABLE, _JSON, _CSV, _MARKDOWN, _LATEX]),
    default=_TABLE,
    show_default=True,
    help="What is printed: tables for people, metrics.json, all score rows as CSV, or tables for a document.",
)
@json_option("metrics.json")
@gating
@cluster_options.clustered
@common_options.common
@click.pass_context
def score(
    ctx: click.Context,
    /,
    *,
    gold: str,
    pred: str,
    sides: SideOptions,
    merged: bool,
    options: Options,
    form: str,
    json_path: str | None,
    gates: GateRequest,
    cluster: ClusterPlace | None,
) -> None:
    """Compare PRED with GOLD and print precision and recall at every level.

    One of the two may be `-`, standard input.
    """
    from clueval_xlsx.cli.console import say_notes

    inputs = [gold, pred]
    check_history(gates.history, inputs)
    sides = input_options.as_listed(sides, options)
    to_stdout = json_path == STANDARD_OUTPUT
    with tempfile.TemporaryFile() as lines:
        wanted = _JSON if json_path is not None else form
        listing = _listing(wanted) if wanted in {_JSON, _CSV} else None
        results = _in_batches(inputs, sides, options, cluster, lines, listing, merged=merged)
        if results is None:
            results = _at_once(gold, pred, sides, options, merged=merged)
        outcome = outcome_of(gates, runs_by_layer(results))
        with outcome.outputs(inputs, force=False) as outputs:
            if json_path is not None and not to_stdout:
                outputs.write_parts(Path(json_path), _json(results, lines))
        say_notes(dict.fromkeys(note for result in results for note in result.notes))
        _print(results, _JSON if to_stdout else form, lines)
    if not outcome.say():
        ctx.exit(FAILED)


def _at_once(gold: str, pred: str, sides: SideOptions, options: Options, *, merged: bool) -> Sequence[Figures]:
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    pair = input_options.load_only_pair(gold, pred, sides)
    return evaluate_each(evaluation_parts(pair, merged=merged), options)


def _in_batches(
    inputs: Sequence[str],
    sides: SideOptions,
    options: Options,
    place: ClusterPlace | None,
    lines: IO[bytes],
    listing: Listing | None,
    *,
    merged: bool,
) -> Sequence[Figures] | None:
    """The figures of folders, some files at a time; None for files, and where batches do not add up."""
    if place is None and not all(Path(path).is_dir() or glob.has_magic(path) for path in inputs):
        return None
    from clueval_xlsx import batches
    from clueval_xlsx.cli.console import say
    from clueval_xlsx.cli.idle_options import refuse_idle_reading
    from clueval_xlsx.cli.nothing import refuse_empty, say_meaningless
    from clueval_xlsx.cli.progress import work_progress

    request = batches.CorpusRequest(
        sides.gold, sides.pred, options, merged, sides.strict_tags, sides.align_text, listing
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
    refuse_idle_reading({"gold": [gold.format], "pred": [pred.format]})
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


def _print(results: Sequence[Figures], form: str, lines: IO[bytes]) -> None:
    from clueval_xlsx.cli.console import lay_out, output, put, room
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
        from clueval_xlsx.outputs.markdown import markdown

        put("\n".join(map(markdown, pages)))
    elif form == _LATEX:
        from clueval_xlsx.outputs.latex import latex

        put("\n".join(map(latex, pages)))
    else:
        from clueval_xlsx.outputs.terminal import page_parts

        console = output()
        for page in pages:
            lay_out(console, page_parts(page, room(console, "--as csv or --as json")))
