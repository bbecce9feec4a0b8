"""JSON content as typed values: what fits is built, what does not is told by place, content and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from clueval_xlsx.files.typed_values import build, plain


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Pane:
    colour: Colour | None = None
    size: int = 1
    at: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Window:
    name: str
    panes: tuple[Pane, ...] = ()
    by_side: Mapping[str, Pane] = field(default_factory=dict)


def test_values_are_built_and_unknown_keys_are_passed_over():
    content = {"name": "w", "panes": [{"colour": "red", "at": [1, 2]}], "by_side": {"left": {"size": 3}}, "new": 1}
    built = build(Window, content)
    assert built == Window("w", (Pane(Colour.RED, 1, (1, 2)),), {"left": Pane(size=3)})
    assert build(Window, plain(built)) == built


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"name": 5}, "name is 5. Allowed: str"),
        ({}, "Object missing required field `name`"),
        ([], "the content is []. Allowed: object"),
        ({"name": "w", "panes": [{}, {"colour": "green"}]}, "panes[1].colour is 'green'. Allowed: red, blue"),
        ({"name": "w", "panes": [{"colour": 4}]}, "panes[0].colour is 4. Allowed: str | null"),
        ({"name": "w", "panes": [{"size": True}]}, "panes[0].size is True. Allowed: int"),
        ({"name": "w", "panes": [{"at": [1]}]}, "panes[0].at is [1]. Allowed: array of length 2"),
        ({"name": "w", "by_side": {"x": {"size": ""}}}, "by_side[...].size is of the wrong kind. Allowed: int"),
        ({"name": "x" * 70, "panes": "y" * 200}, f"panes is '{'y' * 59}. Allowed: array"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_by_its_place_and_what_is_allowed(content, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        build(Window, content)
    assert str(error.value) == message
