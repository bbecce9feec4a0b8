"""brat: folders of `.txt` with `.ann` beside them, or of `.ann` alone with the texts elsewhere."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

import pandas as pd

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.correcting import by_document
from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.files.names import document_path, escaped, natural_key
from clueval_xlsx.formats.collect import Collector, same_words
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import ERROR, JOIN, WriteOptions, format_named
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.formats.writing import AnnotatedDocument, annotated_documents, one_word
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.characters import unit_range

TEXT, ANNOTATIONS = ".txt", ".ann"
_NAMED = 3  # documents that a note names
_PARTED = (".a1", ".a2")
# No white space at the end, and no number that is longer than any text: see `_span`.
_SPAN = re.compile(
    r"(?P<id>\S+)\s+(?P<label>\S+)\s+(?P<offsets>-?\d{1,18}\s+-?\d{1,18}(?:\s*;\s*-?\d{1,18}\s+-?\d{1,18})*)"
    r"(?:\s+(?P<text>\S.*))?"
)
_WHOLE = -1  # the part of a place where an annotation is one span
_HEADER = re.compile(r"id\s+category\s+start\s+end\b.*", re.IGNORECASE)
_TEXTBOUND = re.compile(r"T(\d+)\b")
_OTHER = re.compile(r"[REAMN]\d+\s|\*\s|#")  # relations, events, attributes, normalisations, equivalences, notes


def tell(opened: OpenedSource) -> bool:  # noqa: ARG001
    """No file by itself looks like this format."""
    return False


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read the files of a folder, by their path in it, and the texts of `--text`, where they lie elsewhere.

    Every text is a document, named by its path without the ending; a text without `.ann` has no annotations.
    """
    name, files, texts, text_name = opened.name, opened.files, opened.texts, opened.text_name
    if files is None:
        raise OptionError(f"{name}: brat is read from a folder or a file, not from a stream. Give its path.")
    annotations = _by_document(files, ANNOTATIONS)
    beside = _by_document(files, TEXT)
    found = _by_document(texts or {}, TEXT)
    if texts is None or beside:
        found |= beside
    _check_folder(name, files, options, annotations=annotations, beside=beside)
    _check_texts(name, annotations, found, texts=None if texts is None else text_name)
    collector = Collector(name, format_named("brat"), options)
    fingerprint = hashlib.sha256()
    shifts = {}
    for number, document in enumerate(sorted(found, key=natural_key)):
        raw = annotations.get(document, b"")
        for part in (document.encode("utf-8", "surrogatepass"), found[document], raw):
            fingerprint.update(len(part).to_bytes(8, "big") + part)
        text = decode_text(found[document], f"{name if document in beside else text_name}/{document}{TEXT}")
        content = decode_text(raw, f"{name}/{document}{ANNOTATIONS}")
        if found[document].startswith(codecs.BOM_UTF8) and _counts_mark(text, content):
            shifts[document] = 1
        collector.add_document(TextDocument(document, text))
        _add_annotations(collector, number, content, shifts.get(document, 0))
    bare = [document for document in found if document not in annotations]
    if annotations and bare:
        named = ", ".join(bare[:_NAMED]) + (", …" if len(bare) > _NAMED else "")
        collector.notes.append(
            f"{name}: no {ANNOTATIONS} file for {len(bare)} of {len(found)} texts, which count as texts without "
            f"annotations: {named}"
        )
    source = Source(name, "brat", fingerprint.hexdigest(), dict(collector.layers), folder=True)
    paths = {_document_of(path): path for path in files if PurePosixPath(path).suffix.lower() == ANNOTATIONS}
    return collector.finish(source, BratLines(dict(files), paths, shifts))


def _check_folder(
    name: str,
    files: Mapping[str, bytes],
    options: ReadOptions,
    *,
    annotations: Mapping[str, bytes],
    beside: Mapping[str, bytes],
) -> None:
    if not annotations and not beside:
        raise InputError(
            f"{name}: the folder has no documents: neither {TEXT} nor {ANNOTATIONS} files. Check the path."
        )
    parted = [path for path in files if path.lower().endswith(_PARTED)]
    if parted and not annotations and not options.text_only:
        raise InputError(
            f"{name}: the annotations are in {', '.join(_PARTED)} files, as the BioNLP shared tasks have them "
            f"({parted[0]}, …). Allowed: one {ANNOTATIONS} file for each text. Put both of each text into one."
        )


