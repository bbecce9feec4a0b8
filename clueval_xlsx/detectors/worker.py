"""One worker: keeps a detector's process running, gives it documents, and says what became of each."""

from __future__ import annotations

import contextlib
import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from clueval_xlsx.detectors.base import (
    PRESIDIO,
    BadAnswerError,
    DeclinedError,
    Description,
    Detection,
    DetectorSettings,
    Document,
    answered_id,
    check_detector_name,
    detections,
    parse_line,
    question,
    shown,
)
from clueval_xlsx.detectors.process import (
    ENDED_EARLY,
    LineProcess,
    ProcessCrashedError,
    ProcessSilentError,
    describe_command,
    now,
    split_command,
)
from clueval_xlsx.exceptions import DetectorError
from clueval_xlsx.files.python_processes import python_command, python_environment

START_LIMIT = 600.0  # seconds to load a detector and its models
_SERVE = "from clueval_xlsx.detectors.base import main; main()"
_TWICE = "the detector answered it twice, so nobody can tell which answer is meant"


class Task(NamedTuple):
    """A document, under an ID that no other has, and its number."""

    number: int
    document: Document


Chunk = list[Task]


class DocumentOutcome(NamedTuple):
    """What became of a document: its finds, or why there are none. A second one of a document replaces the first."""

    number: int
    found: list[Detection] | None
    failure: str = ""


