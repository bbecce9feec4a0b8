"""The reference of the Python names, made from their docstrings: `python -m tests.support.api_page` writes it."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from functools import cached_property

import clueval_xlsx
from clueval_xlsx.options.declaration import settings_of
from tests.support.folders import ROOT

PAGE = ROOT / "clueval_xlsx" / "manual" / "api.md"
_TITLE = """# The Python names, one by one

What `help()` says of every public name of `clueval_xlsx`. The examples run. `clueval-xlsx help python` has the tour.
"""


def page() -> str:
    """The page: functions first, then what goes in and comes out of them."""
    names = [name for name in clueval_xlsx.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(clueval_xlsx, name))]
    classes = [name for name in names if name not in functions]
    return "\n".join([_TITLE, *map(_function, functions), *map(_class, classes)])


def _function(name: str) -> str:
    made = getattr(clueval_xlsx, name)
    signature = inspect.signature(made)
    parameters = signature.parameters.values()
    shown = [_parameter(each) for each in parameters]
    starred = next((place for place, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY), None)
    if starred is not None:
        shown.insert(starred, "*")
    listed = "".join(f"    {each},\n" for each in shown)
    return f"## {name}\n\n```\n{name}(\n{listed}) -> {signature.return_annotation}\n```\n\n{_documented(made)}\n"


def _parameter(parameter: inspect.Parameter) -> str:
    typed = f"{parameter.name}: {parameter.annotation}"
    return typed if parameter.default is parameter.empty else f"{typed} = {_value(parameter.default)}"


def _class(name: str) -> str:
    made = getattr(clueval_xlsx, name)
    lines = [f"## {name}", "", _documented(made), ""]
    if name.endswith(("Options", "Rules")):
        lines += ["| field | takes | default |", "|---|---|---|"]
        lines += [
            f"| `{each.name}` | {each.allowed}{each.several(False)} | `{each.default!r}` |"
            for each in settings_of(made)
        ]
    else:
        found = [
            (key, inspect.getdoc(value) or "")
            for kind in reversed(made.__mro__)
            for key, value in vars(kind).items()
            if isinstance(value, (property, cached_property)) and not key.startswith("_")
        ]
        lines += ["| attribute | what |", "|---|---|"]
        lines += [f"| `{key}` | {text.splitlines()[0]} |" for key, text in dict(found).items() if text]
    return "\n".join([*lines, ""])


def _value(value: object) -> str:
    return repr(value.value) if isinstance(value, Enum) else repr(value)


def _documented(made: object) -> str:
    """A docstring with its examples as code; a paragraph is one line, as everywhere in the manual."""
    parts = re.split(r"\n\s*\n", inspect.getdoc(made) or "")
    shown = []
    for part in parts:
        if part.startswith(">>> "):
            shown.append(f"```\n{part}\n```")
        elif re.match(r"`\S+`.*  +\S", part):
            shown.append("\n".join(f"- {re.sub('  +', ' – ', line)}" for line in part.splitlines()))
        else:
            shown.append(" ".join(part.split()))
    return "\n\n".join(shown)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
