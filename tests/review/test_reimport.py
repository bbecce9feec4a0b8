"""Workbooks brought home: what people do to them, which are refused, several judges, the outputs."""

from __future__ import annotations

import base64
import io
import json
import zlib

import openpyxl
import pytest

from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.formats.registry import ReadOverrides
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.outputs.xlsx.page import write_page
from clueval_xlsx.pages.adjudication import adjudication_page
from clueval_xlsx.review.judgements import REPORT_SHEET, Judgement
from clueval_xlsx.review.progress import workbook_progress
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.words import Words
from tests.support.commands import refused, run
from tests.support.judging import case, decide, judged, records, spans, workbook
from tests.support.tables import cut
from tests.support.workbooks import TABS

TABLE = """
    token       gold   pred
    <s>
    Herr        B-PER  O
    Dietmar     I-PER  B-PER
    Kolbe       I-PER  I-PER
    und         O      O
    Marlene     B-PER  B-PER
    Osterhagen  O      I-PER
    </s>
    <s>
    Die         O      O
    Kammer      B-ORG  O
    traf        O      O
    Bert        O      B-PER
    </s>
"""


def gold(table: str = TABLE, name: str = "gold.vrt") -> io.BytesIO:
    stream = io.BytesIO(cut(table).gold)
    stream.name = name
    return stream


@pytest.fixture(scope="module")
def evaluation():
    return judged(TABLE)


@pytest.fixture(scope="module")
def answers(evaluation):
    return {
        case(evaluation, "FN", "Kammer"): Judgement("gold_wrong", severity="harmless", comment="Gericht"),
        case(evaluation, "FN", "Herr Dietmar Kolbe"): Judgement("boundary", "as_model"),
        case(evaluation, "FP", "Bert"): Judgement("gold_missing"),
        case(evaluation, "FP", "Marlene Osterhagen"): Judgement("boundary", "Marlene Osterhagen"),
    }


CORRECTED = [("Dietmar Kolbe", "PER"), ("Marlene Osterhagen", "PER"), ("Bert", "PER")]


def edited(stream: io.BytesIO, edit) -> io.BytesIO:
    """The workbook after somebody did something to it."""
    book = openpyxl.load_workbook(stream)
    edit(book)
    out = io.BytesIO()
    book.save(out)
    out.seek(0)
    out.name = stream.name
    return out


def test_the_report_of_a_reimport_is_refused_as_a_judged_workbook(evaluation, answers):
    report = io.BytesIO()
    page = adjudication_page(decide(evaluation, answers), Words("en"))
    write_page(page, report, figures=REPORT_SHEET)
    report.name = "adjudicated.xlsx"
    report.seek(0)
    with pytest.raises(InputError, match=r"adjudicated\.xlsx: is the report of a re-import"):
        reimport([workbook(evaluation, answers), report], gold())
    with pytest.raises(InputError, match="is the report of a re-import"):
        workbook_progress(report.getvalue(), report.name)


def columns(sheet) -> dict[str, int]:
    header = next(row for row in sheet.iter_rows() if any(cell.value == "Judgement" for cell in row))
    return {cell.value: cell.column for cell in header} | {"row": header[0].row}


def the_sheets(book):
    return [book[TABS["FN"]], book[TABS["FP"]]]


# -- forgiving ------------------------------------------------------------------------------------------------------


def lose_the_hidden_sheets(book):
    for name in ("clueval_manifest", "clueval_lists", "Guide", "Metrics"):
        book.remove(book[name])


def test_a_sheet_moved_to_a_new_workbook_needs_another_manifest_or_the_prediction(evaluation, answers):
    moved = edited(workbook(evaluation, answers, "moved.xlsx"), lose_the_hidden_sheets)
    with pytest.raises(InputError, match=r"moved\.xlsx.*--pred"):
        reimport([moved], gold())
    moved.seek(0)
    assert spans(reimport([moved, workbook(evaluation)], gold()).runs[0]) == CORRECTED
    moved.seek(0)
    pred = io.BytesIO(cut(TABLE).pred)
    pred.name = "pred.vrt"
    how = ReadOverrides(ReadOptions(layers={"span": 2}, format="vrt"), frozenset({"layers", "format"}))
    result = reimport([moved], gold(), pred=pred, overrides=how, options=evaluation.options)
    assert spans(result.runs[0]) == CORRECTED


