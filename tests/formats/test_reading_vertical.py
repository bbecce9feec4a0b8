"""Vertical text: every rule of the format, one test each."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.pair import make_pair
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.columns import lines as fields
from clueval_xlsx.formats.loading import read, read_pair
from clueval_xlsx.options import ReadOptions
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.tables import Sides, listed, pair_of


def reading(text: str | bytes, **options: object) -> Reading:
    data = text.encode("utf-8") if isinstance(text, str) else text
    return read(io.BytesIO(data), ReadOptions(**{"format": "vrt", **options}), name="file.vrt")  # type: ignore[arg-type]


def tokens(text: str | bytes, **options: object) -> list[str]:
    return list(reading(text, **options).corpus.tokens)


def spans(text: str | bytes, **options: object) -> list[tuple]:
    found = reading(text, **options)
    return listed(found.annotation.spans)


SMALL = "Ann\tB-PER\nLee\tI-PER\n"


# ---- bytes and lines -----------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_no_part_of_the_first_token() -> None:
    assert tokens(b"\xef\xbb\xbf" + SMALL.encode()) == ["Ann", "Lee"]


def test_a_byte_order_mark_before_a_tag_hides_nothing() -> None:
    corpus = reading(b'\xef\xbb\xbf<text id="a">\n' + SMALL.encode() + b"</text>\n").corpus
    assert corpus.doc_ids == ("a",)


def test_crlf_line_ends_are_no_part_of_the_last_column() -> None:
    text = '<text id="a">\n<s>\n' + SMALL + "</s>\n\n</text>\n"
    one, other = reading(text), reading(text.replace("\n", "\r\n"))
    assert list(one.corpus.tokens) == list(other.corpus.tokens)
    assert spans(text) == spans(text.replace("\n", "\r\n")) == [(0, 1, "PER")]
    assert one.corpus.doc_ids == other.corpus.doc_ids


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_missing_final_newline_loses_no_token(end: str) -> None:
    assert tokens(SMALL.removesuffix("\n") + end) == ["Ann", "Lee"]
    assert spans(SMALL.removesuffix("\n") + end) == [(0, 1, "PER")]


def test_columns_are_counted_from_one_and_may_be_empty() -> None:
    found = reading("Ann\tB-HIGH\t\tB-PER\t\n", layers={"risk": 2, "category": 4})
    assert found.columns["risk"].tags == ("B-HIGH",)
    assert found.columns["category"].tags == ("B-PER",)


def test_the_default_layer_is_span_in_column_two() -> None:
    assert dict(reading("Ann\tB-PER\tO\n").columns["span"].__dict__)["tags"] == ("B-PER",)


def test_tokens_with_spaces_and_letters_of_every_script_stay_whole() -> None:
    words = ["New York", "Żółć", "日本", "𝔊", "👩‍⚖️", "naïve"]
    assert tokens("".join(f"{word}\tO\n" for word in words)) == words


# ---- structure -------------------------------------------------------------------------------------------------


def test_tags_comments_and_declarations_are_no_tokens() -> None:
    text = '<?xml version="1.0"?>\n<!DOCTYPE corpus>\n<!-- a\tcomment -->\n<!-- B-X -->\n<corpus>\n<p n="1">\n'
    assert tokens(text.replace("a\tcomment", "a comment") + SMALL + "</p>\n</corpus>\n") == ["Ann", "Lee"]


def test_a_less_than_token_with_further_columns_is_a_token() -> None:
    assert tokens("<\tO\n<b>\tO\n</s>\tB-X\n<3\tO\n") == ["<", "<b>", "</s>", "<3"]


def test_attribute_values_may_hold_angle_brackets_and_either_quote() -> None:
    corpus = reading("""<text id='a"b' title="x > y / z">\n""" + SMALL).corpus
    assert corpus.documents.attributes(0) == {"id": 'a"b', "title": "x > y / z"}


def test_entities_are_decoded_for_display_and_a_bare_ampersand_stays() -> None:
    assert tokens("&lt;b&gt;\tO\nR&amp;D\tO\n&quot;&apos;\tO\n&#xE4;&#228;\tO\nR&D\tO\n&nbsp;\tO\n") == [
        "<b>", "R&D", "\"'", "ää", "R&D", "&nbsp;",
    ]  # fmt: skip


def test_entities_in_attributes_are_decoded() -> None:
    corpus = reading('<text id="A &amp; B">\n' + SMALL).corpus
    assert corpus.doc_ids == ("A & B",)


def test_gold_and_prediction_may_write_an_entity_differently() -> None:
    pair = pair_of(Sides(b"A&amp;B\tB-X\n", b"A&#38;B\tB-X\n"))
    assert pair.corpus.tokens[0] == "A&B"


def test_empty_documents_are_kept_and_hold_nothing() -> None:
    text = '<text id="a">\n</text>\n<text id="b">\n' + SMALL + '</text>\n<text id="c"/>\n<text id="d">\n</text>\n'
    corpus = reading(text).corpus
    assert corpus.doc_ids == ("a", "b", "c", "d")
    assert (corpus.documents.stop - corpus.documents.start).tolist() == [0, 2, 0, 0]
    assert corpus.document_of(np.array([0, 1])).tolist() == [1, 1]


def test_tokens_outside_all_documents_get_documents_of_their_own() -> None:
    text = 'x\tO\n<text id="a">\n' + SMALL + "</text>\ny\tO\n"
    corpus = reading(text).corpus
    assert corpus.doc_ids == ("#1", "a", "#3")
    assert corpus.documents.start.tolist() == [0, 1, 3]


def test_a_file_without_document_tags_is_one_document() -> None:
    corpus = reading(SMALL).corpus
    assert (len(corpus.documents), corpus.doc_ids) == (1, ("#1",))


def test_an_empty_file_is_one_empty_document() -> None:
    for content in (b"", b"\n", b"\xef\xbb\xbf", b"<text>\n</text>"):
        corpus = reading(content).corpus
        assert (len(corpus), len(corpus.documents), len(corpus.breaks)) == (0, 1, 0)


def test_document_and_sentence_tags_can_be_named() -> None:
    text = '<doc id="a">\n<sent>\nAnn\tB-PER\n</sent>\n<sent>\nLee\tI-PER\n</sent>\n</doc>\n'
    corpus = reading(text, document_tag="doc", sentence_tag="sent").corpus
    assert corpus.doc_ids == ("a",)
    assert corpus.breaks.tolist() == [0, 1]
    assert spans(text, document_tag="doc", sentence_tag="sent") == [(0, 0, "PER"), (1, 1, "PER")]
    assert spans(text) == [(0, 1, "PER")]  # with other names these are just tags


def test_a_document_id_column_serves_where_there_are_no_tags() -> None:
    corpus = reading("Ann\tB-PER\td1\nLee\tI-PER\td1\nBob\tI-PER\td2\n", document_id=3).corpus
    assert corpus.doc_ids == ("d1", "d2")
    assert spans("Ann\tB-PER\td1\nLee\tI-PER\td1\nBob\tI-PER\td2\n", document_id=3) == [(0, 1, "PER"), (2, 2, "PER")]


def test_document_tags_win_over_the_id_column() -> None:
    corpus = reading('<text id="t">\nAnn\tO\td1\nLee\tO\td2\n</text>\n', document_id=3).corpus
    assert corpus.doc_ids == ("t",)


# ---- sentences and spans -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("border", ["</s>\n<s>\n", "<s>\n", "</s>\n", "\n", "  \n", "\n\n\n", "</text>\n<text>\n"])
def test_sentence_ends_blank_lines_and_document_ends_close_a_span(border: str) -> None:
    text = "<text>\n<s>\nAnn\tB-PER\n" + border + "Lee\tI-PER\n"
    assert spans(text + "</text>\n") == [(0, 0, "PER"), (1, 1, "PER")]


def test_other_tags_close_nothing() -> None:
    assert spans("<s>\nAnn\tB-PER\n<pb n='2'/>\n<g/>\n<hi>\nLee\tI-PER\n</hi>\n</s>\n") == [(0, 1, "PER")]


def test_the_sentence_ends_of_gold_govern_both_sides() -> None:
    whole, parted = "<s>\n" + SMALL + "</s>\n", "<s>\nAnn\tB-PER\n</s>\n<s>\nLee\tI-PER\n</s>\n"
    pair = pair_of(Sides(whole.encode(), parted.encode()))
    assert listed(pair.pred.spans) == [(0, 1, "PER")]
    pair = pair_of(Sides(parted.encode(), whole.encode()))
    assert listed(pair.pred.spans) == [(0, 0, "PER"), (1, 1, "PER")]
    # Gold without sentence ends has none, whatever the prediction says.
    pair = pair_of(Sides(SMALL.encode(), parted.encode()))
    assert listed(pair.pred.spans) == [(0, 1, "PER")]


TEXT = "Dr\t{}\n.\t{}\nLee\t{}\n.\tO\nHe\tO\ncame\tO\n!\tO\n"


def test_derived_sentence_ends_never_fall_inside_a_span() -> None:
    plain, marked = TEXT.format("O", "O", "O").encode(), TEXT.format("B-P", "I-P", "I-P").encode()
    assert pair_of(Sides(plain, plain)).corpus.breaks.tolist() == [0, 2, 4]
    assert pair_of(Sides(marked, plain)).corpus.breaks.tolist() == [0, 4]
    assert pair_of(Sides(plain, marked)).corpus.breaks.tolist() == [0, 4]


def test_derived_sentence_ends_stop_at_documents_and_close_no_span() -> None:
    text = b'<text id="a">\nx\tB-P\n.\tI-P\ny\tI-P\n</text>\n<text id="b">\nz\tI-P\n</text>\n'
    pair = pair_of(Sides(text, text))
    assert listed(pair.gold.spans) == [(0, 2, "P"), (3, 3, "P")]
    assert pair.corpus.breaks.tolist() == [0, 3]


def test_an_orphan_opens_a_span_and_is_counted_and_reported() -> None:
    text = b"a\tI-X\nb\tB-X\nc\tI-Y\nd\tO\ne\tI-Y\nf\tB-X\n"
    pair = pair_of(Sides(text, b"a\tO\nb\tO\nc\tO\nd\tO\ne\tI-Y\nf\tO\n"))
    assert listed(pair.gold.spans) == [(0, 0, "X"), (1, 1, "X"), (2, 2, "Y"), (4, 4, "Y"), (5, 5, "X")]
    assert (pair.gold.orphans, pair.pred.orphans) == ({"span": 3}, {"span": 1})
    assert pair.notes == (
        "gold: layer span: 3 I- tags continued nothing and opened a span",
        "pred: layer span: 1 I- tag continued nothing and opened a span",
    )


def test_in_iob1_a_span_begins_with_i_and_nothing_is_an_orphan() -> None:
    text = b"a\tI-X\nb\tB-X\nc\tI-Y\nd\tO\ne\tI-Y\n"
    pair = pair_of(Sides(text, text))
    assert listed(pair.gold.spans) == [(0, 0, "X"), (1, 1, "X"), (2, 2, "Y"), (4, 4, "Y")]
    assert pair.gold.orphans == {"span": 0}


@pytest.mark.parametrize(("middle", "last", "single"), [("I", "I", "B"), ("I", "E", "S"), ("I", "L", "U")])
def test_bio_bioes_and_bilou_are_read_alike(middle: str, last: str, single: str) -> None:
    text = f"a\tB-X\nb\t{middle}-X\nc\t{last}-X\nd\t{single}-X\ne\tB-Y\nf\t{last}-Y\ng\tO\n"
    assert spans(text) == [(0, 2, "X"), (3, 3, "X"), (4, 5, "Y")]


def test_labels_may_hold_dashes_and_may_be_missing() -> None:
    assert spans("a\tB-X-Y\nb\tI-X-Y\nc\tB\nd\tI\n") == [(0, 1, "X-Y"), (2, 3, None)]


# ---- ids, metadata, spacing --------------------------------------------------------------------------------------


def test_token_ids_are_read_from_their_column() -> None:
    assert list(reading("Ann\tO\tt1\nLee\tO\tt2\n", token_id=3).corpus.token_ids) == ["t1", "t2"]


METADATA = """<text id="a" domain="tax">
<s id="1" page="7">
Ann	B-PER	NOUN
</s>
<s id="2">
Lee	B-PER	VERB
</s>
</text>
<text id="b">
<p kind="x">
Bob	B-PER	NOUN
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
        ("pos", ["NOUN", "VERB", "NOUN"]),
    ],
)
def test_attributes_and_named_columns_are_metadata(key: str, values: list[str | None]) -> None:
    corpus = reading(METADATA, columns={"pos": 3}).corpus
    found = corpus.metadata(key, np.arange(3))
    assert [None if isinstance(value, float) else value for value in found] == values


