"""Files of one token a line: each rule of .vrt, CoNLL and token CSV as a row of text and what is read of it."""

# ruff: noqa: E501  (one file and what is read of it a line)
from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import CluevalError, InputError, OptionError
from clueval_xlsx.formats.columns import lines as fields
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.opened import OpenedSource
from clueval_xlsx.formats.sniffing import find_format
from clueval_xlsx.options import ReadOptions
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.tables import Sides, listed, pair_of, spans_of

SMALL = "Ann\tB-PER\nLee\tI-PER\n"


def load(text: str | bytes, name: str = "x.vrt", **options: Any) -> Reading:
    data = text.encode("utf-8") if isinstance(text, str) else text
    return read(io.BytesIO(data), ReadOptions(**options), name=name)


def spans(reading: Reading) -> list[tuple]:
    return listed(reading.annotation.spans)


def corrected(reading: Reading, *rows: tuple[int, int, str]) -> str:
    (content,) = correct(reading, {"span": spans_of(*rows, layer="span")}).values()
    return content.decode()


ONE, TWO = [(0, 1, "PER")], [(0, 0, "PER"), (1, 1, "PER")]
WORDS = ["New York", "Żółć", "日本", "𝔊", "👩‍⚖️", "naïve"]
GERMEVAL = "#\thttp://de.wikipedia.org/wiki/K [2009-10-17]\n1\tseiner\tO\tO\n2\tTroia\tB-LOC\tB-OTH\n\n#\thttp://de.wikipedia.org/wiki/Abc\n1\tUni\tB-ORG\tO\n2\tKöln\tI-ORG\tB-LOC\n"
HIPE = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tMISC\n# document_id = GDL-1\nLAUSANNE\tB-loc\tO\tB-loc.adm\tEndOfLine\n\nM\tB-pers\tO\tB-pers.ind\tNoSpaceAfter\n.\tI-pers\tO\tI-pers.ind\t_\n"
CLUEVAL = "--\tB-niedrig\ttoken_0\tf_1\tx\nAMT\tI-niedrig\ttoken_1\tf_1\tx\n\nHELGA\tB-hoch\ttoken_2\tf_2\tx\n"
KAGGLE = 'Sentence #,Word,POS,Tag\r\nSentence: 1,"Lee, Ann",NNP,B-per\r\n,"""",``,O\r\nSentence: 2,ran,VBD,O\r\n'
SEVERAL = "Ann B-person,B-group\nLee I-person,I-group\n& I-group\nSon B-person\n"
NAMED = "id\tpos\tToken\tner\n7\tNE\tAnn\tB-PER\n8\tVV\tcame\tO\n"


