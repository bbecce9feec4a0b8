"""Loud on nothing: inputs in which there is nothing of what was asked for, before figures are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clueval_xlsx.exceptions import InputError

if TYPE_CHECKING:
    from clueval_xlsx.corpus.pair import Pair
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.figures import InputFacts
    from clueval_xlsx.formats.loading import Content
    from clueval_xlsx.options import ReadOptions


def refuse_nothing(readings: Sequence[Reading], options: Sequence[ReadOptions]) -> None:
    """Raise where a side has no token, lacks the key of annotations, or no side has a tag that was asked for."""
    from clueval_xlsx.formats.loading import Content

    refuse_empty([Content.of(reading, own) for reading, own in zip(readings, options, strict=True)], options[0])


def refuse_empty(contents: Sequence[Content], options: ReadOptions) -> None:
    """Raise where there is nothing in inputs of these contents."""
    from clueval_xlsx.formats.loading import ANNOTATION_KEYS, Lacking

    for content in contents:
        if Lacking.ANNOTATIONS in content.missing:
            raise InputError(
                f"{content.name}: none of its {content.documents} documents has annotations. Allowed: the key "
                f"{ANNOTATION_KEYS[content.format]} in at least one. Check that this is the right file."
            )
        if Lacking.TOKENS in content.missing:
            raise InputError(
                f"{content.name}: no token was read. Check that this is the right file, and its format (--format)."
            )
    _refuse_tags(contents, options)


def _refuse_tags(contents: Sequence[Content], options: ReadOptions) -> None:
    from clueval_xlsx.formats.loading import Lacking
    from clueval_xlsx.formats.registry import format_named
    from clueval_xlsx.options import ReadOptions

    files = [content for content in contents if format_named(content.format).columns]
    if not files:
        return
    usual, names = ReadOptions(), " and ".join(dict.fromkeys(content.name for content in files))
    missing = frozenset.intersection(*(content.missing for content in files))
    if options.document_tag != usual.document_tag and Lacking.DOCUMENT_TAG in missing:
        raise InputError(
            f"{names}: there is no <{options.document_tag}> in it. Give the element that opens a document "
            "(--document-tag), or leave the option out."
        )
    if options.sentence_tag != usual.sentence_tag and Lacking.SENTENCE_TAG in missing:
        raise InputError(
            f"{names}: there is no <{options.sentence_tag}> in it. Give the element that opens a sentence "
            "(--sentence-tag), or leave the option out."
        )


def say_nothing(pair: Pair) -> None:
    """Note what leaves the figures of a pair without meaning."""
    from clueval_xlsx.figures import InputFacts

    say_meaningless(InputFacts.of(pair), same_spans=pair.same_spans)


def say_meaningless(inputs: InputFacts, *, same_spans: bool) -> None:
    """Note what leaves figures without meaning: no gold span, two sides that are the same, a single document."""
    from clueval_xlsx.cli.console import say_notes

    gold, notes = inputs.gold, []
    if _same_input(inputs, same_spans=same_spans):
        notes.append(f"gold and prediction are the same: {gold.name}")
    if not gold.spans:
        notes.append(f"{gold.name} has no gold span, so recall is not defined")
    if inputs.documents == 1:
        notes.append("there is one document only: no 95 % intervals, which come from how documents differ")
    say_notes(notes)


def is_one_input(pair: Pair) -> bool:
    """Whether both sides of a pair are the same: one file, or its copy, read alike."""
    from clueval_xlsx.figures import InputFacts

    return _same_input(InputFacts.of(pair), same_spans=pair.same_spans)


def _same_input(inputs: InputFacts, *, same_spans: bool) -> bool:
    gold, pred = inputs.gold, inputs.pred
    return gold.sha256 == pred.sha256 and dict(gold.columns) == dict(pred.columns) and same_spans
