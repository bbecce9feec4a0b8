"""The registry: what help and options read of it is light, and what it says of each format is true."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.module import OpenedSource, find_format, module_of
from clueval_xlsx.formats.registry import FORMATS, TARGET_ENDINGS, Format, format_named
from tests.support.folders import FIXTURES, ROOT


def test_the_registry_loads_nothing_heavy() -> None:
    code = (
        "import sys\nimport clueval_xlsx.formats.registry\n"
        "print([name for name in ('numpy', 'pandas', 'json', 'csv') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_the_module_of_a_format_tells_reads_and_writes(each: Format) -> None:
    module = module_of(each)
    assert all(callable(getattr(module, name)) for name in ("tell", "read", "write"))


def test_names_and_endings_for_writing_mean_one_format() -> None:
    assert max(Counter(each.name for each in FORMATS).values()) == 1
    assert len(TARGET_ENDINGS) == sum(len(each.targets) for each in FORMATS)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("gold.vrt", "vrt"),
        ("gold.conll", "conll"),
        ("tab.json", "tab"),
        ("tab-flat.json", "tab"),
        ("presidio-gold.json", "presidio"),
        ("label-studio.json", "label-studio"),
        ("gold.xmi", "cas"),
        ("cas.json", "cas-json"),
        ("webanno.tsv", "webanno"),
        ("inception-tsv.zip", "inception"),
        ("gold.tsv", "table"),
        ("pred-chars.csv", "table"),
    ],
)
def test_content_alone_tells_the_format(file: str, name: str) -> None:
    assert find_format(OpenedSource("-", (FIXTURES / file).read_bytes()), None).name == name


def test_json_that_no_format_knows_is_answered_with_what_each_is_known_by() -> None:
    with pytest.raises(InputError) as caught:
        find_format(OpenedSource("x.json", b'[{"words": []}]'), None)
    assert "the first document has the keys 'words'" in str(caught.value)
    assert all(f"{each.sign} ({each.name})" in str(caught.value) for each in FORMATS if each.sign)


def test_an_unknown_format_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(OptionError, match=r"unknown format 'nonsense'\. Allowed: vrt, conll, "):
        format_named("nonsense")
