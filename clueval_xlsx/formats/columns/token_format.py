"""How one token file is read: which column holds what, as it was asked for and as it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.formats.columns.finding import WantedColumns, find_columns
from clueval_xlsx.formats.columns.structure import LineRules
from clueval_xlsx.formats.columns.tag_cells import TagPlace
from clueval_xlsx.options import ReadOptions


@dataclass(frozen=True)
class TokenFormat:
    """How to read one token file: what was asked for, and where it was found. Columns are counted from 1."""

    asked: ReadOptions = field(default_factory=ReadOptions)
    conll: bool = False
    tabs_only: bool = False
    origin: LineOrigin | None = None
    token_column: int = 1
    space_column: int | None = None
    places: Mapping[str, TagPlace] = field(default_factory=dict)
    rules: LineRules = field(default_factory=LineRules)
    tabs: bool = True

    def on(self, data: bytes, begin: int, name: str) -> TokenFormat:
        """The same with everything found that this file leaves to be found."""
        asked = self.asked
        placed = replace(self, space_column=asked.space_column)
        others = frozenset(placed.wanted_as_text().values())
        wanted = WantedColumns(asked.layers, asked.token, others, text_only=asked.text_only, tabs_only=self.tabs_only)
        found = find_columns(data, begin, wanted, name, conll=self.conll)
        placed = replace(
            placed,
            places=found.layers,
            token_column=found.token,
            tabs=found.tabs,
            space_column=asked.space_column or found.misc,
        )
        least = max([found.token, *placed.wanted().values()])
        rules = LineRules(self.conll, found.indexed, found.header, least, found.shared)
        return replace(placed, rules=rules)

    def wanted(self) -> dict[str, int]:
        """Every column that is read besides the token, with the words that name it in a message."""
        return {**{f"layer {name}": place.column for name, place in self.places.items()}, **self.wanted_as_text()}

    def wanted_as_text(self) -> dict[str, int]:
        """Those of them that are not tags."""
        wanted = {f"column {name}": column for name, column in self.asked.columns.items()}
        for name, column in (
            ("token ID", self.asked.token_id),
            ("document ID", self.asked.document_id),
            ("sentence ID", self.asked.sentence_id),
            ("spacing", self.space_column),
        ):
            if column is not None:
                wanted[name] = column
        return wanted
