"""Options about figures: level, groups, intervals, the schemes to count by, and rules for labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.idle_options import refuse_idle
from clueval_xlsx.cli.parameters import KeyValue, LabelGroup, ListOption, group
from clueval_xlsx.options.values import SCHEMES
from clueval_xlsx.scoring.levels import LEVELS

if TYPE_CHECKING:
    from clueval_xlsx.options import LabelRules, Options, SchemeOptions

_SCHEMES = (*SCHEMES, "all")
DEFAULT_SEED, DEFAULT_REPLICATES = 20240, 10_000
_SHARE = click.FloatRange(0, 1, min_open=True)

merging = click.option(
    "--merge/--no-merge",
    "merged",
    default=True,
    show_default=True,
    help="Several layers: one sequence of merged spans, or each layer by itself.",
)

_HEADLINE = [
    click.option(
        "--level",
        type=click.Choice(list(LEVELS)),
        default="overlap",
        show_default=True,
        help="How lenient a match may be, for the headline and the cases.",
    ),
    click.option(
        "--labelled",
        metavar="LAYER",
        help="Labels of this layer must agree, too. Where --layer names none, it is called span.",
    ),
    click.option(
        "--beta",
        type=click.FloatRange(0, min_open=True),
        default=2.0,
        show_default=True,
        help="Weight of recall in F-beta.",
    ),
]

_SCORING = [
    *_HEADLINE,
    click.option("--by", cls=ListOption, metavar="KEY", help="Group by this metadata key."),
    click.option(
        "--replicates",
        type=click.IntRange(0),
        default=DEFAULT_REPLICATES,
        show_default=True,
        help="How often documents change sides in tests between systems; 0 gives no tests and no intervals.",
    ),
]

_SEED = click.option(
    "--seed",
    type=int,
    default=DEFAULT_SEED,
    show_default=True,
    help="Seed of what is drawn at random: samples, hand-outs, tests between systems.",
)

_SCHEME_RULES = [
    click.option(
        "--scheme",
        type=click.Choice(_SCHEMES),
        cls=ListOption,
        metavar="NAME",
        help=f"Ways to count besides clueval, which is always there: {', '.join(_SCHEMES)}.",
    ),
    click.option("--type-layer", metavar="LAYER", help="Layer whose labels are the types of merged spans."),
    click.option(
        "--iou-threshold",
        type=_SHARE,
        cls=ListOption,
        default=(0.9,),
        show_default=True,
        help="Schemes iou and presidio: least intersection over union.",
    ),
    click.option(
        "--skip-words",
        type=click.Choice(["presidio", "none"]),
        default="presidio",
        show_default=True,
        help="Scheme presidio: words that join spans and do not count at their ends; that package's list, or none.",
    ),
    click.option(
        "--coverage-threshold",
        type=_SHARE,
        cls=ListOption,
        default=(0.3,),
        show_default=True,
        help="Scheme coverage: least share of a gold span that must be covered.",
    ),
    click.option(
        "--scenario-threshold",
        type=_SHARE,
        default=0.5,
        show_default=True,
        help="Scheme scenario: least overlap ratio of a partial match.",
    ),
    click.option(
        "--allow",
        type=KeyValue(r"NAME=\s"),
        multiple=True,
        metavar="CATEGORY=REGEX",
        help="Scheme chars: characters of a category (or ALL) that need no masking, or that may be masked "
        "anywhere (NONE); repeatable.",
    ),
    click.option(
        "--allow-file",
        type=click.Path(),
        metavar="FILE",
        help="Scheme chars: the same from a file, one CATEGORY allow=REGEX a line.",
    ),
    click.option(
        "--char-unit",
        type=click.Choice(["codepoints", "glyphs", "utf16"]),
        default="codepoints",
        show_default=True,
        help="Scheme chars: what counts as one character.",
    ),
]

_LABELS = [
    click.option(
        "--map",
        type=KeyValue("LOCATION=LOC"),
        cls=ListOption,
        metavar="OLD=NEW",
        help="Rename a label on both sides before anything is compared.",
    ),
    click.option(
        "--equivalent",
        type=LabelGroup(),
        multiple=True,
        help="Labels that count as the same in the relaxed rows; repeatable.",
    ),
    click.option(
        "--equivalence",
        type=click.Choice(["apply", "mark"]),
        default="apply",
        show_default=True,
        help="With --labelled: equivalent labels are no error, or an error that is marked as such.",
    ),
    click.option(
        "--ignore",
        cls=ListOption,
        metavar="LABEL",
        help="Do not count spans of this label, nor what matches them.",
    ),
    click.option(
        "--unmapped",
        type=click.Choice(["discard", "keep"]),
        default="keep",
        show_default=True,
        help="What becomes of documents with labels that nothing accounts for.",
    ),
]

# Schemes, and the options that only they look at.
_OF_SCHEMES = {
    ("iou", "presidio"): ("iou_threshold",),
    ("presidio",): ("skip_words",),
    ("coverage",): ("coverage_threshold",),
    ("scenario",): ("scenario_threshold",),
    ("chars",): ("allow", "allow_file", "char_unit"),
}

_CONTEXT = click.option(
    "--context",
    type=click.IntRange(0),
    metavar="N",
    help="Show N tokens on each side of a case instead of its sentence.",
)


def _options(**given: Any) -> Options:
    from clueval_xlsx.options import Options, SchemeOptions

    return Options(
        level=given["level"],
        labelled=given["labelled"],
        beta=given["beta"],
        by=given.get("by", ()),
        seed=given.get("seed", DEFAULT_SEED),
        replicates=given.get("replicates", DEFAULT_REPLICATES),
        context=given.get("context"),
        schemes=_scheme_options(given) if "scheme" in given else SchemeOptions(),
        labels=_label_rules(given),
    )


def _scheme_options(given: Mapping[str, Any]) -> SchemeOptions:
    from clueval_xlsx.options import SchemeOptions

    for schemes, names in _OF_SCHEMES.items():
        if not {*schemes, "all"} & set(given["scheme"]):
            refuse_idle(names, " or ".join(f"--scheme {scheme}" for scheme in schemes))
    return SchemeOptions(
        scheme=tuple(dict.fromkeys(given["scheme"])),
        type_layer=given["type_layer"],
        iou_threshold=tuple(dict.fromkeys(given["iou_threshold"])),
        coverage_threshold=tuple(dict.fromkeys(given["coverage_threshold"])),
        scenario_threshold=given["scenario_threshold"],
        allow=given["allow"],
        allow_file=given["allow_file"],
        char_unit=given["char_unit"],
        skip_words=given["skip_words"],
    )


def _label_rules(given: Mapping[str, Any]) -> LabelRules:
    from clueval_xlsx.options import LabelRules

    if not given["equivalent"]:
        refuse_idle(["equivalence"], "--equivalent")
    if "scheme" in given and given["labelled"] is None:
        refuse_idle(["equivalence"], "--labelled")
    return LabelRules(
        map=given["map"],
        equivalent=given["equivalent"],
        ignore=tuple(dict.fromkeys(given["ignore"])),
        unmapped=given["unmapped"],
        equivalence=given["equivalence"],
    )


headline = group("options", _options, [*_HEADLINE, *_LABELS])
scoring = group("options", _options, [*_SCORING, *_SCHEME_RULES, *_LABELS])
scoring_and_drawing = group("options", _options, [*_SCORING, _SEED, *_SCHEME_RULES, *_LABELS])
scoring_with_cases = group("options", _options, [*_SCORING, _SEED, *_SCHEME_RULES, *_LABELS, _CONTEXT])
