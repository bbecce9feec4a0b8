"""Arguments as people write them in Python: what is unambiguous is understood, the rest refused in one sentence.

Nothing heavy is imported here, so that help can read the options.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from functools import cache
from io import TextIOBase
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, BinaryIO, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from clueval_xlsx.exceptions import OptionError

Pairs: TypeAlias = Mapping[str, str] | Sequence[tuple[str, str]]
Wanted = TypeVar("Wanted")
_SHOWN = 60
_PLAIN = (str, bytes, list, tuple, dict, set, frozenset)
_KINDS: dict[Any, tuple[type, str]] = {
    str: (str, "a text"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    bool: (bool, "True or False"),
    NoneType: (NoneType, "None"),
}


def texts(name: str, given: object, what: str) -> tuple[str, ...]:
    """Texts in any collection as a tuple; a text alone counts as one.

    >>> texts("by", "court", "keys"), texts("by", ["court", "year"], "keys")
    (('court',), ('court', 'year'))
    >>> texts("by", 7, "keys")
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: by: found 7. Allowed: keys as a list of texts.
    """
    found = (given,) if isinstance(given, str) else _listed(given)
    if found is None or not all(isinstance(each, str) for each in found):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {what} as a list of texts.")
    return tuple(str(each) for each in found)


def numbers(name: str, given: object, what: str) -> tuple[float, ...]:
    """Numbers in any collection as a tuple; a number alone counts as one.

    >>> numbers("iou", 0.5, "shares"), numbers("iou", [1, 0.5], "shares")
    ((0.5,), (1.0, 0.5))
    """
    found = (given,) if isinstance(given, Real) else _listed(given)
    if found is None or not all(isinstance(each, Real) and not isinstance(each, bool) for each in found):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {what} as a list of numbers.")
    return tuple(float(each) for each in found)


def groups(name: str, given: object, such_as: str) -> tuple[tuple[str, ...], ...]:
    """Groups of two texts or more as tuples; a group that is in no list is refused: it looks like a list of groups.

    >>> groups("equivalent", [["ORG", "LOC"]], "…")
    (('ORG', 'LOC'),)
    >>> groups("equivalent", ("ORG", "LOC"), 'such as [("ORG", "LOC")]')
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: equivalent: found ('ORG', 'LOC'). Allowed: such as [("ORG", "LOC")].
    """
    rows = _rows(given)
    if rows is None or any(len(row) < 2 for row in rows):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {such_as}.")
    return rows


def pairs(name: str, given: object, such_as: str) -> tuple[tuple[str, str], ...]:
    """A mapping, or pairs, as a tuple of pairs.

    >>> pairs("mapping", {"LOCATION": "LOC"}, "…"), pairs("mapping", [["LOCATION", "LOC"]], "…")
    ((('LOCATION', 'LOC'),), (('LOCATION', 'LOC'),))
    """
    rows = _rows(list(given.items()) if isinstance(given, Mapping) else given)
    if rows is None or any(len(row) != 2 for row in rows):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {such_as}.")
    return tuple((row[0], row[1]) for row in rows)


def one_of(name: str, given: object, allowed: Iterable[str]) -> None:
    """Refuse what is not among the allowed words.

    >>> one_of("unmapped", "drop", ("discard", "keep"))
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: unmapped 'drop': unknown. Allowed: discard, keep.
    """
    known = tuple(allowed)
    if not isinstance(given, str) or given not in known:
        raise OptionError(f"{name} {shown(given)}: unknown. Allowed: {', '.join(known)}.")


def wanted(name: str, given: object, kind: type[Wanted], such_as: str) -> Wanted:
    """The argument, if it is of this kind.

    >>> wanted("named", ["a"], dict, 'such as {"a": result}')
    Traceback (most recent call last):
    clueval_xlsx.exceptions.OptionError: named: found ['a']. Allowed: such as {"a": result}.
    """
    if not isinstance(given, kind):
        raise OptionError(f"{name}: found {shown(given)}. Allowed: {such_as}.")
    return given


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


def keep(options: object, **values: object) -> None:
    """Put values into options that are being made, which nobody can change afterwards."""
    for name, value in values.items():
        object.__setattr__(options, name, value)


def check_kinds(options: Any) -> None:
    """Refuse options with a field of a kind that its annotation does not name; numbers of numpy become plain ones."""
    kind: Any = type(options)
    for name, hint in _hints(kind).items():
        value = getattr(options, name)
        if not _fits(value, hint):
            raise OptionError(f"{name}: found {shown(value)}. Allowed: {_described(hint)}.")
        if isinstance(value, Integral) and not isinstance(value, int):
            keep(options, **{name: int(value)})


def shown(given: object) -> str:
    """What was found, as short as a message wants it; of large things only what they are.

    >>> shown("exactly"), shown([1, 2]), shown(list(range(99)))
    ("'exactly'", '[1, 2]', 'list')
    """
    small = isinstance(given, NoneType | Real) or (isinstance(given, _PLAIN) and len(given) < _SHOWN)
    text = repr(given) if small else ""
    return text if text and len(text) <= _SHOWN and "\n" not in text else type(given).__name__


def _rows(given: object) -> tuple[tuple[str, ...], ...] | None:
    """Collections of texts in a collection; None where anything else stands in it."""
    rows = [_listed(each) or [None] for each in _listed(given) or ()]
    if _listed(given) is None or not all(isinstance(text, str) for row in rows for text in row):
        return None
    return tuple(tuple(map(str, row)) for row in rows)


def _listed(given: object) -> list[Any] | None:
    """The entries of a collection, those of a set in order; None if it is none, or has keys."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable) or hasattr(given, "columns"):
        return None
    return sorted(given, key=str) if isinstance(given, AbstractSet) else list(given)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    known = get_type_hints(kind)
    return {each.name: known[each.name] for each in fields(kind)}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)


def _fits(value: object, hint: Any) -> bool:
    if isinstance(value, bool):
        return bool in _alternatives(hint)
    return any(_is_one(value, each) for each in _alternatives(hint))


def _is_one(value: object, hint: Any) -> bool:
    if hint in _KINDS:
        return isinstance(value, _KINDS[hint][0])
    if get_origin(hint) is not Mapping:
        return isinstance(value, get_origin(hint) or hint)
    key, entry = get_args(hint)
    return isinstance(value, Mapping) and all(_fits(own, key) and _fits(each, entry) for own, each in value.items())


def _described(hint: Any) -> str:
    """What a field takes, in words.

    >>> _described(int | str | None), _described(Mapping[str, int]), _described(tuple[str, ...])
    ('a whole number, a text or None', 'a dict from a text to a whole number', 'a tuple')
    """
    *others, last = [_kind_words(each) for each in _alternatives(hint)]
    return f"{', '.join(others)} or {last}" if others else last


def _kind_words(hint: Any) -> str:
    if hint in _KINDS:
        return _KINDS[hint][1]
    kind = get_origin(hint) or hint
    if kind is Mapping:
        key, entry = (_described(each) for each in get_args(hint))
        return f"a dict from {key} to {entry}"
    return {tuple: "a tuple", Sequence: "a list"}.get(kind, kind.__name__)
