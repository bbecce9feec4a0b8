"""The manifest of a workbook: all that the re-import needs, nothing of the text, the same run for the same cases."""

from __future__ import annotations

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.review.manifest import SourceFile, decode, encode, from_evaluation, run_id
from tests.support.judging import LINKED, judged
from tests.support.tables import listed
from tests.support.workbooks import example, manifest_of, opened, written


def test_manifest_holds_what_the_reimport_needs():
    evaluation = example(by=("domain",), context=7)
    book = opened(written(evaluation, Handout(lang="de", judge="Anna", contact="Weber", part="1/2")))
    manifest = manifest_of(book)
    pair = evaluation.pair
    assert manifest.version
    assert manifest.signature == evaluation.signature
    assert manifest.gold == SourceFile("gold.vrt", pair.gold.source.sha256)
    assert manifest.pred == SourceFile("pred.vrt", pair.pred.source.sha256)
    assert manifest.run_id == run_id(pair.gold.source.sha256, pair.pred.source.sha256, manifest.settings.deciding)
    assert manifest.settings.level == "overlap"
    assert manifest.settings.context == 7
    assert manifest.settings.by == ("domain",)
    assert manifest.layers == ("category", "risk")
    assert (manifest.lang, manifest.judge, manifest.contact, manifest.part) == ("de", "Anna", "Weber", "1/2")
    assert manifest.cases == {"FN": 21, "FP": 13}
    assert (manifest.documents, manifest.tokens) == (4, len(pair.corpus))
    for layer, spans in pair.pred.layers.items():
        assert listed(manifest.predictions[layer]) == listed(spans[["start", "end", layer]])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (lambda text: text.replace(":2:", ":3:", 1), "form 3, which clueval-xlsx .+ reads"),
        (
            lambda _: '{"layers":["span"],"run_id":"a-b-c","version":"0.1.0"}',
            "form 1, which clueval-xlsx 0.1.0 reads",
        ),
        (lambda text: text[:-9], "damaged"),
        (lambda text: text.replace("e", "f"), "damaged"),
    ],
)
def test_another_form_or_a_damaged_one_is_refused_by_name(text, found):
    with pytest.raises(InputError, match=found):
        decode(text(encode(from_evaluation(judged(LINKED)))), "a.xlsx")
