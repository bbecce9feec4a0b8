"""`evaluate`: match, score, and write the workbook and the other outputs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import detector_options, options, review_options
from clueval_xlsx.cli.writing import guard, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clueval_xlsx.cli.detector_run import Detected
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.outputs.xlsx import ReviewOptions
    from clueval_xlsx.review.assignment import Selection


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
@click.option("--detector", metavar="NAME", help=f"Make the predictions here and now. {detector_options.DETECTOR_HELP}")
@detector_options.running
@click.option(
    "--keep-unmapped",
    is_flag=True,
    help="With --detector: keep documents that have labels for which the detector has none.",
)
@options.reading
@options.two_sides
@options.scoring
@options.schemes
@options.labels
@click.option(
    "--context",
    type=click.IntRange(0),
    metavar="N",
    help="Show N tokens on each side of a case instead of its sentence.",
)
@click.option(
    "--previous",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Fill in what was decided before, from the log that `reimport --judgements` wrote.",
)
@review_options.review
@review_options.handing_out
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

    One of the two may be `-`, standard input. With --detector there is no PRED: the detector is run over GOLD.
    """
    from clueval_xlsx.cli.console import say, say_notes
    from clueval_xlsx.cli.reviews import review_targets, write_reviews
    from clueval_xlsx.evaluation import evaluate_each, evaluation_parts
    from clueval_xlsx.files.encryption import find_password
    from clueval_xlsx.views.sentences import evaluation_sentence
    from clueval_xlsx.words import TERMINAL, Words

    output = _workbook_path(output, needed=not (json_path or html_path or folder))
    with ExitStack() as kept:
        detected = _detect(gold, pred, [path for path in (output, json_path, html_path, folder) if path], given, kept)
        pair = detected.pair if detected else options.load_pair(gold, pred or "", given)
        parts = evaluation_parts(pair, merged=given["merged"])
        suffixes = [f"-{file_name_part(part.layers[0])}" if len(parts) > 1 else "" for part in parts]
        books = {suffix: output.with_stem(output.stem + suffix) for suffix in suffixes if output}
        targets = {suffix: review_targets(book, given) for suffix, book in books.items()}
        _check_targets([path for paths in targets.values() for path in paths.values()], given)
        chosen = options.evaluation_options(given)
        results = evaluate_each(parts, replace(chosen, labels=detected.rules(chosen.labels)) if detected else chosen)
        if detected:
            detected.check(results[0])
        said: list[str] = []
        drawn: list[str] = []
        with guarded_outputs([gold, pred or gold], force=given["force"]) as outputs:
            if detected:
                detected.forget_with(outputs)
            for result, suffix in zip(results, suffixes, strict=True):
                if output:
                    review, carried = _review_options(result, given)
                    said += carried
                    selection = write_reviews(outputs, result, books[suffix], targets[suffix], review, given)
                    if given["sample"] is not None:
                        drawn.append(_drawn(selection, books[suffix]))
                for edition, name in _editions(result, given):
                    if json_path:
                        _write_json(outputs, edition, json_path.with_stem(json_path.stem + suffix + name))
                    if html_path:
                        _write_html(
                            outputs, edition, html_path.with_stem(html_path.stem + suffix + name), given["lang"]
                        )
                    if folder:
                        own = folder.with_name(folder.name + name) / suffix.removeprefix("-")
                        _write_files(outputs, edition, own, given["lang"])
    say_notes(dict.fromkeys(note for result in results for note in result.notes))
    if find_password(given["password_file"]) is not None and (json_path or html_path or folder):
        say("Note: the password protects workbooks only; --json, --html and --files are written as clear text.")
    words = Words(TERMINAL)
    for sentence in (*said, *(evaluation_sentence(result, words) for result in results), *drawn):
        say(sentence)
    if detected and detected.say_failures():
        ctx.exit(3)


def _workbook_path(output: Path | None, *, needed: bool) -> Path | None:
    """Where the workbook goes: as it was said, or to `review.xlsx` if nothing else is asked for."""
    if output is None:
        return Path("review.xlsx") if needed else None
    if output.suffix.lower() != ".xlsx" and not output.is_dir():
        raise OptionError(f"{output}: a review workbook ends in .xlsx. Choose such a name with -o.")
    return output


def _detect(
    gold: str, pred: str | None, targets: list[Path], given: dict[str, Any], kept: ExitStack
) -> Detected | None:
    """The predictions of a detector, if that is where they come from; they are kept until `kept` is closed."""
    if bool(pred) == bool(given["detector"]):
        raise click.UsageError("Give either PRED, a file of predictions, or a detector with --detector.")
    if pred:
        return None
    from clueval_xlsx.cli.detector_run import detected_pair
    from clueval_xlsx.cli.reviews import review_targets

    # Before a long run, not behind it:
    own = list(review_targets(targets[0], given).values())
    _check_targets([target for target in (*own, *targets[1:]) if not target.is_dir()], given)
    return detected_pair(gold, given, targets[0], kept)


def _check_targets(targets: Iterable[Path], given: dict[str, Any]) -> None:
    """Refuse places where nothing can go or work would be lost, before there is work of our own."""
    from clueval_xlsx.files.outputs import check_target

    for target in targets:
        check_target(target, guard(given["force"]))


def _review_options(result: Evaluation, given: dict[str, Any]) -> tuple[ReviewOptions, list[str]]:
    """How the workbook is to look, with what was decided before, and what to say about that."""
    review = review_options.review_options(given)
    if given["previous"] is None:
        return review, []
    from clueval_xlsx.cli.previous import carry_over, read_previous

    review, sentence = carry_over(read_previous(given["previous"]), result, review)
    return review, [sentence]


def _write_json(outputs: Outputs, result: Evaluation, path: Path) -> None:
    from clueval_xlsx.outputs.metrics_json import to_json

    outputs.write_text(path, to_json(result))


def _editions(result: Evaluation, given: dict[str, Any]) -> Iterator[tuple[Evaluation, str]]:
    """The result, and without its text if that is asked for; with what the names of the files end with."""
    yield result, ""
    if given["without_text"]:
        from clueval_xlsx.cli.reviews import WITHOUT_TEXT
        from clueval_xlsx.review.text_free import without_text

        yield without_text(result), WITHOUT_TEXT


def _write_html(outputs: Outputs, result: Evaluation, path: Path, language: str) -> None:
    from clueval_xlsx.outputs.html.report import to_html

    outputs.write_text(path, to_html(result, language))


def _write_files(outputs: Outputs, result: Evaluation, folder: Path, language: str) -> None:
    from clueval_xlsx.outputs.csv_files import cases_csv, scores_csv
    from clueval_xlsx.outputs.html.confusion_page import confusion_page

    missed, unsupported = result.cases
    _write_json(outputs, result, folder / "metrics.json")
    outputs.write_text(folder / "scores.csv", scores_csv(result))
    outputs.write_text(folder / "false_negatives.csv", cases_csv(missed))
    outputs.write_text(folder / "false_positives.csv", cases_csv(unsupported))
    outputs.write_text(folder / "confusion_matrix.html", confusion_page(result, language))


def _drawn(selection: Selection, book: Path) -> str:
    """What of the cases a sample holds."""
    missed, unsupported = (len(selection.cases[sheet]) for sheet in ("FN", "FP"))
    where = book.name if not selection.team else f"{len(selection.team)} workbooks"
    return f"Drawn for {where}: {missed} missed, {unsupported} unsupported; the re-import estimates the rest from them."
