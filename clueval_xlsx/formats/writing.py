"""New files in any format: which one a path asks for, what it cannot say, and documents with offsets in their text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.spans import label_list
from clueval_xlsx.exceptions import InputError, OptionError, Problem
from clueval_xlsx.formats.registry import (
    CONVERTED,
    FOLDER_FORMAT,
    METADATA,
    ONE_WORD,
    SCORES,
    TARGET_ENDINGS,
    TOKEN_IDS,
    Format,
    WriteOptions,
)

_Scored = tuple[tuple[int, int, str | None], float | None]


def output_format(target: Path) -> str:
    """The format that a path asks for by its ending."""
    ending = target.suffix.lower()
    if ending in TARGET_ENDINGS:
        return TARGET_ENDINGS[ending]
    if target.is_dir() or not ending:
        return FOLDER_FORMAT
    allowed = f"{', '.join(TARGET_ENDINGS)}, or a folder for {FOLDER_FORMAT}"
    raise OptionError(f"{target}: which format? Give --to {'|'.join(CONVERTED)}, or one of these endings: {allowed}.")


def output_files(
    reading: Reading,
    layers: Mapping[str, pd.DataFrame],
    format_: Format,
    target: Path,
    *,
    sentences: bool | None = None,
) -> dict[Path, bytes]:
    """What is to be written, by path."""
    files: dict[str, bytes] = format_.load().write(reading, layers, WriteOptions(target.name, sentences))
    if not format_.folder and set(files) == {target.name}:
        return {target: files[target.name]}
    if target.is_file():
        raise OptionError(f"{target}: is a file, but {format_.name} needs a folder. Choose another name.")
    if not format_.folder and target.suffix.lower() in {PurePath(name).suffix for name in files}:
        raise OptionError(
            f"{target}: {format_.title} holds one document a file, but there are {len(files)}. Give the name of a "
            "folder, such as OUT without an ending."
        )
    return {target / name: content for name, content in files.items()}


def refuse_labels(layers: Mapping[str, pd.DataFrame], format_: Format, name: str) -> None:
    """Raise with every label that the format cannot hold."""
    problems = []
    for layer, spans in layers.items() if format_.labels else ():
        labels = pd.Series(label_list(spans[layer]), dtype=object).fillna("")
        for label, count in labels.value_counts().items():
            fits = label.split() == [label] if format_.labels == ONE_WORD else label != ""
            if fits or (label == "" and format_.columns):
                continue
            has = f"{count} span{'s have' if count != 1 else ' has'} {repr(label) if label else 'no label'}"
            remedy = "Rename the label first, or convert to another format"
            cannot = f"{has}, which {format_.title} cannot hold"
            problems.append(Problem(f"{name}, layer {layer}", cannot, format_.labels, remedy))
    if problems:
        raise InputError(problems=problems)


def left_behind(reading: Reading, format_: Format) -> list[str]:
    """What the source says besides spans and labels that a file of the format will not say; one sentence each."""
    if format_.holds is None:
        return []
    corpus, annotation = reading.corpus, reading.annotation
    documents = corpus.documents
    keys = dict.fromkeys(key for index in range(len(documents)) for key in documents.attributes(index) if key != "id")
    lost = []
    if SCORES not in format_.holds and annotation.scores is not None and not annotation.scores.empty:
        lost.append(f"{len(annotation.scores)} scores")
    if METADATA not in format_.holds and keys:
        lost.append(f"metadata of documents ({', '.join(keys)})")
    if TOKEN_IDS not in format_.holds and corpus.token_ids is not None:
        lost.append(f"{len(corpus)} token IDs")
    if annotation.attributes is not None:
        names = [str(name) for name in annotation.attributes.columns if name not in {"start", "end"}]
        lost += [f"what annotations say as {', '.join(names)}"] if names else []
    if len(corpus.columns):
        lost.append(f"the columns {', '.join(corpus.columns)}")
    return [f"{format_.title} cannot say, and the new file will not have: {what}" for what in lost]


@dataclass(frozen=True, eq=False)
class AnnotatedDocument:
    """A document and its annotations: (start, end, label), sorted, code points, end exclusive."""

    document: TextDocument
    spans: list[tuple[int, int, str | None]]
    scores: Mapping[tuple[int, int], float] = field(default_factory=dict)  # by offsets, where somebody gave one

    @property
    def scored_spans(self) -> list[_Scored]:
        """The annotations, each with its score."""
        return [(span, self.scores.get(span[:2])) for span in self.spans]


def annotated_documents(reading: Reading, layers: Mapping[str, pd.DataFrame], what: str) -> list[AnnotatedDocument]:
    """The documents of a reading with the spans of its only layer: its own text, or tokens joined as people write."""
    if len(layers) != 1:
        raise OptionError(
            f"{what} holds one label for each span, but there are {len(layers)} layers: {', '.join(layers)}. "
            "Choose one with --layer, or merge them first and choose one."
        )
    layer, spans = next(iter(layers.items()))
    text = reading.running_text

    def rows(frame: pd.DataFrame, values: list[Any]) -> list[tuple[int, int, int, Any]]:
        ranges = text.ranges(frame)
        return list(zip(ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist(), values, strict=True))

    scores: list[dict[tuple[int, int], float]] = [{} for _ in text.documents]
    scored = reading.annotation.scores
    for number, start, end, score in [] if scored is None else rows(scored, scored["score"].tolist()):
        scores[number][start, end] = score
    documents = [AnnotatedDocument(document, [], own) for document, own in zip(text.documents, scores, strict=True)]
    for number, start, end, label in rows(spans, label_list(spans[layer])):
        documents[number].spans.append((start, end, label))
    return documents


def one_word(label: str | None, what: str) -> str:
    """A label that can stand in a format whose fields are separated by white space."""
    if label is None or not label or label.split() != [label]:
        raise InputError(
            f"a span has the label {label!r}, which {what} cannot hold. Allowed: one word. Rename the label first."
        )
    return label
