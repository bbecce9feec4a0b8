"""Scores of a folder, counted in batches: the bytes of reading it at once, or a note that says why that is done."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval_xlsx.batches import adding, counting
from clueval_xlsx.clusters import Done
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.registry import FORMATS, PREDICTED, Format, format_named
from clueval_xlsx.formats.writing import output_files
from tests.support.commands import Result, refused, run
from tests.support.extras import needed_by
from tests.support.listed import Listed, ListedDocument, listed_documents, presidio_files
from tests.support.strategies import at_most

CATEGORY = ("--layer", "category=2")
LAYERS = (*CATEGORY, "--layer", "risk=3")


@pytest.fixture(scope="module")
def folders(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with each decision in a file of its own."""
    folder = tmp_path_factory.mktemp("corpus")
    for side in ("gold", "pred"):
        (folder / side).mkdir()
        text = (examples / f"{side}.vrt").read_text("utf-8")
        for number, document in enumerate(re.findall(r"<text.*?</text>\n", text, re.DOTALL), 1):
            (folder / side / f"decision-{number}.vrt").write_text(document, "utf-8", newline="")
    return folder


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Have files counted so many at a time, as workers would do it."""

    return partial(count_here, monkeypatch)


def count_here(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    def count(request: counting.CorpusRequest, files: Sequence[counting.FilePair]) -> list[counting.Counted]:
        return pickle.loads(pickle.dumps(counted(request, files)))

    counted = counting.count_batch
    monkeypatch.setattr(adding, "count_batch", count)
    for module in (adding, counting):
        monkeypatch.setattr(module, "MOST_FILES", size)


def both(gold: Path | str, pred: Path | str, *options: str) -> tuple[Result, Result]:
    """All at once, and in batches."""
    with pytest.MonkeyPatch.context() as patched:
        for module in (adding, counting):
            patched.setattr(module, "MOST_FILES", 1000)
        whole = run("score", gold, pred, *options)
    return whole, run("score", gold, pred, *options)


@pytest.mark.parametrize(
    "options",
    [
        (*LAYERS, "--scheme", "all", "--by", "domain"),
        (*LAYERS, "--no-merge", "--labelled", "risk"),
        (*CATEGORY, "--scheme", "all", "--equivalent", "PERSON,ORG", "--ignore", "LOC"),
        (*CATEGORY, "--map", "PERSON=PER", "--map", "PERSO=X", "--labelled", "category"),
        (*CATEGORY, "--by", "s_id", "--by", "domain", "--scheme", "documents"),
        (*CATEGORY, "--align", "text", "--scheme", "seqeval"),
        (*CATEGORY, "--fail-under", "recall=0.99"),
    ],
    ids=["all schemes", "layers apart", "equivalent and ignored", "mapped", "grouped", "aligned", "gate"],
)
def test_parts_add_up_to_the_same_bytes(
    folders: Path, in_parts: Callable[[int], None], options: tuple[str, ...]
) -> None:
    in_parts(1)
    here, there = both(folders / "gold", folders / "pred", *options, "--as", "json")
    assert there == here
    assert here.out


WORDS = "Ann\tB-PER\nLee\tI-PER\nsees\tO\nRome\t{0}\nand\tO\nBob\t{1}\n"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Three small documents of each side."""
    folder = tmp_path_factory.mktemp("sources")
    found: dict[str, list[Path]] = {}
    for side, tags in (("gold", ["B-LOC", "B-PER"]), ("pred", ["O", "B-PER"])):
        for number in range(3):
            path = folder / f"{side}-{number}.vrt"
            words = WORDS.format(*(tags if number else reversed(tags)))
            path.write_text(f'<text id="d{number}">\n<s>\n{words}</s>\n</text>\n', "utf-8")
            found.setdefault(side, []).append(path)
    return found


def write_folder(folder: Path, sources: Sequence[Path], format_: Format) -> Path:
    """Documents in a format, each in a file of its own."""
    ending = (*format_.targets, *format_.endings, ".csv" if format_.name == "token-csv" else ".tsv")[0]
    for number, path in enumerate(sources):
        reading = read(path)
        target = folder if format_.folder else folder / f"part-{number}{ending}"
        for name, content in output_files(reading, reading.annotation.layers, format_, target).items():
            name.parent.mkdir(parents=True, exist_ok=True)
            name.write_bytes(content)
    return folder


