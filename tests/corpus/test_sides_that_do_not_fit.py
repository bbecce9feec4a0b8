"""Two files that are not about the same text: the first difference is named, in both files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read_pair
from tests.support.folders import FIXTURES
from tests.support.tables import SOUND


def test_different_numbers_of_tokens(both_refuse) -> None:
    words = (
        "different numbers of tokens",
        "gold.vrt has 3",
        "pred.vrt has 2",
        "pred.vrt:2",
        "gold.vrt:3",
        "goes on with 'x'",
    )
    both_refuse(SOUND, SOUND.replace("x\tO\tt3\n", ""), *words)


def test_differing_token_ids(both_refuse) -> None:
    words = "the token IDs differ", "gold.vrt:2 has 't2'", "pred.vrt:2 has 't9'", "(token 'Lee')"
    both_refuse(SOUND, SOUND.replace("t2", "t9"), *words, options=("--token-id", "3"))


def test_the_first_difference_is_shown_be_it_token_or_id(both_refuse) -> None:
    bad = SOUND.replace("Ann", "Anna").replace("t2", "t9")
    both_refuse(SOUND, bad, "the tokens differ: ", "gold.vrt:1 has 'Ann'", options=("--token-id", "3"))


def test_differing_documents(both_refuse) -> None:
    gold = '<text id="a">\nx\tO\n</text>\n<text id="b">\ny\tO\n</text>\n'
    renamed = gold.replace('"b"', '"c"')
    both_refuse(gold, renamed, "'b' of ", "gold.vrt is not in", "'c' of ", "Both sides must hold the same documents")
    moved = '<text id="a">\nx\tO\ny\tO\n</text>\n<text id="b">\n</text>\n'
    both_refuse(gold, moved, "document 1 is 'a' from line 2, 1 tokens in", "'a' from line 2, 2 tokens in")
    fewer = '<text id="a">\nx\tO\n</text>\ny\tO\n'
    both_refuse(fewer, gold.replace('</text>\n<text id="b">\n', ""), "document 1 is 'a'")


def test_texts_that_differ_are_refused_with_both_contexts(tmp_path: Path) -> None:
    content = (FIXTURES / "presidio-pred.json").read_bytes().replace(b"Sohn", b"Bote")
    (tmp_path / "pred.json").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_pair(FIXTURES / "brat-gold", tmp_path / "pred.json")
    assert "⟦Sohn." in str(caught.value)
    assert "⟦Bote." in str(caught.value)


def test_documents_that_differ_are_named(tmp_path: Path) -> None:
    content = (FIXTURES / "presidio-pred.json").read_bytes().replace(b"AG-Birkenau", b"AG-Elsewhere")
    (tmp_path / "pred.json").write_bytes(content)
    with pytest.raises(InputError, match=r"'AG-Birkenau-5-C-88-23' of .* is not in"):
        read_pair(FIXTURES / "brat-gold", tmp_path / "pred.json")