# -- strict ---------------------------------------------------------------------------------------------------------


def sort_the_block_alone(book):
    sheet = book[TABS["FN"]]
    place = columns(sheet)
    first, last = place["Judgement"], place["Comment"]
    rows = range(place["row"] + 1, place["row"] + 3)
    values = [[sheet.cell(row, column).value for column in range(first, last + 1)] for row in rows]
    for row, line in zip(rows, reversed(values), strict=True):
        for column, value in zip(range(first, last + 1), line, strict=True):
            sheet.cell(row, column).value = value


def test_a_block_sorted_alone_is_held_back_until_somebody_says_which_id_counts(evaluation, answers):
    moved = edited(workbook(evaluation, answers), sort_the_block_alone)
    result = reimport([moved], gold())
    assert [problem.reason for problem in result.problems] == ["ids_differ"] * 2
    assert all("review.xlsx!Missed (FN)!" in problem.where for problem in result.problems)
    assert spans(result.runs[0]) == [
        ("Herr Dietmar Kolbe", "PER"),
        ("Marlene Osterhagen", "PER"),
        ("Kammer", "ORG"),
        ("Bert", "PER"),
    ]
    moved.seek(0)
    assert spans(reimport([moved], gold(), trust_id="block").runs[0]) == CORRECTED
    moved.seek(0)
    wrong = reimport([moved], gold(), trust_id="row").runs[0]
    assert ("Herr Dietmar Kolbe", "PER") not in spans(wrong)
    assert ("Kammer", "ORG") in spans(wrong)


def test_unusable_rows_name_file_sheet_and_cell_and_the_good_ones_count(evaluation, answers):
    bad = dict(answers)
    bad[case(evaluation, "FN", "Kammer")] = Judgement("nonsense")
    bad[case(evaluation, "FP", "Bert")] = Judgement("", "as_model")
    result = reimport([workbook(evaluation, bad)], gold())
    assert [problem.where.split("!")[:2] for problem in result.problems] == [
        ["review.xlsx", TABS["FN"]],
        ["review.xlsx", TABS["FP"]],
    ]
    assert "Allowed: 1 Model is wrong, 2 Should not be marked" in str(result.problems[0])
    assert [problem.reason for problem in result.problems] == ["no_judgement", "correction_alone"]
    assert result.needs_a_person
    assert ("Dietmar Kolbe", "PER") in spans(result.runs[0])


def test_the_same_case_twice_counts_once_if_identical_and_is_a_conflict_if_not(evaluation, answers):
    def differ(book):
        sheet = book[TABS["FN"]]
        sheet.append([cell.value for cell in sheet[columns(sheet)["row"] + 1]])
        sheet.cell(sheet.max_row, columns(sheet)["Judgement"], "Model is wrong")
        sheet.cell(sheet.max_row, columns(sheet)["Correct span"]).value = None

    result = reimport([edited(workbook(evaluation, answers), differ)], gold())
    (conflict,) = result.runs[0].conflicts
    assert conflict.kind == "twice"
    assert len(conflict.places) == 2
    assert result.needs_a_person


