"""The State of a case row: formulas that follow what is typed, and the values that they have on writing.

Formulas refer to their own row without the sheet's name, and to anything else by an absolute range and a case ID, so
that sorting does them no harm in any program. What is typed is compared by EXACT: MATCH and VLOOKUP know wildcards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.outputs.xlsx.book import Formula
from clueval_xlsx.outputs.xlsx.hidden import SEVERITY, Lists, Lookup, judgement_list
from clueval_xlsx.review.choices import judgement_choices
from clueval_xlsx.review.completeness import SETTLING, AnswerPart, Completeness, completeness
from clueval_xlsx.review.judgements import Answer, Judgement
from clueval_xlsx.review.vocabulary import Effect
from clueval_xlsx.views.judgement_words import judgement_name
from clueval_xlsx.words import Words

# The signs that State begins with; the colour of the row follows them.
DONE, MISSING, STRANGE, SETTLED = "✓", "…", "✗", "↔"
# From so many cases on a sheet what settles a case is looked up once, on writing: a program would take seconds.
MOST_LIVE_ROWS = 5_000
_MOST_LINKS = 20  # that a formula looks up; it may have 8,192 characters
_ROW = "\x00"  # stands for the row's number in a formula
_NO_ANSWER = Answer()


class LinkedCase(NamedTuple):
    """A case of another sheet: what people call it, where IDs and counted judgements of its sheet stand."""

    case_id: str
    name: str
    ids: str
    counted: str


@dataclass(frozen=True)
class RowColumns:
    """The letters of the columns that the formulas of a row read, and the range of the IDs among the answers."""

    judgement: str
    block: str
    correct_span: str
    correct_labels: tuple[str, ...]
    severity: str
    understood: str
    counted: str
    case: str
    blocks: str


class RowState(NamedTuple):
    """The calculated cells of one row."""

    state: Formula
    understood: Formula
    counted: Formula


class AnswerStates:
    """What the answers that a workbook comes with amount to, by the rule that the re-import uses, too."""

    def __init__(self, answers: Mapping[str, Answer], judgements: Sequence[Judgement], words: Words) -> None:
        self._answers, self._words = answers, words
        self.numbers = {each.code: number for number, each in enumerate(judgements, 1)}
        self.judgements = {each.code: each for each in judgements}
        self._choices = {sheet: judgement_choices(judgements, sheet) for sheet in Sheet}

    def answer(self, case_id: str) -> Answer:
        """What is filled in for a case."""
        return self._answers.get(case_id, _NO_ANSWER)

    def completeness(self, case_id: str) -> Completeness:
        """Whether the answer to a case counts, and what it lacks."""
        answer = self.answer(case_id)
        return completeness(self._effect(case_id), answer.correct_span, answer.correct_labels)

    def settles(self, case_id: str) -> bool:
        """Whether the answer to a case settles the linked ones."""
        return self._effect(case_id) in SETTLING and self.completeness(case_id).judged

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
        if judgement is None and self.answer(case_id).judgement:
            return f"{STRANGE} {self._words['state.strange']}"
        if judgement is not None and found.judged:
            return f"{DONE} {judgement_name(judgement, self._words)}"
        if found.missing is not None:
            return missing_text(found.missing, self._words)
        settling = next((other for other in linked if self.settles(other.case_id)), None)
        return settled_text(settling.name, self._words) if settling else ""

    def _judgement(self, case_id: str) -> Judgement | None:
        """The judgement of a case, if it is one that its sheet offers."""
        given = self.answer(case_id).judgement
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
        spans, labels = (f'TRIM({"&".join(f"{c}{_ROW}" for c in each)})=""' for each in self._corrections())
        boundary, label = (self._is(number, effect) for effect in (Effect.BOUNDARY, Effect.LABEL))
        own, block = f"{columns.case}{_ROW}", f"{columns.block}{_ROW}"
        self._understood = f"={_lookup(columns.judgement, lists.lookups[judgement_list(sheet)])}"
        # A block ID that stands twice was copied; only one that has left its row says that rows are mixed up.
        parted = f'IF(EXACT({own},{block}),FALSE,IF({block}="",FALSE,COUNTIF({columns.blocks},{block})<2))'
        self._counted = f"=IF({parted},-1,IF(OR(AND({boundary},{spans}),AND({label},{labels})),0,{number}))"
        counted = f"{columns.counted}{_ROW}"
        severity = f'IF({_lookup(columns.severity, lists.lookups[SEVERITY])}=0,{_quoted(self._severity())},"")'
        severity = f'IF({_typed(columns.severity)}="","",{severity})'
        done = f'"{DONE} "&INDEX({lists.names},{counted})&{severity}'
        lacks = f"IF({boundary},{self._lacks(AnswerPart.CORRECT_SPAN)},{self._lacks(AnswerPart.CORRECT_LABEL)})"
        strange = _quoted(f"{STRANGE} {words['state.strange']}")
        moved = _quoted(f"{STRANGE} {words['state.moved']}")
        filled = f"NOT(AND({spans},{labels}))"
        self._before = (
            f'=IF({counted}<0,{moved},IF({counted}>0,{done},IF({typed}<>"",IF({number}=0,{strange},{lacks}),'
            f"IF({filled},{self._lacks(AnswerPart.JUDGEMENT)},"
        )
        self._settling = ",".join(
            str(states.numbers[each.code]) for each in states.judgements.values() if each.effect in SETTLING
        )

    def row(self, row: int, case_id: str, linked: Sequence[LinkedCase], *, live: bool) -> RowState:
        """The cells of one row; unless it is `live`, what settles it is decided now."""
        number, states = str(row + 1), self._states
        value = states.state(case_id, linked)
        settled = self._settled(linked) if live else _quoted(value if value.startswith(SETTLED) else "")
        return RowState(
            Formula(f"{self._before.replace(_ROW, number)}{settled}))))", value),
            Formula(self._understood.replace(_ROW, number), states.understood(case_id)),
            Formula(self._counted.replace(_ROW, number), states.counted(case_id)),
        )

    def _settled(self, linked: Sequence[LinkedCase]) -> str:
        """What State says where nothing is filled in: which linked case settles this one."""
        formula = '""'
        for other in reversed(linked[:_MOST_LINKS]):
            judged = f'INDEX({other.counted},MATCH("{other.case_id}",{other.ids},0))'
            said = _quoted(settled_text(other.name, self._words))
            formula = f"IF(ISNUMBER(MATCH({judged},{{{self._settling}}},0)),{said},{formula})"
        return formula

    def _corrections(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (self._columns.correct_span,), self._columns.correct_labels

    def _is(self, number: str, effect: Effect) -> str:
        """Whether the judgement of a number has an effect."""
        codes = [code for code, each in self._states.judgements.items() if each.effect is effect]
        tests = [f"{number}={self._states.numbers[code]}" for code in codes]
        return tests[0] if len(tests) == 1 else f"OR({','.join(tests)})" if tests else "FALSE"

    def _lacks(self, part: AnswerPart) -> str:
        return _quoted(missing_text(part, self._words))

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


def counting(cells: str, *signs: str) -> str:
    """A formula that counts the cells whose State begins with one of these signs."""
    return "SUMPRODUCT(" + "+".join(f'EXACT(LEFT({cells},1),"{sign}")' for sign in signs) + "+0)"


def _typed(column: str) -> str:
    """What is typed into a row's cell, as it is compared."""
    return f'LOWER(TRIM(SUBSTITUTE({column}{_ROW},"\u00a0"," ")))'


def _lookup(column: str, lookup: Lookup) -> str:
    """The number of the choice that is typed into a row's cell, 0 if there is none."""
    typed = _typed(column)
    begins = f"EXACT(LEFT({lookup.texts},LEN({typed})),{typed})"
    return f"SUMPRODUCT(MAX({begins}*(LEN({typed})>={lookup.least})*{lookup.numbers}))"


def _quoted(text: str) -> str:
    """Text inside a formula."""
    return '"' + text.replace('"', '""') + '"'
