"""Workers that join a cluster long after the start: another version, or another detector, is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import refused, run
from tests.support.dask_clusters import ClusterOfProcesses, cluster_of_processes
from tests.support.detector_scripts import SLOW
from tests.support.waiting import lines_in, when

pytest.importorskip("distributed", reason="needs Dask: pip install clueval-xlsx[dask]")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of Dask's own, which are many

# As sitecustomize.py on a worker's path.
OLDER = "import clueval_xlsx.version\nclueval_xlsx.version.__version__ = '0.9.0'\n"
SLOW_READER = """
import pathlib, time
read = pathlib.Path.read_bytes
def slow(path):
    time.sleep(0.1)
    pathlib.Path("begun").touch()
    return read(path)
pathlib.Path.read_bytes = slow
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ClusterOfProcesses]:
    for name in ("there", "late"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "detect.py").write_text(SLOW, "utf-8")
    with cluster_of_processes(tmp_path / "there") as started:
        yield started


def test_one_with_another_detector_stops_the_run_and_what_is_done_is_kept(
    cluster: ClusterOfProcesses, tmp_path: Path
) -> None:
    (tmp_path / "late" / "detect.py").write_text(SLOW.replace("NAME", "PER"), "utf-8")
    cluster.add_worker()
    texts = [{"full_text": f"Ann Lee {number}", "spans": []} for number in range(300)]
    (tmp_path / "texts.json").write_text(json.dumps(texts), "utf-8")
    side = tmp_path / "p.json.progress.jsonl"
    joining = when(lambda: lines_in(side) > 3, lambda: cluster.add_worker(tmp_path / "late"))
    place = ("--detector", "command:python3 detect.py", "--cluster", cluster.address)
    done = run("predict", tmp_path / "texts.json", "-o", tmp_path / "p.json", *place)
    joining.join()
    refused(
        done, "the workers have different detectors: command:detect.py/-/en/", f"What was found so far is in {side}"
    )
    assert len(done.err.splitlines()) == 2
    assert '"NAME"' in side.read_text("utf-8")
    assert '"PER"' not in side.read_text("utf-8")


def test_one_of_another_version_counts_nothing(cluster: ClusterOfProcesses, tmp_path: Path) -> None:
    (tmp_path / "there" / "sitecustomize.py").write_text(SLOW_READER, "utf-8")
    (tmp_path / "late" / "sitecustomize.py").write_text(OLDER, "utf-8")
    cluster.add_worker()
    (tmp_path / "gold").mkdir()
    for number in range(96):
        (tmp_path / "gold" / f"{number}.vrt").write_text("Ann\tB-PER\nLee\tI-PER\n", "utf-8")
    joining = when((tmp_path / "there" / "begun").exists, lambda: cluster.add_worker(tmp_path / "late"))
    done = run("score", tmp_path / "gold", tmp_path / "gold", "--cluster", cluster.address)
    joining.join()
    refused(done, "a worker has clueval-xlsx 0.9.0, and here it is ")
