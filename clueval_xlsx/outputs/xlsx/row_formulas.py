"""State of a case row as formulas: short ones over helper columns.

A helper column answers one question: which judgement, which words, which labels. What they amount to together stands in
one table, which `review.answers.rule` makes. Formulas refer to their own row without the sheet's name, and to anything
else by an absolute range and a case ID, so that sorting does them no harm in any program. What is typed is looked for
by FIND: MATCH and VLOOKUP know wildcards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from clueval_xlsx.cases.kinds import FN, Sheet
from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.outputs.xlsx.book import Formula, SharedText
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures, Lists, quoted
from clueval_xlsx.outputs.xlsx.state import (
    BETWEEN,
    CLASH,
    DONE,
    FINISHED,
    SETTLED,
    STRANGE,
    TWIN,
    Held,
    RowStates,
    done,
)
from clueval_xlsx.review.answers import (
    LONGEST_LABEL,
    LONGEST_SPAN,
    MOST_PARTS,
    NONE,
    PART,
    LabelEntry,
    SpanEntry,
    Wrong,
    in_text,
    label_entry,
    label_key,
    labels_good,
    span_entry,
)
from clueval_xlsx.review.case_words import judgement_name, wrong_text
from clueval_xlsx.review.judgements import SCOPES, SEVERITIES, Effect
from clueval_xlsx.text.cells import DASHES, INVISIBLE, QUOTE, QUOTES, SIGNS, SPACES, needle

_ROW = "\x00"  # stands for the row's number in a formula
_LF = "CHAR(10)"
_FIRST_BEFORE = 1_000_000_000  # numbers of cases are below; the largest difference belongs to the smallest number
# What SUBSTITUTE takes out of an entry of a list, and out of typed words: signs as a formula writes them.
_LITERALS = {"\n": _LF, "\t": "CHAR(9)", '"': '""""'}
_KEY = [(sign, " ") for sign in SPACES] + [(sign, "") for sign in INVISIBLE]
_NEEDLE = [
    *((sign, "") for sign in (" ", *SPACES, *INVISIBLE, *SIGNS)),
    *((sign, QUOTE) for sign in QUOTES if sign != QUOTE),
    *((sign, "-") for sign in DASHES),
    ("…", "..."),
]
Key = tuple[str, str | None]  # of a column: with its layer, if it has one
_TEXTS = {"words", "label_key"}  # helper columns that hold texts


class GroupCells(NamedTuple):
    """What a case with twins claims, for all of them and for its document, and the cells that say what holds for it."""

    group: str
    document: str
    number: str = ""
    judgement: str = ""
    words: str = ""


class LinkCells(NamedTuple):
    """The ranges of the links of a case: names of the linked cases, whether they settle it, whether they clash."""

    names: str
    settles: str
    clashes: str


