"""brat folders as they lie on disks: byte order marks, spans of several parts, other files, natural order."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions


def folder(place: Path, **files: str | bytes) -> Path:
    place.mkdir(exist_ok=True, parents=True)
    for name, content in files.items():
        path = place / name.replace("__", ".").replace("_conf", ".conf")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


def words(reading: Reading) -> list[tuple[str, str]]:
    spans = reading.annotation.layers["span"]
    rows = spans.itertuples(index=False, name=None)
    return [(reading.corpus.text(start, end), label) for start, end, label in rows]


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("T1\tPER 1 8\tAnn Lee\n", "brat counts the mark"),
        ("T1\tPER 0 7\tAnn Lee\n", "the words tell that it is not counted"),
        ("T1\tPER 1 8\n", "without words it counts"),
    ],
)
def test_a_byte_order_mark_is_a_character_if_the_offsets_count_it(tmp_path: Path, line: str, why: str) -> None:
    found = read(folder(tmp_path, a__txt=BOM + b"Ann Lee came.", a__ann=line))
    assert words(found) == [("Ann Lee", "PER")], why
    assert correct(found, found.annotation.layers)["a.ann"] == line.encode()
    shorter = found.annotation.layers["span"].assign(end=0)
    start, end = line.split()[2:4]
    expected = line.replace(f"{start} {end}", f"{start} {int(end) - 4}").replace("Ann Lee", "Ann")
    assert correct(found, {"span": shorter})["a.ann"] == expected.encode()


def test_parts_that_only_white_space_parts_are_one_span(tmp_path: Path) -> None:
    line = "T1\tPER 0 3;4 7\tAnn Lee\n"
    found = read(folder(tmp_path, a__txt="Ann\nLee came.", a__ann=line))
    assert len(found.annotation.layers["span"]) == 1
    assert correct(found, found.annotation.layers)["a.ann"] == line.encode()


SPLIT = "T1\tPER 0 3;8 11\tAnn Lee\nA1\tSure T1\n"
PARTED = "Ann and Lee came."


def test_other_spans_of_several_parts_are_refused_with_the_options(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a\.ann:1: a discontinuous span.*--discontinuous join.*--discontinuous split"
    ):
        read(folder(tmp_path, a__txt=PARTED, a__ann=SPLIT))


def test_parts_are_joined_from_the_first_to_the_last(tmp_path: Path) -> None:
    found = read(folder(tmp_path, a__txt=PARTED, a__ann=SPLIT), ReadOptions(discontinuous="join"))
    assert words(found) == [("Ann and Lee", "PER")]
    assert correct(found, found.annotation.layers)["a.ann"] == SPLIT.encode()
    shorter = found.annotation.layers["span"].assign(end=0)
    assert correct(found, {"span": shorter})["a.ann"] == b"T1\tPER 0 3\tAnn\nA1\tSure T1\n"


def test_parts_are_split_into_spans_and_corrected_one_by_one(tmp_path: Path) -> None:
    found = read(folder(tmp_path, a__txt=PARTED, a__ann=SPLIT), ReadOptions(discontinuous="split"))
    assert words(found) == [("Ann", "PER"), ("Lee", "PER")]
    spans = found.annotation.layers["span"]
    assert correct(found, {"span": spans})["a.ann"] == SPLIT.encode()
    assert correct(found, {"span": spans[:1]})["a.ann"] == b"T1\tPER 0 3\tAnn\nA1\tSure T1\n"
    assert correct(found, {"span": spans[:0]})["a.ann"] == b""


def test_every_other_file_comes_along_into_the_corrected_folder(tmp_path: Path) -> None:
    found = read(folder(tmp_path, a__txt="Ann", a__ann="", annotation_conf="[entities]\nPER\n"))
    assert correct(found, found.annotation.layers) == {
        "a.txt": b"Ann",
        "a.ann": b"",
        "annotation.conf": b"[entities]\nPER\n",
    }


def test_any_white_space_separates_and_a_header_is_no_annotation(tmp_path: Path) -> None:
    lines = "Id Category Start End match\nT1 PER  0\t7   Ann Lee\n"
    assert words(read(folder(tmp_path, a__txt="Ann Lee", a__ann=lines))) == [("Ann Lee", "PER")]
