"""`compare`: several systems, or strict against relaxed labels, side by side with paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import options, review_options
from clueval_xlsx.cli.parameters import ListOption
from clueval_xlsx.cli.writing import force_option, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part

if TYPE_CHECKING:
    from clueval_xlsx.comparison import Comparison
    from clueval_xlsx.evaluation import Evaluation


@click.command()
@click.argument("gold")
@click.argument("preds", nargs=-1, required=True, metavar="PRED...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write the comparison as a workbook here."
)
@click.option(
    "--json", "json_path", metavar="FILE", help="Write the comparison as JSON here; - prints it instead of tables."
)
@click.option(
    "--html", "html_path", type=click.Path(path_type=Path), metavar="FILE", help="Write the comparison as a page here."
)
@click.option("--name", "names", cls=ListOption, metavar="TEXT", help="Name of a system, in the order of the files.")
@options.reading
@options.two_sides
@options.scoring
@options.schemes
@options.labels
@review_options.language_option
@force_option
@options.common
def compare(
    gold: str,
    preds: tuple[str, ...],
    output: Path | None,
    json_path: str | None,
    html_path: Path | None,
    names: tuple[str, ...],
    force: bool,
    **given: Any,
) -> None:
    """Compare several predictions PRED with the same GOLD.

    One prediction alone is compared strict against relaxed, if labels are declared equivalent. A prediction may
    be `-`, standard input.
    """
    from clueval_xlsx.cli.console import output as console_for_data
    from clueval_xlsx.cli.console import put, say, say_notes
    from clueval_xlsx.comparison import compare as compare_systems
    from clueval_xlsx.outputs.terminal.comparison import comparison_tables
    from clueval_xlsx.views.comparison import comparison_view
    from clueval_xlsx.words import TERMINAL, Words

    if [gold, *preds].count("-") > 1 or (gold == "-" and len(preds) > 1):
        raise OptionError("standard input can be one prediction, or gold with a single one. Give files for the others.")
    comparisons, notes = [], []
    for named in _evaluations(gold, preds, system_names(preds, names), given):
        comparison = compare_systems(named)
        comparisons.append(comparison)
        notes += [*comparison.notes, *(note for _, result in named for note in result.notes)]
    with guarded_outputs([gold, *preds], force=force) as outputs:
        for comparison in comparisons:
            layers = comparison.systems[0].evaluation.pair.layers
            suffix = f"-{file_name_part(layers[0])}" if len(comparisons) > 1 else ""
            if output:
                from clueval_xlsx.outputs.xlsx.comparison import write_comparison

                target = output.with_stem(output.stem + suffix)
                write_comparison(comparison, outputs.path(target), given["lang"])
            if html_path:
                from clueval_xlsx.outputs.html.comparison import comparison_html

                target = html_path.with_stem(html_path.stem + suffix)
                outputs.write_text(target, comparison_html(comparison, given["lang"]))
            if json_path and json_path != "-":
                target = Path(json_path)
                outputs.write_text(target.with_stem(target.stem + suffix), _json(comparison))
    if json_path == "-":
        for comparison in comparisons:
            put(_json(comparison))
        return
    say_notes(dict.fromkeys(notes))
    console, words = console_for_data(), Words(TERMINAL)
    for comparison in comparisons:
        for table in comparison_tables(comparison_view(comparison, words), words, console.width):
            console.print(table)
        console.print(comparison.signature, style="dim", soft_wrap=True)
    if output:
        say(f"Comparison written to {output}.")


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
    gold: str, preds: tuple[str, ...], names: list[str], given: dict[str, Any]
) -> list[list[tuple[str, Evaluation]]]:
    """For each part (all layers merged, or each layer by itself) the evaluations of all systems."""
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    chosen = options.evaluation_options(given)
    by_part: list[list[tuple[str, Evaluation]]] = []
    for pred, name in zip(preds, names, strict=True):
        parts = evaluation_parts(options.load_pair(gold, pred, given), merged=given["merged"])
        for index, result in enumerate(evaluate_each(parts, chosen)):
            if index == len(by_part):
                by_part.append([])
            by_part[index].append((name, result))
    return by_part


def _json(comparison: Comparison) -> str:
    from clueval_xlsx.outputs.comparison_json import comparison_json

    return comparison_json(comparison)
