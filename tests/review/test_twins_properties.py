"""Any mix of direct and carried judgements, sorted and half-finished, is the same as judging every twin by hand."""

from __future__ import annotations

import io
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.judgements import Judgement, Scope
from clueval_xlsx.review.progress import CaseState, workbook_progress
from clueval_xlsx.review.reimport import reimport
from tests.support.judging import decide, judged, records
from tests.support.strategies import at_most
from tests.support.tables import cut

TABLE = """
    token  gold   pred
    <text id="d1">
    <s>
    Kay    B-PER  O
    rief   O      O
    KAY    B-PER  O
    </s>
    <s>
    Frau   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    im     O      O
    Amt    O      B-ORG
    </s>
    </text>
    <text id="d2">
    <s>
    Kay    B-PER  O
    und    O      O
    Frau   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    </s>
    <s>
    Herr   O      O
    Jay    B-PER  B-PER
    B.     I-PER  O
    im     O      O
    amt    O      B-ORG
    </s>
    <s>
    Kay    B-PER  O
    kay    B-LOC  O
    </s>
    </text>
"""
RUN = judged(TABLE, level="exact")
MISSED, UNSUPPORTED = RUN.bare_cases
BOOK = decide(RUN, {}).book
ANSWERS = {
    "FN": [
        Judgement("model_error"),
        Judgement("gold_wrong"),
        Judgement("boundary", "as_model"),
        Judgement("boundary", "as_reference"),
        Judgement("boundary", "Frau Jay B."),
        Judgement("boundary", "B."),
        Judgement("label", correct_labels={"span": "LOC"}),
        Judgement("acceptable"),
        Judgement("unclear"),
    ],
    "FP": [
        Judgement("model_error"),
        Judgement("gold_missing"),
        Judgement("gold_missing", "im Amt"),
        Judgement("boundary", "both"),
        Judgement("label", correct_labels={"span": "ORG"}),
        Judgement("unclear"),
    ],
}


def answers(case_id: str) -> st.SearchStrategy[Judgement | None]:
    """Nothing, or an answer that holds for its case, for all alike, or for those of its document."""
    own = st.sampled_from(ANSWERS[case_id[:2]])
    scope = st.sampled_from([None, Scope.ALL, Scope.ALL, Scope.DOCUMENT])
    return st.none() | st.none() | st.builds(lambda answer, where: replace(answer, applies_to=where), own, scope)


MIXES = st.fixed_dictionaries({case: answers(case) for case in [*MISSED["case_id"], *UNSUPPORTED["case_id"]]}).map(
    lambda found: {case: answer for case, answer in found.items() if answer is not None}
)


def by_hand(run: Evaluation, given: Mapping[str, Judgement]) -> tuple[dict[str, Judgement], set[str]]:
    """Every twin judged by itself as the others say, and the twins of which they say different things.

    Worked out from the words of the cases, without what the product knows about twins.
    """
    found, disputed = {case: replace(answer, applies_to=None) for case, answer in given.items()}, set()
    for table in run.bare_cases:
        words = [name for name in table.columns if name.startswith(("label_", "other_label_"))]
        keys = {
            row["case_id"]: (row["surface"].casefold(), row["class"], row["other_surface"], *(row[n] for n in words))
            for row in table.to_dict("records")
        }
        documents = dict(zip(table["case_id"], table["document"], strict=True))
        for case, key in keys.items():
            if case in given:
                continue
            claims = {
                repr(replace(answer, applies_to=None)): answer
                for other, answer in given.items()
                if keys.get(other) == key
                and (
                    answer.applies_to is Scope.ALL
                    or (answer.applies_to is Scope.DOCUMENT and documents[other] == documents[case])
                )
            }
            meant = {_means(case, answer) for answer in claims.values()} - {None}
            if len(meant) > 1:
                disputed.add(case)
            elif meant:
                found[case] = next(
                    replace(answer, applies_to=None) for answer in claims.values() if _means(case, answer)
                )
    return found, disputed


def _means(case: str, answer: Judgement) -> object:
    """What an answer would leave behind at a case, None where it cannot be carried out there."""
    (row,) = records({case: answer}).rows
    decision = BOOK.decide(row.record)
    return None if isinstance(decision, Wrong) else decision.whole_effect


def layers_of(found: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in found.correction.layers["span"].itertuples(index=False)]  # type: ignore[attr-defined]


def _usable(given: Mapping[str, Judgement]) -> dict[str, Judgement]:
    """Without what cannot be carried out on its own case: it claims nothing, and nothing is carried to it either."""
    return {case: answer for case, answer in given.items() if _means(case, answer) is not None}


@given(MIXES)
@at_most(60)
def test_direct_and_carried_judgements_give_the_gold_of_judging_every_twin_by_hand(given):
    given = _usable(given)
    expected, disputed = by_hand(RUN, given)
    found, hand = decide(RUN, given), decide(RUN, expected)
    assert layers_of(found) == layers_of(hand)
    assert {case for conflict in found.conflicts if conflict.kind == "claims" for case in conflict.cases} == disputed
    held = found.correction.held
    assert set(found.carried) == {case for case in expected if case not in given} - held
    assert set(found.settled) - disputed == set(hand.settled) - disputed


@given(MIXES, st.randoms(use_true_random=False))
@at_most(5)
def test_sorted_workbooks_bring_the_same_home_and_the_account_adds_up(given, rng):
    given = _usable(given)
    tables = {}
    for sheet, table in zip(("FN", "FP"), RUN.case_tables, strict=True):
        order = list(range(len(table)))
        rng.shuffle(order)
        tables[sheet] = table.iloc[order].reset_index(drop=True)
    stream = io.BytesIO()
    write_workbook(RUN, stream, Handout(answers=given), cases=tables)
    stream.name = "review.xlsx"
    sides = cut(TABLE)
    gold = io.BytesIO(sides.gold)
    gold.name = "gold.vrt"
    stream.seek(0)
    (run,) = reimport([stream], gold).runs
    expected, disputed = by_hand(RUN, given)
    assert layers_of(run) == layers_of(decide(RUN, expected))
    counts = run.account.counts
    assert sum(counts.values()) == len(MISSED) + len(UNSUPPORTED)
    assert counts[CaseState.CARRIED] == len(run.carried)
    assert disputed <= set(run.account.of(CaseState.CONFLICT))
    # `status` has no text to look into, and takes a decision as carried wherever it claims a twin.
    status = workbook_progress(stream.getvalue(), "review.xlsx").account
    assert set(run.carried) <= {*status.of(CaseState.CARRIED), *status.of(CaseState.CONFLICT)}
    assert sum(status.counts.values()) == run.account.cases
