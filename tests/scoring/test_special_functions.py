"""The functions that intervals need are scipy's own, however they were loaded."""

from __future__ import annotations

import sys

from tests.support.commands import run_process

CHECK = """
import sys
from clueval_xlsx.scoring.scores import beta_and_t
found = beta_and_t()
assert "scipy._lib._array_api" not in sys.modules, "the whole package was loaded"
import scipy.linalg, scipy.special, scipy.stats
assert scipy.linalg.det([[2.0, 0.0], [0.0, 3.0]]) == 6.0
assert found == (scipy.special.betaincinv, scipy.special.stdtrit)
assert scipy.stats.t.ppf(0.975, 4) == found[1](4, 0.975)
"""


def test_they_are_the_ones_of_the_package_which_can_still_be_loaded() -> None:
    done = run_process(["-c", CHECK], python=[sys.executable])
    assert done.code == 0, done.err


def test_a_package_that_is_loaded_already_is_used() -> None:
    import scipy.special

    from clueval_xlsx.scoring.scores import beta_and_t

    assert beta_and_t() == (scipy.special.betaincinv, scipy.special.stdtrit)
