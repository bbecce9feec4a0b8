"""brat: folders of `.txt` with `.ann` beside them, or of `.ann` alone with the texts elsewhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from clueval_xlsx.corpus.reading import Source
from clueval_xlsx.corpus.standoff import Document, TextFormat, TextReading
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.formats.collect import Collector

FIELDS = ("label",)
TEXT, ANNOTATIONS = ".txt", ".ann"

# No white space at the end, and no number that is longer than any text: see `_span`.
_SPAN = re.compile(r"(?P<id>\S+)\s+(?P<label>\S+)\s+(?P<start>-?\d{1,18})\s+(?P<end>-?\d{1,18})(?:\s+(?P<text>\S.*))?")
_DISCONTINUOUS = re.compile(r"\S+\s+\S+\s+-?\d+\s+-?\d+(?:\s*;\s*-?\d+\s+-?\d+)+(?:\s|$)")
_HEADER = re.compile(r"id\s+category\s+start\s+end\b.*", re.IGNORECASE)
_OTHER = re.compile(r"[REAMN]\d+\s|\*\s|#")  # relations, events, attributes, normalisations, equivalences, notes


@dataclass(frozen=True, eq=False)
class BratOriginal:
    """The files of the folder as they came, by their path in it, and which of them annotates which document."""

    files: Mapping[str, bytes]
    annotations: Mapping[str, str]


def read_brat(
    files: Mapping[str, bytes],
    name: str,
    options: TextFormat,
    texts: Mapping[str, bytes] | None = None,
    text_name: str = "",
) -> TextReading:
    """Read the files of a folder, by their path in it; `texts` are those of `--text`, where they lie elsewhere.

    Every text is a document, named by its path without the ending; a text without `.ann` has no annotations.
    """
    annotations = _by_document(files, ANNOTATIONS)
    beside = _by_document(files, TEXT)
    elsewhere = _by_document(texts or {}, TEXT)
    found = elsewhere if texts is not None and not beside else {**elsewhere, **beside}
    if not annotations and not beside:
        raise InputError(
            f"{name}: the folder has no documents: neither {TEXT} nor {ANNOTATIONS} files. Check the path."
        )
    lost = [document for document in annotations if document not in found]
    if lost:
        raise InputError(
            problems=[
                Problem(
                    f"{name}/{document}{ANNOTATIONS}",
                    f"its text is nowhere: neither {name}/{document}{TEXT}"
                    + (f" nor {text_name}/{document}{TEXT}" if texts is not None else ""),
                    remedy="Put the texts beside the annotations, or give their folder with --text DIR",
                )
                for document in lost
            ]
        )
    collector = Collector(name, "brat", options, FIELDS)
    fingerprint = hashlib.sha256()
    for number, document in enumerate(sorted(found)):
        raw = annotations.get(document, b"")
        for part in (document.encode("utf-8", "surrogatepass"), found[document], raw):
            fingerprint.update(len(part).to_bytes(8, "big") + part)
        folder = name if document in beside else text_name
        collector.add_document(Document(document, _decoded(found[document], f"{folder}/{document}{TEXT}")))
        _add_annotations(collector, number, document, _decoded(raw, f"{name}/{document}{ANNOTATIONS}"))
    source = Source(name, "brat", fingerprint.hexdigest(), dict(collector.layers))
    paths = {_document_of(path): path for path in files if PurePosixPath(path).suffix.lower() == ANNOTATIONS}
    return collector.finish(source, BratOriginal(dict(files), paths))


def annotation_lines(content: str) -> list[str]:
    """The lines of an `.ann` file with their line ends; only LF ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", content)


def parse_span_line(line: str) -> re.Match[str] | None:
    """The parts of a line that annotates a span; None for any other line."""
    if not line.strip() or _OTHER.match(line) or _HEADER.match(line):
        return None
    return _span(line)


def _span(line: str) -> re.Match[str] | None:
    """The parts of a line; white space behind them is cut off first, or long lines would take for ever."""
    return _SPAN.fullmatch(line.rstrip())


def _add_annotations(collector: Collector, number: int, document: str, content: str) -> None:
    path = f"{collector.name}/{document}{ANNOTATIONS}"
    for place, line in enumerate(annotation_lines(content)):
        where = f"{path}:{place + 1}"
        if not line.strip() or _OTHER.match(line) or _HEADER.match(line):
            continue
        if _DISCONTINUOUS.match(line):
            collector.complain(
                where,
                f"a discontinuous span: {line.strip()!r}",
                "one start and one end",
                "Write it as one span from the first to the last character, or as several spans",
            )
            continue
        span = _span(line)
        if span is None:
            collector.complain(
                where,
                f"{line.strip()[:80]!r} is no annotation",
                "T1<tab>LABEL START END<tab>TEXT, and lines that begin with R, E, A, M, N, * or #",
                "Mend the line",
            )
            continue
        collector.add(
            number,
            int(span["start"]),
            int(span["end"]),
            {"label": span["label"]},
            surface=span["text"] or None,
            handle=(document, place),
            where=where,
        )


def _by_document(files: Mapping[str, bytes], ending: str) -> dict[str, bytes]:
    return {
        _document_of(path): content
        for path, content in sorted(files.items())
        if PurePosixPath(path).suffix.lower() == ending and not PurePosixPath(path).name.startswith(".")
    }


def _document_of(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(""))


def _decoded(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{where}:{line}: byte 0x{raw[error.start]:02X} is not UTF-8. Save it as UTF-8.") from None
