"""What a workbook says about the run it came from: written by the workbook, read by the re-import.

The manifest is JSON on a hidden sheet. It holds everything that matching anew needs (all predicted spans and
their labels as positions, layers, settings), and no text of the corpus.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, make_spans, positions
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.typed_json import build
from clueval_xlsx.review.vocabulary import EFFECTS, MANIFEST_SCHEMA, Judgement, run_id
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.version import __version__

if TYPE_CHECKING:
    from clueval_xlsx.evaluation import Evaluation

REVIEW, CONFLICTS = "review", "conflicts"
# The settings that decide which cases there are; others change figures or what is shown, not what is judged.
CASE_SETTINGS = ("layers", "columns", "merged", "level", "labelled", "labels")
# A manifest is unpacked from a file that anybody may have sent: what it may grow to is limited.
MOST_PREDICTION_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class Manifest:
    """One run, as its workbook remembers it.

    `settings` is what the run ID derives from. `reading` says how gold and prediction were read
    (`{"gold": {…}, "pred": {…}}`, the fields of `ReadOptions`), so that nobody has to repeat it. `role` tells a
    review from a conflict workbook, whose judge has the last word.
    """

    run_id: str
    gold: Mapping[str, str]  # name, sha256
    pred: Mapping[str, str]
    settings: Mapping[str, Any]
    layers: tuple[str, ...]
    predictions: str = ""  # see pack_predictions
    cut: str = ""  # see pack_cut; empty where the tokens are those of the gold file
    schema: int = MANIFEST_SCHEMA
    version: str = ""
    signature: str = ""
    lang: str = "en"
    annotator: str = ""
    part: str = ""
    contact: str = ""
    role: str = REVIEW
    cases: Mapping[str, int] = field(default_factory=dict)
    documents: int = 0
    tokens: int = 0
    reading: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    judgements: tuple[Judgement, ...] = ()  # those of the project, beside the tool's own
    team: tuple[str, ...] = ()  # everybody the cases were handed out to
    sample: Mapping[str, Any] = field(default_factory=dict)  # how the cases were drawn, if not all are there
    sources: tuple[str, ...] = ()  # the workbooks whose open cases a conflict workbook holds
    created: str = ""

    def setting(self, name: str, default: Any = None) -> Any:
        """One setting of the run."""
        value = self.settings.get(name)
        return default if value is None else value


def from_evaluation(evaluation: Evaluation, **known: Any) -> Manifest:
    """The manifest of a run; `known` adds what the run does not know: language, annotator, part, contact, …"""
    pair = evaluation.pair
    sides = {"gold": pair.gold.source, "pred": pair.pred.source}
    missed, unsupported = evaluation.bare_cases
    settings = {
        **asdict(evaluation.options),
        "layers": list(pair.layers),
        "columns": {side: dict(source.columns) for side, source in sides.items()},
        "merged": len(pair.layers) > 1,
    }
    hashes = {side: source.sha256 for side, source in sides.items()}
    values: dict[str, Any] = {
        "run_id": run_id(hashes["gold"], hashes["pred"], {key: settings[key] for key in CASE_SETTINGS}),
        "gold": {"name": PurePath(sides["gold"].name).name, "sha256": hashes["gold"]},
        "pred": {
            "name": PurePath(sides["pred"].name).name,
            "sha256": hashes["pred"],
            **({"detector": sides["pred"].detector} if sides["pred"].detector else {}),
        },
        "settings": settings,
        "layers": pair.layers,
        "predictions": pack_predictions(evaluation.raw.pred.layers),  # labels as they were: the mapping comes again
        "cut": pack_cut(pair.added, pair.corpus.doc_ids) if pair.added is not None else "",
        "version": __version__,
        "signature": evaluation.signature,
        "cases": {FN: len(missed), FP: len(unsupported)},
        "documents": len(pair.corpus.documents),
        "tokens": len(pair.corpus),
        "reading": {side: dict(source.reading) for side, source in sides.items()},
    }
    return decode(encode(Manifest(**{**values, **known})))  # as it will be read: tuples are lists in JSON


def encode(manifest: Manifest) -> str:
    """The manifest as JSON text of visible ASCII characters, because programs treat spaces in cells differently."""
    text = json.dumps(asdict(manifest), sort_keys=True, separators=(",", ":"), default=_plain)
    return text.replace(" ", "\\u0020")  # all spaces that are left stand inside strings


def decode(text: str, where: str = "manifest") -> Manifest:
    """Read the JSON text back; unknown keys are ignored, a newer schema is refused.

    >>> manifest = Manifest("a-b-c", {"sha256": "aa"}, {"sha256": "bb"}, {"level": "exact"}, ("span",))
    >>> decode(encode(manifest)) == manifest
    True
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(
            f"{where}: the manifest is damaged: it is not JSON. Ask for the workbook again, or give --pred."
        ) from None
    if not isinstance(content, dict):
        raise InputError(f"{where}: the manifest is damaged: found {type(content).__name__}, allowed: an object.")
    _check_schema(content.get("schema"), where)
    try:
        manifest = build(Manifest, {key: value for key, value in content.items() if value is not None})
        _check_judgements(manifest.judgements)
        return manifest
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(
            f"{where}: the manifest is damaged: {error}. Ask for the workbook again, or evaluate anew."
        ) from None


