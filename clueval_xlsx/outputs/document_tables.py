"""Score tables as Markdown and as LaTeX, for a document."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clueval_xlsx.figures import Figures
from clueval_xlsx.views.scores import (
    WITH_SHARES,
    ScoreTable,
    group_tables,
    label_tables,
    level_sentence,
    level_table,
    scheme_tables,
    score_columns,
)
from clueval_xlsx.views.tables import value_text
from clueval_xlsx.words import Words

_LATEX = {
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
    "\u202f": r"\,",
    "\u2060": "",
    **{character: f"\\{character}" for character in "#$%&_"},
}
_LATEX_SPECIAL = re.compile("|".join(re.escape(character) for character in _LATEX))
_LATEX_LIGATURE = re.compile("(?<=[-–])[-–]|(?<=')'|(?<=,),")
_MARKDOWN_SPECIAL = re.compile(r"([\\|`*_<>\[\]~])")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def markdown_tables(results: Sequence[Figures], words: Words) -> str:
    """All score tables in Markdown (as GitHub reads it), with the signature below."""
    lines = []
    for result in results:
        lines += [_markdown(level_sentence(result.options, words)), ""]
        for table in _tables(result, words):
            titles, rows = _cells(table, words)
            lines += [f"**{_markdown(table.title)}**", ""]
            lines += [_pipes([_markdown(title) for title in titles]), "|:---|" + "---:|" * (len(titles) - 1)]
            lines += [_pipes([_markdown(cell) for cell in row]) for row in rows]
            lines += ["", *(line for note in (table.note, *table.details) if note for line in (_markdown(note), ""))]
        lines += [f"`{_one_line(result.signature).replace('`', chr(39))}`", ""]
    return "\n".join(lines)


def latex_tables(results: Sequence[Figures], words: Words) -> str:
    """All score tables as LaTeX floats with plain rules, the signature in a comment; no package is needed."""
    lines = []
    for result in results:
        lines += [f"% {_one_line(result.signature)}", f"% {_one_line(level_sentence(result.options, words))}", ""]
        for table in _tables(result, words):
            titles, rows = _cells(table, words)
            lines += [r"\begin{table}", r"\centering", rf"\caption{{{_latex(table.title)}}}"]
            lines += [rf"\begin{{tabular}}{{l{'r' * (len(titles) - 1)}}}", r"\hline"]
            lines += [_ampersands(titles), r"\hline", *map(_ampersands, rows), r"\hline"]
            lines += [r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def _tables(result: Figures, words: Words) -> tuple[ScoreTable, ...]:
    found = (level_table(result, words), *label_tables(result, words), *group_tables(result, words))
    return (*found, *scheme_tables(result, words))


def _cells(table: ScoreTable, words: Words) -> tuple[list[str], list[list[str]]]:
    """The headings, and every row as text."""
    columns = score_columns(table, WITH_SHARES, words)
    rows = [
        [row.name, *(value_text(row.values[column.key], column.kind, words) for column in columns)]
        for row in table.rows
    ]
    return [table.first, *(column.title for column in columns)], rows


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text)


def _markdown(text: str) -> str:
    return _MARKDOWN_SPECIAL.sub(r"\\\1", _one_line(text))


def _pipes(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex(text: str) -> str:
    """Text as LaTeX prints it, whatever it is.

    >>> _latex("<A|B>--C"), _latex("[A]"), _latex("*")
    ('\\\\textless{}A\\\\textbar{}B\\\\textgreater{}-{}-C', '{}[A]', '{}*')
    """
    apart = _LATEX_LIGATURE.sub("\x00\\g<0>", _one_line(text))
    safe = _LATEX_SPECIAL.sub(lambda found: _LATEX[found[0]], apart).replace("\x00", "{}")
    # What follows the end of a row in brackets is a distance, and a star is a part of the command.
    return f"{{}}{safe}" if safe.startswith(("[", "*")) else safe


def _ampersands(cells: Sequence[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"
