"""Options that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import format_options
from clueval_xlsx.cli.config_file import load_config
from clueval_xlsx.cli.parameters import KeyValue, LabelGroup, ListOption, NamedColumn, apply
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.scoring.levels import LEVELS
from clueval_xlsx.scoring.schemes.settings import ALL, NAMES

if TYPE_CHECKING:
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.evaluation import Options
    from clueval_xlsx.formats.options import ReadOptions


def _set_threads(_context: click.Context, _parameter: click.Parameter, count: int | None) -> None:
    if count is not None:
        from clueval_xlsx.threads import set_threads

        set_threads(count)


common = apply(
    [
        click.option(
            "--threads",
            type=click.IntRange(1),
            metavar="N",
            expose_value=False,
            callback=_set_threads,
            help="How many threads compute at once (one a processor). The result is the same.",
        ),
        click.option(
            "--config",
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=load_config,
            help="TOML file with options; the command line wins.",
        ),
        click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback of an error."),
    ]
)

reading = apply(
    [
        *format_options.READING,
        click.option("--token-id", type=click.IntRange(1), metavar="COLUMN", help="Column of the token IDs."),
        click.option(
            "--document-id",
            type=click.IntRange(1),
            metavar="COLUMN",
            help="Column of document IDs, for files without document tags.",
        ),
        click.option(
            "--column",
            "columns",
            type=NamedColumn(),
            cls=ListOption,
            help="A named column whose values metrics can be grouped by.",
        ),
        click.option(
            "--space-column",
            type=click.IntRange(1),
            metavar="COLUMN",
            help="Column that says whether a space follows (SpaceAfter=No, 0, no: none).",
        ),
        click.option("--document-tag", default="text", show_default=True, help="XML element of a document."),
        click.option("--sentence-tag", default="s", show_default=True, help="XML element of a sentence."),
    ]
)

two_sides = apply(
    [
        *format_options.TWO_SIDES,
        click.option(
            "--bio",
            type=click.Choice(["lenient", "strict"]),
            default="lenient",
            show_default=True,
            help="Whether an I- tag that continues nothing opens a span or is an error.",
        ),
    ]
)

scoring = apply(
    [
        click.option(
            "--level",
            type=click.Choice(list(LEVELS)),
            default="overlap",
            show_default=True,
            help="How lenient a match may be, for the headline and the cases.",
        ),
        click.option("--labelled", metavar="LAYER", help="Labels of this layer must agree, too."),
        click.option(
            "--merge/--no-merge",
            "merged",
            default=True,
            show_default=True,
            help="Several layers: one sequence of merged spans, or each layer by itself.",
        ),
        click.option("--by", cls=ListOption, metavar="KEY", help="Group by this metadata key."),
        click.option(
            "--beta",
            type=click.FloatRange(0, min_open=True),
            default=2.0,
            show_default=True,
            help="Weight of recall in F-beta.",
        ),
        click.option("--seed", type=int, default=20240, show_default=True, help="Seed of the bootstrap."),
        click.option(
            "--replicates",
            type=click.IntRange(0),
            default=1000,
            show_default=True,
            help="Bootstrap replicates over documents; 0 gives no intervals.",
        ),
    ]
)


_SCHEMES = (*NAMES, ALL)
_SHARE = click.FloatRange(0, 1, min_open=True)

schemes = apply(
    [
        click.option(
            "--scheme",
            type=click.Choice(_SCHEMES),
            cls=ListOption,
            help="Another way to count, besides clueval, which is always there.",
        ),
        click.option("--type-layer", metavar="LAYER", help="Layer whose labels are the types of merged spans."),
        click.option(
            "--iou-threshold",
            type=_SHARE,
            cls=ListOption,
            default=(0.9,),
            show_default=True,
            help="Scheme iou: least intersection over union.",
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
)

labels = apply(
    [
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
)


def read_options(given: dict[str, Any], side: str = "") -> ReadOptions:
    """Reading options from the command's keyword arguments; `side` is gold, pred or nothing."""
    from clueval_xlsx.formats.options import ReadOptions

    layers = given.get(f"{side}_layers") or given["layers"]
    names = [name for name, _ in layers]
    if len(set(names)) < len(names):
        raise OptionError(f"a layer is named twice: {', '.join(names)}. Give each layer its own name.")
    return ReadOptions(
        format=_own(given, side, "format", "format_"),
        layers=dict(layers),
        token_id=given["token_id"],
        document_id=given["document_id"],
        columns=dict(given["columns"]),
        space_column=given["space_column"],
        document_tag=given["document_tag"],
        sentence_tag=given["sentence_tag"],
        text=_own(given, side, "text"),
        nested=_own(given, side, "nested"),
        offsets=given["offsets"],
        annotator=_own(given, side, "annotator"),
    )


def _own(given: dict[str, Any], side: str, name: str, common_name: str = "") -> Any:
    """An option of one side, or the one of both."""
    return given.get(f"{side}_{name}") or given[common_name or name]


def read_input(path: str, given: dict[str, Any], side: str = "") -> Reading:
    """Read one input; `-` is standard input."""
    from clueval_xlsx.formats.loading import read

    options = read_options(given, side)
    if path == "-":
        return read(sys.stdin.buffer, options, name="<standard input>")
    return read(path, options)


def load_pair(gold: str, pred: str, given: dict[str, Any]) -> Pair:
    """Read both sides and bring them together; one of them may be `-`, standard input."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.formats.loading import read_sides

    if gold == pred == "-":
        raise OptionError("only one side can come from standard input. Give a file for the other.")
    names = ("<standard input>" if gold == "-" else None, "<standard input>" if pred == "-" else None)
    sides = read_sides(
        sys.stdin.buffer if gold == "-" else gold,
        sys.stdin.buffer if pred == "-" else pred,
        read_options(given, "gold"),
        read_options(given, "pred"),
        names=names,
    )
    return make_pair(*sides, strict_tags=given["bio"] == "strict", align=given["align"] == "text")


def evaluation_options(given: dict[str, Any]) -> Options:
    """Evaluation options from the command's keyword arguments."""
    from clueval_xlsx.corpus.label_rules import LabelRules
    from clueval_xlsx.evaluation import Options
    from clueval_xlsx.scoring.schemes.settings import SchemeOptions

    rules = LabelRules(
        mapping=tuple(dict.fromkeys(given["map"])),
        equivalent=tuple(given["equivalent"]),
        ignored=tuple(dict.fromkeys(given["ignore"])),
        unmapped=given["unmapped"],
        equivalence=given["equivalence"],
    )
    schemes = SchemeOptions(
        names=tuple(dict.fromkeys(given["scheme"])),
        type_layer=given["type_layer"],
        iou=tuple(dict.fromkeys(given["iou_threshold"])),
        coverage=tuple(dict.fromkeys(given["coverage_threshold"])),
        scenario=given["scenario_threshold"],
        allow=(*_allow_rules(given["allow_file"]), *given["allow"]),
        character_unit=given["char_unit"],
    )
    return Options(
        level=given["level"],
        labelled=given["labelled"],
        beta=given["beta"],
        by=tuple(given["by"]),
        seed=given["seed"],
        replicates=given["replicates"],
        context=given.get("context"),
        schemes=schemes,
        labels=rules,
    )


def _allow_rules(path: str | None) -> tuple[tuple[str, str], ...]:
    if path is None:
        return ()
    from clueval_xlsx.scoring.schemes.chars import parse_rules

    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --allow-file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: the file is not UTF-8. Save it as UTF-8.") from None
    return parse_rules(text.splitlines(), path)
