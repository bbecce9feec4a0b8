"""Files that are counted together: which they are, and what a batch of them comes to.

Of a batch nothing is kept but sums, and the rows of its documents as they are written.
"""

from __future__ import annotations

import glob
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.label_rules import Alignment
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.tags import OpeningCounts
from clueval_xlsx.evaluation import Evaluation, evaluate_each, evaluation_parts
from clueval_xlsx.exceptions import CluevalError, OptionError
from clueval_xlsx.figures import InputFacts
from clueval_xlsx.formats.loading import Content, FileOfFolder, list_files, read_files
from clueval_xlsx.formats.registry import PRED
from clueval_xlsx.formats.stored import stem_of
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.scoring.counts import DOCUMENT, Counts, count
from clueval_xlsx.scoring.scores import score_table
from clueval_xlsx.text.visible import TextDifferences

MOST_FILES = 256  # in a batch
_MOST_BYTES = 1 << 24
NO_ID = "\ufffe"  # a document without an ID, until it is known which one in the corpus it is

FilePair = tuple[FileOfFolder, FileOfFolder]
Listing = Callable[[pd.DataFrame], Sequence[bytes]]


@dataclass(frozen=True)
class CorpusRequest:
    """What is done with every batch. `listing` writes score rows; without it nobody wants those of documents."""

    gold: ReadOptions
    pred: ReadOptions
    options: Options
    merged: bool = True
    strict_tags: bool = False
    align_text: bool = False
    listing: Listing | None = None


@dataclass(eq=False)
class PartCounts:
    """What was counted of that which is evaluated by itself: all layers, or one. Batches add up."""

    inputs: InputFacts
    options: Options
    counts: Counts
    presidio: Counts
    confusion: Counter[tuple[str, str]] | None
    alignment: Alignment

    def add(self, other: PartCounts) -> None:
        """Add what another batch has counted, which is not used afterwards."""
        self.inputs = _added_inputs(self.inputs, other.inputs)
        self.counts.add(other.counts)
        self.presidio.add(other.presidio)
        if self.confusion is not None and other.confusion is not None:
            self.confusion.update(other.confusion)
        self.alignment += other.alignment


def _added_inputs(one: InputFacts, other: InputFacts) -> InputFacts:
    sides = [
        replace(mine, spans=mine.spans + theirs.spans, dropped=mine.dropped + theirs.dropped)
        for mine, theirs in ((one.gold, other.gold), (one.pred, other.pred))
    ]
    return replace(
        one, gold=sides[0], pred=sides[1], tokens=one.tokens + other.tokens, align=max(one.align, other.align)
    )


@dataclass(eq=False)
class SideSums:
    """What is said of one side of a batch besides scores. `hashes` are those of its files."""

    hashes: list[bytes]
    notes: tuple[str, ...]
    content: Content
    openings: dict[str, OpeningCounts]  # by layer: how tags open spans


@dataclass(eq=False)
class Counted:
    """What a batch comes to."""

    first: FilePair
    doc_ids: list[str | None]  # own ones
    lines: list[bytes]  # of each document: its score rows
    sides: tuple[SideSums, SideSums]
    parts: list[PartCounts]
    spans: int  # of gold, before labels are aligned
    unseen: int
    marked: int  # sentences that are marked
    told: int  # sentences where none is marked
    filled: int  # documents that are not empty
    differences: TextDifferences
    same_spans: bool
    alike: dict[str, str]  # what all files must have in common
    keys: tuple[str, ...]  # of metadata that were asked for and are there
    other_keys: tuple[str, ...]  # those that are there, where one is missing


class WholeCorpusError(Exception):
    """What was found needs all files at once; says why."""


# Which files make a batch


