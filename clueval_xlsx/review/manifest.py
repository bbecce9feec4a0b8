"""What a workbook says about the run it came from: written by the workbook, read by the re-import.

The manifest is one struct as compressed JSON on a hidden sheet. It holds everything that matching anew needs (all
predicted spans and their labels as positions, layers, settings), and no text of the corpus.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.order import CaseOrder
from clueval_xlsx.cases.twins import TwinGroups, groups_of
from clueval_xlsx.cases.unmarked import UnmarkedOptions, UnmarkedPassages
from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.pair import Pair, make_pair, on_pair
from clueval_xlsx.corpus.reading import Reading, spans_on_tokens
from clueval_xlsx.corpus.spans import label_list, layers_of, make_spans, positions
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.typed_values import build, plain
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.review.assignment import CaseSample
from clueval_xlsx.review.judgements import Filled, JudgementKind, Role
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.version import __version__

FORM = 2  # the number of the form of a manifest
MARK = "clueval-manifest:"  # stands before the number of the form, the version that wrote it, and what is packed
_ANY_CHANCE = 1e-9
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


class CaseList(NamedTuple):
    """The cases of a workbook in their order, the linked cases of each that has some, and which are twins."""

    ids: tuple[str, ...] = ()
    links: Mapping[str, tuple[str, ...]] = {}
    twins: TwinGroups = TwinGroups((), {})

    @classmethod
    def of(cls, tables: Sequence[pd.DataFrame]) -> CaseList:
        """Those of some sheets: what the way back must account for."""
        ids = tuple(case for table in tables for case in table["case_id"].tolist())
        there = set(ids)
        links = {}
        for table in tables:
            for case, related in zip(table["case_id"], table["related"], strict=True):
                if own := tuple(other for other in related if other in there):
                    links[case] = own
        groups = groups_of(tables)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(groups.document.values()))}
        document = {case: numbers[name] for case, name in groups.document.items()}  # names may be those of people
        return cls(ids, links, TwinGroups(groups.members, document))


class Cut(NamedTuple):
    """What the prediction added to gold's tokens, so that positions are understood without it."""

    added: Ranges
    documents: tuple[str, ...]  # of the corpus, in their order


