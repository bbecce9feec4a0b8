"""The process that parses workbooks: requests on standard input, answers on standard output, under limits.

A request is a line of JSON (`size`, `name`, `password`, `memory` and `seconds` that it may take) and then the file. An
answer is a line of JSON with `size` and then so many bytes. Nothing that stands in a file is ever executed here, but a
parser can be made to fill the memory, to run on and on, or to abort: then this process ends, and its parent goes on.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
from typing import Any, BinaryIO

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.cell_messages import packed_refusal, packed_workbook
from clueval_xlsx.files.decryption import decrypt
from clueval_xlsx.files.kinds import Kind, kind_of
from clueval_xlsx.files.parse_limits import SECONDS_TO_DECRYPT, seconds_for
from clueval_xlsx.files.parsing import parse


def main() -> None:
    """Answer requests until there are no more."""
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while line := requests.readline():
        request = json.loads(line)
        data = requests.read(request["size"])
        answer = _answer(data, request)
        _limit(None, 0)
        _send(answer, answers)


def _answer(data: bytes, request: dict[str, Any]) -> bytes:
    name, memory, seconds = request["name"], request["memory"], request["seconds"]
    try:
        if kind_of(data) is Kind.ENCRYPTED:
            _limit(memory, SECONDS_TO_DECRYPT)
            data = decrypt(data, name, request["password"] or "")
            seconds = seconds_for(data)
        _limit(memory, seconds)
        return packed_workbook(parse(data, name))
    except InputError as error:
        return packed_refusal(str(error))
    except MemoryError:
        return packed_refusal("", limit=True)


def _send(answer: bytes, answers: BinaryIO) -> None:
    answers.write(json.dumps({"size": len(answer)}).encode() + b"\n")
    answers.write(answer)
    answers.flush()


def _limit(memory: int | None, seconds: float) -> None:
    """Limit the memory beyond what is in use now, and processor time from now on; where the system knows limits."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)  # ends the process by SIGPROF; 0 switches it off
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        wanted = most if memory is None else _in_use() + memory
        if most != resource.RLIM_INFINITY and wanted > most:
            wanted = most
        resource.setrlimit(resource.RLIMIT_AS, (wanted, most))


def _in_use() -> int:
    """Bytes of address space that this process has, where the system says."""
    try:
        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123 - no path is worth a module here
            return int(stream.read().split()[0]) * 4096
    except OSError:
        return 1 << 29