def says(**changes):
    """A manifest that says something else: values are replaced, objects added to."""

    def edit(book):
        sheet = book["clueval_manifest"]
        head, _, packed = "".join(str(row[0]) for row in sheet.iter_rows(values_only=True)).rpartition(":")
        manifest = json.loads(zlib.decompress(base64.b64decode(packed)))
        for key, value in changes.items():
            manifest[key] = {**manifest[key], **value} if isinstance(value, dict) else value
        sheet.delete_rows(1, sheet.max_row)
        sheet.cell(1, 1, f"{head}:{base64.b64encode(zlib.compress(json.dumps(manifest).encode())).decode()}")

    return edit


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda book: [book.remove(sheet) for sheet in the_sheets(book)], "no sheet with cases"),
        (
            lambda book: book["clueval_manifest"].cell(
                1, 1, book["clueval_manifest"]["A1"].value.replace(":2:", ":99:", 1)
            ),
            "form 99, which clueval-xlsx .* reads",
        ),
        (lambda book: book["clueval_manifest"].cell(1, 1, "{broken"), "form 1, which"),
        (says(settings={"level": "exakt"}), "damaged: settings.level is of the wrong kind|damaged: .*exakt"),
        (says(settings={"beta": "two"}), "damaged: settings.beta is 'two'. Allowed: float"),
        (says(settings={"replicates": 10**12}), "damaged: .*replicates"),
        (says(settings={"labels": {"map": [["A"]]}}), "labels.map is .*Allowed: object"),
        (says(settings={"labels": {"left_out": [99]}}), "document 99 was left out, but there are only"),
        (says(reading={"gold": {"token_id": [4]}}), "token_id is of the wrong kind. Allowed: int . null"),
        (says(reading={"gold": {"layers": {"category": -2}}}), "damaged: reading.*layers.*Expected"),
        (says(gold={"sha256": 5}), "damaged: gold.sha256 is 5. Allowed: str"),
        (says(reading={"gold": {"layers": {"category": 1}}}), "cannot be read as the manifest says.*is no BIO tag"),
        (says(layers="category"), "damaged: layers is 'category'. Allowed: array"),
        (says(judgements=[{"code": "x", "effect": "eat"}]), "effect is 'eat'. Allowed: none, delete, add"),
        (says(judgements=[{"code": "label", "effect": "add"}]), "means add here and label"),
        (says(predictions={"category": {"start": [3], "end": [2], "labels": {}}}), "spans overlap or are not sorted"),
        (says(tokens=3), "tokens as it is read now, but the run had 3"),
        (says(layers=["nobody"]), "has no layer nobody, which the run was about"),
    ],
)  # fmt: skip
def test_workbooks_that_cannot_be_understood_are_refused_by_name(evaluation, answers, edit, words):
    with pytest.raises(InputError, match=rf"(?s)review\.xlsx.*{words}"):
        reimport([edited(workbook(evaluation, answers), edit)], gold())


def test_a_workbook_of_another_gold_file_is_refused_by_name(evaluation, answers):
    other = TABLE.replace("Osterhagen  O    ", "Osterhagen  B-ORG")
    carry_over = r"--gold OLD --judgements log\.jsonl.*evaluate NEW PRED --previous log\.jsonl"
    with pytest.raises(InputError, match=rf"review\.xlsx: belongs to another gold file.*gold\.vrt.*{carry_over}"):
        reimport([workbook(evaluation, answers)], gold(other))


def test_a_workbook_already_applied_is_refused_as_such(evaluation, answers):
    some = {case_id: answer for case_id, answer in answers.items() if answer.code != "boundary"}
    done = reimport([workbook(evaluation, some)], gold())
    corrected = io.BytesIO(done.content)
    corrected.name = "corrected.vrt"
    with pytest.raises(InputError, match="already applied"):
        reimport([workbook(evaluation, some)], corrected)


# -- several judges ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "mode", "outcome"),
    [
        (["gold_wrong", "model_error"], "majority", None),
        (["gold_wrong", "gold_wrong", "model_error"], "majority", "delete"),
        (["gold_wrong", "gold_wrong", "model_error"], "unanimous", None),
        (["gold_wrong", "model_error"], "Ben", "none"),
        (["gold_wrong", "unclear"], "majority", "delete"),
        (["gold_wrong", "unclear", "unclear"], "majority", "open"),
        (["gold_wrong", "unclear"], "unanimous", None),
        (["unclear", "unclear"], "majority", "open"),
        (["gold_wrong", "model_error", "acceptable"], "majority", None),
    ],
)
def test_judgements_are_resolved_as_asked(evaluation, answers, mode, outcome):
    kammer = case(evaluation, "FN", "Kammer")
    books = [
        records({kammer: Judgement(code)}, name) for code, name in zip(answers, ("Anna", "Ben", "Cem"), strict=False)
    ]
    result = decide(evaluation, *books, mode=mode)
    decision = result.resolutions[kammer].decision
    assert (decision.effect if decision else None) == outcome
    assert (kammer in result.cases_in_conflict) == (outcome is None)


