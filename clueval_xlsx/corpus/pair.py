"""Gold and prediction over one corpus: two readings that fit each other, brought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, orphan_notes
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.reading import PairingRules, Reading
from clueval_xlsx.corpus.same_tokens import check_same_tokens
from clueval_xlsx.corpus.spans import check_disjoint, positions
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.text.visible import check_same_visible


@dataclass(frozen=True, eq=False)
class Pair:
    """Gold and prediction over one corpus."""

    corpus: Corpus
    gold: Annotation
    pred: Annotation
    layers: tuple[str, ...]
    notes: tuple[str, ...] = ()
    added: Ranges | None = None  # what the prediction added to gold's tokens: see `Reading.on_pair`
    gold_token: IntArray | None = None  # the token of the gold file that each token is a part of, if any was cut

    def layer(self, name: str) -> Pair:
        """The same pair with one layer only."""
        return replace(self, gold=_only(self.gold, name), pred=_only(self.pred, name), layers=(name,))


def make_pair(gold: Reading, pred: Reading, *, strict_tags: bool = False, align: bool = False) -> Pair:
    """Check that two readings fit each other and bring their spans together.

    Gold governs: its sentence ends hold for both sides. Where gold is running text, its text is cut into words,
    punctuation and at every boundary of either side, and the corpus keeps the text's own spacing and offsets. Where
    gold has tokens, these are cut further at the boundaries of the prediction, and stay gold's otherwise; without
    `align`, a prediction that has tokens must have the same. With `strict_tags` a tag that continues nothing is an
    error.
    """
    if gold.layer_names != pred.layer_names:
        raise OptionError(
            f"the layers differ: {', '.join(gold.layer_names)} in {gold.source.name}, "
            f"{', '.join(pred.layer_names)} in {pred.source.name}. Give the same names on both sides "
            "(--gold-layer, --pred-layer)."
        )
    gold, pred, notes = _same_documents(gold, pred)
    sides = gold.govern(pred, PairingRules(strict_tags, align))
    notes = [*gold.notes, *pred.notes, *notes, *sides.notes, *orphan_notes([sides.gold, sides.pred])]
    layers = tuple(sides.gold.layers)
    return Pair(sides.corpus, sides.gold, sides.pred, layers, tuple(notes), sides.added, sides.gold_token)


def check_same_text(gold: Reading, pred: Reading) -> None:
    """Raise where two readings do not hold the same documents and tokens (running text: the same text)."""
    if gold.tokenised and pred.tokenised:
        check_same_tokens(gold.corpus, pred.corpus)
        return
    names = (gold.source.name, pred.source.name)
    gold, pred, _ = _same_documents(gold, pred)
    whole = gold.nameless or pred.nameless
    check_same_visible(gold.visible, pred.visible, names=names, doc_ids=gold.doc_ids, whole=whole)


def _same_documents(gold: Reading, pred: Reading) -> tuple[Reading, Reading, list[str]]:
    """Leave out documents that an annotator has not seen, and bring both sides into one order."""
    notes = []
    unseen = gold.unseen | pred.unseen
    if unseen:
        gold, pred = gold.without(unseen), pred.without(unseen)
        many = len(unseen) != 1
        notes.append(
            f"{len(unseen)} document{'s' if many else ''} that the chosen annotator has not seen "
            f"{'were' if many else 'was'} left out"
        )
    if gold.named or gold.tokenised:
        pred = pred.in_order_of(gold.doc_ids, gold.source.name)
    if pred.named and pred.tokenised:  # a token file stays in its order, so gold follows
        gold = gold.in_order_of(pred.doc_ids, pred.source.name)
    return gold, pred, notes


def own_tokens(layers: Mapping[str, pd.DataFrame], pair: Pair) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Spans of a pair whose gold tokens were cut, as spans of gold's own tokens, and what had to give.

    A span that begins or ends inside a token of the gold file is widened to the whole token.
    """
    if pair.gold_token is None:
        return dict(layers), []
    token, size = pair.gold_token, len(pair.gold_token)
    first, last = np.ones(size, dtype=bool), np.ones(size, dtype=bool)
    first[1:] = last[:-1] = np.diff(token) != 0
    found, notes = {}, []
    for layer, spans in layers.items():
        start, end = positions(spans)
        for row in np.flatnonzero(~first[start] | ~last[end]).tolist():
            words = pair.corpus.text(int(start[row]), int(end[row]))
            notes.append(
                f"{pair.gold.source.name}: layer {layer}: {words!r} is part of a token and was widened to the whole"
            )
        found[layer] = spans.assign(start=token[start], end=token[end])
        check_disjoint(found[layer], f"{pair.gold.source.name}, layer {layer}, corrected")
    return found, notes


def _only(annotation: Annotation, layer: str) -> Annotation:
    spans = annotation.layers[layer]
    return replace(annotation, layers={layer: spans}, spans=spans)