class Manifest(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One run, as its workbook remembers it.

    `settings` is what the run ID derives from. `reading` says how each side was read (`gold`, `pred`), so that
    nobody has to repeat it. `role` tells a review from a conflict workbook, whose judge has the last word.
    """

    run_id: str
    gold: SourceFile
    pred: SourceFile
    settings: RunSettings
    layers: tuple[str, ...]
    predictions: Mapping[str, pd.DataFrame] = {}  # labels as they were before they were mapped
    cut: Cut | None = None  # None where the tokens are those of the gold file
    version: str = ""
    signature: str = ""
    lang: str = "en"
    judge: str = ""
    part: str = ""
    contact: str = ""
    role: Role = Role.REVIEW
    cases: Mapping[str, int] = {}
    case_list: CaseList = CaseList()
    unmarked: UnmarkedPassages | None = None  # those of the run, whoever judges them
    order: CaseOrder | None = None  # of the run's cases; None: that of the text
    written: Mapping[str, bytes] = {}  # see case_sheet.WrittenCells.prints
    columns: tuple[str, ...] = ()  # of its case sheets, from left to right, see case_sheet.SheetColumn.name
    documents: int = 0
    tokens: int = 0
    reading: Mapping[str, ReadOptions] = {}
    judgements: tuple[JudgementKind, ...] = ()  # those of the project, beside the tool's own
    labels: tuple[str, ...] = ()  # that can be typed beside those that occur: their meaning is said in the workbook
    team: tuple[str, ...] = ()  # everybody the cases were handed out to
    sample: CaseSample = CaseSample()  # how the cases were drawn, if not all are there
    previous: Mapping[str, Filled] = {}  # the cases that came with an earlier judgement
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
        predictions=dict(evaluation.raw.pred.layers),
        cut=None if pair.added is None else Cut(pair.added, tuple(pair.corpus.doc_ids)),
        version=__version__,
        signature=evaluation.signature,
        cases={FN: len(missed), FP: len(unsupported)},
        documents=len(pair.corpus.documents),
        tokens=len(pair.corpus),
        unmarked=evaluation.unmarked,
        order=evaluation.order,
        reading={side: ReadOptions(**source.reading) for side, source in sides.items() if source.reading},
    )


SET_ASIDE = "is the edition without text, in which nobody judges; it is set aside"


class WithoutTextError(InputError):
    """A workbook is the edition without text."""


def refuse_without_text(manifest: Manifest | None, name: str) -> None:
    """Refuse the edition without text, in which nobody judges."""
    if manifest is not None and manifest.role == Role.FIGURES:
        raise WithoutTextError(
            f"{name}: is the edition without text. Its cases are only numbered, so that nobody can guess their words; "
            "what is filled in there cannot be brought back. Give the workbook with the text; its cases have the same "
            "numbers (No.), by which judgements can be copied over."
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


# A manifest is unpacked from a file that anybody may have sent: what it may grow to is limited.
MOST_BYTES = 512 * 1024 * 1024
_ROOM = 4 * 1024 * 1024  # bytes that any text may unpack to
_MOST_RATIO = 60  # beyond that; lists of positions shrink to a third or a tenth
_DAMAGED = (LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, zlib.error, OptionError)


def encode(manifest: Manifest) -> str:
    """The manifest as text of visible ASCII characters, because programs treat spaces in cells differently.

    >>> files = {"gold": SourceFile("gold.vrt", "aa"), "pred": SourceFile("pred.vrt", "bb")}
    >>> manifest = Manifest(run_id="a-b-c", **files, settings=RunSettings(level="exact"), layers=("span",))
    >>> decode(encode(manifest)).settings.level
    'exact'
    """
    content = json.dumps(plain(manifest, _plain), separators=(",", ":"))
    return f"{MARK}{FORM}:{__version__}:{base64.b64encode(zlib.compress(content.encode(), 9)).decode()}"


def is_manifest(text: str) -> bool:
    """Whether a cell begins a manifest, also one of another form."""
    return text.startswith((MARK, "{")) and (text.startswith(MARK) or '"run_id"' in text)


def decode(text: str, where: str = "manifest") -> Manifest:
    """Read the text back; unknown keys are ignored, another form is refused."""
    form, _, rest = text.removeprefix(MARK).partition(":")
    if text.startswith("{") or (text.startswith(MARK) and form != str(FORM)):
        version = re.search(r'"version":"([^"]+)"', text) if text.startswith("{") else re.match("([^:]+)", rest)
        raise InputError(
            f"{where}: the manifest has form {'1' if text.startswith('{') else form[:20]}, which clueval-xlsx "
            f"{version[1][:20] if version else 'of another version'} reads; this is {__version__}, which reads form "
            f"{FORM}."
        )
    try:
        manifest = build(Manifest, json.loads(_unpacked(rest.partition(":")[2])), _built)
        _check_lengths(manifest)
        return manifest
    except _DAMAGED as error:
        raise InputError(
            f"{where}: the manifest is damaged: {str(error).rstrip('.')}. Ask for the workbook again, or evaluate anew."
        ) from None


def _check_lengths(manifest: Manifest) -> None:
    """Refuse columns that do not fit each other."""
    cut, unmarked = manifest.cut, manifest.unmarked
    groups: list[tuple[Sized, ...]] = []
    if cut is not None:
        groups.append((cut.added.document, cut.added.start, cut.added.end))
    if unmarked is not None:
        groups.append((unmarked.spans, unmarked.here, unmarked.marked, unmarked.unmarked, unmarked.chance))
    if manifest.order is not None:
        groups += [(sheet.shown, sheet.ranked, sheet.random) for sheet in manifest.order.sheets.values()]
    if any(len(set(map(len, group))) > 1 for group in groups):
        raise ValueError("its columns differ in length")


def _unpacked(packed: str) -> bytes:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(
        base64.b64decode(packed, validate=True), min(MOST_BYTES, _ROOM + _MOST_RATIO * len(packed))
    )
    if unpacker.unconsumed_tail:
        raise ValueError("it is too large")
    return data


def _plain(value: Any) -> Any:
    """Spans and arrays as JSON knows them."""
    if isinstance(value, pd.DataFrame):
        start, end = positions(value)
        labels = {layer: label_list(value[layer]) for layer in layers_of(value)}
        return {"start": start.tolist(), "end": end.tolist(), "labels": labels}
    return value.tolist()


def _built(kind: Any, content: Any) -> Any:
    """Spans and arrays again."""
    if kind is not pd.DataFrame:
        numbers = np.array(content, dtype=kind.__args__[1].__args__[0]).reshape(-1)
        if (numbers < 0).any():
            raise ValueError("a number is negative")
        return numbers
    start, end = (np.array(content[name], dtype=np.int64).reshape(-1) for name in ("start", "end"))
    if (end < start).any() or (start < 0).any() or (start[1:] <= end[:-1]).any():
        raise ValueError("spans overlap or are not sorted")
    return make_spans(start, end, content["labels"])


# The run as it was


def read_options_of(manifest: Manifest, side: str = "gold") -> ReadOptions:
    """How a side was read when the run was evaluated."""
    known = manifest.reading.get(side, ReadOptions())
    columns = manifest.settings.columns.get(side, {})
    layers = known.layers or {layer: column for layer, column in columns.items() if isinstance(column, int)}
    return replace(known, layers=layers)


def restore_pair(manifest: Manifest, gold: Reading, where: str = "manifest") -> Pair:
    """Gold and the predictions of the manifest, brought together as they were when the run was evaluated."""
    where = f"{where}, run {manifest.run_id}"
    added = None
    if manifest.cut is not None:
        added = manifest.cut.added
        gold = on_pair(gold, added, manifest.cut.documents)
    if manifest.tokens and manifest.tokens != len(gold.corpus):
        raise InputError(
            f"{where}: {gold.source.name} has {len(gold.corpus):,} tokens as it is read now, but the run "
            f"had {manifest.tokens:,}. Read it with the options it was evaluated with, or give --pred."
        )
    missing = [layer for layer in manifest.layers if layer not in gold.layer_names]
    if missing:
        raise InputError(
            f"{where}: {gold.source.name} has no layer {', '.join(missing)}, which the run was about. "
            f"Layers: {', '.join(gold.layer_names)}. Give the columns with --layer."
        )
    layers = manifest.predictions
    if set(layers) != set(manifest.layers):
        raise InputError(f"{where}: the manifest lacks the predictions of a layer. Give the prediction with --pred.")
    if any(len(spans) and int(spans["end"].max()) >= len(gold.corpus) for spans in layers.values()):
        raise InputError(f"{where}: the manifest has predictions behind the end of the text. Give --pred.")
    source = Source(
        manifest.pred.name or "pred",
        "manifest",
        manifest.pred.sha256,
        manifest.settings.columns.get("pred", {}),
        reading=asdict(manifest.reading["pred"]) if "pred" in manifest.reading else {},
        detector=manifest.pred.detector,
    )
    gold = gold.only_layers(manifest.layers)
    pred = spans_on_tokens(source, gold.corpus, {layer: layers[layer] for layer in manifest.layers})
    return replace(make_pair(gold, pred), added=added, gold_token=gold.token_of)


def run_again(
    pair: Pair, options: Options, manifest: Manifest | None, passages: Sequence[UnmarkedPassages], judged: set[str]
) -> Evaluation:
    """The run with its cases in the order of its workbooks, and with the unmarked passages that these list.

    Where they list different `passages` the longest list counts; without any, the `judged` ones among all there are.
    """
    raw = evaluate(pair, options)
    if manifest is not None and manifest.order is not None:
        for errors, sheet in zip(raw.errors, manifest.order.sheets.values(), strict=True):
            wanted = np.arange(int(errors.sum()))
            known = len(sheet.random) == len(wanted)
            if not known or any((np.sort(rows) != wanted).any() for rows in (sheet.shown, sheet.ranked)):
                raise InputError("the order of the cases in the manifest is damaged. Ask for the workbook again.")
        raw = replace(raw, order=manifest.order)
    if passages:
        listed = max(passages, key=len)
        if set(layers_of(listed.spans)) != set(pair.layers) or (listed.spans["end"] >= len(pair.corpus)).any():
            raise InputError("the list of unmarked passages in the manifest is damaged. Ask for the workbook again.")
        return replace(raw, unmarked=listed)
    everything = raw.with_unmarked(UnmarkedOptions(least=_ANY_CHANCE, once=True, common=True)) if judged else raw
    if everything.unmarked is None or everything.unmarked_cases is None:
        return raw
    cases = everything.unmarked_cases
    kept = np.sort(cases["row"][cases["case_id"].isin(list(judged))].to_numpy(np.int64))
    return replace(raw, unmarked=everything.unmarked.only(kept))
