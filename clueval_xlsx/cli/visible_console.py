"""A console for tables that shows the control characters of its cells instead of sending them to the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from clueval_xlsx.cli.terminal import visible


class VisibleConsole(Console):
    """rich's console; its own colours stay, those of the data do not work."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The pieces of what is printed, each with its control characters made visible."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)
