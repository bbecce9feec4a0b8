"""Label Studio JSON: tasks with one annotation each, ready for import."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from clueval_xlsx.formats.standoff_writer import Written


def label_studio_json(documents: Sequence[Written]) -> str:
    """Tasks for a labelling interface `<Labels name="label" toName="text">` over `<Text name="text">`."""
    content: list[dict[str, Any]] = []
    for number, written in enumerate(documents, 1):
        text = written.document.text
        data: dict[str, Any] = {"text": text}
        if written.document.id is not None:
            data["doc_id"] = written.document.id
        data.update({key: value for key, value in written.document.attributes.items() if key not in data})
        results = [
            {
                "id": f"span-{number}-{place}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": {"start": start, "end": end, "text": text[start:end], "labels": [label] if label else []},
            }
            for place, (start, end, label) in enumerate(written.spans, 1)
        ]
        content.append({"data": data, "annotations": [{"result": results}]})
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
