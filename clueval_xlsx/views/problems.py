"""Problems of an input by their cause: one line for each, with a count and the first places."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from clueval_xlsx.exceptions import Problem

_PLACES = 3
_PARTICULAR = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+(?:[.,]\d+)*|\([^()]*\)")


def lines_by_cause(problems: Iterable[Problem], unlisted: int = 0) -> list[str]:
    """One line for each cause, in the order in which the causes come first.

    Problems have one cause if they differ in words, numbers and places only. `unlisted` are more of these kinds.

    >>> print(*lines_by_cause([Problem("a:1", "'X' is no tag"), Problem("a:7", "'Y' is no tag")]))
    2 times: 'X' is no tag. Places: a:1, a:7.
    """
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((_cause(problem.found), _cause(problem.allowed), _cause(problem.remedy)), []).append(problem)
    if len(groups) == 1:
        return [_line(group, len(group) + unlisted) for group in groups.values()]
    more = [f"And {unlisted} more problems of these kinds."] if unlisted else []
    return [_line(group, len(group)) for group in groups.values()] + more


def _cause(sentence: str) -> str:
    return _PARTICULAR.sub("…", sentence)


def _line(group: list[Problem], count: int) -> str:
    first = group[0]
    if count == 1:
        return str(first)
    where = ", ".join(problem.where for problem in group[:_PLACES]) + (", …" if count > _PLACES else "")
    sentence = str(replace(first, where=f"{count} times"))
    return f"{sentence} {'First places' if count > _PLACES else 'Places'}: {where}."
