"""Writing from the command line: one set of outputs that spares people's work, unless they say --force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from clueval_xlsx.files.outputs import Guard, Outputs

force_option = click.option(
    "--force", is_flag=True, help="Overwrite workbooks that have judgements in them, or that cannot be read."
)


def guard(force: bool) -> Guard | None:
    """What keeps judged workbooks from being overwritten; nothing does where somebody said --force."""
    return None if force else _why_not_overwrite


def guarded_outputs(inputs: Iterable[str | Path], *, force: bool) -> Outputs:
    """The outputs of a command, which spare its inputs and what people have judged."""
    from clueval_xlsx.files.outputs import Outputs

    return Outputs(inputs, guard(force))


def _why_not_overwrite(data: bytes, name: str) -> str:
    from clueval_xlsx.review.existing_judgements import why_not_overwrite

    return why_not_overwrite(data, name)
