"""Running a detector: crashes, silence and nonsense stay with their document; workers and breaks change nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clueval_xlsx.detectors.base import Detection, DetectorSettings, Document
from clueval_xlsx.detectors.runner import RunOptions, run_detector
from clueval_xlsx.exceptions import DetectorError
from tests.support.detector_scripts import (
    ENDLESS,
    ENVIRONMENT,
    GOOD,
    LENGTHS,
    MOODY,
    command,
    install_package,
)

QUICK = RunOptions(time_limit=20)


def documents(*texts: str) -> list[Document]:
    return [Document(f"doc-{number}", text) for number, text in enumerate(texts, 1)]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example package, installed for this test and for the processes it starts."""
    folder = install_package(tmp_path)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_a_command_gets_every_text_and_its_finds_come_back_in_order(tmp_path: Path) -> None:
    settings = DetectorSettings(command(tmp_path, GOOD), "de")
    run = run_detector(documents("Hallo Änne 😀 Ott", "nichts", "line\nBreak"), settings, QUICK)
    assert run.found == (
        (Detection(0, 5, "NAME", 0.5), Detection(13, 16, "NAME", 0.5)),
        (),
        (Detection(5, 10, "NAME", 0.5),),
    )
    assert not run.failures
    assert (run.description.name, run.description.language) == ("command:detector.py", "de")


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("CRASH", "the detector crashed: it ended with exit code 7; its last words: out of coffee"),
        ("ABORT", "the detector crashed: it was ended by signal 6"),
        ("LEAVE", "the detector gave no answer: it ended before it had answered"),
        ("ERROR", "the detector failed: too long"),
        ("BEYOND", "span 1 goes from 0 to 10000. Allowed: whole numbers with start before end, 0 to "),
        ("BACKWARD", "span 1 goes from 3 to 2"),
        ("FLOAT", "span 1 goes from 0.5 to 1"),
        ("UNLABELLED", "span 1 has the label None"),
        ("NOT A NUMBER", "span 1 has the score nan. Allowed: a number, or none"),
        ("HUGE", "span 1 has the score 1000"),
        ("OTHER", "the answer is for document 'somebody else'"),
        ("NAMELESS", "which has no 'id'"),
        ("SPANLESS", "has no list 'spans'"),
        ("LIST", "found '[1, 2]'"),
        ("GARBAGE", "found 'Loading model ...', which is no JSON"),
    ],
)
def test_trouble_stays_with_its_document(tmp_path: Path, word: str, reason: str) -> None:
    run = run_detector(
        documents("fine", f"a {word} b", "fine again"), DetectorSettings(command(tmp_path, MOODY)), QUICK
    )
    assert list(run.failures) == [1]
    assert reason in run.failures[1]
    assert [found is not None for found in run.found] == [True, False, True]


@pytest.mark.parametrize("place", [0, 1, 3])
def test_an_answer_too_many_costs_its_own_document_and_shifts_no_other(tmp_path: Path, place: int) -> None:
    texts = ["a", "bb", "ccc", "dddd"]
    texts[place] += " TWICE"
    side = tmp_path / "side"
    settings = DetectorSettings(command(tmp_path, LENGTHS))
    run = run_detector(documents(*texts), settings, QUICK, side_file=side)
    assert list(run.failures) == [place]
    assert "answered it twice" in run.failures[place]
    expected = [None if number == place else (Detection(0, len(text), "X"),) for number, text in enumerate(texts)]
    assert list(run.found) == expected
    again = run_detector(documents(*texts), settings, RunOptions(resume=True), side_file=side)
    assert again.resumed == 3  # what was answered twice is asked once more
    assert list(again.failures) == [place]


@pytest.mark.parametrize("detector", ["command", "capitals"])
def test_the_password_of_the_workbooks_does_not_reach_a_detector(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detector: str
) -> None:
    monkeypatch.setenv("CLUEVAL_PASSWORD", "sesame")
    monkeypatch.setenv("CLUEVAL_OTHER", "kept")
    name = command(tmp_path, ENVIRONMENT) if detector == "command" else detector
    run = run_detector(documents("ENVIRONMENT"), DetectorSettings(name), QUICK)
    assert run.found[0] is not None
    labels = {one.label for one in run.found[0]}
    assert "CLUEVAL_OTHER" in labels
    assert "CLUEVAL_PASSWORD" not in labels


