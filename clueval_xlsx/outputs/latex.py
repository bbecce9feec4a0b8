"""A page as LaTeX: headings, and floats with plain rules; no package is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clueval_xlsx.pages.page import Cell, Page, Table, Text, TextStyle, plain, signed, written

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # In LaTeX's own font encoding these are other characters, and `"` may be a command of babel's.
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"{\ttfamily\char34}",
    "`": r"\`{}",
    "–": "--",
    "−": "$-$",
    "→": r"$\rightarrow$",
    "↓": r"$\downarrow$",
    "\u202f": r"\,",
    "\u2060": "",
    **{character: f"\\{character}" for character in "#$%&_"},
}
_TO_ESCAPE = re.compile("|".join(re.escape(character) for character in _SPECIAL))
_LIGATURE = re.compile("(?<=[-–])[-–]|(?<=')'|(?<=,),")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LONG = "p{6cm}"  # a column of sentences


def latex(page: Page) -> str:
    """The whole page; signatures are comments."""
    blocks = [f"% {_one_line(line)}" for line in (page.title, *page.subtitle)]
    for chapter in page.chapters:
        if chapter.title != page.title:
            blocks.append(rf"\section*{{{escaped(chapter.title)}}}")
        for section in written(chapter):
            blocks += _laid_out(section)
    return "\n\n".join(blocks) + "\n"


def _laid_out(section: Text | Table) -> Iterator[str]:
    """The blocks of a section."""
    if isinstance(section, Text):
        if section.style is TextStyle.CODE:
            yield "\n".join(f"% {_one_line(plain(line))}" for line in section.lines)
            return
        if section.title:
            yield rf"\paragraph{{{escaped(section.title)}}}"
        lines = [escaped(line) for line in section.lines]
        if section.style is TextStyle.STEPS:
            lines = [r"\begin{itemize}", *(rf"\item {line}" for line in lines), r"\end{itemize}"]
        yield ("\n" if section.style is TextStyle.STEPS else "\n\n").join(lines)
        return
    if not section.rows:
        yield escaped(section.empty)
        return
    yield "\n".join(_float(section))


def _float(table: Table) -> Iterator[str]:
    sides = [
        "r" if table.numeric(place) else _LONG if column.long else "l" for place, column in enumerate(table.columns)
    ]
    yield r"\begin{table}"
    yield r"\centering"
    if table.title:
        yield rf"\caption{{{escaped(table.title)}}}"
    yield rf"\begin{{tabular}}{{{''.join(sides)}}}"
    yield r"\hline"
    if any(column.title for column in table.columns):
        yield _ampersands([column.title for column in table.columns])
        yield r"\hline"
    for row in table.rows:
        yield _ampersands(row.cells)
    yield r"\hline"
    yield r"\end{tabular}"
    for note in table.notes:
        yield rf"\par\footnotesize {escaped(note)}"
    yield r"\end{table}"


def _ampersands(cells: Sequence[Cell]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)


def escaped(cell: Cell) -> str:
    """A cell as LaTeX prints it, whatever it is.

    >>> escaped("<A|B>--C"), escaped("[A]"), escaped("*")
    ('\\\\textless{}A\\\\textbar{}B\\\\textgreater{}-{}-C', '{}[A]', '{}*')
    """
    text = "".join(run.text for run in signed(cell))
    apart = _LIGATURE.sub("\x00\\g<0>", _one_line(text))
    safe = _TO_ESCAPE.sub(lambda special: _SPECIAL[special[0]], apart).replace("\x00", "{}")
    # What follows the end of a row in brackets is a distance, and a star is a part of the command.
    return f"{{}}{safe}" if safe.startswith(("[", "*")) else safe
