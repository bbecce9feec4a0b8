"""Several token files put together to one, so that they are one corpus, and taken apart again."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.formats.columns.structure import has_document_marks
from clueval_xlsx.text.entities import written_token


@dataclass(frozen=True)
class _Part:
    name: str
    lines: int  # of the file itself
    before: int  # lines that were put before it
    after: int
    mark: bool  # it has a byte order mark
    complete: bool  # its last line has a line end


@dataclass(frozen=True, eq=False)
class JoinedFiles:
    """The joined text, where its lines come from, and how it comes apart."""

    data: bytes
    origin: LineOrigin
    parts: tuple[_Part, ...]

    def split(self, whole: bytes) -> dict[str, bytes]:
        """The files of a joined text in which tags were changed, but no line was added or lost."""
        lines = whole.split(b"\n")
        files, done = {}, 0
        for part in self.parts:
            done += part.before
            content = b"".join(line + b"\n" for line in lines[done : done + part.lines])
            done += part.lines + part.after
            if not part.complete:
                content = content.removesuffix(b"\n")
            files[part.name] = (codecs.BOM_UTF8 if part.mark else b"") + content
        return files


def join_files(files: Mapping[str, bytes], folder: str, *, conll: bool, tag: str, marked: bool) -> JoinedFiles:
    """Put files together; one that says nothing about documents is one document, called by its name.

    `marked` False leaves documents to a column of their IDs.
    """
    pieces: list[bytes] = []
    parts, first, names = [], [], []
    line = 1
    for name, raw in files.items():
        mark = raw.startswith(codecs.BOM_UTF8)
        content = raw.removeprefix(codecs.BOM_UTF8)
        complete = content.endswith(b"\n") or not content
        content += b"" if complete else b"\n"
        before, after = _marks(name, content, conll=conll, tag=tag) if marked else (b"", b"")
        pieces += [before, content, after]
        part = _Part(name, content.count(b"\n"), before.count(b"\n"), after.count(b"\n"), mark, complete)
        parts.append(part)
        first.append(line + part.before)
        names.append(f"{folder}/{name}")
        line += part.before + part.lines + part.after
    return JoinedFiles(b"".join(pieces), LineOrigin(tuple(first), tuple(names)), tuple(parts))


def _marks(name: str, content: bytes, *, conll: bool, tag: str) -> tuple[bytes, bytes]:
    """What makes a file a document, where it does not say so itself: lines before and behind it."""
    if has_document_marks(content, conll=conll, tag=tag):
        return b"", b""
    stem = re.sub(r"[\r\n]", " ", str(PurePosixPath(name).with_suffix("")))
    if conll:
        return f"# newdoc id = {stem}\n".encode("utf-8", "replace"), b"\n"
    return f'<{tag} id="{written_token(stem, quote=True)}">\n'.encode("utf-8", "replace"), f"</{tag}>\n".encode()
