"""Presidio JSON: documents with `full_text` and `spans`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clueval_xlsx.formats.standoff_writer import Written


def presidio_json(documents: Sequence[Written]) -> str:
    """A file that Presidio's evaluation tools and this project read; document ID and metadata in `metadata`."""
    content: list[dict[str, Any]] = []
    for written in documents:
        text, metadata = written.document.text, dict(written.document.attributes)
        if written.document.id is not None:
            metadata = {"doc_id": written.document.id, **metadata}
        content.append(
            {
                "full_text": text,
                "spans": [
                    {
                        "entity_type": label,
                        "entity_value": text[start:end],
                        "start_position": start,
                        "end_position": end,
                    }
                    for start, end, label in written.spans
                ],
                "metadata": metadata,
            }
        )
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
