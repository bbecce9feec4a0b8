"""`evaluate`: match, score, and write the workbook and the other outputs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import engine_options, options

if TYPE_CHECKING:
    from clueval_xlsx.cli.engine_run import Detected
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files import Outputs


@click.command()
@click.argument("gold")
@click.argument("pred", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the review workbook here. Default: review.xlsx, unless another output is asked for.",
)
@click.option("--json", "json_path", type=click.Path(path_type=Path), metavar="FILE", help="Write metrics.json here.")
@click.option(
    "--html", "html_path", type=click.Path(path_type=Path), metavar="FILE", help="Write the report to read here."
)
@click.option(
    "--files",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write metrics.json, scores.csv, the cases as CSV and confusion_matrix.html into this folder.",
)
@click.option("--engine", metavar="NAME", help=f"Make the predictions here and now. {engine_options.ENGINE_HELP}")
@engine_options.running
@click.option(
    "--keep-unmapped",
    is_flag=True,
    help="With --engine: keep documents that have labels for which the detector has none.",
)
@options.reading
@options.two_sides
@options.scoring
@click.option(
    "--context",
    type=click.IntRange(0),
    metavar="N",
    help="Show N tokens on each side of a case instead of its sentence.",
)
@options.review
@options.common
@click.pass_context
def evaluate(
    ctx: click.Context,
    /,
    gold: str,
    pred: str | None,
    output: Path | None,
    json_path: Path | None,
    html_path: Path | None,
    folder: Path | None,
    **given: Any,
) -> None:
    """Compare PRED with GOLD and write the errors out for review.

    One of the two may be `-`, standard input. With --engine there is no PRED: the detector is run over GOLD.
    """
    from clueval_xlsx.cli.console import say, say_notes
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts
    from clueval_xlsx.files import Outputs

    if output is None and not (json_path or html_path or folder):
        output = Path("review.xlsx")
    detected = _detect(gold, pred, [path for path in (output, json_path, html_path, folder) if path], given)
    pair = detected.pair if detected else options.load_pair(gold, pred or "", given)
    parts = evaluation_parts(pair, merged=given["merged"])
    suffixes = [f"-{part.layers[0]}" if len(parts) > 1 else "" for part in parts]
    if output and not given["force"]:
        for suffix in suffixes:
            _spare_judgements(output.with_stem(output.stem + suffix))
    chosen = options.evaluation_options(given)
    results = evaluate_each(parts, replace(chosen, labels=detected.rules(chosen.labels)) if detected else chosen)
    if detected:
        detected.check(results[0])
    with Outputs() as outputs:
        for result, suffix in zip(results, suffixes, strict=True):
            if output:
                _write_review(outputs, result, output.with_stem(output.stem + suffix), given)
            if json_path:
                _write_json(outputs, result, json_path.with_stem(json_path.stem + suffix))
            if html_path:
                _write_html(outputs, result, html_path.with_stem(html_path.stem + suffix), given["lang"])
            if folder:
                _write_files(outputs, result, folder / suffix.removeprefix("-"), given["lang"])
    say_notes(dict.fromkeys(note for result in results for note in result.notes))
    for result in results:
        say(summary(result))
    if detected and detected.say_failures():
        ctx.exit(3)


def _detect(gold: str, pred: str | None, targets: list[Path], given: dict[str, Any]) -> Detected | None:
    """The predictions of a detector, if that is where they come from."""
    if bool(pred) == bool(given["engine"]):
        raise click.UsageError("Give either PRED, a file of predictions, or a detector with --engine.")
    if pred:
        return None
    from clueval_xlsx.cli.engine_run import detected_pair

    if not given["force"]:
        _spare_judgements(targets[0])  # before a long run, not behind it
    return detected_pair(gold, given, targets[0])


def _spare_judgements(path: Path) -> None:
    """Refuse to overwrite a workbook that somebody has judged in."""
    from clueval_xlsx.exceptions import OutputError
    from clueval_xlsx.reimport.existing import why_not_overwrite

    try:
        found = why_not_overwrite(path.read_bytes(), path.name) if path.is_file() else ""
    except OSError:
        return  # writing will say what is wrong with the place
    if found:
        raise OutputError(
            f"{path}: this workbook would be overwritten, and {found}. "
            "Choose another name with -o, or add --force to lose them."
        )


def _write_review(outputs: Outputs, result: Evaluation, path: Path, given: dict[str, Any]) -> None:
    from clueval_xlsx.cli.console import progress
    from clueval_xlsx.workbook import write_workbook

    total = sum(len(table) for table in result.cases)
    with progress("Writing cases", total) as advance:
        write_workbook(result, outputs.path(path), options.review_options(given), advance=advance)


def _write_json(outputs: Outputs, result: Evaluation, path: Path) -> None:
    from clueval_xlsx.report_json import to_json

    outputs.write_text(path, to_json(result))


def _write_html(outputs: Outputs, result: Evaluation, path: Path, language: str) -> None:
    from clueval_xlsx.report_html import to_html

    outputs.write_text(path, to_html(result, language))


def _write_files(outputs: Outputs, result: Evaluation, folder: Path, language: str) -> None:
    from clueval_xlsx.report_csv import cases_csv, scores_csv
    from clueval_xlsx.report_html import confusion_html

    missed, unsupported = result.cases
    _write_json(outputs, result, folder / "metrics.json")
    outputs.write_text(folder / "scores.csv", scores_csv(result))
    outputs.write_text(folder / "false_negatives.csv", cases_csv(missed))
    outputs.write_text(folder / "false_positives.csv", cases_csv(unsupported))
    outputs.write_text(folder / "confusion_matrix.html", confusion_html(result, language))


def summary(result: Evaluation) -> str:
    """One line that says how it went."""
    from clueval_xlsx.cli.tables import rate

    row = result.headline
    layer = f"{result.pair.layers[0]}: " if len(result.pair.layers) == 1 else ""
    return (
        f"{layer}recall {rate(row['recall'])} % ({row['tp_gold']:.0f} of {row['gold']:.0f}), "
        f"precision {rate(row['precision'])} % ({row['tp_pred']:.0f} of {row['pred']:.0f}), "
        f"level {result.options.level}; to judge: {row['fn']:.0f} missed, {row['fp']:.0f} unsupported."
    )
