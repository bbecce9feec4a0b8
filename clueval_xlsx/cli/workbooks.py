"""The review workbooks of a result: which cases, for one person or a team, encrypted or not, with and without text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import Progress, say
from clueval_xlsx.cli.inputs import STANDARD_INPUT, Sides, file_content, load_pair, refuse_idle_formats
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.names import file_name_part, with_end
from clueval_xlsx.options import CaseOptions, ReviewOptions

if TYPE_CHECKING:
    import pandas as pd

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.cli.writing import Writing
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.outputs.xlsx import Handout
    from clueval_xlsx.review.assignment import Selection
    from clueval_xlsx.review.judgements import Judgement

WITHOUT_TEXT = "-without-text"


@dataclass(frozen=True)
class Review:
    """Which workbooks are written and for whom: one for all without judges, else one for each of them."""

    call: Call
    workbook: Path | None  # what one for all is called
    cases: CaseOptions
    decisions: Mapping[str, Judgement] | None  # what was decided before
    password: str | None = field(repr=False)

    @classmethod
    def of(cls, call: Call, workbook: Path | None) -> Review:
        """What was asked for; nobody can be named twice, and two people judge a case only where there are two."""
        cases, decisions = call.of(CaseOptions), None
        keys = [" ".join(name.casefold().split()) for name in cases.judges]
        twice = {name for name, key in zip(cases.judges, keys, strict=True) if keys.count(key) > 1}
        if twice:
            raise OptionError(f"--judges names {', '.join(sorted(twice))} twice. Give each person once.")
        if cases.double and len(cases.judges) == 1:
            raise OptionError(f"--double needs two people or more, but --judges names only {cases.judges[0]}.")
        if cases.previous is not None:
            from clueval_xlsx.review.log import decisions_in

            decisions = decisions_in(file_content(cases.previous, "--previous"), cases.previous)
        return cls(call, workbook, cases, decisions, password_of(call))

    def targets(self, end: str) -> dict[str, Path]:
        """Where each person's workbook goes: `review-anna.xlsx`, …; without judges one path under the empty name."""
        if self.workbook is None:
            return {}
        path, judges = with_end(self.workbook, end), self.cases.judges
        if not judges:
            return {"": path}
        targets = {name: with_end(path, f"-{file_name_part(name)}") for name in judges}
        taken = {with_end(path, WITHOUT_TEXT).name.casefold(): "the edition without text"}
        for name, target in targets.items():
            other = taken.setdefault(target.name.casefold(), name)
            if other != name:
                raise OptionError(f"--judges: {name} and {other} would share the file {target.name}. Change a name.")
        return targets


def password_of(call: Call) -> str | None:
    """The password of workbooks, from a file or the environment."""
    from clueval_xlsx.files.workbooks import find_password

    path = call.value("workbook.password_file")
    return find_password(None if path is None else Path(path))


def with_chosen_cases(results: Sequence[Evaluation], review: Review, gold: str, sides: Sides) -> list[Evaluation]:
    """The results with the passages that both sides may have missed, and with their cases in the chosen order."""
    cases = review.cases
    if cases.also and STANDARD_INPUT in {gold, *cases.also}:
        raise OptionError("--also: gold is read again with each further system. Give files, not standard input.")
    also = [load_pair(gold, path, sides) for path in cases.also]
    refuse_idle_formats(review.call, [*also, *(result.pair for result in results)])
    chosen = []
    for result in results:
        complete = result
        if cases.unmarked:
            from clueval_xlsx.cases.unmarked import UnmarkedOptions
            from clueval_xlsx.review.log import judged_right

            known = None if review.decisions is None else judged_right(review.decisions, result)
            complete = result.with_unmarked(UnmarkedOptions(least=cases.unmarked_from), known)
        chosen.append(complete.with_order(cases.order, [_spans_of(pair, complete) for pair in also]))
    return chosen


def _spans_of(pair: Pair, result: Evaluation) -> pd.DataFrame:
    """The spans of a further system on the tokens and with the labels of a result."""
    from clueval_xlsx.corpus.label_rules import align_labels
    from clueval_xlsx.corpus.pair import spans_on

    layers = result.pair.layers
    own = pair if tuple(pair.layers) == tuple(layers) else pair.layer(layers[0])
    aligned, _ = align_labels(own, result.options.labels)
    return spans_on(aligned, result.pair)


