"""Parts of a workbook gone through by a real XML parser: attributes are parsed, nothing is kept unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.parsers import expat

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.refusals import ASK_AGAIN

_DEEPEST = 200  # elements inside each other; spreadsheets have a dozen

Start = Callable[[str, Mapping[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]


class _Enough(Exception):  # noqa: N818 - no error: somebody has seen what they wanted
    pass


def enough() -> None:
    """Called by a handler: the rest of the part does not matter."""
    raise _Enough


def go_through(content: bytes, where: str, start: Start, end: End | None = None, text: Text | None = None) -> None:
    """Call these for every element and text of a part; names are those that stand there, with their prefixes.

    What is no well-formed XML, is nested without end or declares a document type is refused: parsers that are kinder
    see other cells in it than they show to a check.
    """
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise InputError(f"{where}: found elements nested more than {_DEEPEST} deep. {ASK_AGAIN}")
        start(name, attributes)

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(name)

    def declared(*_: object) -> None:
        raise declaration(where)

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.StartDoctypeDeclHandler = declared
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        parser.Parse(content, True)
    except _Enough:
        return
    except expat.ExpatError as error:
        raise InputError(
            f"{where}: found XML that is not well-formed ({error}). Open the file in Excel or LibreOffice, save it, "
            "and send that."
        ) from None


def declaration(where: str) -> InputError:
    """The refusal of a part that brings entities along."""
    return InputError(
        f"{where}: found a DOCTYPE or ENTITY, which no spreadsheet writes and which can harm. {ASK_AGAIN}"
    )


def local(name: str) -> str:
    """A name without its prefix."""
    return name.rpartition(":")[2]


def whole_number(text: str, most: int) -> int | None:
    """A number as an attribute may give it: digits only, none beyond `most`; None for anything else.

    >>> whole_number("12", 99), whole_number("+12", 99), whole_number("100", 99)
    (12, None, None)
    """
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) > most:
        return None
    return int(text)
