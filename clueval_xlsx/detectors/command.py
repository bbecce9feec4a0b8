"""Any program as a detector: how its command line is read and what identifies it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from clueval_xlsx.detectors.base import COMMAND, Description, DetectorSettings, configuration_hash, file_hash
from clueval_xlsx.exceptions import DetectorError


def split_command(line: str) -> list[str]:
    """The words of a command line, as a shell would see them.

    >>> split_command("python 'my detector.py' --fast")
    ['python', 'my detector.py', '--fast']
    """
    try:
        words = shlex.split(line, posix=os.name == "posix")
    except ValueError as error:
        raise DetectorError(
            f"--detector command:{line}: the command cannot be read: {error}. Check the quotes."
        ) from None
    return [word.strip('"') for word in words] if os.name != "posix" else words


def describe_command(settings: DetectorSettings) -> Description:
    """A program says nothing about itself: its scripts stand for its version, by their content."""
    _refuse_configuration(settings)
    words = split_command(settings.command or "")
    scripts = {
        word: file_hash(word)
        for number, word in enumerate(words)
        if Path(word).is_file() and (number > 0 or _is_script(Path(word)))
    }
    name = Path(next(iter(scripts), words[0])).name
    return Description(
        name=f"{COMMAND}:{name}",
        version="-",
        language=settings.language,
        configuration=configuration_hash(settings, words, sorted(scripts.values())),
    )


def _refuse_configuration(settings: DetectorSettings) -> None:
    given = {
        "nlp_config": settings.nlp_config,
        "recognizers_config": settings.recognizers_config,
        "--detector-option": settings.options or None,
    }
    wrong = [name for name, value in given.items() if value is not None]
    if wrong:
        raise DetectorError(
            f"{', '.join(wrong)} cannot be given to a command. Write what it must know into the command itself."
        )


def _is_script(path: Path) -> bool:
    """Whether a program is a script; the hash of an interpreter would say nothing about the detector."""
    with path.open("rb") as stream:
        return stream.read(2) == b"#!"