@pytest.mark.parametrize("format_", [each for each in FORMATS if each.name in PREDICTED], ids=lambda each: each.name)
def test_a_folder_of_each_format_adds_up_or_is_refused(
    in_parts: Callable[[int], None], sources: dict[str, list[Path]], tmp_path: Path, format_: Format
) -> None:
    needed_by(format_.name)
    in_parts(2)
    golden = format_ if format_.written else format_named("presidio")  # a detector's finds are no gold
    gold = write_folder(tmp_path / "gold", sources["gold"], golden)
    pred = write_folder(tmp_path / "pred", sources["pred"], format_)
    here, there = both(gold, pred, "--format", golden.name, "--pred-format", format_.name, "--as", "json")
    if format_.folder or format_.name == "inception":
        read_at_once(here, there, f"{format_.title} is not read file by file")
        return
    if format_.needs_text and format_.name != "juritools":  # nor does one machine take a folder of them
        refused(here, "needs the text it belongs to")
        refused(there, "needs the text it belongs to")
        return
    assert there == here
    assert here.code == 0, here.err
    assert json.loads(here.out)["inputs"]["gold"]["documents"] == 3


def read_at_once(here: Result, there: Result, why: str) -> None:
    """Both give the same, and the second says why nothing was gained."""
    assert (there.code, there.out) == (here.code, here.out)
    note, rest = there.err.split("\n", 1)
    assert note.startswith("Note: ")
    assert note.endswith(f" is read at once, because {why}.")
    assert rest == here.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "pred: there is no file in the folder. Check the path."),
        (b"Ann\tB-PER\xff\n", "pred/part-1.vrt:1: byte 0xFF is not UTF-8"),
        (b"Bob\tB-PER\n", "the documents differ: 'd1' of "),
    ],
    ids=["empty", "not UTF-8", "other words"],
)
def test_what_is_wrong_with_a_folder_is_one_sentence(
    in_parts: Callable[[int], None], sources: dict[str, list[Path]], tmp_path: Path, content: bytes | None, said: str
) -> None:
    in_parts(3)
    gold = write_folder(tmp_path / "gold", sources["gold"], format_named("vrt"))
    (tmp_path / "pred").mkdir()
    if content is not None:
        write_folder(tmp_path / "pred", sources["pred"], format_named("vrt"))
        (tmp_path / "pred" / "part-1.vrt").write_bytes(content)
    done = run("score", gold, tmp_path / "pred")
    refused(done, said)
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("size", [1, 2])
def test_texts_of_one_id_in_several_files_are_read_at_once(
    in_parts: Callable[[int], None], tmp_path: Path, size: int
) -> None:
    in_parts(size)
    for side in ("gold", "pred"):
        (tmp_path / side).mkdir()
        for number in range(4):
            spans = [[0, 7, "PER"], [12, 19, "PER"]][: 1 + (number % 2 if side == "pred" else 1)]
            lines = [{"id": f"same-{row}", "text": "Ann Lee met Bob May here.", "label": spans} for row in range(3)]
            target = tmp_path / side / f"part-{number}.jsonl"
            target.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    here, there = both(tmp_path / "gold", tmp_path / "pred", "--scheme", "all", "--as", "json")
    read_at_once(here, there, "document ID 'same-0' occurs in several files")
    assert "part-0/same-0" in here.out


# Only the first has annotations that overlap, and so a list. The second lists its gold from right to left: `Ann`
# takes the prediction that the longer one needs, whichever stands first in the file. In the third two types are glued.
OVERLAPPING = [
    ListedDocument(
        "Ann Lee Bonn",
        [Listed(0, 7, "PER"), Listed(0, 3, "GOLD")],
        [Listed(0, 7, "PER", 0.9), Listed(4, 7, "PRED", 0.3)],
    ),
    ListedDocument(
        "Ann Lee Bonn Montoya", [Listed(4, 20, "PER"), Listed(0, 3, "PER")], [Listed(0, 7, "PER"), Listed(8, 12, "PER")]
    ),
    ListedDocument(
        "AnnLee Bonn",
        [Listed(0, 3, "PER"), Listed(3, 11, "LOC")],
        [Listed(0, 3, "PER", 0.9), Listed(3, 11, "LOC", 0.3)],
    ),
]


