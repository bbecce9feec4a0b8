"""Workers that go or come in the middle: one too few costs nothing, none is said, waited for and given up in one
sentence, what is done is kept; one of another version, or with another detector, is refused."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clueval_xlsx import clusters
from tests.support.ci import THOROUGH
from tests.support.commands import refused, run
from tests.support.dask_clusters import ClusterOfProcesses, cluster_of_processes
from tests.support.detector_scripts import GOOD, SLOW, SLOW_READER, command
from tests.support.waiting import lines_in, when

pytest.importorskip("distributed", reason="needs Dask: pip install clueval-xlsx[dask]")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of Dask's own, which are many

TEXTS = 20
OUTPUTS = (("predict", "p.json"), ("evaluate", "review.xlsx"))
NONE_FOR = "Error: --cluster: there has been no worker for 1 s. Start one (dask worker tcp://127.0.0.1:"
# As sitecustomize.py on a worker's path.
OLDER = "import clueval_xlsx.version\nclueval_xlsx.version.__version__ = '0.9.0'\n"
NOTE = "Note: the cluster has no worker; waiting for one.\n"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_LOOK", 0.1)
    monkeypatch.setattr(clusters, "_NOTICE", 0.3)
    monkeypatch.setattr(clusters, "WAIT", 1.0)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ClusterOfProcesses]:
    (tmp_path / "there").mkdir()
    with cluster_of_processes(tmp_path / "there") as started:
        yield started


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Short texts, two seconds' work for the slow detector."""
    lines = [
        {"full_text": f"Ann Lee {n}", "spans": [{"entity_type": "PER", "start_position": 0, "end_position": 7}]}
        for n in range(TEXTS)
    ]
    (tmp_path / "texts.json").write_text(json.dumps(lines), "utf-8")
    return tmp_path / "texts.json"


@pytest.mark.sweep
@pytest.mark.parametrize("outputs", OUTPUTS if THOROUGH else OUTPUTS[:1], ids=lambda pair: pair[0])
def test_when_all_workers_die_the_run_says_so_and_a_later_one_goes_on(
    cluster: ClusterOfProcesses, texts: Path, tmp_path: Path, outputs: tuple[str, str]
) -> None:
    verb, name = outputs
    words = (verb, texts, "-o", tmp_path / name, "--detector", command(tmp_path, SLOW))
    place = ("--cluster", cluster.address)
    cluster.add_worker()
    cluster.add_worker()
    side = tmp_path / f"{name}.progress.jsonl"
    killer = when(lambda: lines_in(side) > 5, cluster.kill_workers)
    stopped = run(*words, *place)
    killer.join()
    refused(stopped, NOTE, NONE_FOR, f"What was found so far is in {side}; the same command with --resume goes on")
    assert len(stopped.err.splitlines()) == 3
    assert not (tmp_path / name).exists()
    kept = lines_in(side) - 1
    assert 5 <= kept < TEXTS
    cluster.add_worker()
    resumed = run(*words, *place, "--resume")
    assert resumed.code == 0, resumed.err
    assert f"Taken from the run that broke off: {kept} of {TEXTS} documents." in resumed.err
    assert "no worker" not in resumed.err
    if verb == "predict":
        (tmp_path / "here").mkdir()
        assert run(*words[:3], tmp_path / "here" / name, *words[4:]).code == 0
        assert (tmp_path / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_a_fresh_cluster_is_waited_for_until_it_has_a_worker(
    cluster: ClusterOfProcesses, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("predict", texts, "-o", tmp_path / "p.json", "--detector", command(tmp_path, GOOD))
    refused(run(*words, "--cluster", cluster.address), NOTE, NONE_FOR)
    monkeypatch.setattr(clusters, "WAIT", 60.0)
    coming = threading.Timer(1, cluster.add_worker)
    coming.start()
    done = run(*words, "--cluster", cluster.address)
    coming.join()
    assert done.code == 0, done.err
    assert done.err.startswith(f"{NOTE}Note: the cluster has 1 worker now.\n")


def test_scores_are_the_same_to_the_byte_when_one_of_two_workers_is_killed(
    cluster: ClusterOfProcesses, examples: Path, tmp_path: Path
) -> None:
    (tmp_path / "there" / "sitecustomize.py").write_text(SLOW_READER, "utf-8")
    folders = tmp_path / "gold", tmp_path / "pred"
    for folder in folders:
        folder.mkdir()
        decisions = re.findall(r"<text.*?</text>\n", (examples / f"{folder.name}.vrt").read_text("utf-8"), re.DOTALL)
        for number in range(40):
            decision = decisions[number % len(decisions)].replace('id="', f'id="{number}-', 1)
            (folder / f"{number}.vrt").write_text(decision, "utf-8")
    words = ("score", *folders, "--layer", "category=2", "--scheme", "all", "--as", "json")
    for name in ("first", "second"):
        shutil.copytree(tmp_path / "there", tmp_path / name)
        cluster.add_worker(tmp_path / name)
    killer = when((tmp_path / "first" / "begun").exists, cluster.kill_first_worker)
    done = run(*words, "--cluster", cluster.address)
    killer.join()
    assert done.code == 0, done.err
    assert done.out == run(*words).out


def test_a_scheduler_that_is_lost_ends_the_run_and_keeps_what_is_done(
    cluster: ClusterOfProcesses, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "_ANSWER", 4)
    side = tmp_path / "p.json.progress.jsonl"
    words = ("predict", texts, "-o", tmp_path / "p.json", "--detector", command(tmp_path, SLOW))
    cluster.add_worker()
    killer = when(lambda: lines_in(side) > 5, cluster.scheduler.kill)
    done = run(*words, "--cluster", cluster.address)
    killer.join()
    refused(done, "Error: --cluster: the scheduler is gone: ", "--resume goes on from there")
    assert len(done.err.splitlines()) == 2
    assert "_run_batch" not in done.err
    assert "_in_version" not in done.err
    assert lines_in(side) > 5


# Workers that join later


def test_one_with_another_detector_stops_the_run_and_what_is_done_is_kept(
    cluster: ClusterOfProcesses, tmp_path: Path
) -> None:
    for name, label in (("there", "NAME"), ("late", "PER")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "detect.py").write_text(SLOW.replace("NAME", label), "utf-8")
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
    (tmp_path / "late").mkdir()
    (tmp_path / "late" / "sitecustomize.py").write_text(OLDER, "utf-8")
    cluster.add_worker()
    (tmp_path / "gold").mkdir()
    for number in range(96):
        (tmp_path / "gold" / f"{number}.vrt").write_text("Ann\tB-PER\nLee\tI-PER\n", "utf-8")
    joining = when((tmp_path / "there" / "begun").exists, lambda: cluster.add_worker(tmp_path / "late"))
    done = run("score", tmp_path / "gold", tmp_path / "gold", "--cluster", cluster.address)
    joining.join()
    refused(done, "a worker has clueval-xlsx 0.9.0, and here it is ")
