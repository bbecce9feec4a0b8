"""Workbooks as subjects: judged reviews on their way back, their manifests, encrypted ones, and tables in .xlsx."""

from __future__ import annotations

import base64
import io
import json
import re
import resource
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

from clueval_xlsx.files.sheets import cell_name
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.outputs.json_results import json_text, reimport_result
from clueval_xlsx.outputs.xlsx.page import write_page
from clueval_xlsx.pages.adjudication import adjudication_page
from clueval_xlsx.review.judgements import JUDGEMENTS, MANIFEST_SHEET, SEVERITIES, SPAN_CHOICES, Effect, Judgement
from clueval_xlsx.review.log import read_log, write_log
from clueval_xlsx.review.manifest import chunks
from clueval_xlsx.review.progress import CaseState, why_not_overwrite, workbook_progress
from clueval_xlsx.review.reimport import Reimport, reimport
from clueval_xlsx.words import Words
from tests.fuzz.cases import Files, command, promise, subject
from tests.fuzz.formats import spans_of
from tests.fuzz.mutators import (
    Parts,
    Table,
    mutate_archive,
    mutate_bytes,
    mutate_parts,
    mutate_tables,
    mutate_tree,
    mutate_xml,
    packed,
    unpacked,
    word,
    write_json,
)  # fmt: skip
from tests.support.handmade_books import SHEET, xlsx_parts
from tests.support.hostile_books import KINDS, PASSWORD
from tests.support.judging import judged, workbook
from tests.support.tables import cut, listed

_TABLE = """
    token   gold   gold2   pred   pred2
    <text id="a">
    <s>
    Ann     B-PER  B-HIGH  O      O
    Lee     I-PER  I-HIGH  B-PER  B-LOW
    von     O      O       I-PER  I-LOW
    Bonn    B-LOC  O       O      O
    ,       O      O       O      O
    Weg     O      O       B-LOC  B-LOW
    7       B-LOC  B-LOW   I-LOC  I-LOW
    </s>
    </text>
    <text id="b">
    Ann     O      O       B-PER  O
    Lee     B-PER  B-LOW   B-PER  B-LOW
    kam     B-X    O       O      O
    Ulm     O      O       B-LOC  B-LOW
    </text>
"""
_LAYERS = {"one": {"span": 2}, "two": {"category": 2, "risk": 3}}
_SPANS = ("Ann", "Lee von", "Bonn ,", "Weg 7", "kam", "nobody", "Ann Lee von Bonn , Weg 7", " ", "PER", "LOC", "NEW")
_WORDS = (
    *(judgement.code for judgement in JUDGEMENTS), *SPAN_CHOICES, *SEVERITIES, *_SPANS, "Model is wrong", "Judgement",
    "Case", "Correct span", "Correct label", "Comment", "Severity", "Your name", "clueval-run:", "FN-AAAAAAAAAAAA",
)  # fmt: skip


_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MOST_MEGABYTES = 2000  # of any process that parsed


@cache
def gold_file() -> bytes:
    """The gold file that all workbooks here belong to."""
    return cut(_TABLE).gold


@cache
def _workbook(kind: str) -> bytes:
    """A real review workbook, some of its cases judged."""
    evaluation = judged(_TABLE, _LAYERS[kind], level="exact")
    missed, unsupported = (list(table["case_id"]) for table in evaluation.case_tables)
    answers = {
        missed[0]: Judgement("boundary", "both"),
        missed[1]: Judgement("gold_wrong", severity="harmless"),
        missed[2]: Judgement("acceptable", comment="fine"),
        unsupported[-1]: Judgement("gold_missing", correct_labels={next(iter(_LAYERS[kind])): "!NEW"}),
    }
    return workbook(evaluation, answers).getvalue()


@cache
def _tables(kind: str) -> tuple[Table, ...]:
    """The sheets of it that the way back reads."""
    sheets = read_workbook(_workbook(kind), "seed.xlsx").sheets
    kept = [sheet for sheet in sheets if sheet.name.startswith(("Missed", "Unsupported", "Guide", MANIFEST_SHEET))]
    return tuple((sheet.name, [list(row) for row in sheet.rows]) for sheet in kept)


def _xlsx_parts(tables: Sequence[Table]) -> Parts:
    """A workbook with these tables; text is inline, numbers and truth values have their types."""
    sheets = []
    for name, rows in tables:
        lines = "".join(
            f'<row r="{index + 1}">{"".join(_xlsx_cell(cell_name(index, c), v) for c, v in enumerate(row))}</row>'
            for index, row in enumerate(rows)
        )
        sheets.append((_plain(name)[:31] or "x", SHEET.format(rows=lines)))
    return _encoded(xlsx_parts(sheets))


def _xlsx_cell(name: str, value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, int | float):
        kind = ' t="b"' if isinstance(value, bool) else ""
        return f'<c r="{name}"{kind}><v>{int(value) if kind else value}</v></c>'
    return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{escape(_plain(value))}</t></is></c>'


def _plain(value: Any) -> str:
    return _ILLEGAL.sub("", str(value))


def _encoded(parts: Mapping[str, str | bytes]) -> Parts:
    return {name: part if isinstance(part, bytes) else part.encode("utf-8", "replace") for name, part in parts.items()}


