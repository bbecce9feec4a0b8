"""Confidential text: encrypted workbooks, nothing in clear on disk at any time, and an edition without text."""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from clueval_xlsx.cases import table as table_module
from clueval_xlsx.cases.kinds import Sheet
from clueval_xlsx.files.workbooks import encrypt
from clueval_xlsx.resources import resource_folder
from clueval_xlsx.review.assignment import _letters
from tests.support.commands import EXAMPLE_OPTIONS, refused, run
from tests.support.teams import all_cases, cases_of, everything_in, fill, manifest
from tests.support.workbooks import ONE_LAYER, TABS, evaluated, example, opened, texts, written

pytestmark = pytest.mark.slow

PASSWORD = "Grüne Tür 7"
WORD = re.compile(r"[^\W\d_]{4,}")


@pytest.fixture
def password(tmp_path: Path) -> Path:
    path = tmp_path / "password.txt"
    path.write_text(f"{PASSWORD}\nsecond line\n", "utf-8")
    return path


@cache
def corpus_words() -> set[str]:
    """All words of the example's text."""
    lines = (resource_folder("examples") / "gold.vrt").read_text("utf-8").splitlines()
    tokens = [line.split("\t")[0] for line in lines if not line.startswith("<")]
    return {word for token in tokens for word in WORD.findall(token)}


def document_ids() -> tuple[str, ...]:
    return example(replicates=0).pair.corpus.doc_ids


# ---- whatever touches the disk ----------------------------------------------------------------------------------


