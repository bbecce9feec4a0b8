"""The review workbooks of a result: which cases, for one person or a team, encrypted or not, with and without text."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from clueval_xlsx.cli.console import progress
from clueval_xlsx.cli.inputs import STANDARD_INPUT, Sides, load_pair, refuse_idle_formats
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.names import file_name_part, with_end
from clueval_xlsx.options import CaseOptions, ReviewOptions

if TYPE_CHECKING:
    import pandas as pd

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.files.outputs import Outputs
    from clueval_xlsx.outputs.xlsx import Handout
    from clueval_xlsx.review.assignment import Selection
    from clueval_xlsx.review.judgements import Judgement
    from clueval_xlsx.text.strings import IntArray

WITHOUT_TEXT = "-without-text"


@dataclass(frozen=True)
class Review:
    """Which workbooks are written and for whom: one for all without judges, else one for each of them."""

    call: Call
    cases: CaseOptions
    password: str | None = field(repr=False)

    @classmethod
    def of(cls, call: Call) -> Review:
        """What was asked for; nobody can be named twice, and two people judge a case only where there are two."""
        from clueval_xlsx.review.normalising import normalise

        cases = call.of(CaseOptions)
        keys = [normalise(name) for name in cases.judges]
        twice = {name for name in cases.judges if keys.count(normalise(name)) > 1}
        if twice:
            raise OptionError(f"--judges names {', '.join(sorted(twice))} twice. Give each person once.")
        if cases.double and len(cases.judges) == 1:
            raise OptionError(f"--double needs two people or more, but --judges names only {cases.judges[0]}.")
        return cls(call, cases, password_of(call))

    def look(self) -> Handout:
        """How a workbook is to look."""
        from clueval_xlsx.outputs.xlsx import Handout
        from clueval_xlsx.review.judgements import JUDGEMENTS

        options = replace(self.call.of(ReviewOptions), label_words=self.call.label_words)
        return replace(Handout.of(options), judgements=(*JUDGEMENTS, *self.call.judgements))

    def targets(self, path: Path) -> dict[str, Path]:
        """Where each person's workbook goes: `review-anna.xlsx`, …; without judges one path under the empty name."""
        judges = self.cases.judges
        if not judges:
            return {"": path}
        found = {name: with_end(path, f"-{file_name_part(name)}") for name in judges}
        taken = {}
        if self.cases.without_text:
            taken[with_end(path, WITHOUT_TEXT).name.casefold()] = "the edition without text"
        for name, target in found.items():
            other = taken.setdefault(target.name.casefold(), name)
            if other != name:
                raise OptionError(f"--judges: {name} and {other} would share the file {target.name}. Change a name.")
        return found


def password_of(call: Call) -> str | None:
    """The password of workbooks, from a file or the environment."""
    from clueval_xlsx.files.encryption import find_password

    path = call.value("workbook.password_file")
    return find_password(None if path is None else Path(path))


# --- which cases there are besides the errors, and in which order they stand -----------------------------------------


def with_chosen_cases(
    results: Mapping[str, Evaluation], review: Review, gold: str, sides: Sides
) -> dict[str, Evaluation]:
    """The results with their unmarked passages, and with their cases in the order that was asked for."""
    cases = review.cases
    if cases.also and STANDARD_INPUT in {gold, *cases.also}:
        raise OptionError("--also: gold is read again with each further system. Give files, not standard input.")
    also = [load_pair(gold, path, sides) for path in cases.also]
    refuse_idle_formats(review.call, [*also, *(result.pair for result in results.values())])
    chosen = {}
    for name, result in results.items():
        complete = _with_unmarked(result, cases) if cases.unmarked else result
        chosen[name] = complete.with_order(cases.order, [_spans_of(pair, complete) for pair in also])
    return chosen


def _with_unmarked(result: Evaluation, cases: CaseOptions) -> Evaluation:
    """The result with the passages that both sides may have missed."""
    from clueval_xlsx.cases.unmarked import UnmarkedOptions

    known = judged_right(read_previous(cases.previous), result) if cases.previous else None
    return result.with_unmarked(UnmarkedOptions(least=cases.unmarked_from), known)


def _spans_of(pair: Pair, result: Evaluation) -> pd.DataFrame:
    """The spans of a further system on the tokens and with the labels of a result."""
    from clueval_xlsx.corpus.label_rules import align_labels
    from clueval_xlsx.corpus.pair import spans_on

    layers = result.pair.layers
    own = pair if tuple(pair.layers) == tuple(layers) else pair.layer(layers[0])
    aligned, _ = align_labels(own, result.options.labels)
    return spans_on(aligned, result.pair)


# --- what was decided before is filled in again ---------------------------------------------------------------------


def read_previous(log: str) -> Mapping[str, Judgement]:
    """The decision about each case that stands in a log of judgements."""
    from clueval_xlsx.review.log import check_chain, read_log
    from clueval_xlsx.review.previous import standing_decisions

    try:
        text = Path(log).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{log}: is not UTF-8. Give the file that `reimport --judgements` wrote.") from None
    except OSError as error:
        raise InputError(f"{log}: cannot be read: {error.strerror}. Check the path given to --previous.") from None
    if problems := check_chain(text, log).problems:
        raise InputError(problems=problems)
    return standing_decisions(read_log(text, log))


def judged_right(decisions: Mapping[str, Judgement], result: Evaluation) -> IntArray:
    """Rows of the predictions that were judged to be forgotten by gold, as they stand."""
    from clueval_xlsx.review.vocabulary import Effect

    added = [
        case_id
        for case_id, judgement in decisions.items()
        if judgement.effect is Effect.ADD and not judgement.correct_span
    ]
    unsupported = result.bare_cases[1]
    return unsupported["row"][unsupported["case_id"].isin(added)].to_numpy("int64")