class Worker:
    """Runs documents through one process at a time; a process that went wrong is replaced."""

    def __init__(self, settings: DetectorSettings, time_limit: float | None) -> None:
        check_detector_name(settings.detector)
        if settings.detector == PRESIDIO:
            from clueval_xlsx.detectors.presidio import check_installed

            check_installed()
        self.settings = settings
        self._time_limit = time_limit
        self._is_command = settings.command is not None
        # A second chunk lies ready, so that a Python detector never waits for us. A command gets one document
        # at a time: only then is it sure which one it crashed on.
        self._window = 1 if self._is_command else 2
        self._process: LineProcess | None = None
        self._answered: dict[str, int] = {}  # by the present process: numbers of documents by their IDs
        self._stopped = False
        self.description = self._start()

    def run(self, chunks: Iterator[Chunk]) -> Iterator[DocumentOutcome]:
        """Work through chunks of documents; an outcome for each document, in their order but for repeats."""
        ready: deque[Chunk] = deque()  # to be sent before anything new
        sent: deque[Chunk] = deque()
        since = now()
        while not self._stopped:
            while len(sent) < self._window and (chunk := _next(ready, chunks)):
                if self._process is None:
                    self._start()
                if not sent:
                    since = now()
                self._send(chunk)
                sent.append(chunk)
            if not sent:
                return
            chunk = sent[0]
            try:
                yield from self._receive(chunk, since)
                sent.popleft()
                since = now()
                self._answered.update({task.document.id: task.number for task in chunk})
            except (ProcessCrashedError, ProcessSilentError, BadAnswerError) as trouble:
                if self._stopped:
                    return
                ended_well = self._ended_well(trouble)
                self._end()
                sent.popleft()
                if ended_well:
                    ready.extend([chunk, *sent])
                elif len(chunk) > 1:  # one of them is to blame: each by itself
                    ready.extend([*([task] for task in chunk), *sent])
                else:
                    ready.extend(sent)
                    yield DocumentOutcome(chunk[0].number, None, self._explain(trouble))
                sent.clear()

    def finish(self) -> Iterator[DocumentOutcome]:
        """Let the process end; a program may still say something about documents that it has answered."""
        process, self._process = self._process, None
        for line in process.finish() if process is not None else ():
            with contextlib.suppress(BadAnswerError):  # what is about no document harms none
                if self._is_command and (number := self._answered.get(answered_id(parse_line(line)))) is not None:
                    yield DocumentOutcome(number, None, _TWICE)

    def stop(self) -> None:
        """End the process at once; may be called from another thread."""
        self._stopped = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Let the process go."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _start(self) -> Description:
        self._answered = {}
        if self._is_command:
            description = describe_command(self.settings)
            self._process = LineProcess(split_command(self.settings.command or ""))
            return description
        # The child sees the modules that this process sees, but for those in the current folder.
        self._process = LineProcess(python_command(_SERVE), python_environment())
        self._process.send(json.dumps(asdict(self.settings)).encode("ascii"))
        try:
            answer = parse_line(self._process.receive(START_LIMIT))
        except (ProcessCrashedError, ProcessSilentError, BadAnswerError) as trouble:
            self._end()
            reason = str(trouble) or f"it was not ready after {START_LIMIT:.0f} s"
            raise DetectorError(f"--detector {self.settings.detector}: it cannot be started: {reason}.") from None
        if "detector" not in answer:
            self.close()
            raise DetectorError(str(answer.get("fatal", shown(answer))))
        return Description.from_json(answer["detector"])

    def _send(self, chunk: Chunk) -> None:
        assert self._process is not None
        if self._is_command:
            self._process.send(question(chunk[0].document, self.settings.language))
        else:
            texts = [task.document.text for task in chunk]
            self._process.send(json.dumps({"texts": texts}).encode("ascii"))

    def _receive(self, chunk: Chunk, since: float) -> Iterator[DocumentOutcome]:
        """The outcomes of a chunk that was sent; before them those of documents that were answered once more."""
        deadline = None if self._time_limit is None else since + self._time_limit * len(chunk)
        if self._is_command:
            yield from self._receive_by_id(chunk[0], deadline)
            return
        answer = self._next_answer(deadline)
        answers = answer.get("answers")
        if not isinstance(answers, list) or len(answers) != len(chunk):
            raise BadAnswerError(f"found {shown(answer)}")
        for task, one in zip(chunk, answers, strict=True):
            try:
                yield self._outcome(task, one)
            except BadAnswerError as trouble:
                yield DocumentOutcome(task.number, None, self._explain(trouble))

    def _receive_by_id(self, task: Task, deadline: float | None) -> Iterator[DocumentOutcome]:
        """The answer of a program, which says what document it is for; anything but this one is a mistake."""
        answer = self._next_answer(deadline)
        repeated: set[str] = set()
        while (found := answered_id(answer)) != task.document.id:
            if found not in self._answered:
                raise BadAnswerError(f"the answer is for document {found!r}, which was not asked for")
            if found not in repeated:
                repeated.add(found)
                yield DocumentOutcome(self._answered[found], None, _TWICE)
            if deadline is not None and now() >= deadline:  # however many lines have come
                raise ProcessSilentError
            answer = self._next_answer(deadline)
        yield self._outcome(task, answer)

    def _next_answer(self, deadline: float | None) -> Mapping[str, Any]:
        assert self._process is not None
        return parse_line(self._process.receive(None if deadline is None else deadline - now()))

    def _outcome(self, task: Task, answer: Mapping[str, Any]) -> DocumentOutcome:
        try:
            return DocumentOutcome(task.number, self._above_threshold(detections(answer, task.document)))
        except DeclinedError as refusal:
            return DocumentOutcome(task.number, None, f"the detector failed: {refusal}")

    def _above_threshold(self, found: Sequence[Detection]) -> list[Detection]:
        threshold = self.settings.score_threshold
        return [one for one in found if threshold is None or one.score is None or one.score >= threshold]

    def _ended_well(self, trouble: Exception) -> bool:
        """A program that ends after some answers, without complaint, is started anew for the next document."""
        return isinstance(trouble, ProcessCrashedError) and ENDED_EARLY in str(trouble) and bool(self._answered)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def _explain(self, trouble: Exception) -> str:
        if isinstance(trouble, ProcessCrashedError):
            return f"the detector {'gave no answer' if ENDED_EARLY in str(trouble) else 'crashed'}: {trouble}"
        if isinstance(trouble, ProcessSilentError):
            return f"the detector gave no answer within {self._time_limit:g} s and was stopped (detector.time_limit)"
        return f"the detector's answer makes no sense: {trouble}"


def _next(ready: deque[Chunk], chunks: Iterator[Chunk]) -> Chunk | None:
    return ready.popleft() if ready else next(chunks, None)
