"""`predict` and `evaluate --detector` from the command line: every output format, exit codes, signature, messages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.options import ReadOptions
from tests.support.commands import refused, run
from tests.support.detector_scripts import GOOD, MOODY, command, install_package
from tests.support.folders import ROOT

GOLD = """<text id="a" domain="tax">
Frau\tO\tO
Ott\tB-NAME\tB-HIGH
<g/>
,\tO\tO
hier\tO\tO
</text>
<text id="b" domain="civil">
in\tO\tO
Köln\tB-CITY\tB-LOW
</text>
"""
# The same with one column of tags.
ONE_LAYER = re.sub(r"(?m)^([^\t\n]+\t[^\t\n]+)\t[^\t\n]+$", r"\1", GOLD)
TAB = [
    {
        "doc_id": "t1",
        "text": "Ann Lee met Ben.",
        "annotations": [{"start_offset": 0, "end_offset": 7, "entity_type": "NAME", "identifier_type": "DIRECT"}],
    },
    {"doc_id": "t2", "text": "nothing", "annotations": []},
]


@pytest.fixture
def gold(write: Callable[..., Path]) -> Path:
    return write("gold.vrt", ONE_LAYER)


@pytest.fixture
def good(tmp_path: Path) -> str:
    return command(tmp_path, GOOD)


def test_a_token_file_keeps_everything_but_its_tags(gold: Path, good: str, tmp_path: Path) -> None:
    target = tmp_path / "pred.vrt"
    gold.write_text(GOLD, "utf-8")
    result = run("predict", gold, "-o", target, "--layer", "type=2", "--layer", "risk=3", "--detector", good)
    assert result.code == 0, result.err
    assert target.read_text("utf-8") == GOLD.replace("Frau\tO", "Frau\tB-NAME").replace("B-CITY", "O").replace(
        "Köln\tO", "Köln\tO"
    ).replace("B-HIGH", "O").replace("B-LOW", "O")
    assert "predictions are made for layer type alone, not for risk" in result.err
    assert "2 predictions in 2 documents (" in result.err
    assert result.out == ""
    assert not list(tmp_path.glob("*.progress.jsonl"))


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("pred.tsv", ()),
        ("pred.csv", ()),
        ("pred.xlsx", ()),
        ("pred.conll", ()),
        ("pred", ()),
        ("pred.json", ("--to", "tab")),
        ("pred.json", ("--to", "presidio")),
        ("pred.json", ("--to", "label-studio")),
    ],
)
@pytest.mark.parametrize("source", ["tokens", "text"])
def test_every_output_format_holds_the_same_predictions(
    source: str, name: str, more: tuple[str, ...], tmp_path: Path, write: Callable[..., Path], good: str
) -> None:
    dataset = write("gold.vrt", ONE_LAYER) if source == "tokens" else write("gold.json", json.dumps(TAB))
    target = tmp_path / "out" / name
    result = run("predict", dataset, "-o", target, "--detector", good, *more)
    assert result.code == 0, result.err
    options = ReadOptions(format="table" if name.endswith((".tsv", ".csv", ".xlsx")) else None)
    pair = read_pair(dataset, target, ReadOptions(), options, align="text")
    words = [pair.corpus.text(start, end) for start, end in pair.pred.spans[["start", "end"]].to_numpy().tolist()]
    assert words == (["Frau", "Ott"] if source == "tokens" else ["Ann", "Lee", "Ben"])
    assert set(pair.pred.spans["span"]) == {"NAME"}


def test_predicting_and_evaluating_in_one_go_equals_the_two_steps(gold: Path, good: str, tmp_path: Path) -> None:
    one, two, pred = tmp_path / "one.json", tmp_path / "two.json", tmp_path / "pred.vrt"
    result = run("evaluate", gold, "--detector", good, "--detector-language", "de", "--json", one)
    assert result.code == 0, result.err
    assert run("predict", gold, "-o", pred, "--detector", good, "--detector-language", "de").code == 0
    assert run("evaluate", gold, pred, "--json", two).code == 0
    first, second = (json.loads(path.read_text("utf-8")) for path in (one, two))
    assert first["scores"] == second["scores"]
    assert "|detector:command:detector.py/-/de/" in first["signature"]
    assert "|detector:" not in second["signature"]


def test_failed_documents_are_named_left_out_and_can_be_tried_again(tmp_path: Path, write: Callable[..., Path]) -> None:
    gold = write("gold.vrt", ONE_LAYER.replace("hier", "CRASH"))
    detector, target, metrics = command(tmp_path, MOODY), tmp_path / "pred.tsv", tmp_path / "metrics.json"
    result = run("predict", gold, "-o", target, "--detector", detector)
    assert result.code == 3
    assert "Failed: document 'a': the detector crashed: it ended with exit code 7" in result.err
    assert "Failed: 1 of 2 documents" in result.err
    assert (tmp_path / "pred.tsv.progress.jsonl").exists()
    refused(run("predict", gold, "-o", target, "--detector", detector), "an unfinished run lies there", "--resume")
    result = run("predict", gold, "-o", target, "--detector", detector, "--resume")
    assert result.code == 3
    assert "Taken from the run that broke off: 1 of 2 documents" in result.err

    result = run("evaluate", gold, "--detector", detector, "--json", metrics)
    assert result.code == 3
    found = json.loads(metrics.read_text("utf-8"))
    assert found["headline"]["gold"] == 1  # the gold span of the failed document does not count as missed
    assert "|left_out:0|" in found["signature"]


def test_documents_with_labels_unknown_to_the_detector_are_left_out_unless_kept(
    tmp_path: Path, gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(install_package(tmp_path)))
    metrics = tmp_path / "metrics.json"
    result = run("evaluate", gold, "--detector", "capitals", "--json", metrics)
    assert result.code == 0, result.err
    found = json.loads(metrics.read_text("utf-8"))
    assert found["headline"]["gold"] == 1
    assert "labels without a counterpart: CITY" in result.err
    assert "1 of 2 documents left out because of unmapped labels: CITY (1); they are b" in result.err
    assert run("evaluate", gold, "--detector", "capitals", "--json", metrics, "--set", "labels.unmapped=keep").code == 0
    assert json.loads(metrics.read_text("utf-8"))["headline"]["gold"] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--detector", "nobody"), ("there is no such detector", "presidio", "command:")),
        (("--detector", "command:"), ("the command is missing",)),
        (("--detector", "command:'unclosed"), ("the command cannot be read", "Check the quotes")),
        (
            ("--detector", "command:x", "--detector-option", "nlp_config=a.yaml"),
            ("nlp_config cannot be given to a command",),
        ),
        (("--detector", "command:x", "--detector-option", "novalue"), ("found 'novalue'. Allowed: KEY=VALUE",)),
    ],
)
def test_bad_requests(gold: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(run("predict", gold, "-o", tmp_path / "p.vrt", *arguments), *words)


def test_evaluate_needs_predictions_or_a_detector_and_not_both(gold: Path, good: str) -> None:
    refused(run("evaluate", gold), "PRED is missing. Give a file of predictions, or a detector with --detector.")
    refused(run("evaluate", gold, gold, "--detector", good), "PRED and --detector are both given. Leave one out.")


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = ROOT / "examples" / "detectors"
    if not examples.is_dir():
        pytest.skip("the examples are not beside the tests (an installed wheel)")
    gold, target = ROOT / "examples" / "gold.vrt", tmp_path / "pred.tsv"
    detector = f"command:{sys.executable} {examples / 'regex_detector.py'}"
    assert run("predict", gold, "--layer", "category=2", "-o", target, "--detector", detector).code == 0
    rows = [line.split("\t")[3:] for line in target.read_text("utf-8").splitlines()]
    assert ["ACCOUNT", "0.9", "DE00 4711 0815 2342 0000 17"] in rows
    assert any(row[0] == "CONTACT" and row[-1] == "d.fenn@prycefenn.example" for row in rows)

    monkeypatch.syspath_prepend(str(examples / "honorifics"))
    metadata = tmp_path / "honorifics-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: honorifics\nVersion: 1.0\n", "utf-8")
    (metadata / "entry_points.txt").write_text("[clueval_xlsx.detectors]\nhonorifics = honorifics:make\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    arguments = ("--layer", "category=2", "-o", target, "--detector", "honorifics", "--detector-language", "de")
    result = run("predict", gold, *arguments, "--detector-option", "label=NAME")
    assert result.code == 0, result.err
    rows = [line.split("\t")[3:] for line in target.read_text("utf-8").splitlines()]
    assert ["NAME", "0.8", "Annegret Volkmer-Thiel"] in rows
    assert ["NAME", "0.8", "Mirko Sandner"] in rows
    refused(run("predict", gold, *arguments[:-1], "fr"), "honorifics: no titles for 'fr'")


@pytest.mark.skipif(os.name != "posix", reason="signals work differently here")
def test_a_run_that_is_interrupted_can_be_continued(tmp_path: Path, write: Callable[..., Path]) -> None:
    texts = "".join(f'<text id="d{number}">\nAnn\tB-NAME\n</text>\n' for number in range(3))
    dataset, target = write("many.vrt", texts.replace("Ann", "HANG", 3).replace("HANG", "Ann", 2)), tmp_path / "p.tsv"
    arguments = ["predict", str(dataset), "-o", str(target), "--detector", command(tmp_path, MOODY)]
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from clueval_xlsx.cli import main; sys.argv[0] = 'clueval-xlsx'; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    side = tmp_path / "p.tsv.progress.jsonl"
    for _ in range(600):
        if side.exists() and side.read_bytes().count(b"\n") == 3:  # the header and two documents; the third hangs
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"the same command with --resume goes on from there" in errors
    assert b"Traceback" not in errors
    assert not target.exists()
    command(tmp_path, MOODY.replace("time.sleep(600)", "pass"))  # mended, and so another detector
    refused(run(*arguments, "--resume"), "this run cannot be continued: its detector")
    assert run(*arguments, "--no-resume").code == 0
    assert not side.exists()
