"""`score`: the numbers in the terminal or as JSON, no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options, scoring_options
from clueval_xlsx.cli.gates import Gate, check_gates, fail_under

if TYPE_CHECKING:
    from clueval_xlsx.cli.input_options import SideOptions
    from clueval_xlsx.evaluation import Options


@click.command()
@click.argument("gold")
@click.argument("pred")
@input_options.both_sides
@scoring_options.merging
@scoring_options.scoring
@click.option("--json", "as_json", is_flag=True, help="Print the content of metrics.json instead of tables.")
@fail_under
@common_options.common
def score(
    *,
    gold: str,
    pred: str,
    sides: SideOptions,
    merged: bool,
    options: Options,
    as_json: bool,
    gates: tuple[Gate, ...],
) -> None:
    """Compare PRED with GOLD and print precision and recall at every level.

    One of the two may be `-`, standard input.
    """
    from clueval_xlsx.cli.console import output, put, say_notes
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts
    from clueval_xlsx.outputs.metrics_json import to_json

    pair = input_options.load_pair(gold, pred, sides)
    results = evaluate_each(evaluation_parts(pair, merged=merged), options)
    if as_json:
        put(to_json(*results))
        check_gates(results, gates)
        return
    from clueval_xlsx.outputs.terminal.scores import score_tables
    from clueval_xlsx.words import TERMINAL, Words

    say_notes(dict.fromkeys(note for result in results for note in result.notes))
    console = output()
    for result in results:
        for table in score_tables(result, Words(TERMINAL), console.width):
            console.print(table)
        console.print(result.signature, style="dim", soft_wrap=True)
    check_gates(results, gates)
