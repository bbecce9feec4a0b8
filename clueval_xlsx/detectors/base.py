"""What a detector is, what it says about itself, and the register of those that can be named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from clueval_xlsx.exceptions import DetectorError, OptionError
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
