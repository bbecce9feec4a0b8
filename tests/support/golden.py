"""Golden workbooks: what the example's workbook looked like when somebody last looked at it.

After a change that is meant, open the new files, look at them, and keep them:

    python -m tests.support.golden
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from unittest import mock

import xlsxwriter

from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.version import __version__
from tests.support.workbooks import answers_for, example, written

FOLDER = Path(__file__).parent.parent / "golden"
KINDS = {
    "review-en.xlsx": {"lang": "en", "level": "overlap"},
    "review-de.xlsx": {"lang": "de", "level": "exact", "labelled": "category", "contact": "Dr. Weber", "judged": True},
}
_STRINGS = "xl/sharedStrings.xml"
_SHARED = re.compile(r't="s"><v>(\d+)</v>')
# What differs from run to run or from version to version says nothing about the workbook.
_VOLATILE = (
    (re.compile(re.escape(__version__)), "VERSION"),
    (re.compile(r"version:[0-9.a-z+]+"), "version:VERSION"),
    (re.compile(r'version": ?"[^"]*"|version&quot;: ?&quot;[^&]*&quot;'), "VERSION"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"), "DATE"),
    (re.compile(r"<AppVersion>[^<]*"), "<AppVersion>VERSION"),
    (re.compile(r"clueval-manifest:[^<]*"), "MANIFEST"),  # compressed, and zlib is not the same everywhere
    (re.compile(r"clueval-run: [0-9a-f-]+|run_id\": ?\"[^\"]*\""), "RUN"),
)


def golden(name: str) -> bytes:
    """One of the workbooks, made anew."""
    kind = dict(KINDS[name])
    options = {key: kind[key] for key in ("level", "labelled") if key in kind}
    evaluation = example(by=("domain",), **options)
    answers = answers_for(evaluation)[0] if kind.get("judged") else {}
    with mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1700000000"}):
        return written(
            evaluation, Handout(lang=str(kind["lang"]), contact=str(kind.get("contact", "")), answers=answers)
        )


def parts(content: bytes) -> dict[str, str]:
    """The parts of a workbook without what is volatile, one XML element a line."""
    found = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        # Strings are shared between sheets; each stands in its cell here, so that the sheet that differs is named.
        strings = re.findall(r"<si>.*?</si>", archive.read(_STRINGS).decode("utf-8"), re.DOTALL)
        for name in archive.namelist():
            if name == _STRINGS:
                continue
            text = archive.read(name).decode("utf-8")
            text = _SHARED.sub(lambda match: f't="s">{strings[int(match[1])]}', text)
            for pattern, word in _VOLATILE:
                text = pattern.sub(word, text)
            found[name] = text.replace("><", ">\n<")
    return found


def first_difference(expected: Mapping[str, str], found: Mapping[str, str]) -> str:
    """The first part that differs, and its first line that does; empty if there is none."""
    for name in sorted({*expected, *found}):
        if name not in found or name not in expected:
            return f"{name}: {'missing' if name not in found else 'new'}"
        old, new = expected[name].split("\n"), found[name].split("\n")
        for number, (before, after) in enumerate(zip(old, new, strict=False), 1):
            if before != after:
                return f"{name}:{number}:\n- {before[:500]}\n+ {after[:500]}"
        if len(old) != len(new):
            return f"{name}: {len(old)} elements before, {len(new)} now"
    return ""


def made_with() -> str:
    """The version of XlsxWriter that the golden workbooks were made with."""
    return (FOLDER / "xlsxwriter.txt").read_text("utf-8").strip()


def main() -> None:
    """Keep the workbooks as they are now."""
    FOLDER.mkdir(exist_ok=True)
    for name in KINDS:
        (FOLDER / name).write_bytes(golden(name))
    (FOLDER / "xlsxwriter.txt").write_text(f"{xlsxwriter.__version__}\n", "utf-8")


if __name__ == "__main__":
    main()
