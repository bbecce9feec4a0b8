"""The process in which a Python detector lives: reads chunks of documents line by line, answers each with a line.

Started by a worker, which calls `main`. The first line holds the settings, the first
answer the detector's description. One process a worker keeps a detector's crash, memory and output to itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import IO, Any

from clueval_xlsx.detectors.base import Description, Detector, DetectorSettings, load_detector
from clueval_xlsx.exceptions import CluevalError


def main() -> None:
    """Serve until the input ends."""
    # Questions and answers get the real standard streams. Whatever the detector prints goes to standard error
    # instead, and whatever it reads is empty.
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    serve(questions, answers)


def serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Load the detector, describe it, and answer every line."""
    settings = DetectorSettings(**json.loads(questions.readline()))
    try:
        detector = load_detector(settings)
        description = detector.describe()
    except CluevalError as error:
        _say(answers, {"fatal": str(error)})
        return
    except Exception as error:  # the detector is somebody else's code: whatever it raises is told, not shown
        _say(answers, {"fatal": f"--detector {settings.detector}: it cannot be started: {describe_error(error)}."})
        return
    if not isinstance(description, Description):
        _say(
            answers,
            {"fatal": f"--detector {settings.detector}: describe() gave {description!r}. Allowed: a Description."},
        )
        return
    _say(answers, {"detector": description.as_json()})
    answer_all(detector, questions, answers)


def answer_all(detector: Detector, questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer one line of texts after another until the input ends."""
    while line := questions.readline():
        _say(answers, {"answers": answer(detector, json.loads(line)["texts"])})


def _say(answers: IO[bytes], content: Mapping[str, Any]) -> None:
    answers.write(json.dumps(content).encode("ascii") + b"\n")
    answers.flush()


def answer(detector: Detector, texts: Sequence[str]) -> list[dict[str, Any]]:
    """One answer a text; if a chunk fails, its texts are tried one by one to find those at fault."""
    try:
        found = list(detector.analyse(texts))
        if len(found) != len(texts):
            raise ValueError(f"{len(texts)} texts were given to analyse(), {len(found)} lists came back")
        return [{"spans": [_plain(one) for one in spans]} for spans in found]
    except Exception as error:
        if len(texts) > 1:
            return [answer(detector, [text])[0] for text in texts]
        return [{"error": describe_error(error)}]


def _plain(detection: Any) -> list[Any]:
    """A find as plain numbers and strings; numpy's numbers are allowed."""
    start, end, label, score = (*detection, None)[:4]
    return [_number(start), _number(end), label, None if score is None else float(score)]


def _number(value: Any) -> Any:
    return int(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value


def describe_error(error: Exception) -> str:
    """An exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(".")
