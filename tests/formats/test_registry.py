"""The registry: what help and options read of it is light, and what it says of each format is true."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import fields, replace

import pytest

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import FORMATS, TARGET_ENDINGS, Format, format_named
from clueval_xlsx.formats.sniffing import find_format
from clueval_xlsx.options import ReadOptions
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
    module = each.load()
    assert all(callable(getattr(module, name)) for name in ("tell", "read"))
    assert not each.written or callable(module.write)


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
    assert find_format(OpenedSource("-", (FIXTURES / file).read_bytes()), ReadOptions()).name == name


def test_json_that_no_format_knows_is_answered_with_what_each_is_known_by() -> None:
    with pytest.raises(InputError) as caught:
        find_format(OpenedSource("x.json", b'[{"words": []}]'), ReadOptions())
    assert "the first document has the keys 'words'" in str(caught.value)
    assert all(f"{each.sign} ({each.name})" in str(caught.value) for each in FORMATS if each.sign)


def test_an_unknown_format_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(OptionError, match=r"unknown format 'nonsense'\. Allowed: vrt, conll, "):
        format_named("nonsense")


ASKED: set[str] = set()
FOR_ALL = {"format", "layers", "encoding", "side", "text_only"}


class Watched(ReadOptions):
    """Options that note which of them somebody looks at, but for those who copy all of them."""

    def __getattribute__(self, name: str) -> object:
        if sys._getframe(1).f_globals["__name__"] not in {
            "dataclasses",
            "clueval_xlsx.formats.options",
            "clueval_xlsx.options",
            "clueval_xlsx.options.declaration",
        }:
            ASKED.add(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    "file",
    [
        "gold.vrt", "gold.conll", "gold-tokens.csv", "gold-spacy.json", "tab.json", "presidio-gold.json",
        "gold-doccano.jsonl", "gold-prodigy.jsonl", "gold-tokens.jsonl", "gold-ai4privacy.jsonl", "label-studio.json",
        "gold.xmi", "cas.json", "webanno.tsv", "inception-tsv.zip", "brat-gold",
    ],
)  # fmt: skip
def test_a_reader_looks_only_at_options_that_its_format_is_said_to_use(file: str) -> None:
    path = FIXTURES / file
    how = Watched(layers={"category": 2} if file in {"gold.vrt", "gold.conll"} else {}, annotator="first")
    told = format_named(read(path, how).source.format)
    ASKED.clear()
    reading = read(path, how)
    if "offsets" not in told.uses:  # then the format's own unit counts, whatever is given
        assert read(path, replace(how, offsets="utf16")).notes == reading.notes
        ASKED.discard("offsets")
    before = {"text", "fields", "document_id", "document_tag", "annotator"}  # while the source is opened
    known = {field.name for field in fields(ReadOptions)}
    assert known & ASKED - FOR_ALL - before <= told.uses
    assert ASKED & told.uses


def test_the_text_that_a_table_belongs_to_may_be_read_with_any_option() -> None:
    for each in FORMATS:
        if each.needs_text:
            assert each.uses == {field.name for field in fields(ReadOptions)} - FOR_ALL
