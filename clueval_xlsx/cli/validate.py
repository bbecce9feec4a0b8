"""`validate`: what is wrong with a file, all of it, by cause."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import grouped, say, show
from clueval_xlsx.cli.inputs import file_content, misplaced_workbook, read_input, reading_of
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading


def run(call: Call, files: Sequence[str]) -> int:
    """Check every file, and that all hold the same text; 2 if something is wrong."""
    head, logs = call.value("output.head"), [file for file in files if _is_log(file)]
    if head is not None and len(logs) != 1:
        raise OptionError(f"--head belongs to one log of judgements; {len(logs) or 'none'} were given. Check one log.")
    if head is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", head):
        raise OptionError(f"--head {head}: is no hash. Allowed: the 64 signs of 0-9 and a-f that `reimport` printed.")
    first: Reading | None = None
    formats: list[str] = []
    problems = 0
    for file in files:
        if file in logs:
            problems += _check_log(file, head)
        elif file.lower().endswith(".toml"):
            problems += _check_language(file)
        else:
            reading, wrong = _read(call, file)
            problems += wrong
            if reading is not None:
                formats.append(reading.source.format)
                problems += 0 if first is None else _check_text(first, reading)
                first = first or reading
    if formats and not problems:
        call.refuse_idle_reading({"": formats})
    if problems:
        say(f"{counted(problems, 'problem')} found.")
    return 2 if problems else 0


def _read(call: Call, file: str) -> tuple[Reading | None, int]:
    """A file that can be read, which is described; what is wrong with any other is listed and counted."""
    from clueval_xlsx.formats.loading import Content, refuse_empty

    how = reading_of(call)
    try:
        reading = read_input(call, file, how)
        refuse_empty([Content.of(reading, how)], how)
    except InputError as error:
        wrong = misplaced_workbook(file) or error
        problems = [(problem.where, problem.sentence) for problem in wrong.problems]
        for line in grouped(problems, wrong.unlisted) if problems else [str(wrong)]:
            show(line)
        return None, (len(problems) or 1) + wrong.unlisted
    show(_describe(reading))
    # What was decided between overlapping annotations is listed one by one, and need not be counted beside that.
    notes = [note for note in reading.notes if not reading.resolved or "(--nested " not in note]
    for note in notes:
        show(f"{note}.")
    for line in reading.resolved:
        show(f"{line}.")
    return reading, 0


def _check_text(first: Reading, reading: Reading) -> int:
    from clueval_xlsx.corpus.pair import check_same_text

    try:
        check_same_text(first, reading)
    except CluevalError as error:
        show(str(error))
        return 1
    return 0


def _is_log(file: str) -> bool:
    """Whether a file is a log of judgements."""
    from pathlib import Path

    from clueval_xlsx.review.log import is_log

    if not file.lower().endswith((".jsonl", ".ndjson")):
        return False
    try:
        with Path(file).open(encoding="utf-8-sig", errors="surrogateescape") as stream:
            return is_log(next((line for line in stream if line.strip()), ""))
    except OSError:  # the reading of input files says it better
        return False


def _check_log(file: str, head: str | None) -> int:
    """List what is wrong with a log of judgements; returns how much."""
    from clueval_xlsx.review.log import check_chain, read_log

    text = file_content(file).decode("utf-8-sig", "surrogateescape")
    chain = check_chain(text, file, head)
    problems = [str(problem) for problem in chain.problems]
    try:
        read_log(text, file)
    except InputError as error:
        problems.append(str(error))
    for problem in problems:
        show(problem)
    ties = "and ends with the head given" if head else "its end is not checked without --head"
    show(f"{file}: a log of {counted(chain.lines, 'judgement')}, head {chain.head}; {'broken' if problems else ties}.")
    return len(problems)


def _check_language(file: str) -> int:
    """List what is wrong with a language file; returns how much."""
    from clueval_xlsx.words import check_language

    problems = check_language(file_content(file), file)
    for line in [str(problem) for problem in problems] or [f"{file}: a complete language file."]:
        show(line)
    return len(problems)


def _describe(reading: Reading) -> str:
    """One line about a sound file: sizes, layers with their labels, tags that continue nothing."""
    corpus, annotation = reading.corpus, reading.annotation
    layers = []
    for layer, spans in annotation.layers.items():
        orphans = annotation.orphans.get(layer, 0)
        more = f", {orphans} I- that continue nothing" if orphans else ""
        layers.append(f"{layer}: {counted(len(spans), 'span')}, {counted(spans[layer].nunique(), 'label')}{more}")
    sizes = f"{counted(len(corpus.documents), 'document')}, {counted(len(corpus.breaks), 'sentence')}"
    keys = ", ".join(corpus.metadata_keys()) or "none"
    return (
        f"{reading.source.name}: {reading.source.format}, {sizes}, {counted(len(corpus), 'token')}; "
        f"{'; '.join(layers)}; metadata: {keys}."
    )
