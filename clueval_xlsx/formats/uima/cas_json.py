"""UIMA CAS as JSON: one document a file, read and not written back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.json_records import shown
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.formats.uima.reading import (
    CHAIN_FEATURES,
    RELATION_ENDS,
    Cas,
    FeatureStructure,
    cas_of,
    read_cas_file,
)
from clueval_xlsx.options import ReadOptions

_STRUCTURES, _TYPES = "%FEATURE_STRUCTURES", "%TYPES"
_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"%(?:TYPES|FEATURE_STRUCTURES|VIEWS|HEADER|FLAGS)"')


def looks_like_cas_json(head: bytes) -> bool:
    """Whether a file begins as CAS JSON does."""
    return _START.match(head) is not None


def tell(opened: OpenedSource) -> bool:
    """Whether the first key is one of CAS JSON."""
    return looks_like_cas_json(opened.head)


def read(opened: OpenedSource, options: ReadOptions) -> Reading:
    """Read one CAS."""
    return read_cas_file(opened, cas_in(opened.data, opened.name), "cas-json", options)


def cas_in(raw: bytes, name: str) -> Cas:
    """The CAS in a file, or what is wrong with it."""
    try:
        content = json.loads(decode_text(raw, name))
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno}).") from None
    except (RecursionError, ValueError):
        raise InputError(f"{name}: the JSON is nested too deeply, or has a number that no CAS has.") from None
    if not isinstance(content, dict):
        raise InputError(f"{name}: the JSON is {shown(content)}. Allowed: an object with {_STRUCTURES}.")
    listed = content.get(_STRUCTURES)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise InputError(
            f"{name}: {_STRUCTURES} is {shown(listed)}. Allowed: a list of objects, as UIMA CAS JSON 0.4 has it. "
            "Export the document again, or as UIMA CAS XMI."
        )
    return cas_of([_structure(each) for each in listed], name, declared=_declared(content.get(_TYPES)))


def _structure(item: Mapping[str, Any]) -> FeatureStructure:
    """A feature structure; `@` marks references to others, `%` and `^` what is no feature."""
    values = {key.removeprefix("@"): value for key, value in item.items() if key[:1] not in "%^"}
    features = {}
    for key, value in item.items():
        if key[:1] not in "%@^" and key not in {"begin", "end"} and isinstance(value, str | int | float):
            features[key] = value if isinstance(value, str) else json.dumps(value)
    return FeatureStructure(str(item.get("%ID")), str(item.get("%TYPE")), values, features)


def _declared(types: Any) -> dict[str, tuple[str, ...]]:
    """The types that a file declares as annotations, with their features of text."""
    declared = {}
    for name, entry in types.items() if isinstance(types, dict) else ():
        if not isinstance(entry, dict) or entry.get("%SUPER_TYPE") != "uima.tcas.Annotation":
            continue
        ranges = {key: value.get("%RANGE") for key, value in entry.items() if isinstance(value, dict)}
        if not (RELATION_ENDS | CHAIN_FEATURES) & ranges.keys():
            declared[name] = tuple(key for key, range_ in ranges.items() if range_ == "uima.cas.String")
    return declared
