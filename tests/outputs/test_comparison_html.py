"""The page on a comparison: every system's figures, the tests beside them, the errors with who makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.comparison import Comparison, compare
from clueval_xlsx.outputs.html.page import page_html
from clueval_xlsx.pages.comparison import comparison_page
from clueval_xlsx.words import Words, languages
from tests.support.commands import run
from tests.support.judging import judged
from tests.support.pages import Page, rows
from tests.support.tables import Sides, cut

TABLE = """
    token      gold    pred{}
    <text id="one">
    Ann        B-PER   {}
    <u>met</u> O       O
    Bob        B-PER   {}
    </text>
    <text id="two">
    Eve        B-PER   {}
    Bonn       O       {}
    </text>
"""
SYSTEMS = {"<b>crf</b>": ("", "O", "O", "B-PER", "O"), "bert": ("", "B-PER", "O", "B-PER", "B-LOC")}


def sides(name: str) -> Sides:
    return cut(TABLE.format(*SYSTEMS[name]))


@pytest.fixture(scope="module")
def result() -> Comparison:
    return compare([(name, judged(sides(name), replicates=50)) for name in SYSTEMS])


def comparison_html(result: Comparison, language: str = "en") -> str:
    return page_html(comparison_page(result, Words(language)))


@pytest.mark.parametrize("language", languages())
def test_page_is_self_contained_and_has_no_script(result: Comparison, language: str) -> None:
    text = comparison_html(result, language)
    page = Page(text)
    assert not page.scripts
    assert "script-src 'none'" in text.replace("&#39;", "'")
    assert not page.all("u")
    assert "&lt;b&gt;crf&lt;/b&gt;" in text
    ids = [attributes["id"] for _, attributes in page.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    assert {link["href"] for link in page.all("a")} <= {f"#{name}" for name in ids}


def test_every_system_has_its_figures(result: Comparison) -> None:
    shown = rows(comparison_html(result), "chapter-1")
    assert [(row[1].replace("\u202f", " "), row[3]) for row in shown] == [("33.3 %", "1 of 3"), ("66.7 %", "2 of 3")]


def test_differences_stand_with_their_sign_and_chance(result: Comparison) -> None:
    page = comparison_html(result)
    part = page.split("<h3>Recall</h3>")[1].split("</table>", maxsplit=1)[0]
    line = next(row for row in part.split("<tr") if "overlap</th>" in row)
    wanted = result.differences
    wanted = wanted[(wanted["rate"] == "recall") & (wanted["level"] == "overlap") & wanted["labelled"].isna()].iloc[0]
    assert wanted["difference"] == pytest.approx(1 / 3)
    assert ">+33.3</td>" in line
    assert f">{wanted['p_holm']:.3f}</td>" in line


def test_errors_say_who_makes_them(result: Comparison) -> None:
    page = comparison_html(result)
    missed = page.split('<section id="chapter-2"')[1].split("</section>", maxsplit=1)[0]
    lines = [line for part in missed.split("<tbody>")[1:] for line in part.split("</tbody>")[0].split("<tr")[1:]]
    assert len(lines) == 2
    assert "&lt;b&gt;crf&lt;/b&gt; alone" in lines[0]
    assert ">Ann</mark>" in lines[0]
    assert "&lt;b&gt;crf&lt;/b&gt; + bert" in lines[1]
    assert ">Bob</mark>" in lines[1]


def test_long_lists_say_that_they_go_on_elsewhere(result: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Words("en")["page.more"] not in comparison_html(result)
    monkeypatch.setattr("clueval_xlsx.outputs.html.page.MOST_ROWS", 0)
    assert Words("en")["page.more"] in comparison_html(result)


def test_command_writes_the_page(tmp_path: Path) -> None:
    (tmp_path / "gold.vrt").write_bytes(sides("bert").gold)
    for number, name in enumerate(SYSTEMS):
        (tmp_path / f"p{number}.vrt").write_bytes(sides(name).pred)
    files = [tmp_path / name for name in ("gold.vrt", "p0.vrt", "p1.vrt")]
    done = run("compare", *files, "--html", tmp_path / "c.html", "--lang", "de")
    assert done.code == 0, done.err
    text = (tmp_path / "c.html").read_text("utf-8")
    assert 'lang="de"' in text
    assert "p0 + p1" in text
