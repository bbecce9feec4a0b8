"""Which schemes there are and which are computed, their thresholds and rules: all of it part of the signature.

Nothing heavy is imported here, so that help can read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.arguments import Pairs, check_kinds, keep, numbers, one_of, pairs, texts
from clueval_xlsx.exceptions import OptionError

# In the order in which they are shown. `clueval` is always computed.
NAMES = ("clueval", "seqeval", "semeval", "scenario", "tokens", "presidio", "iou", "coverage", "chars", "documents")
ALL = "all"
CODE_POINTS, GLYPHS, UTF16 = "codepoints", "glyphs", "utf16"
CHARACTER_UNITS = (CODE_POINTS, GLYPHS, UTF16)
RELAXED = "relaxed"
PRESIDIO_SKIP_WORDS, NO_SKIP_WORDS = "presidio", "none"
SKIP_WORDS = (PRESIDIO_SKIP_WORDS, NO_SKIP_WORDS)


def relaxed_variant(variant: str | None) -> str:
    """The name of a variant in which equivalent labels count as the same.

    >>> relaxed_variant(None), relaxed_variant("strict"), strict_variant("strict relaxed"), strict_variant("relaxed")
    ('relaxed', 'strict relaxed', 'strict', None)
    """
    return f"{variant} {RELAXED}" if variant else RELAXED


def strict_variant(variant: str | None) -> str | None:
    """The variant of which this one is the relaxed form; itself if it is not relaxed."""
    return None if variant is None else variant.removesuffix(RELAXED).rstrip() or None


def is_relaxed(variant: str | None) -> bool:
    """Whether equivalent labels count as the same in this variant."""
    return isinstance(variant, str) and variant.endswith(RELAXED)


def gives_half_credit(scheme: str, variant: str | None) -> bool:
    """Whether a match may count as half right in these rows: then rates come from no whole true positives.

    >>> gives_half_credit("semeval", "partial"), gives_half_credit("scenario", "partial relaxed")
    (True, True)
    >>> gives_half_credit("semeval", "strict"), gives_half_credit("clueval", None)
    (False, False)
    """
    return scheme in {"semeval", "scenario"} and strict_variant(variant) == "partial"


@dataclass(frozen=True)
class SchemeOptions:
    """What to count besides `clueval`.

    `scheme`  names of schemes, or `all`
    `type_layer`  the layer whose labels are the types of merged spans; None for the first
    `iou_threshold`  `iou`, `presidio`: least intersection over union, one or several
    `coverage_threshold`  `coverage`: least share of a gold span that must be covered, one or several
    `scenario_threshold`  `scenario`: least overlap ratio of a partial match
    `allow`  `chars`: the regex of characters that need no masking for a category (or ALL), or may be masked (NONE)
    `char_unit`  `chars`: what counts as one character: `codepoints`, `glyphs` or `utf16`
    `skip_words`  `presidio`: the words it passes over: that package's list (`presidio`) or `none`

    >>> SchemeOptions("iou", iou_threshold=[0.5, 0.9]).iou_threshold
    (0.5, 0.9)
    """

    scheme: Sequence[str] = ()
    type_layer: str | None = None
    iou_threshold: Sequence[float] = (0.9,)
    coverage_threshold: Sequence[float] = (0.3,)
    scenario_threshold: float = 0.5
    allow: Pairs = ()
    char_unit: str = CODE_POINTS
    skip_words: str = PRESIDIO_SKIP_WORDS

    def __post_init__(self) -> None:
        keep(
            self,
            scheme=texts("scheme", self.scheme, "names of schemes"),
            iou_threshold=numbers("iou_threshold", self.iou_threshold, "shares"),
            coverage_threshold=numbers("coverage_threshold", self.coverage_threshold, "shares"),
            allow=self.allowed,
        )
        check_kinds(self)
        unknown = [name for name in self.scheme if name not in {*NAMES, ALL}]
        if unknown:
            raise OptionError(f"--scheme {unknown[0]}: there is no such scheme. Allowed: {', '.join((*NAMES, ALL))}.")
        for name, thresholds in (
            ("iou", self.iou_threshold),
            ("coverage", self.coverage_threshold),
            ("scenario", (self.scenario_threshold,)),
        ):
            for threshold in thresholds:
                if not 0 < threshold <= 1:
                    raise OptionError(
                        f"--{name}-threshold {threshold:g}: a threshold is a share. Allowed: more than 0, up to 1."
                    )
        one_of("--char-unit", self.char_unit, CHARACTER_UNITS)
        one_of("--skip-words", self.skip_words, SKIP_WORDS)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The schemes to compute, in their fixed order."""
        return tuple(name for name in NAMES if name == "clueval" or name in self.scheme or ALL in self.scheme)

    @property
    def allowed(self) -> tuple[tuple[str, str], ...]:
        """Category (or ALL, NONE) and the regex of characters that are left out."""
        return pairs("allow", self.allow, 'a regex for each category, such as {"NAME": "[.,]"}')

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
            parts["chars"] = ",".join([self.char_unit, *(f"{key}={quote(rule)}" for key, rule in self.allowed)])
        return parts
