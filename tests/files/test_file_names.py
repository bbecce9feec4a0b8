"""Any name: people's, layers' and documents' names become files that every system takes, each its own."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from pathlib import Path, PureWindowsPath

import pytest

from clueval_xlsx.files.names import document_path, file_name_part
from tests.support.commands import EXAMPLE_OPTIONS, run


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_with_spaces_umlauts_and_emoji(form: str, home: Path) -> None:
    folder = home / unicodedata.normalize(form, "Fälle  für Özlem 🟧")
    folder.mkdir()
    gold = folder / unicodedata.normalize(form, "göld é 1.vrt")
    shutil.copy(home / "gold.vrt", gold)
    book = folder / unicodedata.normalize(form, "Prüfung ✔.xlsx")
    assert run("evaluate", gold, home / "pred.vrt", *EXAMPLE_OPTIONS, "-o", book).code == 0
    done = run("reimport", book, "--gold", gold, "-o", folder / "back ü.vrt")
    assert done.code == 0, done.err
    assert (folder / "back ü.vrt").read_bytes() == gold.read_bytes()


def test_people_s_names_become_file_names_that_windows_takes(home: Path) -> None:
    people = "Dr. Özgür Łoś,a/b,c:d,CON,e.,f\\g,<h>|i?"
    done = run(
        "evaluate",
        home / "gold.vrt",
        home / "pred.vrt",
        *EXAMPLE_OPTIONS,
        "-o",
        home / "r.xlsx",
        "--judges",
        people,
    )
    assert done.code == 0, done.err
    books = sorted(home.glob("r-*.xlsx"))
    assert len(books) == 7
    assert all(fit_for_windows(path.name) for path in books)
    done = run("status", *books, "--json", "-")
    judges = {each["judge"] for each in json.loads(done.out)["workbooks"]}
    assert judges == set(people.split(","))  # only the files' names are changed


def test_two_people_whose_files_would_be_one_are_refused(home: Path) -> None:
    done = run(
        *("evaluate", home / "gold.vrt", home / "pred.vrt", *EXAMPLE_OPTIONS),
        *("-o", home / "r.xlsx", "--judges", "a/b,a_b"),
    )
    assert done.code == 2
    assert "would share the file r-a_b.xlsx" in done.err


def fit_for_windows(path: str) -> bool:
    """Whether Windows takes a path: no character or device of its own, no part that ends in a dot or a space."""
    found = PureWindowsPath(path)
    devices = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
    return (
        not found.is_absolute()
        and not found.drive
        and not re.search(r'[<>:"|?*\x00-\x1f\\]', path)
        and not any(part[-1] in ". " or devices.match(part) for part in found.parts)
    )


@pytest.mark.parametrize(
    "doc_id", ["CON", "nul.txt", "a/con/b", "LPT1.x", "a. /b", "a./b", "../../etc", "C:x", "a\\b", "x?", "é\n", "Com1 "]
)
def test_document_ids_become_paths_that_windows_takes_and_that_stay_in_their_folder(doc_id: str) -> None:
    path = f"{document_path(doc_id)}.txt"
    assert fit_for_windows(path), path
    assert ".." not in PureWindowsPath(path).parts
    assert fit_for_windows(f"{file_name_part(doc_id)}.xlsx")
