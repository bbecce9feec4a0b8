"""Stopping early: what is to be expected among the unjudged cases, and when it is said."""

from __future__ import annotations

import json

import numpy as np
import pytest

from clueval_xlsx.cases.kinds import FN
from clueval_xlsx.review.estimates import NoEstimate, RankedUnits, estimate_remaining, hypergeometric_interval
from tests.simulation import stopping
from tests.support.commands import run
from tests.support.teams import fill

pytestmark = pytest.mark.slow


def units(size: int, judged: int, *, random: tuple[int, ...] = (), wrong: tuple[int, ...] = (), shared=()):
    """Units by rank: the first ones are judged, and all random ones."""
    found = np.zeros((4, size), dtype=bool)
    found[0, list(random)] = True
    found[1, :judged] = True
    found[1, list(random)] = True
    found[2, list(shared)] = True
    found[3, list(wrong)] = True
    return RankedUnits(*found)


def test_the_rate_among_random_cases_below_the_cut_holds_for_the_unjudged():
    random = tuple(range(5, 200, 10))
    found = estimate_remaining(FN, units(200, 40, random=random, wrong=(0, 1, 45, 55)))
    below = [place for place in random if place >= 40]
    assert (found.sample, found.hits) == (len(below), 2)
    assert found.unjudged == 160 - len(below)
    assert found.expected == pytest.approx(2 / len(below) * found.unjudged)
    assert (found.low, found.high) == hypergeometric_interval(2, len(below), found.unjudged)
    assert found.found == 4


def test_the_interval_is_exact_by_counting_all_samples():
    from itertools import combinations

    sample, rest, hits = 3, 5, 1
    low, high = hypergeometric_interval(hits, sample, rest)
    for there in range(sample + rest + 1):
        drawn = [sum(place < there for place in one) for one in combinations(range(sample + rest), sample)]
        more, fewer = (np.mean([test(each) for each in drawn]) for test in (lambda x: x >= hits, lambda x: x <= hits))
        inside = hits <= there <= hits + rest and low <= there - hits <= high
        assert inside == (more > 0.025 and fewer > 0.025 and there - hits <= rest)


def test_judging_that_skips_about_gets_no_estimate_but_a_reason():
    scattered = units(100, 0, random=(50, 60))
    scattered.judged[10:90:2] = True
    assert estimate_remaining(FN, scattered).why_not is NoEstimate.NOT_FROM_THE_TOP
    assert estimate_remaining(FN, units(100, 0)).why_not is NoEstimate.NOTHING_JUDGED
    assert estimate_remaining(FN, units(100, 20, random=(3,))).why_not is NoEstimate.NO_RANDOM_CASE


def test_what_was_decided_through_twins_leaves_the_unjudged_and_stands_for_nobody():
    random = tuple(range(101, 400, 10))
    twins = tuple(range(200, 400, 2))
    wrong = (*twins, 201)
    found = estimate_remaining(FN, units(400, 100, random=random, wrong=wrong, shared=twins))
    assert found.unjudged == 400 - 100 - len(random) - len(twins)
    assert (found.hits, found.sample) == (1, len(random))


@pytest.mark.parametrize("stop", [0.1, 0.4])
def test_the_interval_covers_at_stops_chosen_beforehand(stop):
    line = stopping.simulate(stopping.WORLDS[2], stop, 60, seed=11)
    assert line.covered >= 0.9
    assert line.estimated == pytest.approx(line.errors, rel=0.5)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """600 missed spans in 60 documents; gold is wrong where it marks `the`."""
    folder = tmp_path_factory.mktemp("order")
    lines, missed = [], []
    for document in range(60):
        lines.append(f'<text id="d{document}">\n<s>')
        missed.append(lines[-1])
        for word in range(10):
            name = "the" if (document * 10 + word) % 7 == 0 else f"Name{document}x{word}"
            for target, tag in ((lines, "B-PER"), (missed, "O")):
                target.append(f"{name}\t{tag}\nsaw\tO\nthe\tO")
        for target in (lines, missed):
            target.append("</s>\n</text>")
    gold, pred = folder / "gold.vrt", folder / "pred.vrt"
    gold.write_text("\n".join(lines) + "\n", "utf-8")
    pred.write_text("\n".join(missed) + "\n", "utf-8")
    book = folder / "r.xlsx"
    done = run("evaluate", gold, pred, "--order", "suspicion", "-o", book)
    assert done.code == 0, done.err
    return gold, pred, book


def truth(gold, book):
    """The surfaces of the cases, by ID, in the order of the sheet."""
    from clueval_xlsx.review.reimport import reimport

    (run_,) = reimport([book], gold).runs
    return dict(zip(run_.raw.bare_cases[0]["case_id"], run_.raw.bare_cases[0]["surface"], strict=True))


def test_whoever_stops_early_gets_the_expected_errors_of_the_rest(corpus, tmp_path):
    gold, _, book = corpus
    surfaces = truth(gold, book)
    first = list(surfaces)[:240]
    wrong = sum(word == "the" for word in surfaces.values())
    assert sum(surfaces[case] == "the" for case in first) > 0.9 * wrong  # the suspicious ones stand first
    judged = fill(book, {case: "2" if surfaces[case] == "the" else "1" for case in first}, tmp_path / "j.xlsx")
    page, figures, report = (tmp_path / name for name in ("r.html", "r.json", "report.xlsx"))
    done = run("reimport", judged, "--gold", gold, "--html", page, "--json", figures, "--report", report)
    assert done.code == 0, done.err
    said = " ".join(done.out.split())
    assert "360 cases are unjudged; expected among them:" in said
    assert "whoever stops because nothing was found lately" in " ".join(page.read_text("utf-8").split())
    (remaining, _) = json.loads(figures.read_text("utf-8"))["runs"][0]["remaining"]
    left = sum(word == "the" for case, word in surfaces.items() if case not in set(first))
    assert remaining["low"] <= left <= remaining["high"]
    assert "What to expect among the unjudged cases" in page.read_text("utf-8")

    scattered = fill(book, dict.fromkeys(list(surfaces)[1::3], "1"), tmp_path / "s.xlsx")
    done = run("reimport", scattered, "--gold", gold)
    assert "not the first ones of the order" in " ".join(done.out.split())
