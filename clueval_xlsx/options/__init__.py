"""Every setting, declared once: a field with its type, its default, its help, its option, and what it belongs to.

To add a setting, add a field; everything else follows from its line. What the arguments of `setting` mean stands at
`declaration.Setting`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options.declaration import Section, keep, setting
from clueval_xlsx.options.outputs import OutputOptions as OutputOptions  # the first section
from clueval_xlsx.options.values import (
    SCHEMES,
    Column,
    Count,
    FieldName,
    File,
    Gate,
    Group,
    LayerName,
    Level,
    Number,
    Pairs,
    Scheme,
    Seconds,
    Share,
    Text,
    Unit,
    allow_rules,
    column,
    drop,
    floor,
    level,
    share,
    wanted,
)

DEFAULT_LAYER = "span"  # what a layer is called that nobody gave a name
_SCORING = "evaluate score compare"
_READING = f"{_SCORING} agree convert validate predict"
# Kinds of formats: which formats are of a kind, and what it is called, the registry of formats says.
COLUMNS, TAGS, SPANS, OFFSETS = "columns", "tags", "spans", "offsets"
ANNOTATORS, FIELDS, STANDOFF, NUMBERS = "annotators", "fields", "standoff", "numbers"


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Section, section="read", commands=_READING, keys="reimport", heading="Input"):
    """How one side is read.

    >>> ReadOptions(layers={"category": 2, "risk": 3}, token_id=4).layers["risk"]
    3
    """

    layers: Mapping[LayerName, Column | Text | None] = setting(
        {},
        "A layer and its column of tags, or its field.",
        "--layer",
        "NAME[=COL]",
        parse=column,
        sides=True,
        word="layer",
    )
    format: Text | None = setting(
        None, "Input format, if ending and content do not tell.", "--format", "NAME", sides=True
    )
    text: File | None = setting(
        None, "Folder of .txt for brat, text of a span table.", "--text", "PATH", formats=STANDOFF
    )
    annotator: Text | None = setting(
        None, "Whose annotations: a name, first, or union.", "--annotator", "NAME", formats=ANNOTATORS
    )
    fields: Mapping[FieldName, Text] = setting(
        {}, "Where text, spans, start, label … stand in JSON.", "--field", "text=KEY", formats=FIELDS, word="field"
    )
    token: Column | Text | None = setting(
        None, "Column of the tokens, by number or header [1].", "--token", "COLUMN", formats=COLUMNS, parse=column
    )
    token_id: Column | None = setting(None, "Column of the token IDs.", "--token-id", "COLUMN", formats=COLUMNS)
    nested: Literal["error", "longest", "merge"] | None = setting(
        None, "Overlapping annotations: error, longest, merge.", "--nested", "HOW", formats=SPANS
    )
    discontinuous: Literal["error", "join", "split"] = setting(
        "error", "Parted spans: error, join, split.", "--discontinuous", "HOW", formats=STANDOFF
    )
    mismatch: Literal["error", "warn"] = setting(
        "error", "Words unlike their offsets: error, warn.", "--mismatch", "HOW", formats=SPANS
    )
    offsets: Unit = setting("codepoints", "What character offsets count.", formats=OFFSETS)
    bio: Literal["lenient", "strict"] = setting(
        "lenient", "Whether an I- tag that continues nothing opens a span or is an error.",
        formats=TAGS, commands=_SCORING,
    )  # fmt: skip
    several_tags: Literal["error", "first", "layers"] = setting(
        "error", "Cells with several tags: refuse them, take the first, make layers of the others.", formats=TAGS
    )
    tag_names: Sequence[str] = setting(
        (), "What tags mean that are numbers, from 0 on, or a file that lists the names.", formats=NUMBERS
    )
    encoding: Text | None = setting(None, "Encoding of text that is not UTF-8, such as latin-1.")
    document_id: Column | None = setting(None, "Column of document IDs.", formats=COLUMNS)
    sentence_id: Column | None = setting(None, "Column of sentence IDs.", formats=COLUMNS)
    columns: Mapping[LayerName, Column] = setting(
        {}, "Named columns that metrics can be grouped by.", metavar="NAME=COLUMN", formats=COLUMNS,
        parse=column, word="column",
    )  # fmt: skip
    space_column: Column | None = setting(None, "Column that says whether a space follows.", formats=COLUMNS)
    document_tag: Text = setting("text", "XML element of a document.", formats=COLUMNS)
    sentence_tag: Text = setting("s", "XML element of a sentence.", formats=COLUMNS)
    side: Literal["gold", "pred"] = setting("gold", "What is wanted from a file that holds both.", inner=True)
    text_only: bool = setting(False, "Nobody wants the annotations.", inner=True)


@dataclass(frozen=True, kw_only=True)
class PairOptions(Section, section="pair", commands=f"{_SCORING} agree convert", heading="Input"):
    """How the two sides, or the layers of a file, are brought together."""

    align: Literal["tokens", "text"] = setting(
        "tokens", "Both sides have the same tokens, or text.", "--align", "BY", commands=f"{_SCORING} agree"
    )
    merge: bool | None = setting(
        None, "Several layers as one sequence of merged spans.", "--merge/--no-merge", commands=f"{_SCORING} convert"
    )
    names: Sequence[str] = setting(
        (),
        "Names of the systems, in the order of files.",
        "--name",
        "TEXT",
        commands="compare agree",
        heading="Output",
        word="name",
    )


@dataclass(frozen=True, kw_only=True)
class Options(Section, section="score", commands=_SCORING, keys="reimport", heading="Scores"):
    """What to compute. Everything here is part of the signature.

    `schemes`  ways to count besides `clueval`: `SchemeOptions`, or the names of schemes alone
    `labels`  what is done to labels before: `LabelRules`

    >>> Options(level="exact", schemes=["seqeval"]).schemes.chosen
    ('clueval', 'seqeval')
    """

    level: Level = setting(
        "overlap", "Leniency: exact, superset, tiling, overlap.", "--level", "LEVEL",
        parse=level, commands=f"{_SCORING} agree",
    )  # fmt: skip
    labelled: Text | None = setting(
        None, "Labels of this layer must agree, too.", "--labelled", "LAYER", commands=f"{_SCORING} agree"
    )
    by: Sequence[Text] = setting((), "Metadata that figures are grouped by.", "--by", "KEY")
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = setting(
        20240, "Seed of samples, hand-outs and tests.", "--seed", "N", commands="evaluate compare"
    )
    beta: Annotated[float, Meta(ge=0.001, le=1000)] = setting(
        2.0, "Weight of recall in F-beta.", commands=f"{_SCORING} agree"
    )
    replicates: Annotated[int, Meta(ge=0, le=1_000_000)] = setting(
        10_000, "How often documents change sides in tests between systems; 0 gives no tests and no intervals."
    )
    context: Annotated[int, Meta(ge=0, le=10**9)] | None = setting(
        None, "Tokens around a case instead of its sentence.", "--context", "N", commands="evaluate", heading="Workbook"
    )
    schemes: SchemeOptions = field(default_factory=lambda: SchemeOptions())  # noqa: PLW0108  # declared below
    labels: LabelRules = field(default_factory=lambda: LabelRules())  # noqa: PLW0108

    def __post_init__(self) -> None:
        super().__post_init__()
        schemes: object = self.schemes
        if isinstance(schemes, str | list | tuple | set):  # their names alone
            keep(self, schemes=SchemeOptions(scheme=schemes))  # type: ignore[arg-type]
        wanted("schemes", self.schemes, SchemeOptions, "SchemeOptions, such as SchemeOptions(scheme=['seqeval'])")
        wanted("labels", self.labels, LabelRules, 'LabelRules, such as LabelRules(map={"LOCATION": "LOC"})')


@dataclass(frozen=True, kw_only=True)
class SchemeOptions(Section, section="scheme", commands=_SCORING, heading="Scores"):
    """What to count besides `clueval`.

    >>> SchemeOptions(scheme="iou", iou_threshold=[0.5, 0.9]).iou_threshold
    (0.5, 0.9)
    """

    scheme: Sequence[Scheme] = setting((), "Further ways to count: seqeval, chars, …, all.", "--scheme", "NAME")
    allow: Pairs = setting(
        {}, "Characters of a category that need no masking.", "--allow", "NAME=REGEX", schemes="chars", whole=True
    )
    allow_file: File | None = setting(
        None, "The same, one CATEGORY allow=REGEX a line.", "--allow-file", "FILE", schemes="chars"
    )
    char_unit: Unit = setting("codepoints", "What counts as one character.", schemes="chars")
    type_layer: Text | None = setting(None, "Layer whose labels are the types of merged spans [the first].")
    iou_threshold: Sequence[Share] = setting(
        (0.9,), "Least intersection over union.", schemes="iou presidio", parse=share
    )
    coverage_threshold: Sequence[Share] = setting(
        (0.3,), "Least share of a gold span that must be covered.", schemes="coverage", parse=share
    )
    scenario_threshold: Share = setting(0.5, "Least overlap ratio of a partial match.", schemes="scenario", parse=share)
    skip_words: Literal["presidio", "none"] = setting(
        "presidio", "Words that join spans and do not count at their ends: that package's list, or none.",
        schemes="presidio",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.allow_file is not None:
            rules = allow_rules(self.allow_file)
            for category, rule in self.allow.items():
                if rules.setdefault(category, rule) != rule:
                    raise OptionError(f"allow: {category} has another rule in {self.allow_file}. Join them: (?:A|B).")
            keep(self, allow=rules, allow_file=None)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The schemes to compute, in their fixed order."""
        wanted = set(SCHEMES if "all" in self.scheme else self.scheme)
        return tuple(name for name in SCHEMES if name == "clueval" or name in wanted)

    @property
    def as_listed(self) -> bool:
        """Whether one of the chosen schemes counts annotations as they are listed, overlapping as they may."""
        return bool({"chars", "coverage"} & set(self.chosen))

    def describe(self) -> dict[str, str]:
        """The parts of the signature: what influences the chosen schemes, and nothing else."""
        from urllib.parse import quote

        parts = {"scheme": "+".join(self.chosen)}
        if self.type_layer is not None:
            parts["type-layer"] = self.type_layer
        for name, value in (
            ("iou", self.iou_threshold),
            ("coverage", self.coverage_threshold),
            ("scenario", (self.scenario_threshold,)),
        ):
            if name in self.chosen:
                parts[name] = ",".join(f"{threshold:g}" for threshold in value)
        if "presidio" in self.chosen:
            parts["presidio"] = ",".join(
                [*(f"{threshold:g}" for threshold in self.iou_threshold), f"skip={self.skip_words}"]
            )
        if "chars" in self.chosen:
            parts["chars"] = ",".join([self.char_unit, *(f"{key}={quote(rule)}" for key, rule in self.allow.items())])
        return parts


