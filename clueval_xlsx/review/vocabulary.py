"""What the workbook writer and the re-import share: names of sheets and columns, and everything that has a code."""

from __future__ import annotations

from enum import StrEnum

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
