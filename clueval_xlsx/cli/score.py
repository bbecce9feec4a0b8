"""`score`: the numbers in the terminal, or as a table for another document or program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import cluster_options, common_options, input_options, scoring_options
from clueval_xlsx.cli.gate_outcome import FAILED, outcome_of, runs_by_layer
from clueval_xlsx.cli.gates import GateRequest, gating
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.run_history import check_history
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, json_option
from clueval_xlsx.exceptions import OptionError

if TYPE_CHECKING:
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
    if cluster is None:
        results = _here(gold, pred, sides, options, merged=merged)
    else:
        listed = json_path is not None or form in {_JSON, _CSV}
        results = _on_cluster(cluster, inputs, sides, options, merged=merged, by_document=listed)
    outcome = outcome_of(gates, runs_by_layer(results))
    with outcome.outputs(inputs, force=False) as outputs:
        if json_path is not None and json_path != STANDARD_OUTPUT:
            from clueval_xlsx.outputs.json_results import json_text, metrics

            outputs.write_text(Path(json_path), json_text(metrics(*results)))
    say_notes(dict.fromkeys(note for result in results for note in result.notes))
    _print(results, _JSON if json_path == STANDARD_OUTPUT else form)
    if not outcome.say():
        ctx.exit(FAILED)


def _here(gold: str, pred: str, sides: SideOptions, options: Options, *, merged: bool) -> Sequence[Figures]:
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    pair = input_options.load_only_pair(gold, pred, sides)
    return evaluate_each(evaluation_parts(pair, merged=merged), options)


def _on_cluster(
    place: ClusterPlace,
    inputs: Sequence[str],
    sides: SideOptions,
    options: Options,
    *,
    merged: bool,
    by_document: bool,
) -> Sequence[Figures]:
    from clueval_xlsx.cli.idle_options import refuse_idle_reading
    from clueval_xlsx.cli.nothing import refuse_empty, say_meaningless
    from clueval_xlsx.cli.progress import work_progress
    from clueval_xlsx.cluster_scoring.cluster_scores import pair_files, score_on_cluster
    from clueval_xlsx.cluster_scoring.corpus_parts import CorpusRequest

    if sides.by_position is not None:
        raise OptionError(
            "--align position: how many words may differ is a share of the whole corpus, which parts do not know. "
            "With --cluster, use --align text or tokens."
        )
    request = CorpusRequest(sides.gold, sides.pred, options, merged, sides.strict_tags, sides.align_text, by_document)
    pairs = pair_files(inputs[0], inputs[1], request)
    with work_progress("Scoring", "files", [first.size + second.size + 1 for first, second in pairs]) as progress:
        found = score_on_cluster(place, pairs, request, progress.advance, progress.seen)
    refuse_empty(found.contents, sides.gold)
    gold, pred = found.contents
    refuse_idle_reading({"gold": [gold.format], "pred": [pred.format]})
    say_meaningless(found.inputs, same_spans=found.same_spans)
    return found.figures


def _print(results: Sequence[Figures], form: str) -> None:
    from clueval_xlsx.cli.console import lay_out, output, put, room
    from clueval_xlsx.pages.scores import score_page
    from clueval_xlsx.words import TERMINAL, Words

    if form == _JSON:
        from clueval_xlsx.outputs.json_results import json_text, metrics

        put(json_text(metrics(*results)))
        return
    if form == _CSV:
        from clueval_xlsx.outputs.csv_files import scores_csv

        put(scores_csv(*results))
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
