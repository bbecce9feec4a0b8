"""`score`: the numbers in the terminal or as JSON, no files."""

from __future__ import annotations

from typing import Any

import click

from clueval_xlsx.cli import options


@click.command()
@click.argument("gold")
@click.argument("pred")
@options.reading
@options.two_sides
@options.scoring
@options.schemes
@options.labels
@click.option("--json", "as_json", is_flag=True, help="Print the content of metrics.json instead of tables.")
@options.common
def score(gold: str, pred: str, as_json: bool, **given: Any) -> None:
    """Compare PRED with GOLD and print precision and recall at every level.

    One of the two may be `-`, standard input.
    """
    from clueval_xlsx.cli.console import output, put, say_notes
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts
    from clueval_xlsx.outputs.metrics_json import to_json

    pair = options.load_pair(gold, pred, given)
    parts = evaluation_parts(pair, merged=given["merged"])
    results = evaluate_each(parts, options.evaluation_options(given))
    if as_json:
        put(to_json(*results))
        return
    from clueval_xlsx.outputs.terminal.scores import score_tables
    from clueval_xlsx.words import TERMINAL, Words

    say_notes(dict.fromkeys(note for result in results for note in result.notes))
    console = output()
    for result in results:
        for table in score_tables(result, Words(TERMINAL), console.width):
            console.print(table)
        console.print(result.signature, style="dim", soft_wrap=True)
