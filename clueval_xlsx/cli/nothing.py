"""Loud on nothing: inputs in which there is nothing of what was asked for, before figures are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clueval_xlsx.exceptions import InputError

if TYPE_CHECKING:
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.formats.options import ReadOptions

# The key under which documents have their annotations.
_KEYS = {"presidio": "spans", "tab": "annotations (predictions: presidio_detected_pii)", "label-studio": "annotations"}


def refuse_nothing(readings: Sequence[Reading], options: Sequence[ReadOptions]) -> None:
    """Raise where a side has no token, lacks the key of annotations, or no side has a tag that was asked for."""
    for reading in readings:
        name = reading.source.name
        homes = getattr(reading, "homes", ())
        if reading.source.format in _KEYS and homes and not any(home is not None for home in homes):
            raise InputError(
                f"{name}: none of its {len(homes)} documents has annotations. Allowed: the key "
                f"{_KEYS[reading.source.format]} in at least one. Check that this is the right file."
            )
        if not (len(reading.corpus) if reading.tokenised else any(each.text.strip() for each in reading.documents)):
            raise InputError(
                f"{name}: no token was read. Check that this is the right file, and its format (--format)."
            )
    _refuse_tags(readings, options[0])


def _refuse_tags(readings: Sequence[Reading], options: ReadOptions) -> None:
    from clueval_xlsx.formats.options import ReadOptions
    from clueval_xlsx.formats.registry import format_named

    files = [reading for reading in readings if format_named(reading.source.format).columns]
    if not files:
        return
    usual, names = ReadOptions(), " and ".join(dict.fromkeys(reading.source.name for reading in files))
    if options.document_tag != usual.document_tag and all(reading.nameless for reading in files):
        raise InputError(
            f"{names}: there is no <{options.document_tag}> in it. Give the element that opens a document "
            "(--document-tag), or leave the option out."
        )
    inside = [reading.corpus.regions for reading in files]
    if options.sentence_tag != usual.sentence_tag and not any(options.sentence_tag in regions for regions in inside):
        raise InputError(
            f"{names}: there is no <{options.sentence_tag}> in it. Give the element that opens a sentence "
            "(--sentence-tag), or leave the option out."
        )


def say_nothing(pair: Pair) -> None:
    """Note what leaves figures without meaning: no gold span, two sides that are the same, a single document."""
    from clueval_xlsx.cli.console import say_notes

    gold, pred = pair.gold.source, pair.pred.source
    notes = []
    if (
        gold.sha256 == pred.sha256
        and dict(gold.columns) == dict(pred.columns)
        and pair.gold.spans.equals(pair.pred.spans)
    ):
        notes.append(f"gold and prediction are the same: {gold.name}")
    if not len(pair.gold.spans):
        notes.append(f"{gold.name} has no gold span, so recall is not defined")
    if len(pair.corpus.documents) == 1:
        notes.append("there is one document only: no 95 % intervals, which come from how documents differ")
    say_notes(notes)
