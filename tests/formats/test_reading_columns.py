"""Columns as corpora have them: index, header, comments, keys, several tags in a cell, every scheme, CSV."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import CluevalError, InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.commands import run
from tests.support.tables import listed


def load(text: str, name: str = "x.tsv", **options: Any) -> Reading:
    return read(io.BytesIO(text.encode()), ReadOptions(**options), name=name)


def spans(reading: Reading) -> dict[str, list[tuple]]:
    return {layer: listed(frame) for layer, frame in reading.annotation.layers.items()}


def corrected(reading: Reading, *rows: tuple[int, int, str], layer: str = "span") -> str:
    starts, ends, labels = zip(*rows, strict=True) if rows else ((), (), ())
    frame = make_spans(list(starts), list(ends), {layer: list(labels)})  # type: ignore[arg-type]
    (content,) = correct(reading, {layer: frame}).values()
    return content.decode()


GERMEVAL = """#\thttp://de.wikipedia.org/wiki/Manfred_Korfmann [2009-10-17]
1\tAufgrund\tO\tO
2\tseiner\tO\tO
3\tTroia\tB-LOC\tB-OTH
4\t.\tO\tO

#\thttp://de.wikipedia.org/wiki/Abc [2009-10-17]
1\tUni\tB-ORG\tO
2\tKöln\tI-ORG\tB-LOC
"""


def test_germeval_is_read_with_its_comments_and_either_of_its_tag_columns() -> None:
    with pytest.raises(InputError) as caught:
        load(GERMEVAL)
    assert "2 columns hold tags. column 3: B-LOC, B-ORG, I-ORG; column 4: B-OTH, B-LOC" in str(caught.value)
    assert "--layer layer3=3 or --layer layer4=4" in str(caught.value)
    found = load(GERMEVAL, layers={"outer": 3, "inner": 4})
    assert list(found.corpus.tokens) == ["Aufgrund", "seiner", "Troia", ".", "Uni", "Köln"]
    assert spans(found) == {"outer": [(2, 2, "LOC"), (4, 5, "ORG")], "inner": [(2, 2, "OTH"), (5, 5, "LOC")]}
    assert found.corpus.breaks.tolist() == [0, 4]
    assert correct(found, found.annotation.layers)["x.tsv"].decode() == GERMEVAL


CONLLU = """# newdoc id = n1
# sent_id = n1-1
# text = Im Haus Ann
1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_
1\tin\tin\tADP\t_\t_\t2\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\tNER=B-LOC|SpaceAfter=No
3\tHaus\tHaus\tNOUN\t_\t_\t0\troot\t_\tNER=I-LOC
3.1\tx\t_\t_\t_\t_\t_\t_\t_\t_
4\tAnn\tAnn\tPROPN\t_\t_\t3\tnmod\t_\tGloss=Ann|NER=B-PER
"""


@pytest.mark.parametrize("layers", [{}, {"NER": None}, {"span": "NER"}, {"span": "MISC:NER"}, {"span": "10:NER"}])
def test_conll_u_has_its_tags_as_a_key_of_misc(layers: dict[str, Any]) -> None:
    found = load(CONLLU, "x.conllu", layers=layers)
    assert list(found.corpus.tokens) == ["in", "dem", "Haus", "Ann"]
    assert found.doc_ids == ("n1",)
    assert list(spans(found).values()) == [[(1, 2, "LOC"), (3, 3, "PER")]]
    assert found.corpus.text(1, 2) == "demHaus"
    assert next(iter(correct(found, found.annotation.layers).values())).decode() == CONLLU


def test_a_corrected_key_leaves_the_others_of_its_cell() -> None:
    found = load(CONLLU, "x.conllu")
    after = corrected(found, (0, 0, "LOC"), (3, 3, "ORG"))
    expected = CONLLU.replace("case\t_\t_\n", "case\t_\tNER=B-LOC\n").replace("NER=B-LOC|SpaceAfter", "SpaceAfter")
    expected = expected.replace("root\t_\tNER=I-LOC", "root\t_\t_").replace("NER=B-PER", "NER=B-ORG")
    assert after == expected


HIPE = """TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNEL-LIT\tMISC
# language = fr
# document_id = GDL-1878-02-22-a-i0014
LAUSANNE\tB-loc\tO\tB-loc.adm.town\tQ807\tEndOfLine

