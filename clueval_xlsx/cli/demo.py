"""`demo`: the whole round on the example files, in one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from clueval_xlsx.cli.writing import Writing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.evaluation import Evaluation
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
    """Lay the files out, evaluate them, judge some cases, bring the judgements home: each step by its own command."""
    from clueval_xlsx.cli.console import say
    from clueval_xlsx.evaluation import evaluate
    from clueval_xlsx.exceptions import OutputError
    from clueval_xlsx.formats.loading import read_pair
    from clueval_xlsx.options import ReadOptions
    from clueval_xlsx.outputs.xlsx import Handout, write_workbook
    from clueval_xlsx.resources import resource_folder

    place, lang, force = Path(folder), call.value("workbook.lang"), call.value("output.force")
    if not force and place.is_dir() and any(place.iterdir()):
        raise OutputError(f"{folder}: is not empty. Name another folder, or add --force to write into this one.")
    gold, pred, judged = (str(place / name) for name in ("gold.vrt", "pred.vrt", "review-judged.xlsx"))
    with Writing(call, []) as out:
        for path in (gold, pred):
            out.write_bytes(Path(path), (resource_folder("examples") / Path(path).name).read_bytes())
    more = ["--force"] if force else []
    layers = [word for layer, column in _LAYERS.items() for word in ("--layer", f"{layer}={column}")]
    say("1. Compare a model with the reference and write the cases out for review:")
    _call(
        "evaluate",
        gold,
        pred,
        *layers,
        "--token-id",
        str(_TOKEN_ID),
        "-o",
        str(place / "review.xlsx"),
        "--lang",
        lang,
        *more,
    )
    result = evaluate(read_pair(gold, pred, ReadOptions(layers=_LAYERS, token_id=_TOKEN_ID)))
    picked = answers(result)
    say(f"2. A lawyer judges {len(picked)} of the cases in Excel:")
    with Writing(call, []) as out:
        write_workbook(result, out.path(Path(judged)), Handout(lang=lang, answers=picked, judge=_JUDGE))
    say("3. Bring the judgements home:")
    outputs = {"-o": "corrected.vrt", "--report": "adjudicated.xlsx", "--changes": "changes.tsv"}
    outputs["--judgements"] = "judgements.jsonl"
    named = [word for option, name in outputs.items() for word in (option, str(place / name))]
    _call("reimport", judged, "--gold", gold, *named, *more)


def _call(command: str, *words: str) -> None:
    """Run a command, which is shown before."""
    import shlex

    from clueval_xlsx.cli.commands import cli
    from clueval_xlsx.cli.console import say

    say(f"   clueval-xlsx {command} {shlex.join(words)}")
    cli.commands[command].main([*words], prog_name=f"clueval-xlsx {command}", standalone_mode=False)


def answers(result: Evaluation) -> Mapping[str, Judgement]:
    """What the demonstration picks, by case."""
    from clueval_xlsx.review.judgements import Judgement, Severity

    found = {}
    for table in result.bare_cases:
        cases = dict(zip(zip(table["sheet"], table["surface"], strict=True), table["case_id"], strict=True))
        for pick in _PICKED:
            case_id = cases.get((pick.sheet, pick.surface))
            if case_id is not None:
                severity = Severity(pick.severity) if pick.severity else None
                found[case_id] = Judgement(pick.judgement, pick.correct_span, severity=severity, comment=pick.comment)
    return found
