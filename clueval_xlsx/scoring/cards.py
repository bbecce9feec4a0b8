"""Large figures side by side as a piece of HTML, for notebooks: names and numbers, and no word of a corpus."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape
from typing import NamedTuple

_CARD = "background:#f5f7fa;color:#1f2933;border-radius:6px;padding:.5em .9em"


class Card(NamedTuple):
    """A figure: its name, its value as text, and a note below it."""

    name: str
    value: str
    note: str = ""


def rate_card(name: str, value: float | None, note: str = "") -> Card:
    """A rate in per cent.

    >>> rate_card("Recall", 0.7123).value, rate_card("Recall", None).value
    ('71.2 %', 'n/a')
    """
    return Card(name, "n/a" if value is None or math.isnan(value) else f"{100 * value:.1f} %", note)


def cards_html(cards: Iterable[Card]) -> str:
    """The cards in a row that wraps.

    >>> "&lt;b&gt;" in cards_html([Card("<b>", "1")])
    True
    """
    parts = (
        f'<div style="{_CARD}"><div>{escape(card.name)}</div><div style="font-size:1.5em;font-weight:600">'
        f"{escape(card.value)}</div><small>{escape(card.note)}</small></div>"
        for card in cards
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.6em;margin:.4em 0">{"".join(parts)}</div>'
