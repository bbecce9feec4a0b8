"""Reads the records of a JSON file in any dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat, starmap
from typing import Any

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.reading import Reading, digest
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.exceptions import InputError, counted
from clueval_xlsx.formats.collect import Collector, scalar_attributes
from clueval_xlsx.formats.json_dialects import EACH, Dialect, Spans
from clueval_xlsx.formats.json_lists import (
    SURFACES,
    SpanList,
    allowed_items,
    has_lists,
    keys_of,
    keys_of_all,
    lists_of,
    no_list_there,
    no_metadata,
    overridden,
    plain_values,
    single_label,
    span_lists,
)
from clueval_xlsx.formats.json_records import (
    alternatives,
    column,
    first_of,
    is_offset,
    key_list,
    label_text,
    look_up,
    repeated_keys,
    shown,
)
from clueval_xlsx.formats.json_splicing import JsonFile, Work
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import FIRST, PRED, UNION, choose_annotators, choose_fields, format_named
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.text.characters import unit_starts

# ---- tasks ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Task:
    """A text and what people marked in it; several records of one text together."""

    document: TextDocument
    record: int
    works: dict[Any, list[Work]] = field(default_factory=dict)  # by person, or by list where nobody is named

    @property
    def people(self) -> list[str]:
        """Who annotated, each as often as there are works that are not one person's."""
        return [works[0].person for works in self.works.values()]