def test_the_name_on_the_guide_counts_before_the_manifest_and_the_file(evaluation, answers):
    def sign(book):
        sheet = book["Guide"]
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value == "Your name (please fill in)":
                    sheet.cell(cell.row, cell.column + 1, " Dr.  Cara Muster ")
                    return

    assert (
        reimport([edited(workbook(evaluation, answers), sign)], gold()).runs[0].workbooks[0].judge == "Dr. Cara Muster"
    )
    named = reimport([workbook(evaluation, answers, judge="Anna")], gold())
    assert named.runs[0].workbooks[0].judge == "Anna"
    assert reimport([workbook(evaluation, answers)], gold()).runs[0].workbooks[0].judge == "review"


# -- figures --------------------------------------------------------------------------------------------------------


# -- the command ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def evaluated_example(sides):
    return evaluate(read_pair(*sides, ReadOptions(layers={"category": 2, "risk": 3}, token_id=4)))


@pytest.fixture
def example(evaluated_example, sides, tmp_path):
    return evaluated_example, sides[0], tmp_path


def test_the_command_writes_every_output(example):
    evaluation, gold_path, folder = example
    given = {
        case(evaluation, "FN", "4. Kammer"): Judgement("gold_wrong", comment="court"),
        case(evaluation, "FP", "Bertram Kiesling"): Judgement("gold_missing"),
    }
    (folder / "anna.xlsx").write_bytes(workbook(evaluation, given, judge="Anna").getvalue())
    names = {"-o": "c.vrt", "--report": "r.xlsx", "--json": "j.json", "--changes": "c.tsv", "--judgements": "l.jsonl"}
    arguments = [part for option, name in names.items() for part in (option, folder / name)]
    result = run("reimport", folder / "anna.xlsx", "--gold", gold_path, *arguments)
    assert result.code == 0, result.err
    assert "after correction" in result.out
    before, after = gold_path.read_bytes().splitlines(), (folder / "c.vrt").read_bytes().splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 4
    assert all(old.split(b"\t")[0::3] == new.split(b"\t")[0::3] for old, new in changed)
    log = [json.loads(line) for line in (folder / "l.jsonl").read_text("utf-8").splitlines()]
    assert [(line["who"], line["outcome"], line["workbook"]) for line in log] == [("Anna", "applied", "anna.xlsx")] * 2
    content = json.loads((folder / "j.json").read_text("utf-8"))["runs"][0]
    assert [state["state"] for state in content["scores"]] == ["raw", "corrected", "accepted", "forgiven"]
    assert all(state["interval"] for state in content["scores"])
    assert len((folder / "c.tsv").read_text("utf-8").splitlines()) == 3
    book = openpyxl.load_workbook(folder / "r.xlsx")
    assert book.sheetnames == [
        "Summary",
        "Changes",
        "Conflicts",
        "Agreement",
        "Unusable rows",
        "clueval_report",
    ]

    again = run("reimport", folder / "anna.xlsx", "--gold", gold_path, "--judgements", folder / "l.jsonl")
    assert again.code == 0
    assert len((folder / "l.jsonl").read_text("utf-8").splitlines()) == 2  # nothing new to say


def test_bad_input_exits_2_and_writes_nothing(example):
    evaluation, gold_path, folder = example
    (folder / "anna.xlsx").write_bytes(workbook(evaluation).getvalue())
    other = folder / "other.vrt"
    other.write_bytes(gold_path.read_bytes().replace(b"B-PERSON\tB-HIGH", b"O\tO", 1))
    refused(
        run("reimport", folder / "anna.xlsx", "--gold", other, "-o", folder / "c.vrt"), "anna.xlsx", "another gold file"
    )
    other.write_bytes(b"one column only\n")
    refused(run("reimport", folder / "anna.xlsx", "--gold", other), "anna.xlsx", "another gold file", "other.vrt")
    refused(run("reimport", folder / "none.xlsx", "--gold", gold_path, "-o", folder / "c.vrt"), "none.xlsx")
    done = run("reimport", folder / "anna.xlsx", "--gold", gold_path, "-o", folder / "anna.xlsx")
    refused(done, "is an input of this run")
    assert not (folder / "c.vrt").exists()
