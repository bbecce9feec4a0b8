"""The registry: what help and options read of it is light, and what it says of each format is true."""

from __future__ import annotations

from dataclasses import fields

import pytest

from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.registry import FORMATS, format_named
from clueval_xlsx.formats.sniffing import find_format
from clueval_xlsx.options import ReadOptions
from tests.support.folders import FIXTURES


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


def test_the_text_that_a_table_belongs_to_may_be_read_with_any_option() -> None:
    for each in FORMATS:
        if each.needs_text:
            assert each.uses == {field.name for field in fields(ReadOptions)} - FOR_ALL
