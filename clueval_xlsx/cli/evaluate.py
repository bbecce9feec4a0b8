"""`evaluate`: match, score, and write the workbook and the other outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, detector_options, input_options, review_options, scoring_options
from clueval_xlsx.cli.case_choice import with_chosen_cases
from clueval_xlsx.cli.config import label_words
from clueval_xlsx.cli.gate_outcome import FAILED, outcome_of, runs_by_layer
from clueval_xlsx.cli.gates import GateRequest, gating
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.idle_options import is_typed, refuse_idle
from clueval_xlsx.cli.parameters import group
from clueval_xlsx.cli.run_history import check_history
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, guard, json_option
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end, with_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clueval_xlsx.cli.detector_options import DetectorRequest
    from clueval_xlsx.cli.detector_run import Detected
    from clueval_xlsx.cli.gate_outcome import GateOutcome
    from clueval_xlsx.cli.input_options import SideOptions
    from clueval_xlsx.cli.review_options import ReviewRequest
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.options import Options
    from clueval_xlsx.outputs.xlsx import Handout
    from clueval_xlsx.review.assignment import Selection

_FILE = click.Path(path_type=Path)
_WORKBOOK = Path("review.xlsx")
_OF_WORKBOOKS = ("double", "sample", "agreed", "lock_cells", "max_rows", "contact", "previous", "hide_previous")


@dataclass(frozen=True)
class EvaluationTargets:
    """Where the outputs of a run go, None for those that nobody asked for."""

    workbook: Path | None = None
    json: Path | None = None
    html: Path | None = None
    folder: Path | None = None
    json_to_stdout: bool = False

    @property
    def paths(self) -> list[Path]:
        """All of them, the workbook first."""
        return [path for path in (self.workbook, self.json, self.html, self.folder) if path]

    @property
    def in_clear_text(self) -> bool:
        """Whether there are outputs that no password protects."""
        return bool(self.json or self.html or self.folder)

    def named(self, part: str = "", edition: str = "") -> EvaluationTargets:
        """The targets of one part (`risk`) in one edition (`-without-text`): each has a name of its own.

        >>> EvaluationTargets(json=Path("m.json")).named("risk", "-without-text").json.name
        'm-risk-without-text.json'
        """
        suffix = f"-{part}" if part else ""

        def own(path: Path | None) -> Path | None:
            return path and with_end(path, suffix + edition)

        folder = self.folder
        if folder and edition:
            folder = with_name(folder)
            folder = folder.with_name(folder.name + edition)
        return EvaluationTargets(own(self.workbook), own(self.json), own(self.html), folder and folder / part)


def _targets(
    *, output: Path | None, json_path: str | None, html_path: Path | None, folder: Path | None
) -> EvaluationTargets:
    """The workbook goes where it was said, or to `review.xlsx` if nothing else is asked for."""
    if output is None and not (json_path or html_path or folder):
        output = _WORKBOOK
    if output is not None and output.suffix.lower() != ".xlsx" and not output.is_dir():
        raise OptionError(f"{output}: a review workbook ends in .xlsx. Choose such a name with -o.")
    if str(folder) == STANDARD_OUTPUT:
        raise OptionError("--files -: several files cannot go to standard output. Give the name of a folder.")
    printed = json_path == STANDARD_OUTPUT
    json = Path(json_path) if json_path is not None and not printed else None
    return EvaluationTargets(output, json, html_path, folder, printed)


_to_targets = group(
    "targets",
    _targets,
    [
        click.option(
            "-o",
            "--output",
            type=_FILE,
            metavar="FILE",
            help="Write the review workbook here. Default: review.xlsx; beside other outputs only with --judges.",
        ),
        json_option("metrics.json"),
        click.option("--html", "html_path", type=_FILE, metavar="FILE", help="Write the report to read here."),
        click.option(
            "--files",
            "folder",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Write metrics.json, scores.csv, the cases as CSV and confusion_matrix.html into this folder.",
        ),
    ],
)


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx evaluate gold.vrt pred.vrt -o review.xlsx --html report.html",
        "clueval-xlsx evaluate gold/ pred/ --judges anna,ben --double 20% --lang de",
        "clueval-xlsx evaluate gold.jsonl --detector presidio -o review.xlsx",
    ),
)
@click.argument("gold")
@click.argument("pred", required=False)
@_to_targets
@detector_options.evaluating
@input_options.both_sides
@scoring_options.merging
@scoring_options.scoring_with_cases
@review_options.review
@gating
@common_options.common
@click.pass_context
def evaluate(
    ctx: click.Context,
    /,
    *,
    gold: str,
    pred: str | None,
    targets: EvaluationTargets,
    detector: DetectorRequest | None,
    sides: SideOptions,
    merged: bool,
    options: Options,
    review: ReviewRequest,
    gates: GateRequest,
) -> None:
    """Compare PRED with GOLD and write the errors out for review.

    One of the two may be `-`, standard input. With --detector there is no PRED: the detector is run over GOLD.
    """
    from clueval_xlsx.evaluation import evaluate_each

    if (pred is None) == (detector is None):
        raise click.UsageError("Give either PRED, a file of predictions, or a detector with --detector.")
    inputs = [gold, *([pred] if pred is not None else []), *review.also]
    check_history(gates.history, inputs)
    if targets.workbook is None and is_typed("judges"):  # whoever names judges wants something for them
        targets = replace(targets, workbook=_WORKBOOK)
    elif targets.workbook is None:
        refuse_idle(_OF_WORKBOOKS, "a workbook (-o FILE)")
    failures = False
    if pred is not None:
        pair = input_options.load_pair(gold, pred, input_options.as_listed(sides, options))
        parts = _parts(pair, merged=merged)
        _check_workbooks(targets, review, parts)
        results = evaluate_each(list(parts.values()), options)
        outcome = outcome_of(gates, runs_by_layer(results))
        chosen = with_chosen_cases(dict(zip(parts, results, strict=True)), review, gold, sides)
        _finish(targets, review, chosen, inputs, outcome)
    elif detector is not None:
        from clueval_xlsx.cli.detector_run import detected_pair

        if not targets.paths:
            raise OptionError("--json -: with a detector one output must be a file. Add one, such as -o review.xlsx.")
        _check_places(targets, review)
        with detected_pair(
            gold, input_options.as_listed(sides, options), options, detector, targets.paths[0]
        ) as detected:
            parts = _parts(detected.pair, merged=merged)
            _check_workbooks(targets, review, parts)
            results = evaluate_each(list(parts.values()), detected.options)
            detected.check(results[0])
            outcome = outcome_of(gates, runs_by_layer(results))
            chosen = with_chosen_cases(dict(zip(parts, results, strict=True)), review, gold, sides)
            _finish(targets, review, chosen, inputs, outcome, detected)
        failures = detected.say_failures()
    if not outcome.say():
        ctx.exit(FAILED)
    if failures:
        ctx.exit(3)


def _parts(pair: Pair, *, merged: bool) -> dict[str, Pair]:
    """What is evaluated by itself, by the name that its files get: everything, or each layer."""
    from clueval_xlsx.evaluation import evaluation_parts

    parts = evaluation_parts(pair, merged=merged)
    named = {file_name_part(part.layers[0]) if len(parts) > 1 else "": part for part in parts}
    if len(named) < len(parts):
        layers = ", ".join(part.layers[0] for part in parts)
        raise OptionError(f"two of the layers {layers} would share their files. Give one of them another name.")
    return named


def _check_places(targets: EvaluationTargets, review: ReviewRequest) -> None:
    """Complain about places that cannot be written to before a long run, not behind it."""
    from clueval_xlsx.cli.reviews import review_targets
    from clueval_xlsx.files.outputs import check_target

    books = list(review_targets(targets.workbook, review).values()) if targets.workbook else []
    others = [path for path in targets.paths if path != targets.workbook]
    for target in (*books, *others):
        if not target.is_dir():
            check_target(target, guard(review.force), workbook=target in books)


def _check_workbooks(targets: EvaluationTargets, review: ReviewRequest, parts: Iterable[str]) -> None:
    """Complain about workbooks that cannot or must not be written, before the work and not behind it."""
    from clueval_xlsx.cli.reviews import review_targets
    from clueval_xlsx.files.outputs import check_target

    for book in (targets.named(part).workbook for part in parts):
        for path in review_targets(book, review).values() if book else ():
            check_target(path, guard(review.force), workbook=True)


def _finish(
    targets: EvaluationTargets,
    review: ReviewRequest,
    results: Mapping[str, Evaluation],
    inputs: Sequence[str],
    outcome: GateOutcome,
    detected: Detected | None = None,
) -> None:
    """Write everything, and say how it went."""
    from clueval_xlsx.cli.console import say, say_notes
    from clueval_xlsx.pages.evaluation import evaluation_sentence
    from clueval_xlsx.words import TERMINAL, Words

    said: list[str] = []
    with outcome.outputs(inputs, force=review.force) as outputs:
        if detected:
            detected.forget_with(outputs)
        for part, result in results.items():
            book = targets.named(part).workbook
            if book:
                said += _write_workbooks(outputs, result, book, review)
            for edition, name in _editions(result, review):
                _write_figures(outputs, edition, targets.named(part, name), review.lang)
    if targets.json_to_stdout:
        from clueval_xlsx.cli.console import put
        from clueval_xlsx.outputs.json_results import json_text, metrics

        put(json_text(metrics(*results.values())))
    say_notes(dict.fromkeys(note for result in results.values() for note in result.notes))
    if review.password is not None and targets.in_clear_text:
        say("Note: the password protects workbooks only; --json, --html and --files are written as clear text.")
    words = Words(TERMINAL)
    for sentence in (*said, *(evaluation_sentence(result, words) for result in results.values())):
        say(sentence)
    for result in results.values():
        if result.unmarked_cases is not None:
            say(f"Unmarked passages listed: {len(result.unmarked_cases)}.")


def _write_workbooks(outputs: Outputs, result: Evaluation, book: Path, review: ReviewRequest) -> list[str]:
    """The workbooks of one result; returns what to say about them."""
    from clueval_xlsx.cli.reviews import write_reviews

    look, said = _with_previous(review.look(), result, review.previous)
    selection = write_reviews(outputs, result, book, review, look)
    if review.sample is not None:
        said = [*said, _drawn(selection, book)]
    return [*said, _handed_out(selection)] if selection.hands else said


def _with_previous(look: Handout, result: Evaluation, log: Path | None) -> tuple[Handout, list[str]]:
    """How the workbook is to look, with what was decided before, and what to say about that."""
    if log is None:
        return look, []
    from clueval_xlsx.cli.previous import carry_over, read_previous

    look, sentence = carry_over(read_previous(log), result, look)
    return look, [sentence]


def _editions(result: Evaluation, review: ReviewRequest) -> Iterator[tuple[Evaluation, str]]:
    """The result, and without its text if that is asked for; with what the names of the files end with."""
    yield result, ""
    if review.without_text:
        from clueval_xlsx.cli.reviews import WITHOUT_TEXT
        from clueval_xlsx.review.text_free import without_text

        yield without_text(result), WITHOUT_TEXT


def _write_figures(outputs: Outputs, result: Evaluation, targets: EvaluationTargets, language: str) -> None:
    """Everything but the workbook."""
    if targets.json:
        from clueval_xlsx.outputs.json_results import json_text, metrics

        outputs.write_text(targets.json, json_text(metrics(result)))
    if targets.html:
        from clueval_xlsx.outputs.html.report import report_html

        outputs.write_text(targets.html, report_html(result, language, label_words()))
    if targets.folder:
        _write_files(outputs, result, targets.folder, language)


def _write_files(outputs: Outputs, result: Evaluation, folder: Path, language: str) -> None:
    from clueval_xlsx.outputs.csv_files import cases_csv, scores_csv
    from clueval_xlsx.outputs.html.report import confusion_html
    from clueval_xlsx.outputs.json_results import json_text, presidio_metrics

    missed, unsupported = result.case_tables
    outputs.write_text(folder / "metrics.json", json_text(presidio_metrics(result)))
    outputs.write_text(folder / "scores.csv", scores_csv(result))
    outputs.write_text(folder / "false_negatives.csv", cases_csv(missed))
    outputs.write_text(folder / "false_positives.csv", cases_csv(unsupported))
    if result.unmarked_cases is not None:
        outputs.write_text(folder / "unmarked.csv", cases_csv(result.with_contexts(result.unmarked_cases)))
    outputs.write_text(folder / "confusion_matrix.html", confusion_html(result, language))


def _handed_out(selection: Selection) -> str:
    """How many cases each person has, and how many of them another one has, too."""
    sizes = {name: sum(map(len, cases.values())) for name, cases in selection.hands.items()}
    shares = ", ".join(f"{size} to {name}" for name, size in sizes.items())
    twice = sum(sizes.values()) - sum(map(len, selection.cases.values()))
    return f"Cases handed out: {shares}; {twice} of them to two people."


def _drawn(selection: Selection, book: Path) -> str:
    """What of the cases a sample holds."""
    missed, unsupported = (len(selection.cases[sheet]) for sheet in ("FN", "FP"))
    where = book.name if not selection.team else f"{len(selection.team)} workbooks"
    return f"Drawn for {where}: {missed} missed, {unsupported} unsupported; the re-import estimates the rest from them."
