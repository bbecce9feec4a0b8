"""Some files of a large corpus: read as one, matched, and their tallies summed by document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clueval_xlsx.corpus.label_rules import Alignment
from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.tags import OpeningCounts
from clueval_xlsx.evaluation import Evaluation, evaluate_each, evaluation_parts
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError
from clueval_xlsx.figures import InputFacts
from clueval_xlsx.formats.loading import Content, FileOfFolder, read_files
from clueval_xlsx.formats.options import PRED
from clueval_xlsx.options import Options, ReadOptions
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
        if self.options.labels.discards:
            raise OptionError(
                "labels.unmapped=discard: looks at the labels of the whole corpus before it counts: parts do not "
                "add up. With --cluster, map the labels (--map) or keep the documents."
            )
        if self.gold.token_id is not None or self.pred.token_id is not None:
            raise OptionError(
                "--token-id: token IDs must be unique in the whole corpus, which no worker sees. With --cluster, leave "
                "it out: tokens are compared by their words."
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
    """What the workers say of some files. What `alike` tells people of them must be the same in all parts."""

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
    alike: Mapping[str, str]
    grouped_by: tuple[str, ...]  # the metadata that were asked for and are there
    metadata_keys: tuple[str, ...]


def count_batch(request: CorpusRequest, batch: Sequence[tuple[int, FilePair]]) -> list[CorpusPart]:
    """On a worker: read some files as one corpus, match them, and sum their tallies by document.

    Files that do not go together are counted one by one: either one of them is wrong, and says so, or whoever sees
    all parts finds out what is the matter.
    """
    number, first = batch[0]
    try:
        return [_count([files for _, files in batch], number, request)]
    except CluevalError as error:
        if len(batch) == 1:
            raise _named(error, first) from None
    return [part for single in batch for part in count_batch(request, [single])]


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
    sources = {key: source for key in options.by if (source := corpus.metadata_source(key)) is not None}
    known = tuple(sources)
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
        known,
        () if len(known) == len(options.by) else tuple(corpus.metadata_keys()),
    )


def _figures(evaluation: Evaluation) -> PartFigures:
    settings, tokens = evaluation.breakdown, len(evaluation.pair.corpus)
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
    documents = pair.corpus.documents
    return [
        gold.file_ids.get(doc_id, ("", documents.attributes(index).get("id") or None))
        for index, doc_id in enumerate(pair.corpus.doc_ids)
    ]


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
