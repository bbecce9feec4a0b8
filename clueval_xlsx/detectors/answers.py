"""The lines that go to a detector's process and come back; what comes back is checked before it is believed.

A document goes out as `{"id": "…", "text": "…", "language": "en"}` and comes back as
`{"id": "…", "spans": [{"start": 0, "end": 4, "label": "PERSON", "score": 0.9}]}`: offsets count code points, the
end is exclusive, `score` may be left out. `{"id": "…", "error": "…"}` says that this document failed. The `id` says
which document an answer is for: a line too many can be told from the next answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clueval_xlsx.detectors.base import Detection, Document

_SHOWN = 80
_LARGEST_SCORE = 1e300
_ALLOWED = '{"id": "…", "spans": [{"start": 0, "end": 4, "label": "PERSON", "score": 0.9}]}'


class BadAnswerError(Exception):
    """What a detector said makes no sense."""


class DeclinedError(Exception):
    """The detector itself says that a document failed."""


def question(document: Document, language: str) -> bytes:
    """One document as a line; pure ASCII, so that no program can stumble over its encoding."""
    return json.dumps({"id": document.id, "text": document.text, "language": language}).encode("ascii")


def answered_id(answer: Mapping[str, Any]) -> str:
    """The document that an answer is for."""
    if "id" not in answer:
        raise BadAnswerError(f"found {shown(answer)}, which has no 'id'. Allowed: {_ALLOWED}")
    return str(answer["id"])


def parse_line(line: bytes) -> Mapping[str, Any]:
    """The object on a line."""
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):  # bytes that are not UTF-8 included
        raise BadAnswerError(f"found {shown(line)}, which is no JSON. Allowed: {_ALLOWED} on one line") from None
    if not isinstance(content, dict):
        raise BadAnswerError(f"found {shown(line)}. Allowed: {_ALLOWED} on one line")
    return content


def detections(answer: Mapping[str, Any], document: Document) -> list[Detection]:
    """The finds of one document, in order of place; anything that cannot be is refused.

    >>> detections({"spans": [{"start": 0, "end": 3, "label": "PER"}]}, Document("1", "Ann"))
    [Detection(start=0, end=3, label='PER', score=None)]
    """
    if answer.get("error") is not None:
        raise DeclinedError(" ".join(str(answer["error"]).split()))
    spans = answer.get("spans")
    if not isinstance(spans, list):
        raise BadAnswerError(f"found {shown(answer)}, which has no list 'spans'. Allowed: {_ALLOWED}")
    found = [_detection(span, number, document.text) for number, span in enumerate(spans, 1)]
    return sorted(found, key=lambda one: (one.start, one.end, one.label, -(one.score or 0.0)))


def _detection(span: Any, number: int, text: str) -> Detection:
    if isinstance(span, Sequence) and not isinstance(span, str) and len(span) in {3, 4}:
        span = dict(zip(("start", "end", "label", "score"), span, strict=False))
    if not isinstance(span, Mapping):
        raise BadAnswerError(f"span {number} is {shown(span)}. Allowed: an object with start, end and label")
    start, end, label, score = (span.get(key) for key in ("start", "end", "label", "score"))
    whole = (
        isinstance(start, int) and isinstance(end, int) and not isinstance(start, bool) and not isinstance(end, bool)
    )
    if not whole or not 0 <= start < end <= len(text):  # type: ignore[operator]
        raise BadAnswerError(
            f"span {number} goes from {shown(start)} to {shown(end)}. Allowed: whole numbers with start before end, "
            f"0 to {len(text)} code points"
        )
    if not isinstance(label, str) or not label.strip() or not label.isprintable():
        raise BadAnswerError(f"span {number} has the label {shown(label)}. Allowed: some visible characters")
    if score is not None and not _is_score(score):
        raise BadAnswerError(f"span {number} has the score {shown(score)}. Allowed: a number, or none")
    return Detection(start, end, label.strip(), None if score is None else float(score))  # type: ignore[arg-type]


def _is_score(score: Any) -> bool:
    """Whether something is a number, and neither endless nor none at all."""
    return isinstance(score, int | float) and not isinstance(score, bool) and abs(score) <= _LARGEST_SCORE


def shown(value: Any) -> str:
    """A value, cut to a length that a message can bear."""
    try:
        text = repr(value) if not isinstance(value, bytes) else repr(value.decode("utf-8", "replace").strip())
    except RecursionError:
        return "something nested too deeply"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