def _review(rng: Random) -> Files:
    kind, level = rng.choice(tuple(_LAYERS)), rng.random()
    parts = _xlsx_parts(mutate_tables(rng, _tables(kind), _WORDS) if level < 0.75 else _tables(kind))
    data = packed(mutate_parts(rng, parts) if level > 0.7 else parts, rng)
    return {"fuzzed.xlsx": mutate_archive(rng, data) if rng.random() < 0.1 else data}


def _manifest_book(rng: Random) -> Files:
    """A workbook whose hidden sheet says something else."""
    tables = [(name, rows) for name, rows in _tables(rng.choice(tuple(_LAYERS))) if name != MANIFEST_SHEET]
    original = next(rows for name, rows in _tables(rng.choice(tuple(_LAYERS))) if name == MANIFEST_SHEET)
    head, _, packed_text = "".join(str(row[0]) for row in original).rpartition(":")
    manifest = json.loads(zlib.decompress(base64.b64decode(packed_text)))
    if rng.random() < 0.3:
        manifest["predictions"] = mutate_tree(rng, manifest["predictions"])
    elif rng.random() < 0.3:
        manifest["judgements"] = [
            {"code": word(rng), "effect": rng.choice((*Effect, "x")), "sheets": ["FN"], "words": {"en": word(rng)}}
        ]
    else:
        manifest = mutate_tree(rng, manifest)
    text = f"{head}:{base64.b64encode(zlib.compress(write_json(rng, manifest))).decode()}"
    pieces = [[piece] for piece in chunks(text, rng.choice((30_000, 500, 50)))]
    if rng.random() < 0.1:
        rng.choice(pieces)[0] = word(rng)
    return {"fuzzed.xlsx": packed(_xlsx_parts([*tables, (MANIFEST_SHEET, pieces)]))}


def _check_review(files: Files, rng: Random, folder: Path) -> None:
    ((name, data),) = files.items()
    if rng.random() < 0.01:
        (folder / name).write_bytes(data)
        (folder / "gold.vrt").write_bytes(gold_file())
        command("status", folder / name)
        outputs = [
            f"--{kind}={folder / f'out.{kind}'}"
            for kind in ("json", "report", "html", "changes", "conflicts", "judgements")
        ]
        command("reimport", folder / name, "--gold", folder / "gold.vrt", "-o", folder / "out.vrt", *outputs)
    if rng.random() < 0.2:
        why_not_overwrite(data, name)
    progress = workbook_progress(data, name)
    rows = sum(len(table.rows) for table in read_workbook(data, name).sheets)
    judged, cases = (progress.account.counts[CaseState.JUDGED], progress.account.cases)
    promise(judged <= min(cases, rows), f"{judged} of {cases} judged in {rows} rows")
    stream = io.BytesIO(data)
    stream.name = name
    check_reimport(reimport([stream], _gold(), trust_id=rng.choice((None, None, "row", "block"))), rng)


def _gold() -> io.BytesIO:
    stream = io.BytesIO(gold_file())
    stream.name = "gold.vrt"
    return stream


def check_reimport(result: Reimport, rng: Random) -> None:
    """What came back is sound: the corrected file reads as the corrected spans, and only judgements change it."""
    again = read(io.BytesIO(result.content), _reading_of(result), name="corrected.vrt")
    found = spans_of(again)
    for layer, spans in result.layers.items():
        promise(listed(found[layer]) == listed(spans), f"the corrected file has other spans of {layer}")
    changing = [
        record for run in result.runs for record in run.records if record.effect not in {"", "none", "open", "accept"}
    ]
    promise(changing or result.content == gold_file(), "nothing was judged, but the file changed")
    if rng.random() < 0.15:
        json_text(reimport_result(result.runs))
    for run in result.runs:
        entries = run.log("2024-01-01T00:00:00+00:00")
        promise(read_log(write_log(entries)) == entries, "the log does not read as it was written")
        if rng.random() < 0.01:
            write_page(adjudication_page(run, Words("en")), io.BytesIO())


def _reading_of(result: Reimport) -> ReadOptions:
    columns: dict[str, Any] = dict(result.gold.source.columns)
    return ReadOptions(format="vrt", layers=columns)


subject("review", _review, share=35)(_check_review)
subject("manifest", _manifest_book, share=35)(_check_review)


# What takes too long to be made and changed again and again.
_SLOW = re.compile(".*(gigabyte|large|thousands|merged cells|without a name|unfolds|notes|links|many sheets)")


@cache
def _seeds() -> tuple[bytes, ...]:
    return tuple(data for name, make in KINDS.items() if not _SLOW.match(name) for data in make())


def _hostile(rng: Random) -> Files:
    """A workbook that means harm, its claims written in other ways."""
    data = rng.choice(_seeds())
    try:
        parts = unpacked(data)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, zlib.error):
        return {"fuzzed.xlsx": mutate_bytes(rng, data)}
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice([*parts, *(part for part in parts if "sheet" in part or "content" in part)])
        parts[name] = mutate_xml(rng, parts[name])
    return {"fuzzed.xlsx": packed(parts, rng)}


@subject("hostile", _hostile, share=20)
def _check_hostile(files: Files, rng: Random, folder: Path) -> None:
    try:
        read_workbook(files["fuzzed.xlsx"], "fuzzed.xlsx", PASSWORD)
    finally:
        room = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        promise(room < _MOST_MEGABYTES, f"a process that parsed took {room:.0f} MB")
