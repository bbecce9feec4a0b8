"""No output of any command replaces what somebody judged, or what nobody can look into, unless --force is said."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.encryption import encrypt
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.review.existing_judgements import why_not_overwrite
from clueval_xlsx.review.judgements import Judgement
from tests.support.ci import some_of
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.workbooks import example, opened, written
from tests.support.writing import WRITING, make_home

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("home"))


def edited(data: bytes, edit: Callable[[openpyxl.Workbook], None]) -> bytes:
    book = openpyxl.load_workbook(io.BytesIO(data))
    edit(book)
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def rename(old: str, new: str) -> Callable[[openpyxl.Workbook], None]:
    def edit(book: openpyxl.Workbook) -> None:
        for sheet in book.worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.value == old:
                        cell.value = new

    return edit


def without_own_sheets(book: openpyxl.Workbook) -> None:
    for name in [name for name in book.sheetnames if name.startswith("clueval_")]:
        del book[name]


def stray(book: openpyxl.Workbook) -> None:
    book.worksheets[1]["XFD1048576"] = "x"


def cut_to_a_new_sheet(book: openpyxl.Workbook) -> None:
    """All rows of cases, without their headers, on a sheet of their own; the old sheets go."""
    rows = [
        [cell.value for cell in row]
        for sheet in book.worksheets
        for row in sheet.iter_rows()
        if any(isinstance(cell.value, str) and cell.value[:3] in {"FN-", "FP-"} for cell in row)
    ]
    sheet = book.create_sheet("Judged")
    for row in rows:
        sheet.append(row)
    for name in book.sheetnames:
        if name not in {"Judged", "clueval_manifest", "clueval_lists", "clueval_figures"}:
            del book[name]


def ods(*, protected: bool = False) -> bytes:
    """An OpenDocument; a protected one keeps its content encrypted and says so in its list of parts."""
    buffer = io.BytesIO()
    namespace = 'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
    secret = '<manifest:encryption-data manifest:checksum="x"/>' if protected else ""
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", bytes(range(256)) if protected else "<x/>")
        entry = f'<manifest:file-entry manifest:full-path="content.xml">{secret}</manifest:file-entry>'
        archive.writestr("META-INF/manifest.xml", f"<manifest:manifest {namespace}>{entry}</manifest:manifest>")
    return buffer.getvalue()


def victims(home: Path) -> dict[str, tuple[bytes, str]]:
    """Workbooks that must stay, and a word of the reason."""
    judged, fresh = (home / "judged.xlsx").read_bytes(), (home / "demo" / "review.xlsx").read_bytes()
    return {
        "judged": (judged, "rows have been judged"),
        "judged, hidden sheets deleted": (edited(judged, without_own_sheets), "rows have been judged"),
        "stray far cell": (edited(fresh, stray), "cannot be read"),
        "cut off": (judged[: len(judged) * 2 // 3], "cannot be read"),
        "cut off at the very end": (judged[:-10], "cannot be read"),
        "protected .xlsx": (encrypt(judged, "apfel"), "protected by a password"),
        "protected .ods": (ods(protected=True), "protected by a password"),
        "old .xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000), "cannot be read"),
        "renamed Judgement": (edited(judged, rename("Judgement", "Judgment")), "been judged"),
        "renamed Comment": (edited(judged, rename("Comment", "Remarks")), "been judged"),
        "rows cut to a new sheet": (edited(judged, cut_to_a_new_sheet), "been judged"),
    }


VICTIMS = (
    "judged", "judged, hidden sheets deleted", "stray far cell", "cut off", "cut off at the very end",
    "protected .xlsx", "protected .ods", "old .xls", "renamed Judgement", "renamed Comment", "rows cut to a new sheet",
)  # fmt: skip


@pytest.fixture(scope="module")
def kept(home: Path) -> dict[str, tuple[bytes, str]]:
    return victims(home)


@pytest.mark.parametrize("name", VICTIMS)
def test_what_may_hold_judgements_is_told_from_what_does_not(name: str, kept: dict[str, tuple[bytes, str]]) -> None:
    data, word = kept[name]
    assert word in why_not_overwrite(data, "review.xlsx")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("how", "name"),
    [
        *((how, "judged") for how in WRITING),
        *some_of(((how, "cut off") for how in WRITING if WRITING[how].ending == ".xlsx"), 3),
    ],
)
def test_no_command_overwrites_a_judged_workbook_without_force(
    how: str, name: str, home: Path, kept: dict[str, tuple[bytes, str]], tmp_path: Path
) -> None:
    data, word = kept[name]
    target = tmp_path / f"target{WRITING[how].ending}"
    target.write_bytes(data)
    arguments = WRITING[how].arguments(home, target)
    done = run(*arguments)
    assert done.code == 2, done.err
    assert word in done.err or "cannot be read" in done.err  # a workbook is no log that could be continued
    assert target.read_bytes() == data
    assert {path.name for path in tmp_path.iterdir()} <= {target.name, f"{target.name}.progress.jsonl"}
    if how != "reimport --judgements":
        done = run(*arguments, "--force", *(["--resume"] if how == "predict" else []))
        assert done.code in {0, 3}, done.err
        assert target.read_bytes() != data


def test_a_conflict_workbook_that_the_third_person_judged_is_not_overwritten(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.xlsx"

    target = tmp_path / "second.xlsx"
    judged = shutil.copy(home / "judged.xlsx", tmp_path / "anna.xlsx")
    ben = edited((home / "judged.xlsx").read_bytes(), rename("Anna Beispiel", "Ben"))
    other.write_bytes(other_opinion(ben))
    command = ("reimport", judged, other, "--gold", home / "gold.vrt", "--conflicts", target)
    assert run(*command).code == 3
    assert target.is_file()
    assert run(*command).code == 3  # nobody has judged in it yet
    target.write_bytes(edited(target.read_bytes(), judge_one))
    before = target.read_bytes()
    done = run(*command)
    assert done.code == 2, done.err
    assert "1 row has been judged" in done.err
    assert target.read_bytes() == before


def judge_one(book: openpyxl.Workbook) -> None:
    """The third person's first judgement."""
    for sheet in book.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value == "Judgement" and any(other.value == "Severity" for other in row):
                    sheet.cell(cell.row + 1, cell.column).value = "unclear"
                    return
    raise AssertionError("there is no review sheet")