class Watch:
    """Every file that was ever written, as it was when it was moved, deleted or left behind."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.opened: set[str] = set()
        self.unnamed = 0
        self.on = False

    def keep(self, path: object) -> None:
        file = Path(os.fsdecode(path))  # type: ignore[arg-type]
        if file.is_file():
            self.contents[f"{len(self.contents)} {file}"] = file.read_bytes()

    def text(self) -> bytes:
        return b"\n".join(self.contents.values())


_watches: list[Watch] = []


def _hook(event: str, arguments: tuple) -> None:
    if event == "open" and _watches and _watches[-1].on and isinstance(arguments[0], str | bytes | os.PathLike):
        mode, flags = arguments[1], arguments[2]
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool(flags & os.O_ACCMODE)
        if writes:
            _watches[-1].opened.add(os.fsdecode(arguments[0]))


@contextmanager
def watching(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> Iterator[Watch]:
    watch = Watch()
    if not any(isinstance(each, Watch) for each in _watches):
        sys.addaudithook(_hook)  # for ever, but it does nothing unless a watch is on
    _watches.append(watch)
    with monkeypatch.context() as patch:
        for name in ("remove", "unlink", "replace", "rename"):
            original = getattr(os, name)

            def kept(path, *more, _original=original, **options):
                watch.keep(path)
                return _original(path, *more, **options)

            patch.setattr(os, name, kept)
        for name in ("TemporaryFile", "SpooledTemporaryFile"):
            original = getattr(tempfile, name)

            def unnamed(*more, _original=original, **options):
                watch.unnamed += 1
                return _original(*more, **options)

            patch.setattr(tempfile, name, unnamed)
        watch.on = True
        yield watch
        watch.on = False
    for folder in folders:
        for file in folder.rglob("*"):
            watch.keep(file)


JOURNAL = {"before"}  # keys of the list of files that a run is about to move, which are words of the example as well


@cache
def other_container() -> bytes:
    """An encrypted workbook of another text: it has words of its own, such as Primary and Encryption."""
    return encrypt(written(evaluated(ONE_LAYER)), "x")


def clear_words(data: bytes) -> list[str]:
    """Corpus words in these bytes, as UTF-8 or UTF-16; shorter ones would be found in noise."""
    container = other_container()

    def within(word: str, content: bytes) -> bool:
        return word.encode() in content or word.encode("utf-16-le") in content

    words = [word for word in corpus_words() - JOURNAL if len(word) >= 5]
    return sorted(word for word in words if within(word, data) > within(word, container))


@pytest.mark.sweep
@pytest.mark.parametrize("protected", [True, False])
def test_no_clear_text_ever_reaches_the_disk(sides, password, tmp_path, monkeypatch, protected):
    temporary, out = tmp_path / "temporary", tmp_path / "out"
    temporary.mkdir()
    out.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    options = ["--password-file", password] if protected else []
    with watching(monkeypatch, temporary, out) as watch:
        made = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", out / "r.xlsx", "--judges", "a,b", *options)
        report = ["--report", out / "report.xlsx", "--conflicts", out / "conflicts.xlsx"]
        books = [out / "r-a.xlsx", out / "r-b.xlsx"]
        back = run("reimport", *books, "--gold", sides[0], *report, *options)
        seen = run("status", *books, *options)
    assert (made.code, back.code, seen.code) == (0, 0, 0), (made.err, back.err, seen.err)
    assert {Path(key.partition(" ")[2]).name for key in watch.contents} >= {"r-a.xlsx", "r-b.xlsx", "report.xlsx"}
    outside = [path for path in watch.opened if not Path(path).is_relative_to(tmp_path) and path != os.devnull]
    assert not [path for path in outside if "__pycache__" not in path]
    found = clear_words(watch.text()) + clear_words(everything_in_all(watch).encode())
    if protected:
        assert not found
        assert not list(temporary.iterdir())
        assert watch.unnamed == 0
    else:  # the watch does see what it is there for
        assert len(found) > 50
    assert not [path for path in watch.opened if Path(path).is_relative_to(temporary)]


def everything_in_all(watch: Watch) -> str:
    return "\n".join(everything_in(content) for content in watch.contents.values())


def test_encrypted_workbooks_are_those_excel_writes(sides, password, tmp_path):
    import msoffcrypto

    book = tmp_path / "r.xlsx"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", book, "--password-file", password).code == 0
    container = msoffcrypto.OfficeFile(io.BytesIO(book.read_bytes()))
    assert container.is_encrypted()
    assert container.type == "agile"
    assert b'keyBits="256"' in book.read_bytes()
    assert b'cipherAlgorithm="AES"' in book.read_bytes()
    assert all_cases(book, PASSWORD) == {case for t in example(replicates=0).bare_cases for case in t["case_id"]}


# ---- the right password, a wrong one, none ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def judged_and_locked(sides, tmp_path_factory) -> bytes:
    """A workbook in which somebody judged, encrypted."""
    folder = tmp_path_factory.mktemp("locked")
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", folder / "anna.xlsx", "--judges", "anna,ben").code == 0
    book = folder / "anna-anna.xlsx"
    fill(book, dict.fromkeys(cases_of(book)["FN"][:3], "gold_wrong"))
    return encrypt(book.read_bytes(), PASSWORD)


@pytest.fixture
def locked(judged_and_locked, tmp_path) -> Path:
    """The same on disk, for one test."""
    book = tmp_path / "anna-anna.xlsx"
    book.write_bytes(judged_and_locked)
    return book


def test_the_right_password_opens_from_a_file_or_the_environment(locked, sides, tmp_path, password, monkeypatch):
    corrected = tmp_path / "corrected.vrt"
    back = run("reimport", locked, "--gold", sides[0], "-o", corrected, "--password-file", password)
    assert back.code == 0, back.err
    assert "of 3 misses that are settled, 3 were the reference's errors" in " ".join(back.out.split())
    assert "no workbook of ben" in back.err
    assert corrected.read_bytes() != sides[0].read_bytes()
    monkeypatch.setenv("CLUEVAL_PASSWORD", PASSWORD)
    assert run("reimport", locked, "--gold", sides[0]).code == 0
    seen = run("status", locked, "--json", "-")
    assert '"judged": 3' in seen.out


@pytest.mark.parametrize("command", ["reimport", "status"])
def test_a_wrong_or_missing_password_is_a_clear_error(locked, sides, tmp_path, command, monkeypatch):
    monkeypatch.delenv("CLUEVAL_PASSWORD", raising=False)
    corrected = tmp_path / "corrected.vrt"
    more = ["--gold", sides[0], "-o", corrected] if command == "reimport" else []
    refused(run(command, locked, *more), "anna-anna.xlsx", "protected by a password", "--password-file")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("Grüne Tür 8", "utf-8")
    refused(run(command, locked, *more, "--password-file", wrong), "anna-anna.xlsx", "password does not fit")
    assert not corrected.exists()


def test_what_a_password_does_not_protect_is_said(sides, tmp_path, password):
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "--html", tmp_path / "r.html", "--password-file", password)
    assert done.code == 0
    assert "clear text" in done.err
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", tmp_path / "r.xlsx", "--password-file", password)
    assert "clear text" not in done.err
    back = ("reimport", tmp_path / "r.xlsx", "--gold", sides[0], "--password-file", password)
    assert "clear text" in run(*back, "--changes", tmp_path / "changes.tsv").err
    assert "clear text" not in run(*back, "--report", tmp_path / "report.xlsx").err


# ---- the edition without text -----------------------------------------------------------------------------------


@cache
def known_words() -> set[str]:
    """Words that may stand in outputs: those of the templates, of labels, and of every output of another text."""
    other = evaluated(ONE_LAYER)
    texts = [everything_in(written(other))]
    for file in resource_folder("templates").rglob("*"):
        if file.is_file():
            texts.append(file.read_text("utf-8", errors="replace"))
    spans = example(replicates=0).pair.gold.spans
    texts += [str(label) for name in spans.columns if name not in {"start", "end"} for label in spans[name].unique()]
    texts += ["gold pred vrt category risk domain tenancy", " ".join(document_domains())]
    return {word for text in texts for word in WORD.findall(text)}


def document_domains() -> list[str]:
    return [str(row.get("domain", "")) for row in example(replicates=0).pair.corpus.documents.rows]


def leaks(data: bytes, known: set[str]) -> list[str]:
    text = everything_in(data)
    found = (corpus_words() - known) & set(WORD.findall(text))
    return sorted(found) + [doc_id for doc_id in document_ids() if doc_id in text]


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_edition_without_text_holds_no_word_of_the_corpus(sides, tmp_path, lang):
    out = tmp_path / "out"
    previous = tmp_path / "log.jsonl"
    full = tmp_path / "first.xlsx"
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", full).code == 0
    fill(full, dict.fromkeys(cases_of(full)["FN"][:4], "gold_wrong"))
    assert run("reimport", full, "--gold", sides[0], "--judgements", previous).code == 0
    done = run(
        "evaluate", *sides, *EXAMPLE_OPTIONS, "--by", "domain", "--previous", previous, "--lang", lang,
        "-o", out / "review.xlsx", "--html", out / "report.html", "--json", out / "metrics.json",
        "--files", out / "files", "--without-text", "--agreed", "8", "--judges", "anna,ben",
    )  # fmt: skip
    assert done.code == 0, done.err
    known = known_words()
    assert len(corpus_words() - known) > 200
    bare = [path for path in sorted(out.rglob("*")) if path.is_file() and "-without-text" in str(path.relative_to(out))]
    names = {path.relative_to(out).as_posix() for path in bare}
    assert names == {
        "review-without-text.xlsx",
        "report-without-text.html",
        "metrics-without-text.json",
        *(f"files-without-text/{path.name}" for path in (out / "files").iterdir()),
    }
    for path in bare:
        assert not leaks(path.read_bytes(), known), path
    for name in ("review-anna.xlsx", "report.html", "files/false_negatives.csv"):
        assert len(leaks((out / name).read_bytes(), known)) > 5, name  # the search finds what is there


def test_the_edition_without_text_has_the_same_cases_positions_and_figures(sides, tmp_path):
    out = tmp_path / "out"
    options = ("-o", out / "r.xlsx", "--files", out / "files", "--without-text")
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, *options).code == 0
    full, bare = out / "r.xlsx", out / "r-without-text.xlsx"
    assert {name: len(cases) for name, cases in cases_of(bare).items()} == {
        name: len(cases) for name, cases in cases_of(full).items()
    }
    assert manifest(bare).signature.partition("|gold:")[0] == manifest(full).signature.partition("|gold:")[0]
    assert manifest(bare).gold.sha256 not in {"", manifest(full).gold.sha256}  # keyed: who has the file learns nothing
    for layer, spans in manifest(bare).predictions.items():
        assert spans.equals(manifest(full).predictions[layer])
    import csv

    for name in ("false_negatives.csv", "false_positives.csv"):
        rows = [
            list(csv.DictReader(io.StringIO((folder / name).read_text("utf-8-sig"), newline="")))
            for folder in (out / "files", out / "files-without-text")
        ]
        for own, without in zip(*rows, strict=True):
            for key in ("class", "start", "end", "document_start", "document_end"):
                assert own[key] == without[key]
            assert without["document"].startswith("#")
    kept, free = ((folder / "scores.csv").read_text("utf-8") for folder in (out / "files", out / "files-without-text"))
    numbers = [re.findall(r",[\d.]+", text) for text in (kept, free)]
    assert numbers[0] == numbers[1]


def known_names() -> list[str]:
    """The list of an attacker: the words of every case, and other people's names."""
    own = [surface for table in example(replicates=0).bare_cases for surface in table["surface"]]
    return [*own, "Erika Mustermann", "Max Power"]


