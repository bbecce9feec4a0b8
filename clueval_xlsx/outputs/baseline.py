"""What an earlier run's metrics.json says, and whether it can be held against another run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.figures import signature_differences
from clueval_xlsx.outputs.json_structs import SCHEMA, Metrics, ScoreRow

_REMEDY = "Write the baseline anew with `evaluate --json` or `score --json`."
_OTHER_FILES = {  # by a key that no other file has
    "differences": "`compare --json` wrote, which has several systems",
    "thresholds": "`score --thresholds --json` wrote",
    "matrices": "`agree --json` wrote",
    "workbooks": "`status --json` wrote",
    "runs": "`reimport --json` wrote",
}


@dataclass(frozen=True)
class Baseline:
    """An earlier run: its score rows by what they are, and how it was computed."""

    name: str
    signatures: tuple[str, ...]  # one, or one for each layer that was evaluated by itself
    rows: dict[tuple[object, ...], ScoreRow]

    def row(self, wanted: ScoreRow, layer: str) -> ScoreRow | None:
        """The row that is about the same, perhaps of a file in which every row names its layer."""
        return self.rows.get(wanted.identity) or self.rows.get(msgspec.structs.replace(wanted, layer=layer).identity)

    def differences(self, signature: str) -> list[str]:
        """What was computed differently, in words; nothing where the two can be compared."""
        return min((signature_differences(other, signature) for other in self.signatures), key=len)


def read_baseline(data: bytes, name: str) -> Baseline:
    """Read a metrics.json, ours or the Presidio-shaped one with ours in it."""
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: is no JSON: {error}. Give a metrics.json that `--json` wrote.") from None
    inner = ""
    if isinstance(content, dict) and isinstance(content.get("clueval"), dict):
        content, inner = content["clueval"], "clueval."
    if not isinstance(content, dict) or content.get("schema") != SCHEMA or "scores" not in content:
        raise InputError(f"{name}: is no metrics.json of schema {SCHEMA}: {_what_it_is(content)}. {_REMEDY}")
    try:
        metrics = msgspec.convert(content, Metrics)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: {inner}{what_is_wrong(error)}. {_REMEDY}") from None
    layers = metrics.layers or {}
    signatures = tuple(layer.signature for layer in layers.values()) or (metrics.signature,)
    return Baseline(name, signatures, {row.identity: row for row in metrics.scores})


def _what_it_is(content: Any) -> str:
    """What a file is that is no baseline."""
    if not isinstance(content, dict):
        return "found no object"
    known = next((what for key, what in _OTHER_FILES.items() if key in content), None)
    return f"this is what {known}" if known else f"found schema {content.get('schema')!r}"


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
