"""What options take (lists, pairs such as NAME=COLUMN), and how several reach a command: as one value."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


def group(name: str, build: Callable[..., object], options: Sequence[Decorator]) -> Decorator:
    """Options that reach a command as one value, under this name: what `build` makes of everything they were given."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def grouped(*arguments: Any, **given: Any) -> Any:
            value = build(**{key: given.pop(key) for key in keys})
            return command(*arguments, **{name: value}, **given)

        known = len(getattr(grouped, "__click_params__", ()))
        for option in reversed(options):
            option(grouped)
        keys = [param.name for param in grouped.__click_params__[known:]]  # type: ignore[attr-defined]
        return grouped

    return decorate


def was_chosen(name: str) -> bool:
    """Whether somebody chose the value of this option, on the command line or in a config."""
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source is not ParameterSource.DEFAULT


class FileName(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """The name of a file or folder, or `-`, as it was typed: whoever opens it says what is wrong with it."""

    name = "FILE"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The shell knows its files best."""
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


class NumberRange(click.FloatRange):
    """Numbers of a range; what is no number is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, as click takes it from a range."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class ListOption(click.Option):
    """An option with several values: separated by commas, or the option repeated."""

    def __init__(self, *names: Any, **settings: Any) -> None:
        settings["multiple"] = True
        super().__init__(*names, **settings)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Every part of every value is one value."""
        parts = None if value is None else [part for item in value for part in split_list(item)]
        return super().type_cast_value(ctx, parts)

    def make_metavar(self, *args: Any, **settings: Any) -> str:
        """What help shows for the value: that there may be more of them."""
        return f"{super().make_metavar(*args, **settings)},…"


def split_list(item: Any) -> list[Any]:
    """The parts of a list such as `anna, ben`; whatever is no text, and a text of nothing, stays as it is.

    >>> split_list("anna, ben,"), split_list(0.9), split_list("")
    (['anna', 'ben'], [0.9], [''])
    """
    if not isinstance(item, str):
        return [item]
    return [part.strip() for part in item.split(",") if part.strip()] or [item]


class LayerField(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """`NAME=COLUMN` with a column counted from 1, or in formats without columns `NAME=FIELD` or `NAME`."""

    name = "NAME[=COLUMN]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int | str | None]:
        """Split the pair; a number is a column, anything else a field."""
        if isinstance(value, tuple):
            return value
        name, equals, field = (part.strip() for part in str(value).partition("="))
        if not name or (equals and not field) or (field.isdigit() and int(field) < 1):
            self.fail(
                f"{value!r} is not NAME=COLUMN with a column counted from 1, such as risk=3, nor NAME=FIELD or NAME.",
                param,
                ctx,
            )
        if name.isdigit() and not equals:
            self.fail(
                f"{value!r} is a column without a name for its layer. Give NAME=COLUMN, such as span={name}.",
                param,
                ctx,
            )
        if name in {"start", "end"}:
            self.fail(f"{name!r} cannot be the name of a layer: span tables use it for positions.", param, ctx)
        return name, int(field) if field.isascii() and field.isdigit() else field or None


class TokenColumn(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A column by its number, counted from 1, or by its name."""

    name = "COLUMN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        """A number is a column's number, anything else its name."""
        text = str(value).strip()
        if not text or text == "0":
            self.fail(f"{value!r} is no column counted from 1, nor the name of one.", param, ctx)
        return int(text) if text.isascii() and text.isdigit() else text


class NamedColumn(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """`NAME=COLUMN`, columns counted from 1."""

    name = "NAME=COLUMN"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Split the pair and check the number."""
        if isinstance(value, tuple):
            return value
        name, equals, number = str(value).partition("=")
        if not equals or not name.strip() or not number.strip().isdigit() or int(number) < 1:
            self.fail(f"{value!r} is not NAME=COLUMN with a column counted from 1, such as risk=3.", param, ctx)
        if name.strip() in {"start", "end"}:
            self.fail(f"{name.strip()!r} cannot be the name of a layer: span tables use it for positions.", param, ctx)
        return name.strip(), int(number)


class KeyValue(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """`KEY=VALUE`, both of them text; an empty value only where it can mean something."""

    name = "KEY=VALUE"

    def __init__(self, example: str, *, may_be_empty: bool = False) -> None:
        self.example = example
        self.may_be_empty = may_be_empty

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split the pair."""
        if isinstance(value, tuple):
            return value
        key, equals, text = str(value).partition("=")
        if not equals or not key.strip() or not (text or self.may_be_empty):
            self.fail(f"{value!r} is no pair such as {self.example}.", param, ctx)
        return key.strip(), text


class LabelGroup(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """`LABEL,LABEL,…`, or a list in a config file."""

    name = "LABEL,LABEL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Split the list; one label alone is equivalent to nothing."""
        parts = value if isinstance(value, list | tuple) else str(value).split(",")
        labels = tuple(dict.fromkeys(str(label).strip() for label in parts if str(label).strip()))
        if len(labels) < 2:
            self.fail(f"{value!r} is no group of labels. Give two or more, such as ORG,LOC.", param, ctx)
        return labels
