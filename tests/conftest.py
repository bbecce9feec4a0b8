"""How the tests run: the settings of hypothesis, files for a test, data and programs that may be absent."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from clueval_xlsx.resources import resource_folder
from tests.support.ci import IN_CI, PROGRAMS_REQUIRED
from tests.support.commands import refused, run
from tests.support.folders import NO_DATA, data_folder
from tests.support.office import Office, missing
from tests.support.tables import Sides, cut

# No deadline: a shared machine may be slow, and tests do not measure time. In CI the examples are always the same, so
# that what lands is what was tried; a second pass over the tests of properties draws more and new ones (profile `new`),
# with a seed that it prints.
USUAL_EXAMPLES, NEW_EXAMPLES = 10, 62
settings.register_profile(
    "clueval",
    deadline=None,
    max_examples=int(os.environ.get("CLUEVAL_EXAMPLES", USUAL_EXAMPLES)),
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IN_CI,
)
settings.register_profile("new", settings.get_profile("clueval"), derandomize=False, max_examples=NEW_EXAMPLES)
settings.load_profile("clueval")


# The threads that numpy would start in every process of a test wait for work by spinning.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Whoever starts the tests in the background or with nohup has these ignored, and so would every program they start.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (getattr(signal, "SIGHUP", None), signal.SIG_DFL)):
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# What is loaded and collected stays until the end: to look through it for garbage again and again took a fifth of the
# time.
gc.disable()


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: some tests wait for programs, clusters and workers to start and to die."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_finish() -> None:
    """From here on garbage is collected, but not looked for among what was there before the first test."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that draw their examples are marked `properties`."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("properties")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """How the examples are drawn, so that a failure can be tried again, and whether the real data are there."""
    seed = config.getoption("--hypothesis-seed")
    if seed is not None:
        drawn = f"drawn with --hypothesis-seed={seed}"
    else:
        drawn = "the same each time" if settings.default.derandomize else "new ones each time"
    return [f"examples: {drawn}", f"real data: {data_folder() or NO_DATA}"]


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


@pytest.fixture
def both_refuse(write: Callable[..., Path], tmp_path: Path) -> Callable[..., None]:
    """A function that checks that `score` and `evaluate` refuse two files with these words."""

    def check(gold: str | bytes, pred: str | bytes, *words: str, options: tuple[object, ...] = ()) -> None:
        sides = write("gold.vrt", gold), write("pred.vrt", pred)
        before = sorted(tmp_path.rglob("*"))
        refused(run("score", *sides, *options), *words)
        outputs = "-o", tmp_path / "out" / "r.xlsx", "--json", tmp_path / "new" / "m.json", "--files", tmp_path / "dir"
        refused(run("evaluate", *sides, *options, *outputs), *words)
        assert sorted(tmp_path.rglob("*")) == before

    return check


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of the example files."""
    return resource_folder("examples")


@pytest.fixture(scope="session")
def sides(examples: Path) -> tuple[Path, Path]:
    """Gold and prediction of the example."""
    return examples / "gold.vrt", examples / "pred.vrt"


@pytest.fixture
def home(tmp_path: Path, examples: Path) -> Path:
    """A folder with copies of the example files."""
    for name in ("gold.vrt", "pred.vrt"):
        shutil.copy(examples / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of the real data; tests that need it are skipped where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip(NO_DATA)
    return folder


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A LibreOffice, started once; tests that need it are skipped where there is none."""
    if reason := missing():
        pytest.skip(reason)
    with Office(tmp_path_factory.mktemp("office")) as running:
        yield running


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where the programs are required (in CI), a test that skips for want of one has failed."""
    outcome = yield
    report = outcome.get_result()
    needs = [name for name in ("office", "browser") if item.get_closest_marker(name)]
    if report.skipped and needs and PROGRAMS_REQUIRED:
        report.outcome = "failed"
        report.longrepr = f"skipped, but CLUEVAL_REQUIRE_PROGRAMS is set: {report.longrepr}"
