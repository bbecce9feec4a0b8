"""`validate`: what is wrong with a file, all of it, by cause."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options
from clueval_xlsx.cli.console import counted, say, show
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.idle_options import refuse_idle_reading
from clueval_xlsx.cli.nothing import refuse_nothing
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.options import ReadOptions


@click.command(cls=GroupedCommand, examples=("clueval-xlsx validate gold.vrt pred.vrt",))
@click.argument("files", nargs=-1, required=True)
@click.option("--head", metavar="HASH", help="The head of a log of judgements, as `reimport` printed it.")
@input_options.reading
@common_options.common
@click.pass_context
def validate(ctx: click.Context, /, *, files: tuple[str, ...], head: str | None, reading: ReadOptions) -> None:
    """Check FILES and list what is wrong with them: one line a cause, how often, and the first three places.

    Several files are also compared with the first: they must hold the same documents and tokens (running text:
    the same text). Exit code 0 means that nothing is wrong, 2 that something is. A language file (.toml) is
    checked for missing words, a log of judgements (.jsonl) for lines that were changed, lost or moved.
    """
    found = 0
    first = None
    formats: list[str] = []
    logs = {file: text for file in files if (text := _log_text(file)) is not None}
    _check_head(head, logs)
    for file in files:
        if file in logs:
            found += _check_log(file, logs[file], head)
            continue
        if file.lower().endswith(".toml"):
            found += _check_language(file)
            continue
        try:
            source = input_options.read_input(file, reading)
            refuse_nothing([source], [reading])
        except InputError as error:
            from clueval_xlsx.views.problems import lines_by_cause

            for line in lines_by_cause(error.problems, error.unlisted) if error.problems else [str(error)]:
                show(line)
            found += (len(error.problems) or 1) + error.unlisted
            continue
        formats.append(source.source.format)
        show(_describe(source))
        for note in source.notes:
            if not source.resolved or "(--nested " not in note:  # which the lines below say one by one
                show(f"{note}.")
        for line in source.resolved:
            show(f"{line}.")
        if first is None:
            first = source
            continue
        from clueval_xlsx.corpus.pair import check_same_text

        try:
            check_same_text(first, source)
        except CluevalError as error:
            show(str(error))
            found += 1
    if formats and not found:
        refuse_idle_reading({"": formats})
    if found:
        say(f"{counted(found, 'problem')} found.")
        ctx.exit(2)


def _log_text(file: str) -> str | None:
    """The text of a log of judgements; None if the file is none."""
    from pathlib import Path

    from clueval_xlsx.review.log import is_log

    if not file.lower().endswith((".jsonl", ".ndjson")):
        return None
    try:
        with Path(file).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
            first = next((line for line in stream if line.strip()), "")
            if not is_log(first):
                return None
            stream.seek(0)
            return stream.read()
    except OSError:  # the reading of input files says it better
        return None


def _check_head(head: str | None, logs: Mapping[str, str]) -> None:
    """A head belongs to one log, and looks like one."""
    if head is None:
        return
    if len(logs) != 1:
        raise OptionError(f"--head belongs to one log of judgements; {len(logs) or 'none'} were given. Check one log.")
    if not re.fullmatch(r"[0-9a-fA-F]{64}", head):
        raise OptionError(
            f"--head {head}: found no hash. Allowed: the 64 signs of 0-9 and a-f that `reimport` printed."
        )


def _check_log(file: str, text: str, head: str | None) -> int:
    """List what is wrong with a log of judgements; returns how much."""
    from clueval_xlsx.review.log import check_chain, read_log

    chain = check_chain(text, file, head)
    problems = [str(problem) for problem in chain.problems]
    try:
        read_log(text.removeprefix("\ufeff"), file)
    except InputError as error:
        problems.append(str(error))
    for problem in problems:
        show(problem)
    ties = "and ends with the head given" if head else "its end is not checked without --head"
    show(f"{file}: a log of {counted(chain.lines, 'judgement')}, head {chain.head}; {'broken' if problems else ties}.")
    return len(problems)


def _check_language(file: str) -> int:
    """List what is wrong with a language file; returns how much."""
    from pathlib import Path

    from clueval_xlsx.words import check_language

    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}. Check the path.") from None
    problems = check_language(content, file)
    for problem in problems:
        show(str(problem))
    if not problems:
        show(f"{file}: a complete language file.")
    return len(problems)


def _describe(reading: Reading) -> str:
    """One line about a sound file: sizes, layers with their labels, tags that continue nothing."""

    corpus = reading.corpus
    annotation = reading.annotation
    layers = "; ".join(
        f"{layer}: {counted(len(spans), 'span')}, {counted(spans[layer].nunique(), 'label')}"
        + (f", {orphans} I- that continue nothing" if (orphans := annotation.orphans.get(layer, 0)) else "")
        for layer, spans in annotation.layers.items()
    )
    keys = ", ".join(corpus.metadata_keys()) or "none"
    return (
        f"{reading.source.name}: {reading.source.format}, {counted(len(corpus.documents), 'document')}, "
        f"{counted(len(corpus.breaks), 'sentence')}, {counted(len(corpus), 'token')}; {layers}; metadata: {keys}."
    )