@dataclass(frozen=True, kw_only=True)
class LabelRules(Section, section="labels", commands=f"{_SCORING} agree", keys="reimport"):
    """What is done to labels before any scheme counts. Everything here is part of the signature.

    >>> LabelRules(map={"LOCATION": "LOC"}, equivalent=[("ORG", "LOC")]).representatives
    {'ORG': 'ORG', 'LOC': 'ORG'}
    """

    map: Pairs = setting({}, "Rename a label on both sides first.", "--map", "OLD=NEW")
    equivalent: Sequence[Group] = setting(
        (), "Labels that count as the same in relaxed rows.", "--equivalent", "LABEL,LABEL"
    )
    ignore: Sequence[Text] = setting((), "Labels whose spans are not counted.", "--ignore", "LABEL")
    unmapped: Literal["discard", "keep"] | None = setting(
        None, "Documents with labels that nothing accounts for [keep; with a detector: discard]."
    )
    equivalence: Literal["apply", "mark"] = setting(
        "apply", "Equivalent labels are no error, or an error that is marked.", needs="labels.equivalent"
    )
    accounted: Sequence[str] = setting((), "Labels that need no mapping, as a detector can give them.", inner=True)
    left_out: Sequence[int] = setting((), "Documents that do not count: a detector failed on them.", inner=True)

    @property
    def representatives(self) -> dict[str, str]:
        """Each label of an equivalence group to the group's first label; groups that share a label are one.

        >>> LabelRules(equivalent=(("ORG", "LOC"), ("GPE", "LOC"))).representatives
        {'ORG': 'ORG', 'LOC': 'ORG', 'GPE': 'ORG'}
        """
        groups: list[list[str]] = []
        for members in self.equivalent:
            touched = [group for group in groups if set(group) & set(members)]
            groups = [group for group in groups if group not in touched]
            groups.append(list(dict.fromkeys([label for group in touched for label in group] + list(members))))
        return {label: group[0] for group in groups for label in group}

    @property
    def discards(self) -> bool:
        """Whether documents with labels that nothing accounts for are left out."""
        return self.unmapped == "discard"

    @property
    def applied(self) -> bool:
        """Whether equivalent labels count as the same in the headline and the cases."""
        return bool(self.equivalent) and self.equivalence == "apply"

    def describe(self) -> dict[str, str]:
        """The parts of the signature; only what was asked for."""
        parts = {
            "map": ",".join(f"{old}={new}" for old, new in sorted(self.map.items())),
            "equivalent": "+".join(",".join(group) for group in self.equivalent),
            "equivalence": self.equivalence if self.equivalent else "",
            "ignore": ",".join(sorted(self.ignore)),
            "unmapped": "discard" if self.discards else "",
            "left_out": ",".join(str(index) for index in self.left_out),
        }
        return {name: value for name, value in parts.items() if value}


