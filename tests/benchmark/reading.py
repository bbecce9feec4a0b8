"""Reading files, against parsers that check nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.benchmark.rows import Work, row


@row("read gold", "ours: tokens, IDs, both layers, checks")
def _read(folder: Path) -> Work:
    from clueval_xlsx.formats.loading import read
    from clueval_xlsx.options import ReadOptions

    options = ReadOptions(layers={"fine": 2, "coarse": 3}, token_id=4)
    return lambda: read(folder / "gold.vrt", options)


def parse(path: Path) -> Any:
    """A file as four columns of strings, unchecked."""
    import csv

    import pandas as pd

    return pd.read_csv(
        path, sep="\t", header=None, names=list("abcd"), dtype=str, quoting=csv.QUOTE_NONE, keep_default_na=False,
        engine="c",
    )  # fmt: skip


@row("read gold", "pandas' C parser: four columns of strings")
def _read_pandas(folder: Path) -> Work:
    parse(folder / "gold.vrt")  # the library is loaded now, not while the time is taken
    return lambda: parse(folder / "gold.vrt")


def long_documents(folder: Path) -> Path:
    """1,000 documents of 30,000 characters with 60 spans each as Presidio JSON, made of the corpus's own words."""
    path = folder / "long.json"
    if not path.exists():
        lines = (folder / "gold.vrt").read_text("utf-8").splitlines()
        words = [line.partition("\t")[0] for line in lines if "\t" in line][:50_000]
        text = " ".join(words)
        documents = []
        for number in range(1000):
            begin = number * 137 % (len(text) - 30_000)
            own = text[begin : begin + 30_000]
            spans = [
                {"entity_type": "X", "entity_value": own[i : i + 15], "start_position": i, "end_position": i + 15}
                for i in range(100, 30_000, 498)
            ]
            documents.append({"full_text": own, "spans": spans, "metadata": {"doc_id": f"d{number}"}})
        path.write_text(json.dumps(documents, ensure_ascii=False), "utf-8")
    return path


@row("read JSON", "ours: 1,000 x 30,000 characters, spans checked", most=1)
def _read_json(folder: Path) -> Work:
    from clueval_xlsx.formats.loading import read

    path = long_documents(folder)
    return lambda: read(path)


@row("read JSON", "json.load", most=1)
def _read_json_plainly(folder: Path) -> Work:
    path = long_documents(folder)
    return lambda: json.loads(path.read_bytes())


@row("read JSON", "ours: and cut into tokens", most=1)
def _read_json_tokens(folder: Path) -> Work:
    from clueval_xlsx.formats.loading import read

    path = long_documents(folder)
    return lambda: read(path)
