"""State in a real LibreOffice, `status` and the re-import, side by side: one rule says what a row amounts to."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.resources import resource_folder
from clueval_xlsx.review.accounting import CaseState
from clueval_xlsx.review.judgements import JUDGEMENTS, custom_judgements
from clueval_xlsx.review.progress import workbook_progress
from clueval_xlsx.review.reading import read_judgements, read_manifest
from clueval_xlsx.review.sheet_words import SheetWords
from clueval_xlsx.words import Words
from tests.support.commands import run
from tests.support.office import case_rows, columns
from tests.support.workbooks import FIRST, TABS, example, written

pytestmark = pytest.mark.office
MISSED, UNSUPPORTED = TABS["FN"], TABS["FP"]
OWN = custom_judgements(
    {"public": {"effect": "gold_wrong", "en": "Public figure"}, "shift": {"effect": "boundary", "en": "Shifted"}}
)
KNOWN = (*JUDGEMENTS, *OWN)
SIGNS = {
    "✓": CaseState.JUDGED,
    "↔": CaseState.SETTLED,
    "…": CaseState.UNUSABLE,
    "✗": CaseState.UNUSABLE,
    "": CaseState.OPEN,
}
STRANGE = "✗ not in the list"
# What is typed as judgement, correct span, correct label, severity -> what State says.
TYPED = [
    (("1", "", "", ""), "✓ Model is wrong"),
    (("2", "", "", ""), "✓ Should not be marked"),
    (("3", "", "", ""), "… correct span?"),
    (("3", "as the model", "", ""), "✓ Reference too long or short"),
    (("3", " ", "", ""), "… correct span?"),
    (("4", "", "", ""), "… correct label?"),
    (("4", "", "PERSON", "1"), "✓ Reference has wrong label"),
    (("5 Good enough", "", "", "harmless"), "✓ Good enough"),
    (("Nicht zu entscheiden", "", "", ""), "✓ Cannot decide"),
    (("mod", "", "", ""), "✓ Model is wrong"),
    (("MODEL IS  wrong", "", "", "4"), "✓ Model is wrong · severity?"),
    (("7", "", "", ""), "✓ Public figure"),
    (("8", "", "", ""), "… correct span?"),
    (("8", "as the model", "", ""), "✓ Shifted"),
    (("9", "", "", ""), STRANGE),
    (("12", "", "", ""), STRANGE),
    (("1 Good enough", "", "", ""), STRANGE),
    (("?", "", "", ""), STRANGE),
    (("*", "", "", ""), STRANGE),
    (("~", "", "", ""), STRANGE),
    (("x" * 300, "", "", ""), STRANGE),
    (("Reference forgot this", "", "", ""), STRANGE),
    (("", "as the model", "", ""), "… judgement?"),
    (("", "", "PERSON", ""), "… judgement?"),
    (("", "", "", "2"), ""),
    (("\u00a01\u00a0", "", "", ""), "✓ Model is wrong"),
]
# What people paste, or lean on a key for: the same four cells.
ACCIDENTS = [
    (("1\n", "", "", ""), "✓ Model is wrong"),
    (("Model\tis wrong", "", "", ""), "✓ Model is wrong"),
    (("Model is\nwrong", "", "", ""), "✓ Model is wrong"),
    (("\u200b5\ufeff", "", "", ""), "✓ Good enough"),
    (("1 2", "", "", ""), STRANGE),
    (("11", "", "", ""), STRANGE),
    (("0", "", "", ""), STRANGE),
    (("-1", "", "", ""), STRANGE),
    (("1?", "", "", ""), STRANGE),
    (("1*", "", "", ""), STRANGE),
    (("2~", "", "", ""), STRANGE),
    (("1 Good enough", "", "", ""), STRANGE),
    (("1 Model is wrong\n2 Should not be marked", "", "", ""), STRANGE),
    (("=1", "", "", ""), STRANGE),
    (("1" * 300, "", "", ""), STRANGE),
    (("1" * 40_000, "", "", ""), STRANGE),  # more than a cell of a file can hold
    (("3", "\u00a0", "", ""), "… correct span?"),
    (("3", "\u2060\n", "", ""), "… correct span?"),
    (("4", "", "\n", ""), "… correct label?"),
    (("", "1", "", ""), "… judgement?"),  # a block that was pasted one column too far to the right
    (("", "2", "", ""), "… judgement?"),
    (("", "\u00a0", "", ""), ""),
    (("\u00a0", "", "", ""), ""),
]


@pytest.fixture(scope="module")
def opened_book(office, tmp_path_factory):
    """The example, with judgements of a project's own, open in LibreOffice."""
    folder = tmp_path_factory.mktemp("state")
    path = folder / "review.xlsx"
    path.write_bytes(written(example(level="exact"), Handout(judgements=KNOWN)))
    book = office.open(path)
    yield book, folder
    book.close()


