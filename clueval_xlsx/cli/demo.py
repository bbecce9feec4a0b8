"""`demo`: the whole round on the example files, in one command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clueval_xlsx.cli.writing import guarded_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.evaluation import Evaluation
    from clueval_xlsx.pages.page import Page
    from clueval_xlsx.review.judgements import Judgement

_LAYERS = {"category": 2, "risk": 3}
_TOKEN_ID = 4
_JUDGE = "Anna Beispiel"


class _Pick(NamedTuple):
    """A case, by its sheet and its words, and what is filled in for it."""

    sheet: str
    surface: str
    judgement: str
    correct_span: str = ""
    severity: str = ""
    comment: str = ""


# What a lawyer might pick: the errors that were planted in the reference, and some of the model's.
_PICKED = (
    _Pick("FN", "4. Kammer", "gold_wrong", comment="The court's own chamber identifies nobody."),
    _Pick("FN", "Herr Dietmar Kolbe", "boundary", correct_span="as_model"),
    _Pick("FP", "Marlene Osterhagen", "boundary", correct_span="as_model"),
    _Pick("FP", "Bertram Kiesling", "gold_missing", severity="direct"),
    _Pick("FP", "Herr Mirko Sandner", "acceptable", comment="A form of address too many does no harm."),
    _Pick("FP", "§ 543 BGB", "model_error"),
    _Pick("FP", "Betriebsrat", "model_error"),
    _Pick("FN", "Leonie", "model_error", severity="direct"),
    _Pick("FN", "Hartwig Immenroth", "model_error", severity="direct"),
    _Pick("FN", "Februar 2024", "model_error", severity="harmless"),
    _Pick("FN", "Hinterm Deich 3 a", "acceptable", comment="The number of the house is masked."),
    _Pick("FN", "Port Hallam", "model_error", severity="quasi"),
)


def run(call: Call, folder: str) -> None:
    """Lay the files out, evaluate them, judge some cases, bring the judgements home, and say what was done."""
    from clueval_xlsx.cli.console import say
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.exceptions import OutputError
    from clueval_xlsx.formats.loading import read_pair
    from clueval_xlsx.options import ReadOptions, ReviewOptions
    from clueval_xlsx.outputs.xlsx import Handout, write_workbook
    from clueval_xlsx.outputs.xlsx.book import creation_time
    from clueval_xlsx.outputs.xlsx.page import write_page
    from clueval_xlsx.pages.adjudication import adjudication_page
    from clueval_xlsx.pages.evaluation import evaluation_sentence
    from clueval_xlsx.resources import resource_folder
    from clueval_xlsx.review.conflicts import changes_tsv
    from clueval_xlsx.review.log import write_log
    from clueval_xlsx.review.reimport import reimport
    from clueval_xlsx.review.vocabulary import REPORT_SHEET
    from clueval_xlsx.words import TERMINAL, Words

    place, lang = Path(folder), call.value("workbook.lang")
    if not call.value("output.force") and place.is_dir() and any(place.iterdir()):
        raise OutputError(f"{folder}: is not empty. Name another folder, or add --force to write into this one.")
    gold, pred = place / "gold.vrt", place / "pred.vrt"
    with guarded_outputs(call, []) as outputs:
        for path in (gold, pred):
            outputs.write_bytes(path, (resource_folder("examples") / path.name).read_bytes())
    how = ReadOptions(layers=_LAYERS, token_id=_TOKEN_ID)
    result = evaluate(read_pair(gold, pred, how))
    picked = answers(result)
    judged = place / "review-judged.xlsx"
    with guarded_outputs(call, []) as outputs:
        write_workbook(result, outputs.path(place / "review.xlsx"), ReviewOptions(lang=lang))
        filled = Handout(lang=lang, answers=picked, judge=_JUDGE)
        write_workbook(result, outputs.path(judged), filled)
    home = reimport([judged], gold)
    judged_run = home.runs[0]
    with guarded_outputs(call, []) as outputs:
        outputs.write_bytes(place / "corrected.vrt", home.content)
        outputs.write_text(place / "changes.tsv", changes_tsv(judged_run.changes))
        outputs.write_text(place / "judgements.jsonl", write_log(judged_run.log(creation_time().isoformat())))
        page = adjudication_page(judged_run, Words(lang))
        write_page(page, outputs.path(place / "adjudicated.xlsx"), figures=REPORT_SHEET)

    words = Words(TERMINAL)
    layers = " ".join(f"--layer {layer}={column}" for layer, column in _LAYERS.items())
    say("1. Compare a model with the reference and write the cases out for review:")
    say(f"   clueval-xlsx evaluate {gold} {pred} {layers} --token-id {_TOKEN_ID} -o {place / 'review.xlsx'}")
    say(f"   {evaluation_sentence(result, words)}")
    say(f"2. A lawyer judges {len(picked)} of the cases in Excel: {judged}")
    say("3. Bring the judgements home:")
    say(f"   clueval-xlsx reimport {judged} --gold {gold} -o {place / 'corrected.vrt'} \\")
    say(f"      --report {place / 'adjudicated.xlsx'} --changes {place / 'changes.tsv'}")
    _show_figures(adjudication_page(judged_run, words), str(place / "adjudicated.xlsx"))
    for change in judged_run.changes.to_dict("records"):
        say(f"   {change['judgement']}: {change['old_text'] or '(nothing)'} → {change['new_text'] or '(nothing)'}")


def _show_figures(page: Page, elsewhere: str) -> None:
    """The headline of a page and its first table."""
    from clueval_xlsx.cli.console import print_page, say
    from clueval_xlsx.pages.page import Chapter, Table

    say(f"   {page.headline}")
    table = next(section for section in page.chapters[0].sections if isinstance(section, Table))
    print_page(replace(page, title="", subtitle=(), chapters=(Chapter("", (table,)),)), elsewhere)


def answers(result: Evaluation) -> Mapping[str, Judgement]:
    """What the demonstration picks, by case."""
    from clueval_xlsx.review.judgements import Judgement
    from clueval_xlsx.review.vocabulary import Severity

    found = {}
    for table in result.bare_cases:
        cases = dict(zip(zip(table["sheet"], table["surface"], strict=True), table["case_id"], strict=True))
        for pick in _PICKED:
            case_id = cases.get((pick.sheet, pick.surface))
            if case_id is not None:
                severity = Severity(pick.severity) if pick.severity else None
                found[case_id] = Judgement(pick.judgement, pick.correct_span, severity=severity, comment=pick.comment)
    return found
