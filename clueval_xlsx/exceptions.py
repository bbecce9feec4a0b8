"""What can go wrong, as exceptions; the command line turns them into messages and exit codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_LONGEST = 2000  # characters of a message; a line of a file can be as long as the file
_END = 600


def readable(message: str) -> str:
    """A message that people can read: of a very long one the beginning and the end, which says what to do.

    >>> readable("a.vrt:1: found " + "x" * 9000 + ". Mend the line.").endswith("xxx. Mend the line.")
    True
    """
    if len(message) <= _LONGEST:
        return message
    return f"{message[: _LONGEST - _END]} […] {message[-_END:]}"


def counted(number: int, what: str) -> str:
    """A number with what it counts.

    >>> counted(1, "case"), counted(2, "case")
    ('1 case', '2 cases')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence that names the nearest of the known names, case aside, with a space before it; or nothing.

    >>> did_you_mean("PERSN", ["ORG", "PERSON"]), did_you_mean("person", ["PERSON"]), did_you_mean("X", ["PERSON"])
    (" Did you mean 'PERSON'?", " Did you mean 'PERSON'?", '')
    """
    close = nearest(name, known)
    return f" Did you mean {close!r}?" if close else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one may mean, case aside; None where nothing is like it."""
    import difflib

    spelt = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(name.casefold(), spelt, n=1)
    return spelt[close[0]] if close else None


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input: where it is, what was found, what is allowed, what to do."""

    where: str
    found: str
    allowed: str = ""
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """All but where it is."""
        sentences = [self.found, f"Allowed: {self.allowed}" if self.allowed else "", self.remedy]
        return " ".join(sentence.rstrip(".") + "." for sentence in sentences if sentence)

    def __str__(self) -> str:
        return readable(f"{self.where}: {self.sentence}")


@dataclass(frozen=True)
class RowProblem(Problem):
    """A problem of a workbook row.

    `reason` is a key of the language files (`unusable.KEY`), `value` what was found, `case` the ID of the case.
    """

    reason: str = ""
    value: str = ""
    case: str = ""


class CluevalError(Exception):
    """Base of everything the package raises on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(readable(message))


class InputError(CluevalError):
    """The data are wrong. `problems` lists what was found, the message shows the first.

    Where there are very many, `unlisted` counts the ones that are not described.
    """

    def __init__(self, message: str = "", problems: Sequence[Problem] = (), unlisted: int = 0) -> None:
        self.problems = tuple(problems)
        self.unlisted = unlisted
        if not message:
            message = str(self.problems[0])
            more = len(self.problems) - 1 + unlisted
            if more:
                message += f" ({more} more: `clueval-xlsx validate` lists them.)"
        super().__init__(message)


class OptionError(CluevalError):
    """The request is wrong: an option that contradicts another or names something that is not there."""


class OutputError(CluevalError):
    """A file could not be written; whatever stood there before is untouched."""


class DetectorError(CluevalError):
    """A detector could not be started, or went wrong in a way that leaves nothing to go on with."""


class ClusterError(DetectorError):
    """A cluster cannot be reached, or has gone; what came back from it before is kept."""
