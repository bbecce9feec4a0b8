"""A page as Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clueval_xlsx.pages.page import Cell, Marked, Page, Table, Text, TextStyle, Tone, plain, written

_MARKS = {Tone.STRUCK: "~~", Tone.INSERTED: "**", Tone.KEPT: "_", Tone.ALARM: "**"}
_STYLES = {TextStyle.HEADLINE: "**{}**", TextStyle.STEPS: "- {}"}
_SPECIAL = re.compile(r"([\\|`*_<>\[\]~#])")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


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
            blocks += _laid_out(section)
    return "\n\n".join(blocks) + "\n"


def _laid_out(section: Text | Table) -> Iterator[str]:
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
    return _SPECIAL.sub(r"\\\1", _BREAKS.sub(" ", text))


def _code(text: str) -> str:
    return f"`{_BREAKS.sub(' ', text).replace('`', chr(39))}`"
