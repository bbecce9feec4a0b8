"""`evaluate`: match, score, and write the workbook and the other outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import put, say, say_notes
from clueval_xlsx.cli.gates import FAILED, Verdict, gated_outputs, runs_by_layer, say_verdicts, verdicts
from clueval_xlsx.cli.inputs import Sides, load_pair, sides_of
from clueval_xlsx.cli.workbooks import WITHOUT_TEXT, Review, with_chosen_cases, write_workbooks
from clueval_xlsx.cli.writing import guard, is_printed, path_of
from clueval_xlsx.evaluation import Evaluation, evaluate_each, evaluation_parts
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end, with_name
from clueval_xlsx.files.outputs import Outputs, check_target

if TYPE_CHECKING:
    from clueval_xlsx.cli.detecting import Detected
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.options import Options

_WORKBOOK = Path("review.xlsx")
_OF_WORKBOOKS = tuple(
    f"workbook.{name}" for name in ("double", "sample", "agreed", "lock_cells", "max_rows", "contact", "previous")
)


@dataclass(frozen=True)
class EvaluationTargets:
    """Where the outputs of a run go, None for those that nobody asked for."""

    workbook: Path | None = None
    json: Path | None = None
    html: Path | None = None
    folder: Path | None = None

    @classmethod
    def of(cls, call: Call) -> EvaluationTargets:
        """The workbook goes where it was said, or to `review.xlsx` if nothing else is asked for, or for judges."""
        output, folder = path_of(call, "output.output"), call.value("output.files")
        others = [call.value(f"output.{name}") for name in ("json", "html", "files")]
        if output is None and (not any(others) or call.is_typed("workbook.judges")):
            output = _WORKBOOK
        if output is None:
            call.refuse(_OF_WORKBOOKS, "a workbook (-o FILE)")
        elif output.suffix.lower() != ".xlsx" and not output.is_dir():
            raise OptionError(f"{output}: a review workbook ends in .xlsx. Choose such a name with -o.")
        if is_printed(call, "output.files"):
            raise OptionError("--files -: several files cannot go to standard output. Give the name of a folder.")
        return cls(output, path_of(call, "output.json"), path_of(call, "output.html"), folder and Path(folder))

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


def run(call: Call, gold: str, pred: str | None) -> int:
    """Evaluate PRED, or what a detector finds, and write what was asked for."""
    detector = call.value("detector.name")
    if pred is None and detector is None:
        raise OptionError("PRED is missing. Give a file of predictions, or a detector with --detector.")
    if pred is not None and detector is not None:
        raise OptionError("PRED and --detector are both given. Leave one out.")
    if detector is None:
        call.refuse(["cluster"], "--detector")
    targets, review, sides, options = EvaluationTargets.of(call), Review.of(call), sides_of(call), call.scoring
    inputs = [gold, *([pred] if pred is not None else []), *review.cases.also]
    if pred is not None:
        passed = _evaluated(load_pair(gold, pred, sides), options, targets, review, sides, inputs)
        return 0 if passed else FAILED
    from clueval_xlsx.cli.detecting import detected_pair

    if not targets.paths:
        raise OptionError("--json -: with a detector one output must be a file. Add one, such as -o review.xlsx.")
    _check_places(targets, review)
    with detected_pair(call, gold, sides, options, targets.paths[0]) as detected:
        passed = _evaluated(detected.pair, detected.options, targets, review, sides, inputs, detected)
    failures = detected.say_failures()
    if not passed:
        return FAILED
    return 3 if failures else 0


def _evaluated(
    pair: Pair,
    options: Options,
    targets: EvaluationTargets,
    review: Review,
    sides: Sides,
    inputs: Sequence[str],
    detected: Detected | None = None,
) -> bool:
    """Evaluate a pair and write what was asked for; whether the gates hold."""
    parts = _parts(pair, merged=sides.merged)
    _check_workbooks(targets, review, parts)
    results = evaluate_each(list(parts.values()), options)
    if detected is not None:
        detected.check(results[0])
    found = verdicts(review.call, runs_by_layer(results))
    chosen = with_chosen_cases(dict(zip(parts, results, strict=True)), review, inputs[0], sides)
    _finish(targets, review, chosen, inputs, found, detected)
    return say_verdicts(found)


def _parts(pair: Pair, *, merged: bool) -> dict[str, Pair]:
    """What is evaluated by itself, by the name that its files get: everything, or each layer."""
    parts = evaluation_parts(pair, merged=merged)
    named = {file_name_part(part.layers[0]) if len(parts) > 1 else "": part for part in parts}
    if len(named) < len(parts):
        layers = ", ".join(part.layers[0] for part in parts)
        raise OptionError(f"two of the layers {layers} would share their files. Give one of them another name.")
    return named


def _check_places(targets: EvaluationTargets, review: Review) -> None:
    """Complain about places that cannot be written to before a long run, not behind it."""
    books = list(review.targets(targets.workbook).values()) if targets.workbook else []
    others = [path for path in targets.paths if path != targets.workbook]
    for target in (*books, *others):
        if not target.is_dir():
            check_target(target, guard(review.call), workbook=target in books)


def _check_workbooks(targets: EvaluationTargets, review: Review, parts: Mapping[str, Pair]) -> None:
    """Complain about workbooks that cannot or must not be written, before the work and not behind it."""
    for part in parts:
        book = targets.named(part).workbook
        for path in review.targets(book).values() if book else ():
            check_target(path, guard(review.call), workbook=True)


def _finish(
    targets: EvaluationTargets,
    review: Review,
    results: Mapping[str, Evaluation],
    inputs: Sequence[str],
    found: Sequence[Verdict],
    detected: Detected | None,
) -> None:
    """Write everything, and say how it went."""
    from clueval_xlsx.pages.evaluation import evaluation_sentence
    from clueval_xlsx.words import TERMINAL, Words

    said: list[str] = []
    with gated_outputs(review.call, inputs, found) as outputs:
        if detected:
            detected.forget_with(outputs)
        for part, result in results.items():
            book = targets.named(part).workbook
            if book:
                said += write_workbooks(outputs, result, book, review)
            for edition, name in _editions(result, review):
                _write_figures(outputs, edition, targets.named(part, name), review.call)
    if is_printed(review.call, "output.json"):
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


def _editions(result: Evaluation, review: Review) -> Iterator[tuple[Evaluation, str]]:
    """The result, and without its text if that is asked for; with what the names of the files end with."""
    yield result, ""
    if review.cases.without_text:
        from clueval_xlsx.review.text_free import without_text

        yield without_text(result), WITHOUT_TEXT


def _write_figures(outputs: Outputs, result: Evaluation, targets: EvaluationTargets, call: Call) -> None:
    """Everything but the workbook."""
    language = call.value("workbook.lang")
    if targets.json:
        from clueval_xlsx.outputs.json_results import json_text, metrics

        outputs.write_text(targets.json, json_text(metrics(result)))
    if targets.html:
        from clueval_xlsx.outputs.html.report import report_html

        outputs.write_text(targets.html, report_html(result, language, dict(call.label_words)))
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