def pair_files(gold: str, pred: str, request: CorpusRequest) -> list[FilePair]:
    """The files of two folders or globs, paired by their names, whatever their endings."""
    if request.options.labels.discards:
        raise WholeCorpusError("labels.unmapped=discard looks at the labels of all files before it counts")
    for options in (request.gold, request.pred):
        if options.token_id is not None:
            raise WholeCorpusError("token IDs must be unique in the whole corpus (--token-id)")
        if options.text is not None:
            raise WholeCorpusError("annotations find their texts in the whole folder (--text)")
    golds, preds = _files_of(gold, request.gold), _files_of(pred, request.pred)
    partners = {stem_of(file.name): file for file in preds}
    if len(partners) < len(preds):
        raise WholeCorpusError(f"several files of {pred} have one name")
    found = []
    for file in golds:
        partner = partners.pop(stem_of(file.name), None)
        if partner is None:
            raise WholeCorpusError(f"{file.name} of {gold} has no file of that name in {pred}")
        found.append((file, partner))
    if partners:
        raise WholeCorpusError(f"{next(iter(partners.values())).name} of {pred} has no file of that name in {gold}")
    return found


def _files_of(source: str, options: ReadOptions) -> list[FileOfFolder]:
    files = list_files(source, options)
    if isinstance(files, str):
        raise WholeCorpusError(files)
    return files


def is_large(source: str) -> bool:
    """Whether a folder or glob has more files than a batch: then it matters that all are read at once."""
    files = Path(source).rglob("*") if Path(source).is_dir() else glob.iglob(source, recursive=True)  # noqa: PTH207  # may be absolute
    return next(itertools.islice(files, MOST_FILES, None), None) is not None


def in_batches(pairs: Sequence[FilePair], most: int) -> Iterator[Sequence[FilePair]]:
    """So many pairs at once, or fewer if they are large."""
    begin = size = 0
    for number, files in enumerate(pairs):
        size += files[0].size + files[1].size
        if number + 1 - begin >= most or size >= _MOST_BYTES:
            yield pairs[begin : number + 1]
            begin, size = number + 1, 0
    if begin < len(pairs):
        yield pairs[begin:]


# One batch


def count_batch(request: CorpusRequest, pairs: Sequence[FilePair]) -> list[Counted]:
    """Read some files as one corpus, match and count them.

    Files that do not go together are counted one by one: either one of them is wrong, and says so, or whoever adds
    them up finds out what is the matter.
    """
    try:
        return [_count(pairs, request)]
    except CluevalError as error:
        if len(pairs) == 1:
            raise _named(error, pairs[0]) from None
    return [counted for pair in pairs for counted in count_batch(request, [pair])]


def _named(error: CluevalError, files: FilePair) -> CluevalError:
    """The error with the name of the file in it, unless it is about the options."""
    message = str(error)
    if any(file.name in message for file in files):
        return error
    place = next((file for file in files if message.startswith(f"{file.folder}: ")), None)
    if place is None and isinstance(error, OptionError):
        return error
    place = place or files[0]
    return type(error)(f"{place.folder}/{place.name}: {message.removeprefix(f'{place.folder}: ')}")


def _count(pairs: Sequence[FilePair], request: CorpusRequest) -> Counted:
    gold, gold_hashes = read_files([gold for gold, _ in pairs], request.gold)
    pred, pred_hashes = read_files([pred for _, pred in pairs], replace(request.pred, side=PRED))
    if gold.named and pred.named and set(gold.doc_ids) != set(pred.doc_ids):
        (lonely, *_) = sorted(set(gold.doc_ids) ^ set(pred.doc_ids))
        raise WholeCorpusError(f"document {lonely!r} lies in files of different names")
    contents = [Content.of(reading, request.gold) for reading in (gold, pred)]
    pair = make_pair(gold, pred, strict_tags=request.strict_tags, align=request.align_text)
    corpus, options = pair.corpus, request.options
    sources = {key: source for key in options.by if (source := corpus.metadata_source(key)) is not None}
    keys = tuple(sources)
    evaluations = evaluate_each(evaluation_parts(pair, merged=request.merged), replace(options, by=keys))
    doc_ids = _own_ids(gold, pair)
    return Counted(
        first=pairs[0],
        doc_ids=doc_ids,
        lines=[] if request.listing is None else _document_lines(evaluations, doc_ids, request.listing),
        sides=(
            SideSums(gold_hashes, gold.notes, contents[0], dict(pair.gold.openings)),
            SideSums(pred_hashes, pred.notes, contents[1], dict(pair.pred.openings)),
        ),
        parts=[_part(evaluation) for evaluation in evaluations],
        spans=len(pair.gold.spans),
        unseen=len(gold.unseen | pred.unseen),
        marked=len(corpus.breaks) if corpus.hard_breaks else 0,
        told=0 if corpus.hard_breaks else len(corpus.breaks),
        filled=0 if corpus.hard_breaks else int((corpus.documents.stop > corpus.documents.start).sum()),
        differences=pair.differences,
        same_spans=pair.same_spans,
        alike={
            "Layers": ", ".join(pair.layers),
            "Format of gold": gold.source.format,
            "Format of the prediction": pred.source.format,
            "Columns of gold": _columns(gold),
            "Columns of the prediction": _columns(pred),
            **{
                f"Place of the metadata {key!r}": f"column {name}" if not tag else f"<{tag} {name}=…>"
                for key, (tag, name) in sources.items()
            },
            **_ends(pair, options),
        },
        keys=keys,
        other_keys=() if len(keys) == len(options.by) else tuple(corpus.metadata_keys()),
    )