def states(book, sheet, lang="en"):
    """What State says, row by row."""
    column, (rows, _) = columns(book, sheet)[Words(lang)["column.state"]], book.used(sheet)
    return [line[0] for line in book.texts(sheet, f"{column}{FIRST}:{column}{rows}")]


def clear(book):
    """Empty what was typed."""
    for sheet in (MISSED, UNSUPPORTED):
        at, (rows, _) = columns(book, sheet), book.used(sheet)
        for header in ("Judgement", "Correct span", "Correct label: category", "Severity"):
            book.set_many(sheet, {f"{at[header]}{row}": "" for row in range(FIRST, rows + 1)})


def test_state_status_and_reimport_agree_on_a_half_broken_workbook(opened_book):
    book, folder = opened_book
    clear(book)
    at = columns(book, MISSED)
    for row, (typed, _) in enumerate(TYPED, FIRST):
        headers = ("Judgement", "Correct span", "Correct label: category", "Severity")
        book.set_many(MISSED, {f"{at[header]}{row}": text for header, text in zip(headers, typed, strict=True)})
    book.put(MISSED, FIRST - 1 + len(TYPED), 3, "number", 1)  # a number, as a pasted cell may hold
    expected = [*(state for _, state in TYPED), "✓ Model is wrong"]
    assert states(book, MISSED)[: len(expected)] == expected

    path = book.save(folder / "half.xlsx")
    account = workbook_progress(path.read_bytes(), "half.xlsx").account.states
    for sheet in (MISSED, UNSUPPORTED):
        shown = dict(zip(case_rows(book, sheet), states(book, sheet), strict=True))
        assert {case: SIGNS[state[:1]] for case, state in shown.items()} == {case: account[case] for case in shown}
        if sheet == MISSED:
            complete = {case for case, state in shown.items() if state.startswith("✓")}
    tables = read_workbook(path.read_bytes(), "half.xlsx").sheets
    manifest = read_manifest(tables, "half.xlsx")
    judged = read_judgements(tables, "half.xlsx", manifest, SheetWords(manifest.layers, KNOWN))
    assert {row.record.case_id for row in judged.rows if row.record.completeness.judged} == complete
    begun = sum(state.startswith(("…", "✗")) for state in expected)
    done = sum(state.startswith(("✓", "↔")) for state in states(book, MISSED))
    assert book.cell(MISSED, "D1")["text"] == f"{done} of 31 done · {begun} to complete"


def test_state_status_and_reimport_agree_on_what_was_typed_or_pasted_by_accident(opened_book):
    book, folder = opened_book
    clear(book)
    at, first = columns(book, MISSED), FIRST + 4
    headers = ("Judgement", "Correct span", "Correct label: category", "Severity")
    book.set_many(MISSED, {f"D{FIRST}": "5", f"D{FIRST + 1}": "12"})
    # Judgement to Comment of two rows, with the IDs hidden among them, pasted over the next two.
    book.copy_range(MISSED, (FIRST - 1, 3, FIRST, list(at).index("Comment")), MISSED, FIRST + 1, 3)
    book.set_many(MISSED, {f"{at['Comment']}{FIRST}": "long " * 8_000})
    for row, (typed, _) in enumerate(ACCIDENTS, first):
        book.set_many(MISSED, {f"{at[header]}{row}": text for header, text in zip(headers, typed, strict=True)})
    shown = states(book, MISSED)
    cases = dict(zip(case_rows(book, MISSED), (SIGNS[state[:1]] for state in shown), strict=True))
    others = dict.fromkeys(case_rows(book, UNSUPPORTED), CaseState.OPEN)
    path = book.save(folder / "accidents.xlsx")
    clear(book)
    book.set_many(MISSED, {f"{at['Comment']}{row}": "" for row in range(FIRST, first)})
    for row, block in enumerate(book.values(MISSED, f"{at['Case ID']}{FIRST}:{at['Case ID']}{first}"), FIRST):
        book.set_many(MISSED, {f"{at['Case ID (again)']}{row}": block[0]})

    expected = ["✓ Good enough", STRANGE] * 2 + [state for _, state in ACCIDENTS]
    assert shown[: len(expected)] == expected
    assert set(shown[len(expected) :]) == {""}
    assert workbook_progress(path.read_bytes(), path.name).account.states == {**cases, **others}
    counts = Counter([*cases.values(), *others.values()])
    (status,) = json.loads(run("status", path, "--json", "-").out)["workbooks"]
    status = status["account"]
    assert (status["judged"], status["unusable"]) == (counts[CaseState.JUDGED], counts[CaseState.UNUSABLE])
    gold = resource_folder("examples") / "gold.vrt"
    done = run("reimport", path, "--gold", gold, "-o", folder / "new.vrt", "--json", folder / "new.json")
    assert done.code == 3
    account = json.loads((folder / "new.json").read_bytes())["runs"][0]["account"]
    assert {state: account[state] for state in CaseState} == {state: counts[state] for state in CaseState}


