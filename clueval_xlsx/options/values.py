"""The types that several settings share, and what makes their values of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta

from clueval_xlsx.exceptions import did_you_mean
from clueval_xlsx.options.declaration import SettingError, words

Share: TypeAlias = Annotated[float, Meta(gt=0, le=1)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]
Number: TypeAlias = Annotated[int, Meta(ge=0)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=10**9)]
Column: TypeAlias = Annotated[int, Meta(ge=1, le=1_000_000)]
Text: TypeAlias = Annotated[str, Meta(min_length=1)]
File: TypeAlias = Annotated[str, Meta(min_length=1, extra={"kind": "file"})]
Pairs: TypeAlias = Mapping[Text, str]
Group: TypeAlias = Annotated[
    Sequence[str], Meta(min_length=2, description='groups of two labels or more, such as [("ORG", "LOC")] or ORG,LOC')
]
LayerName: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^(?!\d+$|start$|end$).",
        description="NAME or NAME=COLUMN, such as risk=3, or NAME=FIELD; columns count from 1, and start and end are "
        "no names of layers",
    ),
]
FieldName: TypeAlias = Annotated[str, words("text", "spans", "start", "end", "label", "score", "id", "tokens", "tags")]
Unit: TypeAlias = Literal["codepoints", "glyphs", "utf16"]
Level: TypeAlias = Literal["exact", "superset", "tiling", "overlap"]
Rate: TypeAlias = Literal["precision", "recall", "f1", "f_beta"]
Scheme: TypeAlias = Literal[
    "clueval", "seqeval", "semeval", "scenario", "tokens", "presidio", "iou", "coverage", "chars", "documents", "all"
]

_OF_CLUEVAL = {"contained": "superset", "tiled": "tiling", "covered": "overlap"}
SCHEMES = tuple(name for name in get_args(Scheme) if name != "all")  # in the order in which they are shown


def share(text: str) -> float:
    """A share, also in per cent.

    >>> share("20%"), share("0.2")
    (0.2, 0.2)
    """
    number = float(text.strip().removesuffix("%"))
    return number / 100 if text.strip().endswith("%") else number


def column(text: str) -> int | str:
    """A column by its number, or by its name; `` of nothing is column 0, which there is not."""
    text = text.strip()
    return int(text or 0) if text == "" or (text.isascii() and text.isdigit()) else text


def level(text: str) -> str:
    """A level, also by the name that CLUEval gives it."""
    return _OF_CLUEVAL.get(text, text)


@dataclass(frozen=True)
class Gate:
    """A rate of the headline, or of one label there, or its lower or upper bound, and the least it may be.

    With `drop`, `value` is how much less than the baseline's it may be.
    """

    text: str
    rate: Rate
    value: float
    bound: str = ""
    label: str | None = None
    drop: bool = False


_GATE = re.compile(r"\s*(\w+)\s*(?:\.(low|high))?\s*(?:\[\s*(.*\S)\s*\])?\s*=\s*(-?[0-9.]+)\s*(%|pp)?\s*")


def floor(text: str) -> Gate:
    """`recall=0.95`, `recall.low=93%`, `recall[PERSON]=0.99`."""
    return _gate(text, "0.95", "95%", ("", "%"))


def drop(text: str) -> Gate:
    """`recall=0.5pp` (percentage points), `recall=0.005`."""
    return _gate(text, "0.005", "0.5pp", ("", "%", "pp"))


def _gate(text: str, plain: str, short: str, units: Sequence[str]) -> Gate:
    rates = get_args(Rate)
    rate = re.split(r"[.\[=]", text)[0].strip()
    match = _GATE.fullmatch(text)
    try:
        value = float(match[4]) / (100 if match[5] else 1) if match and (match[5] or "") in units else -1.0
    except ValueError:
        value = -1.0
    if match is not None and rate in rates and 0 <= value <= 1:
        return Gate(text.rpartition("=")[0].strip(), rate, value, match[2] or "", match[3], "pp" in units)  # type: ignore[arg-type]
    hint = "" if rate in rates else did_you_mean(rate, rates)
    if match is not None and not match[5] and 1 < value <= 100:
        hint = f" Is {rate}={match[4]}% meant?"
    raise SettingError(
        f"found {text!r}. Allowed: one of {', '.join(rates)}, and rates from 0 to 1, such as recall={plain} or "
        f"recall={short}; recall.low=… for the lower bound, recall[PERSON]=… for a label.{hint}"
    )
