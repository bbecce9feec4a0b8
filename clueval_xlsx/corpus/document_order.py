"""Documents of two sides paired by their IDs, with the missing ones listed; by their text where no ID is shared."""

from __future__ import annotations

from collections.abc import Sequence

from clueval_xlsx.exceptions import InputError

_SHOWN = 5


def order_like(wanted: Sequence[str], own: Sequence[str], names: tuple[str, str]) -> list[int]:
    """The own documents in the order of others; raises where one side has a document that the other has not."""
    number = {doc_id: index for index, doc_id in enumerate(own)}
    missing = [doc_id for doc_id in wanted if doc_id not in number]
    known = set(wanted)
    beyond = [doc_id for doc_id in own if doc_id not in known]
    if missing or beyond:
        said = [
            f"{_listed(documents)} of {here} {'is' if len(documents) == 1 else 'are'} not in {there}"
            for documents, here, there in ((missing, *names), (beyond, *reversed(names)))
            if documents
        ]
        known_words = f", which has {', '.join(map(repr, list(own)[:_SHOWN]))}" if missing and not beyond else ""
        raise InputError(
            f"the documents differ: {'; '.join(said)}{known_words}. Both sides must hold the same documents."
        )
    return [number[doc_id] for doc_id in wanted]


def _listed(documents: Sequence[str]) -> str:
    more = f" and {len(documents) - _SHOWN} more" if len(documents) > _SHOWN else ""
    return ", ".join(map(repr, documents[:_SHOWN])) + more


def same_texts(wanted: Sequence[str], own: Sequence[str]) -> list[int] | None:
    """Which of the wanted texts each own one is, white space aside; None where that is not clear for all of them.

    >>> same_texts(["a b", "c"], ["c", "ab"]), same_texts(["a", "a"], ["a", "a"])
    ([1, 0], None)
    """
    number = {"".join(text.split()): index for index, text in enumerate(wanted)}
    if len(number) < len(wanted) or len(wanted) != len(own):
        return None
    found = [number.get("".join(text.split())) for text in own]
    places = [place for place in found if place is not None]
    return places if len(set(places)) == len(own) else None
