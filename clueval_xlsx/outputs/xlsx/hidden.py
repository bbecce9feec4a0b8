"""The hidden sheets: the lists that dropdowns offer and formulas read, figures for charts and sums, the manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.corpus.spans import label_vocabulary
from clueval_xlsx.outputs.xlsx.book import Book, Cell, Formula, Worksheet
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.review.answers import (
    AnswerRule,
    ChoiceList,
    LabelEntry,
    SpanEntry,
    Wrong,
    contradict,
    judgement_choices,
    rule,
    scopes,
    settles,
    severities,
    span_choices,
)
from clueval_xlsx.review.case_words import (
    judgement_entry,
    judgement_name,
    scope_entry,
    severity_entry,
    span_choice_entry,
    wrong_text,
)
from clueval_xlsx.review.judgements import (
    FIGURES_SHEET,
    LISTS_SHEET,
    MANIFEST_SHEET,
    SCOPES,
    SEVERITIES,
    SPAN_CHOICES,
    TAKES_SPAN,
)
from clueval_xlsx.review.manifest import Manifest, chunks, encode

_LONGEST_STRING = 255  # characters between two quotation marks in a formula
Value = str | float | Formula


class Lists:
    """The sheet of lists, one below each title; `lists[NAME]` is where one stands, `dropdowns` what cells offer."""

    def __init__(self, book: Book, content: ReviewContent, answers: AnswerRule) -> None:
        self._sheet = book.sheet(LISTS_SHEET)
        self._sheet.hide()
        self._next = 0
        self._places: dict[str, str] = {}
        self.dropdowns: dict[str, str] = {}
        words, judgements, pair = content.words, content.options.judgements, content.evaluation.pair
        numbers = {each.code: number for number, each in enumerate(judgements, 1)}
        for sheet in (sheet for sheet in Sheet if sheet in content.cases):
            offered = [judgement_entry(each, words) for each in judgements if sheet in each.sheets]
            self._choices(f"judgement_{sheet}", offered, judgement_choices(judgements, sheet), numbers)
        self._choices(
            "severity", [severity_entry(code, words) for code in SEVERITIES], severities(), _places(SEVERITIES)
        )
        self._choices("applies_to", [scope_entry(code, words) for code in SCOPES], scopes(), _places(SCOPES))
        self._offer("span_choice", [span_choice_entry(code, words) for code in SPAN_CHOICES])
        places = _places(SPAN_CHOICES)
        self._add("span_choice", [[_lines({text: places[code] for text, code in span_choices().items()})]])
        for layer, known in zip(pair.layers, answers.known, strict=True):
            occurring = label_vocabulary((pair.gold.spans, pair.pred.spans), layer)
            self._offer(f"correct_label:{layer}", list(dict.fromkeys([*occurring, *content.options.label_words])))
            self._add(f"known_{layer}", [["\n".join(["", *sorted(known), ""])]])
        self._add("names", [[f"✓ {judgement_name(each, words)}"] for each in judgements])
        self._add("wrong", [[wrong_text(wrong, words)] for wrong in Wrong])
        effects = [each.effect for each in judgements]
        verdicts: list[list[Value]] = []
        for number, effect in enumerate(effects, 1):
            for reference in (False, True):
                row = [rule(effect, span, label, reference=reference) for span in SpanEntry for label in LabelEntry]
                verdicts.append([-wrong if wrong else number for wrong in row])
        self._add("verdicts", verdicts)
        self._add("takes_span", [[int(effect in TAKES_SPAN)] for effect in effects])
        # Beside a row without a judgement nothing is settled, and nothing clashes with it.
        settled = [[int(settles(effect, only=only)) for only in (False, True)] for effect in effects]
        clashes = [[0, *(int(contradict(effect, other)) for other in effects)] for effect in effects]
        self._add("settles", [[0, 0], *settled])
        self._add("clashes", [[0] * (len(effects) + 1), *clashes])

    def __getitem__(self, name: str) -> str:
        return self._places[name]

    def _choices(self, name: str, offered: Sequence[str], choices: ChoiceList, numbers: Mapping[str, int]) -> None:
        """What a dropdown offers, and everything that can be typed for it; an empty cell has the number 0."""
        self._offer(name, offered)
        self._add(name, [[_lines({"": 0, **{text: numbers[code] for text, code in choices.typed.items()}})]])

    def _offer(self, name: str, offered: Sequence[str]) -> None:
        self._add(f"{name} offered", [[text] for text in offered or [""]])
        self.dropdowns[name] = f"={self[f'{name} offered']}"

    def _add(self, name: str, rows: Sequence[Sequence[Value]]) -> None:
        """A list or a table below its title."""
        sheet, first = self._sheet, self._next
        self._next += len(rows[0])
        sheet.text((0, first), name, "muted")
        for line, values in enumerate(rows, 1):
            for column, value in enumerate(values, first):
                write_plain(sheet, (line, column), value)
        self._places[name] = sheet.range((1, first), (len(rows), self._next - 1))


def _places(codes: Sequence[str]) -> dict[str, int]:
    return {code: number for number, code in enumerate(codes, 1)}


def _lines(typed: Mapping[str, int]) -> str:
    """What can be typed, a line each, as formulas find it: `001=text`."""
    return "\n".join(["", *(f"{number:03}={text}" for text, number in typed.items()), ""])


def write_plain(sheet: Worksheet, cell: Cell, value: Value) -> None:
    """A cell that nobody sees."""
    if isinstance(value, Formula):
        sheet.formula(cell, *value, "plain")
    elif isinstance(value, str):
        sheet.text(cell, value, "muted")
    else:
        sheet.number(cell, value, "plain")


class HiddenFigures:
    """The hidden sheet of figures that charts draw and that other cells read, one table below the other.

    Some programs draw no chart from hidden columns; a hidden sheet does them no harm.
    """

    def __init__(self, book: Book, name: str = FIGURES_SHEET) -> None:
        self.sheet = book.sheet(name)
        self.sheet.hide()
        self.next_row = 0  # of the header of the next table

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Value]]) -> Cell:
        """Write a table below those that are there; returns the first cell below its header."""
        first = self.next_row + 1
        for line, values in enumerate([header, *rows], self.next_row):
            for column, value in enumerate(values):
                write_plain(self.sheet, (line, column), value)
        self.next_row = first + len(rows) + 1
        return first, 0


def write_manifest(book: Book, manifest: Manifest) -> None:
    """The manifest's text, one piece a cell."""
    sheet = book.sheet(MANIFEST_SHEET)
    sheet.hide()
    for row, chunk in enumerate(chunks(encode(manifest))):
        sheet.text((row, 0), chunk)


def quoted(text: str) -> str:
    """Text inside a formula; a long one stands in pieces.

    >>> quoted('5 "alike"'), quoted("a" * 200).count("&")
    ('"5 ""alike\"""', 1)
    """
    half = _LONGEST_STRING // 2  # a character may take two units, and a quotation mark two characters
    pieces = ['"' + text[at : at + half].replace('"', '""') + '"' for at in range(0, len(text), half)] or ['""']
    return pieces[0] if len(pieces) == 1 else f"({'&'.join(pieces)})"


def filled(pieces: Sequence[str], between: str) -> str:
    """A formula that joins texts with the value of another formula between each two of them.

    >>> filled(["", " of 9 done"], "A1")
    '""&A1&" of 9 done"'
    """
    return f"&{between}&".join(map(quoted, pieces))
