"""Reads records that hold a text and a list of annotations by character, wherever a dialect keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.changes import Changes, NewSpan
from clueval_xlsx.corpus.reading import digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.text_reading import TextReading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.collect import Collector, choose_annotators, scalar_attributes
from clueval_xlsx.formats.json_edit import JsonOriginal, Removed, Values
from clueval_xlsx.formats.json_keys import ID_KEYS, Path, SpanKeys, Step, look_up, parse_path, unknown_keys
from clueval_xlsx.formats.json_source import Records, decoded, label_of, shown
from clueval_xlsx.formats.module import OpenedSource
from clueval_xlsx.formats.options import UNION, choose_fields
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.options import ReadOptions


def _everything(record: Any) -> bool:  # noqa: ARG001
    return True


def _nobody(record: Any) -> str | None:  # noqa: ARG001
    return None


def _nothing(record: Any, span: NewSpan) -> Values:  # noqa: ARG001
    return {}


def _none(records: Sequence[Any], removed: Removed) -> Removed:  # noqa: ARG001
    return {}


@dataclass(frozen=True)
class Dialect:
    """What is peculiar to one way of writing records.

    `keys` says where a record holds things, `counts` whether it is a document at all and `left_out` how a note calls
    those that are not, `annotator` who made it. `beside` are values of an annotation that follow from its offsets,
    `dependents` what goes with annotations that are removed. `ids` are where a document's ID may stand, the first
    that is there counts; `skip` are keys that are no metadata.
    """

    name: str
    keys: Callable[[Any], SpanKeys]
    counts: Callable[[Any], bool] = _everything
    left_out: str = ""
    annotator: Callable[[Any], str | None] = _nobody
    beside: Callable[[Any, NewSpan], Values] = _nothing
    dependents: Callable[[Sequence[Any], Removed], Removed] = _none
    ids: tuple[Path, ...] = (*((key,) for key in ID_KEYS), *(("meta", key) for key in ID_KEYS))
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Found:
    """One record: where it stands, its keys and its annotations, None where it has no list."""

    index: int
    record: Any
    keys: SpanKeys
    spans: list[Any] | None
    encoded: bool
    text: str
    doc_id: str | None
    person: str


@dataclass(eq=False)
class _Labels:
    """How labels are written: as they are, as numbers, or as lists of one."""

    numbers: bool = False
    lists: bool = False
    known: dict[str, Step] = field(default_factory=dict)  # field -> key

    def written(self, label: str | None) -> Any:
        value: Any = int(label) if self.numbers and label is not None and label.isdigit() else label
        return [value] if self.lists and value is not None else value


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A file whose annotations are texts that hold JSON, which cannot be changed in place."""

    name: str
    raw: bytes

    def correct(self, reading: TextReading, changes: Changes) -> dict[str, bytes]:
        """The file as it came, if nothing changes."""
        if not changes.documents():
            return {PurePath(self.name).name: self.raw}
        raise OptionError(
            f"{reading.source.name}: its annotations are written as texts that hold JSON, and are not corrected in "
            "place. Convert the file first (clueval-xlsx convert), and evaluate the new one."
        )


def read_spans(opened: OpenedSource, options: ReadOptions, dialect: Dialect) -> TextReading:
    """Read the records of a file."""
    records, format_ = opened.json_records, format_named(dialect.name)
    found, passed = _find_records(records, options, dialect, opened.name)
    labels = _Labels()
    fields = _label_fields(found, labels)
    layers = choose_fields(options.layers, fields, opened.name, format_.title)
    collector = Collector(opened.name, format_, options, layers)
    if passed:
        collector.notes.append(f"{opened.name}: {passed} {'record' if passed == 1 else 'records'} {dialect.left_out}")
    groups = _groups(found)
    people = [[each.person for each in group] for group in groups]
    chosen, unseen = choose_annotators(people, options.annotator, opened.name)
    if options.annotator is not None:
        collector.unannotated |= unseen
    skip = _not_metadata(dialect, options)
    for number, (group, indices) in enumerate(zip(groups, chosen, strict=True)):
        first = group[indices[0] if indices else 0]
        content = first.record if isinstance(first.record, dict) else {}
        own = (*skip, *(str(path[0]) for path in (first.keys.text, first.keys.spans)))
        collector.add_document(TextDocument(first.doc_id, first.text, scalar_attributes(content, own)))
        collector.homes.append((first.index, first.keys.spans) if indices else None)
        for each in (group[index] for index in indices):
            _add_spans(collector, number, each, records, labels)
    source = Source(opened.name, dialect.name, digest(opened.data), dict(collector.layers))
    encoded = any(each.encoded for each in found)
    original = (
        _Encoded(opened.name, opened.data) if encoded else _original(opened, dialect, found, collector.layers, labels)
    )
    return collector.finish(source, original, union=options.annotator == UNION)


