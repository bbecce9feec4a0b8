"""The State of a case row: formulas that follow what is typed, and the values that they have on writing.

Formulas refer to their own row without the sheet's name, and to anything else by an absolute range and a case ID, so
that sorting does them no harm in any program. What is typed is compared by EXACT: MATCH and VLOOKUP know wildcards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.cases.twins import TwinGroups
from clueval_xlsx.outputs.xlsx.book import Formula
from clueval_xlsx.outputs.xlsx.formula_text import LONGEST_FORMULA, filled, quoted
from clueval_xlsx.outputs.xlsx.hidden import SCOPE, SEVERITY, Lists, Lookup, judgement_list
from clueval_xlsx.outputs.xlsx.twin_claims import CLASH, Claim, Claims, TwinCells
from clueval_xlsx.review.case_words import judgement_name
from clueval_xlsx.review.choices import judgement_choices
from clueval_xlsx.review.judgements import SETTLING, AnswerPart, Completeness, Judgement, JudgementKind, completeness
from clueval_xlsx.review.normalising import INVISIBLE
from clueval_xlsx.review.vocabulary import Effect, Scope
from clueval_xlsx.words import Words

# The signs that State begins with; the colour of the row follows them.
DONE, MISSING, STRANGE, TWIN, SETTLED = "✓", "…", "✗", "≡", "↔"
FINISHED = (DONE, TWIN, SETTLED)
# From so many cases on a sheet what settles a case is looked up once, on writing: a program would take seconds.
MOST_LIVE_ROWS = 5_000
MOST_LIVE_SHEETS = 20  # of one kind: a lookup goes through them all, and no formula may be long without end
_MOST_LINKS = 20  # that a formula looks up
_ROOM = 400  # characters that are kept for the numbers of rows
_ROW = "\x00"  # stands for the row's number in a formula
_SPACES = ('"\u00a0"', "CHAR(9)", "CHAR(10)")  # that TRIM leaves alone
_NO_ANSWER = Judgement()


class LinkedCase(NamedTuple):
    """A case of another sheet: what people call it, where IDs of its sheet and the judgements that hold stand."""

    case_id: str
    name: str
    ids: str
    holding: str


@dataclass(frozen=True)
class RowColumns:
    """The letters of the columns that the formulas of a row read, and the range of the IDs among the answers."""

    judgement: str
    block: str
    correct_span: str
    correct_labels: tuple[str, ...]
    applies_to: str
    severity: str
    understood: str
    counted: str
    claim: str
    holding: str
    case: str
    blocks: str


class RowState(NamedTuple):
    """The calculated cells of one row."""

    state: Formula
    understood: Formula
    counted: Formula
    claim: Formula | None
    holding: Formula


class AnswerStates:
    """What the answers that a workbook comes with amount to, by the rule that the re-import uses, too."""

    def __init__(
        self,
        answers: Mapping[str, Judgement],
        judgements: Sequence[JudgementKind],
        words: Words,
        *,
        twins: TwinGroups,
        rows: Mapping[str, int],
    ) -> None:
        """`rows` are the numbers of all cases in the order of their rows."""
        self._answers, self._words, self._twins, self._rows = answers, words, twins, rows
        self.numbers = {each.code: number for number, each in enumerate(judgements, 1)}
        self.judgements = {each.code: each for each in judgements}
        self._choices = {sheet: judgement_choices(judgements, sheet) for sheet in Sheet}

    def answer(self, case_id: str) -> Judgement:
        """What is filled in for a case."""
        return self._answers.get(case_id, _NO_ANSWER)

    def completeness(self, case_id: str) -> Completeness:
        """Whether the answer to a case counts, and what it lacks."""
        answer = self.answer(case_id)
        applies = answer.applies_to is not None
        return completeness(self._effect(case_id), answer.correct_span, answer.correct_labels, applies=applies)

    def settles(self, case_id: str) -> bool:
        """Whether the judgement that holds for a case settles the linked ones."""
        return self.holding(case_id) in self._settling

    @cached_property
    def _settling(self) -> frozenset[int]:
        return frozenset(self.numbers[code] for code, each in self.judgements.items() if each.effect in SETTLING)

    @cached_property
    def claims(self) -> Claims:
        """What the answers are to hold for, beside their own cases."""
        given = {
            case_id: (Claim(number, self.counted(case_id)), answer.applies_to is Scope.DOCUMENT)
            for case_id, number in (self._rows.items() if self._answers else ())
            if (answer := self.answer(case_id)).applies_to is not None
            if self.counted(case_id) and self._twins.group(case_id)
        }
        return Claims(self._twins, given)

    def claim(self, case_id: str) -> str:
        """The name of what a case claims."""
        if case_id not in self.claims.given:
            return ""
        return self.claims.names(case_id)[self.claims.given[case_id][1]]

    def carried(self, case_id: str) -> Claim:
        """Whose judgement was made to hold for a case; nobody's where something of its own is filled in."""
        own = self.answer(case_id).code or self.completeness(case_id).missing is not None
        return Claim() if own else self.claims.of(case_id)

    def holding(self, case_id: str) -> int:
        """The number of the judgement that holds for a case: its own, or that of a twin."""
        return self.counted(case_id) or self.carried(case_id).judgement

    def understood(self, case_id: str) -> int:
        """The number of a case's judgement."""
        judgement = self._judgement(case_id)
        return self.numbers[judgement.code] if judgement else 0

    def counted(self, case_id: str) -> int:
        """The number of a case's judgement if its row is complete."""
        return self.understood(case_id) if self.completeness(case_id).judged else 0

    def state(self, case_id: str, linked: Iterable[LinkedCase]) -> str:
        """What State says."""
        found, judgement = self.completeness(case_id), self._judgement(case_id)
        if judgement is None and self.answer(case_id).code:
            return f"{STRANGE} {self._words['state.strange']}"
        if judgement is not None and found.judged:
            return f"{DONE} {judgement_name(judgement, self._words)}"
        if found.missing is not None:
            return missing_text(found.missing, self._words)
        claim = self.carried(case_id)
        if claim.judgement:
            return twin_text(claim, self._words)
        settling = next((other for other in linked if self.settles(other.case_id)), None)
        return settled_text(settling.name, self._words) if settling else ""

    def _judgement(self, case_id: str) -> JudgementKind | None:
        """The judgement of a case, if it is one that its sheet offers."""
        given = self.answer(case_id).code
        code = self._choices[Sheet(case_id.partition("-")[0])].find(given) if given else None
        return self.judgements[code] if code else None

    def _effect(self, case_id: str) -> Effect | None:
        judgement = self._judgement(case_id)
        return judgement.effect if judgement else None