def test_a_hanging_detector_is_stopped_and_the_others_count(tmp_path: Path) -> None:
    settings = DetectorSettings(command(tmp_path, MOODY))
    run = run_detector(documents("fine", "HANG", "fine"), settings, RunOptions(time_limit=5))
    assert run.failures == {1: "the detector gave no answer within 5 s and was stopped (detector.time_limit)"}
    assert run.found[2] == (Detection(0, 1, "X", None),)


def test_a_program_that_answers_for_ever_is_ended_when_the_time_for_its_document_is_over(tmp_path: Path) -> None:
    side = tmp_path / "side"
    settings = DetectorSettings(command(tmp_path, ENDLESS))
    run = run_detector(documents("a", "b", "ENDLESS", "d"), settings, RunOptions(time_limit=2), side_file=side)
    assert list(run.failures) == [1, 2]
    assert "answered it twice" in run.failures[1]
    assert "no answer within 2 s" in run.failures[2]
    assert side.stat().st_size < 10_000


def test_fail_fast_stops_at_the_first_failure(tmp_path: Path) -> None:
    settings = DetectorSettings(command(tmp_path, MOODY))
    with pytest.raises(DetectorError, match=r"document 'doc-2': the detector crashed.*detector.fail_fast=true"):
        run_detector(documents("a", "CRASH", "c"), settings, RunOptions(fail_fast=True), side_file=tmp_path / "side")
    lines = [json.loads(line) for line in (tmp_path / "side").read_text("utf-8").splitlines()]
    assert [line.get("document") for line in lines] == [None, 0, 1]


@pytest.mark.parametrize("batch", ["1", "4"])
def test_workers_and_batches_change_nothing(package: Path, batch: str) -> None:
    texts = [f"Anna{'x' * (number % 7)} met Ben {number}" for number in range(30)]
    texts[5], texts[11], texts[12] = "RAISE this", "EXIT now", "after the Exit"
    settings = DetectorSettings("capitals", options={"batch": batch})
    runs = [run_detector(documents(*texts), settings, RunOptions(workers=workers)) for workers in (1, 3)]
    assert runs[0].found == runs[1].found
    assert runs[0].failures == runs[1].failures
    assert runs[0].failures[5] == "the detector failed: ValueError: cannot stand this text"
    assert runs[0].failures[11].startswith("the detector crashed: it ended with exit code 3")
    assert sorted(runs[0].failures) == [5, 11]
    assert runs[0].found[12] == (Detection(10, 14, "NAME", 0.5),)


def test_the_configuration_hash_follows_options_and_contents_not_paths(package: Path, tmp_path: Path) -> None:
    def hashed(**settings: object) -> str:
        return run_detector(documents("a"), DetectorSettings("capitals", **settings), QUICK).description.configuration  # type: ignore[arg-type]

    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("x: 1", "utf-8")
    second.write_text("x: 1", "utf-8")
    same = hashed(nlp_config=str(first))
    assert hashed(nlp_config=str(second)) == same
    second.write_text("x: 2", "utf-8")
    assert len({same, hashed(nlp_config=str(second)), hashed(), hashed(score_threshold=0.5)}) == 4


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("xx", "capitals: no such language. Choose another."),
        ("yy", "--detector capitals: it cannot be started: RuntimeError: model file is damaged."),
        ("zz", "--detector capitals: it cannot be started: it ended with exit code 9."),
    ],
)
def test_a_detector_that_cannot_be_made(package: Path, language: str, message: str) -> None:
    with pytest.raises(DetectorError) as caught:
        run_detector(documents("a"), DetectorSettings("capitals", language), QUICK)
    assert str(caught.value) == message


