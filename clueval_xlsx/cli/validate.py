"""`validate`: what is wrong with a file, all of it, by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, input_options
from clueval_xlsx.cli.console import say, show
from clueval_xlsx.exceptions import CluevalError, InputError

if TYPE_CHECKING:
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.formats.options import ReadOptions


@click.command()
@click.argument("files", nargs=-1, required=True)
@input_options.reading
@common_options.common
@click.pass_context
def validate(ctx: click.Context, /, *, files: tuple[str, ...], reading: ReadOptions) -> None:
    """Check FILES and list every problem with its line.

    Several files are also compared with the first: they must hold the same documents and tokens (running text:
    the same text). Exit code 0 means that nothing is wrong, 2 that something is. A language file (.toml) is
    checked for missing words.
    """
    found = 0
    first = None
    for file in files:
        if file.lower().endswith(".toml"):
            found += _check_language(file)
            continue
        try:
            source = input_options.read_input(file, reading)
        except InputError as error:
            for problem in error.problems or (error,):
                show(str(problem))
            if error.unlisted:
                show(f"{file}: and {error.unlisted} more problems of these kinds.")
            found += (len(error.problems) or 1) + error.unlisted
            continue
        show(_describe(source))
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
    if found:
        say(f"{found} problem{'s' if found != 1 else ''} found.")
        ctx.exit(2)


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
    from clueval_xlsx.corpus.reading import annotate

    corpus = reading.corpus
    annotation = annotate(reading)
    layers = "; ".join(
        f"{layer}: {len(spans)} spans, {spans[layer].nunique()} labels, "
        f"{annotation.orphans.get(layer, 0)} I- that continue nothing"
        for layer, spans in annotation.layers.items()
    )
    keys = ", ".join(corpus.metadata_keys()) or "none"
    return (
        f"{reading.source.name}: {reading.source.format}, {len(corpus.documents)} documents, "
        f"{len(corpus.breaks)} sentences, {len(corpus)} tokens; {layers}; metadata: {keys}."
    )
