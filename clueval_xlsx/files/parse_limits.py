"""What a workbook may take while it is parsed: it grows with the file, unpacked, but never far beyond what was sent.

Real workbooks unpack to ten or twenty times their size. One that unpacks to a thousand times gets no more time for it.
"""

from __future__ import annotations

import io
import zipfile

# Bytes beyond what the process has at its start: for any file, for each byte unpacked, and at most for each packed.
_MEMORY, _MEMORY_PER_BYTE, _MEMORY_PER_PACKED_BYTE = 256 << 20, 14, 100
_SECONDS, _SECONDS_PER_BYTE, _SECONDS_PER_PACKED_BYTE = 0.7, 2e-7, 4e-6  # of the processor, likewise
_ANSWER, _ANSWER_PER_BYTE = 64 << 20, 12
_MOST_UNPACKED = 1 << 30
SECONDS_TO_DECRYPT = 8.0


def memory_for(data: bytes) -> int:
    """Bytes of memory that the parsing process may take for a file."""
    return _MEMORY + min(_MEMORY_PER_BYTE * _unpacked_size(data), _MEMORY_PER_PACKED_BYTE * len(data))


def seconds_for(data: bytes) -> float:
    """Seconds of processor time that it may take."""
    return _SECONDS + min(_SECONDS_PER_BYTE * _unpacked_size(data), _SECONDS_PER_PACKED_BYTE * len(data))


def answer_for(data: bytes) -> int:
    """Bytes that its answer may have."""
    return _ANSWER + _ANSWER_PER_BYTE * _unpacked_size(data)


def _unpacked_size(data: bytes) -> int:
    """How many bytes an archive says it holds; what is encrypted is taken to shrink as workbooks do."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            declared = sum(entry.file_size for entry in archive.infolist())
    except Exception:  # whoever reads it will say what is wrong with it
        declared = 20 * len(data)
    return min(declared, 8 * 1024 * 1024 + 100 * len(data), _MOST_UNPACKED)
