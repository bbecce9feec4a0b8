"""What an earlier run's metrics.json says, and whether it can be held against another run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.outputs.metrics_json import SCHEMA

IDENTITY = ("scheme", "variant", "level", "labelled", "layer", "label", "average", "group")
# Parts of a signature that may differ: what is predicted and by whom, and what changes no rate of the headline.
_FREE = {"version", "scheme", "type-layer", "iou", "coverage", "scenario", "presidio", "chars", "by", "context"}
_FREE |= {"seed", "replicates", "detector", "pred", "dropped", "compare"}


@dataclass(frozen=True)
class Baseline:
    """An earlier run: its score rows by what they are, and how it was computed."""

    name: str
    signatures: tuple[str, ...]  # one, or one for each layer that was evaluated by itself
    rows: dict[tuple[str, ...], dict[str, Any]]

    def row(self, wanted: dict[str, Any]) -> dict[str, Any] | None:
        """The row with the identity of another one."""
        return self.rows.get(_identity(wanted))

    def differences(self, signature: str) -> list[str]:
        """What was computed differently, in words; nothing where the two can be compared."""
        own = _parts(signature)
        best: list[str] | None = None
        for other in map(_parts, self.signatures):
            keys = [key for key in {**own, **other} if own.get(key) != other.get(key)]
            found = [f"{key} {other.get(key, '-')} there, {own.get(key, '-')} here" for key in keys]
            if best is None or len(found) < len(best):
                best = found
        return best or []


def read_baseline(data: bytes, name: str) -> Baseline:
    """Read a metrics.json, ours or the Presidio-shaped one with ours in it."""
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"{name}: is no JSON: {error}. Give a metrics.json that `--json` wrote.") from None
    if isinstance(content, dict) and isinstance(content.get("clueval"), dict):
        content = content["clueval"]
    schema = content.get("schema") if isinstance(content, dict) else None
    if schema != SCHEMA or not isinstance(content.get("scores"), list):
        raise InputError(
            f"{name}: is no metrics.json of schema {SCHEMA} (found schema {schema!r}). "
            "Write the baseline anew with `evaluate --json` or `score --json`."
        )
    layers = content.get("layers")
    try:
        signatures = [part["signature"] for part in layers.values()] if layers else [content["signature"]]
        rows = {_identity(row): row for row in content["scores"]}
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name}: a key of metrics.json is missing or wrong ({error}). Write it anew.") from None
    return Baseline(name, tuple(map(str, signatures)), rows)


def _identity(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(json.dumps(row[name], sort_keys=True) for name in IDENTITY)


def _parts(signature: str) -> dict[str, str]:
    """The parts of a signature that must agree; of the layers' columns only gold's."""
    parts = dict(part.partition(":")[::2] for part in signature.split("|")[1:])
    found = {key: value for key, value in parts.items() if key not in _FREE}
    if "layers" in found:
        found["layers"] = found["layers"].partition("/")[0]
    return found
