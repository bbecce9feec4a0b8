"""Every kind of workbook keeps Excel's rules, and the audit that says so finds faults that are put in on purpose."""

from __future__ import annotations

import pytest

from tests.audit.faults import FAULTS, with_fault
from tests.audit.kinds import NAMES, workbook
from tests.audit.rules import audit, findings
from tests.support.ci import some_of


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("name", some_of(NAMES, 4))
def test_a_workbook_of_each_kind_keeps_the_rules_of_excel(name):
    assert audit(workbook(name)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_the_audit_finds_a_fault_that_was_put_in(fault):
    assert next(findings(with_fault(workbook("judged"), fault)), None)
