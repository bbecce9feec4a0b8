"""A judged workbook comes home into gold of every format: the judged span is gone, the rest stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.writing import output_files
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.judgements import Judgement
from tests.support.commands import run
from tests.support.extras import needed_by
from tests.support.folders import FIXTURES

SOURCES = {
    "inception": ("gold.zip", "out.zip"),
    "webanno": ("gold", "out"),
    "cas-json": ("gold", "out"),
}


@pytest.mark.parametrize("format_", SOURCES)
def test_a_judgement_reaches_gold_of_every_format(format_: str, tmp_path: Path) -> None:
    needed_by(format_)
    name, out = SOURCES[format_]
    gold = tmp_path / name
    source = read(FIXTURES / "brat-gold")
    for path, content in output_files(source, source.annotation.layers, format_named(format_), gold).items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    pair = read_pair(gold, FIXTURES / "brat-pred", None, ReadOptions(text=str(FIXTURES / "brat-gold")))
    result = evaluate(pair, Options(level="exact", replicates=0))
    missed = result.bare_cases[0]
    case = dict(zip(missed["surface"], missed["case_id"], strict=True))["DE00 1234 5678"]
    book = tmp_path / "review.xlsx"
    write_workbook(result, book, Handout(answers={case: Judgement("gold_wrong")}, judge="anna"))
    done = run("reimport", book, "--gold", gold, "-o", tmp_path / out)
    assert done.code == 0, done.err
    after = read(tmp_path / out)
    frame = after.annotation.layers["span"]
    words = [after.corpus.text(start, end) for start, end in zip(frame["start"], frame["end"], strict=True)]
    assert len(words) == 9
    assert "DE00 1234 5678" not in words
