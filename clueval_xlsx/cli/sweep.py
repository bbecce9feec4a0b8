"""`sweep`: precision and recall at every threshold of the predictions' scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options, review_options, scoring_options
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.parameters import NumberRange
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, force_option, json_option, write_json_and_page

if TYPE_CHECKING:
    from clueval_xlsx.cli.input_options import SideOptions
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.options import Options
    from clueval_xlsx.scoring.thresholds import Thresholds


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx sweep gold.vrt pred.tsv --text gold.vrt --least-recall 0.95",
        "clueval-xlsx sweep gold.json pred.json --html thresholds.html",
    ),
)
@click.argument("gold")
@click.argument("pred")
@click.option(
    "--least-recall",
    type=NumberRange(0, 1),
    default=0.95,
    show_default=True,
    help="Find the highest threshold at which the lower bound of recall is still this.",
)
@json_option("every threshold as JSON")
@click.option("--html", "html_path", type=click.Path(path_type=Path), metavar="FILE", help="Write a page here.")
@input_options.both_sides
@scoring_options.headline
@review_options.language_option
@force_option
@common_options.common
def sweep(
    *,
    gold: str,
    pred: str,
    least_recall: float,
    json_path: str | None,
    html_path: Path | None,
    sides: SideOptions,
    options: Options,
    lang: str,
    force: bool,
) -> None:
    """Precision and recall of PRED for every threshold of its scores.

    PRED must be in a format that carries scores: a span table with a column score, Presidio's or Label Studio's
    JSON, a detector's list, JSON Lines. The table shows some of the thresholds, --json all of them.
    """
    from clueval_xlsx.cli.console import say_notes
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.outputs.json_results import json_text, threshold_metrics
    from clueval_xlsx.scoring.thresholds import threshold_rates

    result = evaluate(input_options.load_only_pair(gold, pred, sides), options)
    say_notes(result.notes)
    found = threshold_rates(
        result.raw, options.labels, level=options.level, labelled=options.labelled, beta=options.beta
    )

    def page() -> str:
        from clueval_xlsx.outputs.html.page import page_html
        from clueval_xlsx.pages.thresholds import threshold_page
        from clueval_xlsx.words import Words

        return page_html(threshold_page(result, found, least_recall, Words(lang)))

    def text() -> str:
        return json_text(threshold_metrics(result, found, least_recall))

    write_json_and_page((json_path, text), (html_path, page), [gold, pred], force=force)
    if json_path != STANDARD_OUTPUT:
        _print(result, found, least_recall)


def _print(result: Evaluation, found: Thresholds, least_recall: float) -> None:
    from clueval_xlsx.cli.console import lay_out, output, room
    from clueval_xlsx.outputs.terminal import page_parts
    from clueval_xlsx.pages.thresholds import threshold_page
    from clueval_xlsx.words import TERMINAL, Words

    console = output()
    page = threshold_page(result, found, least_recall, Words(TERMINAL))
    lay_out(console, page_parts(page, room(console, "--json FILE")))
