"""A detector as a command: one JSON line in, one JSON line out, for every document.

clueval-xlsx predict gold.vrt -o pred.vrt --detector command:"python examples/detectors/regex_detector.py"
"""

import json
import re
import sys

PATTERNS = {
    "DATE": re.compile(
        r"\b\d{1,2}\. ?(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember) \d{4}\b"
        r"|\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b"
    ),
    "CONTACT": re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b|\b0\d{2,4} \d{3} ?\d{3,4}\b"),
    "ACCOUNT": re.compile(r"\b[A-Z]{2}\d{2}(?: ?\d{4}){4} ?\d{2}\b"),
}


def main() -> None:
    for line in sys.stdin:
        document = json.loads(line)  # {"id": "…", "text": "…", "language": "en"}
        spans = [
            {"start": match.start(), "end": match.end(), "label": label, "score": 0.9}
            for label, pattern in PATTERNS.items()
            for match in pattern.finditer(document["text"])
        ]
        # One line for each document, sent at once: the other side waits for it.
        print(json.dumps({"id": document["id"], "spans": spans}), flush=True)


if __name__ == "__main__":
    main()
