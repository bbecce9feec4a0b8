"""New WebAnno TSV 3.3 files: a header of the layers, a row for each token, IDs for annotations of several tokens."""

from __future__ import annotations

import numpy as np

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.cas.webanno_cells import NOTHING, NULL, escaped_text, escaped_value
from clueval_xlsx.formats.cas.writer import VALUE, LaidOutDocument
from clueval_xlsx.text.characters import UTF16, from_code_points


def webanno_text(each: LaidOutDocument) -> str:
    """The file of one document."""
    if not each.tokens:
        raise InputError(f"document {each.document.id!r} has no token, which WebAnno TSV cannot hold. Leave it out.")
    lines = ["#FORMAT=WebAnno TSV 3.3", *(f"#T_SP={type_}|{VALUE}" for type_ in each.spans), ""]
    columns = _columns(each)
    places = from_code_points(each.text, UTF16, np.array(each.tokens, dtype=np.int64).reshape(-1)).reshape(-1, 2)
    for number, (first, stop) in enumerate(each.sentences, 1):
        words = each.text[each.tokens[first][0] : each.tokens[stop - 1][1]]
        lines += ["", *(f"#Text={escaped_text(line)}" for line in words.split("\n"))]
        for place in range(first, stop):
            begin, end = each.tokens[place]
            cells = [f"{number}-{place - first + 1}", f"{places[place, 0]}-{places[place, 1]}"]
            cells += [escaped_text(each.text[begin:end]), *(column[place] for column in columns), ""]
            lines.append("\t".join(cells))
    return "\n".join(lines) + "\n"


def _columns(each: LaidOutDocument) -> list[list[str]]:
    """The cells of each layer."""
    starts = {begin: index for index, (begin, _) in enumerate(each.tokens)}
    ends = {end: index for index, (_, end) in enumerate(each.tokens)}
    number = 0
    columns = []
    for spans in each.spans.values():
        cells = [NOTHING] * len(each.tokens)
        for start, end, label in spans:
            first, last = starts[start], ends[end]
            value = NULL if label is None else escaped_value(label)
            if last > first:
                number += 1
                value += f"[{number}]"
            cells[first : last + 1] = [value] * (last + 1 - first)
        columns.append(cells)
    return columns
