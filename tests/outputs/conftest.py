"""What the tests of the outputs look at."""

from __future__ import annotations

import pytest

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.resources import resource_folder


@pytest.fixture(scope="session")
def example() -> Evaluation:
    """The example files, evaluated with groups by domain."""
    chosen = ReadOptions(layers={"category": 2, "risk": 3}, token_id=4)
    folder = resource_folder("examples")
    return evaluate(
        make_pair(*(read(folder / name, chosen) for name in ("gold.vrt", "pred.vrt"))), Options(by=("domain",))
    )
