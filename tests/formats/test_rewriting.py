"""Rewriting tags: the file decodes to exactly the intended spans, and nothing but tag cells changes."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.tables import listed, spans_of

TAGS = ["O", "O", "B-A", "I-A", "B-B", "I-B", "B", "I"]
MORE = {"BIO": TAGS, "BIOES": [*TAGS, "E-A", "S-B", "E-B"], "BILOU": [*TAGS, "L-A", "U-B", "L-B"]}


def corrected(reading: Reading, layers: dict[str, pd.DataFrame]) -> bytes:
    return correct(reading, layers)["f"]


def load(content: bytes, format_: str = "vrt", **options: object) -> Reading:
    return read(io.BytesIO(content), ReadOptions(format=format_, layers={"x": 2}, **options), name="f")  # type: ignore[arg-type]


def decoded(reading: Reading) -> list[tuple]:
    return listed(reading.annotation.layers["x"])


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, str]:
    scheme = draw(st.sampled_from(sorted(MORE)))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    format_ = draw(st.sampled_from(["vrt", "conll"]))
    lines = []
    for number in range(draw(st.integers(0, 12))):
        if draw(st.integers(0, 4)) == 0:
            lines.append(draw(st.sampled_from(["", "<s>", "<!-- B-A -->"] if format_ == "vrt" else [""])))
        tag = draw(st.sampled_from(MORE[scheme]))
        gap = "\t" if format_ == "vrt" else draw(st.sampled_from([" ", "\t", "  "]))
        lines.append(f"w&amp;{number}{gap}{tag}{gap}B-A{gap}ö")
    text = end.join(lines) + draw(st.sampled_from([end, ""]))
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) if lines else b""
    return bom + text.encode("utf-8"), format_


@st.composite
def intended_spans(draw: st.DrawFn, reading: Reading) -> pd.DataFrame:
    """Some of the file's spans, and others anywhere that fits between sentence ends."""
    size = len(reading.corpus)
    breaks = reading.corpus.breaks if reading.corpus.hard_breaks else reading.corpus.documents.start
    stops = {int(place) for place in breaks}
    kept = [span for span in decoded(reading) if draw(st.booleans())]
    taken = {token for start, end, _ in kept for token in range(start, end + 1)}
    for _ in range(draw(st.integers(0, 4)) if size else 0):
        start = draw(st.integers(0, size - 1))
        end = min(start + draw(st.integers(0, 3)), size - 1)
        tokens = set(range(start, end + 1))
        if tokens & taken or any(token in stops for token in range(start + 1, end + 1)):
            continue
        taken |= tokens
        kept.append((start, end, draw(st.sampled_from(["A", "B", "neu", None]))))
    return make_spans(
        np.array([s[0] for s in kept], int), np.array([s[1] for s in kept], int), {"x": [s[2] for s in kept]}
    )


@given(files(), st.data())
def test_the_new_file_decodes_to_the_intended_spans_and_only_tags_change(
    file: tuple[bytes, str], data: st.DataObject
) -> None:
    content, format_ = file
    reading = load(content, format_)
    intended = data.draw(intended_spans(reading))
    written = corrected(reading, {"x": intended})
    again = load(written, format_)
    assert decoded(again) == listed(intended)
    before, after = ({tag[:1] for tag in side.columns["x"].tags} for side in (reading, again))
    assert before & set("ESLU") or not after & set("ESLU")
    assert without_tags(written, format_) == without_tags(content, format_)
    # A second time nothing is left to change.
    assert corrected(again, {"x": intended}) == written


@given(files())
def test_unchanged_spans_give_the_identical_file(file: tuple[bytes, str]) -> None:
    reading = load(*file)
    spans = reading.annotation.layers["x"] if len(reading.corpus) else None
    if spans is not None and reading.corpus.hard_breaks:
        assert corrected(reading, {"x": spans}) == file[0]


def without_tags(content: bytes, format_: str) -> list[bytes]:
    """The file with every tag cell of column 2 blanked, line by line with line ends."""
    import re

    blank = rb"[ \t]+" if format_ == "conll" else rb"\t"
    return [re.sub(rb"^(\S+?" + blank + rb")[^ \t\r\n]+", rb"\1#", line) for line in content.split(b"\n")]


def test_an_orphan_behind_a_new_span_becomes_a_beginning() -> None:
    reading = load(b"a\tO\nb\tI-A\nc\tI-A\n")
    assert corrected(reading, {"x": spans_of((0, 0, "A"), (1, 2, "A"), layer="x")}) == b"a\tI-A\nb\tB-A\nc\tI-A\n"
    reading = load(b"a\tO\nb\tI-A\nc\tI-A\nd\tB-C\n")
    wanted = spans_of((0, 0, "A"), (1, 2, "A"), (3, 3, "C"), layer="x")
    assert corrected(reading, {"x": wanted}) == b"a\tB-A\nb\tB-A\nc\tI-A\nd\tB-C\n"


def test_an_orphan_that_still_opens_its_span_is_left_alone() -> None:
    reading = load(b"a\tB-A\nb\tI-B\nc\tO\n")
    assert corrected(reading, {"x": spans_of((1, 1, "B"), layer="x")}) == b"a\tO\nb\tI-B\nc\tO\n"


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [("BIO", "B-N I-N O B-N"), ("BIOES", "B-N E-N O S-N"), ("BILOU", "B-N L-N O U-N")],
)
def test_new_spans_are_written_in_the_scheme_of_the_file(scheme: str, expected: str) -> None:
    old = {"BIO": "B-X", "BIOES": "S-X", "BILOU": "U-X"}[scheme]
    reading = load(f"z\t{old}\na\tO\nb\tO\nc\tO\nd\tO\n".encode())
    written = corrected(reading, {"x": spans_of((0, 0, "X"), (1, 2, "N"), (4, 4, "N"), layer="x")})
    assert [line.split("\t")[1] for line in written.decode().splitlines()] == [old, *expected.split()]


def test_a_span_over_a_sentence_end_is_refused_because_tags_cannot_say_it() -> None:
    reading = load(b"a\tO\n\nb\tO\n")
    with pytest.raises(InputError, match=r"f:1: layer x: the span 'a b' goes over a sentence or document end"):
        corrected(reading, {"x": spans_of((0, 1, "A"), layer="x")})


@pytest.mark.parametrize(("label", "format_"), [("", "vrt"), ("A\tB", "vrt"), ("A\nB", "vrt"), ("A B", "conll")])
def test_a_label_that_would_break_the_columns_is_refused(label: str, format_: str) -> None:
    reading = load(b"a\tO\nb\tO\n", format_)
    with pytest.raises(InputError, match=r"f:2: layer x: the label .* cannot be written"):
        corrected(reading, {"x": spans_of((1, 1, label), layer="x")})
