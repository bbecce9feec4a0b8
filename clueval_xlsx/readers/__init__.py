"""Readers: each takes an open stream and returns a `Reading`; this module chooses among them."""

from clueval_xlsx.readers.detect import FORMATS, detect_format
from clueval_xlsx.readers.reading import Reading, Source
from clueval_xlsx.readers.vertical import TokenFormat, read_vertical

__all__ = ["FORMATS", "Reading", "Source", "TokenFormat", "detect_format", "read_vertical"]