def pack_predictions(layers: Mapping[str, pd.DataFrame]) -> str:
    """Spans of every layer as compressed text: positions and label numbers, no words of the corpus."""
    content = {}
    for layer, spans in layers.items():
        labels = label_vocabulary([spans], layer)
        start, end = positions(spans)
        content[layer] = {
            "start": start.tolist(),
            "end": end.tolist(),
            "label": label_codes(spans, layer, labels).tolist(),
            "labels": labels,
        }
    return _pack(content)


def pack_cut(added: Ranges, doc_ids: Sequence[str]) -> str:
    """What the prediction added to gold's tokens, so that positions can be understood without it."""
    ranges = {name: getattr(added, name).tolist() for name in ("document", "start", "end")}
    return _pack({**ranges, "documents": list(doc_ids)})


def unpack_cut(text: str, where: str = "manifest") -> tuple[Ranges, tuple[str, ...]]:
    """The ranges, and the documents of the corpus in their order."""
    try:
        content = json.loads(_unpack(text))
        columns = [np.array(content[name], dtype=np.int64).reshape(-1) for name in ("document", "start", "end")]
        if len({len(column) for column in columns}) > 1 or any((column < 0).any() for column in columns):
            raise ValueError("the columns do not fit each other")
        return Ranges(*columns), tuple(str(doc_id) for doc_id in content["documents"])
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, zlib.error) as error:
        raise InputError(
            f"{where}: what the manifest says about tokens is damaged ({error}). Give the prediction with --pred."
        ) from None


def _pack(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8", "surrogatepass"), 9)).decode("ascii")


def _unpack(text: str) -> bytes:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(base64.b64decode(text, validate=True), MOST_PREDICTION_BYTES)
    if unpacker.unconsumed_tail:
        raise ValueError("it is too large")
    return data


def unpack_predictions(text: str, where: str = "manifest") -> dict[str, pd.DataFrame]:
    """The span frame of every layer.

    >>> spans = make_spans([3, 9], [5, 9], {"risk": ["HIGH", None]})
    >>> unpack_predictions(pack_predictions({"risk": spans}))["risk"]
       start  end  risk
    0      3    5  HIGH
    1      9    9   NaN
    """
    try:
        content = json.loads(_unpack(text))
        return {str(layer): _unpack_layer(str(layer), columns) for layer, columns in content.items()}
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error) as error:
        raise InputError(
            f"{where}: the predictions in the manifest are damaged ({error}). Give the prediction file with --pred."
        ) from None


def _unpack_layer(layer: str, columns: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    start, end, codes = (np.asarray(columns[name], dtype=np.int64) for name in ("start", "end", "label"))
    labels = [str(label) for label in columns["labels"]]
    if not len(start) == len(end) == len(codes):
        raise ValueError(f"the columns of layer {layer} differ in length")
    if (end < start).any() or (start < 0).any() or (start[1:] <= end[:-1]).any():
        raise ValueError(f"the spans of layer {layer} overlap or are not sorted")
    names = pd.Categorical.from_codes(codes, categories=pd.Index(labels, dtype=object))
    return make_spans(start, end, {layer: names})


def _check_schema(schema: Any, where: str) -> None:
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise InputError(f"{where}: the manifest has schema {schema!r}. Allowed: 1 to {MANIFEST_SCHEMA}.")
    if schema > MANIFEST_SCHEMA:
        raise InputError(
            f"{where}: the workbook was made by a newer version of clueval-xlsx (schema {schema}, this version knows "
            f"up to {MANIFEST_SCHEMA}). Update clueval-xlsx and run again."
        )


def _check_judgements(judgements: Sequence[Judgement]) -> None:
    for judgement in judgements:
        if judgement.effect not in EFFECTS or not set(judgement.sheets) <= {FN, FP, AG}:
            raise ValueError(f"judgement {judgement.code!r} has effect {judgement.effect!r} on {judgement.sheets}")


def _plain(value: Any) -> Any:
    """What JSON does not know: mappings that are no dicts, sets, numbers of numpy."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic):
        return value.item()
    return list(value)
