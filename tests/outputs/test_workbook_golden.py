"""The example's workbook, part by part, is the one that was last looked at."""

from __future__ import annotations

import pytest
import xlsxwriter

from tests.support.ci import IN_CI
from tests.support.golden import FOLDER, KINDS, first_difference, golden, made_with, parts

KEEP = "If the change is meant, look at the new workbook and keep it: python -m tests.support.golden"
OTHER = f"made with XlsxWriter {made_with()}, here is {xlsxwriter.__version__}, which writes its XML in its own way"


@pytest.mark.skipif(xlsxwriter.__version__ != made_with() and not IN_CI, reason=OTHER)
@pytest.mark.parametrize("name", KINDS)
def test_workbook_is_the_golden_one(name):
    """Where nobody watches, another XlsxWriter is a failure: somebody must look at the new workbooks and keep them."""
    assert xlsxwriter.__version__ == made_with(), f"{OTHER}\n{KEEP}"
    difference = first_difference(parts((FOLDER / name).read_bytes()), parts(golden(name)))
    assert not difference, f"{difference}\n{KEEP}"
