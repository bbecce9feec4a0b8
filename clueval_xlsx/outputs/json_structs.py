"""What every JSON file holds, declared once: it is written from these, read into them, and its schema made from them.

Counts are integers, nothing is rounded, and what is not defined is null.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.figures import signature_differences

SCHEMA = 2

Count = Annotated[int, msgspec.Meta(ge=0)]
# Not a number, which Python's JSON may hold, is neither more than 0 nor less than 1.
Rate = Annotated[float, msgspec.Meta(ge=0, le=1 + 1e-9)]
Interval = tuple[Rate, Rate]
TableRow = dict[str, str | int | float | tuple[str, ...] | None]


class ScoreRow(msgspec.Struct, gc=False):
    """One row of the score table: what it is about, what was counted, the rates."""

    scheme: str
    variant: str | None
    level: str | None
    labelled: str | None
    layer: str | None
    label: str | None
    average: str | None
    group: dict[str, str] | None
    gold: Count | None
    tp_gold: Count | None
    fn: Count | None
    pred: Count | None
    tp_pred: Count | None
    fp: Count | None
    precision: Rate | None
    recall: Rate | None
    f1: Rate | None
    f_beta: Rate | None
    interval: dict[str, Interval] | None
    counts: dict[str, Count] | UnsetType = UNSET
    system: str | UnsetType = UNSET  # where several are compared
    threshold: float | UnsetType = UNSET  # of the predictions' scores, where the headline is counted for several
    state: str | UnsetType = UNSET  # of gold, where judgements changed it

    @property
    def identity(self) -> tuple[object, ...]:
        """What the row is about."""
        about = (self.scheme, self.variant, self.level, self.labelled, self.layer, self.label, self.average)
        return (*about, *(self.group or {}).items())


class InputFile(msgspec.Struct, kw_only=True):
    """A file that was read: what it is called here, where it lies, how much there is in it."""

    name: str | UnsetType = UNSET
    path: str
    sha256: str
    documents: Count | UnsetType = UNSET
    sentences: Count | UnsetType = UNSET
    tokens: Count | UnsetType = UNSET
    spans: Count | UnsetType = UNSET
    orphans: dict[str, Count] | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class PresidioDetails(msgspec.Struct):
    """As Presidio's pipeline has it."""

    pii_precision: Rate | None
    pii_recall: Rate | None
    pii_f1_score: Rate | None
    entity_precision_dict: dict[str, Rate | None]
    entity_recall_dict: dict[str, Rate | None]
    total_samples: Count
    samples_evaluated: Count
    samples_discarded: Count


class PresidioMetrics(msgspec.Struct):
    """What Presidio's pipeline reports, key by key: any type and by type, F2 under the name of F1.

    As metrics.json of `evaluate --files` it has ours below it.
    """

    precision: Rate | None
    recall: Rate | None
    f1_score: Rate | None
    details: PresidioDetails
    confusion: dict[str, dict[str, Count]] | UnsetType | None = UNSET
    clueval: Metrics | UnsetType = UNSET


class LayerMetrics(msgspec.Struct):
    """The headline of a layer that was evaluated by itself."""

    signature: str
    headline: ScoreRow


class Metrics(msgspec.Struct, kw_only=True):
    """metrics.json.

    Layers that were evaluated by themselves share one file: every row then names its layer, and `layers` has the
    headline of each; the other keys speak of the first.
    """

    schema: Literal[2] = 2
    signature: str
    inputs: dict[str, InputFile]
    headline: ScoreRow
    labels: dict[str, Any] | UnsetType = UNSET
    notes: list[str]
    layers: dict[str, LayerMetrics] | UnsetType = UNSET
    presidio: PresidioMetrics | UnsetType = UNSET
    scores: list[ScoreRow]


class ThresholdMetrics(msgspec.Struct, kw_only=True):
    """The headline at every threshold, and the threshold that was chosen for the least recall."""

    schema: Literal[2] = 2
    signature: str
    inputs: dict[str, InputFile]
    least_recall: float | None
    chosen: ScoreRow | None
    constant: bool
    unscored: Count
    notes: list[str]
    thresholds: list[ScoreRow]


