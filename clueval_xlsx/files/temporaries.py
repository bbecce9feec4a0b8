"""Temporary files beside the outputs: their names say whose they are, so that those of a killed run can be told."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import tempfile
import time
from functools import cache
from pathlib import Path

_PREFIX = 40  # so much of a name stands in that of its temporary file, which must not become too long
_NAME = re.compile(
    r"\..*\.cx-(?P<machine>[0-9a-f]{8})-(?P<process>[0-9]{1,10})\.[A-Za-z0-9_]{8}(?:\.old)?\.tmp", re.DOTALL
)
_ABANDONED = 24 * 3600  # seconds after which a file is nobody's, whatever its name says


def new_temporary(target: Path, suffix: str = "") -> Path:
    """An empty file beside a target."""
    whose = f"cx-{_machine()}-{os.getpid()}"
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name[:_PREFIX]}.{whose}.", suffix=f"{suffix}.tmp", dir=target.parent
    )
    os.close(handle)
    return Path(name)


def is_temporary(name: str) -> bool:
    """Whether a name is one that temporary files get."""
    return _NAME.fullmatch(name) is not None


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files that runs left behind when they were killed; those of running ones stay."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            match = _NAME.fullmatch(entry.name)
            if match and _is_abandoned(entry, match["machine"], int(match["process"])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - an entry of the folder, not a path


def _is_abandoned(entry: os.DirEntry[str], machine: str, process: int) -> bool:
    if machine == _machine() and os.name == "posix":
        return not _runs(process)
    try:
        return time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED
    except OSError:
        return False


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


@cache
def _machine() -> str:
    """A short name of this machine."""
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]
