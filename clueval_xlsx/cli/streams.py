"""Standard input, output and error as they are found: closed, cut off, or unable to show every character."""

from __future__ import annotations

import codecs
import os
import signal
import sys
import time
from types import FrameType
from typing import NoReturn, TextIO

_HANDLER = "clueval_legible"
_CLEANING = 10.0  # seconds to clean up in after Ctrl-C, before another one ends the program on the spot
# What stands in tables and messages, for terminals that know no more than ASCII.
_PLAIN = str.maketrans(
    {"–": "-", "—": "-", "−": "-", "…": "...", "→": "->", "×": "x", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"'}
)


def prepare_streams() -> None:
    """Make all three streams usable: a closed one leads nowhere, and no character stops a message."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        _open_if_closed(number, name)
    codecs.register_error(_HANDLER, _legible)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def prepare_signals() -> None:
    """Asked to end (`kill`, a terminal that closes), the program cleans up behind itself as it does for Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it may be ignored
        signal.signal(signal.SIGINT, _interrupt)
    for name in ("SIGTERM", "SIGHUP"):  # Windows has only the first
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup ignores the second
            signal.signal(number, _end)


def flush() -> None:
    """Send off what is still on its way, while somebody can hear that it did not arrive."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def abandon_streams() -> None:
    """Nobody reads on: what is still to come leads nowhere, and Python has nothing to complain of at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())


def _open_if_closed(number: int, name: str) -> None:
    if getattr(sys, name) is not None:
        return
    try:
        os.fstat(number)
    except OSError:
        # The lowest free number is this one. Left free, it would go to the next file that is opened.
        os.open(os.devnull, os.O_RDWR)
    stream: TextIO = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: SIM115, PTH123 - until the end
    setattr(sys, name, stream)


def _legible(error: UnicodeError) -> tuple[str | bytes, int]:
    """What a stream shows for characters that it cannot: the like in ASCII, raw bytes of a file name, or `?`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    character = error.object[error.start]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is not in the encoding of this place
        return bytes([code - 0xDC00]), error.start + 1
    if 0xD800 <= code <= 0xDFFF:  # half a surrogate pair, as JSON spells it
        return f"\\u{code:04x}", error.start + 1
    plain = character.translate(_PLAIN)
    return plain if plain.isascii() else "?", error.start + 1


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Stop at the first Ctrl-C; those after it do not disturb the cleaning up, unless that takes too long."""
    began = time.monotonic()

    def again(number: int, _frame: FrameType | None) -> None:
        if time.monotonic() - began > _CLEANING:
            os._exit(128 + number)

    signal.signal(signal.SIGINT, again)
    raise KeyboardInterrupt


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)
