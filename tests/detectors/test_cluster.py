"""A detector on a Dask cluster: the same bytes as in one process, whatever happens to workers and documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clueval_xlsx import clusters
from clueval_xlsx.clusters import ClusterPlace, connected
from clueval_xlsx.detectors.base import DetectorSettings, Document
from clueval_xlsx.detectors.runner import Run, RunOptions, run_detector
from clueval_xlsx.exceptions import DetectorError
from tests.support.commands import EXAMPLE_LAYERS, refused, run
from tests.support.dask_clusters import two_workers
from tests.support.detector_scripts import GOOD, MOODY, command

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install clueval-xlsx[dask]")
psutil = pytest.importorskip("psutil", reason="comes with Dask")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of Dask's own, which are many

# Ends the worker that it was started by, not only itself.
MURDEROUS = r"""
import json, os, signal, sys
for line in sys.stdin:
    document = json.loads(line)
    if "MURDER" in document["text"]:
        os.kill(os.getppid(), signal.SIGKILL)
    print(json.dumps({"id": document["id"], "spans": []}), flush=True)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_workers() as started:
        yield started


def documents(*texts: str) -> list[Document]:
    return [Document(f"doc-{number}", text) for number, text in enumerate(texts, 1)]


def on(cluster: Any, **more: Any) -> RunOptions:
    return RunOptions(time_limit=30, cluster=ClusterPlace(cluster.scheduler_address), **more)


def both(cluster: Any, asked: list[Document], settings: DetectorSettings) -> tuple[Run, Run]:
    return run_detector(asked, settings, RunOptions(time_limit=30)), run_detector(asked, settings, on(cluster))


def test_the_finds_are_those_of_one_process_in_the_documents_order(cluster: Any, tmp_path: Path) -> None:
    asked = documents(*(f"Ann {'x' * (number % 7)} Lee {number}" for number in range(60)))
    here, there = both(cluster, asked, DetectorSettings(command(tmp_path, GOOD), "de"))
    assert there.found == here.found
    assert there.description == here.description


def test_crash_hang_and_nonsense_cost_their_document_alone(cluster: Any, tmp_path: Path) -> None:
    texts = ["fine", "a CRASH b", "fine", "GARBAGE", "fine", "ERROR", *["fine"] * 10]
    here, there = both(cluster, documents(*texts), DetectorSettings(command(tmp_path, MOODY)))
    assert there.failures == here.failures
    assert set(there.failures) == {1, 3, 5}
    assert there.found == here.found


def test_a_run_that_broke_off_goes_on_with_another_number_of_workers(cluster: Any, tmp_path: Path) -> None:
    asked = documents("Ann Lee", "x CRASH", "Bob May", "Cy Orr")
    settings, side = DetectorSettings(command(tmp_path, MOODY)), tmp_path / "side"
    with pytest.raises(DetectorError, match="fail_fast"):
        run_detector(asked, settings, on(cluster, fail_fast=True), side_file=side)
    kept = [json.loads(line) for line in side.read_text("utf-8").splitlines()[1:]]
    again = run_detector(asked, settings, RunOptions(resume=True, time_limit=30), side_file=side)
    assert again.resumed == sum(1 for line in kept if line.get("spans") is not None)
    assert list(again.failures) == [1]
    back = run_detector(asked, settings, on(cluster, resume=True), side_file=side)
    assert back.resumed == 3


def test_files_are_scored_to_the_same_bytes(cluster: Any, examples: Path, tmp_path: Path) -> None:
    for side in ("gold", "pred"):
        (tmp_path / side).mkdir()
        text = (examples / f"{side}.vrt").read_text("utf-8")
        for number, document in enumerate(text.split("<text")[1:]):
            (tmp_path / side / f"{number}.vrt").write_text(f"<text{document}", "utf-8")
    command = ("score", tmp_path / "gold", tmp_path / "pred", *EXAMPLE_LAYERS, "--scheme", "all", "--as", "json")
    here, there = run(*command), run(*command, "--cluster", cluster.scheduler_address)
    assert there == here


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (("--cluster", "local"), "how many workers? Give local:4"),
        (("--cluster", "local:0"), "how many workers?"),
        (("--cluster", "local:many"), "how many workers?"),
        (("--cluster", "local:-1"), "how many workers?"),
        (("--cluster", "local:99999"), "too many workers for the"),
        (("--cluster", "somewhere"), "'somewhere': is no address. Give the one that the scheduler printed"),
        (("--cluster", "tcp://"), "is no address"),
        (("--set", "cluster.tls=x.pem"), "cluster.tls has no effect here: it belongs to --cluster."),
        (("--cluster", "tcp://127.0.0.1:9"), "there is no answer: OSError"),
        (("--cluster", "tls://127.0.0.1:9"), "is encrypted. Give the certificates and the key"),
        (("--cluster", "gopher://127.0.0.1:9"), "unknown address scheme"),
        (("--cluster", "tcp://127.0.0.1:9", "--set", "cluster.tls=x.pem"), "cluster.tls=x.pem: cannot be read"),
    ],
)
def test_what_is_no_cluster_is_refused_in_one_sentence(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(clusters, "_ANSWER", 0.2)
    common = ("predict", examples / "gold.vrt", "-o", tmp_path / "p.vrt", "--layer", "category=2")
    done = run(*common, "--detector", command(tmp_path, GOOD), *place)
    refused(done, said)
    assert done.err.count("\n") == 1
    assert not (tmp_path / "p.vrt").exists()


def test_a_place_is_an_address_or_a_number_of_workers_here() -> None:
    assert ClusterPlace("local:3").local_workers == 3
    for address in ("tcp://10.0.0.5:8786", "tls://[::1]:8786", "scheduler.court.example:8786", "10.0.0.5:1"):
        assert ClusterPlace(address).local_workers is None


# The last ones: a worker that died takes a while to come back.


def test_a_document_that_kills_each_worker_is_found_and_costs_no_other(tmp_path: Path) -> None:
    """On a cluster of our own: each batch and each document by itself has three workers to kill, which come back."""
    texts = ["fine"] * 16
    texts[5] = "MURDER"
    seen: list[int] = []
    options = RunOptions(time_limit=30, cluster=ClusterPlace("local:2"))
    detector = DetectorSettings(command(tmp_path, MURDEROUS))
    found = run_detector(documents(*texts), detector, options, seen=seen.append)
    assert found.failures == {5: "each worker that took it died"}
    assert [one is not None for one in found.found].count(True) == 15
    assert seen[0] == 2


def test_a_cluster_of_this_machine_is_encrypted_if_asked_and_listens_here_alone(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    made = distributed.Security.temporary()
    (tmp_path / "all.pem").write_text(made.tls_ca_file + made.tls_client_cert + made.tls_client_key, "ascii")
    here = psutil.Process()
    before = {connection.laddr for connection in here.net_connections("inet") if connection.status == "LISTEN"}
    with connected(ClusterPlace("local:1", str(tmp_path / "all.pem"))) as cluster:
        assert cluster.client.scheduler.address.startswith("tls://127.0.0.1:")
        assert cluster.client.submit(sum, [3, 4]).result() == 7
        opened = {
            connection.laddr
            for process in (here, *here.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == "LISTEN"
        }
    assert opened - before
    assert {address.ip for address in opened - before} == {"127.0.0.1"}
