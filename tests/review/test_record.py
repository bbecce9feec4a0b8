"""The log is a chain of hashes: whoever changes, drops, moves or adds a line is found out."""

from __future__ import annotations

import hashlib
import json
import random
import re
from pathlib import Path

import pytest

from clueval_xlsx.review.judgements import Effect, Judgement, Outcome
from clueval_xlsx.review.log import check_chain, head_of, write_log
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.teams import cases_of, fill

NAME = "log.jsonl"


def entry(number: int) -> Judgement:
    return Judgement(
        "gold_wrong",
        case_id=f"FN-{number:012d}",
        effect=Effect.DELETE,
        comment=f"Grüße {number}\r\n",
        judge="anna",
        workbook_sha256="ab" * 32,
        when="2024-05-01T10:00:00+00:00",
        run="run",
        outcome=Outcome.APPLIED,
    )


LOG = write_log(map(entry, range(9)))
LINES = LOG.splitlines(keepends=True)
HEAD = head_of(LOG)


def problems(text: str, head: str | None = None) -> list[str]:
    return [str(problem) for problem in check_chain(text, NAME, head).problems]


def test_only_the_head_shows_that_the_end_is_missing_or_changed():
    for text in ("".join(LINES[:6]), LOG.replace("Grüße 8", "Grüße 9"), ""):
        assert not problems(text)
        (found,) = problems(text, HEAD)
        assert "missing at its end, or were changed" in found


def test_a_head_that_was_noted_earlier_says_how_much_came_after_it():
    (found,) = problems(LOG, head_of("".join(LINES[:6])))
    assert "is line 6; 3 lines were written after it" in found


@pytest.mark.parametrize(
    "change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.rstrip("\n")]
)
def test_what_an_editor_does_to_line_ends_breaks_nothing(change):
    assert not problems(change(LOG), HEAD)


def test_random_tampering_is_found_with_the_head():
    """200 times something is done to a log of many lines; the chain or its head shows each."""
    rng = random.Random(7)
    for _ in range(200):
        lines = [*LINES]
        what = rng.choice(("byte", "drop", "swap", "cut", "double"))
        place, other = rng.sample(range(len(lines)), 2)
        if what == "byte":
            position = rng.randrange(len(lines[place]) - 1)
            sign = rng.choice([letter for letter in "abc1" if letter != lines[place][position]])
            lines[place] = lines[place][:position] + sign + lines[place][position + 1 :]
        elif what == "drop":
            del lines[place]
        elif what == "swap":
            lines[place], lines[other] = lines[other], lines[place]
        elif what == "cut":
            del lines[place:]
        else:
            lines.insert(place, lines[other])
        assert problems("".join(lines), HEAD), (what, place, other)


# ---- the commands -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged(sides, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("record")
    for name, code in (("anna", "gold_wrong"), ("ben", "model_error")):
        book = folder / f"{name}.xlsx"
        assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", book).code == 0
        fill(book, dict.fromkeys(cases_of(book)["FN"][:5], code))
    return folder


def reimported(judged: Path, sides, log: Path, name: str = "anna") -> str:
    done = run("reimport", judged / f"{name}.xlsx", "--gold", sides[0], "--judgements", log)
    assert done.code == 0, done.err
    (head,) = re.findall(rf"Head of {re.escape(str(log))}: ([0-9a-f]{{64}})", done.err)
    return head


def test_reimport_prints_the_head_and_validate_takes_it(judged, sides, tmp_path):
    log = tmp_path / NAME
    first = reimported(judged, sides, log)
    second = reimported(judged, sides, log, "ben")
    assert first != second == head_of(log.read_text("utf-8"))
    hashes = {json.loads(line)["workbook_sha256"] for line in log.read_text("utf-8").splitlines()}
    assert hashes == {hashlib.sha256((judged / f"{name}.xlsx").read_bytes()).hexdigest() for name in ("anna", "ben")}
    done = run("validate", log, "--head", second)
    assert (done.code, "a log of 10 judgements" in done.out, "ends with the head given" in done.out) == (0, True, True)
    assert run("validate", log).code == 0
    done = run("validate", log, "--head", first)
    assert done.code == 2
    assert "is line 5; 5 lines were written after it" in done.out
    log.write_text("".join(log.read_text("utf-8").splitlines(keepends=True)[:7]), "utf-8")
    assert run("validate", log).code == 0
    assert run("validate", log, "--head", second).code == 2


def test_a_broken_log_is_said_still_appended_to_and_no_earlier_judgement(judged, sides, tmp_path):
    log = tmp_path / NAME
    reimported(judged, sides, log)
    lines = log.read_text("utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[:2] + lines[3:]), "utf-8")
    done = run("reimport", judged / "ben.xlsx", "--gold", sides[0], "--judgements", log)
    assert "is no whole chain" in done.err
    assert len(log.read_text("utf-8").splitlines()) == 4 + 5
    done = run("validate", log)
    assert done.code == 2
    assert done.out.count(f"{log}:3: ") == 1
    book = tmp_path / "new.xlsx"
    refused(
        run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", book, "--previous", log),
        f"{log}:3: this line does not follow line 2",
    )
    assert not book.exists()
    assert "1 problem found" in done.err


def test_a_line_that_is_no_judgement_is_named(tmp_path):
    log = tmp_path / NAME
    log.write_text(LOG + "{}\n", "utf-8")
    done = run("validate", log)
    assert done.code == 2
    assert f"{log}:10: " in done.out
