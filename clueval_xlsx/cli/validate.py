"""`validate`: what is wrong with a file, all of it, by cause."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import counted, say, show
from clueval_xlsx.cli.inputs import read_input, reading_of, refuse_empty
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading

_PLACES = 3  # that are named of problems with one cause
_PARTICULAR = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+(?:[.,]\d+)*|\([^()]*\)")


def run(call: Call, files: Sequence[str]) -> int:
    """Check every file, and that all hold the same text; 2 if something is wrong."""
    from clueval_xlsx.formats.loading import Content

    head, how = call.value("output.head"), reading_of(call)
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
            source = read_input(call, file, how)
            refuse_empty([Content.of(source, how)], how)
        except InputError as error:
            for line in _lines_by_cause(error.problems, error.unlisted) if error.problems else [str(error)]:
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
        call.refuse_idle_reading({"": formats})
    if found:
        say(f"{counted(found, 'problem')} found.")
    return 2 if found else 0


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


def _lines_by_cause(problems: Iterable[Problem], unlisted: int = 0) -> list[str]:
    """One line for each cause, in the order in which the causes come first.

    Problems have one cause if they differ in words, numbers and places only. `unlisted` are more of these kinds.

    >>> print(*_lines_by_cause([Problem("a:1", "'X' is no tag"), Problem("a:7", "'Y' is no tag")]))
    2 times: 'X' is no tag. Places: a:1, a:7.
    """
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((_cause(problem.found), _cause(problem.allowed), _cause(problem.remedy)), []).append(problem)
    if len(groups) == 1:
        return [_line_of(group, len(group) + unlisted) for group in groups.values()]
    more = [f"And {unlisted} more problems of these kinds."] if unlisted else []
    return [_line_of(group, len(group)) for group in groups.values()] + more


def _cause(sentence: str) -> str:
    return _PARTICULAR.sub("…", sentence)


def _line_of(group: list[Problem], count: int) -> str:
    first = group[0]
    if count == 1:
        return str(first)
    where = ", ".join(problem.where for problem in group[:_PLACES]) + (", …" if count > _PLACES else "")
    sentence = str(replace(first, where=f"{count} times"))
    return f"{sentence} {'First places' if count > _PLACES else 'Places'}: {where}."
