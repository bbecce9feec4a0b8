"""The history that runs are remembered in: read, and checked before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clueval_xlsx.exceptions import InputError, OutputError


def check_history(history: Path | None, inputs: Sequence[str]) -> None:
    """Complain about a history that is none, that cannot be written, or that is an input, before any work is done."""
    if history is None:
        return
    from clueval_xlsx.cli.writing import guarded_outputs
    from clueval_xlsx.files.outputs import check_target

    guarded_outputs(inputs, force=False).refuse_input(history)
    check_target(history)
    if not (place := next(folder for folder in history.absolute().parents if folder.exists())).is_dir():
        raise OutputError(f"{history}: cannot be written: {place} is a file, not a folder. Choose another place.")
    history_so_far(history)


def history_so_far(history: Path) -> str:
    """What a history holds, ready for a further line."""
    from clueval_xlsx.outputs.history import read_history

    old = _text_of(history) if _is_there(history) else ""
    read_history(old, str(history))
    return old if not old or old.endswith("\n") else old + "\n"


def _is_there(history: Path) -> bool:
    """Whether there is a history to read: a pipe or a device is only written into."""
    from clueval_xlsx.files.names import is_stream

    return history.exists() and not is_stream(history)


def _text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --history.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is no UTF-8. Give another file to --history.") from None
