"""Twins in hand-outs, samples, later rounds, conflict workbooks, editions without text, and broken workbooks."""

from __future__ import annotations

import io
from collections import Counter

import openpyxl
import pytest

from clueval_xlsx.cases.twins import groups_of
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.outputs.xlsx.review import write_conflicts
from clueval_xlsx.review.accounting import CaseState
from clueval_xlsx.review.assignment import AgreedSample, CaseSample, select
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.log import with_scopes
from clueval_xlsx.review.progress import workbook_progress
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.review.vocabulary import Effect, Scope
from tests.support.judging import judged, spans, workbook
from tests.support.tables import cut
from tests.support.workbooks import TABS

pytestmark = pytest.mark.slow

ALL, DOCUMENT = Scope.ALL, Scope.DOCUMENT


def document(number: int) -> str:
    """Two Kays that were missed, one Lea that was found, one name of its own that was missed."""
    return f"""
    <text id="d{number}">
    <s>
    Kay    B-PER  O
    rief   O      O
    kay    B-PER  O
    Lea    B-PER  B-PER
    an     O      O
    N{number}     B-PER  O
    </s>
    </text>
    """.strip("\n")


TABLE = "\n".join(["    token  gold   pred", *map(document, range(1, 7))])


@pytest.fixture(scope="module")
def run():
    return judged(TABLE)


def kays(run):
    table = run.bare_cases[0]
    return table[table["surface"].str.casefold() == "kay"]["case_id"].tolist()


def gold_file(table=TABLE):
    stream = io.BytesIO(cut(table).gold)
    stream.name = "gold.vrt"
    return stream


def test_twins_stay_with_one_judge(run):
    hands = select(run, judges=["anna", "ben", "cem"], seed=3).hands
    groups = groups_of(run.bare_cases).members
    assert groups
    for group in groups:
        holders = [name for name, tables in hands.items() if set(group) & set(tables["FN"]["case_id"])]
        assert len(holders) == 1
    assert sorted(len(tables["FN"]) for tables in hands.values()) == [3, 3, 12]


def test_twins_that_are_judged_twice_have_one_second_judge(run):
    hands = select(run, judges=["anna", "ben", "cem"], double=0.5, seed=3).hands
    times = Counter(case for tables in hands.values() for case in tables["FN"]["case_id"])
    assert sum(times.values()) == 18 + 9
    holders = {name for name, tables in hands.items() if set(kays(run)) & set(tables["FN"]["case_id"])}
    assert len(holders) == 2


def sampled(run, answers_for, scope):
    """A sample of four units and four agreed spans, judged; and what its re-import says."""
    chosen = select(run, sample=4, agreed=4, seed=5)
    drawn = [case for table in chosen.cases.values() for case in table["case_id"]]
    answers = answers_for(drawn, scope)
    stream = io.BytesIO()
    write_workbook(run, stream, Handout(answers=answers, sample=chosen.sample), cases=chosen.cases)
    stream.name = "review.xlsx"
    stream.seek(0)
    (found,) = reimport([stream], gold_file()).runs
    return drawn, found


def judged_through(drawn, scope):
    return {case: Judgement("confirmed" if case[:2] == "AG" else "gold_wrong", applies_to=scope) for case in drawn}


def test_a_decision_may_correct_twins_that_were_not_drawn_and_estimates_use_the_drawn_alone(run):
    drawn, alone = sampled(run, judged_through, None)
    _, carried = sampled(run, judged_through, ALL)
    assert set(carried.carried) - set(drawn)
    assert {case[:2] for case in carried.carried} == {"FN", "AG"}
    more = [case for case in carried.carried if case[:2] == "FN"]
    assert len(carried.correction.changes) == len(alone.correction.changes) + len(more)
    columns = ["rate", "value", "low", "high", "judged", "drawn", "population"]
    assert carried.estimates[columns].to_dict("records") == alone.estimates[columns].to_dict("records")
    assert carried.account.cases == len(drawn)


def test_a_drawn_case_decided_through_a_twin_counts_as_judged(run):
    def one_of_each(drawn, scope):
        names = dict(zip(run.bare_cases[0]["case_id"], run.bare_cases[0]["twin_group"], strict=True))
        first = {names.get(case, "agreed"): case for case in reversed(drawn)}
        return {case: Judgement("gold_wrong", applies_to=scope) for case in first.values()}

    drawn, found = sampled(run, one_of_each, ALL)
    assert found.account.counts[CaseState.CARRIED] > 0
    assert found.account.done == len(drawn)
    assert found.estimates["judged"].tolist() == found.estimates["drawn"].tolist()
    assert isinstance(found.manifest.sample, CaseSample)
    assert isinstance(found.manifest.sample.agreed, AgreedSample)