@at_most(40)
@given(st.lists(listed_documents(), min_size=2, max_size=4), st.sampled_from([1, 2]))
@example(OVERLAPPING, 1)
def test_annotations_that_overlap_add_up_too(documents: list[ListedDocument], size: int) -> None:
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        count_here(patched, size)
        folders = Path(name) / "gold", Path(name) / "pred"
        for folder in folders:
            folder.mkdir()
        for number, document in enumerate(documents):
            for folder, content in zip(folders, presidio_files([document]), strict=True):
                (folder / f"part-{number}.json").write_bytes(content)
        here, there = both(*folders, "--scheme", "all", "--nested", "longest", "--format", "presidio", "--as", "json")
        assert here.code == 0, here.err
        assert there == here


def test_tags_that_continue_nothing_are_told_by_the_whole_corpus(
    in_parts: Callable[[int], None], tmp_path: Path
) -> None:
    """A single file may look like IOB1, where I- opens every span; the corpus does not."""
    in_parts(1)
    files = {"a": "Ann\tI-PER\nLee\tB-PER\nof\tO\n", "b": "Ann\tB-PER\nLee\tI-PER\nof\tO\nRome\tI-LOC\n"}
    for side in ("gold", "pred"):
        (tmp_path / side).mkdir()
        for name, content in files.items():
            (tmp_path / side / f"{name}.vrt").write_text(content, "utf-8")
    here, there = both(tmp_path / "gold", tmp_path / "pred", "--as", "json")
    assert there == here
    assert json.loads(here.out)["inputs"]["gold"]["orphans"] == {"span": 2}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ("--set", "labels.unmapped=discard", "--map", "PERSON=PER"),
            "--set labels.unmapped=discard looks at the labels of all files before it counts",
        ),
        (("--token-id", "4"), "token IDs must be unique in the whole corpus (--token-id)"),
    ],
)
def test_what_needs_the_whole_corpus_is_read_at_once(
    folders: Path, in_parts: Callable[[int], None], options: tuple[str, ...], why: str
) -> None:
    in_parts(1)
    here, there = both(folders / "gold", folders / "pred", *CATEGORY, *options)
    read_at_once(here, there, why)


def test_documents_of_one_id_in_two_files_are_refused(
    folders: Path, in_parts: Callable[[int], None], tmp_path: Path
) -> None:
    in_parts(1)
    for side in ("gold", "pred"):
        (tmp_path / side).mkdir()
        content = (folders / side / "decision-1.vrt").read_bytes()
        for name in ("a.vrt", "b.vrt"):
            (tmp_path / side / name).write_bytes(content)
    done = run("score", tmp_path / "gold", tmp_path / "pred", *CATEGORY)
    refused(done, "gold/b.vrt:1: document 'AG-Lindenau-12-C-345-24' starts here, but a document of this ID came before")


def test_a_file_that_each_worker_dies_of_is_named(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count_on_workers(monkeypatch, lambda _work, _files: None)
    done = run("score", folders / "gold", folders / "pred", *CATEGORY, "--cluster", "local:2")
    refused(done, "gold/decision-1.vrt: each worker that took it died. Give the workers more memory")


def count_on_workers(monkeypatch: pytest.MonkeyPatch, result: Callable[[Any, Any], Any]) -> None:
    """A cluster of two workers of which this comes back."""

    def do(work: Any, files_of_batches: Any) -> Iterator[Done[Any, Any]]:
        for files in files_of_batches:
            yield Done(files, result(work, files))

    two = SimpleNamespace(await_worker=lambda: 2, run=do)
    monkeypatch.setattr(adding, "connected", lambda _place, _seen: nullcontext(two))
