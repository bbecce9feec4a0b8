"""Judgements: everything that has a code, the kinds that people can choose from, one judgement from cell to log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

import msgspec

from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.text.cells import normalise

RUN_ID_MARK = "clueval-run:"  # stands before the run ID in a cell of every review sheet

LISTS_SHEET = "clueval_lists"
FIGURES_SHEET = "clueval_figures"
MANIFEST_SHEET = "clueval_manifest"
REPORT_SHEET = "clueval_report"  # the figures of an adjudicated report; a review workbook never has it

# Columns of a case row, by the key of their header (`column.KEY`).
BLOCK_ID_COLUMN = "case_again"  # the case ID once more, inside the annotation block
ANNOTATION_COLUMNS = ("judgement", "applies_to", "correct_span", "correct_label", "severity", "comment")
# These stand once for each layer.
LAYER_COLUMNS = frozenset({"label", "other_label", "correct_label", "label_key", "labels_good", "label_entry"})


class Effect(StrEnum):
    """What a judgement can do to the gold standard."""

    NONE = "none"
    DELETE = "delete"
    ADD = "add"
    BOUNDARY = "boundary"
    LABEL = "label"
    ACCEPT = "accept"
    OPEN = "open"


class SpanChoice(StrEnum):
    """How a correct span can be chosen; anything else typed there is taken as the exact words."""

    AS_MODEL = "as_model"
    AS_REFERENCE = "as_reference"
    BOTH = "both"
    COMMON = "common"


class Scope(StrEnum):
    """Which twins a judgement holds for, too; without a scope it holds for its own case alone."""

    ALL = "all"
    DOCUMENT = "document"  # those in the document of the case


class Severity(StrEnum):
    """How grave a miss is, gravest first."""

    DIRECT = "direct"
    QUASI = "quasi"
    HARMLESS = "harmless"


SPAN_CHOICES = tuple(SpanChoice)
SCOPES = tuple(Scope)
SEVERITIES = tuple(Severity)


class Role(StrEnum):
    """What a workbook is for: to be judged, to decide what others left open, or to be read without the text."""

    REVIEW = "review"
    CONFLICTS = "conflicts"
    FIGURES = "figures"


class TrustId(StrEnum):
    """Which of the two case IDs of a row counts where they differ."""

    ROW = "row"  # the row's own
    BLOCK = "block"  # the one inside the annotation block


class Rule(StrEnum):
    """How several judgements of one case are resolved, unless somebody named has the last word."""

    MAJORITY = "majority"
    UNANIMOUS = "unanimous"


class ConflictKind(StrEnum):
    """Why judgements were not carried out."""

    TWICE = "twice"  # one person judged a case twice, differently
    DISAGREEMENT = "disagreement"
    CLAIMS = "claims"  # different decisions on twins were to hold for this case, too
    CONTRADICTION = "contradiction"  # different results at the same gold span
    OVERLAP = "overlap"  # corrected spans would overlap


class Outcome(StrEnum):
    """How a judgement fared."""

    APPLIED = "applied"  # it changed gold
    UNCHANGED = "unchanged"  # it left gold alone
    OUTVOTED = "outvoted"
    OPEN = "open"  # nobody won
    HELD = "held"  # it clashed with another
    WITHDRAWN = "withdrawn"  # it was taken back


class Finding(StrEnum):
    """What a case turned out to be, in the order in which the ledger lists it."""

    GOLD_ERROR = "gold_error"
    TRUE_FIND = "true_find"
    MODEL_ERROR = "model_error"
    ACCEPTABLE = "acceptable"
    CONFIRMED = "confirmed"  # an agreed span that is right
    MISSED_BY_BOTH = "missed_by_both"  # an unmarked passage that should be marked
    RIGHTLY_UNMARKED = "rightly_unmarked"
    SETTLED = "settled"
    UNDECIDED = "undecided"
    OPEN = "open"
    UNJUDGED = "unjudged"


class ScoreState(StrEnum):
    """The states of the figures, each with what the ones before it have."""

    RAW = "raw"
    CORRECTED = "corrected"
    ACCEPTED = "accepted"
    FORGIVEN = "forgiven"


# Judgements


@dataclass(frozen=True)
class JudgementKind:
    """One thing a person can decide: its code, what it does, on which sheets it is offered, and its words."""

    code: str
    effect: Effect
    sheets: tuple[Sheet, ...] = (FN, FP)
    words: Mapping[str, str] = field(default_factory=dict)  # language -> words; empty: from the language files
    digit: str = ""  # that is enough to choose it; the same on every sheet


JUDGEMENTS = (
    JudgementKind("model_error", Effect.NONE, digit="1"),
    JudgementKind("confirmed", Effect.NONE, (AG,), digit="1"),
    JudgementKind("rightly_unmarked", Effect.NONE, (UM,), digit="1"),
    JudgementKind("gold_wrong", Effect.DELETE, (FN, AG), digit="2"),
    JudgementKind("gold_missing", Effect.ADD, (FP,), digit="2"),
    JudgementKind("should_be_marked", Effect.ADD, (UM,), digit="2"),
    JudgementKind("boundary", Effect.BOUNDARY, (FN, FP, AG), digit="3"),
    JudgementKind("label", Effect.LABEL, (FN, FP, AG), digit="4"),
    JudgementKind("acceptable", Effect.ACCEPT, digit="5"),
    JudgementKind("unclear", Effect.OPEN, (FN, FP, AG, UM), digit="6"),
)
OWN_DIGITS = "789"  # of a project's judgements, in their order; further ones go by words only


# Judgements of these effects use a correct span, or a correct label; beside others such an entry does nothing.
TAKES_SPAN = frozenset({Effect.ADD, Effect.BOUNDARY})
TAKES_LABEL = frozenset({Effect.ADD, Effect.BOUNDARY, Effect.LABEL})


class Filled(msgspec.Struct, frozen=True):
    """Whose judgement stood in a row when its workbook was written, when it was made, and a fingerprint of it."""

    judge: str
    when: str
    print: str


_PRINT_BYTES = 10
_NAMES = {"code": "judgement", "case_id": "case", "judge": "who"}  # as a line of the log has them


class Judgement(msgspec.Struct, frozen=True, dict=True, repr_omit_defaults=True, rename=_NAMES):
    """What one person decided about one case: the same from the cell to the log and back, and a line of the log.

    `code` is empty where somebody only rated the severity or left a comment. `correct_span` is a `SpanChoice` or the
    words themselves, `correct_labels` what was typed for each layer. `applies_to` says which twins it holds for, too;
    `twin` is the case that it was made on where it was carried over, which no log says: what follows from a decision
    is derived anew. What follows `final` is known when it has been brought home, `when` also where it was filled in
    again. None and empty texts mean that nothing is known or was filled in.
    """

    code: str = ""
    correct_span: str = ""
    correct_labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    severity: Severity | None = None
    comment: str = ""
    applies_to: Scope | None = None  # None: this case alone
    case_id: str = ""
    effect: Effect | None = None
    judge: str = ""
    workbook: str = ""
    workbook_sha256: str = ""  # of the file as it was given
    place: str = ""  # of the row
    twin: str = ""
    final: bool = False  # from a conflict workbook: this person has the last word
    when: str = ""
    run: str = ""
    outcome: Outcome | None = None
    reached: Mapping[str, str] = msgspec.field(default_factory=dict)  # the twins that it decided, each with its `other`
    whose: str = ""  # of a judgement that is taken back: who had made it, if it was somebody else
    other: str = ""  # key of the other side's spans, see other_keys
    old: str = ""
    new: str = ""

    @cached_property
    def said(self) -> tuple[object, ...]:
        """What somebody said, without who and where."""
        labels = tuple(sorted(self.correct_labels.items()))
        comment = normalise(self.comment)
        return (self.code, normalise(self.correct_span), labels, self.severity, comment, self.applies_to)

    @property
    def filled(self) -> Filled:
        """What a workbook remembers of it where it is filled in again."""
        said = msgspec.json.encode(self.said)
        return Filled(self.judge, self.when, hashlib.blake2b(said, digest_size=_PRINT_BYTES).hexdigest())

    @property
    def sheet(self) -> Sheet:
        """The sheet of the case, which its ID begins with."""
        return Sheet(self.case_id.partition("-")[0])


def words_of(judgement: JudgementKind, language: str, standard: Mapping[str, str]) -> str:
    """The words of a judgement in a language; a custom one falls back to English, then to any, then to its code."""
    if not judgement.words:
        return standard[judgement.code]
    return judgement.words.get(language) or judgement.words.get("en") or next(iter(judgement.words.values()))


def custom_judgements(tables: Mapping[str, Mapping[str, Any]], where: str = "config") -> tuple[JudgementKind, ...]:
    """Judgements that a project defines in TOML: `[judgements.CODE]` with `effect`, words, and maybe `sheets`.

    The first three get the digits that the tool's own leave over.

    >>> (public,) = custom_judgements({"public": {"effect": "gold_wrong", "en": "Public figure", "sheets": ["FN"]}})
    >>> public.effect, public.sheets, public.words, public.digit
    (<Effect.DELETE: 'delete'>, (<Sheet.FN: 'FN'>,), {'en': 'Public figure'}, '7')
    """
    from clueval_xlsx.words import in_every_language

    effects = {judgement.code: judgement.effect for judgement in JUDGEMENTS}
    offered = {judgement.code: judgement.sheets for judgement in JUDGEMENTS}
    taken = {normalise(code): code for code in effects}
    for code in effects:
        taken.update(dict.fromkeys(map(normalise, in_every_language(f"judgement.{code}").values()), code))
    if not all(isinstance(table, Mapping) for table in tables.values()):
        raise OptionError(
            f'{where}: judgements must be tables. Write [judgements.CODE] with effect = "…" and en = "…".'
        )
    found: list[JudgementKind] = []
    for code, table in tables.items():
        effect = table.get("effect")
        if not isinstance(effect, str) or effect not in effects:
            hint = did_you_mean(effect, effects) if isinstance(effect, str) else ""
            raise OptionError(
                f"{where}: judgement {code!r} has effect {effect!r}.{hint} Allowed: {', '.join(effects)}. "
                "A judgement of your own has the effect of one of these."
            )
        if code in effects:
            raise OptionError(f"{where}: {code!r} is a judgement of the tool. Choose another code for your own.")
        words = {key: value for key, value in table.items() if key not in {"effect", "sheets"}}
        if not words:
            raise OptionError(f'{where}: judgement {code!r} has no words. Give at least one, such as en = "…".')
        for language, text in words.items():
            if not isinstance(text, str) or not normalise(text):
                raise OptionError(f"{where}: judgement {code!r}, {language}: found {text!r}. Allowed: a text.")
            for meant in (normalise(code), normalise(text)):
                if taken.setdefault(meant, code) != code:
                    raise OptionError(
                        f"{where}: judgement {code!r}, {language}: {text!r} already means {taken[meant]!r}. "
                        "Choose other words, so that nobody mistakes one for the other."
                    )
        sheets = table.get("sheets", list(offered[effect]))
        if not isinstance(sheets, list) or not sheets or any(sheet not in offered[effect] for sheet in sheets):
            raise OptionError(
                f"{where}: judgement {code!r} has sheets {sheets!r}. "
                f"Allowed with effect {effect}: a list of {', '.join(offered[effect])}."
            )
        digit = OWN_DIGITS[len(found) : len(found) + 1]
        found.append(JudgementKind(code, effects[effect], tuple(dict.fromkeys(map(Sheet, sheets))), words, digit))
    return tuple(found)
