"""The judgements that people can choose: the tool's own, those of a project, and what is filled in for a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clueval_xlsx.cases.kinds import AG, FN, FP, Sheet
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.vocabulary import Effect, Severity


@dataclass(frozen=True)
class Judgement:
    """One thing a person can decide: its code, what it does, on which sheets it is offered, and its words."""

    code: str
    effect: Effect
    sheets: tuple[Sheet, ...] = (FN, FP)
    words: Mapping[str, str] = field(default_factory=dict)  # language -> words; empty: from the language files


JUDGEMENTS = (
    Judgement("model_error", Effect.NONE),
    Judgement("confirmed", Effect.NONE, (AG,)),
    Judgement("gold_wrong", Effect.DELETE, (FN, AG)),
    Judgement("gold_missing", Effect.ADD, (FP,)),
    Judgement("boundary", Effect.BOUNDARY, (FN, FP, AG)),
    Judgement("label", Effect.LABEL, (FN, FP, AG)),
    Judgement("acceptable", Effect.ACCEPT),
    Judgement("unclear", Effect.OPEN, (FN, FP, AG)),
)


@dataclass(frozen=True)
class Answer:
    """What a person fills into the annotation columns of one case; codes where there are codes."""

    judgement: str = ""
    correct_span: str = ""  # a `SpanChoice`, or the words themselves
    correct_labels: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None
    comment: str = ""


def words_of(judgement: Judgement, language: str, standard: Mapping[str, str]) -> str:
    """The words of a judgement in a language; a custom one falls back to English, then to any, then to its code."""
    if not judgement.words:
        return standard[judgement.code]
    return judgement.words.get(language) or judgement.words.get("en") or next(iter(judgement.words.values()))


def custom_judgements(tables: Mapping[str, Mapping[str, Any]], where: str = "config") -> tuple[Judgement, ...]:
    """Judgements that a project defines in TOML: `[judgements.CODE]` with `effect`, words, and maybe `sheets`.

    >>> (public,) = custom_judgements({"public": {"effect": "gold_wrong", "en": "Public figure", "sheets": ["FN"]}})
    >>> public.effect, public.sheets, public.words
    (<Effect.DELETE: 'delete'>, (<Sheet.FN: 'FN'>,), {'en': 'Public figure'})
    """
    from clueval_xlsx.words import in_every_language

    effects = {judgement.code: judgement.effect for judgement in JUDGEMENTS}
    offered = {judgement.code: judgement.sheets for judgement in JUDGEMENTS}
    taken = {normalise(code): code for code in effects}
    for code in effects:
        taken.update(dict.fromkeys(map(normalise, in_every_language(f"judgement.{code}").values()), code))
    found = []
    for code, table in tables.items():
        effect = table.get("effect")
        if not isinstance(effect, str) or effect not in effects:
            raise OptionError(
                f"{where}: judgement {code!r} has effect {effect!r}. Allowed: {', '.join(effects)}. "
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
        found.append(Judgement(code, effects[effect], tuple(dict.fromkeys(map(Sheet, sheets))), words))
    return tuple(found)