def test_unknown_metadata_names_what_there_is() -> None:
    corpus = reading(METADATA, columns={"pos": 3}).corpus
    with pytest.raises(
        OptionError, match=r"no metadata called 'court'. Known here: id, domain, s_id, s_page, p_kind, pos"
    ):
        corpus.metadata("court", np.arange(3))


def test_two_spellings_of_one_value_are_one_group() -> None:
    corpus = reading("a\tO\tR&amp;D\nb\tO\tR&#38;D\nc\tO\tx\n", columns={"unit": 3}).corpus
    assert list(corpus.metadata("unit", np.arange(3))) == ["R&D", "R&D", "x"]


def test_glue_tags_say_where_no_space_is_written() -> None:
    corpus = reading("Ann\tO\n<g/>\n-\tO\n<g/>\nLee\tO\n.\tO\n").corpus
    assert corpus.text(0, 3) == "Ann-Lee ."


def test_without_glue_punctuation_is_set_the_way_people_write_it() -> None:
    words = ["(", "„", "Ann", "“", ",", "Lee", ")", "!"]
    assert reading("".join(f"{word}\tO\n" for word in words)).corpus.text(0, 7) == "(„Ann“, Lee)!"


@pytest.mark.parametrize(
    ("tight", "loose"), [("SpaceAfter=No", "_"), ("0", "1"), ("no", "yes"), ("x|SpaceAfter=No", "")]
)
def test_a_spacing_column_says_whether_a_space_follows(tight: str, loose: str) -> None:
    corpus = reading(f"Ann\tO\t{tight}\n-\tO\t{tight}\nLee\tO\t{loose}\n.\tO\t{tight}\n", space_column=3).corpus
    assert corpus.text(0, 3) == "Ann-Lee ."


