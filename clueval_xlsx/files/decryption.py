"""The workbook inside an encrypted container, once its settings were looked at. Runs in a process of its own."""

from __future__ import annotations

import io
from collections.abc import Mapping

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.markup import go_through, local, whole_number
from clueval_xlsx.files.refusals import ASK_AGAIN

_MOST_SPINS = 400_000  # rounds of hashing that a file may ask for; Excel writes 100,000
_AGILE = (4, 4)
_MOST_SETTINGS = 1 << 16  # bytes


def decrypt(data: bytes, name: str, password: str) -> bytes:
    """The bytes of the workbook."""
    import msoffcrypto
    from msoffcrypto.exceptions import DecryptionError, FileFormatError, InvalidKeyError

    opened = io.BytesIO()
    try:
        _check_settings(data, name)
        container = msoffcrypto.OfficeFile(io.BytesIO(data))
        container.load_key(password=password, verify_password=True)
        container.decrypt(opened)
    except (InputError, MemoryError):
        raise
    except InvalidKeyError:
        raise InputError(f"{name}: the password does not fit. Ask for the one the workbook was saved with.") from None
    except (DecryptionError, FileFormatError) as error:
        raise InputError(f"{name}: cannot be decrypted: {error}. Save it without a password.") from None
    except Exception as error:  # the container is parsed by code that trusts it
        raise InputError(
            f"{name}: the encrypted workbook is damaged ({str(error)[:200] or type(error).__name__}). Ask for it again."
        ) from None
    return opened.getvalue()


def _check_settings(data: bytes, name: str) -> None:
    """Refuse containers that ask for endless hashing or bring entities along."""
    import olefile

    with olefile.OleFileIO(io.BytesIO(data)) as container:
        size = container.get_size("EncryptionInfo")
        settings = container.openstream("EncryptionInfo").read(_MOST_SETTINGS + 1)
    where = f"{name}, EncryptionInfo"
    if size > _MOST_SETTINGS or len(settings) > _MOST_SETTINGS:
        raise InputError(f"{where}: found {size:,} bytes of settings. Allowed: {_MOST_SETTINGS:,}. {ASK_AGAIN}")
    version = int.from_bytes(settings[:2], "little"), int.from_bytes(settings[2:4], "little")
    if version != _AGILE:
        return  # the older ways of encrypting hash a fixed number of times

    def start(_tag: str, attributes: Mapping[str, str]) -> None:
        for key, value in attributes.items():
            if local(key) == "spinCount" and whole_number(value, _MOST_SPINS) is None:
                raise InputError(
                    f"{where}: the encryption asks for {value[:40]!r} rounds of hashing. Allowed: up to "
                    f"{_MOST_SPINS:,} rounds; Excel asks for 100,000. {ASK_AGAIN}"
                )

    go_through(settings[8:], where, start)
