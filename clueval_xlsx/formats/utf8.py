"""Bytes of a small file as text; what is not UTF-8 is refused with its line."""

from __future__ import annotations

from clueval_xlsx.exceptions import InputError


def decode_text(raw: bytes, name: str) -> str:
    """The text of a file, without a byte order mark."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name}:{line}: byte 0x{raw[error.start]:02X} is not UTF-8. Save the file as UTF-8, or give its "
            "encoding (--encoding latin-1)."
        ) from None