# ---- both sides --------------------------------------------------------------------------------------------------


def test_both_sides_may_be_columns_of_one_file(write) -> None:
    path = write("both.vrt", "Ann\tB-P\tB-P\nLee\tI-P\tO\n")
    done = run("score", path, path, "--gold-layer", "risk=2", "--pred-layer", "risk=3", "--json", "-")
    assert '"fn": 1' in done.out
    assert done.code == 0


def test_a_dash_reads_standard_input(examples: Path) -> None:
    gold, pred = examples / "gold.vrt", examples / "pred.vrt"
    from_file = run("score", gold, pred, *EXAMPLE_OPTIONS)
    for arguments, stdin in (((gold, "-"), pred), (("-", pred), gold)):
        done = run("score", *arguments, *EXAMPLE_OPTIONS, stdin=stdin.read_bytes())
        assert (done.code, done.out) == (0, from_file.out)


def test_paths_and_streams_are_read_alike(examples: Path) -> None:
    options = ReadOptions(layers={"category": 2})
    by_path = read_pair(examples / "gold.vrt", examples / "pred.vrt", options)
    with (examples / "gold.vrt").open("rb") as gold, (examples / "pred.vrt").open("rb") as pred:
        by_stream = read_pair(gold, pred, options)
    assert listed(by_path.gold.spans) == listed(by_stream.gold.spans)