class RecordReader:
    """Reads one file, and remembers how it is written."""

    def __init__(self, opened: OpenedSource, options: ReadOptions, dialect: Dialect) -> None:
        self.name, self.options = opened.name, options
        self.dialect = overridden(dialect, options.fields)
        self.records = opened.json_records
        self.base = opened.base
        self.tasks: list[_Task] = []
        self.notes: list[str] = []
        self.file = JsonFile(opened.name, opened.data, opened.json_records, self.dialect)
        self.main = dialect.fields[0] if dialect.fields else ""  # the field that holds the label
        self.others: dict[str, None] = {}  # further fields of items that hold texts
        self._listed = False
        self._skip = no_metadata(self.dialect, options.fields)

    # -- records

    def find_tasks(self) -> list[_Task]:
        """The documents, each with the works in it."""
        content, dialect = self.records.content, self.dialect
        predicted, annotated = (has_lists(content, known) for known in (dialect.detected, dialect.spans))
        self.file.detector = predicted and (self.options.side == PRED or not annotated)
        if self.file.detector and self.options.side != PRED:
            self.notes.append(f"{self.name}: nobody has annotated these tasks; their predictions are read")
        tasks: dict[Any, _Task] = {}
        passed = 0
        key, wanted, left_out = dialect.only
        for index, record in enumerate(content):
            if record is None:
                continue
            if key and look_up(record, (key,)) not in (None, wanted):
                passed += 1
                continue
            self._add_record(tasks, index, record)
        if passed:
            self.notes.append(f"{self.name}: {counted(passed, 'record')} {left_out}")
        if not tasks and passed:
            raise InputError(f"{self.name}: none of its {passed} records is a document: all {left_out}.")
        if not tasks:
            raise InputError(f"{self.name}: the list of documents is empty. Check that this is the right file.")
        made = list(tasks.values())
        if any(len(task.works) > 1 for task in made):
            for task in made:
                for number, works in enumerate(task.works.values(), 1):
                    works[0].person = works[0].person or f"#{number}"
        self._check(made)
        return made

    def _add_record(self, tasks: dict[Any, _Task], index: int, record: Any) -> None:
        """Take a record: as a task of its own, or as more work on the same."""
        place, dialect = self._place(index), self.dialect
        if not isinstance(record, dict | list):
            raise InputError(f"{place} is {shown(record)}. Allowed: an object for each document.")
        complaint = dialect.refusal(record) if dialect.refusal else ""
        if complaint:
            raise InputError(f"{place} {complaint}.")
        document = self._document(index, record)
        together = dialect.together and document.id is not None
        task = tasks.setdefault((document.id, document.text) if together else index, _Task(document, index))
        by = first_of(record, dialect.person)[1] if dialect.person else None
        for work in self._works(record, index, place):
            if not work.person and by is not None:
                work.person = str(by)
            if not work.person and work.spans.inside and isinstance(work.path[1], int):
                work.person = f"#{work.path[1] + 1}"
            named = dialect.together and work.person
            task.works.setdefault(work.person if named else (work.person, index, work.path), []).append(work)

    def _place(self, index: int) -> str:
        return f"{self.name}: {self.records.place(index)}"

    def _document(self, index: int, record: Any) -> TextDocument:
        """The text of a record with its ID and its metadata."""
        dialect = self.dialect
        data = look_up(record, (dialect.data,)) if dialect.data else record
        if not isinstance(data, dict):
            data = record
        path, text = first_of(data, dialect.text)
        if text is None and dialect.lone_text and "text" not in self.options.fields and isinstance(data, dict):
            known = {*self._skip, "text"}
            texts = [key for key, value in data.items() if isinstance(value, str) and key not in known]
            if len(texts) == 1:
                path, text = (texts[0],), data[texts[0]]
        doc_id = first_of(data, dialect.id)[1]
        if doc_id is None:
            doc_id = first_of(record, dialect.id)[1]
        doc_id = None if doc_id is None else str(doc_id)
        if text is None and dialect.text_elsewhere:
            return self._base_document(index, doc_id)
        if not isinstance(text, str):
            place = self._place(index)
            written = ".".join(map(str, path))
            there = isinstance(data, dict) and path[0] in data and len(path) == 1
            what = f"{written!r} is {shown(text)}" if there else f"there is no {written!r}"
            raise InputError(
                f"{place}: {what}; the keys are {key_list(data)}. Allowed: a text. "
                "Say where it stands: --field text=KEY."
            )
        attributes = scalar_attributes(data, {*self._skip, str(path[0])}) if isinstance(data, dict) else {}
        return TextDocument(doc_id, text, attributes)

    def _base_document(self, index: int, doc_id: str | None) -> TextDocument:
        """The text that a record without one belongs to: that of the same ID, or the one in the same place."""
        place = self._place(index)
        if self.base is None:
            raise InputError(f"{place} has no text. Give the file that holds it: --text FILE.")
        documents = self.base.documents
        if doc_id is not None:
            same = [document for known, document in zip(self.base.doc_ids, documents, strict=True) if known == doc_id]
            if not same:
                raise InputError(f"{place}: there is no document {doc_id!r} in {self.base.source.name}.")
            return replace(same[0], id=doc_id)
        if len(documents) != len(self.records.content):
            raise InputError(
                f"{place} has neither a text nor an ID, and {self.base.source.name} has {len(documents)} documents for "
                f"{len(self.records.content)} records. Give the records IDs, or one record for each document."
            )
        return documents[index]

    def _works(self, record: Any, index: int, place: str) -> Iterator[Work]:
        known = self.dialect.detected if self.file.detector else self.dialect.spans
        spans = span_lists(known, record)
        if spans is None:
            yield from self._no_list(known, record, index, place)
            return
        self._listed = True
        for each in lists_of(record, spans):
            if not isinstance(each.items, list):
                raise InputError(f"{place}: {no_list_there(spans, each)}")
            yield from self._works_in(spans, each, record, index)

    def _no_list(self, known: Sequence[Spans], record: Any, index: int, place: str) -> Iterator[Work]:
        """A record without a list of annotations: one is made where something is added, if nobody is to be named."""
        for spans in known:
            there = look_up(record, spans.holder) if spans.holder else None
            if there is not None:
                name = ".".join(map(str, spans.holder))
                raise InputError(f"{place}: {name!r} is {shown(there)}. Allowed: a list of annotations.")
        if not any(spans.inside for spans in known):
            spans = known[0]
            control = "" if spans.holder else "label"
            yield Work(index, spans.holder or (control,), spans, keys_of(spans, None), "", control=control)

    def _works_in(self, spans: Spans, each: SpanList, record: Any, index: int) -> Iterator[Work]:
        """The works in a list: one, or one of each person whom its items name."""
        items = each.items
        keys = keys_of_all(spans, items)
        person = each.key if spans.person == EACH else first_of(each.holder, spans.person)[1] if spans.person else None
        work = Work(index, each.path, spans, keys, "" if person is None else str(person), items, range(len(items)))
        work.control = str(each.key) if spans.at == EACH else ""
        work.encoded = isinstance(look_up(record, each.path), str)
        if "person" not in keys or not items:
            yield work
            return
        named = column(items, keys["person"])
        self.file.people.update((str(who), who) for who in named if who is not None)
        names = ["" if who is None else str(who) for who in named]
        nobody = next((who for who in names if who), "")  # an item without a name is the first person's
        people = [who or nobody for who in names]
        for who in dict.fromkeys(people):
            places = [place for place, other in enumerate(people) if other == who]
            yield replace(work, person=who, items=[items[place] for place in places], places=places)

    def _check(self, tasks: Sequence[_Task]) -> None:
        first = self.records.content[tasks[0].record]
        if "id" in self.options.fields and all(task.document.id is None for task in tasks):
            raise InputError(
                f"{self.name}: no document has {self.options.fields['id']!r}, which --field id names. Keys: "
                f"{key_list(first)}."
            )
        dialect = self.dialect
        if self._listed or self.options.text_only or dialect.detected or dialect.control:
            return
        raise InputError(
            f"{self.name}: no document has {dialect.spans[0].at!r}, which should list its annotations; the first has "
            f"the keys {key_list(first)}. Say where they stand: --field spans=KEY."
        )

    # -- annotations

    def read(self) -> Reading:
        """The reading."""
        name, options, dialect = self.name, self.options, self.dialect
        together = self.file.together = self._alike()
        if together is None:
            self.tasks = self.find_tasks()
        else:
            self._note(together)
        for task in self.tasks:
            for works in task.works.values():
                for work in works:
                    self.file.works.setdefault((work.record, work.path), work)
                    self._note(work)
        self.main = self.main or "label"
        layers = self._layers()
        collector = Collector(name, format_named(dialect.name), options, layers)
        collector.notes += self._notes(layers)
        if dialect.control and len(set(layers.values())) > 1:
            collector.sequences = dict(layers)
        chosen, unseen = choose_annotators([task.people for task in self.tasks], options.annotator, name)
        if options.annotator is not None:
            collector.unannotated |= unseen
        for number, (task, indices) in enumerate(zip(self.tasks, chosen, strict=True)):
            collector.add_document(task.document)
            lists = list(task.works.values())
            works = [work for index in indices for work in lists[index]]
            collector.homes.append((works[0].record, works[0].path) if works else None)
            for work in works:
                count = len(work.items)
                self._add(collector, [number] * count, [work.record] * count, work, layers)
        if together is not None:
            lists = column(self.records.content, together.path)
            collector.documents += starmap(self._document, enumerate(self.records.content))
            collector.homes += zip(range(len(lists)), repeat(together.path), strict=False)
            owners = [number for number, items in enumerate(lists) for _ in items]
            self._add(collector, owners, owners, together, layers)
        source = Source(name, dialect.name, digest(self.file.raw), dict(collector.layers))
        self.file.layers = dict(collector.layers)
        self.file.annotator = options.annotator or ""
        attributes = () if self.file.detector else dialect.attributes
        union = options.annotator == UNION
        return collector.finish(source, self.file, detector=self.file.detector, union=union, attributes=attributes)

    def _alike(self) -> Work | None:
        """All lists as one where records hold them in the usual place and name nobody, and all documents; else None."""
        content, dialect, options, spans = self.records.content, self.dialect, self.options, self.dialect.spans[0]
        special = dialect.detected or dialect.person or dialect.refusal or options.fields or options.annotator
        if special or set(map(type, content)) != {dict}:
            return None
        lists = column(content, spans.holder)
        if set(map(type, lists)) != {list}:
            return None
        items = list(chain.from_iterable(lists))
        heads = [each[0] for each in lists if each]
        kinds = [set(map(type, items)), *(set(map(type, column(heads, (key,)))) for key in SURFACES)]
        if max(map(len, kinds)) > 1:
            return None
        places = [place for each in lists for place in range(len(each))]
        return Work(0, spans.holder, spans, keys_of_all(spans, items[:1]), "", items, places)

    def _note(self, work: Work) -> None:
        """Take what the file's way of writing is known by."""
        items = work.items
        self.file.surface = self.file.surface or work.keys.get("surface")
        if self.dialect.control:
            for item in items:
                if self._is_span(work, item):
                    self.file.first.setdefault(self._control(work, item), (item, work))
            return
        if items:
            self.file.first.setdefault("", (items[0], work))
        step = work.keys["label"][-1]
        self.main = self.main or (step if isinstance(step, str) else "label")
        kinds = set(map(type, work.column("label")))
        self.file.numbers |= int in kinds
        self.file.lists |= list in kinds
        if not self.dialect.fields and items and isinstance(items[0], dict):
            known = {"id", *work.spans.new, *(path[0] for path in work.keys.values())}
            for key in dict.fromkeys(chain.from_iterable(item for item in items if isinstance(item, dict))):
                if key not in known and any(isinstance(value, str) for value in column(items, (key,))):
                    self.others[key] = None

    def _control(self, work: Work, item: Any) -> str:
        return work.control or str(look_up(item, (self.dialect.control,)) or work.spans.new[self.dialect.control])

    def _is_span(self, work: Work, item: Any) -> bool:
        """In a dialect with controls, what has no offsets or no labels (choices, ratings, relations) is no span."""
        if not self.dialect.control:
            return True
        if not isinstance(item, dict) or first_of(item, work.spans.keys["start"])[1] is None:
            return False
        return first_of(item, work.spans.keys["label"])[1] is not None or str(item.get("type", "")).endswith("labels")

    def _layers(self) -> dict[str, str]:
        """Which field or control each layer takes its labels from."""
        title = format_named(self.dialect.name).title
        if not self.dialect.control:
            fields = self.dialect.fields or (self.main, *self.others)
            return choose_fields(self.options.layers, fields, self.name, title)
        controls = tuple(self.file.first) or ("label",)
        if self.options.layers or len(controls) == 1:
            return choose_fields(self.options.layers, controls, self.name, title)
        return {control: control for control in controls}

    def _notes(self, layers: Mapping[str, str]) -> list[str]:
        notes = list(self.notes)
        repeated = repeated_keys(self.file.raw, self.records)
        if repeated:
            keys = ", ".join(map(repr, repeated[:3])) + (", …" if len(repeated) > 3 else "")
            notes.append(f"{self.name}: an object has the same key twice ({keys}); the last one counts")
        missing = [key for key in layers.values() if self.file.detector and key in self.dialect.fields[1:]]
        if missing:
            at = self.dialect.detected[0].at
            notes.append(f"{self.name}: {at} has no {', '.join(missing)}: its spans carry no label there")
        return notes

    def _add(
        self,
        collector: Collector,
        owners: Sequence[int],
        records: Sequence[int],
        work: Work,
        layers: Mapping[str, str],
    ) -> None:
        """Take a list of annotations: at once if all is as it should be, else one by one with what is wrong.

        `owners` and `records` are the document and the record of each.
        """
        items, keys, dialect = work.items, work.keys, self.dialect
        starts, labels, surfaces = (work.column(role) for role in ("start", "label", "surface"))
        ends = work.column("end") if "end" in keys else self._ends(starts, surfaces)
        scores = work.column("score")
        wanted = () if self.file.detector else {*layers.values(), *dialect.attributes}
        others = [key for key in (*dialect.fields[1:], *self.others) if key in wanted]
        values = {self.main: labels, **{key: column(items, (key,)) for key in others}}

        def where(row: int) -> str:
            doc_id = collector.documents[owners[row]].id
            document = self.records.place(records[row]) if doc_id is None else f"document {doc_id!r}"
            by = f" of {work.person}" if work.person.strip("#") == work.person != "" else ""
            return f"{self.name}: {document}, {dialect.noun} {work.places[row] + 1}{by}"

        handles = list(zip(records, repeat(work.path), work.places, strict=False))
        if not dialect.control and plain_values(starts, ends, values):
            how: dict[str, Any] = {"surfaces": surfaces, "scores": scores, "handles": handles}
            collector.extend(owners, starts, ends, values, **how, where=where)
            return
        kind = list if isinstance(keys["start"][0], int) else dict
        for row, item in enumerate(items):
            if not isinstance(item, kind):
                if not dialect.control:
                    collector.complain(where(row), f"found {shown(item)}", allowed_items(keys))
                continue
            field_ = self._control(work, item) if dialect.control else self.main
            if not self._is_span(work, item) or (dialect.control and field_ not in layers.values()):
                continue
            start, end, written = starts[row], ends[row], labels[row]
            if dialect.control:
                start, end = (_offset(item, work.spans.keys[role]) for role in ("start", "end"))
                written = first_of(item, work.spans.keys["label"])[1]
                if written is not None and not isinstance(written, list):
                    collector.complain(where(row), f"labels are {shown(written)}", "a list with one label")
                    continue
            label, several = single_label(written)
            if several and self.options.several_tags != FIRST:
                collector.complain(
                    where(row),
                    f"several labels on one span: {', '.join(map(str, several))}",
                    "one label",
                    "Split the span, or take the first (read.several_tags=first)",
                )
                continue
            collector.add(
                owners[row],
                (start, end),
                {field_: label, **{key: label_text(values[key][row]) for key in others}},
                surface=surfaces[row] if isinstance(surfaces[row], str) else None,
                score=scores[row],
                sequence=field_ if collector.sequences else "",
                handle=handles[row],
                where=where(row),
            )

    def _ends(self, starts: Sequence[Any], surfaces: Sequence[Any]) -> list[Any]:
        """Where annotations end whose words say how long they are."""
        ends: list[Any] = []
        for start, words in zip(starts, surfaces, strict=True):
            if not is_offset(start) or not isinstance(words, str):
                ends.append(None)
                continue
            units = unit_starts(words, self.options.offsets)
            ends.append(start + (len(words) if units is None else len(units) - 1))
        return ends


def _offset(item: Any, paths: str) -> Any:
    """The first of several places where an offset stands: regions of HTML have one besides the path to an element."""
    there = [look_up(item, path) for path in alternatives(paths)]
    return next((value for value in there if is_offset(value)), there[0])
