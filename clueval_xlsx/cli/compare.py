"""`compare`: several systems, or strict against relaxed labels, side by side with paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import print_page, say_notes
from clueval_xlsx.cli.gates import gated
from clueval_xlsx.cli.inputs import STANDARD_INPUT, load_pair, refuse_idle_formats, sides_of
from clueval_xlsx.cli.writing import Writing, ends
from clueval_xlsx.exceptions import OptionError

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.comparison import Comparison
    from clueval_xlsx.evaluation import Evaluation


def run(call: Call, gold: str, preds: Sequence[str]) -> int:
    """Compare the systems, all layers merged or layer by layer."""
    from clueval_xlsx.comparison import compare
    from clueval_xlsx.pages.comparison import comparison_page
    from clueval_xlsx.words import TERMINAL, Words

    inputs = [gold, *preds]
    if inputs.count(STANDARD_INPUT) > 1 or (gold == STANDARD_INPUT and len(preds) > 1):
        raise OptionError("standard input can be one prediction, or gold with a single one. Give files for the others.")
    by_part = _evaluations(call, gold, dict(zip(system_names(preds, call.value("pair.name")), preds, strict=True)))
    runs = [run for part in by_part for run in part]
    refuse_idle_formats(call, [result.pair for _, result in runs])
    comparisons = [compare(part) for part in by_part]
    names = ends([part[0][1].pair.layers[0] for part in by_part])
    notes = [note for comparison in comparisons for note in comparison.notes]
    with gated(call, runs) as code, Writing(call, inputs) as out:
        for end, comparison in zip(names, comparisons, strict=True):
            _write(out, comparison, end)
        out.afterwards(say_notes, dict.fromkeys([*notes, *(note for _, result in runs for note in result.notes)]))
        for comparison in () if out.prints else comparisons:
            page = comparison_page(comparison, Words(TERMINAL))
            out.afterwards(partial(print_page, elsewhere="--json FILE"), page)
    return code


def _write(out: Writing, comparison: Comparison, end: str) -> None:
    from clueval_xlsx.outputs.json_results import comparison_metrics
    from clueval_xlsx.pages.comparison import comparison_page
    from clueval_xlsx.words import Words

    words, book = Words(out.call.value("workbook.lang")), out.place("comparison", end)
    if book is not None:
        from clueval_xlsx.outputs.xlsx.page import write_page

        out.book(book, partial(write_page, comparison_page(comparison, words)))
    out.page(lambda: comparison_page(comparison, words), end)
    out.json(lambda: comparison_metrics(comparison), end)


def system_names(preds: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names of the systems: those given, else the files' names, as much of their paths as tells them apart."""
    if len(names) > len(preds):
        raise OptionError(
            f"--name was given {len(names)} times for {len(preds)} predictions. Give at most one for each."
        )
    paths = [Path(pred) for pred in preds]
    stems = ["standard input" if pred == STANDARD_INPUT else path.stem for pred, path in zip(preds, paths, strict=True)]
    longer = [path.name for path in paths], [str(path.with_suffix("")) for path in paths]
    made = next((one for one in (stems, *longer) if len(set(one)) == len(one)), stems)
    made[: len(names)] = names
    if len(set(made)) < len(made):
        raise OptionError(f"two systems have the same name: {', '.join(made)}. Name them with --name.")
    return made


def _evaluations(call: Call, gold: str, systems: dict[str, str]) -> list[list[tuple[str, Evaluation]]]:
    """For each part (all layers merged, or each layer by itself) the evaluations of all systems."""
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts

    sides, options = sides_of(call), call.scoring
    by_system = []
    for name, pred in systems.items():
        parts = evaluation_parts(load_pair(gold, pred, sides), merged=sides.merged)
        by_system.append([(name, result) for result in evaluate_each(parts, options)])
    return [list(part) for part in zip(*by_system, strict=True)]