_BOOKS = "evaluate"


@dataclass(frozen=True, kw_only=True)
class ReviewOptions(Section, section="workbook", commands=_BOOKS):
    """How a review workbook looks and whom it is for.

    >>> ReviewOptions(lang="de", judge="Anna").judge
    'Anna'
    """

    lang: Text = setting(
        "en", "Language of the outputs: en, de.", "--lang", "CODE",
        commands="evaluate compare agree reimport demo", heading="Output",
    )  # fmt: skip
    contact: str = setting("", "Whom the workbook is sent back to.", "--contact", "TEXT", commands="evaluate reimport")
    plain_signs: bool = setting(
        False, "For print: ■ of every font beside marked words, not emoji.", commands="evaluate reimport"
    )
    lock_cells: bool = setting(False, "Lock cells that are not for judging.", commands="evaluate reimport")
    max_rows: Annotated[int, Meta(ge=1, le=1_048_570)] = setting(1_048_570, "Cases on a sheet before the next begins.")
    judge: str = setting("", "Who judges it.", inner=True)
    label_words: Mapping[str, str] = setting({}, "What labels mean, in words for the judge.", inner=True)


@dataclass(frozen=True, kw_only=True)
class CaseOptions(Section, section="workbook", commands=_BOOKS):
    """Which cases are judged, in which order, and by whom."""

    judges: Sequence[Text] = setting((), "A workbook for each; cases are shared out.", "--judges", "NAME")
    double: Share | None = setting(
        None, "Share of cases that two people judge.", "--double", "20%", parse=share, needs="workbook.judges"
    )
    sample: Count | None = setting(None, "Draw N cases by label and class.", "--sample", "N")
    agreed: Number = setting(0, "Add a sheet with N spans both sides agree on.", "--agreed", "N")
    unmarked: bool = setting(False, "Add what both sides missed: words marked elsewhere.", "--unmarked")
    unmarked_from: Share = setting(
        0.5, "Least chance of an unmarked passage that is listed.", parse=share, needs="workbook.unmarked"
    )
    order: Literal["place", "suspicion", "label"] = setting(
        "place", "Cases by place, suspicion or label.", "--order", "ORDER"
    )
    also: Sequence[File] = setting(
        (), "A further system's predictions, for the order.", "--also", "FILE", needs="workbook.order=suspicion"
    )
    previous: File | None = setting(None, "Fill in decisions from a log of judgements.", "--previous", "FILE")
    without_text: bool = setting(False, "Also an edition without words of the corpus.", "--without-text")
    password_file: File | None = setting(
        None, "File with the workbooks' password.", "--password-file", "FILE", commands="evaluate reimport status"
    )
    blind: bool = setting(False, "Hide in the conflict workbook who judged.", "--blind/--no-blind", commands="reimport")


