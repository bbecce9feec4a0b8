"""Scores of a folder of any size: files are counted some at a time, here or on a cluster, and the counts add up.

The rows of documents are written down at once and forgotten. The result does not depend on which files were counted
together: it is that of reading everything at once.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import IO

from clueval_xlsx.batches.counting import (
    MOST_FILES,
    NO_ID,
    CorpusRequest,
    Counted,
    FilePair,
    PartCounts,
    WholeCorpusError,
    count_batch,
    in_batches,
)
from clueval_xlsx.clusters import ClusterPlace, Done, connected
from clueval_xlsx.corpus.annotation import orphan_notes
from clueval_xlsx.corpus.corpus import no_metadata
from clueval_xlsx.corpus.label_rules import alignment_notes
from clueval_xlsx.corpus.pair import unseen_note
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.figures import Figures, InputFacts, signature
from clueval_xlsx.formats.loading import Content
from clueval_xlsx.scoring.counts import Counts

_TURNS = 8  # batches that each worker should get at least, so that all end at about the same time


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
                self._lines.write(written if own else written.replace(NO_ID.encode(), name.encode()))

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
    place: ClusterPlace | None = None,
    advance: Callable[[int], None] = lambda _size: None,
    seen: Callable[[int], None] = lambda _workers: None,
) -> CorpusScores:
    """Count files batch after batch, here or on a cluster, and add them up.

    `advance` is told the size of each pair that is done, `seen` how many workers there are.
    """
    total = CorpusSum(request, lines)
    with contextlib.closing(_counted(pairs, request, place, seen)) as batches:
        for files, batch in batches:
            if batch is None:
                first = files[0][0]
                raise InputError(
                    f"{first.folder}/{first.name}: each worker that took it died. Give the workers more memory, or "
                    "split the file."
                )
            for counted in batch:
                total.add(counted)
            for gold, pred in files:
                advance(gold.size + pred.size + 1)
    return total.scores()


def _counted(
    pairs: Sequence[FilePair], request: CorpusRequest, place: ClusterPlace | None, seen: Callable[[int], None]
) -> Generator[Done[FilePair, list[Counted]], None, None]:
    """The batches in their order and what each comes to."""
    if place is None:
        for files in in_batches(pairs, MOST_FILES):
            yield Done(files, count_batch(request, files))
        return
    with connected(place, seen) as cluster:
        most = max(1, min(MOST_FILES, len(pairs) // (cluster.await_worker() * _TURNS)))
        yield from cluster.run(partial(count_batch, request), in_batches(pairs, most))