def other_opinion(data: bytes) -> bytes:
    """The same workbook with every judgement turned into another."""

    def edit(book: openpyxl.Workbook) -> None:
        for sheet in book.worksheets:
            column = None
            for row in sheet.iter_rows():
                for cell in row:
                    if cell.value == "Judgement" and any(other.value == "Severity" for other in row):
                        column = cell.column
                if (
                    column
                    and row[0].row > 1
                    and (cell := sheet.cell(row[0].row, column)).value not in {None, "Judgement"}
                ):
                    cell.value = "acceptable"

    return edited(data, edit)


@pytest.mark.parametrize(
    "content",
    [b"", b"no workbook", "unjudged", "report", "comparison", "a table of spans", "a letter"],
)
def test_what_is_plainly_nobody_s_work_is_overwritten_like_any_output(
    content: str | bytes, home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.xlsx"
    if isinstance(content, bytes):
        target.write_bytes(content)
    elif content == "unjudged":
        shutil.copy(home / "demo" / "review.xlsx", target)
    elif content == "report":
        shutil.copy(home / "demo" / "adjudicated.xlsx", target)
    elif content == "a letter":
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr("word/document.xml", "<w/>")
    else:
        how = {"comparison": "compare", "a table of spans": "convert to .xlsx"}[content]
        assert run(*WRITING[how].arguments(home, target)).code == 0
    before = target.read_bytes()
    done = run(*WRITING["evaluate"].arguments(home, target))
    assert done.code == 0, done.err
    assert target.read_bytes() != before


def test_a_report_is_written_again_over_the_old_one(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.xlsx"
    for _ in range(2):
        assert run(*WRITING["reimport --report"].arguments(home, target)).code in {0, 3}


def test_a_workbook_that_is_judged_while_a_run_lasts_is_spared_too(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "review.xlsx"
    shutil.copy(home / "demo" / "review.xlsx", target)
    judged = (home / "judged.xlsx").read_bytes()

    def write() -> None:
        with Outputs(guard=why_not_overwrite) as outputs:
            outputs.write_text(target, "new")
            target.write_bytes(judged)

    with pytest.raises(OutputError, match="rows have been judged"):
        write()
    assert target.read_bytes() == judged
    assert [path.name for path in tmp_path.iterdir()] == ["review.xlsx"]


def test_a_file_that_may_not_be_looked_into_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "review.xlsx"
    target.write_bytes(b"secret")

    def read_bytes(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", read_bytes)
        with pytest.raises(OutputError, match="cannot be looked into"), Outputs(guard=why_not_overwrite) as outputs:
            outputs.write_text(target, "new")
    assert target.read_bytes() == b"secret"


def _judged(target, examples, column_name="Judgement"):
    """A workbook in which somebody has filled in one cell, as a spreadsheet program would save it."""
    case = example().case_tables[0]["case_id"].iloc[0]
    fields = {"Judgement": {"code": "unclear"}, "Comment": {"comment": "hm"}}[column_name]
    target.write_bytes(written(example(), Handout(lang="de", answers={case: Judgement(**fields)})))
    return (
        "evaluate",
        examples / "gold.vrt",
        examples / "pred.vrt",
        *EXAMPLE_OPTIONS,
        "--set",
        "score.replicates=0",
        "-o",
        target,
    )


@pytest.mark.parametrize("column_name", ["Judgement", "Comment"])
def test_a_judged_workbook_is_not_overwritten(tmp_path, examples, column_name):
    target = tmp_path / "review.xlsx"
    command = _judged(target, examples, column_name)
    before = target.read_bytes()
    refused(run(*command), "review.xlsx", "1 row", "--force", "another name")
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]
    assert run(*command, "--force").code == 0
    assert target.read_bytes() != before


def test_nothing_is_written_when_one_of_several_workbooks_is_judged(tmp_path, examples):
    command = _judged(tmp_path / "review-risk.xlsx", examples)
    refused(run(*command[:-1], tmp_path / "review.xlsx", "--no-merge", "--json", tmp_path / "m.json"), "review-risk")
    assert [path.name for path in tmp_path.iterdir()] == ["review-risk.xlsx"]


@pytest.mark.parametrize("content", [b"", b"no workbook", "unjudged"])
def test_other_files_are_overwritten_like_any_output(tmp_path, examples, content):
    target = tmp_path / "review.xlsx"
    command = _judged(target, examples)
    target.write_bytes(written(example()) if content == "unjudged" else content)
    assert run(*command).code == 0
    assert opened(target).sheetnames[0] == "Guide"


def test_a_workbook_under_a_password_is_not_overwritten(tmp_path, examples):
    import msoffcrypto.format.ooxml

    target = tmp_path / "review.xlsx"
    command = _judged(target, examples)
    encrypted = BytesIO()
    msoffcrypto.format.ooxml.OOXMLFile(BytesIO(target.read_bytes())).encrypt("secret", encrypted)
    target.write_bytes(encrypted.getvalue())
    refused(run(*command), "password", "--force")
    assert run(*command, "--force").code == 0