M\tB-pers\tO\tB-pers.ind\tQ123894\tNoSpaceAfter
.\tI-pers\tO\tI-pers.ind\tQ123894\t_
"""


def test_hipe_is_read_by_the_names_of_its_header() -> None:
    found = load(HIPE, layers={"NE-COARSE-LIT": None})
    assert spans(found) == {"NE-COARSE-LIT": [(0, 0, "loc"), (1, 2, "pers")]}
    assert found.doc_ids == ("GDL-1878-02-22-a-i0014",)
    assert found.corpus.text(1, 2) == "M."
    with pytest.raises(InputError, match=r"column 2 \(NE-COARSE-LIT\): .*--layer NE-COARSE-LIT or --layer NE-FINE-LIT"):
        load(HIPE)


CLUEVAL = """----------\tB-niedrig\ttoken_0\tf_1512\tFictitious
AMTSGERICHT\tI-niedrig\ttoken_1\tf_1512\tFictitious

HELGA\tB-hoch\ttoken_2\tf_1513\tFictitious
"""


def test_the_bio_files_of_clueval_are_read_as_they_come() -> None:
    found = load(CLUEVAL, "candidate.bio", layers={"confidence": 2}, document_id=4, token_id=3, columns={"domain": 5})
    assert spans(found) == {"confidence": [(0, 1, "niedrig"), (2, 2, "hoch")]}
    assert found.doc_ids == ("f_1512", "f_1513")
    assert spans(load(CLUEVAL, "candidate.bio")) == {"span": [(0, 1, "niedrig"), (2, 2, "hoch")]}


def test_uner_counts_its_tokens_and_names_its_annotators() -> None:
    text = "# sent_id = a-1\n# text = Ann came\n1\tAnn\tB-PER\t-\tanna\n2\tcame\tO\t-\t-\n"
    found = load(text, "x.iob2")
    assert list(found.corpus.tokens) == ["Ann", "came"]
    assert spans(found) == {"span": [(0, 0, "PER")]}


def test_the_token_column_can_be_said_by_number_or_name() -> None:
    text = "nr\tpos\twort\tner\n7\tNE\tAnn\tB-PER\n8\tVV\tcame\tO\n"
    assert list(load(text.partition("\n")[2], token=3).corpus.tokens) == ["Ann", "came"]
    named = "id\tpos\tToken\tner\n7\tNE\tAnn\tB-PER\n8\tVV\tcame\tO\n"
    assert list(load(named, token="Token").corpus.tokens) == ["Ann", "came"]
    assert spans(load(named)) == {"span": [(0, 0, "PER")]}
    with pytest.raises(CluevalError, match=r"--token Wort: there is no column of this name\. Columns: id, pos, Token"):
        load(named, token="Wort")


def test_documents_open_with_doc_tags_and_comments_of_their_ids() -> None:
    text = '<doc id="a b">\nAnn B-PER\n</doc>\n# doc_id = c\nBob O\n\n# doc_id = c\nran O\n'
    found = load(text, "x.conll")
    assert found.doc_ids == ("a b", "c")
    assert list(found.corpus.tokens) == ["Ann", "Bob", "ran"]


SEVERAL = "Ann B-person,B-group\nLee I-person,I-group\n& I-group\nSon B-person\n"


def test_several_tags_in_a_cell_are_refused_with_the_options() -> None:
    with pytest.raises(InputError, match=r"'B-person,B-group' holds several tags.*read.several_tags=first"):
        load(SEVERAL, "x.conll")


def test_the_first_of_several_tags_is_taken_and_the_others_stay() -> None:
    found = load(SEVERAL, "x.conll", several_tags="first")
    assert spans(found) == {"span": [(0, 1, "person"), (2, 2, "group"), (3, 3, "person")]}
    assert corrected(found, (0, 0, "person"), (2, 2, "group"), (3, 3, "person")) == SEVERAL.replace("I-person", "O")


@pytest.mark.parametrize(
    ("before", "rows", "after"),
    [
        ("PER PER O LOC O", [(0, 1, "PER"), (2, 2, "ORG"), (3, 3, "LOC")], "PER PER ORG LOC O"),
        ("I-PER I-PER O I-LOC", [(0, 1, "PER"), (2, 2, "LOC"), (3, 3, "LOC")], "I-PER I-PER I-LOC B-LOC"),
        ("I-PER B-PER O I-LOC", [(1, 1, "PER"), (3, 3, "LOC")], "O I-PER O I-LOC"),
        ("B-PER E-PER O S-LOC", [(0, 2, "PER"), (3, 3, "LOC")], "B-PER I-PER E-PER S-LOC"),
        ("B-PER L-PER O U-LOC", [(0, 0, "PER"), (3, 3, "LOC")], "U-PER O O U-LOC"),
        ("B-PER I-PER _ B-LOC", [(3, 3, "LOC")], "_ _ _ B-LOC"),
    ],
)
def test_a_corrected_file_keeps_its_scheme(before: str, rows: list, after: str) -> None:
    def column(tags: str) -> str:
        return "".join(f"w{number}\t{tag}\n" for number, tag in enumerate(tags.split()))

    found = load(column(before), "x.vrt")
    assert corrected(found, *rows) == column(after)
    assert listed(load(column(after), "x.vrt").annotation.layers["span"]) == rows


def test_neighbours_of_one_label_are_refused_where_labels_have_no_prefix() -> None:
    with pytest.raises(InputError, match="two neighbouring spans of the label 'PER'"):
        corrected(load("a\tPER\nb\tO\n", "x.vrt"), (0, 0, "PER"), (1, 1, "PER"))


KAGGLE = 'Sentence #,Word,POS,Tag\r\nSentence: 1,"Lee, Ann",NNP,B-per\r\n,"""",``,O\r\nSentence: 2,ran,VBD,O\r\n'