def _check_texts(name: str, annotations: Mapping[str, bytes], found: Mapping[str, bytes], *, texts: str | None) -> None:
    problems = []
    for document in annotations:
        if document not in found:
            said = f"its text is nowhere: neither {name}/{document}{TEXT}"
            said += "" if texts is None else f" nor {texts}/{document}{TEXT}"
            remedy = "Put the texts beside the annotations, or give their folder with --text DIR"
            problems.append(Problem(f"{name}/{document}{ANNOTATIONS}", said, remedy=remedy))
    if problems:
        raise InputError(problems=problems)


def _by_document(files: Mapping[str, bytes], ending: str) -> dict[str, bytes]:
    found = {}
    for path, content in sorted(files.items()):
        if PurePosixPath(path).suffix.lower() == ending and not PurePosixPath(path).name.startswith("."):
            found[_document_of(path)] = content
    return found


def _document_of(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(""))


def _lines(content: str) -> list[str]:
    """The lines of an `.ann` file with their line ends; only LF ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", content)


def _is_other(line: str) -> bool:
    """Whether a line annotates no span."""
    return not line.strip() or bool(_OTHER.match(line)) or bool(_HEADER.match(line))


def _span(line: str) -> re.Match[str] | None:
    """The parts of a line; white space behind them is cut off first, or long lines would take for ever."""
    return _SPAN.fullmatch(line.rstrip())


def _fragments(span: re.Match[str]) -> list[tuple[int, int]]:
    numbers = [int(number) for number in re.findall(r"-?\d+", span["offsets"])]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _spans_of(content: str) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """The lines that annotate spans: number, line and its parts (None: it is broken)."""
    for number, line in enumerate(_lines(content)):
        if not _is_other(line):
            yield number, line, _span(line)


def _counts_mark(text: str, content: str) -> bool:
    """Whether offsets count a byte order mark: the words tell; without words it counts, as brat counts it."""
    counted, uncounted = 0, 0
    for _, _, span in _spans_of(content):
        if span is None or not span["text"]:
            continue
        parts = _fragments(span)
        shifted = " ".join(text[max(start - 1, 0) : max(end - 1, 0)] for start, end in parts)
        counted += same_words(shifted, span["text"])
        uncounted += same_words(" ".join(text[start:end] for start, end in parts), span["text"])
    return counted >= uncounted


def _add_annotations(collector: Collector, number: int, content: str, shift: int) -> None:
    document = collector.documents[number]
    path = f"{collector.name}/{document.id}{ANNOTATIONS}"
    for place, line, span in _spans_of(content):
        where = f"{path}:{place + 1}"
        if span is None:
            collector.complain(
                where,
                f"{line.strip()[:80]!r} is no annotation",
                "T1<tab>LABEL START END<tab>TEXT, and lines that begin with R, E, A, M, N, * or #",
                "Mend the line",
            )
            continue
        parts = [(start - shift, end - shift) for start, end in _fragments(span)]
        if shift:  # the mark itself belongs to no text
            parts = [(max(start, 0), end) for start, end in parts]
        gaps = [(left, right) for (_, left), (right, _) in pairwise(parts)]
        together = all(left <= right and not document.text[left:right].strip() for left, right in gaps)
        mode = JOIN if together else collector.options.discontinuous
        if mode == ERROR:
            collector.complain(
                where,
                f"a discontinuous span: {line.strip()!r}",
                "parts that only white space parts",
                "Join its parts to one span (--discontinuous join), or split them (--discontinuous split)",
            )
            continue
        if mode == JOIN:
            parts = [(min(start for start, _ in parts), max(end for _, end in parts))]
        for index, offsets in enumerate(parts):
            collector.add(
                number,
                offsets,
                {"label": span["label"]},
                surface=(span["text"] or None) if together else None,
                handle=(place, _WHOLE if mode == JOIN else index),
                where=where,
            )


# -- written


def write(reading: Reading, layers: Mapping[str, pd.DataFrame], how: WriteOptions) -> dict[str, bytes]:  # noqa: ARG001
    """The files of a new folder."""
    return brat_files(annotated_documents(reading, layers, "brat"))


def brat_files(documents: Sequence[AnnotatedDocument]) -> dict[str, bytes]:
    """The files of a new folder by their names."""
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for number, each in enumerate(documents, 1):
        name = document_path(each.document.id or f"document-{number}")
        if f"{name}{TEXT}" in files:
            raise InputError(f"two documents would be written to {name}{TEXT}. Document IDs must be unique.")
        if name.casefold() in taken:  # to Windows `a.txt` and `A.txt` are one file
            name = escaped(name)
        taken.add(name.casefold())
        text = each.document.text
        lines = []
        for place, (start, end, label) in enumerate(each.spans, 1):
            lines.append(f"T{place}\t{one_word(label, 'brat')} {start} {end}\t{one_line(text[start:end])}\n")
        files[f"{name}{TEXT}"] = text.encode("utf-8", "replace")
        files[f"{name}{ANNOTATIONS}"] = "".join(lines).encode("utf-8", "replace")
    return files


def one_line(text: str) -> str:
    """Words of an annotation on one line, as brat writes them."""
    return re.sub(r"[\r\n\t]", " ", text)


# -- the splicer


@dataclass(frozen=True, eq=False)
class BratLines:
    """The files of a folder as they came, by their path in it, and which of them annotates which document."""

    files: Mapping[str, bytes]
    annotations: Mapping[str, str]
    shifts: Mapping[str, int]  # by how much the offsets of a document count further: its byte order mark

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """Every file of the folder, the annotations of changed documents among them."""
        files = dict(self.files)
        for document, own in by_document(changes).items():
            doc_id = reading.doc_ids[document]
            path = self.annotations.get(doc_id, f"{doc_id}{ANNOTATIONS}")
            content = self.files.get(path, b"").decode("utf-8")
            page = _Page(reading.texts[document].text, reading.unit, self.shifts.get(doc_id, 0))
            files[path] = page.spliced(content, own).encode("utf-8", "replace")
        return files


@dataclass(frozen=True)
class _Page:
    """A text and how the offsets of its annotations are written."""

    text: str
    unit: str
    shift: int

    def spliced(self, content: str, changes: Sequence[SourceChange]) -> str:
        """An `.ann` file with changes; every other line stays."""
        lines = _lines(content)
        wanted: dict[int, dict[int, NewSpan | None]] = {}
        for change in changes:
            if change.old is not None:
                place, part = change.old
                wanted.setdefault(place, {})[part] = change.new
        removed = set()
        for place, parts in wanted.items():
            span = _span(lines[place])
            assert span is not None, "the line was read as an annotation"
            lines[place] = self._line(lines[place], span, parts)
            if not lines[place]:
                removed.add(span["id"])
        if removed:
            lines = [_without(line, removed) for line in lines]
        lines = [line for line in lines if line]
        ending = "\r\n" if "\r\n" in content else "\n"
        number = max([int(found) for found in _TEXTBOUND.findall(content)], default=0)
        for new in [change.new for change in changes if change.old is None and change.new is not None]:
            number += 1
            if lines and not lines[-1].endswith("\n"):
                lines[-1] += ending
            offsets = f"{new.start + self.shift} {new.end + self.shift}"
            lines.append(f"T{number}\t{one_word(new.label, 'brat')} {offsets}\t{one_line(new.surface)}{ending}")
        return "".join(lines)

    def _line(self, line: str, span: re.Match[str], parts: Mapping[int, NewSpan | None]) -> str:
        """A line with other parts; nothing where none is left."""
        kept: list[tuple[int, int]] = []
        label = span["label"]
        old = [(0, 0)] if _WHOLE in parts else _fragments(span)
        for index, offsets in enumerate(old):
            new = parts.get(_WHOLE if _WHOLE in parts else index, offsets)
            if isinstance(new, NewSpan):
                kept.append((new.start + self.shift, new.end + self.shift))
                label = one_word(new.label, "brat")
            elif new is not None:
                kept.append(new)
        if not kept:
            return ""
        units = [unit_range(self.text, self.unit, start - self.shift, end - self.shift) for start, end in kept]
        written = span["offsets"]
        if _fragments(span) != kept:
            written = ";".join(f"{start} {end}" for start, end in kept)
        words = one_line(" ".join(self.text[start:end] for start, end in units))
        pieces, done = [], 0
        for name, value in (("label", label), ("offsets", written), ("text", words)):
            if span[name] is not None:
                pieces += [line[done : span.start(name)], value]
                done = span.end(name)
        return "".join([*pieces, line[done:]])


def _without(line: str, removed: set[str]) -> str:
    """A line without what refers to a removed annotation: its notes, attributes and relations go with it."""
    words = re.split(r"[\s:]+", line.strip())
    if not words or not removed.intersection(words[1:]) or words[0].startswith("T"):
        return line
    if words[0] == "*":
        kept = [word for word in line.split() if word not in removed]
        return f"*\t{' '.join(kept[1:])}\n" if len(kept) > 3 else ""
    targets = words[2:3] if words[0].startswith(("#", "A", "M", "N")) else words[1:]
    return "" if removed.intersection(targets) else line