class RowFormulas:
    """The formulas of the rows of one sheet."""

    def __init__(
        self, sheet: Sheet, letter: Callable[..., str], rows: tuple[int, int], lists: Lists, states: RowStates
    ) -> None:
        """`letter` gives the letter of a column by its key and layer; `rows` are the first and the last, from 1."""
        self._states, self._lists, self._letter, self._rows = states, lists, letter, rows
        self._layers = states.rule.layers
        self._templates: dict[Key, str] = {**self._of_entries(lists[f"judgement_{sheet}"]), **self._of_row()}
        for place, layer in enumerate(self._layers, 1):
            self._templates |= self._of_label(place, layer)
        self._shared: dict[tuple[Key, str], SharedText] = {}
        self._empty: dict[Key, str | int] = {key: "" if key[0] in _TEXTS else 0 for key in self._templates}

    def _cell(self, key: str, layer: str | None = None) -> str:
        return f"{self._letter(key, layer)}{_ROW}"

    def _of_entries(self, judgements: str) -> dict[Key, str]:
        """What the cells that are filled in amount to, each by itself."""
        cell, lists = self._cell, self._lists
        words, marks, choices = cell("words"), cell("marks"), lists["span_choice"]
        choice = f'VALUE(MID({marks},VALUE(MID({choices},FIND("="&{words}&{_LF},{choices})-3,3)),1))'
        same = f'FIND({_LF}&"="&SUBSTITUTE({words},"{QUOTE}","")&{_LF},{marks})'
        scope = _number(_folded_choice(cell("applies_to")), lists["applies_to"])
        otherwise = f"IF(ISNUMBER({same}),{SpanEntry.SAME:d},{SpanEntry.ABSENT:d}-{cell('in_text')})"
        return {
            ("understood", None): _number(_folded_choice(cell("judgement")), judgements),
            ("grade", None): _number(_folded_choice(cell("severity")), lists["severity"]),
            ("scope", None): f"IF({cell('grade')}<0,-1,{scope})",
            ("words", None): f'IFERROR(LOWER({_folded(cell("correct_span"), _NEEDLE)}),"?")',
            ("in_text", None): f'IF({words}="",0,--{_found_in(words, cell("searched"))})',
            ("span_entry", None): f'IF({words}="",0,IFERROR({choice},{otherwise}))',
        }

    def _of_label(self, place: int, layer: str) -> dict[Key, str]:
        """What the correct label of a layer amounts to; its own label stands behind its place among the marks."""
        text, known = self._cell("label_key", layer), self._lists[f"known_{layer}"]
        folded = _folded_choice(self._cell("correct_label", layer))
        folded = f'SUBSTITUTE(SUBSTITUTE({folded}," |","|"),"| ","|")'
        part, bars = _parts(text, LONGEST_LABEL), _bars(text)
        good = f'(ISNUMBER(FIND({_LF}&{part}&{_LF},{known}))+(LEFT({part},1)="!")*ISERROR(FIND(" ",{part}))>0)'
        own = f'ISNUMBER(FIND({_LF}&"{place}"&{text}&{_LF},{self._cell("marks")}))'
        good_ones = self._cell("labels_good", layer)
        new = f'OR(LEN({text})>{LONGEST_LABEL},ISNUMBER(FIND("!|",{text}&"|")),{good_ones}<{bars}+1)'
        parts = f"IF({bars}={_bars(self._cell('words'))},{LabelEntry.LIST:d},{LabelEntry.PARTS:d})"
        fine = f"IF({bars}=0,{LabelEntry.FINE:d},{parts})"
        return {
            ("label_key", layer): f'SUBSTITUTE({folded},"{NO_LABEL}","{NONE}")',
            ("labels_good", layer): f'IF({text}="",0,SUMPRODUCT(--{good}))',
            (
                "label_entry",
                layer,
            ): f'IF({text}="",0,IF({own},{LabelEntry.SAME:d},IF({new},{LabelEntry.NEW:d},{fine})))',
        }

    def _of_row(self) -> dict[Key, str]:
        """What all entries of a row amount to together."""
        cell, lists = self._cell, self._lists
        labels = [cell("label_key", layer) for layer in self._layers]
        none = [
            f'(({text}="{NONE}")+({text}="")*ISNUMBER(FIND({_LF}&"{place}{NONE}"&{_LF},{cell("marks")}))>0)'
            for place, text in enumerate(labels, 1)
        ]
        nothing = f'({"&".join(labels)}<>"")*{"*".join(none)}>0'
        entries = ",".join(cell("label_entry", layer) for layer in self._layers)
        number, scope, joined, span = (cell(key) for key in ("understood", "scope", "label_entries", "span_entry"))
        without = f'(MID({cell("marks")},2,1)="{SpanEntry.UNMARKED:d}")'
        table = f"INDEX({lists['verdicts']},2*{number}-{without},{span}*{len(LabelEntry)}+{joined}+1)"
        begun = f"IF(OR({span}>0,{joined}>0,{scope}<>0),-{Wrong.JUDGEMENT:d},0)"
        judged = f"IF({scope}<0,-{Wrong.OTHER_LIST:d},{table})"
        verdict = f"IF({number}<0,-{Wrong.STRANGE:d},IF({number}=0,{begun},{judged}))"
        counted, state, moved = cell("counted"), cell("state"), Wrong.MOVED
        return {
            ("label_entries", None): f"IF({nothing},{LabelEntry.NOTHING:d},MAX({entries}))",
            (
                "counted",
                None,
            ): f"IFERROR(IF({self._parted()},-{moved:d},IF({self._moved()},-{moved:d},{verdict})),-{moved:d})",
            ("holding", None): f"MAX({counted},0)",
            ("done", None): f'IF({state}="",0,IF(ISNUMBER(FIND(LEFT({state},1),"{FINISHED}")),1,-1))',
        }

    def _parted(self) -> str:
        """A cell that was cut and pasted takes its references along: this row would answer for another."""
        typed = [self._cell(key) for key in ("judgement", "case_again", "applies_to", "correct_span", "severity")]
        typed += [self._cell("correct_label", layer) for layer in self._layers]
        return f"{'+'.join(f'ROW({each})' for each in typed)}<>{len(typed)}*ROW()"

    def _moved(self) -> str:
        """A case ID among the entries that is another row's; one that still stands in its own row, too, was copied."""
        case, block = self._cell("case"), self._cell("case_again")
        first, last = self._rows
        cases, blocks = (f"{self._letter(key)}${first}:{self._letter(key)}${last}" for key in ("case", "case_again"))
        stands = f"IFERROR(EXACT(INDEX({blocks},MATCH({block},{cases},0)),{block}),FALSE)"
        return f'IF(EXACT({case},{block}),FALSE,IF({block}="",FALSE,NOT({stands})))'

    def row(
        self, row: int, case_id: str, group: GroupCells | None, links: LinkCells | None, missing: Sequence[str] = ()
    ) -> dict[Key, Formula]:
        """The calculated cells of a row, counted from 1; `missing` are the layers that its span has no label on."""
        states, templates, values = self._states, self._templates, self._empty
        answered = case_id in states.answers
        others, holding = states.others(case_id), states.holding(case_id)
        if answered:
            values = {**values, **self._values(case_id)}
        more: dict[Key, str] = {}
        counted = self._cell("counted")
        shown = f"INDEX({self._lists['names']},{counted})"
        partly = self._partly(missing)
        if partly:
            shown += f"&{partly}"
        wrong = f"INDEX({self._lists['wrong']},-{counted})"
        if group is not None and group.judgement:
            more |= self._of_group(group)
        elif holding != max(states.verdict(case_id), 0):  # as it was on writing
            more["holding", None] = f"IF({counted}<>0,MAX({counted},0),{holding})"
        if links is not None or (group is not None and group.judgement):
            more["others", None] = self._others(group, links)
        elif others:
            more["others", None] = f'IF({counted}={states.verdict(case_id)},{quoted(others)},"")'
        if ("others", None) in more:
            beside = self._cell("others")
            more["state", None] = f'IF({counted}<0,{wrong},IF({beside}<>"",{beside},IF({counted}>0,{shown},"")))'
        else:
            more["state", None] = f'IF({counted}>0,{shown},IF({counted}<0,{wrong},""))'
        state = self._state(case_id, others, missing)
        known: dict[Key, str | int] = {
            ("holding", None): holding,
            ("others", None): others,
            ("claim", None): states.claim(case_id) if answered else "",
            ("said", None): states.said(case_id) if answered and states.claim(case_id) else "",
            ("state", None): state,
            ("done", None): done(state),
        }
        found = {key: self._shared_formula(key, text, row) for key, text in templates.items() if key not in more}
        for key, text in more.items():
            own = key == ("state", None)
            found[key] = self._shared_formula(key, text, row) if own else f"={text.replace(_ROW, str(row))}"
        return {key: Formula(text, known[key] if key in known else values[key]) for key, text in found.items()}

    def _shared_formula(self, key: Key, text: str, row: int) -> str:
        """The formula of a row: the first one with its text, the others as its number alone."""
        shared = self._shared.get((key, text))
        if shared is not None:
            return shared
        number, column = len(self._shared), self._letter(*key).lstrip("$")
        self._shared[key, text] = SharedText("=", number)
        return SharedText(f"={text.replace(_ROW, str(row))}", number, f"{column}{row}:{column}{self._rows[1]}")

    def _of_group(self, group: GroupCells) -> dict[Key, str]:
        """What a row with twins claims, and what holds for it."""
        counted, claim, scope = self._cell("counted"), self._cell("claim"), self._cell("scope")
        words, choices = self._cell("words"), self._lists["span_choice"]
        chosen = f'IFERROR(VALUE(MID({choices},FIND("="&{words}&{_LF},{choices})-3,3)),{words})'
        said = [counted, chosen, *(self._cell("label_key", layer) for layer in self._layers)]
        joined = f'&"{BETWEEN}"&'.join(said)
        has = f'IF({group.words}="",1,--{_found_in(group.words, self._cell("searched"))})'
        return {
            ("claim", None): f'IF({scope}>0,CHOOSE({scope},"{group.group}","{group.document}"),"")',
            ("said", None): f'IF({claim}="","",{joined})',
            ("holding", None): f"IF({counted}<>0,MAX({counted},0),MAX({group.judgement},0)*{has})",
        }

    def _others(self, group: GroupCells | None, links: LinkCells | None) -> str:
        """What other rows say about a row."""
        words, counted = self._states.words, self._cell("counted")
        clash = settled = '""'
        if links is not None:
            clash, settled = (
                f'IFERROR({_around(f"{sign} {words(key, case=_ROW)}", f"INDEX({links.names},MATCH(1,{place},0))")},"")'
                for sign, key, place in (
                    (STRANGE, "state.contradicts", links.clashes),
                    (SETTLED, "state.settled", links.settles),
                )
            )
        first = settled
        if group is not None and group.judgement:
            twin = _around(f"{TWIN} {words('state.twin', number=_ROW)}", group.number)
            differ = quoted(f"{STRANGE} {words['state.claims']}")
            first = f"IF({self._cell('holding')}>0,{twin},IF({group.judgement}<0,{differ},{settled}))"
        return f'IF({counted}>0,{clash},IF({counted}<0,"",{first}))'

    def _partly(self, missing: Sequence[str]) -> str:
        """What is added to the name of a judgement that adds a span to some of the layers only."""
        adding = [n for n, each in enumerate(self._states.judgements, 1) if each.effect is Effect.ADD]
        if not missing or not adding:
            return ""
        counted = self._cell("counted")
        tests = [f"OR({','.join(f'{counted}={number}' for number in adding)})"]
        tests += [f'{self._cell("label_key", layer)}=""' for layer in missing]
        return f'IF(AND({",".join(tests)}),{quoted(self._only(missing))},"")'

    def _only(self, missing: Sequence[str]) -> str:
        there = ", ".join(layer for layer in self._layers if layer not in missing)
        return f" ({self._states.words('state.only', layers=there)})"

    def _state(self, case_id: str, others: str, missing: Sequence[str]) -> str:
        """What State says on writing."""
        states, verdict = self._states, self._states.verdict(case_id)
        if verdict < 0:
            return wrong_text(Wrong(-verdict), states.words)
        if others or not verdict:
            return others
        labels = states.answer(case_id).correct_labels
        partly = states.effect(verdict) is Effect.ADD and missing and not any(labels.get(layer) for layer in missing)
        name = judgement_name(states.judgements[verdict - 1], states.words)
        return f"{DONE} {name}{self._only(missing) if partly else ''}"

    def _values(self, case_id: str) -> dict[Key, str | int]:
        """What the helper columns of a row say that comes with an answer."""
        states, answer, facts = self._states, self._states.answer(case_id), self._states.facts[case_id]
        kind, span = states.kind(case_id), states.span_text(case_id)
        words = needle(span)
        found: dict[Key, str | int] = {
            ("understood", None): states.numbers[kind.code] if kind else -bool(answer.code),
            ("grade", None): SEVERITIES.index(answer.severity) + 1 if answer.severity else 0,
            ("scope", None): SCOPES.index(answer.applies_to) + 1 if answer.applies_to else 0,
            ("words", None): words,
            ("in_text", None): int(bool(words) and in_text(words, facts.text)),
            ("span_entry", None): int(span_entry(span, facts)),
            ("label_entries", None): int(states.rule.labels(answer, facts)),
            ("counted", None): states.verdict(case_id),
        }
        for layer, own, known in zip(self._layers, facts.labels, states.rule.known, strict=True):
            typed = answer.correct_labels.get(layer, "")
            found["label_key", layer] = label_key(typed)
            found["labels_good", layer] = labels_good(typed, known)
            found["label_entry", layer] = int(label_entry(typed, own, known, span))
        return found


