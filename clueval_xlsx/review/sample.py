"""How the cases of a workbook were drawn, as its manifest remembers it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class AgreedSample(msgspec.Struct, frozen=True):
    """How many of the agreed spans were asked for, drawn, and there."""

    seed: int
    size: int
    drawn: int
    there: int


class Sample(msgspec.Struct, frozen=True, omit_defaults=True):
    """The sample of cases and that of agreed spans, each if there is one."""

    seed: int | None = None
    size: int | None = None  # units that were asked for; None: all cases are handed out
    strata: Mapping[str, tuple[int, int]] = {}  # stratum -> (units drawn, units there are)
    agreed: AgreedSample | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether anything was drawn at all."""
        return self.size is not None or self.agreed is not None
