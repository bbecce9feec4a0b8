"""The types that several settings share, what makes their values of texts, and checks of other arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import TextIOBase
from pathlib import Path
from typing import Annotated, BinaryIO, Literal, TypeAlias, TypeVar, cast, get_args

from msgspec import Meta

from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.options.declaration import SettingError, plain, shown, words

Value = TypeVar("Value")
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


def allow_rules(path: str) -> dict[str, str]:
    """A rule file: one `CATEGORY allow=REGEX` a line; a category without `allow=` has no regex of its own."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --allow-file.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: the file is not UTF-8. Save it as UTF-8.") from None
    rules: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip().split(None, 1)
        if len(words) < 2 or words[0].startswith("#"):
            continue
        category, (key, _, rule) = words[0], words[1].partition("=")
        if key.strip() != "allow" or not rule:
            raise InputError(
                f"{path}:{number}: {line.strip()!r} is no rule. Allowed: CATEGORY allow=REGEX, such as NAME allow=\\s, "
                "one in each line."
            )
        if rules.setdefault(category, rule) != rule:
            raise InputError(f"{path}:{number}: {category} has two allow rules. Join them: (?:ONE|OTHER).")
    return rules


def one_of(name: str, given: object, allowed: Iterable[str]) -> None:
    """Refuse what is not among the allowed words.

    >>> one_of("nested", "longst", ("error", "longest"))
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: nested: found 'longst'. Allowed: error, longest. Did you mean 'longest'?
    """
    known = tuple(allowed)
    if not isinstance(given, str) or given not in known:
        hint = did_you_mean(given, known) if isinstance(given, str) else ""
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {', '.join(known)}.{hint}")


def wanted(name: str, given: object, kind: type[Value], such_as: str) -> Value:
    """The argument, if it is of this kind.

    >>> wanted("named", ["a"], dict, 'such as {"a": result}')
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: named: found ['a']. Allowed: such as {"a": result}.
    """
    if not isinstance(given, kind):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {such_as}.")
    return given


def names_of(name: str, given: object) -> tuple[str, ...]:
    """Names in any collection as a tuple; a name alone counts as one.

    >>> names_of("layers", "risk"), names_of("layers", ["risk", "category"])
    (('risk',), ('risk', 'category'))
    """
    names = plain((given,) if isinstance(given, str) else given)
    if not isinstance(names, tuple) or not all(isinstance(each, str) for each in names):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: a list of names.")
    return names


def target_of(given: object) -> Path | BinaryIO:
    """Where something is to be written: a path, or an open file that takes bytes.

    >>> target_of("review.xlsx").name
    'review.xlsx'
    >>> target_of(None)
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: target: found None. Allowed: a path, or a file opened for bytes (mode 'wb').
    """
    if isinstance(given, str | Path):
        return Path(given)
    if not hasattr(given, "write") or isinstance(given, TextIOBase):
        raise OptionError(f"target: found {shown(given)}. Allowed: a path, or a file opened for bytes (mode 'wb').")
    return cast(BinaryIO, given)
