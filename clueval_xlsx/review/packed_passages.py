"""Unmarked passages in a manifest: places, labels and counts, no word of the corpus, so that any version finds them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from clueval_xlsx.cases.unmarked import UnmarkedPassages
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, layers_of, positions
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.review.packing import DAMAGED, pack, unpack

_COUNTS = ("here", "marked", "unmarked")


def pack_passages(passages: UnmarkedPassages | None) -> str:
    """Passages as compressed text; nothing where nobody asked for them."""
    if passages is None:
        return ""
    spans = passages.spans
    start, end = positions(spans)
    names = {layer: label_vocabulary([spans], layer) for layer in layers_of(spans)}
    return pack(
        {
            "start": start.tolist(),
            "end": end.tolist(),
            "labels": {layer: [label_codes(spans, layer, own).tolist(), own] for layer, own in names.items()},
            **{name: getattr(passages, name).tolist() for name in _COUNTS},
            "chance": [round(chance, 6) for chance in passages.chance.tolist()],
            "least": passages.least,
        }
    )


def unpack_passages(
    texts: Iterable[str], layers: Sequence[str], tokens: int, where: str = "manifest"
) -> UnmarkedPassages | None:
    """The passages of all workbooks of a run together, each once; None where no workbook lists any."""
    given = [text for text in dict.fromkeys(texts) if text]
    if not given:
        return None
    try:
        found = [_passages(text, layers, tokens) for text in given]
    except DAMAGED as error:
        raise InputError(
            f"{where}: the list of unmarked passages in the manifest is damaged ({error}). Ask for the workbook again."
        ) from None
    return found[0] if len(found) == 1 else _together(found)


def _passages(text: str, layers: Sequence[str], tokens: int) -> UnmarkedPassages:
    content = unpack(text)
    columns = {name: np.array(content[name], dtype=np.int64).reshape(-1) for name in ("start", "end", *_COUNTS)}
    chance = np.array(content["chance"], dtype=float).reshape(-1)
    labels = {}
    for layer in layers:
        codes, names = content["labels"][layer]
        categories = pd.Index([str(name) for name in names], dtype=object)
        labels[layer] = pd.Categorical.from_codes(codes, categories=categories)
    if len({*map(len, columns.values()), *map(len, labels.values()), len(chance)}) > 1:
        raise ValueError("its columns differ in length")
    start, end = columns["start"], columns["end"]
    if (start < 0).any() or (end < start).any() or (end >= tokens).any() or (start[1:] <= end[:-1]).any():
        raise ValueError("a place lies outside of the text, or two overlap")
    spans = pd.DataFrame({"start": start, "end": end, **labels})
    here, marked, unmarked = (columns[name] for name in _COUNTS)
    return UnmarkedPassages(spans, here, marked, unmarked, chance, float(content["least"]))


def _together(found: Sequence[UnmarkedPassages]) -> UnmarkedPassages:
    """Passages of workbooks that were made with different settings; where two overlap, the first counts."""
    rows = pd.concat(
        [
            each.spans.astype(dict.fromkeys(layers_of(each.spans), object)).assign(
                **{f" {name}": getattr(each, name) for name in (*_COUNTS, "chance")}, order=number
            )
            for number, each in enumerate(found)
        ],
        ignore_index=True,
    ).sort_values(["start", "order"], kind="stable", ignore_index=True)
    reach = np.maximum.accumulate(rows["end"].to_numpy(np.int64))
    free = np.concatenate([[True], rows["start"].to_numpy(np.int64)[1:] > reach[:-1]])
    rows = rows[free].reset_index(drop=True)
    layers = layers_of(found[0].spans)
    spans = rows[["start", "end"]].assign(**{layer: pd.Categorical(rows[layer]) for layer in layers})
    here, marked, unmarked = (rows[f" {name}"].to_numpy(np.int64) for name in _COUNTS)
    least = min(each.least for each in found)
    return UnmarkedPassages(spans, here, marked, unmarked, rows[" chance"].to_numpy(float), least)
