"""Files laid out as public corpora and the formats' own documentation have them, on texts written for the project."""

from __future__ import annotations

import io
from typing import Any

import pytest

from clueval_xlsx.corpus.reading import Reading, annotate
from clueval_xlsx.exceptions import CluevalError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.options import ReadOptions
from tests.support.tables import listed


def load(text: str | bytes, name: str, **options: Any) -> Reading:
    raw = text.encode() if isinstance(text, str) else text
    return read(io.BytesIO(raw), ReadOptions(**options), name=name)


def spans(reading: Reading) -> list[tuple]:
    return listed(annotate(reading).layers["span"])


def untouched(reading: Reading) -> bytes:
    (content,) = reading.correct(annotate(reading).layers).values()
    return content


def refused(text: str | bytes, name: str, **options: Any) -> str:
    with pytest.raises(CluevalError) as caught:
        load(text, name, **options)
    return str(caught.value)


def test_a_line_with_another_number_of_columns_behind_a_hash_is_a_comment() -> None:
    """GermEval names a newspaper in words where it has no address; others write remarks."""
    text = "#\tnordwind.example vom 26.02.2005 [2005-02-26]\n1\tUni\tB-ORG\tO\n2\tKöln\tI-ORG\tB-LOC\n"
    found = load(text, "germeval.tsv", layers={"span": 3})
    assert list(found.corpus.tokens) == ["Uni", "Köln"]
    assert spans(found) == [(0, 1, "ORG")]
    assert untouched(found).decode() == text
    remark = "# by two people in 2023\nMira B-PER\n# O\n#Nordwind O\n"
    found = load(remark, "x.conll")
    assert list(found.corpus.tokens) == ["Mira", "#", "#Nordwind"]
    assert untouched(found).decode() == remark


def test_a_token_with_a_cell_too_many_is_no_comment() -> None:
    said = refused("Mira B-PER\nkam O\n# X O\n", "x.conll", layers={"span": 2})
    assert "x.conll:3: layer span: 'X' is no BIO tag" in said


def test_a_no_break_space_belongs_to_its_token() -> None:
    text = "10\u00a0000 O\nM.\u00a0Tannhof B-PER\n"
    found = load(text, "x.conll")
    assert list(found.corpus.tokens) == ["10\u00a0000", "M.\u00a0Tannhof"]
    assert spans(found) == [(1, 1, "PER")]
    assert untouched(found).decode() == text


def test_webanno_tsv_2_is_read_as_columns() -> None:
    text = (
        " # de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity | value\n#id=1\n#text=Mira Tannhof kam\n"
        "1-1\tMira\tB-PER\t\n1-2\tTannhof\tI-PER\t\n1-3\tkam\tO\t\n\n"
    )
    found = load(text, "x.tsv")
    assert list(found.corpus.tokens) == ["Mira", "Tannhof", "kam"]
    assert spans(found) == [(0, 1, "PER")]
    assert untouched(found).decode() == text


@pytest.mark.parametrize(("one", "two"), [("B_PER", "I_PER"), ("PER-B", "PER-I")])
def test_tags_that_are_written_otherwise_are_no_labels(one: str, two: str) -> None:
    said = refused(f"Mira\t{one}\nTannhof\t{two}\nkam\tO\n", "x.tsv")
    assert f"column 2 holds {one!r}, {two!r}, which look like tags" in said
    assert "Allowed: B-LABEL, I-LABEL, O." in said


def test_spans_in_brackets_are_called_by_their_name() -> None:
    row = "bn/x/00 0 {} {} NN * - - - - {} -\n"
    text = "#begin document (bn/x/00); part 000\n" + row.format(0, "Mira", "(PERSON*") + row.format(1, "T", "*)")
    said = refused(text + row.format(2, "kam", "*") + "\n#end document\n", "x.conll")
    assert "column 11 holds spans in brackets, as OntoNotes (CoNLL-2012) has them" in said


def test_a_file_without_tags_says_what_its_columns_hold() -> None:
    line = "{}\t{}\t{}\tX\t_\t_\t0\troot\t_\tEntity=(1-person)\n"
    said = refused(line.format(1, "Mira", "mira") + line.format(2, "kam", "kommen"), "x.conllu")
    assert "no column holds tags. column 1: 1, 2; column 3: mira, kommen; column 4: X" in said
    assert "(keys: Entity)" in said


def test_a_row_of_empty_cells_ends_a_sentence() -> None:
    text = "-DOCSTART-,O\nMira,B-PER\n,\nTannhof,I-PER\n"
    found = load(text, "ner.csv")
    assert list(found.corpus.tokens) == ["Mira", "Tannhof"]
    assert spans(found) == [(0, 0, "PER"), (1, 1, "PER")]
    assert untouched(found).decode() == text