@pytest.mark.parametrize(
    ("name", "text", "options", "expected"),
    [
        # bytes, lines and tokens
        ("x.vrt", "\ufeff" + SMALL, {}, {"tokens": ["Ann", "Lee"], "spans": ONE}),
        ("x.vrt", '\ufeff<text id="a">\n' + SMALL, {}, {"docs": ("a",)}),
        ("x.vrt", SMALL.replace("\n", "\r\n"), {}, {"tokens": ["Ann", "Lee"], "spans": ONE}),
        ("x.vrt", SMALL.rstrip("\n"), {}, {"tokens": ["Ann", "Lee"], "spans": ONE}),
        ("x.vrt", "Ann\tB-PER\n\ufeff\nLee\tI-PER\n", {}, {"spans": TWO}),
        ("x.conll", "Ann B-PER\n\ufeff\nLee I-PER\n", {}, {"spans": TWO}),
        ("x.vrt", "".join(f"{word}\tO\n" for word in WORDS), {}, {"tokens": WORDS}),
        ("x.vrt", "&lt;b&gt;\tO\nR&amp;D\tO\n&quot;&apos;\tO\n&#xE4;&#228;\tO\nR&D\tO\n&nbsp;\tO\n", {}, {"tokens": ["<b>", "R&D", "\"'", "ää", "R&D", "&nbsp;"]}),
        ("x.conll", "<s> O\n&amp; O\n# O\n#7 B-X\n- O\n", {}, {"tokens": ["<s>", "&amp;", "#", "#7", "-"]}),
        # structure
        ("x.vrt", '<?xml version="1.0"?>\n<!DOCTYPE c>\n<!-- B-X -->\n<c>\n<p n="1">\n' + SMALL + "</p>\n</c>\n", {}, {"tokens": ["Ann", "Lee"]}),
        ("x.vrt", "<\tO\n<b>\tO\n</s>\tB-X\n<3\tO\n", {}, {"tokens": ["<", "<b>", "</s>", "<3"]}),
        ("x.vrt", """<text id='A &amp; "B"' title="x > y / z">\n""" + SMALL, {}, {"docs": ('A & "B"',), "metadata": [{"id": 'A & "B"', "title": "x > y / z"}]}),
        ("x.vrt", '<text id="a">\n</text>\n<text id="b">\n' + SMALL + '</text>\n<text id="c"/>\n', {}, {"docs": ("a", "b", "c"), "sizes": [0, 2, 0]}),
        ("x.vrt", 'x\tO\n<text id="a">\n' + SMALL + "</text>\ny\tO\n", {}, {"docs": ("#1", "a", "#3"), "sizes": [1, 2, 1]}),
        ("x.vrt", SMALL, {}, {"docs": ("#1",), "sizes": [2]}),
        ("x.vrt", b"\xef\xbb\xbf", {}, {"tokens": [], "docs": ("#1",)}),
        ("x.vrt", '<doc id="a">\n<p>\nAnn\tB-PER\n</p>\n<p>\nLee\tI-PER\n</p>\n</doc>\n', {"document_tag": "doc", "sentence_tag": "p"}, {"docs": ("a",), "spans": TWO}),
        ("x.vrt", "Ann\tB-PER\td1\nLee\tI-PER\td2\n", {"document_id": 3}, {"docs": ("d1", "d2"), "spans": TWO}),
        ("x.vrt", '<text id="t">\nAnn\tO\td1\nLee\tO\td2\n</text>\n', {"document_id": 3}, {"docs": ("t",)}),
        ("x.conll", "Ann d1 B-PER\nLee d2 I-PER\n", {"document_id": 2}, {"docs": ("d1", "d2"), "spans": TWO}),
        ("x.conll", "-DOCSTART- -X- O O\n\nAnn B-PER\n\n-DOCSTART- (d2) -X- O\n\nLee I-PER\n-DOCSTART- O\n", {"layers": {"x": 2}}, {"docs": ("#1", "d2", "#3"), "sizes": [1, 1, 0]}),
        ("x.conll", "# newdoc id = d1\n# sent_id = 7\nAnn B-PER\n\n# newdoc id = d2\nLee O\n", {}, {"docs": ("d1", "d2"), "tokens": ["Ann", "Lee"]}),
        ("x.conll", '<doc id="a b">\nAnn B-PER\n</doc>\n# doc_id = c\nBob O\n\n# doc_id = c\nran O\n', {}, {"docs": ("a b", "c"), "tokens": ["Ann", "Bob", "ran"]}),
        ("x.conll", "#newdoc id = d1 and so on\n# text = Ann Lee came\n-DOCSTART- -X- -X- -X- O\n\nAnn B-PER\nLee I-PER\n", {}, {"spans": ONE}),
        # sentences
        *[
            ("x.vrt", "<text>\n<s>\nAnn\tB-PER\n" + border + "Lee\tI-PER\n</text>\n", {}, {"spans": TWO})
            for border in ("</s>\n<s>\n", "<s>\n", "</s>\n", "\n", "  \n", "\n\n\n", "</text>\n<text>\n")
        ],
        ("x.vrt", "<s>\nAnn\tB-PER\n<pb n='2'/>\n<g/>\n<hi>\nLee\tI-PER\n</hi>\n</s>\n", {}, {"spans": ONE}),
        ("x.conll", "Ann B-PER\n\nLee I-PER\n \t \nBob I-PER\n", {}, {"spans": [*TWO, (2, 2, "PER")], "breaks": [0, 1, 2]}),
        # columns
        *[("x.conll", f"Ann{gap}B-PER\nLee{gap}I-PER\n", {}, {"tokens": ["Ann", "Lee"], "spans": ONE}) for gap in (" ", "\t", "  ", " \t ", "   \t")],
        ("x.conll", "  Ann B-PER  \r\n Lee I-PER\t\r\n", {}, {"spans": ONE}),
        ("x.conll", "Ann NNP B-PER x\nLee NNP I-PER y\n", {}, {"spans": ONE}),
        ("x.conll", "Ann NNP x O\nLee NNP y O\n", {}, {"spans": []}),
        ("x.vrt", "Ann\tB-HIGH\t\tB-PER\t\n", {"layers": {"category": 4}}, {"spans": [(0, 0, "PER")]}),
        ("x.tsv", "7\tNE\tAnn\tB-PER\n8\tVV\tcame\tO\n", {"token": 3}, {"tokens": ["Ann", "came"]}),
        ("x.tsv", NAMED, {"token": "Token"}, {"tokens": ["Ann", "came"]}),
        ("x.tsv", NAMED, {}, {"tokens": ["Ann", "came"], "spans": [(0, 0, "PER")]}),
        ("x.iob2", "# sent_id = a-1\n1\tAnn\tB-PER\t-\tanna\n2\tcame\tO\t-\t-\n", {}, {"tokens": ["Ann", "came"], "spans": [(0, 0, "PER")]}),
        ("x.tsv", GERMEVAL, {"layers": {"outer": 3}}, {"tokens": ["seiner", "Troia", "Uni", "Köln"], "spans": [(1, 1, "LOC"), (2, 3, "ORG")], "breaks": [0, 2]}),
        ("x.tsv", HIPE, {"layers": {"NE-COARSE-LIT": None}}, {"spans": [(0, 0, "loc"), (1, 2, "pers")], "docs": ("GDL-1",), "text": "LAUSANNE M."}),
        ("x.bio", CLUEVAL, {"layers": {"c": 2}, "document_id": 4, "token_id": 3, "columns": {"domain": 5}}, {"spans": [(0, 1, "niedrig"), (2, 2, "hoch")], "docs": ("f_1", "f_2")}),
        ("x.bio", CLUEVAL, {}, {"spans": [(0, 1, "niedrig"), (2, 2, "hoch")]}),
        ("x.csv", KAGGLE, {}, {"tokens": ["Lee, Ann", '"', "ran"], "breaks": [0, 2], "spans": [(0, 0, "per")]}),
        ("x.csv", "Ann;B-PER\nran;O\n", {}, {"spans": [(0, 0, "PER")]}),
        # tags
        *[
            ("x.vrt", f"a\tB-X\nb\t{middle}-X\nc\t{last}-X\nd\t{only}-X\ne\tB-Y\nf\t{last}-Y\ng\tO\n", {}, {"spans": [(0, 2, "X"), (3, 3, "X"), (4, 5, "Y")]})
            for middle, last, only in ("IIB", "IES", "ILU")
        ],
        ("x.vrt", "a\tB-X-Y\nb\tI-X-Y\nc\tB\nd\tI\n", {}, {"spans": [(0, 1, "X-Y"), (2, 3, None)]}),
        ("x.vrt", "a\tPER\nb\tPER\nc\tO\nd\tLOC\n", {}, {"spans": [(0, 1, "PER"), (3, 3, "LOC")]}),
        ("x.conll", SEVERAL, {"several_tags": "first"}, {"spans": [(0, 1, "person"), (2, 2, "group"), (3, 3, "person")]}),
        # spacing
        ("x.vrt", "Ann\tO\n<g/>\n-\tO\n<g/>\nLee\tO\n.\tO\n", {}, {"text": "Ann-Lee ."}),
        ("x.vrt", "".join(f"{word}\tO\n" for word in ("(", "„", "Ann", "“", ",", "Lee", ")", "!")), {}, {"text": "(„Ann“, Lee)!"}),
        *[
            ("x.vrt", f"Ann\tO\t{tight}\n-\tO\t{tight}\nLee\tO\t{loose}\n.\tO\t{tight}\n", {"space_column": 3, "layers": {"x": 2}}, {"text": "Ann-Lee ."})
            for tight, loose in (("SpaceAfter=No", "_"), ("0", "1"), ("no", "yes"), ("x|SpaceAfter=No", ""))
        ],
    ],
)  # fmt: skip
def test_what_is_read(name: str, text: str | bytes, options: dict[str, Any], expected: dict[str, Any]) -> None:
    reading = load(text, name, **options)
    corpus = reading.corpus
    found = {
        "tokens": list(corpus.tokens),
        "spans": spans(reading),
        "docs": corpus.doc_ids,
        "sizes": (corpus.documents.stop - corpus.documents.start).tolist(),
        "breaks": corpus.breaks.tolist(),
        "metadata": [dict(corpus.documents.attributes(index)) for index in range(len(corpus.documents))],
        "text": corpus.text(0, len(corpus) - 1) if len(corpus) else "",
    }
    assert {key: found[key] for key in expected} == expected
    if reading.source.format != "token-csv":
        content = text.encode() if isinstance(text, str) else text
        assert correct(reading, reading.annotation.layers) == {name: content}


