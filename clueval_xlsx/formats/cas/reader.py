"""From the CAS of each document to one reading, and back: every corrected CAS in its own file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.cas.content import CasContent, CasEdit, NewAnnotation
from clueval_xlsx.formats.cas.fields import TypeFeature, choose_layer_fields
from clueval_xlsx.formats.collect import Collector
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import Format
from clueval_xlsx.options import ReadOptions


@dataclass(frozen=True, eq=False)
class CasDocument:
    """A document: its ID, the CAS of each annotator that counts, by the path of its file, and its text."""

    id: str | None
    contents: Mapping[str, CasContent]
    text: str


@dataclass(frozen=True, eq=False)
class CasOriginal:
    """The files as they came; `packed` makes of the corrected ones what is written."""

    contents: Mapping[str, CasContent]
    fields: Mapping[str, TypeFeature]
    packed: Callable[[Mapping[str, bytes]], dict[str, bytes]]

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The files with these changes; every other feature structure stays as it was."""
        removed: dict[str, list[Any]] = {}
        changed: dict[str, dict[Any, NewAnnotation]] = {}
        added: dict[str, list[NewAnnotation]] = {}
        for change in changes:
            new = None if change.new is None else self._new(change.new)
            if change.old is None:
                assert change.new is not None
                assert new is not None
                home = reading.homes[change.document]
                if home is None:
                    raise OptionError(
                        f"{reading.source.name}: document {reading.doc_ids[change.document]!r} has no annotations of "
                        f"the chosen annotator to add {change.new.surface!r} to. Choose another (--annotator)."
                    )
                added.setdefault(home[0], []).append(new)
                continue
            path, key = change.old
            if new is None:
                removed.setdefault(path, []).append(key)
            else:
                changed.setdefault(path, {})[key] = new
        touched = {*removed, *changed, *added}
        return self.packed(
            {
                path: self.contents[path].edited(
                    CasEdit(removed.get(path, []), changed.get(path, {}), added.get(path, []))
                )
                for path in sorted(touched)
            }
        )

    def _new(self, span: NewSpan) -> NewAnnotation:
        fields = [self.fields[layer] for layer in span.labels]
        labels = zip(fields, span.labels.values(), strict=True)
        return NewAnnotation(
            fields[0].type, span.start, span.end, {field.feature: label for field, label in labels if field.feature}
        )


def read_cas_file(opened: OpenedSource, content: CasContent, format_: Format, options: ReadOptions) -> Reading:
    """The reading of a file that holds one document."""
    name, raw = opened.name, opened.data
    path = PurePath(name).name
    return read_cas(
        [CasDocument(content.document_id, {path: content}, content.text)],
        Source(name, format_.name, digest(raw)),
        format_,
        options,
        lambda corrected: {path: raw, **corrected},
    )


def read_cas(
    documents: Sequence[CasDocument],
    source: Source,
    format_: Format,
    options: ReadOptions,
    packed: Callable[[Mapping[str, bytes]], dict[str, bytes]],
    unannotated: frozenset[int] = frozenset(),
    *,
    union: bool = False,
) -> Reading:
    """The reading of documents, given what their corrected files are packed into, and which nobody chosen has seen.

    `union` says that annotators are taken together.
    """
    contents = {path: content for document in documents for path, content in document.contents.items()}
    known = [] if options.text_only else list(contents.values())  # then nothing about annotations can be wrong
    fields = choose_layer_fields(options.layers, known, source.name)
    unit = next((content.unit for content in contents.values()), options.offsets)
    layers = {layer: str(field) for layer, field in fields.items()}
    collector = Collector(source.name, format_, replace(options, offsets=unit), layers)
    types = {field.type for field in fields.values()}
    if len(types) > 1:
        collector.sequences = {layer: field.type for layer, field in fields.items()}
    skipped: Counter[str] = Counter()
    for number, document in enumerate(documents):
        texts = {content.text for content in document.contents.values()}
        collector.add_document(TextDocument(document.id, document.text))
        collector.homes.append((next(iter(document.contents)),) if document.contents else None)
        if len(texts) > 1:
            collector.complain(
                f"{source.name}: document {document.id!r}",
                "its annotators have different texts",
                "one text for each document",
                "Choose one annotator (--annotator NAME)",
            )
            continue
        for path, content in document.contents.items() if not options.text_only else ():
            skipped.update(content.skipped)
            _add(collector, number, path, content, fields)
    if skipped:
        left = ", ".join(f"{count} {what}" for what, count in skipped.items())
        collector.notes.append(f"{source.name}: {left} are left alone, because they are no spans")
    collector.unannotated |= unannotated
    original = CasOriginal(contents, fields, packed)
    return collector.finish(replace(source, columns=layers), original, union=union)


def _add(collector: Collector, number: int, path: str, content: CasContent, fields: Mapping[str, TypeFeature]) -> None:
    """Take the annotations of the chosen types."""
    by_type: dict[str, list[TypeFeature]] = {}
    for field in fields.values():
        by_type.setdefault(field.type, []).append(field)
    for each in content.annotations:
        own = by_type.get(each.type)
        if own is None:
            continue
        collector.add(
            number,
            (each.begin, each.end),
            {str(field): each.features.get(field.feature) or None for field in own},
            score=each.score,
            sequence=each.type,
            handle=(path, each.key),
            where=each.where,
        )
