"""What a workbook says about the run it came from: written by the workbook, read by the re-import.

The manifest is JSON on a hidden sheet. It holds everything that matching anew needs (all predicted spans and
their labels as positions, layers, settings), and no text of the corpus.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.twins import TwinGroups, groups_of
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, make_spans, positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.typed_values import build, plain
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.review.assignment import Sample
from clueval_xlsx.review.judgements import Filled, JudgementKind
from clueval_xlsx.review.packed_order import pack_order
from clueval_xlsx.review.packed_passages import pack_passages
from clueval_xlsx.review.packing import DAMAGED, pack, unpack
from clueval_xlsx.review.vocabulary import Role
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.version import __version__

MANIFEST_SCHEMA = 1
MANIFEST_CHUNK = 30_000  # characters in one cell; Excel's limit is 32,767 UTF-16 units
_CASE_SETTINGS = ("layers", "columns", "merged", "level", "labelled", "labels")


class SourceFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the two files of a run: its name, its hash, and the detector that made it, if one did."""

    name: str = ""
    sha256: str = ""
    detector: str = ""


@dataclass(frozen=True)
class RunSettings(Options):
    """What a run was evaluated with: its options, its layers, and the columns that they were read from."""

    layers: tuple[str, ...] = ()
    columns: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)  # side -> layer -> column or field
    merged: bool = False

    @property
    def options(self) -> Options:
        """The options alone."""
        return Options(**{each.name: getattr(self, each.name) for each in fields(Options)})

    @property
    def deciding(self) -> dict[str, object]:
        """Those that decide which cases there are; others change figures or what is shown, not what is judged."""
        return {name: plain(getattr(self, name)) for name in _CASE_SETTINGS}


@dataclass(frozen=True)
class Manifest:
    """One run, as its workbook remembers it.

    `settings` is what the run ID derives from. `reading` says how each side was read (`gold`, `pred`), so that
    nobody has to repeat it. `role` tells a review from a conflict workbook, whose judge has the last word.
    """

    run_id: str
    gold: SourceFile
    pred: SourceFile
    settings: RunSettings
    layers: tuple[str, ...]
    predictions: str = ""  # see pack_predictions
    cut: str = ""  # see pack_cut; empty where the tokens are those of the gold file
    schema: int = MANIFEST_SCHEMA
    version: str = ""
    signature: str = ""
    lang: str = "en"
    judge: str = ""
    part: str = ""
    contact: str = ""
    role: Role = Role.REVIEW
    cases: Mapping[str, int] = field(default_factory=dict)
    case_list: str = ""  # see pack_cases
    unmarked: str = ""  # see pack_passages; those of the run, whoever judges them
    order: str = ""  # of the run's cases, see pack_order; empty: that of the text
    columns: tuple[str, ...] = ()  # of its case sheets, from left to right, see columns.SheetColumn.name
    documents: int = 0
    tokens: int = 0
    reading: Mapping[str, ReadOptions] = field(default_factory=dict)
    judgements: tuple[JudgementKind, ...] = ()  # those of the project, beside the tool's own
    labels: tuple[str, ...] = ()  # that can be typed beside those that occur: their meaning is said in the workbook
    team: tuple[str, ...] = ()  # everybody the cases were handed out to
    sample: Sample = field(default_factory=Sample)  # how the cases were drawn, if not all are there
    previous: Mapping[str, Filled] = field(default_factory=dict)  # the cases that came with an earlier judgement
    sources: tuple[str, ...] = ()  # the workbooks whose open cases a conflict workbook holds
    created: str = ""


def from_evaluation(evaluation: Evaluation) -> Manifest:
    """The manifest of a run, without what the run does not know: language, judge, part, contact, …"""
    pair = evaluation.pair
    sides = {"gold": pair.gold.source, "pred": pair.pred.source}
    gold, pred = (
        SourceFile(PurePath(source.name).name, source.sha256, source.detector if side == "pred" else "")
        for side, source in sides.items()
    )
    settings = RunSettings(
        **{each.name: getattr(evaluation.options, each.name) for each in fields(Options)},
        layers=tuple(pair.layers),
        columns={side: dict(source.columns) for side, source in sides.items()},
        merged=len(pair.layers) > 1,
    )
    missed, unsupported = evaluation.bare_cases
    return Manifest(
        run_id=run_id(gold.sha256, pred.sha256, settings.deciding),
        gold=gold,
        pred=pred,
        settings=settings,
        layers=tuple(pair.layers),
        predictions=pack_predictions(evaluation.raw.pred.layers),  # labels as they were: the mapping comes again
        cut=pack_cut(pair.added, pair.corpus.doc_ids) if pair.added is not None else "",
        version=__version__,
        signature=evaluation.signature,
        cases={FN: len(missed), FP: len(unsupported)},
        documents=len(pair.corpus.documents),
        tokens=len(pair.corpus),
        unmarked=pack_passages(evaluation.unmarked),
        order=pack_order(evaluation.order),
        reading={side: ReadOptions(**source.reading) for side, source in sides.items() if source.reading},
    )


