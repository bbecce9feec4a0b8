"""The confusion matrix as one HTML page: a cell says what it counts and lists the spans behind it."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from clueval_xlsx.cases.contexts import emoji_pieces
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.resources import resource_folder
from clueval_xlsx.scoring.confusion import NOTHING, confusion_members
from clueval_xlsx.text.strings import BoolArray
from clueval_xlsx.words import Words

MOST_LISTED = 200  # spans of one cell; more would make a large page and no better reading
_SHADES = 9


def confusion_page(evaluation: Evaluation, language: str = "en") -> str:
    """The matrices of all layers; self-contained, nothing is loaded, only its own script may run."""
    words = Words(language)
    environment = _environment()
    style, script = (_part(name) for name in ("style.css", "script.js"))
    layers = [_Layer(evaluation, layer, words) for layer in evaluation.pair.layers]
    return environment.get_template("page.html").render(
        words=words,
        language=language,
        style=style,
        script=script,
        policy=(
            f"default-src 'none'; style-src {_fingerprint(style)}; script-src {_fingerprint(script)}; "
            "base-uri 'none'; form-action 'none'"
        ),
        layers=[layer.shown() for layer in layers],
        data={
            "layers": [layer.data() for layer in layers],
            "words": {key: words[f"matrix.{key}"] for key in _SCRIPT_WORDS},
        },
        sources=[side.source.name for side in (evaluation.pair.gold, evaluation.pair.pred)],
        signature=evaluation.signature,
    )


_SCRIPT_WORDS = ("cell", "empty", "shown", "document", "reference", "model", "case", "context")


class _Layer:
    """The matrix of one layer and the spans behind its cells."""

    def __init__(self, evaluation: Evaluation, layer: str, words: Words) -> None:
        self.evaluation, self.layer, self.words = evaluation, layer, words
        self.gold, self.pred = evaluation.pair.gold.spans, evaluation.pair.pred.spans
        self.names, self.members = confusion_members(*evaluation.strict.sides, layer)
        self.counts = evaluation.confusion(layer).to_numpy()
        last = len(self.names) - 1
        self.row_names = [
            words["confusion.no_gold"] if index == last else name for index, name in enumerate(self.names)
        ]
        self.column_names = [
            words["confusion.no_pred"] if index == last else name for index, name in enumerate(self.names)
        ]

    def shown(self) -> dict[str, Any]:
        """What the page draws: rows of cells, each with its count, its shade and its words."""
        rows, columns = self.counts.sum(axis=1), self.counts.sum(axis=0)
        table = []
        for row, row_name in enumerate(self.row_names):
            cells = []
            for column, column_name in enumerate(self.column_names):
                count = int(self.counts[row, column])
                shares = (_share(count, int(rows[row])), _share(count, int(columns[column])))
                where = self.words("matrix.cell", gold=row_name, pred=column_name)
                amounts = self.words("matrix.share", count=count, row=shares[0], column=shares[1])
                cells.append(
                    {
                        "count": count,
                        "shade": -(-_SHADES * count // int(rows[row])) if count else 0,
                        "words": f"{where}: {amounts}",
                        "agrees": row == column and self.names[row] != NOTHING,
                    }
                )
            table.append({"name": row_name, "cells": cells, "total": int(rows[row])})
        return {
            "name": self.layer,
            "columns": self.column_names,
            "rows": table,
            "totals": columns.tolist(),
            "total": int(rows.sum()),
        }

    def data(self) -> dict[str, Any]:
        """What the script lists: for each cell its first spans, as [document, reference, model, case, context]."""
        listed = self.members.groupby(["row", "column"], sort=True).head(MOST_LISTED)
        listed = listed.sort_values(["row", "column"], kind="stable")
        corpus = self.evaluation.pair.corpus
        surfaces, starts, cases = [], [], []
        for spans, rows, table in zip(
            (self.gold, self.pred), (listed["gold"], listed["pred"]), self.evaluation.cases, strict=True
        ):
            row = rows.to_numpy(np.int64)
            there = row >= 0
            start, end = (column[row[there]] for column in positions(spans))
            surfaces.append(_spread(corpus.texts(start, end), there, ""))
            starts.append(_spread(start.tolist(), there, -1))
            number = {own: index for index, own in enumerate(table["row"].tolist())}
            cases.append([number.get(own, -1) for own in row.tolist()])
        places = np.array([gold if gold >= 0 else pred for gold, pred in zip(*starts, strict=True)], dtype=np.int64)
        documents = [corpus.doc_ids[index] for index in corpus.document_of(places).tolist()]
        cells: dict[str, list[Any]] = defaultdict(list)
        keys = zip(listed["row"].tolist(), listed["column"].tolist(), strict=True)
        for (row, column), *line, fn, fp in zip(keys, documents, *surfaces, *cases, strict=True):
            cells[f"{row}-{column}"].append([*line, *self._case(fn, fp)])
        return {"rows": self.row_names, "columns": self.column_names, "cells": cells, "counts": self.counts.tolist()}

    def _case(self, fn: int, fp: int) -> tuple[str, list[Any]]:
        """The ID and the context of the case that a span is, given its row among the FN or the FP cases."""
        for table, row in zip(self.evaluation.cases, (fn, fp), strict=True):
            if row >= 0:
                return table["case_id"].iloc[row], [list(piece) for piece in emoji_pieces(table["segments"].iloc[row])]
        return "", []


def _spread(values: Sequence[Any], there: BoolArray, missing: Any) -> list[Any]:
    """Values in their places, and something else where there is none."""
    left = iter(values)
    return [next(left) if one else missing for one in there.tolist()]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


def _fingerprint(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode('utf-8')).digest()).decode('ascii')}'"


@cache
def _part(name: str) -> str:
    return (resource_folder("templates") / "confusion" / name).read_text("utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(resource_folder("templates") / "confusion"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
