"""Some files of a large corpus: read as one, matched, and their tallies summed by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clueval_xlsx.corpus.label_rules import DISCARD, Alignment
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.tags import OpeningCounts
from clueval_xlsx.evaluation import Evaluation, evaluate_each, evaluation_parts
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError
from clueval_xlsx.figures import InputFacts, Options
from clueval_xlsx.formats.emptiness import Content
from clueval_xlsx.formats.loading import FileOfFolder, read_files
from clueval_xlsx.formats.options import PRED, ReadOptions
from clueval_xlsx.scoring.added_tallies import AddedTallies
from clueval_xlsx.text.folding import TextDifferences

FilePair = tuple[FileOfFolder, FileOfFolder]


@dataclass(frozen=True)
class CorpusRequest:
    """What is done with every pair of files."""

    gold: ReadOptions
    pred: ReadOptions
    options: Options
    merged: bool = True
    strict_tags: bool = False
    align_text: bool = False
    by_document: bool = True  # whether the score table has rows of documents, which are most of it

    def __post_init__(self) -> None:
        if self.options.labels.unmapped == DISCARD:
            raise OptionError(
                "--unmapped discard: looks at the labels of the whole corpus before it counts, so that parts do not "
                "add up. With --cluster, map the labels (--map) or keep the documents."
            )


@dataclass(frozen=True, eq=False)
class PartFigures:
    """What was counted in one part that is evaluated by itself: all layers, or one."""

    inputs: InputFacts
    options: Options
    counted: AddedTallies
    presidio: AddedTallies
    presidio_confusion: Counter[tuple[str, str]] | None
    alignment: Alignment


@dataclass(frozen=True, eq=False)
class SidePart:
    """What is known of one side of some files."""

    hashes: list[bytes]
    notes: tuple[str, ...]
    content: Content
    openings: Mapping[str, OpeningCounts]


@dataclass(frozen=True, eq=False)
class CorpusPart:
    """What the workers say of some files. `alike` must be the same in all parts."""

    number: int
    doc_ids: list[tuple[str, str | None]]  # name of the file (of texts), own ID
    sides: tuple[SidePart, SidePart]
    figures: list[PartFigures]
    spans: int  # of gold before labels are aligned
    unseen: int  # documents that an annotator has not seen
    filled: int  # documents that are not empty: each is a sentence, if other files say where sentences end
    hard_breaks: bool
    differences: TextDifferences
    same_spans: bool
    alike: Mapping[str, object]
    metadata_keys: tuple[str, ...]


def count_batch(request: CorpusRequest, batch: Sequence[tuple[int, FilePair]]) -> CorpusPart:
    """On a worker: read some files as one corpus, match them, and sum their tallies by document."""
    number, first = batch[0]
    try:
        return _count([files for _, files in batch], number, request)
    except CluevalError as error:
        if len(batch) == 1:
            raise _named(error, first) from None
    for single in batch:  # which of them is it?
        count_batch(request, [single])
    raise InputError(
        f"{first[0].folder}: the files {first[0].name} to {batch[-1][1][0].name} can each be scored alone but not "
        "together. They must be written alike: name columns and layers (--layer), and give every document an ID of "
        "its own."
    )


def _named(error: CluevalError, files: FilePair) -> CluevalError:
    """The error with the name of the file in it."""
    message = str(error)
    if any(file.name in message for file in files):
        return error
    place = next((file for file in files if message.startswith(f"{file.folder}: ")), files[0])
    return type(error)(f"{place.folder}/{place.name}: {message.removeprefix(f'{place.folder}: ')}")


def _count(pairs: Sequence[FilePair], number: int, request: CorpusRequest) -> CorpusPart:
    gold, gold_hashes = read_files([gold for gold, _ in pairs], request.gold)
    pred, pred_hashes = read_files([pred for _, pred in pairs], replace(request.pred, side=PRED))
    if gold.named and pred.named and not set(gold.doc_ids) & set(pred.doc_ids):
        raise InputError(
            f"{pred.source.name}: its documents have other IDs than those of {gold.source.name}: {pred.doc_ids[0]!r} "
            f"and {gold.doc_ids[0]!r}. With --cluster, both sides must have the same."
        )
    contents = [Content.of(reading, request.gold) for reading in (gold, pred)]
    pair = make_pair(gold, pred, strict_tags=request.strict_tags, align=request.align_text)
    corpus, options = pair.corpus, request.options
    sources = {f"metadata {key}": corpus.metadata_source(key) for key in options.by}
    known = tuple(key for key in options.by if sources[f"metadata {key}"])
    evaluations = evaluate_each(evaluation_parts(pair, merged=request.merged), replace(options, by=known))
    return CorpusPart(
        number,
        _own_ids(gold, pair),
        (
            SidePart(gold_hashes, gold.notes, contents[0], pair.gold.openings),
            SidePart(pred_hashes, pred.notes, contents[1], pair.pred.openings),
        ),
        [_figures(evaluation) for evaluation in evaluations],
        len(pair.gold.spans),
        len(gold.unseen | pred.unseen),
        int((corpus.documents.stop > corpus.documents.start).sum()),
        corpus.hard_breaks,
        pair.differences,
        pair.same_spans,
        {
            "layers": pair.layers,
            "format of gold": gold.source.format,
            "format of the prediction": pred.source.format,
            "columns of gold": tuple(gold.source.columns.items()),
            "columns of the prediction": tuple(pred.source.columns.items()),
            **{key: source for key, source in sources.items() if source is not None},
            **_ends(pair, options),
        },
        () if len(known) == len(options.by) else tuple(corpus.metadata_keys()),
    )


def _figures(evaluation: Evaluation) -> PartFigures:
    settings, tokens = evaluation.settings, len(evaluation.pair.corpus)
    return PartFigures(
        evaluation.inputs,
        evaluation.options,
        AddedTallies.of(evaluation.tallies, settings, tokens),
        AddedTallies.of(evaluation.presidio_tallies, replace(settings, groupings=()), tokens),
        evaluation.presidio_confusion,
        evaluation.alignment,
    )


def _own_ids(gold: Reading, pair: Pair) -> list[tuple[str, str | None]]:
    """The documents' own IDs; none where a document is known by its number in the corpus."""
    return [
        gold.file_ids.get(doc_id, ("", None if doc_id == f"#{number}" else doc_id))
        for number, doc_id in enumerate(pair.corpus.doc_ids, 1)
    ]


def _ends(pair: Pair, options: Options) -> dict[str, object]:
    """Whether tags mark ends, where a scheme reads them strictly by what the whole corpus does."""
    if "seqeval" not in options.schemes.chosen:
        return {}
    return {
        f"ends of spans in {name} marked (E, S, L, U)": counts.ends > 0
        for name, side in (("gold", pair.gold), ("the prediction", pair.pred))
        for counts in side.openings.values()
        if counts.spans
    }
