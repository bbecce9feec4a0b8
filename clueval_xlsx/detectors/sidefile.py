"""Predictions on disk as they come, one line a document, so that a run that broke off can go on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec

from clueval_xlsx.detectors.base import BadAnswerError, Detection, Document, detections, parse_line
from clueval_xlsx.exceptions import DetectorError, OutputError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.files.typed_values import build, plain


class Header(msgspec.Struct, frozen=True):
    """The first line: which version wrote the file, and what its run is about; only a run about the same goes on."""

    version: str = msgspec.field(name="clueval-xlsx")
    detector: str  # as in the signature
    dataset: str  # its hash
    documents: int
    texts: str  # hash of the texts as they were given to the detector


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One document: its number and what was found in it, or why it failed."""

    document: int
    spans: Sequence[tuple[int, int, str, float | None]] | None = None
    failure: str | None = None


class SideFile:
    """The file of one run: a header, then a line for each document in the order in which they were done."""

    def __init__(self, path: Path, header: Header, documents: Sequence[Document]) -> None:
        self.path = path
        self.header = header
        self._documents = documents
        self._stream: IO[str] | None = None

    def __enter__(self) -> SideFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            with contextlib.suppress(OSError):  # every line was sent off by itself, and its failure reported
                self._stream.close()

    def begin(self, *, resume: bool | None) -> dict[int, list[Detection]]:
        """Open the file and return what it already holds.

        With `resume` None an unfinished run is neither continued nor thrown away without a word.
        """
        done: dict[int, list[Detection]] = {}
        if self.path.exists():
            if resume is None:
                raise DetectorError(
                    f"{self.path}: an unfinished run lies there. Continue it with --resume, or start anew with "
                    "--no-resume."
                )
            if resume:
                done = self._load()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Written anew even when continued: a last line that was cut off disappears. The old file stays until the
            # new one is whole, or a run that breaks off here would lose what the one before had found.
            lines = [self.header, *(Line(number, found) for number, found in sorted(done.items()))]
            with Outputs() as outputs:
                outputs.write_text(self.path, "".join(json.dumps(plain(line)) + "\n" for line in lines))
            self._stream = self.path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written: {error.strerror}.") from None
        return done

    def add(self, number: int, found: list[Detection] | None, failure: str = "") -> None:
        """Write one document down."""
        line = Line(number, failure=failure) if found is None else Line(number, found)
        assert self._stream is not None
        try:
            self._stream.write(json.dumps(plain(line)) + "\n")
            self._stream.flush()
        except OSError as error:
            raise OutputError(
                f"{self.path}: cannot be written: {error.strerror}. What it holds is kept: make room, and the same "
                "command with --resume goes on from there."
            ) from None

    def _load(self) -> dict[int, list[Detection]]:
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError as error:
            raise DetectorError(
                f"{self.path}: cannot be read: {error.strerror}. Start anew with --no-resume."
            ) from None
        first = _parse(lines[0])
        if first is None:  # it broke off before anything was written
            return {}
        self._check_header(first)
        done: dict[int, list[Detection]] = {}
        for content in map(_parse, lines[1:]):
            with contextlib.suppress(ValueError, BadAnswerError):  # failures, and what was damaged, are tried again
                line = build(Line, content)
                if 0 <= line.document < len(self._documents):
                    done.pop(line.document, None)  # what was said later about a document goes before what came first
                    done[line.document] = detections({"spans": line.spans}, self._documents[line.document])
        return done

    def _check_header(self, content: Mapping[str, Any]) -> None:
        """Refuse to continue a run that was about something else."""
        try:
            found = build(Header, content)
        except ValueError as error:
            raise DetectorError(
                f"{self.path}:1: this run cannot be continued: its first line is damaged: {error}. Start anew with "
                "--no-resume."
            ) from None
        for key, words in _WORDS.items():
            before, value = getattr(found, key), getattr(self.header, key)
            if before != value:
                raise DetectorError(
                    f"{self.path}:1: this run cannot be continued: its {words} was {before}, now it is {value}. Start "
                    "anew with --no-resume."
                )


_WORDS = {
    "detector": "detector (name/version/language/configuration)",
    "dataset": "dataset (hash)",
    "documents": "number of documents",
    "texts": "text (hash)",
}


def _parse(line: bytes) -> Mapping[str, Any] | None:
    try:
        return parse_line(line)
    except BadAnswerError:  # the run broke off while this line was written
        return None
