"""Levels, schemes and kinds of cases are known without anything heavy, and are plain numbers and words outside."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from clueval_xlsx.cases.kinds import AG, CLASSES, FN, FP, CaseClass, Sheet
from clueval_xlsx.options.values import SCHEMES
from clueval_xlsx.scoring.levels import LEVELS, MatchClass
from tests.support.folders import ROOT
from tests.support.workbooks import example

HEAVY = ("numpy", "pandas", "scipy", "networkx", "jinja2", "xlsxwriter")


@pytest.mark.parametrize("module", ["scoring.levels", "scoring.scheme_settings", "cases.kinds"])
def test_what_help_reads_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, clueval_xlsx.{module}; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_every_scheme_that_is_named_has_a_module() -> None:
    from clueval_xlsx.scoring.chosen_schemes import scheme

    assert all(callable(scheme(name)) for name in SCHEMES)
    with pytest.raises(KeyError):
        scheme("settings")


def test_levels_are_the_classes_that_match_from_the_strictest_on() -> None:
    assert list(LEVELS) == ["exact", "superset", "tiling", "overlap"]
    assert list(LEVELS.values()) == sorted(LEVELS.values())
    assert set(MatchClass) - set(LEVELS.values()) == {MatchClass.NONE}


def test_sheets_and_classes_are_plain_words_in_outputs() -> None:
    assert json.dumps([*Sheet, *CaseClass]) == json.dumps([str(name) for name in (*Sheet, *CaseClass)])
    assert (FN, FP, AG) == ("FN", "FP", "AG")
    assert f"{FN}-1" == "FN-1"
    missed, unsupported = example(replicates=0).bare_cases
    for cases, sheet in ((missed, "FN"), (unsupported, "FP")):
        assert (cases["sheet"] == sheet).all()
        assert set(cases["class"]) <= set(CLASSES)
        text = cases[["sheet", "class"]].to_csv(index=False)
        assert text.splitlines()[1].split(",") == [sheet, str(cases["class"].iloc[0])]
        assert json.loads(json.dumps(cases["class"].tolist())) == cases["class"].tolist()