def write_groups(
    figures: HiddenFigures, sheet: Sheet, ranges: Callable[[str], str], lists: Lists, states: RowStates
) -> dict[str, GroupCells]:
    """A row for each group of twins of a sheet, and one for each document with several; gives what their rows read."""
    claims, numbers, counted, said, words = map(ranges, ("claim", "number", "counted", "said", "words"))
    rows: list[list[str | int | Formula]] = []
    found: dict[str, GroupCells] = {}
    line = figures.next_row + 1

    def add(name: str, cases: Sequence[str], above: int) -> Held:
        """One row; `above` is that of the whole group, 0 if it is this one."""
        nonlocal line
        line += 1
        whole = states.held(states.group_names[cases[0]][0])
        held = states.held(name, whole) if above else whole
        own = states.claims.get(name, [])
        number, row = states.places[own[0]] if own else (0, 0)
        claiming = f"({claims}=A{line})*({counted}>0)"
        judged = f"INDEX({counted},C{line})"
        if above:
            judged = f'IF(AND(D{above}<>"",D{above}<>D{line}),{CLASH},{judged})'
        up_number, up_judgement = (f"E{above}", f"F{above}") if above else ("0", "0")
        chosen = f"INDEX({words},MATCH(E{line},{numbers},0))"
        a_choice = f'ISNUMBER(FIND("="&{chosen}&{_LF},{lists["span_choice"]}))'
        formulas: list[tuple[str, str | int]] = [
            (f"IF(COUNTIF({claims},A{line})=0,0,SUMPRODUCT(MAX({claiming}*({_FIRST_BEFORE}-{numbers}))))",
             _FIRST_BEFORE - number if own else 0),
            (f"IF(B{line}=0,0,MATCH({_FIRST_BEFORE}-B{line},{numbers},0))", row),
            (f'IF(C{line}=0,"",INDEX({said},C{line}))', states.said(own[0]) if own else ""),
            (f"IF(C{line}>0,{_FIRST_BEFORE}-B{line},{up_number})", held.number),
            (f"IF(C{line}=0,{up_judgement},IF(SUMPRODUCT({claiming}*({said}<>D{line}))>0,{CLASH},{judged}))",
             held.judgement),
            (f'IF(F{line}<1,"",IF(INDEX({lists["takes_span"]},F{line})=0,"",IF({a_choice},"",{chosen})))', held.words),
        ]  # fmt: skip
        rows.append([name, *(Formula(f"={text}", value) for text, value in formulas)])
        cells = [figures.sheet.range((line - 1, column), (line - 1, column)) for column in (4, 5, 6)]
        found.update({case: GroupCells(*states.group_names[case], *cells) for case in cases})
        return held

    for members in states.twins.members:
        if members[0].startswith(f"{sheet}-"):
            add(states.group_names[members[0]][0], members, 0)
            above, by_document = line, dict[str, list[str]]()
            for case in members:
                by_document.setdefault(states.group_names[case][1], []).append(case)
            for name, cases in by_document.items():
                if len(cases) > 1:
                    add(name, cases, above)
    figures.table([sheet, "first", "row", "said", "number", "judgement", "words"], rows)
    return found


