"""What the tests share: files cut from one readable table, the command line in-process, data that may be absent."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.formats.loading import ReadOptions, read
from clueval_xlsx.resources import resource_folder

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "tests" / "fixtures" / "formats"
EXAMPLE_OPTIONS = ("--layer", "category=2", "--layer", "risk=3", "--token-id", "4")

# No deadline: a shared machine may be slow, and tests do not measure time.
# In CI the examples are always the same: what lands is what was tried, and new examples are found on desks.
settings.register_profile(
    "clueval",
    deadline=None,
    max_examples=int(os.environ.get("CLUEVAL_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("clueval")


class Sides(NamedTuple):
    """The two files cut from one table."""

    gold: bytes
    pred: bytes


def cut(table: str) -> Sides:
    """Cut gold and prediction from one table.

    The first line names the columns. `gold…` and `pred…` go to one side each, everything else to both. Lines from
    `<` to `>` are structure and stand in both files, an empty line ends a sentence in both. Columns are separated
    by any white space in the table and by a tab in the files; `_` is an empty cell.

    >>> cut('''
    ...     token  gold   pred
    ...     <s>
    ...     Ann    B-PER  B-PER
    ...     Lee    I-PER  O
    ... ''').pred
    b'<s>\\nAnn\\tB-PER\\nLee\\tO\\n'
    """
    lines = [line.strip() for line in table.strip("\n").rstrip().splitlines()]
    header = lines[0].split()
    sides = []
    for own, other in (("gold", "pred"), ("pred", "gold")):
        kept = [index for index, name in enumerate(header) if not name.startswith(other) or name.startswith(own)]
        written = []
        for line in lines[1:]:
            cells = line.split()
            if line.startswith("<") and line.endswith(">"):
                written.append(line)
                continue
            written.append("\t".join("" if cells[index] == "_" else cells[index] for index in kept) if cells else "")
        sides.append(("\n".join(written) + "\n").encode("utf-8"))
    return Sides(*sides)


def pair_of(table: str | Sides, **options: object) -> Pair:
    """Read both sides of a table; keyword arguments are those of `ReadOptions`."""
    sides = cut(table) if isinstance(table, str) else table
    chosen = ReadOptions(**{"format": "vrt", **options})  # type: ignore[arg-type]
    readings = [read(io.BytesIO(side), chosen, name=name) for name, side in zip(("gold", "pred"), sides, strict=True)]
    return make_pair(*readings)


def spans_of(*spans: tuple[int, int] | tuple[int, int, str | None], layer: str = "span") -> pd.DataFrame:
    """A span frame from (start, end) or (start, end, label)."""
    start, end = np.array([span[0] for span in spans], int), np.array([span[1] for span in spans], int)
    return make_spans(start, end, {layer: [span[2] if len(span) > 2 else "X" for span in spans]})


def listed(spans: pd.DataFrame) -> list[tuple]:
    """A span frame as plain tuples, None where there is no label."""
    rows = spans.astype(object).where(spans.notna(), None)
    return [tuple(row) for row in rows.itertuples(index=False, name=None)]


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str


class _Stream(io.TextIOWrapper):
    def __init__(self, content: bytes = b"") -> None:
        super().__init__(io.BytesIO(content), encoding="utf-8", write_through=True, newline="")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


def run(*arguments: object, stdin: bytes = b"") -> Result:
    """Run the whole command line in this process, `main` with its exit codes included."""
    from clueval_xlsx.cli import main

    saved = sys.argv, sys.stdin, sys.stdout, sys.stderr
    out, err = _Stream(), _Stream()
    sys.argv = ["clueval-xlsx", *map(str, arguments)]
    sys.stdin, sys.stdout, sys.stderr = _Stream(stdin), out, err
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = saved
    return Result(code, out.text(), err.text())


def run_process(
    arguments: Sequence[object], *, stdin: bytes = b"", cwd: Path | None = None, python: Sequence[str] | None = None
) -> Result:
    """Run a Python process (by default `python -m clueval_xlsx …`) that sees this checkout."""
    command = [*(python or [sys.executable, "-m", "clueval_xlsx"]), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=environment, check=False)
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def refused(result: Result, *words: str) -> None:
    """A command refused its input: exit code 2, all these words in the message, no traceback, no data."""
    assert result.code == 2, (result.code, result.err)
    for word in words:
        assert word in result.err, result.err
    assert "Traceback" not in result.err
    assert result.out == ""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a file into the test's folder and returns its path."""

    def writer(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return writer


@pytest.fixture
def write_pair(write: Callable[..., Path]) -> Callable[[str | Sides], tuple[Path, Path]]:
    """A function that writes both sides of a table as gold.vrt and pred.vrt."""

    def writer(table: str | Sides) -> tuple[Path, Path]:
        sides = cut(table) if isinstance(table, str) else table
        return write("gold.vrt", sides.gold), write("pred.vrt", sides.pred)

    return writer


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of the example files."""
    return resource_folder("examples")


def data_folder() -> Path | None:
    """The folder of the real data (CLUEVAL_DATA, or `../shared/data` beside the checkout), if it is there."""
    given = os.environ.get("CLUEVAL_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if (folder / "ler-dev.gold.vrt").is_file() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the real data; tests that need it are skipped where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("the ler-dev data are not there (../shared/data, or set CLUEVAL_DATA)")
    return folder


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where the programs are required (in CI), a test that skips for want of one has failed."""
    outcome = yield
    report = outcome.get_result()
    needs = [name for name in ("office", "browser") if item.get_closest_marker(name)]
    if report.skipped and needs and os.environ.get("CLUEVAL_REQUIRE_PROGRAMS"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but CLUEVAL_REQUIRE_PROGRAMS is set: {report.longrepr}"