def _part(evaluation: Evaluation) -> PartCounts:
    breakdown = evaluation.breakdown
    return PartCounts(
        evaluation.inputs,
        evaluation.options,
        count(evaluation.tallies, breakdown.by_metadata()),
        evaluation.presidio_counts,
        evaluation.presidio_confusion,
        evaluation.alignment,
    )


def _own_ids(gold: Reading, pair: Pair) -> list[str | None]:
    """The documents' own IDs; none where a document is known by its number in the corpus."""
    documents = pair.corpus.documents
    return [
        gold.file_ids[doc_id][1] if doc_id in gold.file_ids else documents.attributes(index).get("id") or None
        for index, doc_id in enumerate(pair.corpus.doc_ids)
    ]


def document_table(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """The score rows of each document, of all that is evaluated by itself; `group` is the document's number."""
    tables = []
    for evaluation in evaluations:
        tallies = [replace(tally, by_layers=()) for tally in evaluation.tallies]
        counts = count(tallies, evaluation.breakdown.by_document())
        counts.kinds = {kind: rows for kind, rows in counts.kinds.items() if kind.group_key == DOCUMENT}
        table = score_table(counts, evaluation.options.beta, intervals=False)
        number = {doc_id: index for index, doc_id in enumerate(evaluation.pair.corpus.doc_ids)}
        table["group"] = [number[doc_id] for doc_id in table["group"]]
        if len(evaluations) > 1:
            table["layer"] = evaluation.layers[0]
        tables.append(table)
    return pd.concat(tables, ignore_index=True).sort_values("group", kind="stable", ignore_index=True)


def _document_lines(evaluations: Sequence[Evaluation], doc_ids: Sequence[str | None], listing: Listing) -> list[bytes]:
    """The score rows of each document as they are written."""
    table = document_table(evaluations)
    number = table["group"].to_numpy(np.int64)
    table["group"] = pd.Series([doc_ids[index] or NO_ID for index in number.tolist()], dtype=object)
    lines = listing(table)
    ends = np.cumsum(np.bincount(number, minlength=len(doc_ids))).tolist()
    return [b"".join(lines[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def _columns(side: Reading) -> str:
    """Where each layer stands, for people."""
    return ", ".join(
        f"{layer} in column {place}" if isinstance(place, int) else f"{layer} in {place}"
        for layer, place in side.source.columns.items()
    )


def _ends(pair: Pair, options: Options) -> dict[str, str]:
    """Whether tags mark ends, where a scheme reads them strictly by what the whole corpus does."""
    if "seqeval" not in options.schemes.chosen:
        return {}
    return {
        f"Tags that end spans (E-, S-, L-, U-) of layer {layer} in {name}, for scheme seqeval": (
            "some" if counts.ends else "none"
        )
        for name, side in (("gold", pair.gold), ("the prediction", pair.pred))
        for layer, counts in side.openings.items()
        if counts.spans
    }
