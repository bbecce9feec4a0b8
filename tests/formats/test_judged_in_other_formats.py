"""A judged workbook comes home into a project of INCEpTION: the judged span is gone, the rest stays."""

from __future__ import annotations

from pathlib import Path

from clueval_xlsx.evaluation import evaluate
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.judgements import Judgement
from tests.support.commands import run
from tests.support.folders import FIXTURES


def test_a_judgement_reaches_gold_of_a_project(tmp_path: Path) -> None:
    gold, out = FIXTURES / "inception-xmi.zip", tmp_path / "out.zip"
    anna = ReadOptions(annotator="anna")
    pair = read_pair(gold, FIXTURES / "brat-pred", anna, ReadOptions(text=str(FIXTURES / "brat-gold")))
    result = evaluate(pair, Options(level="exact", replicates=0))
    missed = result.bare_cases[0]
    case = dict(zip(missed["surface"], missed["case_id"], strict=True))["DE00 1234 5678"]
    book = tmp_path / "review.xlsx"
    write_workbook(result, book, Handout(answers={case: Judgement("gold_wrong")}, judge="anna"))
    done = run("reimport", book, "--gold", gold, "-o", out)
    assert done.code == 0, done.err
    after = read(out, anna)
    frame = after.annotation.layers["span"]
    words = [after.corpus.text(start, end) for start, end in zip(frame["start"], frame["end"], strict=True)]
    assert len(words) == 9
    assert "DE00 1234 5678" not in words
