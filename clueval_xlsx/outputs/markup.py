"""A page as Markdown, as GitHub reads it, and as LaTeX: headings, and floats with plain rules; no package is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clueval_xlsx.pages.page import Cell, Marked, Page, Table, Text, TextStyle, Tone, plain, signed, written

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_MARKS = {Tone.STRUCK: "~~", Tone.INSERTED: "**", Tone.KEPT: "_", Tone.ALARM: "**"}
_STYLES = {TextStyle.HEADLINE: "**{}**", TextStyle.STEPS: "- {}"}
_SPECIAL = re.compile(r"([\\|`*_<>\[\]~#])")
_IN_LATEX = {
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
_TO_ESCAPE = re.compile("|".join(re.escape(character) for character in _IN_LATEX))
_LIGATURE = re.compile("(?<=[-–])[-–]|(?<=')'|(?<=,),")
_LONG = "p{6cm}"  # a column of sentences


def markdown(page: Page) -> str:
    """The whole page."""
    blocks = [f"# {_marked(page.title)}", *map(_marked, page.subtitle)]
    for chapter in page.chapters:
        if chapter.title != page.title:
            count = f" ({chapter.count})" if chapter.count else ""
            blocks.append(f"## {_marked(chapter.title)}{count}")
        for section in written(chapter):
            if section.title not in {"", chapter.title}:
                blocks.append(f"### {_marked(section.title)}")
            blocks += _markdown_of(section)
    return "\n\n".join(blocks) + "\n"


def _markdown_of(section: Text | Table) -> Iterator[str]:
    """The blocks of a section."""
    if isinstance(section, Text):
        style = _STYLES.get(section.style, "{}")
        code = section.style is TextStyle.CODE
        lines = [_code(plain(line)) if code else style.format(_marked(line)) for line in section.lines]
        yield ("\n" if section.style is TextStyle.STEPS else "\n\n").join(lines)
        return
    if not section.rows:
        yield _marked(section.empty)
        return
    sides = ["---:" if section.numeric(place) else ":---" for place in range(len(section.columns))]
    lines = [_pipes([column.title for column in section.columns]), f"| {' | '.join(sides)} |"]
    yield "\n".join([*lines, *(_pipes(row.cells) for row in section.rows)])
    yield from map(_marked, section.notes)


def _pipes(cells: list[str] | tuple[Cell, ...]) -> str:
    return f"| {' | '.join(map(_marked, cells))} |"


def _marked(cell: Cell) -> str:
    """A cell with its marks; whatever stands in it stays text.

    >>> _marked((Marked("*a* "), Marked("b", Tone.STRUCK)))
    '\\\\*a\\\\* ~~b~~'
    """
    runs = cell if isinstance(cell, tuple) else (Marked(plain(cell)),)
    return "".join(_escaped(run.text).join([_MARKS.get(run.tone, "")] * 2) for run in runs)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _one_line(text))


def _code(text: str) -> str:
    return f"`{_one_line(text).replace('`', chr(39))}`"


def latex(page: Page) -> str:
    """The whole page; signatures are comments."""
    blocks = [f"% {_one_line(line)}" for line in (page.title, *page.subtitle)]
    for chapter in page.chapters:
        if chapter.title != page.title:
            blocks.append(rf"\section*{{{latex_text(chapter.title)}}}")
        for section in written(chapter):
            blocks += _latex_of(section)
    return "\n\n".join(blocks) + "\n"


def _latex_of(section: Text | Table) -> Iterator[str]:
    """The blocks of a section."""
    if isinstance(section, Text):
        if section.style is TextStyle.CODE:
            yield "\n".join(f"% {_one_line(plain(line))}" for line in section.lines)
            return
        if section.title:
            yield rf"\paragraph{{{latex_text(section.title)}}}"
        lines = [latex_text(line) for line in section.lines]
        if section.style is TextStyle.STEPS:
            lines = [r"\begin{itemize}", *(rf"\item {line}" for line in lines), r"\end{itemize}"]
        yield ("\n" if section.style is TextStyle.STEPS else "\n\n").join(lines)
        return
    if not section.rows:
        yield latex_text(section.empty)
        return
    yield "\n".join(_float(section))


def _float(table: Table) -> Iterator[str]:
    sides = [
        "r" if table.numeric(place) else _LONG if column.long else "l" for place, column in enumerate(table.columns)
    ]
    yield r"\begin{table}"
    yield r"\centering"
    if table.title:
        yield rf"\caption{{{latex_text(table.title)}}}"
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
        yield rf"\par\footnotesize {latex_text(note)}"
    yield r"\end{table}"


def _ampersands(cells: Sequence[Cell]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)


def latex_text(cell: Cell) -> str:
    """A cell as LaTeX prints it, whatever it is.

    >>> latex_text("<A|B>--C"), latex_text("[A]"), latex_text("*")
    ('\\\\textless{}A\\\\textbar{}B\\\\textgreater{}-{}-C', '{}[A]', '{}*')
    """
    text = "".join(run.text for run in signed(cell))
    apart = _LIGATURE.sub("\x00\\g<0>", _one_line(text))
    safe = _TO_ESCAPE.sub(lambda special: _IN_LATEX[special[0]], apart).replace("\x00", "{}")
    # What follows the end of a row in brackets is a distance, and a star is a part of the command.
    return f"{{}}{safe}" if safe.startswith(("[", "*")) else safe
