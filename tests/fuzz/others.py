"""What else is read as subjects: config and language files, logs of judgements, rules, detectors, the command line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from clueval_xlsx.detectors.base import BadAnswerError, DeclinedError, Document, detections, parse_line
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.options.declaration import all_settings
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.adjudication import adjudicate
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.log import previous_decisions, read_log, standing_decisions, write_log
from tests.fuzz.cases import Files, command, promise, subject
from tests.fuzz.mutators import NUMBERS, mutate_bytes, mutate_tree, value, word, write_json
from tests.support.judging import judged, records
from tests.support.tables import cut
from tests.support.workbooks import answers_for

_TABLE = """
    token   gold   pred
    <text id="a" domain="x">
    Ann     B-PER  O
    Lee     I-PER  B-PER
    Bonn    B-LOC  B-ORG
    </text>
"""

# ---- config files and the command line -----------------------------------------------------------------------------

_CONFIG = b"""# a project
[read]
layer = ["span=2"]
[score]
by = ["domain"]
level = "exact"
beta = 1.5
seed = 7
replicates = 20
labelled = "span"
[scheme]
scheme = ["iou", "chars"]
iou_threshold = [0.5, 0.9]
allow.PER = "\\\\s"
[labels]
map = ["LOC=ORG"]
[judgements.public]
effect = "gold_wrong"
en = "Public figure"
sheets = ["FN"]
"""


@cache
def _keys() -> tuple[str, ...]:
    return tuple(key.partition(".")[2] for key in all_settings())


def _config_file(rng: Random) -> Files:
    lines = _CONFIG.decode().splitlines()
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        name = rng.choice(_keys()) if rng.random() < 0.95 else json.dumps(word(rng))
        given = rng.choice((value(rng), "exact", 1, True, ["iou"], "A=B", "A,B", ["A", "B"], rng.choice(NUMBERS)))
        index = rng.randint(0, len(lines))
        lines[index : index + rng.randint(0, 1)] = [f"{name} = {json.dumps(given)}"]
    if rng.random() < 0.05:
        depth = rng.choice((100, 2000, 30_000))
        odd = f"a = {'[' * depth}{']' * depth}", f"{'.'.join(['a'] * depth)} = 1", f"a = {'9' * 5000}", "a = 07:32:00"
        lines.append(rng.choice(odd))
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    return {"fuzzed.toml": mutate_bytes(rng, content) if rng.random() < 0.3 else content}


def _write_pair(folder: Path) -> tuple[Path, Path]:
    for name, content in zip(("gold.vrt", "pred.vrt"), cut(_TABLE), strict=True):
        (folder / name).write_bytes(content)
    return folder / "gold.vrt", folder / "pred.vrt"


@subject("config", _config_file, share=20)
def _check_config(files: Files, rng: Random, folder: Path) -> None:
    path = folder / "fuzzed.toml"
    gold, pred = _write_pair(folder)
    path.write_bytes(re.sub(rb"replicates *=[^\n]*", b"replicates = 10", files[path.name]))  # more take long
    _command_with_options(rng.choice(("score", "score", "validate")), gold, pred, "--config", path)


def _command_with_options(*arguments: object) -> None:
    """Run a command whose files are sound: what is wrong with an option needs no file's name, but a message."""
    try:
        command(*arguments)
    except InputError as error:
        promise(str(error).strip(), "no message")
        raise OptionError(str(error)) from None


# ---- logs of judgements --------------------------------------------------------------------------------------------


@cache
def _evaluation() -> Evaluation:
    return judged(_TABLE, level="exact")


@cache
def _log() -> tuple[dict[str, Any], ...]:
    from tests.support.workbooks import example

    evaluation = example()
    answers, _ = answers_for(evaluation)
    own = _evaluation()
    first = {case_id: next(iter(answers.values())) for case_id in own.cases["case_id"]}
    runs = [
        adjudicate(each.raw, each.options, [records(given)]) for each, given in ((own, first), (evaluation, answers))
    ]
    text = "".join(write_log(run.log("2024-05-01T10:00:00+00:00")) for run in runs)
    return tuple(json.loads(line) for line in text.splitlines())


def _log_file(rng: Random) -> Files:
    entries: Sequence[Any] = rng.sample(_log(), k=rng.randint(1, 6))
    entries = [mutate_tree(rng, entry) if rng.random() < 0.5 else entry for entry in entries]
    content = b"\n".join(write_json(rng, entry) for entry in entries) + b"\n"
    return {"fuzzed.jsonl": mutate_bytes(rng, content) if rng.random() < 0.4 else content}


@subject("previous", _log_file, share=60)
def _check_previous(files: Files, rng: Random, folder: Path) -> None:
    ((name, content),) = files.items()
    decisions = standing_decisions(read_log(content.decode("utf-8", "replace"), name))
    entries: list[Judgement] = list(decisions.values())
    promise(read_log(write_log(entries)) == entries, "the log does not read as it was written")
    before = previous_decisions(decisions, _evaluation())
    if rng.random() < 0.1 and before.filled_in:
        look = Handout(lang=rng.choice(("en", "de")), answers=before.filled_in)
        write_workbook(_evaluation(), io.BytesIO(), look)


# ---- detectors -----------------------------------------------------------------------------------------------------

_TEXT = "Ann Lee came to Bönn 🏠."
_ANSWER = {"id": "d1", "spans": [{"start": 0, "end": 7, "label": "PERSON", "score": 0.9}, [16, 20, "LOC"]]}


def _answer_line(rng: Random) -> Files:
    line = (
        write_json(rng, mutate_tree(rng, _ANSWER))
        if rng.random() < 0.7
        else mutate_bytes(rng, json.dumps(_ANSWER).encode())
    )
    return {"answer.json": line}


@subject("detector", _answer_line, share=60)
def _check_answer(files: Files, rng: Random, folder: Path) -> None:
    """What a detector's process says; its own two exceptions are what the runner expects."""
    try:
        found = detections(parse_line(files["answer.json"]), Document("d1", _TEXT))
    except (BadAnswerError, DeclinedError) as error:
        promise(len(str(error)) < 1_000_000, "an endless message")
        raise InputError(f"answer: {error}"[:500]) from None
    promise(all(0 <= one.start < one.end <= len(_TEXT) for one in found), "a find outside the text")
    json.dumps([list(one) for one in found])
