"""Inputs of a command: how they are read, brought together, and refused where there is nothing in them."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import say_notes
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError
from clueval_xlsx.options import PairOptions, ReadOptions

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading

STANDARD_INPUT = "-"
_STDIN_NAME = "<standard input>"


@dataclass(frozen=True)
class Sides:
    """How gold and prediction are read and brought together."""

    gold: ReadOptions
    pred: ReadOptions
    strict_tags: bool = False
    align_text: bool = False
    merged: bool = True


def file_content(path: str, option: str = "") -> bytes:
    """What is in a file that an option names."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        remedy = f" given to {option}" if option else ""
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path{remedy}.") from None


def reading_of(call: Call, side: str = "") -> ReadOptions:
    """How one side is read; where tags are numbers, with the names that a file lists for them."""
    options = call.of(ReadOptions, side)
    if len(options.tag_names) != 1:
        return options
    from clueval_xlsx.formats.token_lists import with_listed_names

    return with_listed_names(options)


def sides_of(call: Call) -> Sides:
    """How both sides are read; schemes that count annotations as they are listed need no choice between them."""
    gold, pred = reading_of(call, "gold"), reading_of(call, "pred")
    if call.scoring.labelled is None:
        call.refuse(["labels.equivalence"], "--labelled")
    if call.scoring.schemes.as_listed:
        gold, pred = (replace(side, nested=side.nested or "longest") for side in (gold, pred))
    pair = call.of(PairOptions)
    strict = "strict" in {gold.bio, pred.bio}
    return Sides(gold, pred, strict, pair.align == "text", pair.merge is not False)


def read_input(call: Call, path: str, options: ReadOptions) -> Reading:
    """Read one input; `-` is standard input."""
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.formats.registry import FIELDS_OF_ONE_SIDE, ONE_SIDE

    try:
        if path == STANDARD_INPUT:
            return read(sys.stdin.buffer, options, name=_STDIN_NAME)
        return read(path, options)
    except CluevalError as error:
        if call.command in {"agree", "convert", "validate", "predict"}:  # which know no sides
            error.args = (str(error).replace(ONE_SIDE, "").replace(FIELDS_OF_ONE_SIDE, ""),)
        raise


def misplaced_workbook(path: str) -> InputError | None:
    """What to say of a review workbook where annotations belong; None if the file is none."""
    if not path.lower().endswith((".xlsx", ".ods")):
        return None
    from clueval_xlsx.review.reimport import gold_of

    gold = gold_of([path])
    home = f"Its judgements come home by `clueval-xlsx reimport {path} --gold {gold}`."
    return None if gold is None else InputError(f"{path}: is a review workbook, and holds no annotations. {home}")


def read_only_input(call: Call, path: str) -> Reading:
    """Read the only input of a command: options that mean nothing for its format are refused."""
    reading = read_input(call, path, reading_of(call))
    call.refuse_idle_reading({"": [reading.source.format]})
    return reading


def load_pair(gold: str, pred: str, sides: Sides) -> Pair:
    """Read both sides and bring them together; one of them may be `-`, standard input."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.figures import InputFacts
    from clueval_xlsx.formats.loading import Content, read_sides, refuse_empty

    paths = (gold, pred)
    if gold == pred == STANDARD_INPUT and sides.gold.layers == sides.pred.layers:
        raise OptionError(
            "only one side can come from standard input, unless both are layers of one file (--gold-layer, "
            "--pred-layer). Give a file for the other."
        )
    content = sys.stdin.buffer.read() if STANDARD_INPUT in paths else b""
    # Both sides may be layers of one file.
    sources = [io.BytesIO(content) if path == STANDARD_INPUT else path for path in paths]
    names = [_STDIN_NAME if path == STANDARD_INPUT else None for path in paths]
    readings = read_sides(sources[0], sources[1], sides.gold, sides.pred, names=(names[0], names[1]))
    options = (sides.gold, sides.pred)
    refuse_empty([Content.of(reading, own) for reading, own in zip(readings, options, strict=True)], sides.gold)
    pair = make_pair(*readings, strict_tags=sides.strict_tags, align=sides.align_text)
    say_notes(InputFacts.of(pair).meaningless(same_spans=pair.same_spans))
    return pair


def refuse_idle_formats(call: Call, pairs: Sequence[Pair]) -> None:
    """Refuse options of reading that mean nothing for the formats of these pairs, which are all that is read."""
    gold, pred = ([getattr(pair, side).source.format for pair in pairs] for side in ("gold", "pred"))
    call.refuse_idle_reading({"gold": gold, "pred": pred})
