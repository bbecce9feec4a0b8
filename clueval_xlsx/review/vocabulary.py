"""What the workbook writer and the re-import share: sheets, columns, judgements, choices, run IDs."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.exceptions import OptionError

MANIFEST_SCHEMA = 1
MANIFEST_CHUNK = 30_000  # characters in one cell; Excel's limit is 32,767 UTF-16 units
RUN_ID_MARK = "clueval-run:"  # stands before the run ID in a cell of every review sheet

LISTS_SHEET = "clueval_lists"
MANIFEST_SHEET = "clueval_manifest"

# Columns of a case row, by the key of their header (`column.KEY`).
BLOCK_ID_COLUMN = "case_again"  # the case ID once more, inside the annotation block
ANNOTATION_COLUMNS = ("judgement", "correct_span", "correct_label", "severity", "comment")
LAYER_COLUMNS = frozenset({"label", "other_label", "correct_label"})  # these stand once for each layer

# How a correct span can be chosen; anything else typed there is taken as the exact words.
SPAN_CHOICES = ("as_reference", "as_model", "both", "common")
SEVERITIES = ("direct", "quasi", "harmless")

# What a judgement can do to the gold standard.
EFFECTS = ("none", "delete", "add", "boundary", "label", "accept", "open")


@dataclass(frozen=True)
class Judgement:
    """One thing a person can decide: its code, what it does, on which sheets it is offered, and its words."""

    code: str
    effect: str
    sheets: tuple[str, ...] = (FN, FP)
    words: Mapping[str, str] = field(default_factory=dict)  # language -> words; empty: from the language files


JUDGEMENTS = (
    Judgement("model_error", "none"),
    Judgement("confirmed", "none", (AG,)),
    Judgement("gold_wrong", "delete", (FN, AG)),
    Judgement("gold_missing", "add", (FP,)),
    Judgement("boundary", "boundary", (FN, FP, AG)),
    Judgement("label", "label", (FN, FP, AG)),
    Judgement("acceptable", "accept"),
    Judgement("unclear", "open", (FN, FP, AG)),
)


@dataclass(frozen=True)
class Answer:
    """What a person fills into the annotation columns of one case; codes where there are codes."""

    judgement: str = ""
    correct_span: str = ""  # one of SPAN_CHOICES, or the words themselves
    correct_labels: Mapping[str, str] = field(default_factory=dict)
    severity: str = ""
    comment: str = ""


def words_of(judgement: Judgement, language: str, standard: Mapping[str, str]) -> str:
    """The words of a judgement in a language; a custom one falls back to English, then to any, then to its code."""
    if not judgement.words:
        return standard[judgement.code]
    return judgement.words.get(language) or judgement.words.get("en") or next(iter(judgement.words.values()))


def custom_judgements(tables: Mapping[str, Mapping[str, Any]], where: str = "config") -> tuple[Judgement, ...]:
    """Judgements that a project defines in TOML: `[judgements.CODE]` with `effect`, words, and maybe `sheets`.

    >>> custom_judgements({"public": {"effect": "gold_wrong", "en": "Public figure", "sheets": ["FN"]}})
    (Judgement(code='public', effect='delete', sheets=('FN',), words={'en': 'Public figure'}),)
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
        found.append(Judgement(code, effects[effect], tuple(dict.fromkeys(sheets)), words))
    return tuple(found)


def run_id(gold_sha256: str, pred_sha256: str, settings: Mapping[str, Any]) -> str:
    """A short name of a run that derives from its inputs, so that a lost manifest can be checked against them.

    >>> run_id("aa" * 32, "bb" * 32, {"level": "exact"})
    'aaaaaaaaaa-bbbbbbbbbb-2bd4669f'
    """
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=list)
    hashed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{gold_sha256[:10]}-{pred_sha256[:10]}-{hashed[:8]}"


def normalise(text: object) -> str:
    """A cell's text as it is compared: no case, no invisible characters, single spaces.

    >>> normalise(" Model\\u00a0is  WRONG\\u2060 ")
    'model is wrong'
    """
    return "" if text is None else _normalised(str(text))


@lru_cache(maxsize=4096)  # words of lists and headers come again in every row
def _normalised(text: str) -> str:
    shown = unicodedata.normalize("NFC", text).replace("\u2060", "").replace("\ufeff", "").replace("\u200b", "")
    return " ".join(shown.split()).casefold()


def chunks(text: str, size: int = MANIFEST_CHUNK) -> Sequence[str]:
    """Cut a text into pieces that fit into cells."""
    return [text[begin : begin + size] for begin in range(0, len(text), size)] or [""]
