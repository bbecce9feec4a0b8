"""Frozen dataclasses back from JSON: every value must be of the kind that its field says."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Built = TypeVar("Built")
_SHOWN = 60


def build(kind: type[Built], content: Mapping[str, Any], where: str = "") -> Built:
    """An instance of a dataclass; unknown keys are passed over, a value of another type is a `TypeError`.

    >>> from clueval_xlsx.review.vocabulary import Judgement
    >>> build(Judgement, {"code": "public", "effect": "delete", "sheets": ["FN"], "colour": 3})
    Judgement(code='public', effect='delete', sheets=('FN',), words={})
    >>> build(Judgement, {"code": "public", "effect": ["delete"]}, "judgements")
    Traceback (most recent call last):
    TypeError: judgements.effect is ['delete'], not str
    """
    prefix = f"{where}." if where else ""
    hints = get_type_hints(kind)
    return kind(**{name: _value(content[name], hint, prefix + name) for name, hint in hints.items() if name in content})


def _value(value: Any, hint: Any, where: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin in {Union, types.UnionType}:
        return _one_of(value, arguments, where)
    if is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
        return build(hint, value, where)
    if origin is tuple and isinstance(value, list):
        kinds = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        if len(kinds) == len(value):
            return tuple(_value(item, kind, where) for item, kind in zip(value, kinds, strict=True))
    if origin is Mapping and isinstance(value, dict):
        return {str(key): _value(item, arguments[1], f"{where}.{key}") for key, item in value.items()}
    if isinstance(hint, type):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole if hint is int else (isinstance(value, hint) or (hint is float and whole)):
            return value
    raise TypeError(f"{where} is {_shown(value)}, not {getattr(hint, '__name__', hint)}")


def _one_of(value: Any, hints: tuple[Any, ...], where: str) -> Any:
    for hint in hints:
        try:
            return _value(value, hint, where)
        except TypeError:
            continue
    names = ", ".join("null" if hint is type(None) else getattr(hint, "__name__", str(hint)) for hint in hints)
    raise TypeError(f"{where} is {_shown(value)}. Allowed: {names}")


def _shown(value: Any) -> str:
    try:
        return repr(value)[:_SHOWN]
    except RecursionError:
        return "something nested too deeply"
