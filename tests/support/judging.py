"""Judging for tests: answers into a workbook, or straight into records, and the way back."""

from __future__ import annotations

import io
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from clueval_xlsx.corpus.pair import Pair, make_pair
from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import Options, ReadOptions
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.adjudication import Adjudication, adjudicate
from clueval_xlsx.review.judgements import JUDGEMENTS, Judgement
from clueval_xlsx.review.reading import JudgedWorkbook
from clueval_xlsx.review.review_rows import ReviewRow
from tests.support.tables import Sides, cut

EFFECTS = {judgement.code: judgement.effect for judgement in JUDGEMENTS}
# The model ends "Petra Weidmann" too early and begins too soon: one disagreement, shown on both sheets.
LINKED = """
    token       gold   pred
    <s>
    die         O      O
    Anwältin    O      B-PER
    Petra       B-PER  I-PER
    Weidmann    I-PER  I-PER
    und         I-PER  O
    Partner     I-PER  O
    </s>
    <s>
    Marlene     B-PER  O
    </s>
"""


def pair_with(sides: Sides, layers: Mapping[str, int] | None = None) -> Pair:
    """Read both sides; `layers` names columns from 2 on."""
    options = ReadOptions(format="vrt", layers=dict(layers or {"span": 2}))
    return make_pair(
        *(
            read(io.BytesIO(side), options, name=name)
            for side, name in zip(sides, ("gold.vrt", "pred.vrt"), strict=True)
        )
    )


def judged(table: str | Sides, layers: Mapping[str, int] | None = None, **options: object) -> Evaluation:
    """Evaluate a table's two sides."""
    sides = cut(table) if isinstance(table, str) else table
    return evaluate(pair_with(sides, layers), Options(**{"replicates": 0, **options}))  # type: ignore[arg-type]


def records(answers: Mapping[str, Judgement], who: str = "Anna", *, final: bool = False) -> JudgedWorkbook:
    """A judged workbook without the detour through a file."""
    rows = []
    for number, (case_id, answer) in enumerate(answers.items(), 5):
        place = f"{who.lower()}.xlsx!{case_id[:2]}!M{number}"
        record = replace(
            answer,
            case_id=case_id,
            effect=EFFECTS.get(answer.code),
            judge=who,
            workbook=f"{who.lower()}.xlsx",
            place=place,
            final=final,
        )
        rows.append(ReviewRow(record))
    return JudgedWorkbook(f"{who.lower()}.xlsx", who, None, (), tuple(rows), ())


def decide(
    evaluation: Evaluation, *books: JudgedWorkbook | Mapping[str, Judgement], mode: str = "majority"
) -> Adjudication:
    """Adjudicate answers about an evaluation."""
    own = [book if isinstance(book, JudgedWorkbook) else records(book) for book in books]
    return adjudicate(evaluation.raw, evaluation.options, own, mode=mode)


def case(evaluation: Evaluation, sheet: str, surface: str) -> str:
    """The ID of the case with these words."""
    table = evaluation.bare_cases[sheet == "FP"]
    found = table[table["surface"] == surface]
    assert len(found) == 1, (surface, table["surface"].tolist())
    return str(found["case_id"].iloc[0])


def spans(run: Adjudication, layer: str = "span") -> list[tuple[str, str | None]]:
    """The words and labels of the corrected gold spans of a layer."""
    frame = run.correction.layers[layer]
    corpus = run.raw.pair.corpus
    labels = frame[layer].astype(object).where(frame[layer].notna(), None)
    return [
        (corpus.text(start, end), label) for start, end, label in zip(frame["start"], frame["end"], labels, strict=True)
    ]


_WRITTEN: WeakKeyDictionary[Evaluation, dict[str, bytes]] = WeakKeyDictionary()


def workbook(
    evaluation: Evaluation, answers: Mapping[str, Judgement] | None = None, name: str = "review.xlsx", **options: object
) -> io.BytesIO:
    """A real review workbook with the answers filled in; the same one is written once, for all tests of a module."""
    written = _WRITTEN.setdefault(evaluation, {})
    key = repr((answers or {}, options))
    if key not in written:
        stream = io.BytesIO()
        write_workbook(evaluation, stream, Handout(answers=answers or {}, **options))  # type: ignore[arg-type]
        written[key] = stream.getvalue()
    found = io.BytesIO(written[key])
    found.name = name
    return found
