"""The dialects of JSON as data: where records hold their texts and annotations, and what the keys of those are called.

A new dialect is an entry of `DIALECTS` and a line in the registry. Places are dotted paths, as `--field` takes them;
`a|b` is the first of two that is there, and `*` stands for every key or item.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from clueval_xlsx.corpus.reading import NewSpan
from clueval_xlsx.formats.json_records import (
    Path,
    is_offset,
    look_up,
    parse_path,
)
from clueval_xlsx.formats.writing import AnnotatedDocument

EACH = "*"
Values = dict[Path, Any]  # where in an object, and what should stand there
Keys = dict[str, Path]  # where an annotation has what, by role


@dataclass(frozen=True)
class Spans:
    """A list of annotations: where it stands, and the keys of its items by role, in the order that new ones have.

    Roles are `start`, `end`, `label`, `score`, `surface` (the words repeated) and `person` (who made this one). Where
    there is no `end`, the words say how long an annotation is. The first list of a dialect in which nobody is named has
    one path a role: such lists are read at once.
    """

    at: str
    keys: Mapping[str, str]
    person: str = ""  # where the holder of a list below `*` names who made it; `*`: its key
    unless: str = ""  # holders in which this is true do not count
    marks: str = ""  # keys of which items have one, where those of the roles do not tell the dialect
    new: Mapping[str, Any] = field(default_factory=dict)  # what a new item says besides; texts are as in the first

    @cached_property
    def holder(self) -> Path:
        """Where the list stands, or what holds the lists."""
        return parse_path(self.at.partition(EACH)[0].rstrip("."))

    @cached_property
    def inside(self) -> Path:
        """Where the lists stand in each holder."""
        return parse_path(self.at.partition(EACH)[2].lstrip("."))


@dataclass(frozen=True)
class Dialect:
    """One way of writing annotated texts as JSON."""

    name: str
    signs: str  # keys of a record that tell it; several groups, separated by |
    spans: tuple[Spans, ...]
    detected: tuple[Spans, ...] = ()  # a model's finds beside the annotations
    certain: bool = False  # whether the signs suffice, however the items look
    data: str = ""  # the object that holds text, ID and metadata, if that is not the record
    text: str = "text"
    lone_text: bool = False  # whether the only text of a record is its text, whatever it is called
    text_elsewhere: bool = False  # whether records may come without their texts
    id: str = "doc_id|document_id|id|uid|meta.doc_id|meta.document_id|meta.id|meta.uid"
    person: str = ""  # who annotated a record
    together: bool = False  # whether records of one ID and text are one document
    only: tuple[str, str, str] = ("", "", "")  # a key, the value that counts, and what a note says of other records
    fields: tuple[str, ...] = ()  # what layers can be taken from; none: what stands in the items
    attributes: tuple[str, ...] = ()  # which of these go with annotations in any case
    control: str = ""  # the key of an item whose value is the layer
    noun: str = "annotation"
    skip: str = ""  # no metadata
    linked: str = ""  # the list whose items go with an annotation that they name (`.`: the same)
    relations: str = ""  # the links of an item, which name others by their numbers in the list
    shape: Mapping[str, Any] = field(default_factory=dict)  # a new record: where `id`, `text`, `spans`, metadata stand
    repeated: str = ""  # where new annotations in new records repeat their words, if that is no role
    lines: bool = True  # whether a new file has a line for each record unless it is called .json
    indent: int = 1
    beside: Callable[[Any, Any, NewSpan], Values] | None = None  # values that follow (record, old item, span)
    refusal: Callable[[Any], str] | None = None  # what is wrong with a record as a whole
    around: Callable[[list[Any]], Any] | None = None  # what a new file has around its records
    totals: Callable[[Any], Values] | None = None  # numbers in a file that count its annotations


# ---- what cannot be said in keys -----------------------------------------------------------------------------------


def _token_bounds(record: Any, item: Any, span: NewSpan) -> Values:  # noqa: ARG001
    """Prodigy: the first and last token of a span, where documents carry their tokens."""
    tokens = look_up(record, ("tokens",))
    if not isinstance(tokens, list):
        return {}
    for token in tokens:
        if not is_offset(look_up(token, ("start",))) or not is_offset(look_up(token, ("end",))):
            return {}
    inside = [index for index, token in enumerate(tokens) if token["end"] > span.start and token["start"] < span.end]
    if not inside:
        return {}
    first, last = inside[0], inside[-1]
    return {("token_start",): tokens[first].get("id", first), ("token_end",): tokens[last].get("id", last)}


def _entity_id(label_key: str, record: Any, item: Any, span: NewSpan) -> Values:  # noqa: ARG001
    """LABEL, juritools: an entity is called by its category and its words, unless somebody linked it to another."""
    if item is None:
        return {("entityId",): _entity_names(span.label, span.surface)[-1]}
    old = _entity_names(item.get(label_key), str(item.get("text")))
    new = _entity_names(span.label, span.surface)
    written = item.get("entityId")
    return {("entityId",): new[old.index(written)]} if written in old else {}


def _entity_names(label: Any, words: str) -> list[str]:
    """The ways in which an entity is called by its words: as they are, in lower case, with and without accents."""
    lower = words.strip().lower()
    plain = "".join(mark for mark in unicodedata.normalize("NFD", lower) if not unicodedata.combining(mark))
    ligatures = plain.replace("œ", "oe").replace("æ", "ae")
    return [f"{label}_{each}" for each in (words, lower, ligatures, plain)]


def _html(record: Any) -> str:
    """Lawnotation: a document in HTML, in which annotations say where they are by paths."""
    name, text = str(look_up(record, ("name",))).lower(), str(look_up(record, ("full_text",))).lstrip().lower()
    paths = any(
        look_up(item, ("html_metadata",))
        for assignment in look_up(record, ("assignments",)) or ()
        for item in look_up(assignment, ("annotations",)) or ()
    )
    if not paths and not name.endswith((".html", ".htm")) and not text.startswith(("<!doctype html", "<html")):
        return ""
    return "is a document in HTML, whose annotations say where they are by paths into it. Export it as plain text"


def _lawnotation_totals(task: Any) -> Values:
    """Lawnotation: the numbers of annotations and relations, which its import checks."""
    annotations = [
        item
        for document in look_up(task, ("documents",)) or ()
        for assignment in look_up(document, ("assignments",)) or ()
        for item in look_up(assignment, ("annotations",)) or ()
    ]
    relations = sum(len(look_up(item, ("relations",)) or ()) for item in annotations)
    return {("counts", "annotations"): len(annotations), ("counts", "relations"): relations}


def _lawnotation_task(records: list[Any]) -> Any:
    """Lawnotation: a task of these documents, all assigned to one annotator."""
    labels: dict[str, None] = {}
    for number, record in enumerate(records, 1):
        assignment = record["assignments"][0]
        record["assignments"] = [{"annotator": 1, "order": number, "status": "done", **assignment}]
        labels.update(dict.fromkeys(item["label"] for item in assignment["annotations"]))
    colours = [f"#{number * 0x35A7F1 % 0x1000000:06x}" for number in range(1, len(labels) + 1)]
    named = [{"name": label, "color": colour} for label, colour in zip(labels, colours, strict=True)]
    task: dict[str, Any] = {
        "name": "corpus",
        "desc": "",
        "ann_guidelines": "",
        "labelset": {"name": "labels", "desc": "", "labels": named},
        "annotation_level": "symbol",
        "documents": records,
        "counts": {"documents": len(records), "assignments": len(records), "annotators": 1},
    }
    task["counts"] |= {path[-1]: count for path, count in _lawnotation_totals(task).items()}
    return task


def _input_hash(each: AnnotatedDocument) -> int:
    """Prodigy: a number for the text."""
    digest = hashlib.sha256(each.document.text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big", signed=True)


def _masked(each: AnnotatedDocument) -> str:
    """ai4privacy: the text with its annotations masked."""
    text, masked, done = each.document.text, "", 0
    counts: dict[str, int] = {}
    for start, end, label in each.spans:
        name = label or "X"
        counts[name] = counts.get(name, 0) + 1
        masked += f"{text[done:start]}[{name}_{counts[name]}]"
        done = end
    return masked + text[done:]


def _accept(each: AnnotatedDocument) -> str:  # noqa: ARG001
    return "accept"


def _empty(each: AnnotatedDocument) -> dict[str, Any]:  # noqa: ARG001
    return {}


# ---- the dialects --------------------------------------------------------------------------------------------------

TRIPLE = {"start": "0", "end": "1", "label": "2"}
PLAIN = {"start": "start", "end": "end", "label": "label", "score": "score"}
_OFFSETS = {"start": "start_offset", "end": "end_offset", "label": "label", "score": "score"}
_TAB = {"label": "entity_type", "start": "start_offset", "end": "end_offset", "surface": "span_text"}
_PRESIDIO = {
    "label": "entity_type", "surface": "entity_value", "start": "start_position", "end": "end_position",
    "score": "score",
}  # fmt: skip
_FOUND = {"start": "start", "end": "end", "label": "label|entity_type", "surface": "text", "score": "score"}
_LABEL = {"label": "category", "start": "start", "surface": "text", "score": "certaintyScore"}
_JURITOOLS = {"surface": "text", "start": "start", "label": "label", "score": "score", "end": "end"}
_LAWNOTATION = {"start": "start", "end": "end", "label": "label", "surface": "text"}
_STUDIO = {
    "start": "value.start|value.globalOffsets.start", "end": "value.end|value.globalOffsets.end",
    "surface": "value.text", "label": "value.labels|value.hypertextlabels", "score": "score",
}  # fmt: skip
_STUDIO_MIN = {role: path.replace("value.", "") for role, path in _STUDIO.items()}
_REGION = {"id": "", "from_name": "label", "to_name": "text", "type": "labels"}
_COMPLETED_BY = "completed_by.email|completed_by.id|completed_by|model_version"
_PLAIN_SHAPE = {"id": "id", "text": "text", "spans": "spans", "": EACH}
_NO_DATA = "annotation_id annotator lead_time created_at updated_at annotation_approver"


def _studio(at: str) -> Spans:
    return Spans(at, _STUDIO, person=_COMPLETED_BY, unless="was_cancelled", new=_REGION)


DIALECTS = (  # the last that fits is the most particular
    Dialect("json", "text spans", (Spans("spans", PLAIN),), shape=_PLAIN_SHAPE, repeated="text"),
    Dialect(
        "doccano",
        "text label|text labels|text entities|text annotations|data label|data labels|data entities|data annotations",
        (
            Spans("label", TRIPLE),
            Spans("labels", TRIPLE),
            Spans("entities", _OFFSETS),
            Spans("annotations", {**_OFFSETS, "person": "user"}),
        ),
        text="text|data",
        linked="relations",
        skip="Comments comments cats data annotation_approver relations",
        shape={"id": "id", "text": "text", "label": "spans", "": EACH},
    ),
    Dialect(
        "spacy-json",
        "0 1|text entities|text ents",
        (Spans("1.entities", TRIPLE), Spans("entities", TRIPLE), Spans("ents", TRIPLE)),
        text="0|text",
        id="1.doc_id|1.document_id|1.id|1.uid|" + Dialect.id,
        skip="tokens sents cats spans links",
        shape={"0": "text", "1.entities": "spans", "1.id": "id"},
    ),
    Dialect(
        "juritools",
        "entities checklist|entities",
        (Spans("entities", _JURITOOLS, marks="entityId|source"),),
        text_elsewhere=True,
        id="idDecision|idLabel|sourceId|" + Dialect.id,
        skip="checklist",
        shape={"id": "id", "text": "text", "entities": "spans", "": EACH},
        beside=partial(_entity_id, "label"),
    ),
    Dialect(
        "label",
        "text annotations",
        (Spans("annotations", _LABEL, new={"certaintyScore": 1}),),
        id="documentNumber|_id|" + Dialect.id,
        shape={"_id": "id", "text": "text", "annotations": "spans", "": EACH},
        beside=partial(_entity_id, "category"),
    ),
    Dialect(
        "tab",
        "text annotations|text presidio_detected_pii",
        (
            Spans("annotations", _TAB),
            Spans("annotations.entity_mentions", _TAB),
            Spans("annotations.*.entity_mentions", _TAB, person=EACH),
        ),
        (Spans("presidio_detected_pii", _FOUND),),
        id="doc_id|id",
        fields=("entity_type", "identifier_type", "entity_id"),
        attributes=("identifier_type", "entity_id"),
        noun="mention",
        skip="presidio_detected_pii",
        shape={"doc_id": "id or number", "text": "text", "presidio_detected_pii": "spans"},
        lines=False,
    ),
    Dialect(
        "presidio",
        "full_text",
        (Spans("spans", _PRESIDIO),),
        certain=True,
        text="full_text",
        id="doc_id|sample_id|id|metadata.doc_id|metadata.sample_id|metadata.id",
        fields=("entity_type",),
        noun="span",
        skip="masked tokens tags",
        shape={"full_text": "text", "spans": "spans", "metadata": _empty, "metadata.doc_id": "id", "metadata.": EACH},
        lines=False,
        indent=2,
    ),
    Dialect(
        "lawnotation",
        "full_text assignments",
        (Spans("assignments.*.annotations", _LAWNOTATION, person="annotator", new={"relations": []}),),
        text="full_text",
        id="name|" + Dialect.id,
        relations="relations",
        skip="assignments",
        shape={"name": "id or number", "full_text": "text", "assignments.0.annotations": "spans"},
        lines=False,
        refusal=_html,
        around=_lawnotation_task,
        totals=_lawnotation_totals,
    ),
    Dialect(
        "prodigy",
        "text _input_hash|text _task_hash|text _view_id|text _session_id|text _annotator_id|text answer",
        (Spans("spans", PLAIN),),
        certain=True,
        id=Dialect.id + "|_input_hash",
        person="_annotator_id|_session_id",
        together=True,
        only=("answer", "accept", "were not accepted (answer: reject or ignore) and are left out"),
        skip="_task_hash _view_id _session_id _annotator_id answer tokens options accept config relations _is_binary "
        "_timestamp html",
        shape={
            "text": "text", "spans": "spans", "meta": _empty, "meta.id": "id", "meta.": EACH,
            "_input_hash": _input_hash, "answer": _accept,
        },
        beside=_token_bounds,
    ),
    Dialect(
        "ai4privacy",
        "source_text privacy_mask|unmasked_text privacy_mask|text privacy_mask",
        (Spans("privacy_mask", {"surface": "value", **PLAIN}),),
        certain=True,
        text="source_text|unmasked_text|text",
        skip="source_text unmasked_text target_text masked_text span_labels",
        shape={"source_text": "text", "masked_text": _masked, "privacy_mask": "spans", "uid": "id", "": EACH},
    ),
    Dialect(
        "label-studio",
        "data",
        (_studio("annotations.*.result"), _studio("completions.*.result")),
        (_studio("predictions.*.result"),),
        data="data",
        lone_text=True,
        id="doc_id|id",
        control="from_name",
        noun="result",
        skip=_NO_DATA,
        linked=".",
        shape={"data.text": "text", "data.doc_id": "id", "data.": EACH, "annotations.0.result": "spans"},
        lines=False,
        indent=2,
    ),
    Dialect(
        "label-studio",
        "annotation_id annotator|*",
        (Spans(EACH, _STUDIO_MIN),),
        lone_text=True,
        id="doc_id|id",
        person="annotator",
        together=True,
        control="from_name",
        noun="result",
        skip=_NO_DATA,
        linked=".",
    ),
)  # fmt: skip
