"""How a source is read, and how one is written: options as they leave the command line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from clueval_xlsx.options import ReadOptions

GOLD: Final = "gold"
PRED: Final = "pred"
UNION, FIRST = "union", "first"
ERROR, WARN, JOIN, SPLIT, LAYERS = "error", "warn", "join", "split", "layers"
# What a message says where there may be two sides; a command that knows none leaves it out (`cli.input_options`).
ONE_SIDE = " (--gold-layer, --pred-layer for one side)"
FIELDS_OF_ONE_SIDE = " (gold.field, pred.field for one side)"
DEFAULT_COLUMN = 2


@dataclass(frozen=True)
class WriteOptions:
    """How to write: the name of the file or folder, and whether sentence ends are written (None: as usual)."""

    name: str
    sentences: bool | None = None


@dataclass(frozen=True)
class ReadOverrides:
    """Reading options that somebody chose, to go before those that a workbook remembers: the fields of these names."""

    options: ReadOptions = field(default_factory=ReadOptions)
    names: frozenset[str] = frozenset()

    def over(self, remembered: ReadOptions) -> ReadOptions:
        """What was remembered, with what was chosen.

        >>> ReadOverrides(ReadOptions(offsets="utf16"), frozenset({"offsets"})).over(ReadOptions(token_id=4)).token_id
        4
        """
        return replace(remembered, **{name: getattr(self.options, name) for name in self.names})