def _find_records(records: Records, options: ReadOptions, dialect: Dialect, name: str) -> tuple[list[_Found], int]:
    """The records that count, and how many do not."""
    ids = (parse_path(options.fields["id"]),) if "id" in options.fields else dialect.ids
    found, passed = [], 0
    for index, record in enumerate(records.content):
        if record is None or not dialect.counts(record):
            passed += record is not None
            continue
        keys = dialect.keys(record).overridden(options.fields)
        place = f"{name}: {records.place(index)}"
        text = look_up(record, keys.text)
        if not isinstance(text, str):
            written = ".".join(map(str, keys.text))
            what = f"{written!r} is {shown(text)}" if text is not None else f"there is no {written!r}"
            raise InputError(
                f"{place}: {what}; the keys are {unknown_keys(record)}. Allowed: a text. "
                "Say where it stands: --field text=KEY."
            )
        spans, encoded = _span_list(look_up(record, keys.spans), place, keys)
        doc_id = next((value for path in ids if (value := look_up(record, path)) is not None), None)
        person = dialect.annotator(record)
        found.append(
            _Found(
                index,
                record,
                keys.with_surface_of(spans or []),
                spans,
                encoded,
                text,
                None if doc_id is None else str(doc_id),
                person or "",
            )
        )
    if "id" in options.fields and found and all(each.doc_id is None for each in found):
        raise InputError(
            f"{name}: no document has {options.fields['id']!r}, which --field id names. Keys: "
            f"{unknown_keys(found[0].record)}."
        )
    if found and all(each.spans is None for each in found) and not options.text_only:
        written = ".".join(map(str, found[0].keys.spans))
        raise InputError(
            f"{name}: no document has {written!r}, which should list its annotations; the first has the keys "
            f"{unknown_keys(found[0].record)}. Say where they stand: --field spans=KEY."
        )
    if not found and passed:
        raise InputError(f"{name}: none of its {passed} records is a document: all {dialect.left_out}.")
    return found, passed


def _span_list(value: Any, place: str, keys: SpanKeys) -> tuple[list[Any] | None, bool]:
    """The annotations of a record; a text that holds a list is read, too."""
    encoded = isinstance(value, str)
    value = decoded(value)
    if value is not None and not isinstance(value, list):
        written = ".".join(map(str, keys.spans))
        raise InputError(f"{place}: {written!r} is {shown(value)}. Allowed: a list of annotations.")
    return value, encoded


def _label_fields(found: Sequence[_Found], labels: _Labels) -> tuple[str, ...]:
    """What layers can take their labels from: the main label first, then every other text of an annotation."""
    main: str | None = None
    others: dict[str, None] = {}
    for each in found:
        keys = each.keys
        name = keys.label if isinstance(keys.label, str) else "label"
        main = main or name
        labels.known[name] = keys.label
        for span in each.spans or ():
            value = look_up(span, (keys.label,))
            labels.numbers |= isinstance(value, int) and not isinstance(value, bool)
            labels.lists |= isinstance(value, list)
            if isinstance(span, dict):
                own = {keys.start, keys.end, keys.label, keys.score, keys.surface, "id"}
                others.update({key: None for key, item in span.items() if key not in own and isinstance(item, str)})
    labels.known.update({key: key for key in others})
    if main is None:  # an empty list
        main = "label"
        labels.known[main] = main
    return main, *others


def _groups(found: Sequence[_Found]) -> list[list[_Found]]:
    """Records of one document by several people together, in the order of the file."""
    groups: dict[Any, list[_Found]] = {}
    for each in found:
        key = (each.doc_id, each.text) if each.person else each.index
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def _not_metadata(dialect: Dialect, options: ReadOptions) -> tuple[str, ...]:
    chosen = [str(parse_path(value)[0]) for value in options.fields.values()]
    return (*dialect.skip, *ID_KEYS, "text", *chosen)


def _add_spans(collector: Collector, number: int, each: _Found, records: Records, labels: _Labels) -> None:
    keys = each.keys
    document = f"document {each.doc_id!r}" if each.doc_id is not None else records.place(each.index)
    by = f" of {each.person}" if each.person else ""
    for place, span in enumerate(each.spans or ()):
        where = f"{collector.name}: {document}, annotation {place + 1}{by}"
        if not isinstance(span, list if isinstance(keys.start, int) else dict):
            allowed = (
                "[start, end, label]"
                if isinstance(keys.start, int)
                else f"an object with {keys.start!r} and {keys.end!r}"
            )
            collector.complain(where, f"found {shown(span)}", allowed)
            continue
        values = {name: _one(look_up(span, (key,))) for name, key in labels.known.items()}
        surface = None if keys.surface is None else look_up(span, (keys.surface,))
        collector.add(
            number,
            (look_up(span, (keys.start,)), look_up(span, (keys.end,))),
            values,
            surface=surface if isinstance(surface, str) else None,
            score=None if keys.score is None else look_up(span, (keys.score,)),
            handle=(each.index, keys.spans, place),
            where=where,
        )


def _one(value: Any) -> Any:
    """A label, or the only one of a list."""
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else None
    return label_of(value)


def _original(
    opened: OpenedSource, dialect: Dialect, found: Sequence[_Found], layers: Mapping[str, str], labels: _Labels
) -> JsonOriginal:
    by_index = {each.index: each for each in found}
    records = opened.json_records.content
    repeats = next((each.keys.surface for each in found if each.keys.surface is not None), None)

    def values(span: NewSpan, path: Path, index: int) -> Values:  # noqa: ARG001
        each = by_index[index]
        keys = each.keys
        surface = repeats if isinstance(keys.start, str) else None
        return {
            (keys.start,): span.start,
            (keys.end,): span.end,
            **{(labels.known[name],): labels.written(span.labels[layer]) for layer, name in layers.items()},
            **({(surface,): span.surface} if surface is not None else {}),
            **dialect.beside(each.record, span),
        }

    keys = frozenset(labels.known[name] for name in layers.values())
    return JsonOriginal(
        opened.name, opened.data, values, keys, dependents=lambda removed: dialect.dependents(records, removed)
    )
