"""Readers: each takes bytes or an open stream and returns a reading; this module chooses among them."""

from clueval_xlsx.readers.detect import FORMATS, detect_format
from clueval_xlsx.readers.reading import Reading, Source
from clueval_xlsx.readers.span_table import SpanTable
from clueval_xlsx.readers.text import TextFormat, TextReading
from clueval_xlsx.readers.vertical import TokenFormat, read_vertical

__all__ = [
    "FORMATS",
    "Reading",
    "Source",
    "SpanTable",
    "TextFormat",
    "TextReading",
    "TokenFormat",
    "detect_format",
    "read_vertical",
]
