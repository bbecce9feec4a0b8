"""Calls of the command line with what they answer, as transcripts.txt has them: each scenario in a folder of its own.

`@name` and the lines below it are a file, `$` is a call. Below a call stand its exit code (`=`, if it is not 0), words
that it says, however they are wrapped (`?`), words that it does not say (`!`), files that are there (`+`) or not (`-`),
and a file with what stands in it, however it is wrapped (`:`).
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import run
from tests.support.folders import ROOT

SCENARIOS = (Path(__file__).parent / "transcripts.txt").read_text("utf-8").split("\n## ")[1:]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario.partition("\n")[0] for scenario in SCENARIOS])
def test_what_calls_answer(scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("*.ipynb", "*.xlsx"))
    for block in re.split(r"^(?=[@$])", scenario, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("\n")
        if head[0] == "$":
            check(head[2:], body.splitlines())
            continue
        file = Path(head[1:])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body.rstrip("\n") + "\n" if body.strip() else "", "utf-8")


def check(call: str, expected: Sequence[str]) -> None:
    done = run(*shlex.split(call))
    said = " ".join(f"{done.out}\n{done.err}".split())
    assert "Traceback" not in said
    codes = [int(line[2:]) for line in expected if line[:1] == "="]
    assert done.code == (codes or [0])[0], f"{call}: {said}"
    if done.code == 2 and not call.startswith("validate"):
        assert done.out == ""
    for sign, text in ((line[:1], line[2:]) for line in expected):
        if sign in {"?", "!"}:
            assert (text in said) is (sign == "?"), f"{call}: {text!r} in {said}"
        if sign == ":":
            name, _, content = text.partition(" ")
            assert content in " ".join(Path(name).read_text("utf-8").split()), f"{call}: {text}"
        if sign in {"+", "-"}:
            assert Path(text).exists() is (sign == "+"), f"{call}: {text}"
