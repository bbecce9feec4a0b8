"""Gates: a run that stays under what was wanted ends with exit code 4, and says what it wanted and got."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalker

from tests.support.commands import refused, run

# Two of three gold spans are found: recall 2/3; PER 1/2, LOC 1.
GOLD = "a\tB-PER\nb\tO\nc\tB-PER\nd\tO\ne\tB-LOC\n"
PRED = "a\tB-PER\nb\tO\nc\tO\nd\tO\ne\tB-LOC\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, pred = tmp_path / "gold.vrt", tmp_path / "pred.vrt"
    gold.write_text(GOLD, "utf-8")
    pred.write_text(PRED, "utf-8")
    return gold, pred


# ---- baseline ----------------------------------------------------------------------------------------------------


@pytest.fixture
def baseline(files: tuple[Path, Path], tmp_path: Path) -> Path:
    """The metrics of gold against itself: every rate is 1."""
    target = tmp_path / "baseline.json"
    assert run("score", files[0], files[0], "--json", target).code == 0
    return target


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"recall": 1.0', '"recall": "1.0"', "scores[0].recall: expected `float | null`, got `str`"),
        ('"recall": 1.0', '"recall": NaN', "scores[0].recall: expected `float` >= 0"),
        ('"recall": 1.0', '"recall": 1e999', "scores[0].recall: expected `float` <= 1"),
        ('"recall": 1.0', '"recall": -0.1', "scores[0].recall: expected `float` >= 0"),
        ('"recall": 1.0, ', "", "scores[0]: object missing required field `recall`"),
        ('"interval": null', '"interval": {"recall": [0.5]}', "scores[0].interval[...]: expected `array` of length 2"),
        ('"scores": [', '"scores": 3, "others": [', "scores: expected `array`, got `int`"),
        ('"signature": "', '"signature": null, "other": "', "signature: expected `str`, got `null`"),
    ],
)
def test_a_damaged_baseline_is_refused_with_the_place(
    files: tuple[Path, Path], baseline: Path, old: str, new: str, said: str
) -> None:
    head, rows, tail = baseline.read_text("utf-8").partition('"scores": [')
    text = head + (rows + tail).replace(old, new, 1) if old in rows + tail else head.replace(old, new, 1) + rows + tail
    baseline.write_text(text, "utf-8")
    done = run("score", *files, "--baseline", baseline, "--max-drop", "recall=1pp")
    refused(done, f"baseline.json: {said}", "Write the baseline anew")


# ---- forms and places of outputs ---------------------------------------------------------------------------------


def test_markdown_and_latex_tables_have_as_many_cells_in_every_row(files: tuple[Path, Path], write) -> None:
    gold = write("g.vrt", GOLD.replace("PER", "P|E&R_%#$~^{}\\`*"))
    tables = run("score", gold, gold, "--as", "markdown").out
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in tables.splitlines() if line.startswith("|")}
    assert cells == {10}
    latex = run("score", gold, gold, "--as", "latex").out
    walker = LatexWalker(latex, tolerant_parsing=False)
    nodes, _, length = walker.get_latex_nodes()
    assert length == len(latex)
    floats = [node for node in nodes if getattr(node, "environmentname", "") == "table"]
    assert len(floats) == 2
    rows = [line for line in latex.splitlines() if line.endswith(r" \\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {8}


LATEX_LABELS = {
    "[NAME]": "{}[NAME]",  # after the end of a row it would be a distance,
    "*x": "{}*x",  # and this a part of the command
    "A|": r"A\textbar{}",
    "é<ß>": r"é\textless{}ß\textgreater{}",
    '"a': r"{\ttfamily\char34}a",
    "?`b`": r"?\`{}b\`{}",
    "c--d---e": "c-{}-d-{}-{}-e",
    "f''g,,h": "f'{}'g,{},h",
    "i–-j": "i--{}-j",
}


def test_every_label_is_printed_by_latex_as_it_is(write) -> None:
    gold = write("g.vrt", "".join(f"w\tB-{label}\n" for label in LATEX_LABELS))
    latex = run("score", gold, gold, "--as", "latex").out
    rows = {line.partition(" & ")[0] for line in latex.splitlines() if line.endswith(r" \\")}
    assert set(LATEX_LABELS.values()) <= rows
    nodes, _, length = LatexWalker(latex, tolerant_parsing=False).get_latex_nodes()
    assert length == len(latex)
    text = LatexNodes2Text().nodelist_to_text(nodes)
    for label in ("[NAME]", "*x"):  # the end of a row has swallowed neither
        assert label in text
