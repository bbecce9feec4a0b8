"""How one token file is read: which column holds what, as it was asked for and as it was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.formats.columns.finding import WantedColumns, find_columns
from clueval_xlsx.formats.columns.structure import LineRules
from clueval_xlsx.formats.columns.tag_cells import TagPlace
from clueval_xlsx.formats.options import ERROR, ReadOptions


@dataclass(frozen=True)
class TokenFormat:
    """How to read one token file. Columns are counted from 1; the token is column 1 unless `token` says otherwise.

    `layers` are columns, names that a header gives or keys of a column's cells, as they were asked for; `places` is
    where they were found.
    """

    conll: bool = False
    layers: Mapping[str, int | str | None] = field(default_factory=dict)
    token: int | str | None = None
    token_id: int | None = None
    document_id: int | None = None
    sentence_id: int | None = None
    columns: Mapping[str, int] = field(default_factory=dict)
    space_column: int | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    several_tags: str = ERROR
    text_only: bool = False
    tabs_only: bool = False
    origin: LineOrigin | None = None
    places: Mapping[str, TagPlace] = field(default_factory=dict)
    rules: LineRules = field(default_factory=LineRules)
    tabs: bool = True

    @classmethod
    def of(cls, options: ReadOptions, *, conll: bool = False) -> TokenFormat:
        """What of the options concerns a token file."""
        return cls(
            conll=conll,
            layers=options.layers,
            token=options.token,
            token_id=options.token_id,
            document_id=options.document_id,
            sentence_id=options.sentence_id,
            columns=options.columns,
            space_column=options.space_column,
            document_tag=options.document_tag,
            sentence_tag=options.sentence_tag,
            several_tags=options.several_tags,
            text_only=options.text_only,
        )

    def on(self, data: bytes, begin: int, name: str) -> TokenFormat:
        """The same with everything found that this file leaves to be found."""
        others = frozenset(self.wanted_as_text().values())
        wanted = WantedColumns(self.layers, self.token, others, text_only=self.text_only, tabs_only=self.tabs_only)
        found = find_columns(data, begin, wanted, name, conll=self.conll)
        placed = replace(
            self,
            places=found.layers,
            token=found.token,
            tabs=found.tabs,
            space_column=self.space_column or found.misc,
        )
        least = max([found.token, *placed.wanted().values()])
        rules = LineRules(self.conll, found.indexed, found.header, least, found.shared)
        return replace(placed, rules=rules)

    @property
    def token_column(self) -> int:
        """The column of the tokens, once it was found."""
        return self.token if isinstance(self.token, int) else 1

    def wanted(self) -> dict[str, int]:
        """Every column that is read besides the token, with the words that name it in a message."""
        return {**{f"layer {name}": place.column for name, place in self.places.items()}, **self.wanted_as_text()}

    def wanted_as_text(self) -> dict[str, int]:
        """Those of them that are not tags."""
        wanted = {f"column {name}": column for name, column in self.columns.items()}
        for name, column in (
            ("token ID", self.token_id),
            ("document ID", self.document_id),
            ("sentence ID", self.sentence_id),
            ("spacing", self.space_column),
        ):
            if column is not None:
                wanted[name] = column
        return wanted
