"""Gold and prediction over one corpus: two readings that fit each other, brought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, orphan_notes
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.document_order import same_texts
from clueval_xlsx.corpus.reading import PairingRules, Reading
from clueval_xlsx.corpus.same_tokens import check_same_tokens
from clueval_xlsx.corpus.spans import check_disjoint, label_list, positions
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.text.folding import TextDifferences
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges
from clueval_xlsx.text.visible import check_same_visible

_DOCUMENT = 1 << 40  # more characters than any document has


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
    by_position: bool = False  # tokens were paired whatever their words
    differences: TextDifferences = field(default_factory=TextDifferences)  # that were passed over

    def __repr__(self) -> str:
        """Its size, and no word of the corpus."""
        spans = f"{len(self.gold.spans)} gold and {len(self.pred.spans)} predicted spans"
        return f"<Pair: {spans} on {len(self.corpus)} tokens; layers {', '.join(self.layers)}>"

    @property
    def same_spans(self) -> bool:
        """Whether both sides have the same spans with the same labels.

        pandas compares frames by their bytes in UTF-8, which half a surrogate pair in a label has none of.
        """
        gold, pred = self.gold.spans, self.pred.spans
        return all(map(np.array_equal, positions(gold), positions(pred))) and all(
            label_list(gold[layer]) == label_list(pred[layer]) for layer in self.layers
        )

    def layer(self, name: str) -> Pair:
        """The same pair with one layer only."""
        return replace(self, gold=self.gold.only(name), pred=self.pred.only(name), layers=(name,))


def make_pair(
    gold: Reading,
    pred: Reading,
    *,
    strict_tags: bool = False,
    align: bool = False,
    by_position: float | None = None,
) -> Pair:
    """Check that two readings fit each other and bring their spans together.

    Gold governs: its sentence ends hold for both sides. Where gold is running text, its text is cut into words,
    punctuation and at every boundary of either side, and the corpus keeps the text's own spacing and offsets. Where
    gold has tokens, these are cut further at the boundaries of the prediction, and stay gold's otherwise; without
    `align`, a prediction that has tokens must have the same; `by_position` pairs as many tokens of which a share may
    be other words. With `strict_tags` a tag that continues nothing is an
    error.
    """
    if gold.layer_names != pred.layer_names:
        raise OptionError(
            f"the layers differ: {', '.join(gold.layer_names)} in {gold.source.name}, "
            f"{', '.join(pred.layer_names)} in {pred.source.name}. Give the same names on both sides "
            "(--gold-layer, --pred-layer)."
        )
    if by_position is not None and not (gold.tokenised and pred.tokenised):
        text = pred if gold.tokenised else gold
        raise OptionError(f"--align position pairs tokens, but {text.source.name} is running text. Use --align text.")
    gold, pred, notes = _same_documents(gold, pred)
    sides = gold.govern(pred, PairingRules(strict_tags, align, by_position))
    notes = [*gold.notes, *pred.notes, *notes, *sides.notes]
    notes += sides.differences.notes(gold.source.name, pred.source.name)
    for side in (sides.gold, sides.pred):
        notes += orphan_notes(side.source.name, side.orphans)
    layers = tuple(sides.gold.layers)
    return Pair(
        sides.corpus,
        sides.gold,
        sides.pred,
        layers,
        tuple(notes),
        sides.added,
        sides.gold_token,
        by_position is not None,
        sides.differences,
    )


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
        notes += unseen_note(len(unseen))
    if gold.named and pred.named and not set(gold.doc_ids) & set(pred.doc_ids):
        texts = [[document.text for document in side.documents] for side in (gold, pred)]
        places = same_texts(*texts)
        if places is not None:
            pred = pred.renamed([gold.doc_ids[place] for place in places])
            notes.append(
                f"{pred.source.name}: its documents have other IDs than those of {gold.source.name}; they were paired "
                "by their texts"
            )
    if gold.named or gold.tokenised:
        pred = pred.in_order_of(gold.doc_ids, gold.source.name)
    if pred.named and pred.tokenised:  # a token file stays in its order, so gold follows
        gold = gold.in_order_of(pred.doc_ids, pred.source.name)
    return gold, pred, notes


def unseen_note(count: int) -> list[str]:
    """What to tell people about documents that an annotator has not seen."""
    if not count:
        return []
    documents = "1 document" if count == 1 else f"{count} documents"
    return [f"{documents} that the chosen annotator has not seen {'was' if count == 1 else 'were'} left out"]


def spans_on(other: Pair, pair: Pair) -> pd.DataFrame:
    """The predicted spans of another pair with the same gold, on the tokens of this one.

    Two pairs may have cut the tokens differently. A span that begins or ends inside a token is widened to it, and
    where two come to share one, the first stays.
    """
    spans = other.pred.spans
    start, end = positions(spans)
    theirs, ours = _token_places(other), _token_places(pair)
    start = np.searchsorted(ours[1], theirs[0][start], side="right")
    end = np.searchsorted(ours[0], theirs[1][end], side="left") - 1
    free = np.ones(len(spans), dtype=bool)
    free[1:] = start[1:] > np.maximum.accumulate(end)[:-1]
    return spans.assign(start=start, end=end)[free & (end >= start)].reset_index(drop=True)


def _token_places(pair: Pair) -> tuple[IntArray, IntArray]:
    """Where tokens begin and end, in numbers that two pairs with the same gold share."""
    corpus = pair.corpus
    if corpus.char_start is not None and corpus.char_end is not None:
        document = corpus.document_numbers * _DOCUMENT
        return document + corpus.char_start, document + corpus.char_end
    token = np.arange(len(corpus)) if pair.gold_token is None else pair.gold_token
    return token, token + 1


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