@pytest.mark.parametrize(
    ("name", "text", "options", "expected"),
    [
        ("x.conll", "Ann NNP B-NP B-PER\nLee NNP I-NP I-PER\n", {}, "x.conll: 2 columns hold tags. column 3: B-NP, I-NP; column 4: B-PER, I-PER. Choose one: --layer layer3=3 or --layer layer4=4; several are merged: --layer layer3=3 --layer layer4=4 (--gold-layer, --pred-layer for one side)."),
        ("x.conll", "Ann NNP B-NP B-PER\nLee NNP I-NP I-PER\n", {"layers": {"chunk": None}}, "several are merged: --layer chunk=3 --layer layer4=4 "),
        ("x.tsv", HIPE, {}, "column 2 (NE-COARSE-LIT): B-loc, B-pers, I-pers; column 4 (NE-FINE-LIT)"),
        ("x.tsv", NAMED, {"token": "Wort"}, "--token Wort: there is no column of this name. Columns: id, pos, Token"),
        ("x.conll", SEVERAL, {}, "'B-person,B-group' holds several tags. Allowed: one tag. Take the first of each cell (read.several_tags=first)"),
        ("x.conll", "Ann B-PER\n\nLee\n", {}, "x.conll:3: 'Lee' has 1 column, but column 2 (layer span) is asked for"),
        ("x.csv", 'Word,Tag\n"Ann,B-PER\n', {}, "x.csv:2: a quotation mark that does not close"),
        ("x.csv", "Word,Tag\nAnn\tx,O\n", {}, "x.csv:2: a tab inside a cell"),
        ("x.csv", "Word,Tag\nAnn,B-PER\nLee\n", {}, "x.csv:3: 'Lee' has 1 column, but column 2 (layer span) is asked for"),
        ("x.conllu", "1\tAnn\tB-PER\n2\tLee\n", {}, "x.conllu:2: '2\\tLee' has 2 columns, but column 3"),
        ("x.tsv", "TOKEN\tNER\nAnn\tB-PER\nLee\tnonsense!\n", {}, "x.tsv:3: layer span: 'nonsense!' is no BIO tag"),
        ("x.conll", "Ann PER\nran O\nLee B-PER\n", {}, "x.conll:1: layer span: 'PER' is no BIO tag"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_answered_with_its_place(
    name: str, text: str, options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(CluevalError) as caught:
        load(text, name, **options)
    assert expected in str(caught.value)


CONLLU = """# newdoc id = n1
# sent_id = n1-1
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
    assert (found.doc_ids, spans(found), found.corpus.text(1, 2)) == (
        ("n1",),
        [(1, 2, "LOC"), (3, 3, "PER")],
        "demHaus",
    )
    assert next(iter(correct(found, found.annotation.layers).values())).decode() == CONLLU


@pytest.mark.parametrize(
    ("name", "head", "expected"),
    [
        ("a.vrt", b"Ann B-PER\n", "vrt"),
        ("a.conll", b"Ann\tB-PER\n", "conll"),
        ("a.IOB2", b"", "conll"),
        ("a.txt", b"<text>\n<s>\nAnn\tB-PER\n", "vrt"),
        ("a.txt", b"\n\nAnn B-PER\n", "conll"),
        ("-", b"-DOCSTART-\t-X-\tO\n\nAnn\tB-PER\n", "conll"),
        ("-", b"# a comment\nAnn\tB-PER\n", "vrt"),
        ("-", b"", "vrt"),
    ],
)
def test_the_format_is_told_by_ending_then_by_content(name: str, head: bytes, expected: str) -> None:
    assert find_format(OpenedSource(name, head), ReadOptions()).name == expected


# ---- sentence ends, orphans, metadata


def test_the_sentence_ends_of_gold_govern_both_sides() -> None:
    whole, parted = b"<s>\nAnn\tB-PER\nLee\tI-PER\n</s>\n", b"<s>\nAnn\tB-PER\n</s>\n<s>\nLee\tI-PER\n</s>\n"
    assert listed(pair_of(Sides(whole, parted)).pred.spans) == ONE
    assert listed(pair_of(Sides(parted, whole)).pred.spans) == TWO
    assert listed(pair_of(Sides(SMALL.encode(), parted)).pred.spans) == ONE  # gold without sentence ends has none


TEXT = "Dr\t{}\n.\t{}\nLee\t{}\n.\tO\nHe\tO\ncame\tO\n!\tO\n"


def test_derived_sentence_ends_never_fall_inside_a_span_and_stop_at_documents() -> None:
    plain, marked = TEXT.format("O", "O", "O").encode(), TEXT.format("B-P", "I-P", "I-P").encode()
    for gold, pred, breaks in ((plain, plain, [0, 2, 4]), (marked, plain, [0, 4]), (plain, marked, [0, 4])):
        assert pair_of(Sides(gold, pred)).corpus.breaks.tolist() == breaks
    text = b'<text id="a">\nx\tB-P\n.\tI-P\ny\tI-P\n</text>\n<text id="b">\nz\tI-P\n</text>\n'
    pair = pair_of(Sides(text, text))
    assert (listed(pair.gold.spans), pair.corpus.breaks.tolist()) == ([(0, 2, "P"), (3, 3, "P")], [0, 3])


def test_an_orphan_opens_a_span_and_is_counted_and_reported_unless_the_scheme_is_iob1() -> None:
    text = b"a\tI-X\nb\tB-X\nc\tI-Y\nd\tO\ne\tI-Y\nf\tB-X\n"
    pair = pair_of(Sides(text, b"a\tO\nb\tO\nc\tO\nd\tO\ne\tI-Y\nf\tO\n"))
    assert listed(pair.gold.spans) == [(0, 0, "X"), (1, 1, "X"), (2, 2, "Y"), (4, 4, "Y"), (5, 5, "X")]
    assert pair.notes == (
        "gold: layer span: 3 I- tags continued nothing and opened a span",
        "pred: layer span: 1 I- tag continued nothing and opened a span",
    )
    iob1 = pair_of(Sides(text[:-6], text[:-6]))
    assert (listed(iob1.gold.spans)[-1], iob1.gold.orphans) == ((4, 4, "Y"), {"span": 0})


# ---- both sides


def test_both_sides_may_be_layers_of_one_file_or_of_standard_input() -> None:
    text = b"Ann\tB-PER\tB-PER\nLee\tI-PER\tO\n"
    sides = ("--gold-layer", "x=2", "--pred-layer", "x=3")
    assert '"fn": 1' in run("score", "-", "-", *sides, "--format", "vrt", "--json", "-", stdin=text).out


def test_a_dash_reads_standard_input(examples: Path) -> None:
    gold, pred = examples / "gold.vrt", examples / "pred.vrt"
    from_file = run("score", gold, pred, *EXAMPLE_OPTIONS)
    for arguments, stdin in (((gold, "-"), pred), (("-", pred), gold)):
        done = run("score", *arguments, *EXAMPLE_OPTIONS, stdin=stdin.read_bytes())
        assert (done.code, done.out) == (0, from_file.out)


def test_sides_may_write_an_entity_differently_but_need_the_same_layers() -> None:
    assert pair_of(Sides(b"A&amp;B\tB-X\n", b"A&#38;B\tB-X\n")).corpus.tokens[0] == "A&B"
    with pytest.raises(OptionError, match=r"the layers differ: risk in x.vrt, category in x.vrt"):
        make_pair(load(SMALL, layers={"risk": 2}), load(SMALL, layers={"category": 2}))


# ---- chunks

LINES = st.sampled_from(
    [
        "Ann\tB-X\tt{}", "Lee\tI-X\tt{}", "ein sehr langes Wort, länger als acht Bytes\tI-Y\tt{}", "ü\tO\tt{}",
        "<\tO\tt{}", "", "<s>", "</s>", '<text id="d{}">', "</text>", "<g/>", "<!-- x -->", " ",
    ]
)  # fmt: skip


@given(st.lists(LINES, max_size=25), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 40))
def test_where_a_file_is_cut_into_chunks_changes_nothing(lines: list[str], end: str, final: bool, size: int) -> None:
    text = end.join(line.format(number) for number, line in enumerate(lines)) + (end if final else "")
    kept = fields.CHUNK_BYTES
    whole = _outcome(text)
    try:
        fields.CHUNK_BYTES = size
        assert _outcome(text) == whole
    finally:
        fields.CHUNK_BYTES = kept


def _outcome(text: str) -> object:
    try:
        found = load(text, layers={"x": 2}, token_id=3)
    except InputError as error:
        return list(map(str, error.problems))
    corpus = found.corpus
    regions = {name: (part.start.tolist(), part.stop.tolist()) for name, part in corpus.regions.items()}
    documents = (corpus.doc_ids, corpus.documents.start.tolist(), corpus.documents.stop.tolist())
    glue = None if corpus.glue is None else corpus.glue.tolist()
    return (
        list(corpus.tokens),
        list(corpus.token_ids or ()),
        documents,
        corpus.breaks.tolist(),
        regions,
        glue,
        spans(found),
    )


@given(st.lists(LINES, max_size=25))
def test_reading_equals_a_plain_line_by_line_reading(lines: list[str]) -> None:
    written = [line.format(number) for number, line in enumerate(lines) if "text" not in line]
    corpus = load("\n".join(written), layers={"x": 2}, token_id=3).corpus
    plain = [line.split("\t") for line in written if "\t" in line]
    assert list(corpus.tokens) == [cells[0] for cells in plain]
    assert list(corpus.token_ids or ()) == [cells[2] for cells in plain]
    breaks, count = {0}, 0
    for line in written:
        count += "\t" in line
        if line.strip() in {"", "<s>", "</s>"}:
            breaks.add(count)
    assert corpus.breaks.tolist() == sorted(place for place in breaks if place < count)


# ---- corrected (lists of random changes: test_random_changes)


@pytest.mark.parametrize(
    ("before", "rows", "after"),
    [
        ("PER PER O LOC O", [(0, 1, "PER"), (2, 2, "ORG"), (3, 3, "LOC")], "PER PER ORG LOC O"),
        ("I-PER I-PER O I-LOC", [(0, 1, "PER"), (2, 2, "LOC"), (3, 3, "LOC")], "I-PER I-PER I-LOC B-LOC"),
        ("I-PER B-PER O I-LOC", [(1, 1, "PER"), (3, 3, "LOC")], "O I-PER O I-LOC"),
        ("B-PER E-PER O S-LOC", [(0, 2, "PER"), (3, 3, "LOC")], "B-PER I-PER E-PER S-LOC"),
        ("B-PER L-PER O U-LOC", [(0, 0, "PER"), (3, 3, "LOC")], "U-PER O O U-LOC"),
        ("B-PER I-PER _ B-LOC", [(3, 3, "LOC")], "_ _ _ B-LOC"),
        ("O I-A I-A", [(0, 0, "A"), (1, 2, "A")], "I-A B-A I-A"),
        ("O I-A I-A B-C", [(0, 0, "A"), (1, 2, "A"), (3, 3, "C")], "B-A B-A I-A B-C"),
        ("B-A I-B O", [(1, 1, "B")], "O I-B O"),
    ],
)
def test_a_corrected_file_keeps_its_scheme(before: str, rows: list, after: str) -> None:
    def column(tags: str) -> str:
        return "".join(f"w{number}\t{tag}\n" for number, tag in enumerate(tags.split()))

    assert corrected(load(column(before)), *rows) == column(after)
    assert spans(load(column(after))) == rows


def test_a_corrected_key_leaves_the_others_of_its_cell_and_a_first_tag_those_behind_it() -> None:
    after = corrected(load(CONLLU, "x.conllu"), (0, 0, "LOC"), (3, 3, "ORG"))
    expected = CONLLU.replace("case\t_\t_\n", "case\t_\tNER=B-LOC\n").replace("NER=B-LOC|SpaceAfter", "SpaceAfter")
    assert after == expected.replace("root\t_\tNER=I-LOC", "root\t_\t_").replace("NER=B-PER", "NER=B-ORG")
    several = load(SEVERAL, "x.conll", several_tags="first")
    assert corrected(several, (0, 0, "person"), (2, 2, "group"), (3, 3, "person")) == SEVERAL.replace("I-person", "O")


METADATA = """<text id="a" domain="tax">
<s id="1" page="7">
Ann	B-PER	R&amp;D	t1
</s>
<s id="2">
Lee	B-PER	R&#38;D	t2
</s>
</text>
<text id="b">
<p kind="x">
Bob	B-PER	NOUN	t3
</p>
</text>
"""


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("domain", ["tax", "tax", None]),
        ("text_domain", ["tax", "tax", None]),
        ("id", ["a", "a", "b"]),
        ("s_id", ["1", "2", None]),
        ("s_page", ["7", None, None]),
        ("p_kind", [None, None, "x"]),
        ("pos", ["R&D", "R&D", "NOUN"]),
    ],
)
def test_attributes_and_named_columns_are_metadata(key: str, values: list[str | None]) -> None:
    corpus = load(METADATA, columns={"pos": 3}, token_id=4).corpus
    assert [None if isinstance(value, float) else value for value in corpus.metadata(key, np.arange(3))] == values
    assert list(corpus.token_ids or ()) == ["t1", "t2", "t3"]
    with pytest.raises(OptionError, match=r"no metadata called 'court'. Known here: id, domain, s_id, s_page, p_kind"):
        corpus.metadata("court", np.arange(3))
