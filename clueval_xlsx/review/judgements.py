"""The judgements that people can choose: the tool's own, those of a project, and what is filled in for a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.vocabulary import Effect, Scope, Severity


@dataclass(frozen=True)
class Judgement:
    """One thing a person can decide: its code, what it does, on which sheets it is offered, and its words."""

    code: str
    effect: Effect
    sheets: tuple[Sheet, ...] = (FN, FP)
    words: Mapping[str, str] = field(default_factory=dict)  # language -> words; empty: from the language files
    digit: str = ""  # that is enough to choose it; the same on every sheet


JUDGEMENTS = (
    Judgement("model_error", Effect.NONE, digit="1"),
    Judgement("confirmed", Effect.NONE, (AG,), digit="1"),
    Judgement("rightly_unmarked", Effect.NONE, (UM,), digit="1"),
    Judgement("gold_wrong", Effect.DELETE, (FN, AG), digit="2"),
    Judgement("gold_missing", Effect.ADD, (FP,), digit="2"),
    Judgement("should_be_marked", Effect.ADD, (UM,), digit="2"),
    Judgement("boundary", Effect.BOUNDARY, (FN, FP, AG), digit="3"),
    Judgement("label", Effect.LABEL, (FN, FP, AG), digit="4"),
    Judgement("acceptable", Effect.ACCEPT, digit="5"),
    Judgement("unclear", Effect.OPEN, (FN, FP, AG, UM), digit="6"),
)
OWN_DIGITS = "789"  # of a project's judgements, in their order; further ones go by words only


@dataclass(frozen=True)
class Answer:
    """What a person fills into the annotation columns of one case; codes where there are codes."""

    judgement: str = ""
    correct_span: str = ""  # a `SpanChoice`, or the words themselves
    correct_labels: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None
    comment: str = ""
    applies_to: Scope | None = None  # None: this case alone


def words_of(judgement: Judgement, language: str, standard: Mapping[str, str]) -> str:
    """The words of a judgement in a language; a custom one falls back to English, then to any, then to its code."""
    if not judgement.words:
        return standard[judgement.code]
    return judgement.words.get(language) or judgement.words.get("en") or next(iter(judgement.words.values()))


def custom_judgements(tables: Mapping[str, Mapping[str, Any]], where: str = "config") -> tuple[Judgement, ...]:
    """Judgements that a project defines in TOML: `[judgements.CODE]` with `effect`, words, and maybe `sheets`.

    The first three get the digits that the tool's own leave over.

    >>> (public,) = custom_judgements({"public": {"effect": "gold_wrong", "en": "Public figure", "sheets": ["FN"]}})
    >>> public.effect, public.sheets, public.words, public.digit
    (<Effect.DELETE: 'delete'>, (<Sheet.FN: 'FN'>,), {'en': 'Public figure'}, '7')
    """
    from clueval_xlsx.words import in_every_language

    effects = {judgement.code: judgement.effect for judgement in JUDGEMENTS}
    offered = {judgement.code: judgement.sheets for judgement in JUDGEMENTS}
    taken = {normalise(code): code for code in effects}
    for code in effects:
        taken.update(dict.fromkeys(map(normalise, in_every_language(f"judgement.{code}").values()), code))
    found: list[Judgement] = []
    for code, table in tables.items():
        effect = table.get("effect")
        if not isinstance(effect, str) or effect not in effects:
            hint = did_you_mean(effect, effects) if isinstance(effect, str) else ""
            raise OptionError(
                f"{where}: judgement {code!r} has effect {effect!r}.{hint} Allowed: {', '.join(effects)}. "
                "A judgement of your own has the effect of one of these."
            )
        if code in effects:
            raise OptionError(f"{where}: {code!r} is a judgement of the tool. Choose another code for your own.")
        words = {key: value for key, value in table.items() if key not in {"effect", "sheets"}}
        if not words:
            raise OptionError(f'{where}: judgement {code!r} has no words. Give at least one, such as en = "…".')
        for language, text in words.items():
            if not isinstance(text, str) or not normalise(text):
                raise OptionError(f"{where}: judgement {code!r}, {language}: found {text!r}. Allowed: a text.")
            for meant in (normalise(code), normalise(text)):
                if taken.setdefault(meant, code) != code:
                    raise OptionError(
                        f"{where}: judgement {code!r}, {language}: {text!r} already means {taken[meant]!r}. "
                        "Choose other words, so that nobody mistakes one for the other."
                    )
        sheets = table.get("sheets", list(offered[effect]))
        if not isinstance(sheets, list) or not sheets or any(sheet not in offered[effect] for sheet in sheets):
            raise OptionError(
                f"{where}: judgement {code!r} has sheets {sheets!r}. "
                f"Allowed with effect {effect}: a list of {', '.join(offered[effect])}."
            )
        digit = OWN_DIGITS[len(found) : len(found) + 1]
        found.append(Judgement(code, effects[effect], tuple(dict.fromkeys(map(Sheet, sheets))), words, digit))
    return tuple(found)
