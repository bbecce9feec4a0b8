"""No output of any command replaces what somebody judged, or what nobody can look into, unless --force is said."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.files.workbooks import encrypt
from clueval_xlsx.review.progress import why_not_overwrite
from tests.support.ci import some_of
from tests.support.commands import run
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
        "judged": (judged, "been filled in"),
        "judged, hidden sheets deleted": (edited(judged, without_own_sheets), "been filled in"),
        "stray far cell": (edited(fresh, stray), "cannot be read"),
        "cut off": (judged[: len(judged) * 2 // 3], "cannot be read"),
        "cut off at the very end": (judged[:-10], "cannot be read"),
        "protected .xlsx": (encrypt(judged, "apfel"), "protected by a password"),
        "protected .ods": (ods(protected=True), "protected by a password"),
        "old .xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(5000), "cannot be read"),
        "renamed Judgement": (edited(judged, rename("Judgement", "Judgment")), "been filled in"),
        "renamed Comment": (edited(judged, rename("Comment", "Remarks")), "been filled in"),
        "rows cut to a new sheet": (edited(judged, cut_to_a_new_sheet), "been filled in"),
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
    assert ".)." not in done.err
    assert word in done.err or "cannot be read" in done.err  # a workbook is no log that could be continued
    assert target.read_bytes() == data
    assert {path.name for path in tmp_path.iterdir()} <= {target.name, f"{target.name}.progress.jsonl"}
    if how != "reimport --judgements":
        done = run(*arguments, "--force", *(["--resume"] if how == "predict" else []))
        assert done.code in {0, 3}, done.err
        assert target.read_bytes() != data


def test_a_workbook_that_is_judged_while_a_run_lasts_is_spared_too(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "review.xlsx"
    shutil.copy(home / "demo" / "review.xlsx", target)
    judged = (home / "judged.xlsx").read_bytes()

    def write() -> None:
        with Outputs(guard=why_not_overwrite) as outputs:
            outputs.write_text(target, "new")
            target.write_bytes(judged)

    with pytest.raises(OutputError, match="been filled in"):
        write()
    assert target.read_bytes() == judged
    assert [path.name for path in tmp_path.iterdir()] == ["review.xlsx"]
