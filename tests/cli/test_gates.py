"""Gates: a run that stays under what was wanted ends with exit code 4, and says what it wanted and got."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalker

from tests.support.commands import refused, run

# Two of three gold spans are found: recall 2/3; PER 1/2, LOC 1.
GOLD = "a\tB-PER\nb\tO\nc\tB-PER\nd\tO\ne\tB-LOC\n"
PRED = "a\tB-PER\nb\tO\nc\tO\nd\tO\ne\tB-LOC\n"


FORMS = ("table", "json", "csv", "markdown", "latex")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold, pred = tmp_path / "gold.vrt", tmp_path / "pred.vrt"
    gold.write_text(GOLD, "utf-8")
    pred.write_text(PRED, "utf-8")
    return gold, pred


@pytest.mark.parametrize(
    ("gate", "code", "said"),
    [
        ("recall=0.66", 0, "wanted at least 0.66, got 0.6667: ok"),
        ("recall=66%", 0, "ok"),
        ("recall=0.67", 4, "got 0.6667: failed"),
        ("recall=0.66667", 4, "wanted at least 0.66667, got 0.666667: failed"),  # 0.66666…: why it failed must show
        ("recall=0.6667", 4, "wanted at least 0.6667, got 0.66667: failed"),
        ("recall[PER]=0.5", 0, "got 0.5000: ok"),
        ("recall[PER]=0.51", 4, "failed"),
        ("recall[NOBODY]=0", 4, "got n/a: failed"),
        ("recall.low=0.1", 4, "got n/a: failed"),  # one document has no interval
        ("recall=2", 2, "recall.low="),
        ("recall=90", 2, "such as recall=0.95 or recall=95%"),
        ("leaks=0.5", 2, "precision, recall"),
    ],
)
def test_score_ends_with_4_where_a_gate_fails(files: tuple[Path, Path], gate: str, code: int, said: str) -> None:
    done = run("score", *files, "--fail-under", gate)
    assert done.code == code, done.err
    assert said in " ".join(done.err.split())


def test_every_gate_is_listed_and_the_outputs_are_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "metrics.json"
    done = run("evaluate", *files, "--json", target, "--fail-under", "recall=0.9", "--fail-under", "precision=1")
    assert done.code == 4
    assert "Gate recall: wanted at least 0.9, got 0.6667: failed." in done.err
    assert "Gate precision: wanted at least 1, got 1.0000: ok." in done.err
    assert json.loads(target.read_text("utf-8"))["headline"]["fn"] == 1


# X is found in the first layer and missed in the second; Y stands in the second alone.
TWO_LAYERS = (
    "a\tB-X\tO\nb\tO\tB-X\nc\tO\tO\nd\tO\tB-Y\n",
    "a\tB-X\tO\nb\tO\tO\nc\tO\tB-X\nd\tO\tB-Y\n",
)


@pytest.fixture
def layered(write) -> tuple[Path, Path]:
    return write("two-gold.vrt", TWO_LAYERS[0]), write("two-pred.vrt", TWO_LAYERS[1])


@pytest.mark.parametrize("separately", [(), ("--no-merge",)])
@pytest.mark.parametrize("layers", [("one=2", "two=3"), ("two=3", "one=2")])
def test_a_label_is_checked_in_every_layer_that_has_it_and_in_no_other(
    layered: tuple[Path, Path], layers: tuple[str, str], separately: tuple[str, ...]
) -> None:
    given = (*layered, "--layer", layers[0], "--layer", layers[1], *separately)
    done = run("score", *given, "--fail-under", "recall[X]=0.9")
    assert done.code == 4, done.err
    assert done.err.count("Gate ") == 2
    assert "Gate recall[X] (one): wanted at least 0.9, got 1.0000: ok." in done.err
    assert "Gate recall[X] (two): wanted at least 0.9, got 0.0000: failed." in done.err
    once = run("score", *given, "--fail-under", "recall[Y]=0.9")
    assert once.code == 0, once.err
    assert "Gate recall[Y] (two): wanted at least 0.9, got 1.0000: ok." in once.err
    assert "(one)" not in once.err
    nowhere = run("score", *given, "--fail-under", "recall[Z]=0")
    assert nowhere.code == 4, nowhere.err
    assert "No span has this label." in nowhere.err


def test_a_label_of_one_layer_is_held_against_each_system_and_its_own_row_of_the_baseline(
    layered: tuple[Path, Path], tmp_path: Path
) -> None:
    layers = ("--layer", "one=2", "--layer", "two=3")
    for separately in ((), ("--no-merge",)):
        baseline = tmp_path / "b.json"
        assert run("score", layered[0], layered[0], *layers, *separately, "--json", baseline).code == 0
        drop = ("--baseline", baseline, "--max-drop", "recall[X]=10pp", "--fail-under", "recall[Y]=1")
        done = run("compare", layered[0], *layered, "--name", "good,bad", *layers, *separately, *drop)
        assert done.code == 4, done.err
        for system, layer, got, outcome in (
            ("good", "one", 1, "ok"),
            ("good", "two", 1, "ok"),
            ("bad", "one", 1, "ok"),
            ("bad", "two", 0, "failed"),
        ):
            said = f"Gate recall[X] ({system}, {layer}): wanted at most 10 points less than the baseline's 1.0000"
            assert f"{said}, got {got:.4f}: {outcome}." in done.err
        assert done.err.count("Gate recall[Y]") == 2


@pytest.mark.parametrize(
    "gate", ["recall[NATURAL PERSON]=0.5", " recall [ NATURAL PERSON ] = 50 % ", "recall.high[A [b] = c]=1"]
)
def test_blanks_and_brackets_of_a_label_are_its_own(write, gate: str) -> None:
    gold = write("g.vrt", GOLD.replace("PER", "NATURAL PERSON").replace("LOC", "A [b] = c"))
    done = run("score", gold, gold, "--fail-under", gate)
    assert "No span has this label" not in done.err
    assert "Gate " in done.err, done.err


# ---- baseline ----------------------------------------------------------------------------------------------------


@pytest.fixture
def baseline(files: tuple[Path, Path], tmp_path: Path) -> Path:
    """The metrics of gold against itself: every rate is 1."""
    target = tmp_path / "baseline.json"
    assert run("score", files[0], files[0], "--json", target).code == 0
    return target


@pytest.mark.parametrize(
    ("drop", "code", "said"),
    [
        ("recall=33.4pp", 0, "wanted at most 33.4 points less than the baseline's 1.0000, got 0.6667: ok"),
        ("recall=33.333pp", 4, "wanted at most 33.333 points less than the baseline's 1.000000, got 0.666667: failed"),
        ("recall=1pp", 4, "wanted at most 1 point less"),
        ("recall=0.334", 0, "ok"),
        ("recall=33.3pp", 4, "got 0.6667: failed"),
        ("recall[PER]=50pp", 0, "baseline's 1.0000, got 0.5000: ok"),
        ("recall[PER]=49pp", 4, "failed"),
        ("precision=0pp", 0, "ok"),
        ("recall=200pp", 2, "Allowed: rates from 0 to 1"),
    ],
)
def test_a_run_may_lose_only_so_much_of_the_baseline(
    files: tuple[Path, Path], baseline: Path, drop: str, code: int, said: str
) -> None:
    done = run("score", *files, "--baseline", baseline, "--max-drop", drop)
    assert done.code == code, done.err
    assert said in " ".join(done.err.split())


def test_a_presidio_shaped_file_is_a_baseline_too(files: tuple[Path, Path], tmp_path: Path) -> None:
    assert run("evaluate", files[0], files[0], "--files", tmp_path / "f").code == 0
    done = run("score", *files, "--baseline", tmp_path / "f" / "metrics.json", "--max-drop", "recall=1pp")
    assert done.code == 4, done.err


def test_a_baseline_of_another_gold_or_level_is_refused(
    files: tuple[Path, Path], baseline: Path, tmp_path: Path
) -> None:
    gates = ("--baseline", baseline, "--max-drop", "recall=50pp")
    target = tmp_path / "new.json"
    done = run("score", *files, *gates, "--level", "exact", "--json", target)
    refused(done, "computed differently: level overlap there, exact here")
    refused(run("score", files[1], files[1], *gates), "gold ")
    assert not target.exists()  # refused before anything is written


def test_baseline_and_max_drop_belong_together(files: tuple[Path, Path], baseline: Path, write) -> None:
    refused(run("score", *files, "--baseline", baseline), "--baseline has no effect here: it belongs to --max-drop")
    refused(run("score", *files, "--max-drop", "recall=1pp"), "--max-drop has no effect here: it belongs to --baseline")
    for content, said in (("{", "is no JSON"), ('{"schema": 1}', "found schema 1"), ("[]", "found no object")):
        other = write("other.json", content)
        refused(run("score", *files, "--baseline", other, "--max-drop", "recall=1pp"), "other.json", said)
    done = run("score", *files, "--baseline", "nowhere.json", "--max-drop", "recall=1pp")
    refused(done, "nowhere.json: cannot be read", "--baseline")


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


def test_a_file_of_another_command_is_no_baseline_and_said_to_be_what_it_is(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    gates = ("--baseline", other, "--max-drop", "recall=1pp")
    for made, said in (
        (("compare", files[0], *files, "--json", other), "`compare --json` wrote, which has several systems"),
        (("agree", *files, "--json", other), "`agree --json` wrote"),
    ):
        other.unlink(missing_ok=True)
        assert run(*made).code == 0
        refused(run("compare", *files, files[1], "--name", "a,b", *gates), f"schema 2: this is what {said}")


def test_compare_checks_every_system_by_its_name(files: tuple[Path, Path], baseline: Path) -> None:
    gates = ("--fail-under", "recall=0.9", "--baseline", baseline, "--max-drop", "recall=1pp")
    done = run("compare", files[0], *files, *gates)
    assert done.code == 4
    for said in (
        "Gate recall (gold): wanted at least 0.9, got 1.0000: ok",
        "Gate recall (pred): wanted at least 0.9, ",
    ):
        assert said in done.err
    assert done.err.count("less than the baseline's 1.0000") == 2


def test_quiet_leaves_errors_and_failed_gates(files: tuple[Path, Path], tmp_path: Path) -> None:
    gates = ("--fail-under", "recall=0.9", "--fail-under", "precision=1")
    done = run("evaluate", *files, "--json", tmp_path / "m.json", "--quiet", *gates)
    assert done.err == "Gate recall: wanted at least 0.9, got 0.6667: failed.\n"
    assert done.out == ""
    done = run("score", tmp_path / "nothing.vrt", files[0], "--quiet")
    assert "nothing.vrt" in done.err


# ---- forms and places of outputs ---------------------------------------------------------------------------------


def test_score_prints_the_form_that_was_asked_for(files: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "m.json"
    forms = {form: run("score", *files, "--as", form, "--json", target) for form in FORMS}
    assert {form: done.code for form, done in forms.items()} == dict.fromkeys(FORMS, 0)
    assert forms["json"].out == target.read_text("utf-8") == run("score", *files, "--json", "-").out
    assert forms["csv"].out.startswith("scheme,variant,level")
    assert "| exact | 66.7\u202f% |" in forms["markdown"].out
    assert "66.7\\,\\%" in forms["latex"].out


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


@pytest.mark.parametrize("command", ["score", "evaluate", "compare"])
def test_json_goes_to_standard_output_or_to_a_file_that_is_no_input(
    command: str, files: tuple[Path, Path], baseline: Path, write
) -> None:
    given = (command, *files, *files[1:][: command == "compare"])
    names = ("--name", "a,b") if command == "compare" else ()
    printed = run(*given, *names, "--json", "-")
    assert printed.code == 0, printed.err
    assert json.loads(printed.out)["schema"] == 2
    gates = ("--baseline", baseline, "--max-drop", "recall=100pp")
    config = write("c.toml", "[score]\nseed = 1\n")
    for place in (files[0], baseline, config):
        done = run(*given, *names, *gates, "--config", config, "--json", place)
        refused(done, f"{place.name}: is an input of this run")
