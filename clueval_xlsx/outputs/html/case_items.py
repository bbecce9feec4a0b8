"""One case as it stands in a page without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.cases.contexts import Segment
from clueval_xlsx.cases.kinds import FN
from clueval_xlsx.review.case_words import case_name, labels_text
from clueval_xlsx.words import Words


@dataclass(frozen=True)
class CaseItem:
    """What a page says about a case; `relaxed`: an equivalent label would settle it; `alike`: with all its twins."""

    case_id: str
    sheet: str
    kind: str
    document: str
    sentence: str | None
    reference: str
    model: str
    segments: Sequence[Segment]
    relaxed: bool = False
    alike: int = 1


def case_item(row: Mapping[Any, Any], layers: Sequence[str], words: Words) -> CaseItem:
    """A case of one evaluation."""
    own, other = (
        labels_text([row[f"{side}_{layer}"] for layer in layers]) or words["html.nothing"]
        for side in ("label", "other_label")
    )
    reference, model = (own, other) if row["sheet"] == FN else (other, own)
    kind = case_name(row["sheet"], row["class"], words)
    place = (row["document"], row["sentence"] or None)
    return CaseItem(
        row["case_id"],
        row["sheet"],
        kind,
        *place,
        reference,
        model,
        row["segments"],
        relaxed=bool(row["relaxed"]),
        alike=int(row["alike"]),
    )