def carry_over(decisions: Mapping[str, Judgement], result: Evaluation, options: Handout) -> tuple[Handout, str]:
    """The options with judgements filled in and hints shown, and a sentence that says how many."""
    from clueval_xlsx.review.adjudication_words import what_one_said
    from clueval_xlsx.review.case_words import judgement_names
    from clueval_xlsx.review.previous import previous_decisions
    from clueval_xlsx.words import Words

    words = Words(options.lang)
    names = judgement_names(options.judgements, words)
    found = previous_decisions(decisions, result)
    earlier = {}
    for case_id, judgement in {**found.filled_in, **found.changed, **found.carried_out}.items():
        done = f"; {words['cases.carried_out']}" if case_id in found.carried_out else ""
        earlier[case_id] = f"{what_one_said(judgement, names, words)} ({judgement.when[:10]}{done})"
    tables = [*result.bare_cases, *([] if result.unmarked_cases is None else [result.unmarked_cases])]
    total = sum(map(len, tables))
    sentence = f"{found.decided} of {total} cases were decided before and are filled in"
    if found.changed:
        sentence += f"; {len(found.changed)} more were, but the other side has changed since: shown as a hint"
    if found.carried_out:
        sentence += f"; {len(found.carried_out)} more were carried out in gold: shown as a hint"
    merged = replace(options, answers={**options.answers, **found.filled_in}, earlier={**options.earlier, **earlier})
    return merged, f"{sentence}; {total - found.decided} are left to judge."


# --- writing -------------------------------------------------------------------------------------------------------


def write_workbooks(outputs: Outputs, result: Evaluation, path: Path, review: Review) -> list[str]:
    """Write the workbooks of one result, each with its part of the cases; returns what to say about them.

    `path` is what one workbook for all would have.
    """
    from clueval_xlsx.review.assignment import select

    cases, look, said = review.cases, review.look(), []
    if cases.previous is not None:
        look, sentence = carry_over(read_previous(cases.previous), result, look)
        said.append(sentence)
    selection = select(
        result,
        judges=tuple(cases.judges),
        double=cases.double or 0.0,
        sample=cases.sample,
        agreed=cases.agreed,
        seed=result.options.seed,
    )
    look = replace(look, team=selection.team, sample=selection.sample)
    _write_selection(outputs, result, selection, review.targets(path), look, review.password)
    if cases.without_text:
        _write_without_text(outputs, result, with_end(path, WITHOUT_TEXT), look, selection)
    if cases.sample is not None:
        said.append(_drawn(selection, path))
    if selection.hands:
        said.append(_handed_out(selection))
    return said


def _write_selection(
    outputs: Outputs,
    result: Evaluation,
    selection: Selection,
    targets: Mapping[str, Path],
    look: Handout,
    password: str | None,
) -> None:
    """A workbook for everybody who judges, or one for all."""
    from clueval_xlsx.outputs.xlsx import write_workbook

    hands = selection.hands or {"": selection.cases}
    total = sum(len(table) for tables in hands.values() for table in tables.values())
    with progress("Writing cases", total) as advance:
        for name, cases in hands.items():
            part = f"{selection.team.index(name) + 1}/{len(selection.team)}" if name else ""
            own = replace(look, judge=name, part=part)
            write = partial(write_workbook, result, options=own, cases=cases, advance=advance)
            save_workbook(outputs, targets[name], password, write)


def save_workbook(
    outputs: Outputs, target: Path, password: str | None, write: Callable[[Path | BinaryIO], None]
) -> None:
    """Write a workbook to its place; under a password in memory first, so that no clear text reaches the disk."""
    if password is None:
        write(outputs.path(target))
        return
    from clueval_xlsx.files.encryption import encrypt

    memory = io.BytesIO()
    write(memory)
    outputs.write_bytes(target, encrypt(memory.getvalue(), password), workbook=True)


def _write_without_text(
    outputs: Outputs, result: Evaluation, target: Path, look: Handout, selection: Selection
) -> None:
    """An edition for people who may see figures and positions, but no text."""
    from clueval_xlsx.cases.kinds import FN, FP, UM
    from clueval_xlsx.outputs.xlsx import write_workbook
    from clueval_xlsx.review.text_free import cases_without_text, without_text
    from clueval_xlsx.review.vocabulary import Role

    cases: dict[str, pd.DataFrame] = {
        name: cases_without_text(selection.cases[name], result) for name in (FN, FP, UM) if name in selection.cases
    }
    kept = replace(look, answers={}, earlier={}, role=Role.FIGURES)
    write_workbook(without_text(result), outputs.path(target), kept, cases=cases)


def _handed_out(selection: Selection) -> str:
    """How many cases each person has, and how many of them another one has, too."""
    sizes = {name: sum(map(len, cases.values())) for name, cases in selection.hands.items()}
    shares = ", ".join(f"{size} to {name}" for name, size in sizes.items())
    twice = sum(sizes.values()) - sum(map(len, selection.cases.values()))
    return f"Cases handed out: {shares}; {twice} of them to two people."


def _drawn(selection: Selection, book: Path) -> str:
    """What of the cases a sample holds."""
    missed, unsupported = (len(selection.cases[sheet]) for sheet in ("FN", "FP"))
    where = f"{len(selection.team)} workbooks" if selection.team else book.name
    return f"Drawn for {where}: {missed} missed, {unsupported} unsupported; the re-import estimates the rest from them."