class TestResume:
    """A run that broke off goes on where it stopped."""

    def broken(self, tmp_path: Path) -> tuple[DetectorSettings, Path, list[Document]]:
        """A run that failed on its third document, and its side file."""
        settings, side = DetectorSettings(command(tmp_path, MOODY)), tmp_path / "side.jsonl"
        texts = documents("a", "b", "CRASH", "d")
        run = run_detector(texts, settings, QUICK, side_file=side, sha256="s")
        assert list(run.failures) == [2]
        return settings, side, texts

    def test_only_what_is_missing_is_done(self, tmp_path: Path) -> None:
        settings, side, texts = self.broken(tmp_path)
        lines = [line for line in side.read_text("utf-8").splitlines() if '"document": 3' not in line]
        lines[1] = lines[1].replace('"X"', '"FROM THE FILE"')
        side.write_text("\n".join(lines) + "\n" + '{"document": 3, "spa', "utf-8")  # cut off in the middle
        run = run_detector(texts, settings, RunOptions(resume=True), side_file=side, sha256="s")
        assert run.resumed == 2
        assert run.found[0] == (Detection(0, 1, "FROM THE FILE", None),)
        assert run.found[3] == (Detection(0, 1, "X", None),)
        assert list(run.failures) == [2]  # tried again

    def test_a_complete_run_leaves_its_finds_to_whoever_writes_them(self, tmp_path: Path) -> None:
        settings, side = DetectorSettings(command(tmp_path, GOOD)), tmp_path / "side.jsonl"
        run = run_detector(documents("Ann"), settings, QUICK, side_file=side)
        again = run_detector(documents("Ann"), settings, RunOptions(resume=True), side_file=side)
        assert (again.resumed, again.found) == (1, run.found)

    @pytest.mark.parametrize(
        "line",
        [
            b'{"spans": []}',
            b'{"document": 9, "spans": []}',
            b'{"document": "0", "spans": [[0, 1, "X"]]}',
            b'{"document": 0, "spans": [[0, 99, "X", null]]}',
            b'{"document": 0, "spans": [[0]]}',
            b'{"document": 0, "spans": 7}',
            b'{"document": 0, "spans": "' + b"\xff\xfe" + b'"}',
            b"[" * 100_000,
        ],
        ids=range(8),
    )
    def test_a_damaged_line_is_as_if_it_were_not_there(self, tmp_path: Path, line: bytes) -> None:
        settings, side, texts = self.broken(tmp_path)
        lines = [each for each in side.read_bytes().splitlines() if b'"document": 0' not in each]
        side.write_bytes(b"\n".join([*lines, line, b""]))
        run = run_detector(texts, settings, RunOptions(resume=True), side_file=side, sha256="s")
        assert run.resumed == 2
        assert run.found[0] == (Detection(0, 1, "X", None),)

    def test_an_unfinished_run_is_not_thrown_away_without_a_word(self, tmp_path: Path) -> None:
        settings, side, texts = self.broken(tmp_path)
        before = side.read_bytes()
        with pytest.raises(DetectorError, match=r"an unfinished run lies there.*--resume.*--no-resume"):
            run_detector(texts, settings, QUICK, side_file=side, sha256="s")
        assert side.read_bytes() == before
        run = run_detector(texts, settings, RunOptions(resume=False), side_file=side, sha256="s")
        assert run.resumed == 0

    @pytest.mark.parametrize("what", ["dataset", "text", "detector"])
    def test_a_run_about_something_else_is_not_continued(self, tmp_path: Path, what: str) -> None:
        settings, side, texts = self.broken(tmp_path)
        sha256 = "other" if what == "dataset" else "s"
        if what == "text":
            texts[0] = Document("doc-1", "A")
        if what == "detector":
            settings = DetectorSettings(settings.detector, score_threshold=0.9)
        with pytest.raises(DetectorError, match=rf"cannot be continued: its {what}"):
            run_detector(texts, settings, RunOptions(resume=True), side_file=side, sha256=sha256)

    def test_nothing_to_continue_is_no_error(self, tmp_path: Path) -> None:
        settings = DetectorSettings(command(tmp_path, GOOD))
        run = run_detector(documents("Ann"), settings, RunOptions(resume=True), side_file=tmp_path / "side")
        assert (run.resumed, len(run.found[0] or ())) == (0, 1)
