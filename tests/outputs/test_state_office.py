"""State in a real LibreOffice beside the one rule in Python: every row, judged in every way, valid and not."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.outputs.xlsx.state import RowStates
from clueval_xlsx.review.answers import Wrong, judgement_choices, scopes, severities, span_choice
from clueval_xlsx.review.case_words import wrong_text
from clueval_xlsx.review.facts import case_facts
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement, custom_judgements
from clueval_xlsx.review.progress import CaseState
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.text.cells import key
from clueval_xlsx.words import Words
from tests.support.office import case_rows, columns
from tests.support.tables import cut
from tests.support.workbooks import FIRST, evaluated, written

pytestmark = pytest.mark.office
OWN = custom_judgements(
    {"public": {"effect": "gold_wrong", "en": "Public figure"}, "shift": {"effect": "boundary", "en": "Shifted"}}
)
KNOWN = (*JUDGEMENTS, *OWN)
LAYERS = {"category": 2, "risk": 3}
NAMES = (
    "Anna Lee",
    "Dr. Groß",
    "Jürgen Weiß-Müller",
    "Real Madrid",
    "Straße 12",
    "A. B. Çelik",
    "ŁUKASZ Żak",
    "o'Neill",
)
FILLER = "das Gericht hat am 3. März 2021 für Recht erkannt – „dass“ 100 % ? * ~ ( B ) … X ÄRZTE M"
DIGITS = "1 2 3 4 5 6 7 8 9 0 2. 2) 2,0 3.0 ? * ~ ~? 1* ?1 -1 1=1 =1 001 11"
JUDGED = [
    *DIGITS.split(),
    *(" 1 ", "1\u00a0", "\u20602", "3 \n", "\t4", "1 2", "x" * 300, "1" * 300, "\u200b5\ufeff", "model\u00a0is wrong"),
    *("MODEL IS WRONG", "Modell liegt falsch", "Referenz zu groß", "Reference has wrong label", "Nicht zu entscheiden"),
    *("1 Model is wrong", "1 Good enough", "Public figure", "Both are right", "Cannot decide", "should be marked", "3"),
]
TYPED = [
    *("M", "r", " b ", "C", "g", "M as the model", "wie das Modell", "BOTH TOGETHER", '"M"', "„X“", "X", "N", "?", "*"),
    *("~", "a?", "*a*", "a" * 300, "|", "das | Gericht", "| das", "das |", '""', "\u00a0", "niemals", "GROẞ", "groß"),
    *(
        "GROSS",
        "Müller",
        "muller",
        "100%",
        "[…]",
        "...",
        "(b)",
        "ärzte",
        "żak",
        "o’neill",
        "Gericht Gericht",
        "=1",
        "3.",
    ),
    *("|".join("a" * 8), "|".join("a" * 9), "3. März|2021", "a|b|c"),
]
LABELS = [
    *(
        "PER",
        "per ",
        "ORG",
        "high",
        "HIGH",
        "LOW",
        "–",
        "-",
        "!NEW",
        "!",
        "! NEW",
        "!NEW LABEL",
        "NEW",
        "?",
        "P?R",
        "*",
    ),
    *(
        "ORG | ORG",
        "ORG|!NEU",
        "ORG |",
        "|",
        "!|ORG",
        "LOW|HIGH",
        "x" * 300,
        "!" + "x" * 300,
        "5",
        "per\n",
        "org|org|org",
    ),
]
SCOPES = ["1", "2", "all alike", "ALLE GLEICHEN FÄLLE", "3", "x", "?", "\u2060"]
GRADES = ["1", "3", "direct identifier", "4", "?", "\u00a0"]


@dataclass
class Entry:
    """What is typed into a row."""

    judgement: str = ""
    applies_to: str = ""
    correct_span: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    severity: str = ""

    def cells(self, words: Words) -> dict[str, str]:
        """By header."""
        plain = {
            words[f"column.{name}"]: getattr(self, name)
            for name in ("judgement", "applies_to", "correct_span", "severity")
        }
        return plain | {f"{words['column.correct_label']}: {layer}": self.labels.get(layer, "") for layer in LAYERS}


def made_up(seed: int, sentences: int = 230):
    """A corpus in which gold and predictions differ in every way, many cases are alike and many are linked."""
    rng, lines = random.Random(seed), ["token gold_a gold_b pred_a pred_b", '<text id="d 0*?">']
    for number in range(sentences):
        if number and number % 12 == 0:
            lines += ["</text>", f'<text id="d {number // 12}">']
        lines.append("<s>")
        lines += [f"{word} O O O O" for word in rng.choices(FILLER.split(), k=rng.randint(2, 9))]
        name, kind = rng.choice(NAMES).split(), rng.randrange(6)
        label, risk, extra = rng.choice(("PER", "ORG")), rng.choice(("HIGH", "LOW")), rng.choice(FILLER.split())
        gold = pred = len(name)
        if kind == 0:
            pred = 0
        elif kind == 1:
            gold = 0
        elif kind in {2, 3}:
            pred += 1
        elif kind == 4:
            gold += 1
        for place, word in enumerate([*name, extra]):
            start = "B" if not place else "I"
            tags = [f"{start}-{label}" if place < gold else "O", f"{start}-{risk}" if place < gold else "O"]
            tags += [f"{start}-{label if kind < 5 else 'LOC'}" if place < pred else "O"]
            tags += [f"{start}-{risk}" if place < pred and not (kind == 1 and number % 3) else "O"]
            lines.append(" ".join([word, *tags]))
        lines += [". O O O O", "</s>"]
    lines.append("</text>")
    sides = cut("\n".join(lines))
    return sides.gold, evaluated(sides, {"layers": LAYERS}, level="exact", labelled="category")


def drawn(facts, rng):
    """An answer to each of most cases: often a correction, with whatever a person might type."""
    entries = {}
    for case, own in facts.items():
        if rng.random() > 0.9:
            continue
        entry = entries[case] = Entry(rng.choice(JUDGED) if rng.random() < 0.4 else rng.choice("1233345"))
        first, words = entry.judgement.strip(" .\u2060")[:1], own.text.split("\n")[0]
        at = rng.randrange(max(len(words) - 3, 1))
        if rng.random() < (0.9 if first in "38" else 0.2):
            entry.correct_span = rng.choice([*TYPED, *["M", "B", own.same, own.same.upper(), words[at : at + 4]] * 3])
        if rng.random() < (0.9 if first == "4" else 0.25):
            entry.labels = {rng.choice([*LAYERS]): rng.choice(LABELS)}
        if rng.random() < 0.1:
            entry.labels = {layer: rng.choice(["-", "LOW", "PER", "–"]) for layer in LAYERS}
        if rng.random() < 0.4:
            entry.applies_to = rng.choice(SCOPES[:4] if rng.random() < 0.8 else SCOPES)
        if rng.random() < 0.15:
            entry.severity = rng.choice(GRADES)
    return entries


def expected(evaluation, facts, entries, lang):
    """What the one rule says of each row."""
    words, answers, wrong = Words(lang), {}, {}
    for case, entry in entries.items():
        code = judgement_choices(KNOWN, case[:2]).find(entry.judgement)
        scope, grade = scopes().find(entry.applies_to), severities().find(entry.severity)
        other = any(key(text) and code is None for text, code in ((entry.applies_to, scope), (entry.severity, grade)))
        span = span_choice(entry.correct_span) or entry.correct_span
        typed = code or (entry.judgement if key(entry.judgement) else "")
        answers[case] = Judgement(typed, span, entry.labels, grade, "", scope)
        if other and (code or not key(entry.judgement)):
            wrong[case] = Wrong.OTHER_LIST if code else Wrong.JUDGEMENT
            answers[case] = Judgement()
    tables = dict(zip(("FN", "FP"), evaluation.case_tables, strict=True))
    states = RowStates(
        ReviewContent(evaluation, Handout(lang=lang, judgements=KNOWN, answers=answers), words, tables, ""), facts
    )
    for case, why in wrong.items():
        states._verdicts[case] = -why
    adding = {n for n, each in enumerate(KNOWN, 1) if each.effect == "add"}
    missing = {
        case: [layer for layer, label in zip(LAYERS, labels, strict=True) if not label]
        for case, *labels in tables["FP"][["case_id", *(f"label_{layer}" for layer in LAYERS)]].itertuples(index=False)
    }
    found = {}
    for case in facts:
        verdict, others = states.verdict(case), states.others(case)
        found[case] = others
        if verdict < 0:
            found[case] = wrong_text(Wrong(-verdict), words)
        elif verdict and not others:
            kind = KNOWN[verdict - 1]
            name = kind.words.get("en") or words[f"judgement.{kind.code}"]
            lacking = missing.get(case, []) if verdict in adding else []
            if lacking and not any(key(entries[case].labels.get(layer, "")) for layer in lacking):
                name += f" ({words('state.only', layers=', '.join(layer for layer in LAYERS if layer not in lacking))})"
            found[case] = f"✓ {name}"
    return found


def shown(book, words):
    """What State says, by case."""
    found = {}
    for kind in ("fn", "fp"):
        sheet = words[f"sheet.{kind}"]
        at, (rows, _) = columns(book, sheet), book.used(sheet)
        state, case = (
            book.values(sheet, f"{at[words[f'column.{key}']]}{FIRST}:{at[words[f'column.{key}']]}{rows}")
            for key in ("state", "case")
        )
        found |= {line[0]: str(text[0]) for line, text in zip(case, state, strict=True)}
    return found


USUAL = {"": CaseState.OPEN, "✓": CaseState.JUDGED, "≡": CaseState.CARRIED, "↔": CaseState.SETTLED}


def differences(shown, run, words):
    """Cases of which State and the re-import say different things.

    Of two linked cases that differ one may stand; corrections that clash are conflicts to the re-import alone.
    """
    states, related = run.account.states, run.book.related
    differ = words("state.contradicts", case="\x00").partition("\x00")[0]
    found = {}
    for case, state in shown.items():
        there = {states[case]}
        wanted = {USUAL.get(state[:1], CaseState.UNUSABLE)}
        if state[:1] in {"✓", "≡"}:
            wanted.add(CaseState.CONFLICT)
        elif state[2:].startswith(differ):
            wanted, there = {CaseState.CONFLICT}, {states[each] for each in (case, *related[case])}
        elif state[2:] == words["state.claims"]:
            wanted = {CaseState.CONFLICT}
        if not wanted & there:
            found[case] = state, states[case], [str(each) for each in run.unusable if each.case == case]
    return found


@pytest.mark.parametrize(("lang", "seed"), [("en", 1), ("de", 2)])
def test_state_says_of_every_row_what_the_one_rule_says_also_after_sorting_and_a_trip_through_ods(
    office, tmp_path, lang, seed
):
    (gold, evaluation), words = made_up(seed), Words(lang)
    facts = {}
    for table in evaluation.case_tables:
        facts |= case_facts(evaluation, table)
    entries = drawn(facts, random.Random(seed))
    path = tmp_path / "review.xlsx"
    path.write_bytes(written(evaluation, Handout(lang=lang, judgements=KNOWN)))
    book = office.open(path)
    for kind in ("fn", "fp"):
        sheet = words[f"sheet.{kind}"]
        at, rows = (
            columns(book, sheet),
            [row for row in case_rows(book, sheet, words["column.case"]).items() if row[0] in entries],
        )
        cells = [(row, entries[case].cells(words)) for case, row in rows]
        book.set_many(sheet, {f"{at[header]}{row}": text for row, own in cells for header, text in own.items() if text})
    wanted = expected(evaluation, facts, entries, lang)
    assert len(wanted) >= 250
    assert {sign for text in wanted.values() if (sign := text[:1])} == set("✓…✗?≡↔")
    first = shown(book, words)
    assert {
        case: (first[case], wanted[case], entries.get(case)) for case in wanted if first[case] != wanted[case]
    } == {}
    (tmp_path / "gold.vrt").write_bytes(gold)
    run = reimport(book.save(tmp_path / "judged.xlsx"), gold=tmp_path / "gold.vrt").runs[0]
    assert differences(first, run, words) == {}
    for kind in ("fn", "fp"):
        sheet = words[f"sheet.{kind}"]
        (rows, last), at = book.used(sheet), columns(book, sheet)
        book.sort(sheet, f"A{FIRST}:{at[words['column.case']]}{rows}", last - 1)
    again = shown(book, words)
    assert list(again) != list(first)
    assert again == first
    there = office.open(book.save(tmp_path / "review.ods"))
    book.close()
    a_cell = f"{columns(there, sheet)[words['column.comment']]}{FIRST}"
    there.enter(sheet, a_cell, "seen")
    assert shown(there, words) == first
    back = reimport(there.save(tmp_path / "again.ods"), gold=tmp_path / "gold.vrt").runs[0]
    assert differences(first, back, words) == {}
    there.close()
