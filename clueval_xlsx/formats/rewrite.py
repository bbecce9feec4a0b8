"""Corrected gold in its own format: only the corrected annotations change, everything else stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.standoff import TextReading, layer_frames
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.brat_writer import corrected_annotations
from clueval_xlsx.formats.changes import Changes, NewSpan, find_changes
from clueval_xlsx.formats.json_edit import ListEdit, Path, edit_lists
from clueval_xlsx.formats.json_source import JsonOriginal
from clueval_xlsx.formats.label_studio import FIELDS as LABEL_STUDIO_FIELDS
from clueval_xlsx.formats.tab_json import DETECTED
from clueval_xlsx.formats.table_edit import corrected_table, corrected_table_on_tokens
from clueval_xlsx.formats.vertical_writer import rewrite_layers


def rewrite(reading: Reading, layers: Mapping[str, pd.DataFrame], corpus: Corpus | None = None) -> dict[str, bytes]:
    """The files of a reading with these spans in place of its own, by file name.

    `layers` are span frames over `corpus`, the corpus of the pair that was judged; without it, over the reading's
    own. A layer that is not given stays as it is. Formats that are one file give one entry; brat gives every file
    of the folder, and those that nothing was corrected in are byte for byte the same.
    """
    unknown = [layer for layer in layers if layer not in reading.layers]
    if unknown:
        raise OptionError(
            f"{reading.source.name}: there is no layer {unknown[0]} to correct. Layers: {', '.join(reading.layers)}."
        )
    name = PurePath(reading.source.name).name
    if reading.text is not None:
        corpus = corpus or reading.corpus
        side = _in_order_of(reading.text, corpus)
        return _rewrite_text(side, {**layer_frames(side.mentions, corpus), **layers}, corpus, name)
    if reading.original is not None:
        own = {layer: spans for layer, spans in reading.layers.items() if isinstance(spans, pd.DataFrame)}
        return {name: corrected_table_on_tokens(reading.original, reading, {**own, **layers})}
    return {name: rewrite_layers(reading, layers)}


def _in_order_of(side: TextReading, corpus: Corpus) -> TextReading:
    """The documents of a source as a corpus has them; what it has not cannot have been corrected."""
    if corpus.doc_ids == side.doc_ids:
        return side
    number = {doc_id: index for index, doc_id in enumerate(side.doc_ids)}
    return side.only([number[doc_id] for doc_id in corpus.doc_ids])


def _rewrite_text(side: TextReading, layers: Mapping[str, pd.DataFrame], corpus: Corpus, name: str) -> dict[str, bytes]:
    changes = find_changes(side, layers, corpus)
    if side.source.format == "brat":
        return {**side.original.files, **corrected_annotations(side.original, changes)}
    if side.source.format == "table":
        return {name: corrected_table(side.original, changes)}
    return {name: _corrected_json(side, changes)}


def _corrected_json(side: TextReading, changes: Changes) -> bytes:
    original: JsonOriginal = side.original
    documents = changes.documents()
    if not documents:
        return original.raw
    maker = _ITEMS[side.source.format]
    edits: dict[Path, ListEdit] = {}

    def edit_of(handle: tuple[Any, ...]) -> ListEdit:
        return edits.setdefault((handle[0], *handle[1]), ListEdit())

    for document in documents:
        for handle in changes.removed[document]:
            edit_of(handle).removed.add(handle[2])
        for handle, span in changes.changed[document]:
            values = maker(side, span, handle[1])
            edit_of(handle).changed[handle[2]] = {path: value for path, value in values.items() if _writes(path, span)}
        for number, span in enumerate(changes.added[document], 1):
            home = side.homes[document]
            if home is None:
                raise OptionError(
                    f"{side.source.name}: document {side.doc_ids[document]!r} has no list of annotations to add "
                    f"{span.surface!r} to. Add an empty one first."
                )
            edit_of(home).added.append(_new_item(maker(side, span, home[1]), side, document, number))
    byte_order_mark = "\ufeff" if original.raw.startswith(b"\xef\xbb\xbf") else ""
    text = original.raw.decode("utf-8-sig")
    return (byte_order_mark + edit_lists(text, edits)).encode("utf-8", "backslashreplace")


def _writes(path: Path, span: NewSpan) -> bool:
    """Whether a value is written into an annotation that was there: labels only where they changed."""
    return span.label_changed or path[-1] not in _LABEL_KEYS


_LABEL_KEYS = frozenset({"entity_type", "identifier_type", "entity_id", "label", "labels"})


def _tab_item(side: TextReading, span: NewSpan, path: Path) -> dict[Path, Any]:
    labels = {str(side.source.columns[layer]): label for layer, label in span.labels.items()}
    if path == (DETECTED,):
        return {
            ("start",): span.start,
            ("end",): span.end,
            ("label",): labels.get("entity_type"),
            ("text",): span.surface,
        }
    return {
        ("entity_type",): labels.get("entity_type"),
        ("start_offset",): span.start,
        ("end_offset",): span.end,
        ("span_text",): span.surface,
        **{(field,): label for field, label in labels.items() if field != "entity_type"},
    }


def _presidio_item(side: TextReading, span: NewSpan, path: Path) -> dict[Path, Any]:  # noqa: ARG001
    return {
        ("entity_type",): span.label,
        ("entity_value",): span.surface,
        ("start_position",): span.start,
        ("end_position",): span.end,
    }


def _label_studio_item(side: TextReading, span: NewSpan, path: Path) -> dict[Path, Any]:  # noqa: ARG001
    return {
        ("value", "start"): span.start,
        ("value", "end"): span.end,
        ("value", "text"): span.surface,
        ("value", "labels"): [] if span.label is None else [span.label],
    }


_ITEMS: dict[str, Callable[[TextReading, NewSpan, Path], dict[Path, Any]]] = {
    "tab": _tab_item,
    "presidio": _presidio_item,
    "label-studio": _label_studio_item,
}


def _new_item(values: Mapping[Path, Any], side: TextReading, document: int, number: int) -> dict[str, Any]:
    """A new annotation as an object; Label Studio needs to know which control it belongs to."""
    item: dict[str, Any] = {}
    if side.source.format == "label-studio":
        item = {
            "id": f"corrected-{document + 1}-{number}",
            "from_name": LABEL_STUDIO_FIELDS[0],
            "to_name": "text",
            "type": "labels",
        }
    for path, value in values.items():
        holder = item
        for step in path[:-1]:
            holder = holder.setdefault(str(step), {})
        holder[str(path[-1])] = value
    return item