def write_workbooks(out: Writing, result: Evaluation, end: str, review: Review) -> None:
    """Write the workbooks of one result, each with its part of the cases, and say what is in them."""
    targets, cases = review.targets(end), review.cases
    if not targets:
        if result.unmarked_cases is not None:
            out.afterwards(say, f"Unmarked passages listed: {len(result.unmarked_cases)}.")
        return
    from clueval_xlsx.outputs.xlsx import Handout, write_workbook
    from clueval_xlsx.review.assignment import select
    from clueval_xlsx.review.judgements import JUDGEMENTS

    options = replace(review.call.of(ReviewOptions), label_words=review.call.label_words)
    look = replace(Handout.of(options), judgements=(*JUDGEMENTS, *review.call.judgements))
    selection = select(
        result,
        judges=tuple(cases.judges),
        double=cases.double or 0.0,
        sample=cases.sample,
        agreed=cases.agreed,
        seed=result.options.seed,
    )
    _say_what_is_to_judge(out, selection, result)
    if review.decisions is not None:
        look = _carried_over(out, review.decisions, result, look, selection)
    look = replace(look, team=selection.team, sample=selection.sample)
    hands = selection.hands or {"": selection.cases}
    total = sum(len(table) for tables in hands.values() for table in tables.values())
    with Progress("Writing", "cases", total, total) as bar:
        for number, (name, own) in enumerate(hands.items(), 1):
            mine = replace(look, judge=name, part=f"{number}/{len(hands)}" if name else "")
            out.book(targets[name], partial(write_workbook, result, options=mine, cases=own), review.password)
            size = sum(map(len, own.values()))
            bar.advance(size, size)
    if cases.without_text and review.workbook is not None:
        _write_without_text(
            out, result, with_end(review.workbook, end + WITHOUT_TEXT), look, selection, review.password
        )


def _carried_over(
    out: Writing, decisions: Mapping[str, Judgement], result: Evaluation, look: Handout, selection: Selection
) -> Handout:
    """How a workbook looks with earlier decisions filled in, and with those shown that may not hold any more."""
    from clueval_xlsx.review.case_words import judgement_names, what_one_said
    from clueval_xlsx.review.log import left_to_judge, previous_decisions
    from clueval_xlsx.words import Words

    words = Words(look.lang)
    names = judgement_names(look.judgements, words)
    before = previous_decisions(decisions, result)
    earlier = {}
    for case_id, judgement in {**before.filled_in, **before.changed, **before.carried_out}.items():
        done = f"; {words['cases.carried_out']}" if case_id in before.carried_out else ""
        earlier[case_id] = f"{what_one_said(judgement, names, words)} ({judgement.when[:10]}{done})"
    chosen = [case_id for table in selection.cases.values() for case_id in table["case_id"]]
    filled_in = sum(case_id in before.decided for case_id in chosen)
    sentence = f"{filled_in} of {len(chosen)} cases were decided before and are filled in"
    if before.changed:
        sentence += f"; {len(before.changed)} more were, but the other side has changed since: shown as a hint"
    if before.carried_out:
        sentence += f"; {len(before.carried_out)} more were carried out in gold: shown as a hint"
    out.afterwards(say, f"{sentence}; {left_to_judge(before, selection.cases.values())} are left to judge.")
    return replace(look, answers={**look.answers, **before.filled_in}, earlier={**look.earlier, **earlier})


def _write_without_text(
    out: Writing, result: Evaluation, target: Path, look: Handout, selection: Selection, password: str | None
) -> None:
    """An edition for people who may see figures and positions, but no text."""
    from clueval_xlsx.cases.kinds import FN, FP, UM
    from clueval_xlsx.outputs.xlsx import write_workbook
    from clueval_xlsx.review.assignment import cases_without_text, without_text
    from clueval_xlsx.review.judgements import Role

    kept = replace(look, answers={}, earlier={}, team=(), contact="", role=Role.FIGURES)
    cases: dict[str, pd.DataFrame] = {
        name: cases_without_text(selection.cases[name], result) for name in (FN, FP, UM) if name in selection.cases
    }
    out.book(target, partial(write_workbook, without_text(result), options=kept, cases=cases), password)


def _say_what_is_to_judge(out: Writing, selection: Selection, result: Evaluation) -> None:
    """How many cases the workbooks hold, what a sample stands for, and how many cases each person has."""
    names = {"FN": "missed", "FP": "unsupported", "UM": "unmarked", "AG": "agreed"}
    parts = [f"{len(table)} {names[sheet]}" for sheet, table in selection.cases.items()]
    drawn = ""
    if selection.sample.size is not None:
        missed, unsupported = map(len, result.bare_cases)
        drawn = f"; drawn from {missed} missed and {unsupported} unsupported, which the re-import estimates"
    out.afterwards(say, f"To judge: {', '.join(parts)}{drawn}.")
    if selection.hands:
        sizes = {name: sum(map(len, tables.values())) for name, tables in selection.hands.items()}
        shares = ", ".join(f"{size} to {name}" for name, size in sizes.items())
        twice = sum(sizes.values()) - sum(map(len, selection.cases.values()))
        out.afterwards(say, f"Cases handed out: {shares}; {twice} of them to two people.")
