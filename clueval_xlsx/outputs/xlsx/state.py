"""What the answers that a workbook comes with amount to, by the one rule: State as it stands on writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec.structs import replace

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.cases.twins import groups_of
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.answers import (
    NONE,
    CaseFacts,
    SpanEntry,
    Wrong,
    contradict,
    in_text,
    judgement_choices,
    label_key,
    settles,
    span_choice,
)
from clueval_xlsx.review.case_words import span_choice_entry
from clueval_xlsx.review.facts import answer_rule
from clueval_xlsx.review.judgements import SCOPES, SPAN_CHOICES, TAKES_SPAN, Effect, Judgement, JudgementKind
from clueval_xlsx.text.cells import needle

# The signs that State begins with; the colour of the row follows them.
DONE, MISSING, STRANGE, QUESTION, TWIN, SETTLED = "✓", "…", "✗", "?", "≡", "↔"
FINISHED = DONE + TWIN + SETTLED
MOST_LIVE_ROWS = 10_000  # of a sheet; above, what other rows decide is looked up once, on writing
CLASH = -1  # the judgement of a group of twins that different ones claim
BETWEEN = "¦"  # between the parts of what somebody said
_NOTHING_SAID = Judgement()


def marks_text(facts: CaseFacts) -> str:
    """What typed corrections are held against: a digit for each choice of a span, then the reference's words, labels.

    >>> marks_text(CaseFacts("", marked="14", idle="2", same="anna", labels=("PER", "")))
    '2142\\n=anna\\n1per\\n2-\\n'
    """
    digits = [
        SpanEntry.FINE if digit in facts.marked else SpanEntry.SAME if digit in facts.idle else SpanEntry.UNMARKED
        for digit in map(str, range(1, len(SPAN_CHOICES) + 1))
    ]
    labels = [f"{place}{label_key(label) or NONE}" for place, label in enumerate(facts.labels, 1)]
    same = [f"={facts.same}"] if facts.same else []
    return "\n".join(["".join(str(int(digit)) for digit in digits), *same, *labels, ""])


@dataclass(frozen=True)
class Held:
    """Whose judgement holds for a group of twins: the number of the case and of the judgement, and what was said."""

    number: int = 0
    judgement: int = 0
    said: str = ""
    words: str = ""  # that were typed as a correct span: twins take them where their own context has them


class RowStates:
    """What the answers that a workbook comes with amount to, by the rule that the re-import uses, too."""

    def __init__(self, content: ReviewContent, facts: Mapping[str, CaseFacts]) -> None:
        options, tables = content.options, content.cases.values()
        self.words, self.facts = content.words, facts
        self.answers: Mapping[str, Judgement] = options.answers
        self.judgements: Sequence[JudgementKind] = options.judgements
        self.rule = answer_rule(content.evaluation, tuple(options.label_words))
        self.twins = groups_of(tables)
        self.places: dict[str, tuple[int, int]] = {}  # number and row of each case
        for table in tables:
            numbers = table["number"].tolist()
            rows = enumerate(zip(table["case_id"].tolist(), numbers, strict=True), 1)
            self.places |= {case: (number, row) for row, (case, number) in rows}
        self.links: dict[str, list[str]] = {}  # the linked cases that are in this workbook
        for table in tables:
            for case, related in zip(table["case_id"].tolist(), table["related"].tolist(), strict=True):
                self.links[case] = [other for other in related if other in self.places]
        self.numbers = {each.code: number for number, each in enumerate(self.judgements, 1)}
        self._choices = {sheet: judgement_choices(self.judgements, sheet) for sheet in Sheet}
        self._verdicts: dict[str, int] = {}

    def answer(self, case_id: str) -> Judgement:
        """What is filled in for a case."""
        return self.answers.get(case_id, _NOTHING_SAID)

    def kind(self, case_id: str) -> JudgementKind | None:
        """The judgement of a case, if its sheet offers it."""
        typed = self.answer(case_id).code
        code = self._choices[Sheet(case_id.partition("-")[0])].find(typed) if typed else None
        return self.judgements[self.numbers[code] - 1] if code else None

    def verdict(self, case_id: str) -> int:
        """The number of the judgement that counts, 0 if nothing is filled in, or minus the number of what is wrong."""
        if case_id not in self.answers:
            return 0
        if case_id not in self._verdicts:
            answer, kind = self.answers[case_id], self.kind(case_id)
            wrong = self.rule.wrong(replace(answer, effect=kind.effect if kind else None), self.facts[case_id])
            wrong = Wrong.STRANGE if answer.code and kind is None else wrong
            self._verdicts[case_id] = -wrong if wrong else self.numbers[kind.code] if kind else 0
        return self._verdicts[case_id]

    def effect(self, number: int) -> Effect | None:
        """What the judgement of a number does."""
        return self.judgements[number - 1].effect if number > 0 else None

    # -- what twins claim

    @cached_property
    def group_names(self) -> Mapping[str, tuple[str, str]]:
        """What the claims of each case with twins are called: for all of them, for those of its document."""
        documents = {name: number for number, name in enumerate(dict.fromkeys(self.twins.document.values()), 1)}
        return {
            case: (f"t{number}", f"t{number}/{documents[self.twins.document[case]]}")
            for number, cases in enumerate(self.twins.members, 1)
            for case in cases
        }

    def claim(self, case_id: str) -> str:
        """The name of the group that the answer to a case is to hold for."""
        scope = self.answer(case_id).applies_to
        return self.group_names[case_id][SCOPES.index(scope)] if scope and case_id in self.group_names else ""

    def said(self, case_id: str) -> str:
        """What somebody decided, as claims are compared."""
        answer, span = self.answer(case_id), self.span_text(case_id)
        choice = span_choice(span)
        words = str(SPAN_CHOICES.index(choice) + 1) if choice else needle(span)
        labels = [label_key(answer.correct_labels.get(layer, "")) for layer in self.rule.layers]
        return BETWEEN.join([str(self.verdict(case_id)), words, *labels])

    def span_text(self, case_id: str) -> str:
        """What the cell of the correct span comes with."""
        return span_choice_entry(self.answer(case_id).correct_span, self.words)

    @cached_property
    def claims(self) -> dict[str, list[str]]:
        """The cases whose complete answers claim each group, by number."""
        claims: dict[str, list[str]] = {}
        for case_id in sorted(self.answers, key=lambda case: self.places.get(case, (0, 0))):
            if case_id in self.places and self.verdict(case_id) > 0 and (name := self.claim(case_id)):
                claims.setdefault(name, []).append(case_id)
        return claims

    def held(self, name: str, above: Held | None = None) -> Held:
        """Whose judgement holds for a group; for the twins of one document, `above` is that of the whole group."""
        claiming = self.claims.get(name, [])
        if not claiming:
            return above or Held()
        said = dict.fromkeys(self.said(case) for case in claiming)
        if above is not None and above.said:
            said[above.said] = None
        first = claiming[0]
        judgement = self.verdict(first) if len(said) == 1 else CLASH
        typed = needle(self.span_text(first))
        words = "" if span_choice(typed) or self.effect(judgement) not in TAKES_SPAN else typed
        return Held(self.places[first][0], judgement, self.said(first), words)

    def carried(self, case_id: str) -> Held:
        """Whose judgement was made to hold for a case, whatever it has of its own."""
        if case_id not in self.group_names or not self.claims:
            return Held()
        group, document = self.group_names[case_id]
        return self.held(document, self.held(group))

    def holding(self, case_id: str) -> int:
        """The number of the judgement that holds for a case: its own, or that of a twin whose words it has."""
        own = self.verdict(case_id)
        if own:
            return max(own, 0)
        carried = self.carried(case_id)
        if carried.words and not in_text(carried.words, self.facts[case_id].text):
            return 0
        return max(carried.judgement, 0)

    # -- what links say

    def settles(self, other: str, case_id: str) -> bool:
        """Whether the judgement that holds for a case settles a linked one."""
        only = len(self.links[case_id]) == len(self.links[other]) == 1
        effect = self.effect(self.holding(other))
        return effect is not None and settles(effect, only=only)

    def clashes(self, case_id: str, other: str) -> bool:
        """Whether the judgements of two linked cases cannot both hold."""
        missed, unsupported = (self.effect(self.verdict(case)) for case in sorted((case_id, other)))
        return missed is not None and unsupported is not None and contradict(missed, unsupported)

    def name(self, case_id: str) -> str:
        """What people call a case."""
        return f"{case_id.partition('-')[0]} {self.places[case_id][0]}"

    def others(self, case_id: str) -> str:
        """What other rows say about a row: that it is settled, or that they differ."""
        own, words = self.verdict(case_id), self.words
        if own > 0:
            other = next((each for each in self.links.get(case_id, ()) if self.clashes(case_id, each)), None)
            return f"{STRANGE} {words('state.contradicts', case=self.name(other))}" if other else ""
        if own < 0:
            return ""
        carried = self.carried(case_id)
        if self.holding(case_id):
            return f"{TWIN} {words('state.twin', number=carried.number)}"
        if carried.judgement == CLASH:
            return f"{STRANGE} {words['state.claims']}"
        other = next((each for each in self.links.get(case_id, ()) if self.settles(each, case_id)), None)
        return f"{SETTLED} {words('state.settled', case=self.name(other))}" if other else ""


def done(state: str) -> int:
    """Whether a row is done by what State says (1), or only begun (-1).

    >>> done("✓ Model is wrong"), done("… correct span?"), done("")
    (1, -1, 0)
    """
    return (1 if state[0] in FINISHED else -1) if state else 0
