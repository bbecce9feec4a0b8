"""Every kind of workbook keeps those of Excel's rules that XlsxWriter does not keep by itself."""

from __future__ import annotations

import pytest

from tests.audit.kinds import NAMES, workbook
from tests.audit.rules import audit
from tests.support.ci import some_of


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", some_of(NAMES, 4))
def test_a_workbook_of_each_kind_keeps_the_rules_of_excel(name):
    assert audit(workbook(name)) == []