def test_a_token_csv_is_read_by_its_header() -> None:
    found = load(KAGGLE, "ner.csv")
    assert list(found.corpus.tokens) == ["Lee, Ann", '"', "ran"]
    assert found.corpus.breaks.tolist() == [0, 2]
    assert spans(found) == {"span": [(0, 0, "per")]}
    assert spans(load("Ann;B-PER\nran;O\n", "x.csv")) == {"span": [(0, 0, "PER")]}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ('Word,Tag\n"Ann,B-PER\n', "x.csv", "x.csv:2: a quotation mark that does not close"),
        ("Word,Tag\nAnn\tx,O\n", "x.csv", "x.csv:2: a tab inside a cell"),
        ("Word,Tag\nAnn,B-PER\nLee\n", "x.csv", "x.csv:3: 'Lee' has 1 column, but column 2 (layer span) is asked for"),
        ("1\tAnn\tB-PER\n2\tLee\n", "x.conllu", "x.conllu:2: '2\\tLee' has 2 columns, but column 3"),
        ("TOKEN\tNER\nAnn\tB-PER\nLee\tnonsense!\n", "x.tsv", "x.tsv:3: layer span: 'nonsense!' is no BIO tag"),
        ("Ann PER\nran O\nLee B-PER\n", "x.conll", "x.conll:1: layer span: 'PER' is no BIO tag"),
    ],
)  # fmt: skip
def test_broken_columns_are_answered_with_their_line(text: str, name: str, expected: str) -> None:
    with pytest.raises(CluevalError) as caught:
        load(text, name)
    assert expected in str(caught.value)


def test_both_sides_may_be_layers_of_one_file_or_of_standard_input() -> None:
    text = b"Ann\tB-PER\tB-PER\nLee\tI-PER\tO\n"
    sides = ("--gold-layer", "x=2", "--pred-layer", "x=3")
    assert run("score", "-", "-", *sides, "--format", "vrt", stdin=text).code == 0


@given(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "A", "_", "I-B"]), min_size=1, max_size=12))
def test_no_correction_changes_no_byte_whatever_the_tags(tags: list[str]) -> None:
    text = "".join(f"w\t{tag}\n" for tag in tags)
    try:
        found = load(text, "x.vrt")
    except InputError:
        return
    assert correct(found, found.annotation.layers)["x.vrt"].decode() == text