def write_links(
    figures: HiddenFigures, ranges: Callable[[str, str], str], lists: Lists, states: RowStates
) -> dict[str, LinkCells]:
    """A row for each link of a case, those of one case below each other."""
    rows: list[list[str | int | Formula]] = []
    found: dict[str, LinkCells] = {}
    for case, linked in states.links.items():
        first = figures.next_row + 1 + len(rows)
        for other in linked:
            line = figures.next_row + 2 + len(rows)
            places = f"D{line}", f"E{line}"
            judged = [
                f"MAX(INDEX({ranges(each, 'counted')},{at}),0)+1"
                for each, at in zip((case, other), places, strict=True)
            ]
            if not case.startswith(FN):
                judged.reverse()
            only = 1 + (len(linked) == len(states.links[other]) == 1)
            held = f"INDEX({ranges(other, 'holding')},E{line})+1"
            rows.append(
                [
                    *(case, other, states.name(other)),
                    Formula(f"=MATCH(A{line},{ranges(case, 'case')},0)", states.places[case][1]),
                    Formula(f"=MATCH(B{line},{ranges(other, 'case')},0)", states.places[other][1]),
                    Formula(f"=INDEX({lists['settles']},{held},{only})", int(states.settles(other, case))),
                    Formula(f"=INDEX({lists['clashes']},{judged[0]},{judged[1]})", int(states.clashes(case, other))),
                ]
            )
        last = figures.next_row + len(rows)
        if linked:
            found[case] = LinkCells(*(figures.sheet.range((first, at), (last, at)) for at in (2, 5, 6)))
    figures.table(["case", "linked", "name", "row", "linked row", "settles", "clashes"], rows)
    return found


