"""The order of a run's cases in its manifest: how suspicion ranks them, and which random ones stand where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.cases.order import CaseOrder, OrderKind, SheetOrder
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.review.packing import DAMAGED, pack, unpack


def pack_order(order: CaseOrder | None) -> str:
    """An order as compressed text; nothing for the order of the text."""
    if order is None:
        return ""
    return pack({"kind": order.kind, "sheets": {sheet: _packed(own) for sheet, own in order.sheets.items()}})


def _packed(order: SheetOrder) -> dict[str, Any]:
    places = np.flatnonzero(order.random[order.shown])
    return {
        "ranked": np.diff(order.ranked, prepend=0).tolist(),
        "places": places.tolist(),
        "random": order.shown[places].tolist(),
    }


def unpack_order(text: str, cases: Sequence[int], where: str = "manifest") -> CaseOrder | None:
    """The order again; `cases` says how many there are on each sheet."""
    if not text:
        return None
    try:
        content = unpack(text)
        sheets = {
            Sheet(name): _order(content["sheets"][name], size)
            for name, size in zip(content["sheets"], cases, strict=True)
        }
        return CaseOrder(OrderKind(content["kind"]), sheets)
    except DAMAGED as error:
        raise InputError(
            f"{where}: the order of the cases in the manifest is damaged ({error}). Ask for the workbook again."
        ) from None


def _order(content: Mapping[str, Any], size: int) -> SheetOrder:
    ranked = np.cumsum(np.array(content["ranked"], dtype=np.int64))
    places, drawn = (np.array(content[name], dtype=np.int64) for name in ("places", "random"))
    if not np.array_equal(np.sort(ranked), np.arange(size)) or len(np.unique(drawn)) < len(drawn):
        raise ValueError("it is not an order of the cases")
    random = np.zeros(size, dtype=bool)
    random[drawn] = True
    shown = np.full(size, -1, dtype=np.int64)
    shown[places] = drawn
    shown[shown < 0] = ranked[~random[ranked]]
    return SheetOrder(shown, ranked, random)
