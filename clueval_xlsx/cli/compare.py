"""`compare`: several systems, or strict against relaxed labels, side by side with paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import print_page, put, say_notes
from clueval_xlsx.cli.gates import FAILED, GatedRun, gated_outputs, say_verdicts, verdicts
from clueval_xlsx.cli.inputs import STANDARD_INPUT, load_pair, refuse_idle_formats, sides_of
from clueval_xlsx.cli.writing import is_printed, path_of
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.comparison import Comparison
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files.outputs import Outputs


def run(call: Call, gold: str, preds: Sequence[str]) -> int:
    """Compare the systems, all layers merged or layer by layer."""
    from clueval_xlsx.comparison import compare
    from clueval_xlsx.outputs.json_results import comparison_metrics, json_text
    from clueval_xlsx.pages.comparison import comparison_page
    from clueval_xlsx.words import TERMINAL, Words

    if [gold, *preds].count(STANDARD_INPUT) > 1 or (gold == STANDARD_INPUT and len(preds) > 1):
        raise OptionError("standard input can be one prediction, or gold with a single one. Give files for the others.")
    by_part = _evaluations(call, gold, dict(zip(system_names(preds, call.value("pair.name")), preds, strict=True)))
    refuse_idle_formats(call, [result.pair for named in by_part for _, result in named])
    comparisons = [compare(named) for named in by_part]
    inputs = [gold, *preds]
    found = verdicts(call, _runs(by_part))
    with gated_outputs(call, inputs, found) as outputs:
        for comparison in comparisons:
            layer = file_name_part(comparison.systems[0].evaluation.pair.layers[0])
            _write(call, outputs, comparison, f"-{layer}" if len(comparisons) > 1 else "")
    notes = [note for comparison in comparisons for note in comparison.notes]
    say_notes(dict.fromkeys([*notes, *(note for named in by_part for _, result in named for note in result.notes)]))
    for comparison in comparisons:
        if is_printed(call, "output.json"):
            put(json_text(comparison_metrics(comparison)))
        else:
            print_page(comparison_page(comparison, Words(TERMINAL)), "--json FILE")
    return 0 if say_verdicts(found) else FAILED


def _write(call: Call, outputs: Outputs, comparison: Comparison, suffix: str) -> None:
    from clueval_xlsx.outputs.json_results import comparison_metrics, json_text
    from clueval_xlsx.pages.comparison import comparison_page
    from clueval_xlsx.words import Words

    words = Words(call.value("workbook.lang"))
    book, html, json = (path_of(call, f"output.{name}") for name in ("comparison", "html", "json"))
    if book:
        from clueval_xlsx.outputs.xlsx.page import write_page

        write_page(comparison_page(comparison, words), outputs.path(with_end(book, suffix)))
    if html:
        from clueval_xlsx.outputs.html.page import page_html

        outputs.write_text(with_end(html, suffix), page_html(comparison_page(comparison, words)))
    if json:
        outputs.write_text(with_end(json, suffix), json_text(comparison_metrics(comparison)))


def _runs(by_part: Sequence[Sequence[tuple[str, Evaluation]]]) -> list[GatedRun]:
    """What gates are held against: every system, in each layer where layers were evaluated by themselves."""
    return [
        GatedRun(result, system, result.layers[0] if len(by_part) > 1 else "")
        for named in by_part
        for system, result in named
    ]


def system_names(preds: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names of the systems: those given, else the files' names, as much of their paths as tells them apart."""
    if len(names) > len(preds):
        raise OptionError(
            f"--name was given {len(names)} times for {len(preds)} predictions. Give at most one for each."
        )
    paths = [Path(pred) for pred in preds]
    found = ["standard input" if str(path) == STANDARD_INPUT else path.stem for path in paths]
    if len(set(found)) < len(found):
        found = [path.name for path in paths]
    if len(set(found)) < len(found):
        found = [str(path.with_suffix("")) for path in paths]
    found[: len(names)] = names
    if len(set(found)) < len(found):
        raise OptionError(f"two systems have the same name: {', '.join(found)}. Name them with --name.")
    return found


def _evaluations(call: Call, gold: str, systems: dict[str, str]) -> list[list[tuple[str, Evaluation]]]:
    """For each part (all layers merged, or each layer by itself) the evaluations of all systems."""
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    sides, options = sides_of(call), call.scoring
    by_system = []
    for name, pred in systems.items():
        parts = evaluation_parts(load_pair(gold, pred, sides), merged=sides.merged)
        by_system.append([(name, result) for result in evaluate_each(parts, options)])
    return [list(part) for part in zip(*by_system, strict=True)]
