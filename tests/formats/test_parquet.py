"""Parquet: tables of spans and of tokens, read and not written."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import Options, ReadOptions
from tests.support.extras import needed
from tests.support.folders import FIXTURES

pa, pq = needed("parquet"), needed("parquet", "pyarrow.parquet")


def packed(columns: dict[str, list[Any]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def of_table(name: str) -> dict[str, list[Any]]:
    """A span table of the fixtures as columns, positions as numbers."""
    with (FIXTURES / name).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t" if name.endswith(".tsv") else ";"))
    return {
        column: [int(row[column]) if "start" in column or "end" in column else row[column] for row in rows]
        for column in rows[0]
    }


def load(raw: bytes, **options: Any) -> Any:
    return read(io.BytesIO(raw), ReadOptions(**options), name="x.parquet")


@pytest.mark.parametrize(
    ("gold", "pred"),
    [
        (FIXTURES / "gold.vrt", packed(of_table("pred.csv"))),
        (packed(of_table("gold.tsv")), FIXTURES / "pred.vrt"),
        (FIXTURES / "brat-gold", packed(of_table("pred-chars.csv"))),
    ],
)
def test_tables_of_spans_and_tokens_give_the_same_metrics(
    gold: Path | bytes, pred: Path | bytes, tmp_path: Path
) -> None:
    paths = []
    for number, source in enumerate((gold, pred)):
        path = source if isinstance(source, Path) else tmp_path / f"{number}.parquet"
        if isinstance(source, bytes):
            path.write_bytes(source)
        paths.append(path)
    options = Options(level="exact", labelled="span", replicates=0)
    found, expected = (
        evaluate(read_pair(*pair), options) for pair in (paths, (FIXTURES / "gold.vrt", FIXTURES / "pred.vrt"))
    )
    columns = ["scheme", "level", "labelled", "layer", "label", "gold", "tp_gold", "pred", "tp_pred"]
    both = [result.select(group_key=None)[columns].reset_index(drop=True) for result in (found, expected)]
    pd.testing.assert_frame_equal(*both, check_dtype=False)


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        (packed({"a": [1]})[:-10], InputError, "x.parquet: is no Parquet file that can be read"),
        (
            packed({"a": ["b"]}),
            InputError,
            "the columns are a. Allowed: a table of spans .* or of records",
        ),
        (packed({"start": [0], "end": [1], "label": ["X"]}), OptionError, "a span table needs the text it belongs to"),
    ],
)
def test_a_broken_table_is_answered_with_what_is_wrong(raw: bytes, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        load(raw)


@pytest.mark.parametrize(
    "table",
    [
        lambda: {"token": pa.nulls(60_000_000, pa.int64())},
        lambda: {"text": recurring("x" * 1_000_000, 2_000), "spans": pa.array([[]] * 2_000)},
        lambda: {"tokens": pa.ListArray.from_arrays(range(0, 8_001, 4), recurring("x" * 100_000, 8_000))},
        lambda: {"text": pa.array(["a"] * 5_000), "key": pa.array([b"x" * 100_000] * 5_000, pa.binary(100_000))},
    ],
    ids=["values", "texts", "texts in lists", "wide values"],
)
def test_a_file_that_unfolds_beyond_measure_is_refused_before_its_columns_are_read(table) -> None:
    raw = packed(table())
    assert len(raw) < 500_000
    with pytest.raises(InputError, match=r"x\.parquet: unfolds to [0-9,]+ MB from 0\.[0-9]+ MB"):
        read(io.BytesIO(raw), name="x.parquet")


def recurring(text: str, times: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([0] * times, pa.int32()), pa.array([text]))
