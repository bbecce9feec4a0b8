"""Values as every JSON file has them: counts are integers, what is not defined is null, nothing is rounded."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
import pandas as pd

from clueval_xlsx.scoring.scheme_settings import gives_half_credit
from clueval_xlsx.scoring.scores import COUNTS, RATES, RIGHT_OR_WRONG

_NAMES = ("scheme", "variant", "level", "labelled", "layer", "label", "average")


def missing(value: Any) -> bool:
    """Whether there is no value."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def number(value: Any) -> float | None:
    """A rate or a score; null if it is not defined."""
    return None if missing(value) else float(value)


def whole(value: Any) -> int | None:
    """A count; null where nothing was counted.

    >>> whole(3.0), whole(float("nan"))
    (3, None)
    """
    return None if missing(value) else int(value)


def counts(row: Mapping[Any, Any]) -> dict[str, int | None]:
    """The counts of a score row; where matches may be half right there are no whole true positives, and so none."""
    halves = gives_half_credit(row.get("scheme", ""), row.get("variant"))
    return {name: None if halves and name in RIGHT_OR_WRONG else whole(row[name]) for name in COUNTS}


def rates(row: Mapping[Any, Any]) -> dict[str, Any]:
    """The rates of a score row, and the intervals that are known."""
    interval = {
        name: [row[f"{name}_low"], row[f"{name}_high"]] for name in RATES if not missing(row.get(f"{name}_low"))
    }
    return {**{name: number(row[name]) for name in RATES}, "interval": interval or None}


def score_row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """One score row the way metrics.json lays it out."""
    written: dict[str, Any] = {name: None if missing(row[name]) else row[name] for name in _NAMES}
    written["group"] = None if missing(row["group_key"]) else {row["group_key"]: row["group"]}
    written |= counts(row) | rates(row)
    if isinstance(row.get("counts"), dict):
        written["counts"] = row["counts"]
    return written


class _NamedScore(msgspec.Struct):
    """What a score row of metrics.json is about."""

    scheme: str
    variant: str | None
    level: str | None
    labelled: str | None
    layer: str | None
    label: str | None
    average: str | None
    group: dict[str, Any] | None


class WrittenScore(_NamedScore, gc=False):
    """One score row the way metrics.json lays it out, made and written more quickly than a mapping."""

    gold: int | None
    tp_gold: int | None
    fn: int | None
    pred: int | None
    tp_pred: int | None
    fp: int | None
    precision: float | None
    recall: float | None
    f1: float | None
    f_beta: float | None
    interval: dict[str, list[float]] | None
    counts: dict[str, int] | msgspec.UnsetType = msgspec.UNSET


# NaN, which Python's JSON may hold, is neither more than 0 nor less than 1.
_Rate = Annotated[float, msgspec.Meta(ge=0, le=1 + 1e-9)]


class ReadScore(_NamedScore):
    """What is read back of a score row: what it is, and its rates."""

    precision: _Rate | None
    recall: _Rate | None
    f1: _Rate | None
    f_beta: _Rate | None
    interval: dict[str, tuple[_Rate, _Rate]] | None


def what_is_wrong(error: msgspec.ValidationError) -> str:
    """Where a value stands that is another than it should be, and what it is.

    >>> try:
    ...     msgspec.convert([0.5, "x"], list[float])
    ... except msgspec.ValidationError as error:
    ...     what_is_wrong(error)
    '[1]: expected `float`, got `str`'
    """
    what, _, place = str(error).partition(" - at `$")
    where = place.rstrip("`").removeprefix(".")
    return (f"{where}: " if where else "") + what[:1].lower() + what[1:]


def score_rows(table: pd.DataFrame) -> list[WrittenScore]:
    """All rows of a score table; the same as `score_row`, by whole columns."""
    identity = {name: _or_none(table[name], table[name].tolist()) for name in (*_NAMES, "group_key", "group")}
    halves = {pair: gives_half_credit(*pair) for pair in set(zip(identity["scheme"], identity["variant"], strict=True))}
    half = np.array([halves[pair] for pair in zip(identity["scheme"], identity["variant"], strict=True)], dtype=bool)
    columns: dict[str, Sequence[Any]] = {name: identity[name] for name in _NAMES}
    keyed = zip(identity["group_key"], identity["group"], strict=True)
    columns["group"] = [None if key is None else {key: group} for key, group in keyed]
    for name in COUNTS:
        known = table[name].mask(half) if name in RIGHT_OR_WRONG else table[name]
        columns[name] = _or_none(known, known.fillna(0).astype(np.int64).tolist())
    for name in RATES:
        columns[name] = _or_none(table[name], table[name].tolist())
    columns["interval"] = _intervals(table)
    columns["counts"] = [named if isinstance(named, dict) else msgspec.UNSET for named in table["counts"].tolist()]
    return list(map(WrittenScore, *(columns[name] for name in WrittenScore.__struct_fields__)))


def _or_none(column: pd.Series, values: list[Any]) -> list[Any]:
    """The values of a column, None where there is none."""
    for row in np.flatnonzero(column.isna().to_numpy(bool)).tolist():
        values[row] = None
    return values


def _intervals(table: pd.DataFrame) -> list[dict[str, list[float]] | None]:
    """The intervals that are known of each row; few rows have any."""
    found: list[dict[str, list[float]] | None] = [None] * len(table)
    bounds = [(table[f"{name}_low"].tolist(), table[f"{name}_high"].tolist()) for name in RATES]
    lows = table[[f"{name}_low" for name in RATES]]
    for row in np.flatnonzero(lows.notna().to_numpy(bool).any(axis=1)).tolist():
        pairs = zip(RATES, bounds, strict=True)
        found[row] = {name: [low[row], high[row]] for name, (low, high) in pairs if not missing(low[row])}
    return found


def json_text(head: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]) -> str:
    """An object whose lists have one item a line, so that it can be read and compared line by line."""
    text = json.dumps(head, ensure_ascii=False, indent=1, allow_nan=False)[:-2]
    for name, rows in lists.items():
        text += f',\n "{name}": [\n  {_lines(rows)}\n ]' if rows else f',\n "{name}": []'
    return f"{text}\n}}\n"


def _lines(rows: Sequence[Any]) -> str:
    """The rows, one a line."""
    encode, spaced = msgspec.json.Encoder().encode, msgspec.json.format
    try:
        return b",\n  ".join([spaced(encode(row), indent=0) for row in rows]).decode()
    except UnicodeEncodeError:  # half a surrogate pair in a label, which JSON may hold
        return ",\n  ".join(json.dumps(msgspec.to_builtins(row), ensure_ascii=False, allow_nan=False) for row in rows)
