"""Lists of annotations in records of JSON: found by what a dialect says, what stands in them, which dialect it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clueval_xlsx.formats.json_dialects import DIALECTS, EACH, PLAIN, TRIPLE, Dialect, Keys, Spans
from clueval_xlsx.formats.json_records import (
    Path,
    Records,
    alternatives,
    decoded,
    first_of,
    is_pair,
    label_text,
    look_up,
    parse_path,
    shown,
)

_FARTHEST = 2**62
SURFACES = ("text", "value", "surface", "word", "span_text", "mention")


@dataclass(frozen=True, eq=False)
class SpanList:
    """A list of annotations in a record: where it stands, what is there, and what holds it under which key."""

    path: Path
    items: Any
    key: Any = None
    holder: Any = None


def lists_of(record: Any, spans: Spans) -> Iterator[SpanList]:
    """The lists of annotations that a path leads to."""
    holder = look_up(record, spans.holder)
    if EACH not in spans.at:
        yield SpanList(spans.holder, decoded(holder))
        return
    inside = spans.inside
    for key, inner in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
        items = decoded(look_up(inner, inside))
        if spans.unless and look_up(inner, parse_path(spans.unless)):
            continue
        if inside or (isinstance(items, list) and items and all(_has_roles(item, spans) for item in items)):
            yield SpanList((*spans.holder, key, *inside), items, key, inner)


def span_lists(known: Sequence[Spans], record: Any) -> Spans | None:
    """The first of several places where a record has lists of annotations."""
    for spans in known:
        holder = decoded(look_up(record, spans.holder))
        if EACH not in spans.at:
            fits = isinstance(holder, list)
        elif spans.inside:
            fits = isinstance(holder, dict | list)
        else:
            fits = isinstance(holder, dict) and any(lists_of(record, spans))
        if fits:
            return spans
    return None


def keys_of(spans: Spans, item: Any) -> Keys:
    """Where an item has what, by role; what is written as [start, end, label] may be an object, and the reverse."""
    keys = spans.keys
    if keys is TRIPLE or keys is PLAIN:
        keys = TRIPLE if isinstance(item, list) else PLAIN if isinstance(item, dict) else keys
    return {role: first_of(item, paths)[0] for role, paths in keys.items()}


def _has_roles(item: Any, spans: Spans, *, label: bool = True) -> bool:
    keys = keys_of(spans, item)
    if spans.marks and first_of(item, spans.marks)[1] is None:
        return False
    return look_up(item, keys["start"]) is not None and (not label or look_up(item, keys["label"]) is not None)


# ---- told ----------------------------------------------------------------------------------------------------------


def told(records: Records, known: Sequence[Dialect] = DIALECTS) -> Dialect | None:
    """The dialect that the first documents look like; those whose annotations have a label go before others."""
    sample = records.sample
    for strict in (True, False):
        ranked = list(reversed(known))
        if not strict:  # without annotations, those that only these would tell come last
            ranked.sort(key=lambda dialect: any(spans.marks for spans in dialect.spans))
        for dialect in ranked:
            if sample and _tells(dialect, sample, strict=strict):
                return dialect
    return None


def _tells(dialect: Dialect, sample: Sequence[Any], *, strict: bool) -> bool:
    groups = [group.split() for group in dialect.signs.split("|")]
    groups = [group for group in groups if any(_has_keys(record, group) for record in sample)]
    if not groups or dialect.certain:
        return bool(groups)
    fits = [_fits(dialect, record, strict=strict) for record in sample]
    return False not in fits and (True in fits or (not strict and groups != [[EACH]]))


def _has_keys(record: Any, keys: Sequence[str]) -> bool:
    if isinstance(record, dict):
        return all(key in record or key == EACH for key in keys)
    return is_pair(record) and all(key.isdigit() for key in keys)


def _fits(dialect: Dialect, record: Any, *, strict: bool) -> bool | None:
    """Whether the annotations of a record have the keys of the dialect; None where it has none."""
    if dialect.data:
        return isinstance(look_up(record, (dialect.data,)), dict)
    anyhow = dialect.lone_text or dialect.text_elsewhere or not strict
    if not anyhow and not isinstance(first_of(record, dialect.text)[1], str):
        return False
    spans = span_lists(dialect.spans, record) or span_lists(dialect.detected, record)
    if spans is None:
        return None
    items = [item for each in lists_of(record, spans) if isinstance(each.items, list) for item in each.items[:5]]
    return all(_has_roles(item, spans, label=strict) for item in items) if items else None


def has_lists(content: Sequence[Any], known: Sequence[Spans]) -> bool:
    """Whether a record has any of these lists."""
    for record in content:
        spans = span_lists(known, record)
        if spans is not None and any(lists_of(record, spans)):
            return True
    return False


def no_metadata(dialect: Dialect, fields: Mapping[str, str]) -> frozenset[str]:
    """The keys of a record that hold something else."""
    places = [spans.holder for spans in (*dialect.spans, *dialect.detected)]
    chosen = [parse_path(path) for path in fields.values()]
    ids = [path[-1:] for path in alternatives(dialect.id)]
    keys = [path[0] for path in (*places, *chosen, *ids) if path]
    return frozenset(map(str, [*keys, *dialect.skip.split(), dialect.linked, "text"]))


def overridden(dialect: Dialect, fields: Mapping[str, str]) -> Dialect:
    """The dialect with what somebody said (`--field`)."""
    roles = {role: fields[role] for role in ("start", "end", "label", "score") if role in fields}
    spans = [
        replace(each, at=fields.get("spans", each.at), keys={**each.keys, **roles} if roles else each.keys)
        for each in dialect.spans
    ]
    text = fields.get("text", dialect.text)
    return replace(
        dialect,
        spans=tuple(spans[:1] if "spans" in fields else spans),
        text=text.removeprefix(f"{dialect.data}.") if dialect.data else text,
        id=fields.get("id", dialect.id),
    )


def keys_of_all(spans: Spans, items: Sequence[Any]) -> Keys:
    """Where annotations like the first have what, and where they repeat their words, if they do."""
    first = next((item for item in items if isinstance(item, dict | list)), None)
    keys = keys_of(spans, first)
    if "surface" not in keys and isinstance(first, dict):
        taken = {keys["label"], keys["start"]}
        words = [key for key in SURFACES if isinstance(first.get(key), str) and (key,) not in taken]
        if words:
            keys["surface"] = (words[0],)
    return keys


def no_list_there(spans: Spans, each: SpanList) -> str:
    """What a message says where something else stands in place of a list of annotations."""
    if EACH not in spans.at:
        return f"{spans.at!r} is {shown(each.items)}. Allowed: a list of annotations."
    holder, inside = ".".join(map(str, spans.holder)), ".".join(map(str, spans.inside))
    called = f"{holder} of {each.key!r} are" if isinstance(each.key, str) else f"{holder} {each.key + 1} is"
    return f"{called} {shown(each.holder)}. Allowed: an object with {inside!r}, a list of annotations."


def allowed_items(keys: Keys) -> str:
    """What a message says that an annotation is."""
    if isinstance(keys["start"][0], int):
        return "[start, end, label]"
    named = [repr(".".join(map(str, keys[role]))) for role in ("start", "end") if role in keys]
    return f"an object with {' and '.join(named)}"


def plain_values(starts: Sequence[Any], ends: Sequence[Any], values: Mapping[str, Sequence[Any]]) -> bool:
    """Whether offsets are whole numbers and labels are texts."""
    for offsets in (starts, ends):
        if not set(map(type, offsets)) <= {int}:
            return False
        if offsets and not -_FARTHEST < min(offsets) <= max(offsets) < _FARTHEST:
            return False
    return all(set(map(type, labels)) <= {str, type(None)} for labels in values.values())


def single_label(written: Any) -> tuple[Any, list[Any]]:
    """A label, or the only one of a list, and all of them where there are several."""
    if not isinstance(written, list):
        return label_text(written), []
    return label_text(written[0] if written else None), written if len(written) > 1 else []
