"""The page on a re-import: the same figures, changes and conflicts as the result, nothing loaded, nothing run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clueval_xlsx.outputs.html import tables
from clueval_xlsx.outputs.html.adjudication import adjudication_html
from clueval_xlsx.review.adjudication import Adjudication
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.words import languages
from tests.support.commands import run
from tests.support.judging import case, decide, judged, records, workbook
from tests.support.pages import Page, rows

TABLE = """
    token      gold    pred
    <text id="one">
    Ann        B-PER   O
    met        O       O
    Bob        O       B-PER
    in         O       O
    Bonn       B-LOC   O
    .          O       O
    </text>
    <text id="two">
    <b>Eve</b> B-PER   B-PER
    saw        O       O
    Zoe        O       B-PER
    .          O       O
    </text>
"""


@pytest.fixture(scope="module")
def result() -> Adjudication:
    """One deletion, one addition, one disagreement."""
    evaluation = judged(TABLE)
    missed, found, open_ = case(evaluation, "FN", "Ann"), case(evaluation, "FP", "Bob"), case(evaluation, "FN", "Bonn")
    anna = {
        missed: Judgement("gold_wrong"),
        found: Judgement("gold_missing", comment="<i>seen</i>"),
        open_: Judgement("gold_wrong"),
    }
    ben = {open_: Judgement("model_error", severity="harmless")}
    return decide(evaluation, records(anna, "Anna"), records(ben, "Ben"))


@pytest.mark.parametrize("language", languages())
def test_page_is_self_contained_and_has_no_script(result: Adjudication, language: str) -> None:
    text = adjudication_html(result, language)
    page = Page(text)
    assert not page.scripts
    assert "script-src 'none'" in text.replace("&#39;", "'")
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {link["href"] for link in page.all("a")} <= {f"#{name}" for name in ids}
    assert not re.search(r">(nan|None)<", text)


def test_figures_stand_before_and_after(result: Adjudication) -> None:
    shown = rows(adjudication_html(result), "summary")
    assert [row[1].replace("\u202f", " ") for row in shown] == [
        f"{100 * value:.1f} %" for value in result.scores["recall"]
    ]
    assert [row[3] for row in shown] == [
        f"{tp:.0f} of {gold:.0f}" for tp, gold in zip(result.scores["tp_gold"], result.scores["gold"], strict=True)
    ]
    assert len({row[3] for row in shown}) > 1


def test_changes_and_conflicts_are_listed_and_escaped(result: Adjudication) -> None:
    page = adjudication_html(result)
    changes, conflicts = (entries(page, key) for key in ("changes", "conflicts"))
    assert ["<del>Ann</del>" in change for change in changes].count(True) == 1
    (new,) = (change for change in changes if "<ins>Bob</ins>" in change)
    assert "&lt;i&gt;seen&lt;/i&gt;" in new
    (conflict,) = conflicts
    for word in ("Bonn", "Anna", "Should not be marked", "Ben", "Model is wrong"):
        assert word in conflict


def entries(page: str, key: str) -> list[str]:
    """The entries of a list."""
    section = page.split(f'<section id="{key}"')[1].split("</section>", maxsplit=1)[0]
    return section.split('<li class="case">')[1:]


def test_long_tables_say_what_they_leave_out(result: Adjudication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "LISTED_ROWS", 1)
    page = adjudication_html(result)
    assert len(entries(page, "changes")) == 1
    assert "The first 1 of 2 are listed" in page


def test_nothing_judged_is_a_page_too() -> None:
    page = adjudication_html(decide(judged(TABLE), {}))
    for sentence in ("The reference was not changed.", "There are no conflicts.", "Every row could be used."):
        assert sentence in page


def test_command_writes_the_page(tmp_path: Path, write_pair: object) -> None:
    gold, _ = write_pair(TABLE)  # type: ignore[operator]
    evaluation = judged(TABLE)
    answers = {case(evaluation, "FN", "Ann"): Judgement("gold_wrong")}
    book = tmp_path / "anna.xlsx"
    book.write_bytes(workbook(evaluation, answers).getvalue())
    done = run("reimport", book, "--gold", gold, "--html", tmp_path / "after.html", "--lang", "de")
    assert done.code == 0, done.err
    assert "Ann" in (tmp_path / "after.html").read_text("utf-8")
    assert 'lang="de"' in (tmp_path / "after.html").read_text("utf-8")
