"""Two runs at once on one log of judgements lose nothing; who waits is told for what, and not for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from clueval_xlsx.files.locks import locked
from tests.support.ci import THOROUGH
from tests.support.folders import ROOT
from tests.support.workbooks import renamed_judge
from tests.support.writing import make_home

ROUNDS = int(os.environ.get("CLUEVAL_RACES", "8" if THOROUGH else "2"))  # so many pairs of re-imports at once


@pytest.mark.slow
@pytest.mark.sweep
def test_two_re_imports_at_once_lose_no_judgement_however_often(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    ben = home / "ben.xlsx"
    ben.write_bytes(renamed_judge((home / "judged.xlsx").read_bytes(), "Anna Beispiel", "Ben"))
    logs = tmp_path / "logs"
    common = ["--gold", str(home / "gold.vrt"), "--judgements", f"{logs}/log-{{round}}.jsonl", "--changes"]
    runs = [
        ["reimport", str(book), *common, f"{logs}/changes-{who}-{{round}}.tsv"]
        for who, book in (("anna", home / "judged.xlsx"), ("ben", ben))
    ]
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.racing"],
        input=json.dumps({"rounds": ROUNDS, "runs": runs}),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rounds) == ROUNDS
    lost = 0
    for number, outcome in enumerate(rounds):
        assert set(outcome["codes"]) <= {0, 3}, outcome
        entries = [json.loads(line) for line in (logs / f"log-{number}.jsonl").read_text("utf-8").splitlines()]
        text = json.dumps(entries, ensure_ascii=False)
        lost += not ("Anna Beispiel" in text and '"Ben"' in text) or len(entries) != 24
    assert lost == 0
    assert len(list(logs.iterdir())) == 3 * ROUNDS  # no lock, no journal, no temporary file


def test_who_waits_is_told_for_what_and_then_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clueval_xlsx.files.locks._PATIENCE", 0.05)
    path = tmp_path / "log.jsonl"
    told: list[str] = []
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with locked(path):
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)

    def tell(message: str) -> None:
        told.append(message)
        leave.set()

    with locked(path, tell):
        assert told == [f"Waiting for another run that is writing {path} …"]
    thread.join()
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_process_that_was_killed_holds_nobody_up(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom clueval_xlsx.files.locks import locked\n"
        "with locked(Path(sys.argv[1])):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=False).returncode < 0
    assert [found.name for found in tmp_path.iterdir()] == [".log.jsonl.lock"]
    with locked(path, limit=0.1):
        pass
    assert list(tmp_path.iterdir()) == []
