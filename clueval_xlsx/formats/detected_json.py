"""A detector's list in TAB / ECHR JSON: documents with `presidio_detected_pii`, whatever the detector is."""

from __future__ import annotations

import json
from collections.abc import Sequence

from clueval_xlsx.formats.standoff_writer import Written
from clueval_xlsx.formats.tab_json import DETECTED


def detected_json(documents: Sequence[Written]) -> str:
    """Texts and finds; what else a document has stays with the dataset."""
    content = []
    for number, written in enumerate(documents, 1):
        text = written.document.text
        found = [
            {"start": start, "end": end, "label": label, "text": text[start:end]} for start, end, label in written.spans
        ]
        doc_id = written.document.id if written.document.id is not None else f"#{number}"
        content.append({"doc_id": doc_id, "text": text, DETECTED: found})
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
