"""Encrypted workbooks: AES-256 as Excel writes it, made in memory so that no clear text reaches the disk."""

from __future__ import annotations

import io
import os
from pathlib import Path

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.files.python_processes import PASSWORD_VARIABLE

_LONGEST = 255  # characters that Excel takes


def encrypt(workbook: bytes, password: str) -> bytes:
    """An encrypted edition of an `.xlsx` file."""
    from msoffcrypto.format.ooxml import OOXMLFile

    target = io.BytesIO()
    OOXMLFile(io.BytesIO(workbook)).encrypt(password, target)
    return target.getvalue()


def find_password(file: Path | None) -> str | None:
    """The password from a file's first line, else from the environment; never from an argument, which others see."""
    if file is None:
        found = os.environ.get(PASSWORD_VARIABLE)
        return _checked(found, f"the environment variable {PASSWORD_VARIABLE}") if found is not None else None
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file}: the password file is not UTF-8. Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(
            f"{file}: cannot be read: {error.strerror}. Check the path given to --password-file."
        ) from None
    return _checked(text.splitlines()[0] if text else "", str(file))


def _checked(password: str, where: str) -> str:
    if not password:
        raise OptionError(f"{where}: the password is empty. Write it into the first line.")
    if len(password) > _LONGEST:
        raise OptionError(f"{where}: the password has {len(password)} characters. Allowed: up to {_LONGEST}.")
    return password