def test_a_complete_boundary_or_label_settles_the_linked_cases_without_a_judgement(opened_book):
    book, _ = opened_book
    clear(book)
    missed, unsupported = example(level="exact").case_tables
    linked = next(row for row in range(len(missed)) if len(missed["related"][row]) == 1)
    other = missed["related"][linked][0]
    at, rows = columns(book, MISSED), case_rows(book, MISSED)
    row, target = rows[missed["case_id"][linked]], case_rows(book, UNSUPPORTED)[other]

    def there():
        return book.cell(UNSUPPORTED, f"{columns(book, UNSUPPORTED)['State']}{target}")["text"]

    book.enter(MISSED, f"{at['Judgement']}{row}", "3")
    assert there() == ""  # not complete
    book.enter(MISSED, f"{at['Correct span']}{row}", "as the model")
    assert there() == f"↔ settled by FN {linked + 1}"
    assert book.cell(UNSUPPORTED, "D1")["text"].startswith(f"{settled_count(unsupported, missed, linked)} of")
    book.enter(UNSUPPORTED, f"D{target}", "5")
    assert there() == "✓ Good enough"
    book.enter(UNSUPPORTED, f"D{target}", "")
    for typed in ("1", "5", "2"):
        book.enter(MISSED, f"{at['Judgement']}{row}", typed)
        assert there() == "", typed
    book.enter(MISSED, f"{at['Judgement']}{row}", "4")
    book.enter(MISSED, f"{at['Correct label: risk']}{row}", "LOW")
    assert there() == f"↔ settled by FN {linked + 1}"
    book.set_many(MISSED, {f"{at['Correct label: risk']}{row}": ""})


def settled_count(unsupported, missed, linked):
    """How many unsupported cases are linked to a missed one."""
    return sum(missed["case_id"][linked] in related for related in unsupported["related"])


def test_a_block_that_left_its_rows_turns_red_and_a_copied_one_does_not(opened_book):
    book, _ = opened_book
    clear(book)
    block = columns(book, MISSED)["Case ID (again)"]
    first, second = (book.cell(MISSED, f"{block}{row}")["text"] for row in (FIRST, FIRST + 1))
    book.set_many(MISSED, {f"{block}{FIRST}": second, f"{block}{FIRST + 1}": first})
    assert states(book, MISSED)[:3] == ["✗ rows mixed up", "✗ rows mixed up", ""]
    book.set_many(MISSED, {f"{block}{FIRST}": first, f"{block}{FIRST + 1}": first})
    assert states(book, MISSED)[:3] == ["", "", ""]
    book.set_many(MISSED, {f"{block}{FIRST}": first, f"{block}{FIRST + 1}": second})


@pytest.mark.parametrize("lang", ["en", "de"])
def test_digits_mean_the_same_in_every_language(office, tmp_path, lang):
    words, path = Words(lang), tmp_path / "review.xlsx"
    path.write_bytes(written(example(), Handout(lang=lang)))
    book = office.open(path)
    for kind, codes in {
        "fn": ["model_error", "gold_wrong", "", "", "acceptable", "unclear"],
        "fp": ["model_error", "gold_missing", "", "", "acceptable", "unclear"],
    }.items():
        sheet = words[f"sheet.{kind}"]
        for digit, code in enumerate(codes, 1):
            book.enter(sheet, f"D{FIRST}", str(digit))
            state = book.cell(sheet, f"B{FIRST}")["text"]
            assert state == (f"✓ {words[f'judgement.{code}']}" if code else state)
            assert state[0] == ("✓" if code else "…")
    book.close()


def test_stored_states_are_those_that_the_program_calculates(office, tmp_path):
    """LibreOffice shows stored values until something changes: an edit and its undoing must bring the same back."""
    from tests.support.workbooks import answers_for

    evaluation, path = example(level="exact"), tmp_path / "review.xlsx"
    path.write_bytes(written(evaluation, Handout(answers=answers_for(evaluation)[0])))
    book = office.open(path)
    stored = {sheet: states(book, sheet) for sheet in (MISSED, UNSUPPORTED)}
    assert {state[:1] for found in stored.values() for state in found} == {"", "✓", "↔"}
    for sheet in stored:
        at, (rows, _) = columns(book, sheet), book.used(sheet)
        cells = {
            f"{at[header]}{row}": book.cell(sheet, f"{at[header]}{row}")["text"]
            for header in ("Judgement", "Correct span", "Correct label: category")
            for row in range(FIRST, rows + 1)
        }
        book.set_many(sheet, dict.fromkeys(cells, ""))
        book.set_many(sheet, cells)
    assert {sheet: states(book, sheet) for sheet in stored} == stored
    book.close()


def test_an_edit_reaches_state_without_being_asked_to_recalculate(opened_book):
    book, _ = opened_book
    clear(book)
    book.enter(MISSED, f"D{FIRST}", "1")
    assert book.cell(MISSED, f"B{FIRST}")["text"] == "✓ Model is wrong"