def _folded(cell: str, pairs: Sequence[tuple[str, str]]) -> str:
    """A cell's text, each sign of the first kind in place of which the second is put."""
    text = f'{cell}&""'
    for sign, instead in pairs:
        text = f'SUBSTITUTE({text},{_LITERALS.get(sign, quoted(sign))},"{instead}")'
    return text


def _folded_choice(cell: str) -> str:
    return f'IFERROR(LOWER(TRIM({_folded(cell, _KEY)})),"?")'


def _number(text: str, entries: str) -> str:
    """The number of an entry in a cell of lines `001=text`; -1 if there is none."""
    return f'IFERROR(VALUE(MID({entries},FIND("="&{text}&{_LF},{entries})-3,3)),-1)'


def _parts(cell: str, room: int) -> str:
    """The parts between bars, as many as count."""
    places = ",".join(map(str, range(MOST_PARTS)))
    return f'TRIM(MID(SUBSTITUTE({cell},"{PART}",REPT(" ",{room})),{{{places}}}*{room}+1,{room}))'


def _bars(cell: str) -> str:
    return f'LEN({cell})-LEN(SUBSTITUTE({cell},"{PART}",""))'


def _found_in(cell: str, text: str) -> str:
    """Whether all parts of folded words stand in a text; one of a single letter only in quotes."""
    part = _parts(cell, LONGEST_SPAN)
    bare = f'SUBSTITUTE({part},"{QUOTE}","")'
    found = f"SUMPRODUCT((LEN({bare})*LEN({part})>1)*ISNUMBER(FIND({bare},LOWER({text}))))"
    return f"IF(LEN({cell})>{LONGEST_SPAN},FALSE,{found}={_bars(cell)}+1)"


def _around(text: str, formula: str) -> str:
    """A text with the value of a formula in the place of its mark."""
    before, _, behind = text.partition(_ROW)
    return "&".join(part for part in (quoted(before), formula, quoted(behind) if behind else "") if part)
