"""Where things lie: the checkout, the fixtures of the formats, the real data that may be absent."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "formats"
NO_DATA = "the ler-dev data are not there (../shared/data, or set CLUEVAL_DATA)"


def data_folder() -> Path | None:
    """The folder of the real data (CLUEVAL_DATA, or `../shared/data` beside the checkout), if it is there."""
    given = os.environ.get("CLUEVAL_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if (folder / "ler-dev.gold.vrt").is_file() else None
