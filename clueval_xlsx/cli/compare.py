"""`compare`: several systems, or strict against relaxed labels, side by side with paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options, review_options, scoring_options
from clueval_xlsx.cli.gate_outcome import FAILED, GatedRun, outcome_of
from clueval_xlsx.cli.gates import GateRequest, gating
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.parameters import ListOption
from clueval_xlsx.cli.run_history import check_history
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, force_option, json_option
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clueval_xlsx.cli.input_options import SideOptions
    from clueval_xlsx.comparison import Comparison
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.options import Options


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx compare gold.vrt a.vrt b.vrt -o comparison.xlsx",
        "clueval-xlsx compare gold.vrt a.vrt --equivalent ORG,LOC --labelled span",
    ),
)
@click.argument("gold")
@click.argument("preds", nargs=-1, required=True, metavar="PRED...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the comparison as a workbook here."
)
@json_option("the comparison as JSON")
@click.option(
    "--html", "html_path", type=click.Path(path_type=Path), metavar="FILE", help="Write the comparison as a page here."
)
@click.option("--name", "names", cls=ListOption, metavar="TEXT", help="Name of a system, in the order of the files.")
@input_options.both_sides
@scoring_options.merging
@scoring_options.scoring_and_drawing
@review_options.language_option
@force_option
@gating
@common_options.common
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    *,
    gold: str,
    preds: tuple[str, ...],
    output: Path | None,
    json_path: str | None,
    html_path: Path | None,
    names: tuple[str, ...],
    sides: SideOptions,
    merged: bool,
    options: Options,
    lang: str,
    force: bool,
    gates: GateRequest,
) -> None:
    """Compare several predictions PRED with the same GOLD.

    One prediction alone is compared strict against relaxed, if labels are declared equivalent. A prediction may
    be `-`, standard input.
    """
    from clueval_xlsx.cli.console import put, say_notes
    from clueval_xlsx.comparison import compare as compare_systems
    from clueval_xlsx.outputs.json_results import comparison_metrics, json_text
    from clueval_xlsx.pages.comparison import comparison_page
    from clueval_xlsx.words import Words

    if [gold, *preds].count("-") > 1 or (gold == "-" and len(preds) > 1):
        raise OptionError("standard input can be one prediction, or gold with a single one. Give files for the others.")
    inputs = [gold, *preds]
    check_history(gates.history, inputs)
    systems = dict(zip(system_names(preds, names), preds, strict=True))
    listed = input_options.as_listed(sides, options)
    pairs = ((name, input_options.load_pair(gold, pred, listed)) for name, pred in systems.items())
    by_part = _evaluations(pairs, options, merged=merged)
    input_options.refuse_idle_formats([result.pair for named in by_part for _, result in named])
    comparisons = [compare_systems(named) for named in by_part]
    outcome = outcome_of(gates, _runs(by_part))
    with outcome.outputs(inputs, force=force) as outputs:
        for comparison in comparisons:
            layer = file_name_part(comparison.systems[0].evaluation.pair.layers[0])
            suffix = f"-{layer}" if len(comparisons) > 1 else ""
            if output:
                from clueval_xlsx.outputs.xlsx.page import write_page

                write_page(comparison_page(comparison, Words(lang)), outputs.path(with_end(output, suffix)))
            if html_path:
                from clueval_xlsx.outputs.html.page import page_html

                page = page_html(comparison_page(comparison, Words(lang)))
                outputs.write_text(with_end(html_path, suffix), page)
            if json_path and json_path != STANDARD_OUTPUT:
                outputs.write_text(with_end(Path(json_path), suffix), json_text(comparison_metrics(comparison)))
    notes = [note for comparison in comparisons for note in comparison.notes]
    say_notes(dict.fromkeys([*notes, *(note for named in by_part for _, result in named for note in result.notes)]))
    if json_path == STANDARD_OUTPUT:
        for comparison in comparisons:
            put(json_text(comparison_metrics(comparison)))
    else:
        _print(comparisons)
    if not outcome.say():
        ctx.exit(FAILED)


def _runs(by_part: Sequence[Sequence[tuple[str, Evaluation]]]) -> list[GatedRun]:
    """What gates are held against: every system, in each layer where layers were evaluated by themselves."""
    return [
        GatedRun(result, system, result.layers[0] if len(by_part) > 1 else "")
        for named in by_part
        for system, result in named
    ]


def _print(comparisons: Sequence[Comparison]) -> None:
    from clueval_xlsx.cli.console import lay_out, output, room
    from clueval_xlsx.outputs.terminal import page_parts
    from clueval_xlsx.pages.comparison import comparison_page
    from clueval_xlsx.words import TERMINAL, Words

    console = output()
    for comparison in comparisons:
        lay_out(console, page_parts(comparison_page(comparison, Words(TERMINAL)), room(console, "--json FILE")))


def system_names(preds: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """The names of the systems: those given, else the files' names, as much of their paths as tells them apart."""
    if len(names) > len(preds):
        raise OptionError(
            f"--name was given {len(names)} times for {len(preds)} predictions. Give at most one for each."
        )
    paths = [Path(pred) for pred in preds]
    found = ["standard input" if str(path) == "-" else path.stem for path in paths]
    if len(set(found)) < len(found):
        found = [path.name for path in paths]
    if len(set(found)) < len(found):
        found = [str(path.with_suffix("")) for path in paths]
    found[: len(names)] = names
    if len(set(found)) < len(found):
        raise OptionError(f"two systems have the same name: {', '.join(found)}. Name them with --name.")
    return found


def _evaluations(
    pairs: Iterable[tuple[str, Pair]], options: Options, *, merged: bool
) -> list[list[tuple[str, Evaluation]]]:
    """For each part (all layers merged, or each layer by itself) the evaluations of all systems."""
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    by_system = [
        [(name, result) for result in evaluate_each(evaluation_parts(pair, merged=merged), options)]
        for name, pair in pairs
    ]
    return [list(part) for part in zip(*by_system, strict=True)]
