"""Scoring, against seqeval and nervaluate on the same lists of tags."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from tests.benchmark.rows import Work, row

Sentences = list[list[str]]


def tags(path: Path) -> Sentences:
    """The tags of layer `fine` as others want them: a list of strings for each sentence."""
    sentences: Sentences = []
    for line in path.read_text("utf-8").split("\n"):
        if line.startswith("<s "):
            sentences.append([])
        elif "\t" in line:
            sentences[-1].append(line.split("\t")[1])
    return sentences


def both(folder: Path) -> tuple[Sentences, Sentences]:
    return tags(folder / "gold.vrt"), tags(folder / "pred.vrt")


def score_tags(folder: Path, replicates: int) -> Work:
    """From lists of strings to counts and rates at all four levels: overall, by label and by document.

    The corpus is read beforehand, as the lists are; decoding the tags is part of the work, as it is for the others.
    """
    from dataclasses import replace

    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import on_same
    from clueval_xlsx.corpus.tags import TagColumn
    from clueval_xlsx.evaluation import Evaluation, evaluate
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import Options, ReadOptions

    reading = read(folder / "gold.vrt", ReadOptions(layers={"fine": 2}))
    corpus = reading.corpus
    sides = both(folder)

    def work() -> Evaluation:
        gold, pred = (
            replace(reading, columns={"fine": TagColumn.of(list(chain.from_iterable(side)))}).on(
                corpus, on_same, corpus.breaks
            )
            for side in sides
        )
        evaluation = evaluate(Pair(corpus, gold, pred, ("fine",)), Options(replicates=replicates))
        assert len(evaluation.scores)  # computed when somebody looks
        return evaluation

    found = work().overall("clueval", level="exact", labelled="fine")["tp_gold"]
    copies = len(corpus) // 214_443
    assert found == 3039 * copies, found  # the figure of the data, once for each copy
    return work


@row("score from tags", "ours: four levels, with and without labels")
def _score(folder: Path) -> Work:
    return score_tags(folder, 0)


@row("score from tags", "ours: with 1,000 bootstrap replicates")
def _score_intervals(folder: Path) -> Work:
    return score_tags(folder, 1000)


@row("score from tags", "ours: decoding and matching alone")
def _match(folder: Path) -> Work:
    from clueval_xlsx.corpus.spans import from_decoded
    from clueval_xlsx.corpus.tags import TagColumn, decode
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import ReadOptions
    from clueval_xlsx.scoring.matching import match_spans

    breaks = read(folder / "gold.vrt", ReadOptions(layers={"fine": 2})).corpus.breaks
    sides = both(folder)

    def work() -> None:
        gold, pred = (
            from_decoded(decode(TagColumn.of(list(chain.from_iterable(side))), breaks), "fine") for side in sides
        )
        match_spans(gold, pred)
        match_spans(pred, gold)

    return work


@row("score from tags", "seqeval precision_recall_fscore_support")
def seqeval_scores(folder: Path) -> Work:
    """From lists of tags to precision, recall and F1, at one level and without documents."""
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

    gold, pred = both(folder)
    return lambda: precision_recall_fscore_support(gold, pred, average="micro")


@row("score from tags", "seqeval classification_report", most=10)
def _seqeval_report(folder: Path) -> Work:
    from seqeval.metrics import classification_report

    gold, pred = both(folder)
    return lambda: classification_report(gold, pred, zero_division=0)


@row("score from tags", "nervaluate")
def _nervaluate(folder: Path) -> Work:
    from nervaluate import Evaluator

    gold, pred = both(folder)
    labels = sorted({tag[2:] for sentence in gold for tag in sentence if tag != "O"})
    return lambda: Evaluator(gold, pred, tags=labels, loader="list").evaluate()


# ---- every scheme, from parsed files


def scheme_scores(folder: Path, *names: str, replicates: int = 0) -> Work:
    """From parsed columns of tags and tokens to the scores of some schemes (clueval is always among them)."""
    from clueval_xlsx.corpus.pair import make_pair
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import Options, ReadOptions, SchemeOptions

    options = ReadOptions(layers={"fine": 2}, token_id=4)
    sides = [read(folder / f"{side}.vrt", options) for side in ("gold", "pred")]
    chosen = Options(replicates=replicates, schemes=SchemeOptions(scheme=names, allow=(("ALL", r"\s"),)))
    return lambda: evaluate(make_pair(*sides), chosen).scores


# The group's first row is the outside scorer: its column "vs first" is the ratio that each scheme must keep.
row("schemes", "seqeval precision_recall_fscore_support")(seqeval_scores)
for _scheme in (
    "clueval",
    "seqeval",
    "semeval",
    "scenario",
    "tokens",
    "presidio",
    "iou",
    "coverage",
    "chars",
    "documents",
    "all",
):
    row("schemes", f"ours: {_scheme}", most=94 if _scheme == "all" else 10)(
        lambda folder, name=_scheme: scheme_scores(folder, name)
    )  # type: ignore[misc]
row("schemes", "ours: all, with 1,000 bootstrap replicates")(
    lambda folder: scheme_scores(folder, "all", replicates=1000)
)