def test_an_earlier_decision_is_filled_in_once_with_its_scope_where_no_twin_is_new(run):
    first, second, *others = kays(run)
    twins = groups_of(run.bare_cases)
    decided = Judgement("gold_wrong", case_id=first, effect=Effect.DELETE, applies_to=DOCUMENT)
    carried = Judgement("gold_wrong", case_id=second, effect=Effect.DELETE, twin=first)
    assert with_scopes({first: decided, second: carried}, twins) == {first: decided}
    wide = Judgement("gold_wrong", case_id=first, effect=Effect.DELETE, applies_to=ALL)
    found = with_scopes({first: wide, second: carried}, twins)  # the others have come since: nobody decided them
    assert {case: (record.applies_to, record.twin) for case, record in found.items()} == {
        first: (None, ""),
        second: (None, ""),
    }
    assert not set(found) & set(others)


def test_the_conflict_workbook_shows_contested_twins_with_both_claims_and_its_last_word_holds_for_all(run):
    first, second, *others = kays(run)
    answers = {first: Judgement("gold_wrong", applies_to=ALL), second: Judgement("model_error", applies_to=ALL)}
    book = workbook(run, answers, "anna.xlsx", judge="Anna")
    (found,) = reimport([book], gold_file()).runs
    assert found.cases_in_conflict == tuple(others)
    stream = io.BytesIO()
    write_conflicts(found, stream, lang="en")
    sheet = openpyxl.load_workbook(io.BytesIO(stream.getvalue()))[TABS["FN"]]
    headers = [cell.value for cell in sheet[3]]
    said = [
        cell.value for row in sheet.iter_rows(min_row=4) for cell in row if cell.value and "Anna: " in str(cell.value)
    ]
    assert said
    assert all("Should not be marked" in text and "Model is wrong" in text for text in said)
    changed = openpyxl.load_workbook(io.BytesIO(stream.getvalue()))
    row = changed[TABS["FN"]][4]
    row[headers.index("Judgement")].value, row[headers.index("Applies to")].value = "2", "1"
    last = io.BytesIO()
    changed.save(last)
    last.name = "conflicts.xlsx"
    last.seek(0)
    book.seek(0)
    (final,) = reimport([book, last], gold_file()).runs
    assert not final.cases_in_conflict
    assert [words for words, _ in spans(final) if words.casefold() == "kay"] == ["kay"]
    assert set(final.carried) == set(others[1:])


# ---- broken workbooks ---------------------------------------------------------------------------------------------


def edited(run, change, answers=None, name="review.xlsx"):
    """The workbook after somebody changed a sheet."""
    book = openpyxl.load_workbook(workbook(run, answers, name))
    sheet = book[TABS["FN"]]
    headers = [cell.value for cell in sheet[3]]
    rows = {row[headers.index("Case ID")].value: row for row in sheet.iter_rows(min_row=4)}
    change(sheet, {header: place for place, header in enumerate(headers)}, rows)
    stream = io.BytesIO()
    book.save(stream)
    stream.name = name
    stream.seek(0)
    return stream


def test_a_twin_whose_row_was_deleted_is_missing_and_nothing_is_carried_to_it(run):
    first, second, *others = kays(run)

    def change(sheet, at, rows):
        sheet.delete_rows(rows[second][0].row)

    stream = edited(run, change, {first: Judgement("gold_wrong", applies_to=ALL)})
    result = reimport([stream], gold_file())
    (found,) = result.runs
    assert [problem.reason for problem in result.problems] == ["missing"]
    assert set(found.carried) == set(others)
    assert found.account.of(CaseState.MISSING) == [second]
    assert workbook_progress(stream.getvalue(), "review.xlsx").account.of(CaseState.MISSING) == [second]


def test_a_group_that_was_split_over_two_workbooks_is_decided_as_one(run):
    first, *others = kays(run)
    half = set(kays(run)[6:])

    def keep(wanted):
        def change(sheet, at, rows):
            for case, row in sorted(rows.items(), key=lambda item: -item[1][0].row):
                if not wanted(case):
                    sheet.delete_rows(row[0].row)

        return change

    answers = {first: Judgement("gold_wrong", applies_to=ALL)}
    upper = edited(run, keep(lambda case: case not in half), answers, "upper.xlsx")
    lower = edited(run, keep(lambda case: case in half), name="lower.xlsx")
    result = reimport([upper, lower], gold_file())
    (found,) = result.runs
    assert not result.problems
    assert set(found.carried) == set(others)
    assert found.account.counts[CaseState.CARRIED] == len(others)
    assert sum(found.account.counts.values()) == found.account.cases == 18
