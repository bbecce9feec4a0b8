"""`evaluate`: match, score, and write the workbook and the other outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import say, say_notes
from clueval_xlsx.cli.gates import gated
from clueval_xlsx.cli.inputs import Sides, load_pair, sides_of
from clueval_xlsx.cli.workbooks import WITHOUT_TEXT, Review, with_chosen_cases, write_workbooks
from clueval_xlsx.cli.writing import STANDARD_OUTPUT, Writing, ends, guard
from clueval_xlsx.evaluation import Evaluation, evaluate_each, evaluation_parts
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import with_end, with_name
from clueval_xlsx.files.outputs import check_target

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.options import Options

_WORKBOOK = Path("review.xlsx")
_OF_WORKBOOKS = tuple(
    f"workbook.{name}" for name in ("double", "sample", "agreed", "lock_cells", "max_rows", "contact", "previous")
)


def run(call: Call, gold: str, pred: str | None) -> int:
    """Evaluate PRED, or what a detector finds, and write what was asked for."""
    detector = call.value("detector.name")
    if pred is None and detector is None:
        raise OptionError("PRED is missing. Give a file of predictions, or a detector with --detector.")
    if pred is not None and detector is not None:
        raise OptionError("PRED and --detector are both given. Leave one out.")
    if detector is None:
        call.refuse(["cluster"], "--detector")
    review = Review.of(call, _workbook(call))
    sides, options = sides_of(call), call.scoring
    inputs = [gold, *([] if pred is None else [pred]), *review.cases.also]
    if pred is not None:
        return _evaluated(load_pair(gold, pred, sides), options, review, sides, inputs)
    from clueval_xlsx.cli.detecting import detected_pair

    targets = _targets(review, "")
    if not targets:
        raise OptionError("--json -: with a detector one output must be a file. Add one, such as -o review.xlsx.")
    _check(review, [""])  # before a long run, not behind it
    with detected_pair(call, gold, sides, options, targets[0]) as (pair, more, run):
        code = _evaluated(pair, more, review, sides, inputs)
    return code or (3 if run.failures else 0)


def _workbook(call: Call) -> Path | None:
    """Where the workbook goes: as it was said, else to `review.xlsx` if nothing else is asked for, or for judges."""
    name = call.value("output.output")
    others = [call.value(f"output.{other}") for other in ("json", "html", "files")]
    if name is None and any(others) and not call.is_typed("workbook.judges"):
        call.refuse(_OF_WORKBOOKS, "a workbook (-o FILE)")
        return None
    output = Path(name or _WORKBOOK)
    if output.suffix.lower() != ".xlsx" and not output.is_dir():
        raise OptionError(f"{output}: a review workbook ends in .xlsx. Choose such a name with -o.")
    return output


def _targets(review: Review, end: str) -> list[Path]:
    """Every place of an output, the workbooks first."""
    places = list(review.targets(end).values())
    for key in ("json", "html"):
        name = review.call.value(f"output.{key}")
        if name not in {None, STANDARD_OUTPUT}:
            places.append(with_end(Path(name), end))
    return places + ([_folder(review, "")] if review.call.value("output.files") else [])


def _folder(review: Review, edition: str) -> Path:
    """Where the files of one edition lie."""
    name = review.call.value("output.files")
    if name == STANDARD_OUTPUT:
        raise OptionError("--files -: several files cannot go to standard output. Give the name of a folder.")
    folder = with_name(Path(name)) if edition else Path(name)
    return folder.with_name(folder.name + edition) if edition else folder


def _check(review: Review, names: Sequence[str]) -> None:
    """Complain about places that cannot or must not be written, before the work and not behind it."""
    for end in names:
        books = review.targets(end).values()
        for target in _targets(review, end):
            if target in books or not target.is_dir():
                check_target(target, guard(review.call), workbook=target in books)


def _evaluated(pair: Pair, options: Options, review: Review, sides: Sides, inputs: Sequence[str]) -> int:
    """Evaluate a pair, write what was asked for, and say how it went; the exit code of the gates."""
    from clueval_xlsx.outputs.json_results import metrics
    from clueval_xlsx.pages.evaluation import evaluation_sentence
    from clueval_xlsx.words import TERMINAL, Words

    call, parts = review.call, evaluation_parts(pair, merged=sides.merged)
    names = ends([part.layers[0] for part in parts])
    _check(review, names)
    results = evaluate_each(parts, options)
    _refuse_nothing(results[0])
    with gated(call, [("", result) for result in results]) as code, Writing(call, inputs) as out:
        for end, result in zip(names, with_chosen_cases(results, review, inputs[0], sides), strict=True):
            write_workbooks(out, result, end, review)
            for edition, name in _editions(result, review):
                _write_figures(out, edition, review, end, name)
        if call.value("output.json") == STANDARD_OUTPUT:
            out.json(lambda: metrics(*results))
        out.afterwards(say_notes, dict.fromkeys(note for result in results for note in result.notes))
        if review.password is not None and any(call.value(f"output.{name}") for name in ("json", "html", "files")):
            out.afterwards(say, "Note: the password protects workbooks only; --json, --html, --files write clear text.")
        for result in results:
            out.afterwards(say, evaluation_sentence(result, Words(TERMINAL)))
    return code


def _refuse_nothing(result: Evaluation) -> None:
    """Refuse to report on nothing at all."""
    dropped = result.alignment
    if dropped.discarded and len(dropped.discarded) == len(result.raw.corpus.doc_ids):
        raise OptionError(
            f"{result.raw.gold.source.name}: no document is left to evaluate: each has labels that the prediction "
            f"cannot have ({', '.join(dropped.discarded_labels)}). Map them to its labels (--map OLD=NEW), or keep the "
            "documents and let those spans count as missed (--set labels.unmapped=keep)."
        )


def _editions(result: Evaluation, review: Review) -> Iterator[tuple[Evaluation, str]]:
    """The result, and without its text if that is asked for; with what the names of the files end with."""
    yield result, ""
    if review.cases.without_text:
        from clueval_xlsx.review.assignment import without_text

        yield without_text(result), WITHOUT_TEXT


def _write_figures(out: Writing, result: Evaluation, review: Review, end: str, edition: str) -> None:
    """Everything but the workbook."""
    from clueval_xlsx.outputs.json_results import metrics

    call, language = review.call, review.call.value("workbook.lang")
    if call.value("output.json") != STANDARD_OUTPUT:
        out.json(lambda: metrics(result), end + edition)
    out.text("html", lambda: _html(result, language, call), end + edition)
    if call.value("output.files") is not None:
        from clueval_xlsx.outputs.csv_files import result_files

        for name, text in result_files(result, language):
            out.write_text(_folder(review, edition) / end.removeprefix("-") / name, text)


def _html(result: Evaluation, language: str, call: Call) -> str:
    from clueval_xlsx.outputs.html.report import report_html

    return report_html(result, language, dict(call.label_words))