@dataclass(frozen=True, kw_only=True)
class DetectorOptions(Section, section="detector", commands="evaluate predict", needs="detector.name"):
    """Which detector runs here and now, and what it is told."""

    name: Text | None = setting(None, 'Predict now: presidio, command:"PROGRAM", or a name.', "--detector", "NAME")
    language: Text = setting("en", "Language that the detector works in.", "--detector-language", "CODE")
    option: Pairs = setting({}, "What it is told: nlp_config=FILE, ….", "--detector-option", "KEY=VALUE", whole=True)
    workers: Count = setting(1, "Processes side by side.", "--workers", "N")
    resume: bool | None = setting(None, "Continue a run that broke off.", "--resume/--no-resume", typed=True)
    time_limit: Seconds = setting(120.0, "Seconds for one document.")
    fail_fast: bool = setting(False, "Stop at the first document that fails.")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(Section, section="cluster", commands="evaluate predict score", heading="Detector"):
    """The Dask cluster that works, if one is wanted."""

    address: Text | None = setting(None, "Dask scheduler (tcp://…), or local:4.", "--cluster", "ADDRESS")
    tls: File | None = setting(
        None, "PEM file for an encrypted cluster: authority, certificate, key.", needs="cluster.address"
    )


@dataclass(frozen=True, kw_only=True)
class GateOptions(Section, section="gates", commands=_SCORING):
    """Which rates a run must reach or keep; exit 4 where one does not."""

    fail_under: Sequence[Gate] = setting(
        (), "Exit 4 if a rate is lower.", "--fail-under", "recall=0.95", parse=floor, whole=True
    )
    baseline: File | None = setting(
        None, "metrics.json of an earlier run on the same gold.", "--baseline", "FILE", needs="gates.max_drop"
    )
    max_drop: Sequence[Gate] = setting(
        (), "Exit 4 if a rate drops by more from it.", "--max-drop", "recall=0.5pp",
        parse=drop, whole=True, needs="gates.baseline",
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReimportOptions(Section, section="reimport", commands="reimport", heading="Re-import"):
    """How judgements come home."""

    gold: File | None = setting(None, "Gold file that the workbooks were made from.", "--gold", "FILE", typed=True)
    pred: File | None = setting(None, "Prediction, where the hidden sheet is lost.", "--pred", "FILE", typed=True)
    resolve: Text = setting("majority", "Who is right: majority, unanimous, or a NAME.", "--resolve", "HOW")
    trust_id: Literal["row", "block"] | None = setting(
        None, "Which case ID counts where two differ: row, block.", "--trust-id", "WHICH", typed=True
    )


@dataclass(frozen=True, kw_only=True)
class GeneralOptions(Section, section="general", commands=f"{_READING} reimport status demo"):
    """What every command has."""

    config: File | None = setting(None, "TOML file with settings.", "--config", "FILE", typed=True)
    set_: Sequence[str] = setting(
        (), "Any key for this call: read.offsets=utf16.", "--set", "KEY=VALUE", typed=True, whole=True
    )
    quiet: bool = setting(False, "Say only what a person must look at.", "--quiet")
    debug: bool = setting(False, "Show the traceback of an error.", "--debug", typed=True)
    threads: Count | None = setting(None, "How many threads compute at once [one a processor].")