def run_id(gold_sha256: str, pred_sha256: str, settings: Mapping[str, object]) -> str:
    """A short name of a run that derives from its inputs, so that a lost manifest can be checked against them.

    >>> run_id("aa" * 32, "bb" * 32, {"level": "exact"})
    'aaaaaaaaaa-bbbbbbbbbb-2bd4669f'
    """
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{gold_sha256[:10]}-{pred_sha256[:10]}-{hashed[:8]}"


def chunks(text: str, size: int = MANIFEST_CHUNK) -> Sequence[str]:
    """Cut a text into pieces that fit into cells."""
    return [text[begin : begin + size] for begin in range(0, len(text), size)] or [""]


def encode(manifest: Manifest) -> str:
    """The manifest as JSON text of visible ASCII characters, because programs treat spaces in cells differently."""
    text = json.dumps(plain(manifest, _plain_array), sort_keys=True, separators=(",", ":"))
    return text.replace(" ", "\\u0020")  # all spaces that are left stand inside strings


def decode(text: str, where: str = "manifest") -> Manifest:
    """Read the JSON text back; unknown keys are ignored, a newer schema is refused.

    >>> gold, pred = SourceFile("gold.vrt", "aa"), SourceFile("pred.vrt", "bb")
    >>> manifest = Manifest("a-b-c", gold, pred, RunSettings(level="exact"), ("span",))
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
        return build(Manifest, {key: value for key, value in content.items() if value is not None})
    except (ValueError, OptionError) as error:
        raise InputError(
            f"{where}: the manifest is damaged: {str(error).rstrip('.')}. Ask for the workbook again, or evaluate anew."
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
    return pack(content)


def pack_cut(added: Ranges, doc_ids: Sequence[str]) -> str:
    """What the prediction added to gold's tokens, so that positions can be understood without it."""
    ranges = {name: getattr(added, name).tolist() for name in ("document", "start", "end")}
    return pack({**ranges, "documents": list(doc_ids)})


def unpack_cut(text: str, where: str = "manifest") -> tuple[Ranges, tuple[str, ...]]:
    """The ranges, and the documents of the corpus in their order."""
    try:
        content = unpack(text)
        columns = [np.array(content[name], dtype=np.int64).reshape(-1) for name in ("document", "start", "end")]
        if len({len(column) for column in columns}) > 1 or any((column < 0).any() for column in columns):
            raise ValueError("the columns do not fit each other")
        return Ranges(*columns), tuple(str(doc_id) for doc_id in content["documents"])
    except DAMAGED as error:
        raise InputError(
            f"{where}: what the manifest says about tokens is damaged ({error}). Give the prediction with --pred."
        ) from None


class ManifestCases(NamedTuple):
    """The cases of a workbook in their order, the linked cases of each that has some, and which are twins."""

    ids: tuple[str, ...] = ()
    links: Mapping[str, tuple[str, ...]] = {}
    twins: TwinGroups = TwinGroups((), {})


def pack_cases(tables: Sequence[pd.DataFrame]) -> str:
    """The cases of a workbook, and which are linked or twins, by their numbers: what the way back must account for."""
    ids = [case for table in tables for case in table["case_id"].tolist()]
    numbers = {case: number for number, case in enumerate(ids)}
    links = [
        [numbers[case], sorted(numbers[other] for other in related if other in numbers)]
        for table in tables
        for case, related in zip(table["case_id"], table["related"], strict=True)
        if len(related)
    ]
    groups = groups_of(tables)
    documents = {name: number for number, name in enumerate(dict.fromkeys(groups.document.values()))}
    twins = [
        [[numbers[case] for case in group], [documents[groups.document[case]] for case in group]]
        for group in groups.members
    ]
    return pack({"ids": ids, "links": [link for link in links if link[1]], "twins": twins})


@lru_cache(maxsize=32)
def unpack_cases(text: str, where: str = "manifest") -> ManifestCases:
    """The cases of a workbook; nothing where a manifest lists none."""
    if not text:
        return ManifestCases()
    try:
        content = unpack(text)
        ids = tuple(str(case) for case in content["ids"])
        links = {ids[case]: tuple(ids[other] for other in others) for case, others in content["links"]}
        twins = [(tuple(ids[case] for case in cases), documents) for cases, documents in content["twins"]]
        document = {case: name for cases, names in twins for case, name in zip(cases, names, strict=True)}
        return ManifestCases(ids, links, TwinGroups(tuple(cases for cases, _ in twins), document))
    except DAMAGED as error:
        raise InputError(
            f"{where}: the list of cases in the manifest is damaged ({error}). Ask for the workbook again."
        ) from None


def unpack_predictions(text: str, where: str = "manifest") -> dict[str, pd.DataFrame]:
    """The span frame of every layer.

    >>> spans = make_spans([3, 9], [5, 9], {"risk": ["HIGH", None]})
    >>> unpack_predictions(pack_predictions({"risk": spans}))["risk"]
       start  end  risk
    0      3    5  HIGH
    1      9    9   NaN
    """
    try:
        content = unpack(text)
        return {str(layer): _unpack_layer(str(layer), columns) for layer, columns in content.items()}
    except DAMAGED as error:
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


def _plain_array(value: Any) -> Any:
    """Numbers and arrays of numpy, which JSON does not know."""
    return value.tolist()
