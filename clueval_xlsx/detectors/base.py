"""What a detector is, the register of those that can be named, the lines it answers, and the process it lives in."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol, runtime_checkable

from clueval_xlsx.exceptions import CluevalError, DetectorError, OptionError
from clueval_xlsx.options import DetectorOptions

ENTRY_POINTS = "clueval_xlsx.detectors"
COMMAND = "command"
PRESIDIO = "presidio"
_BUILT_IN = {PRESIDIO: "clueval_xlsx.detectors.presidio:make"}
_HASH_LENGTH = 12


class Document(NamedTuple):
    """One text to look at, and the name it is reported under."""

    id: str
    text: str


class Detection(NamedTuple):
    """One find: half-open `[start, end)` in code points of the text, its label, and how sure the detector is."""

    start: int
    end: int
    label: str
    score: float | None = None


@dataclass(frozen=True)
class DetectorSettings:
    """Which detector, and everything it was told; a detector uses what it knows and refuses the rest.

    `detector` is a registered name, or `command:` and a command line. `options` are the detector's own
    (`--detector-option KEY=VALUE`).
    """

    detector: str
    language: str = "en"
    score_threshold: float | None = None
    nlp_config: str | None = None
    recognizers_config: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, chosen: DetectorOptions) -> DetectorSettings:
        """What somebody chose; Presidio's files and a threshold have places of their own."""
        more = dict(chosen.option)
        threshold = more.pop("score_threshold", None)
        try:
            least = None if threshold is None else float(threshold)
        except ValueError:
            least = -1.0
        if least is not None and not 0 <= least <= 1:
            raise OptionError(f"--detector-option score_threshold: found {threshold!r}. Allowed: a number from 0 to 1.")
        files = more.pop("nlp_config", None), more.pop("recognizers_config", None)
        return cls(str(chosen.name), chosen.language, least, *files, options=more)

    @property
    def command(self) -> str | None:
        """The command line of a `command:` detector."""
        kind, colon, line = self.detector.partition(":")
        return line.strip() if colon and kind == COMMAND else None


@dataclass(frozen=True)
class Description:
    """What a detector says about itself.

    `entities` are the labels it can give (None: nobody knows). `label_map` renames the labels of a model inside
    it, `custom_entities` are those its user added, and with `presidio_names` its labels are those of Presidio.
    """

    name: str
    version: str
    language: str
    configuration: str  # hash of everything that it was configured with
    entities: tuple[str, ...] | None = None
    label_map: Mapping[str, str] = field(default_factory=dict)
    custom_entities: tuple[str, ...] = ()
    presidio_names: bool = False
    batch_size: int = 1

    def __str__(self) -> str:
        """The part of a signature.

        >>> str(Description("presidio", "2.2.360", "de", "0123456789ab"))
        'presidio/2.2.360/de/0123456789ab'
        """
        parts = (self.name, self.version, self.language, self.configuration)
        return "/".join(part.replace("|", "_").replace("/", "_") for part in parts)

    def as_json(self) -> dict[str, Any]:
        """For the wire."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Description:
        """From the wire."""
        entities = content.get("entities")
        return cls(
            **{
                **content,
                "entities": None if entities is None else tuple(entities),
                "custom_entities": tuple(content.get("custom_entities", ())),
            }
        )


@runtime_checkable
class Detector(Protocol):
    """A detector in Python.

    A package offers one as an entry point in the group `clueval_xlsx.detectors`: a function that takes
    `DetectorSettings` and returns an object like this. It lives in a process of its own, and several of them run
    side by side with `--workers`; what it prints goes to nobody.
    """

    def describe(self) -> Description:
        """Who it is; asked once, when it is ready."""
        ...

    def analyse(self, texts: Sequence[str]) -> Sequence[Sequence[Detection]]:
        """The finds in each text; at most `Description.batch_size` texts come at once."""
        ...


def known_detectors() -> list[str]:
    """The names that `--detector` takes, `command:…` aside."""
    return sorted({*_BUILT_IN, *(point.name for point in metadata.entry_points(group=ENTRY_POINTS))})


def load_detector(settings: DetectorSettings) -> Detector:
    """Make the detector that the settings name."""
    built_in = _BUILT_IN.get(settings.detector)
    if built_in:
        points = [metadata.EntryPoint(settings.detector, built_in, ENTRY_POINTS)]
    else:
        points = [point for point in metadata.entry_points(group=ENTRY_POINTS) if point.name == settings.detector]
    if not points:
        check_detector_name(settings.detector)
    factory: Callable[[DetectorSettings], Detector] = points[0].load()
    return factory(settings)


def check_detector_name(name: str) -> None:
    """Refuse a name that no detector has."""
    if name.partition(":")[0] == COMMAND:
        if not name.partition(":")[2].strip():
            raise DetectorError(
                '--detector command: the command is missing. Give --detector command:"python detect.py".'
            )
        return
    if name not in known_detectors():
        raise DetectorError(
            f"--detector {name}: there is no such detector. Allowed: {', '.join(known_detectors())}, or "
            f'command:"…" for a program of your own; a package adds its own as an entry point in {ENTRY_POINTS!r}.'
        )


def configuration_hash(settings: DetectorSettings, *more: Any) -> str:
    """A short hash of what a detector was told; files count by their content, not by their name."""
    told = asdict(settings)
    for key in ("detector", "language"):  # these stand beside the hash
        told.pop(key)
    for key in ("nlp_config", "recognizers_config"):
        told[key] = None if told[key] is None else file_hash(told[key])
    content = json.dumps([told, *more], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:_HASH_LENGTH]


def file_hash(path: str) -> str:
    """The hash of a file's content."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise DetectorError(f"{path}: cannot be read: {error.strerror or error}. Check the path.") from None


# ---- The lines that go to a detector's process and come back; what comes back is checked before it is believed

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


# ---- The process in which a Python detector lives: reads chunks of documents line by line, answers each with a line


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
