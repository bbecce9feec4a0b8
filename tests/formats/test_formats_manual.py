"""The page on formats: every sample that it shows is read by the call that stands below it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from clueval_xlsx.formats.registry import FORMAT_NAMES
from tests.support.commands import run
from tests.support.extras import needed
from tests.support.folders import ROOT

PAGE = (ROOT / "clueval_xlsx" / "manual" / "formats.md").read_text(encoding="utf-8")
# A fence whose first line ends in a file name holds that file; a fence `sh` holds calls.
FENCE = re.compile(r"^```(\S+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def sections() -> list[tuple[str, str]]:
    parts = re.split(r"^##+ (.+)$", PAGE, flags=re.MULTILINE)
    return [(title, body) for title, body in zip(parts[1::2], parts[2::2], strict=True) if "```sh" in body]


@pytest.mark.parametrize(("title", "body"), sections(), ids=lambda part: part if len(part) < 40 else "")
def test_the_calls_of_a_section_read_its_samples(
    title: str, body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    calls = []
    for language, name, content in FENCE.findall(body):
        if name:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        elif language == "sh":
            calls += content.replace("\\\n", " ").splitlines()
    assert calls, title
    for extra in ("parquet", "spacy"):
        if f"[{extra}]" in body:
            needed(extra)
    for call in calls:
        program, *arguments = shlex.split(call)
        assert program == "clueval-xlsx"
        done = run(*arguments)
        assert done.code == 0, done.out + done.err


def test_every_name_of_a_format_stands_in_the_table_and_leads_to_a_section() -> None:
    rows = re.findall(r"^\| (`.+`) \| (.+) \|$", PAGE.partition("## ")[0], re.MULTILINE)
    assert sorted(name for names, _ in rows for name in re.findall(r"`([^`]+)`", names)) == sorted(FORMAT_NAMES)
    titles = [title for title, _ in sections()]
    assert all(any(title.startswith(where) for title in titles) for _, where in rows), rows
