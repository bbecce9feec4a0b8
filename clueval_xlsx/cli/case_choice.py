"""`evaluate --order … --also … --unmarked`: which cases there are besides the errors, and in which order they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.cli.input_options import SideOptions, load_pair, refuse_idle_formats
from clueval_xlsx.exceptions import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from clueval_xlsx.cli.review_options import ReviewRequest
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.evaluation import Evaluation

_STANDARD_INPUT = "-"


def with_chosen_cases(
    results: Mapping[str, Evaluation], review: ReviewRequest, gold: str, sides: SideOptions
) -> dict[str, Evaluation]:
    """The results with their unmarked passages, and with their cases in the order that was asked for."""
    also = _further_systems(review, gold, sides)
    refuse_idle_formats([*also, *(result.pair for result in results.values())])
    return {name: _ordered(_with_unmarked(result, review), review, also) for name, result in results.items()}


def _with_unmarked(result: Evaluation, review: ReviewRequest) -> Evaluation:
    """The result with the passages that both sides may have missed, if they are asked for."""
    if review.unmarked is None:
        return result
    from clueval_xlsx.cli.previous import judged_right, read_previous

    known = judged_right(read_previous(review.previous), result) if review.previous else None
    return result.with_unmarked(review.unmarked, known)


def _further_systems(review: ReviewRequest, gold: str, sides: SideOptions) -> list[Pair]:
    """Gold with each of the further systems."""
    if review.also and _STANDARD_INPUT in {gold, *review.also}:
        raise OptionError("--also: gold is read again with each further system. Give files, not standard input.")
    return [load_pair(gold, path, sides) for path in review.also]


def _ordered(result: Evaluation, review: ReviewRequest, also: list[Pair]) -> Evaluation:
    return result.with_order(review.order, [_spans_of(pair, result) for pair in also])


def _spans_of(pair: Pair, result: Evaluation) -> pd.DataFrame:
    """The spans of a further system on the tokens and with the labels of a result."""
    from clueval_xlsx.corpus.label_rules import align_labels
    from clueval_xlsx.corpus.pair import spans_on

    layers = result.pair.layers
    own = pair if tuple(pair.layers) == tuple(layers) else pair.layer(layers[0])
    aligned, _ = align_labels(own, result.options.labels)
    return spans_on(aligned, result.pair)
