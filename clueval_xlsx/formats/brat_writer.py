"""brat: a `.txt` and an `.ann` for each document; and `.ann` files with only the corrected annotations changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.names import document_path, escaped
from clueval_xlsx.formats.brat import ANNOTATIONS, TEXT, BratOriginal, annotation_lines, parse_span_line
from clueval_xlsx.formats.changes import Changes
from clueval_xlsx.formats.standoff_writer import Written, one_word

_TEXTBOUND = re.compile(r"T(\d+)\b")


def brat_files(documents: Sequence[Written]) -> dict[str, bytes]:
    """The files of a brat folder by their names."""
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for number, written in enumerate(documents, 1):
        name = document_path(written.document.id or f"document-{number}")
        if f"{name}{TEXT}" in files:
            raise InputError(f"two documents would be written to {name}{TEXT}. Document IDs must be unique.")
        if name.casefold() in taken:  # to Windows `a.txt` and `A.txt` are one file
            name = escaped(name)
        taken.add(name.casefold())
        text = written.document.text
        files[f"{name}{TEXT}"] = text.encode("utf-8", "replace")
        files[f"{name}{ANNOTATIONS}"] = "".join(
            f"T{place}\t{one_word(label, 'brat')} {start} {end}\t{one_line(text[start:end])}\n"
            for place, (start, end, label) in enumerate(written.spans, 1)
        ).encode("utf-8", "replace")
    return files


def one_line(text: str) -> str:
    """Words of an annotation on one line, as brat writes them."""
    return re.sub(r"[\r\n\t]", " ", text)


def corrected_annotations(original: BratOriginal, changes: Changes) -> dict[str, bytes]:
    """The `.ann` files that corrections change, by their names; every other line stays byte for byte."""
    files: dict[str, bytes] = {}
    for document in changes.documents():
        doc_id = changes.doc_ids[document]
        path = original.annotations.get(doc_id, f"{doc_id}{ANNOTATIONS}")
        content = original.files.get(path, b"").decode("utf-8")
        lines = annotation_lines(content)
        ending = "\r\n" if "\r\n" in content else "\n"
        removed = _apply(lines, changes, document)
        if removed:
            lines = [_without(line, removed) for line in lines]
        lines = [line for line in lines if line]
        number = max([int(found) for found in _TEXTBOUND.findall(content)], default=0)
        if changes.added[document] and lines and not lines[-1].endswith("\n"):
            lines[-1] += ending
        for span in changes.added[document]:
            number += 1
            label = one_word(span.label, "brat")
            lines.append(f"T{number}\t{label} {span.start} {span.end}\t{one_line(span.surface)}{ending}")
        files[path] = "".join(lines).encode("utf-8", "replace")
    return files


def _apply(lines: list[str], changes: Changes, document: int) -> set[str]:
    """Change lines in place; returns the IDs of those that were removed."""
    removed = set()
    for handle in changes.removed[document]:
        place = handle[1]
        span = parse_span_line(lines[place])
        if span:
            removed.add(span["id"])
        lines[place] = ""
    for handle, new in changes.changed[document]:
        place = handle[1]
        span = parse_span_line(lines[place])
        assert span is not None, "the line was read as an annotation"
        line = lines[place]
        pieces, done = [], 0
        values: Mapping[str, str] = {
            "label": one_word(new.label, "brat"),
            "start": str(new.start),
            "end": str(new.end),
            "text": one_line(new.surface),
        }
        for name, value in values.items():
            if span[name] is None:
                continue
            pieces += [line[done : span.start(name)], value]
            done = span.end(name)
        lines[place] = "".join([*pieces, line[done:]])
    return removed


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