class StateFormulas:
    """The formulas of a sheet's rows."""

    def __init__(self, sheet: str, columns: RowColumns, lists: Lists, states: AnswerStates, words: Words) -> None:
        self._states, self._words, self._columns = states, words, columns
        number = f"{columns.understood}{_ROW}"
        typed = _typed(columns.judgement)
        spans, labels = (f'{_visible("&".join(f"{c}{_ROW}" for c in each))}=""' for each in self._corrections())
        boundary, label = (self._is(number, effect) for effect in (Effect.BOUNDARY, Effect.LABEL))
        own, block = f"{columns.case}{_ROW}", f"{columns.block}{_ROW}"
        self._understood = f"={_lookup(columns.judgement, lists.lookups[judgement_list(sheet)])}"
        # A block ID that stands twice was copied; only one that has left its row says that rows are mixed up.
        parted = f'IF(EXACT({own},{block}),FALSE,IF({block}="",FALSE,COUNTIF({columns.blocks},{block})<2))'
        self._counted = f"=IF({parted},-1,IF(OR(AND({boundary},{spans}),AND({label},{labels})),0,{number}))"
        counted = f"{columns.counted}{_ROW}"
        severity = f'IF({_lookup(columns.severity, lists.lookups[SEVERITY])}=0,{quoted(self._severity())},"")'
        severity = f'IF({_typed(columns.severity)}="","",{severity})'
        done = f'"{DONE} "&INDEX({lists.names},{counted})&{severity}'
        lacks = f"IF({boundary},{self._lacks(AnswerPart.CORRECT_SPAN)},{self._lacks(AnswerPart.CORRECT_LABEL)})"
        strange = quoted(f"{STRANGE} {words['state.strange']}")
        moved = quoted(f"{STRANGE} {words['state.moved']}")
        applies = f'{_visible(f"{columns.applies_to}{_ROW}")}=""'
        begun = f"NOT(AND({spans},{labels},{applies}))"
        head = f"=IF({counted}<0,{moved},IF({counted}>0,"
        tail = f',IF({typed}<>"",IF({number}=0,{strange},{lacks}),IF({begun},{self._lacks(AnswerPart.JUDGEMENT)},'
        question = quoted(f" · {words['state.applies_to']}")
        unclear = f'IF({columns.claim}{_ROW}="?",{question},"")'
        self._before, self._before_twin = f"{head}{done}{tail}", f"{head}{done}&{unclear}{tail}"
        scope = _lookup(columns.applies_to, lists.lookups[SCOPE])
        self._claim = f'=IF({applies},"",IF({counted}>0,CHOOSE(1+{scope},"?",\x01,\x02),""))'
        self._holding = f'=IF({counted}<>0,{counted},IF(OR({typed}<>"",{begun}),0,\x01))'
        self._settling = ",".join(
            str(states.numbers[each.code]) for each in states.judgements.values() if each.effect in SETTLING
        )

    def row(
        self, row: int, case_id: str, linked: Sequence[LinkedCase], twin: TwinCells | None, *, live: bool
    ) -> RowState:
        """The cells of one row; unless it is `live`, what settles it and what holds for it is decided now."""
        number, states = str(row + 1), self._states
        value, held = states.state(case_id, linked), states.carried(case_id)
        behind = self._settled(linked) if live else quoted(value if value.startswith((TWIN, SETTLED)) else "")
        carried = str(held.judgement)
        if twin is not None and twin.judgement:
            carried, holding = twin.judgement, f"{self._columns.holding}{number}"
            pieces = f"{TWIN} {self._words('state.twin', number=_ROW)}".split(_ROW)
            same, differ = filled(pieces, twin.number), quoted(twin_text(Claim(0, CLASH), self._words))
            behind = f"IF({holding}>0,{same},IF({holding}<0,{differ},{behind}))"
        claim = None
        if twin is not None:
            names = self._claim.replace("\x01", quoted(twin.group)).replace("\x02", quoted(twin.document))
            claim = Formula(names.replace(_ROW, number), states.claim(case_id))
        before = self._before if twin is None else self._before_twin
        return RowState(
            Formula(f"{before.replace(_ROW, number)}{behind}))))", value),
            Formula(self._understood.replace(_ROW, number), states.understood(case_id)),
            Formula(self._counted.replace(_ROW, number), states.counted(case_id)),
            claim,
            Formula(self._holding.replace(_ROW, number).replace("\x01", carried), states.holding(case_id)),
        )

    def _settled(self, linked: Sequence[LinkedCase]) -> str:
        """What State says where nothing is filled in: which linked case settles this one."""
        tests: list[str] = []
        left = LONGEST_FORMULA - len(self._before_twin) - _ROOM
        for other in linked[:_MOST_LINKS]:
            judged = f'INDEX({other.holding},MATCH("{other.case_id}",{other.ids},0))'
            said = quoted(settled_text(other.name, self._words))
            test = f"IF(ISNUMBER(MATCH({judged},{{{self._settling}}},0)),{said},"
            left -= len(test) + 1
            if left < 0:  # what is not looked up stays open: it is judged by itself
                break
            tests.append(test)
        return f'{"".join(tests)}""{")" * len(tests)}'

    def _corrections(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (self._columns.correct_span,), self._columns.correct_labels

    def _is(self, number: str, effect: Effect) -> str:
        """Whether the judgement of a number has an effect."""
        codes = [code for code, each in self._states.judgements.items() if each.effect is effect]
        tests = [f"{number}={self._states.numbers[code]}" for code in codes]
        return tests[0] if len(tests) == 1 else f"OR({','.join(tests)})" if tests else "FALSE"

    def _lacks(self, part: AnswerPart) -> str:
        return quoted(missing_text(part, self._words))

    def _severity(self) -> str:
        return f" · {self._words['state.severity']}"


def missing_text(part: AnswerPart, words: Words) -> str:
    """What State says of an answer that lacks something.

    >>> missing_text(AnswerPart.CORRECT_SPAN, Words("en"))
    '… correct span?'
    """
    return f"{MISSING} {words[f'state.{part}']}"


def settled_text(case: str, words: Words) -> str:
    """What State says of a case that a linked one settles.

    >>> settled_text("FP 12", Words("en"))
    '↔ settled by FP 12'
    """
    return f"{SETTLED} {words('state.settled', case=case)}"


def twin_text(claim: Claim, words: Words) -> str:
    """What State says of a case for which the judgement of a twin holds.

    >>> twin_text(Claim(7, 1), Words("en")), twin_text(Claim(7, CLASH), Words("en"))
    ('≡ as no. 7', '✗ twins differ')
    """
    if claim.judgement == CLASH:
        return f"{STRANGE} {words['state.claims']}"
    return f"{TWIN} {words('state.twin', number=claim.number)}"


def counting(cells: str, *signs: str) -> str:
    """A formula that counts the cells whose State begins with one of these signs."""
    return "+".join(f'COUNTIF({cells},"{sign}*")' for sign in signs)


def _typed(column: str) -> str:
    """What is typed into a row's cell, as it is compared."""
    return f"LOWER({_visible(f'{column}{_ROW}')})"


def _visible(text: str) -> str:
    """A text without what is not seen in it: as `normalising.clean` reads it back."""
    for sign in _SPACES:
        text = f'SUBSTITUTE({text},{sign}," ")'
    for sign in INVISIBLE:
        text = f'SUBSTITUTE({text},"{sign}","")'
    return f"TRIM({text})"


def _lookup(column: str, lookup: Lookup) -> str:
    """The number of the choice that is typed into a row's cell, 0 if there is none."""
    return f"SUMPRODUCT(({lookup.texts}={_typed(column)})*{lookup.numbers})"
