"""What a format cannot say of what was read: labels that it refuses, and what is left behind in a conversion."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.exceptions import InputError, Problem
from clueval_xlsx.formats.registry import METADATA, SCORES, TOKEN_IDS, Format


def refuse_labels(layers: Mapping[str, pd.DataFrame], format_: Format, name: str) -> None:
    """Raise with every label that the format cannot hold."""
    if not format_.one_word and not format_.labelled:
        return
    problems = []
    for layer, spans in layers.items():
        labels = pd.Series(label_list(spans[layer]), dtype=object)
        for label, count in labels.fillna("").value_counts().items():
            fits = str(label).split() == [label] if format_.one_word else label != ""
            if fits or (label == "" and format_.columns):
                continue
            shown = repr(label) if label else "no label"
            problems.append(
                Problem(
                    f"{name}, layer {layer}",
                    f"{count} span{'s have' if count != 1 else ' has'} {shown}, which {format_.title} cannot hold",
                    "a label of one word" if format_.one_word else "a label",
                    "Rename the label first, or convert to another format",
                )
            )
    if problems:
        raise InputError(problems=problems)


def left_behind(reading: Reading, format_: Format) -> list[str]:
    """What the source says besides spans and labels that a file of the format will not say; one sentence each."""
    if format_.holds is None:
        return []
    corpus = reading.corpus
    scores, attributes = reading.annotation.scores, reading.annotation.attributes
    found = {
        SCORES: "" if scores is None or scores.empty else f"{len(scores)} scores",
        METADATA: _metadata(reading),
        TOKEN_IDS: "" if corpus.token_ids is None else f"{len(corpus)} token IDs",
    }
    lost = [what for kind, what in found.items() if what and kind not in format_.holds]
    if attributes is not None:
        names = [name for name in attributes.columns if name not in {"start", "end"}]
        lost += [f"what annotations say as {', '.join(map(str, names))}"] if names else []
    if len(corpus.columns):
        lost.append(f"the columns {', '.join(corpus.columns)}")
    return [f"{format_.title} cannot say, and the new file will not have: {what}" for what in lost]


def _metadata(reading: Reading) -> str:
    documents = reading.corpus.documents
    keys = dict.fromkeys(key for index in range(len(documents)) for key in documents.attributes(index) if key != "id")
    return f"metadata of documents ({', '.join(keys)})" if keys else ""