def attacked(ids: set[str]) -> set[str]:
    """The words that an attacker recovers from case IDs.

    The attacker knows the program, the documents' IDs, all places and labels (they stand in the edition), and a list
    of names, and computes the IDs that these names would have.
    """
    evaluation = example(replicates=0)
    found = set()
    layers = evaluation.pair.layers
    for sheet, table in zip(("FN", "FP"), evaluation.bare_cases, strict=True):
        for row in table.to_dict("records"):
            place = [(row["document_start"], row["document_end"])]
            labels = {layer: [row[f"label_{layer}"]] for layer in layers}
            for name in known_names():
                described = table_module._described([name], labels)
                (guess,) = table_module._case_ids(Sheet(sheet), [row["document"]], place, described)
                if guess in ids:
                    found.add(name)
    return found


def test_one_who_knows_the_documents_and_a_list_of_names_recovers_nothing(sides, tmp_path):
    out = tmp_path / "out"
    targets = ("-o", out / "r.xlsx", "--files", out / "files", "--html", out / "r.html", "--json", out / "r.json")
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, *targets, "--without-text").code == 0
    pattern = re.compile(r"\b(?:FN|FP|AG|UM)-[A-Z2-7]{8,}")

    def ids_in(path: Path) -> set[str]:
        return {*pattern.findall(everything_in(path.read_bytes()))}

    full = ids_in(out / "r.xlsx")
    assert len(attacked(full)) > 20  # the attack works where IDs are hashes of words
    true_ids = {case for table in example(replicates=0).bare_cases for case in table["case_id"]}
    assert true_ids <= full
    bare = [path for path in sorted(out.rglob("*")) if path.is_file() and "-without-text" in str(path.relative_to(out))]
    assert len(bare) >= 6
    numbered = set()
    for path in bare:
        found = ids_in(path)
        assert not attacked(found), path
        assert not found & true_ids, path
        numbered |= found
    book = out / "r-without-text.xlsx"
    listed = {*manifest(book).case_list.ids}
    assert listed
    assert not listed & true_ids
    assert listed <= numbered
    numbers = [int(number) for number in texts(opened(book)[TABS["FN"]], "No.")]
    assert [case[3:] for case in cases_of(book)["FN"]] == [_letters(number) for number in numbers]


def test_what_is_filled_in_without_the_text_is_refused_by_name(sides, tmp_path):
    assert run("evaluate", *sides, *EXAMPLE_OPTIONS, "-o", tmp_path / "r.xlsx", "--without-text").code == 0
    book = tmp_path / "r-without-text.xlsx"
    fill(book, dict.fromkeys(cases_of(book)["FN"][:3], "gold_wrong"))
    refused(run("reimport", book, "--gold", sides[0]), "r-without-text.xlsx", "edition without text", "same numbers")