# ---- chunks ------------------------------------------------------------------------------------------------------

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
    options = {"layers": {"x": 2}, "token_id": 3}
    whole = _outcome(text, options)
    try:
        fields.CHUNK_BYTES = size
        assert _outcome(text, options) == whole
    finally:
        fields.CHUNK_BYTES = kept


def _outcome(text: str, options: dict) -> object:
    try:
        found = reading(text, **options)
    except InputError as error:
        return list(map(str, error.problems))
    corpus = found.corpus
    return (
        list(corpus.tokens),
        list(corpus.token_ids),
        corpus.doc_ids,
        corpus.documents.start.tolist(),
        corpus.documents.stop.tolist(),
        corpus.breaks.tolist(),
        corpus.hard_breaks,
        None if corpus.glue is None else corpus.glue.tolist(),
        {name: (part.start.tolist(), part.stop.tolist()) for name, part in corpus.regions.items()},
        listed(found.annotation.spans),
    )


@given(st.lists(LINES, max_size=25))
def test_reading_equals_a_plain_line_by_line_reading(lines: list[str]) -> None:
    written = [line.format(number) for number, line in enumerate(lines) if "text" not in line]
    corpus = reading("\n".join(written), layers={"x": 2}, token_id=3).corpus
    plain = [line.split("\t") for line in written if "\t" in line]
    assert list(corpus.tokens) == [cells[0] for cells in plain]
    assert list(corpus.token_ids) == [cells[2] for cells in plain]
    breaks, count = {0}, 0
    for line in written:
        count += "\t" in line
        if line.strip() in {"", "<s>", "</s>"}:
            breaks.add(count)
    assert corpus.breaks.tolist() == sorted(place for place in breaks if place < count)


def test_make_pair_needs_the_same_layers_on_both_sides() -> None:
    one, other = reading(SMALL, layers={"risk": 2}), reading(SMALL, layers={"category": 2})
    with pytest.raises(OptionError, match=r"the layers differ: risk in file.vrt, category in file.vrt"):
        make_pair(one, other)