class SystemDifference(msgspec.Struct):
    """A rate of two systems: second less first."""

    scheme: str
    variant: str | None
    level: str | None
    labelled: str | None
    rate: str
    first: str
    second: str
    first_value: Rate | None
    second_value: Rate | None
    difference: float | None
    interval: tuple[float, float] | None
    p: Rate | None
    p_holm: Rate | None


class ComparedCase(msgspec.Struct):
    """One error, and its class in each system that makes it."""

    case_id: str
    sheet: str
    document: str
    surface: str
    start: Count
    end: Count
    context: str
    labels: dict[str, str]
    class_: dict[str, str | None] = msgspec.field(name="class")


class ComparisonMetrics(msgspec.Struct, kw_only=True):
    """Systems side by side; `errors` are how many of them just these systems make."""

    schema: Literal[2] = 2
    signature: str
    systems: list[InputFile]
    documents: Count
    notes: list[str]
    metrics: list[ScoreRow]
    differences: list[SystemDifference]
    errors: list[TableRow]
    cases: list[ComparedCase]


class AgreeingTwo(msgspec.Struct):
    """The score rows of two annotators."""

    first: str
    second: str
    documents: Count
    signature: str | None
    scores: list[ScoreRow]
    notes: list[str]


class AgreementMetrics(msgspec.Struct, kw_only=True):
    """Annotators against each other: F1 of every two at each level, who stands apart, the rows of every two."""

    schema: Literal[2] = 2
    compared: list[InputFile]
    level: str
    labelled: str | None
    apart: TableRow | None
    matrices: list[dict[str, str | list[list[Rate | None]] | None]]
    pairs: list[AgreeingTwo]


class WorkbookAccount(msgspec.Struct, kw_only=True):
    """A workbook, whose it is, and how many of its cases are in each state."""

    name: str
    judge: str
    account: dict[str, Count]
    problems: list[str] | UnsetType = UNSET
    notes: list[str] | UnsetType = UNSET
    run: str | UnsetType | None = UNSET


class JudgedConflict(msgspec.Struct):
    """Judgements that were not carried out; `rows` say where they stand, whose they are, and what they say."""

    kind: str
    cases: list[str]
    document: str
    words: list[str]
    rows: list[dict[str, str]]
    suggested: str | None


class UnusableRow(msgspec.Struct):
    """Something that could not be used."""

    place: str
    found: str
    allowed: str
    remedy: str


class RunResult(msgspec.Struct):
    """What came of the judgements on one run."""

    run: str | None
    signature: str
    signature_corrected: str
    workbooks: list[WorkbookAccount]
    account: dict[str, Count]
    scores: list[ScoreRow]
    unseen: str
    estimates: list[TableRow]
    remaining: list[TableRow]
    ledger: list[TableRow]
    misses_by_severity: list[TableRow]
    agreement: list[TableRow]
    changes: list[TableRow]
    conflicts: list[JudgedConflict]
    undecided: list[str]
    unusable: list[UnusableRow]
    left_over: list[UnusableRow]
    notes: list[str]


class ReimportResult(msgspec.Struct, kw_only=True):
    """What came of a re-import: one entry a run, which is one unless layers were evaluated by themselves."""

    schema: Literal[2] = 2
    runs: list[RunResult]


class StatusResult(msgspec.Struct, kw_only=True):
    """How far workbooks are judged, and whose workbook is missing."""

    schema: Literal[2] = 2
    workbooks: list[WorkbookAccount]
    missing: list[str]


# What is written by which command; the schemas are listed under these names.
OUTPUTS: Mapping[str, type[msgspec.Struct]] = {
    "evaluate --json, score --json": Metrics,
    "evaluate --files, metrics.json": PresidioMetrics,
    "score --thresholds --json": ThresholdMetrics,
    "compare --json": ComparisonMetrics,
    "agree --json": AgreementMetrics,
    "reimport --json": ReimportResult,
    "status --json": StatusResult,
}


def schemas() -> str:
    """The JSON Schemas of all outputs, in one file."""
    found, parts = msgspec.json.schema_components(OUTPUTS.values(), ref_template="#/$defs/{name}")
    outputs = dict(zip(OUTPUTS, found, strict=True))
    content = {"$schema": "https://json-schema.org/draft/2020-12/schema", "outputs": outputs, "$defs": parts}
    return json.dumps(content, indent=1) + "\n"


# ---- an earlier run's metrics.json ----

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
