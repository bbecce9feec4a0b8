"""Scores of a folder of any size: files are counted some at a time, here or on a cluster, and the counts add up.

Of a batch nothing is kept but sums, and the rows of its documents, which are written down at once. The result does not
depend on which files were counted together: it is that of reading everything at once.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd

from clueval_xlsx.clusters import ClusterPlace, connected
from clueval_xlsx.corpus.annotation import orphan_notes
from clueval_xlsx.corpus.corpus import no_metadata
from clueval_xlsx.corpus.label_rules import Alignment, alignment_notes
from clueval_xlsx.corpus.pair import Pair, make_pair, unseen_note
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.tags import OpeningCounts
from clueval_xlsx.evaluation import Evaluation, evaluate_each, evaluation_parts
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError
from clueval_xlsx.figures import Figures, InputFacts, signature
from clueval_xlsx.formats.loading import Content, FileOfFolder, list_files, read_files
from clueval_xlsx.formats.options import PRED
from clueval_xlsx.formats.stored import stem_of
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.scoring.counts import DOCUMENT, Counts, count
from clueval_xlsx.scoring.scores import score_table
from clueval_xlsx.text.visible import TextDifferences

MOST_FILES = 256  # in a batch
_MOST_BYTES = 1 << 24
_TURNS = 8  # batches that each worker should get at least, so that all end at about the same time
_NO_ID = "\ufffe"  # a document without an ID, until it is known which one in the corpus it is

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
class SideFacts:
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
    sides: tuple[SideFacts, SideFacts]
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
            SideFacts(gold_hashes, gold.notes, contents[0], dict(pair.gold.openings)),
            SideFacts(pred_hashes, pred.notes, contents[1], dict(pair.pred.openings)),
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
    table["group"] = pd.Series([doc_ids[index] or _NO_ID for index in number.tolist()], dtype=object)
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


# The sum


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredCorpus(Figures):
    """The figures of a corpus that was counted in batches; rows of documents are not among them."""

    counts: Counts = Counts()  # noqa: RUF009  # a value here, computed elsewhere
    presidio_counts: Counts = Counts()  # noqa: RUF009
    presidio_confusion: Counter[tuple[str, str]] | None = None


@dataclass(frozen=True, eq=False)
class CorpusScores:
    """The figures of each part that is evaluated by itself, what the inputs hold, and whether both hold the same."""

    figures: tuple[ScoredCorpus, ...]
    inputs: InputFacts  # before labels are aligned, all layers
    contents: tuple[Content, Content]
    same_spans: bool


class CorpusSum:
    """The sum of the batches so far; the rows of their documents are written and forgotten."""

    def __init__(self, request: CorpusRequest, lines: IO[bytes] | None) -> None:
        self._request = request
        self._lines = lines
        self._sum: Counted | None = None
        self._doc_ids: set[str] = set()
        self._hashes = hashlib.sha256(), hashlib.sha256()
        self._alike: dict[str, tuple[str, str]] = {}  # with the file where it was seen first

    def add(self, batch: Counted) -> None:
        """The next batch."""
        self._check_alike(batch)
        self._write(batch)
        for hashed, side in zip(self._hashes, batch.sides, strict=True):
            hashed.update(b"".join(side.hashes))
            side.hashes = []
        if self._sum is None:
            self._sum = batch
            return
        known = self._sum
        for mine, theirs in zip(known.sides, batch.sides, strict=True):
            mine.notes = tuple(dict.fromkeys((*mine.notes, *theirs.notes)))
            mine.content += theirs.content
            mine.openings = {layer: own + theirs.openings[layer] for layer, own in mine.openings.items()}
        for own, part in zip(known.parts, batch.parts, strict=True):
            own.add(part)
        known.spans += batch.spans
        known.unseen += batch.unseen
        known.marked += batch.marked
        known.told += batch.told
        known.filled += batch.filled
        known.differences += batch.differences
        known.same_spans &= batch.same_spans
        known.keys = tuple(dict.fromkeys((*known.keys, *batch.keys)))
        known.other_keys = tuple(dict.fromkeys((*known.other_keys, *batch.other_keys)))

    def _check_alike(self, batch: Counted) -> None:
        """Where the whole corpus decides how it is read, all files must be written alike."""
        here = batch.first[0].name
        for what, value in batch.alike.items():
            known, there = self._alike.setdefault(what, (value, here))
            if known != value:
                raise WholeCorpusError(
                    f"its files are not written alike. {what}: {known} (from {there} on), {value} (from {here} on)"
                )

    def _write(self, batch: Counted) -> None:
        """Give documents their names, which must be unique, and write their rows."""
        lines = batch.lines or [b""] * len(batch.doc_ids)
        for own, written in zip(batch.doc_ids, lines, strict=True):
            name = own or f"#{len(self._doc_ids) + 1}"
            if name in self._doc_ids:
                raise WholeCorpusError(f"document ID {name!r} occurs in several files")
            self._doc_ids.add(name)
            if self._lines is not None:
                self._lines.write(written if own else written.replace(_NO_ID.encode(), name.encode()))

    def scores(self) -> CorpusScores:
        """What all batches come to."""
        found, request = self._sum, self._request
        assert found is not None
        gold = found.parts[0].inputs.gold
        for key in request.options.by:
            if key not in found.keys:
                raise no_metadata(gold.name, key, list(found.other_keys))
        inputs = [self._inputs(part.inputs, found) for part in found.parts]
        for side in (inputs[0].gold, inputs[0].pred):
            if request.strict_tags and any(side.orphans.values()):
                raise InputError(
                    f"{side.name}: {sum(side.orphans.values())} I- tags continue nothing. With read.bio=strict I- may "
                    "stand only behind B- or I- of the same label; read.bio=lenient lets it open a span."
                )
        notes = [note for side in found.sides for note in side.notes]
        notes += unseen_note(found.unseen)
        notes += found.differences.notes(gold.name, inputs[0].pred.name)
        notes += [note for side in (inputs[0].gold, inputs[0].pred) for note in orphan_notes(side.name, side.orphans)]
        figures = tuple(self._figures(*both, notes) for both in zip(found.parts, inputs, strict=True))
        raw = replace(inputs[0], gold=replace(inputs[0].gold, spans=found.spans))
        return CorpusScores(figures, raw, (found.sides[0].content, found.sides[1].content), found.same_spans)

    def _inputs(self, inputs: InputFacts, found: Counted) -> InputFacts:
        """What was compared in all batches."""
        sides = [
            replace(
                own,
                sha256=hashed.hexdigest(),
                orphans={layer: side.openings[layer].orphans for layer in own.orphans},
            )
            for own, hashed, side in zip((inputs.gold, inputs.pred), self._hashes, found.sides, strict=True)
        ]
        # Files without marks of sentences have one a document if other files have marks; else punctuation tells.
        sentences = found.marked + (found.filled if found.marked else found.told)
        return replace(inputs, gold=sides[0], pred=sides[1], documents=len(self._doc_ids), sentences=sentences)

    def _figures(self, part: PartCounts, inputs: InputFacts, notes: Sequence[str]) -> ScoredCorpus:
        options = replace(part.options, by=self._request.options.by)
        own = alignment_notes(part.alignment, options.labels, len(self._doc_ids))
        return ScoredCorpus(
            inputs=inputs,
            options=options,
            signature=signature(inputs, options),
            alignment=replace(part.alignment, notes=own),
            notes=(*notes, *own),
            counts=part.counts,
            presidio_counts=part.presidio,
            presidio_confusion=part.confusion,
        )


def count_corpus(
    pairs: Sequence[FilePair],
    request: CorpusRequest,
    lines: IO[bytes] | None = None,
    advance: Callable[[int], None] = lambda _number: None,
) -> CorpusScores:
    """Count files here, batch after batch, and add them up; `advance` is told the number of each pair that is done."""
    total = CorpusSum(request, lines)
    done = itertools.count()
    for files in in_batches(pairs, MOST_FILES):
        for counted in count_batch(request, files):
            total.add(counted)
        for _ in files:
            advance(next(done))
    return total.scores()


def count_on_cluster(
    place: ClusterPlace,
    pairs: Sequence[FilePair],
    request: CorpusRequest,
    lines: IO[bytes] | None = None,
    advance: Callable[[int], None] = lambda _number: None,
    seen: Callable[[int], None] = lambda _workers: None,
) -> CorpusScores:
    """Have the workers of a cluster count them; `seen` is told how many workers there are."""
    total = CorpusSum(request, lines)
    done = itertools.count()
    with connected(place, seen) as cluster:
        most = max(1, min(MOST_FILES, len(pairs) // (cluster.await_worker() * _TURNS)))
        work = partial(count_batch, request)
        with contextlib.closing(cluster.run(work, in_batches(pairs, most))) as batches:  # type: ignore[type-var]  # can be closed
            for files, batch in batches:
                if batch is None:
                    first = files[0][0]
                    raise InputError(
                        f"{first.folder}/{first.name}: each worker that took it died. Give the workers more memory, or "
                        "split the file."
                    )
                for counted in batch:
                    total.add(counted)
                for _ in files:
                    advance(next(done))
    return total.scores()
