"""Schemes: one module for each way to count; all of them turn the same matched pair into tallies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from clueval_xlsx.options.values import SCHEMES
from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.scoring.names import strict_variant

# ---- The tallies of the schemes that were chosen, strict ones beside relaxed ones

Scheme = Callable[[MatchedPair], list[Tally]]


def scheme(name: str) -> Scheme:
    """The function that computes a scheme's tallies."""
    if name not in SCHEMES:
        raise KeyError(name)
    tallies: Scheme = import_module(f"clueval_xlsx.scoring.schemes.{name}").tallies
    return tallies


def chosen_tallies(strict: MatchedPair, relaxed: MatchedPair | None = None) -> list[Tally]:
    """The tallies of all chosen schemes, each scheme's strict ones before its relaxed ones."""
    found = []
    for name in strict.options.chosen:
        tallies = scheme(name)(strict)
        found += tallies
        if relaxed is not None:
            counterparts = {(tally.variant, tally.level, tally.labelled): tally for tally in tallies}
            for tally in scheme(name)(relaxed):
                found.append(
                    _mark_relaxed(tally, counterparts[strict_variant(tally.variant), tally.level, tally.labelled])
                )
    return found


def _mark_relaxed(relaxed: Tally, strict: Tally) -> Tally:
    """Say which gold units of a relaxed tally are right only because of an equivalence."""
    if not relaxed.available or relaxed.gold.relaxed is not None:
        return relaxed
    labels = relaxed.label_sides
    if labels is not None and strict.label_sides is not None:
        labels = (_gained(labels[0], strict.label_sides[0]), labels[1])
    return replace(relaxed, gold=_gained(relaxed.gold, strict.gold), label_sides=labels)


def _gained(relaxed: Side, strict: Side) -> Side:
    return replace(relaxed, relaxed=relaxed.credit > strict.credit)
