"""Workbooks as bytes that one process sends to another: plain values, nothing that could be executed on arrival."""

from __future__ import annotations

import msgspec

from clueval_xlsx.files.sheets import Workbook


class _Answer(msgspec.Struct, array_like=True):
    """What the parsing process says: a workbook, or why there is none."""

    workbook: Workbook | None
    refusal: str = ""
    limit: bool = False


class LimitReached(Exception):  # noqa: N818 - said by the other process, answered by this one
    """The file asked for more memory than it may have."""


class Refused(Exception):  # noqa: N818
    """The file was refused; the message says why."""


def packed_workbook(workbook: Workbook) -> bytes:
    """A workbook as bytes."""
    return msgspec.msgpack.encode(_Answer(workbook))


def packed_refusal(message: str, *, limit: bool = False) -> bytes:
    """A refusal as bytes."""
    return msgspec.msgpack.encode(_Answer(None, message.encode("utf-8", "replace").decode("utf-8"), limit))


def unpacked_workbook(answer: bytes) -> Workbook:
    """The workbook, or an exception that says why there is none."""
    found = msgspec.msgpack.decode(answer, type=_Answer)
    if found.workbook is not None:
        return found.workbook
    if found.limit:
        raise LimitReached
    raise Refused(found.refusal)
