"""Scores of a corpus of many files on a cluster: workers match and tally some files each, the sums add up here.

What the workers give back are counts by document, so that memory here grows with documents and not with tokens.
Nothing in it depends on which files were counted together: the result is that of one machine.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

import numpy as np

from clueval_xlsx.cluster_scoring.corpus_parts import (
    CorpusPart,
    CorpusRequest,
    FilePair,
    PartFigures,
    SidePart,
    count_batch,
)
from clueval_xlsx.clusters import ClusterPlace, connected, spread
from clueval_xlsx.corpus.annotation import orphan_notes
from clueval_xlsx.corpus.corpus import no_metadata
from clueval_xlsx.corpus.label_rules import alignment_notes
from clueval_xlsx.corpus.pair import unseen_note
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.figures import Figures, InputFacts, SideFacts, signature
from clueval_xlsx.formats.folders import folder_digest
from clueval_xlsx.formats.loading import Content, FileOfFolder, list_files, read_files
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.stored import stem_of
from clueval_xlsx.options import Options
from clueval_xlsx.scoring.added_tallies import AddedTallies
from clueval_xlsx.scoring.counts import DOCUMENT, Counts, Grouping, count
from clueval_xlsx.text.folding import TextDifferences

_MOST_FILES = 256  # in a batch
_MOST_BYTES = 1 << 24
_TURNS = 8  # batches that each worker should get at least, so that all end at about the same time
_SHOWN = 10  # files that are named


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoredCorpus(Figures):
    """The figures of a corpus that was counted in parts."""

    counts: Counts = Counts()  # noqa: RUF009  # a value here, computed elsewhere
    presidio_counts: Counts = Counts()  # noqa: RUF009
    presidio_confusion: Counter[tuple[str, str]] | None = None


@dataclass(frozen=True, eq=False)
class ClusterScores:
    """The figures of each part that is evaluated by itself, what the inputs hold, and whether both hold the same."""

    figures: tuple[ScoredCorpus, ...]
    inputs: InputFacts  # before labels are aligned, all layers
    contents: tuple[Content, Content]
    same_spans: bool


def pair_files(gold: str, pred: str, request: CorpusRequest) -> list[FilePair]:
    """The files of two folders or globs, paired by their names, whatever their endings."""
    sides = []
    for source, options in ((gold, request.gold), (pred, request.pred)):
        if options.text is not None:
            raise OptionError(
                "--text: belongs to annotations whose text lies elsewhere. --cluster needs it beside them."
            )
        files = list_files(source, options)
        if files is None:
            raise OptionError(
                f"--cluster: {source} is one file, and a corpus is spread file by file. Give a folder or a glob of "
                "files, or leave --cluster out."
            )
        sides.append({stem_of(file.name): file for file in files})
        if len(sides[-1]) < len(files):
            twice = [stem for stem, count in Counter(stem_of(file.name) for file in files).items() if count > 1]
            raise InputError(
                f"{source}: several files are called {twice[0]}. Allowed: one of each name, endings aside."
            )
    lonely = [
        f"{source}: {len(alone)} without a partner in {other} ({_some(alone)})"
        for (own, theirs), source, other in ((sides, gold, pred), (sides[::-1], pred, gold))
        if (alone := [file.name for stem, file in own.items() if stem not in theirs])
    ]
    if lonely:
        raise InputError(
            f"{'; '.join(lonely)}. Files are paired by their names, endings aside: both sides need the same."
        )
    return [(file, sides[1][stem]) for stem, file in sides[0].items()]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")


def score_on_cluster(
    place: ClusterPlace,
    pairs: Sequence[FilePair],
    request: CorpusRequest,
    advance: Callable[[int], None] = lambda _number: None,
    seen: Callable[[int], None] = lambda _workers: None,
) -> ClusterScores:
    """Have the workers count all pairs of files and add up what they found.

    `advance` is told the number of each pair that is done, `seen` the number of workers.
    """
    found: dict[int, CorpusPart] = {}
    with connected(place, seen) as cluster:
        most = max(1, min(_MOST_FILES, len(pairs) // (cluster.workers() * _TURNS)))
        batches = _batches(pairs, most)
        with contextlib.closing(
            spread(cluster, partial(count_batch, request), lambda _workers: next(batches, ()))  # type: ignore[type-var]  # can be closed
        ) as results:
            for batch in results:
                (_, files), *_ = batch.items
                if batch.result is None:
                    raise InputError(
                        f"{files[0].folder}/{files[0].name}: each worker that took it died. Give the workers more "
                        "memory, or split the file."
                    )
                found.update({part.number: part for part in batch.result})
                for done, _ in batch.items:
                    advance(done)
    return add_parts([found[number] for number in sorted(found)], pairs, request)


def _batches(pairs: Sequence[FilePair], most: int) -> Iterator[list[tuple[int, FilePair]]]:
    """So many pairs at once, or fewer if they are large."""
    batch: list[tuple[int, FilePair]] = []
    size = 0
    for number, files in enumerate(pairs):
        batch.append((number, files))
        size += files[0].size + files[1].size
        if len(batch) >= most or size >= _MOST_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def add_parts(parts: Sequence[CorpusPart], pairs: Sequence[FilePair], request: CorpusRequest) -> ClusterScores:
    """The figures of the corpus from those of its parts, which follow each other."""
    _check_alike(parts, pairs, request.options)
    doc_ids = _doc_ids(parts, pairs, request)
    whole = [_inputs(parts, index, len(doc_ids)) for index in range(len(parts[0].figures))]
    sides = (whole[0].gold, whole[0].pred)
    if request.strict_tags and (orphans := [side for side in sides if any(side.orphans.values())]):
        raise InputError(
            f"{orphans[0].name}: {sum(orphans[0].orphans.values())} I- tags continue nothing. --bio strict allows I- "
            "only behind B- or I- of the same label; use --bio lenient to let it open a span."
        )
    differences = sum((part.differences for part in parts), TextDifferences())
    notes = [note for index in range(2) for part in parts for note in part.sides[index].notes]
    notes += unseen_note(sum(part.unseen for part in parts))
    notes += differences.notes(sides[0].name, sides[1].name)
    notes += [note for side in sides for note in orphan_notes(side.name, side.orphans)]
    figures = tuple(
        _scored([part.figures[index] for part in parts], inputs, doc_ids, notes, request)
        for index, inputs in enumerate(whole)
    )
    contents = [reduce(add, (part.sides[index].content for part in parts)) for index in range(2)]
    raw = replace(whole[0], gold=replace(sides[0], spans=sum(part.spans for part in parts)))
    return ClusterScores(figures, raw, (contents[0], contents[1]), all(part.same_spans for part in parts))


def _inputs(parts: Sequence[CorpusPart], index: int, documents: int) -> InputFacts:
    """What was compared in all parts; `index` is that of what is evaluated by itself."""
    found = [part.figures[index].inputs for part in parts]
    hard = any(part.hard_breaks for part in parts)
    closed = [
        inputs.sentences if part.hard_breaks or not hard else part.filled
        for part, inputs in zip(parts, found, strict=True)
    ]
    return replace(
        found[0],
        gold=_side_facts([inputs.gold for inputs in found], [part.sides[0] for part in parts]),
        pred=_side_facts([inputs.pred for inputs in found], [part.sides[1] for part in parts]),
        documents=documents,
        sentences=sum(closed),
        tokens=sum(inputs.tokens for inputs in found),
        align=max(inputs.align for inputs in found),
    )


def _side_facts(found: Sequence[SideFacts], parts: Sequence[SidePart]) -> SideFacts:
    openings = {layer: reduce(add, (part.openings[layer] for part in parts)) for layer in parts[0].openings}
    return replace(
        found[0],
        sha256=folder_digest(hashed for part in parts for hashed in part.hashes),
        spans=sum(facts.spans for facts in found),
        orphans={layer: counts.orphans for layer, counts in openings.items()},
        dropped=sum(facts.dropped for facts in found),
    )


def _scored(
    found: Sequence[PartFigures],
    inputs: InputFacts,
    doc_ids: Sequence[str],
    notes: Sequence[str],
    request: CorpusRequest,
) -> ScoredCorpus:
    options = replace(found[0].options, by=request.options.by)
    counted = AddedTallies.join([each.counted for each in found])
    by_key = {grouping.key: grouping for grouping in counted.settings.groupings}
    documents = Grouping(DOCUMENT, doc_ids, np.arange(len(doc_ids)), per_document=True)
    groupings = [*([documents] if request.by_document else []), *(by_key[key] for key in options.by)]
    presidio = AddedTallies.join([each.presidio for each in found])
    confused = [each.presidio_confusion for each in found if each.presidio_confusion is not None]
    alignment = reduce(add, (each.alignment for each in found))
    alignment = replace(alignment, notes=alignment_notes(alignment, options.labels, len(doc_ids)))
    return ScoredCorpus(
        inputs=inputs,
        options=options,
        signature=signature(inputs, options),
        alignment=alignment,
        notes=(*notes, *alignment.notes),
        counts=count(counted.tallies, replace(counted.settings, groupings=groupings)),
        presidio_counts=count(presidio.tallies, presidio.settings),
        presidio_confusion=sum(confused, Counter()) if confused else None,
    )


def _check_alike(parts: Sequence[CorpusPart], pairs: Sequence[FilePair], options: Options) -> None:
    """Refuse files that are written differently, where the whole corpus decides how it is read."""
    first: dict[str, tuple[str, int]] = {}
    for part in parts:
        for what, value in part.alike.items():
            known, number = first.setdefault(what, (value, part.number))
            if known != value:
                places = [
                    f"{shown} (from {pairs[at][0].name} on)" for shown, at in ((known, number), (value, part.number))
                ]
                raise InputError(
                    f"{pairs[0][0].folder}: the files are not written alike. {what}: {', '.join(places)}. With "
                    "--cluster they must be: name columns and layers (--layer, --format), or leave --cluster out."
                )
    for key in options.by:
        if not any(key in part.grouped_by for part in parts):
            known_keys = dict.fromkeys(each for part in parts for each in part.metadata_keys)
            raise no_metadata(pairs[0][0].folder, key, list(known_keys))


def _doc_ids(parts: Sequence[CorpusPart], pairs: Sequence[FilePair], request: CorpusRequest) -> list[str]:
    """The IDs of all documents as one machine would give them; they must be unique."""
    own = [each for part in parts for each in part.doc_ids]
    ids = [f"#{number}" if doc_id is None else doc_id for number, (_, doc_id) in enumerate(own, 1)]
    if len(set(ids)) == len(ids):
        return ids
    if not format_named(parts[0].sides[0].content.format).columns:
        return [f"{stem}/{doc_id}" for stem, doc_id in own]
    doc_id = next(doc_id for doc_id, count in Counter(ids).items() if count > 1)
    first, again = [number for number, each in enumerate(ids) if each == doc_id][:2]
    before, after = (_file_of(number, parts, pairs, request) for number in (first, again))
    why = "" if all(own[number][1] for number in (first, again)) else " (one that has no ID is called by its number)"
    raise InputError(
        f"{after.folder}/{after.name}: document {doc_id!r} stands in {before.name}, too{why}. Document IDs must "
        "be unique and the tokens of a document must stand together."
    )


def _file_of(
    document: int, parts: Sequence[CorpusPart], pairs: Sequence[FilePair], request: CorpusRequest
) -> FileOfFolder:
    """The file of a document, told by its number in the corpus; those of its part are read again."""
    part = next(part for part in parts if (document := document - len(part.doc_ids)) < 0)
    document += len(part.doc_ids)
    files = (gold for gold, _ in pairs[part.number :])
    return next(file for file in files if (document := document - len(read_files([file], request.gold)[0].doc_ids)) < 0)
