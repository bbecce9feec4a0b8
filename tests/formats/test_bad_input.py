"""Bad input: exit code 2, a message that says where and what, no traceback, nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from tests.support.commands import refused, run, run_process
from tests.support.tables import Sides

GOOD = "Ann\tB-PER\tt1\nLee\tI-PER\tt2\nx\tO\tt3\n"


@pytest.fixture
def compare(write: Callable[..., Path], tmp_path: Path) -> Callable[..., None]:
    """A function that checks that `score` and `evaluate` refuse two files with these words."""

    def check(gold: str | bytes, pred: str | bytes, *words: str, options: tuple[object, ...] = ()) -> None:
        sides = write("gold.vrt", gold), write("pred.vrt", pred)
        before = sorted(tmp_path.rglob("*"))
        refused(run("score", *sides, *options), *words)
        outputs = "-o", tmp_path / "out" / "r.xlsx", "--json", tmp_path / "new" / "m.json", "--files", tmp_path / "dir"
        refused(run("evaluate", *sides, *options, *outputs), *words)
        assert sorted(tmp_path.rglob("*")) == before

    return check


# ---- files -------------------------------------------------------------------------------------------------------


def test_a_missing_file(tmp_path: Path, write) -> None:
    gold = write("gold.vrt", GOOD)
    refused(run("score", gold, tmp_path / "absent.vrt"), "absent.vrt: cannot be read: No such file", "Check the path")


def test_a_directory_in_place_of_a_file(tmp_path: Path, write) -> None:
    gold = write("gold.vrt", GOOD)
    (tmp_path / "folder").mkdir()
    refused(run("score", gold, tmp_path / "folder"), "folder: the folder has no documents: neither .txt nor .ann")
    named = run("score", gold, tmp_path / "folder", "--pred-format", "vrt")
    refused(named, "folder: a folder is read as brat, but --format says vrt. Give a file.")


def test_a_file_that_is_not_utf8(compare) -> None:
    latin = "Ann\tO\tt1\nMüller\tO\tt2\n".encode("latin-1")
    compare(GOOD, latin, "pred.vrt:2: byte 0xFC is not UTF-8. Save the file as UTF-8 (it may be Latin-1).")


def test_a_bad_byte_is_found_at_the_border_of_a_decoding_step(monkeypatch: pytest.MonkeyPatch, write) -> None:
    from clueval_xlsx.formats import fields

    content = "äöü\tO\n".encode() * 3 + b"\xc3"
    for step in range(1, 12):
        monkeypatch.setattr(fields, "_DECODING_STEP", step)
        with pytest.raises(InputError, match=r":4: byte 0xC3 is not UTF-8"):
            read(write("bad.vrt", content))
        assert len(read(write("good.vrt", content[:-1])).corpus) == 3


def test_utf16(compare) -> None:
    compare(GOOD, GOOD.encode("utf-16"), "pred.vrt:1: the file is UTF-16. Only UTF-8 is read: save it as UTF-8.")


def test_a_binary_file(compare) -> None:
    compare(GOOD, "Ann\tO\nx\0\tO\n", "pred.vrt:2: a NUL byte, so this is not a text file")


def test_old_macintosh_line_ends(compare) -> None:
    compare(GOOD, GOOD.replace("\n", "\r"), "pred.vrt:1: lines end in CR alone. Allowed: LF or CRLF")


def test_both_sides_from_standard_input() -> None:
    refused(run("score", "-", "-", stdin=GOOD.encode()), "only one side can come from standard input")


# ---- lines -------------------------------------------------------------------------------------------------------


def test_a_tag_that_is_no_bio(compare) -> None:
    bad = GOOD.replace("I-PER", "PER")
    compare(
        GOOD, bad, "pred.vrt:2: layer span: 'PER' is no BIO tag. Allowed: O, B-LABEL, I-LABEL", "Check that --layer"
    )


def test_a_column_that_is_not_there(compare) -> None:
    compare(
        GOOD, GOOD, "gold.vrt:1:", "has 3 columns, but column 7 (layer risk) is asked for", "--layer NAME=COLUMN",
        "(2 more: `clueval-xlsx validate` lists them.)", options=("--layer", "risk=7"),
    )  # fmt: skip


def test_an_empty_token(compare) -> None:
    compare(GOOD, GOOD.replace("Lee", ""), "pred.vrt:2: the token in column 1 is empty")


def test_a_broken_tag_line(compare) -> None:
    bad = '<text id="a>\n' + GOOD
    compare(GOOD, bad, "pred.vrt:1: '<text id=\"a>' has 1 column", "If the line is meant as an XML tag")


def test_document_tags_that_are_not_well_formed(compare) -> None:
    compare(
        f"<text id=a>\n{GOOD}</text>\n", GOOD, "gold.vrt:1: '<text id=a>' is not a well-formed tag", "Allowed: <name"
    )


def test_document_tags_that_do_not_fit_each_other(compare) -> None:
    compare(GOOD, f"{GOOD}</text>\n", "pred.vrt:4: </text> closes nothing")
    nested = f'<text id="a">\n{GOOD}<text id="b">\n</text>\n'
    compare(GOOD, nested, "pred.vrt:5: <text> opens inside another <text>. Add the missing </text>")


def test_a_duplicate_token_id(compare) -> None:
    bad = GOOD.replace("t3", "t1")
    compare(GOOD, bad, "pred.vrt:3: token ID 't1' was already used in line 1", "unique", options=("--token-id", "3"))


def test_a_duplicate_document_id(compare) -> None:
    bad = '<text id="a">\nAnn\tO\n</text>\n<!-- x -->\n<text id="a">\nLee\tO\n</text>\n'
    compare(bad, bad, "gold.vrt:5: document 'a' starts here, but a document of this ID came before")


def test_documents_of_an_id_column_that_do_not_stand_together(compare) -> None:
    bad = "a\tO\td1\nb\tO\td2\nc\tO\td1\n"
    compare(bad, bad, "gold.vrt:3: document 'd1' starts here", options=("--document-id", "3"))


def test_an_orphan_with_strict_tags(compare) -> None:
    bad = "Ann\tO\nLee\tI-PER\nx\tI-LOC\n"
    words = "pred.vrt:2: layer span: 'I-PER' continues nothing (1 more)", "--bio lenient"
    compare("Ann\tO\nLee\tO\nx\tO\n", bad, *words, options=("--bio", "strict"))


# ---- two files that do not fit -------------------------------------------------------------------------------------


def test_different_numbers_of_tokens(compare) -> None:
    words = (
        "different numbers of tokens",
        "gold.vrt has 3",
        "pred.vrt has 2",
        "pred.vrt:2",
        "gold.vrt:3",
        "goes on with 'x'",
    )
    compare(GOOD, GOOD.replace("x\tO\tt3\n", ""), *words)


def test_a_prediction_without_any_token(compare) -> None:
    compare(GOOD, "", "gold.vrt has 3", "pred.vrt has 0", "ends at once", "gold.vrt:1 goes on with 'Ann'")


def test_one_differing_token(compare) -> None:
    compare(GOOD, "<s>\n" + GOOD.replace("Lee", "Leo"), "gold.vrt:2 has 'Lee'", "pred.vrt:3 has 'Leo'")


def test_differing_token_ids(compare) -> None:
    words = "the token IDs differ", "gold.vrt:2 has 't2'", "pred.vrt:2 has 't9'", "(token 'Lee')"
    compare(GOOD, GOOD.replace("t2", "t9"), *words, options=("--token-id", "3"))


def test_the_first_difference_is_shown_be_it_token_or_id(compare) -> None:
    bad = GOOD.replace("Ann", "Anna").replace("t2", "t9")
    compare(GOOD, bad, "the tokens differ: ", "gold.vrt:1 has 'Ann'", options=("--token-id", "3"))


def test_differing_documents(compare) -> None:
    gold = '<text id="a">\nx\tO\n</text>\n<text id="b">\ny\tO\n</text>\n'
    compare(gold, gold.replace('"b"', '"c"'), "document 2 is 'b' from line 5, 1 tokens", "'c' from line 5, 1 tokens")
    moved = '<text id="a">\nx\tO\ny\tO\n</text>\n<text id="b">\n</text>\n'
    compare(gold, moved, "document 1 is 'a' from line 2, 1 tokens in", "'a' from line 2, 2 tokens in")
    fewer = '<text id="a">\nx\tO\n</text>\ny\tO\n'
    compare(fewer, gold.replace('</text>\n<text id="b">\n', ""), "document 1 is 'a'")


def test_layers_that_differ_between_the_sides(compare) -> None:
    options = ("--gold-layer", "a=2", "--pred-layer", "b=2")
    compare(GOOD, GOOD, "the layers differ: a in", "b in", "Give the same names", options=options)


# ---- options and config --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--level", "exakt"), ("--level", "'exakt' is not one of 'exact', 'superset', 'tiling', 'overlap'")),
        (("--labelled", "risk"), ("--labelled risk: there is no such layer. Layers: span",)),
        (("--by", "court"), ("there is no metadata called 'court'. Known here: none.",)),
        (("--layer", "risk"), ("gold.vrt: --layer risk: here a layer is a column of tags. Give its number",)),
        (("--layer", "risk=0"), ("'risk=0' is not NAME=COLUMN",)),
        (("--layer", "start=2"), ("'start' cannot be the name of a layer",)),
        (("--layer", "a=2", "--layer", "a=3"), ("a layer is named twice: a, a",)),
        (("--format", "docx"), ("--format", "'docx' is not one of 'vrt', 'conll'")),
        (("--beta", "0"), ("--beta",)),
        (("--replicates", "-1"), ("--replicates",)),
        (("--replicates", "99999999999"), ("--replicates 99999999999: out of range. Allowed: 0 to 1,000,000",)),
        (("--seed", "-5"), ("--seed -5: out of range. Allowed: 0 to",)),
        (("--beta", "inf"), ("--beta inf: a weight of recall. Allowed: more than 0",)),
        (("--layer", "span=99999999999999999999"), ("there is no column 99999999999999999999. Allowed: 1 to",)),
        (("--token-id", "0"), ("--token-id",)),
        (("--no-such-option",), ("No such option",)),
    ],
)  # fmt: skip
def test_options_that_cannot_be(compare, options: tuple[str, ...], words: tuple[str, ...]) -> None:
    compare(GOOD, GOOD, *words, options=options)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("levle = 'exact'", ("unknown key 'levle'. Did you mean 'level'? Allowed: ", "token-id")),
        ("[score]\nlevle = 'exact'", ("[score]: unknown key 'levle'. Did you mean 'level'?",)),
        ("level = exact", ("not valid TOML", "line 1")),
        ("level = 'exakt'", ("level: 'exakt' is not one of 'exact'",)),
        ("level = ['exact']", ("level: found a list or table. Allowed: one value",)),
        ("layer = 'risk='", ("layer: 'risk=' is not NAME=COLUMN",)),
        ("token-id = true", ("token-id: found True. Allowed: a text or a number",)),
        ("merge = 'no'", ("merge: found 'no'. Allowed: true or false",)),
        ("gold-file = 'x'", ("unknown key 'gold-file'", "Allowed: ")),
        ("seed = 7.5", ("seed: '7.5' is not a valid integer",)),
        ("equivalent = [3]", ("equivalent: '3' is no group of labels",)),
        (f"seed = {'9' * 5000}", ("a number of thousands of digits",)),
        (f"layer = {'[' * 5000}{']' * 5000}", ("a value is nested too deeply",)),
        (f"{'.'.join('a' * 30_000)} = 1", ("line 1 has more than 200 dots",)),
        ("[judgements.x]\neffect = ['gold_wrong']\nen = 'X'", ("judgement 'x' has effect ['gold_wrong']. Allowed",)),
    ],
)
def test_config_files_that_cannot_be(write, content: str, words: tuple[str, ...]) -> None:
    gold, config = write("gold.vrt", GOOD), write("c.toml", content)
    refused(run("score", gold, gold, "--config", config), "c.toml", *words)


def test_a_config_file_that_is_missing_or_not_utf8(write, tmp_path: Path) -> None:
    gold = write("gold.vrt", GOOD)
    refused(run("score", gold, gold, "--config", tmp_path / "no.toml"), "no.toml: cannot be read", "--config")
    bad = write("c.toml", "# ü\n".encode("latin-1"))
    refused(run("score", gold, gold, "--config", bad), "c.toml: the file is not UTF-8")


def test_config_holds_every_option_by_its_own_name_and_the_command_line_wins(write) -> None:
    both = write("both.vrt", '<text id="d" kind="x">\na\tB-X\tO\nb\tI-X\tB-Y\n</text>\n')
    config = write(
        "c.toml", 'level = "exact"\nby = "kind"\nreplicates = 0\n[gold-layer]\nrisk = 2\n[pred-layer]\nrisk = 3\n'
        '[score]\njson = true\nmerge = false\n[evaluate]\ncontext = 3\n',
    )  # fmt: skip
    done = run("score", both, both, "--config", config)
    assert done.code == 0, done.err
    assert "level:exact" in done.out
    assert "by:kind" in done.out
    assert "layers:risk=2/risk=3" in done.out
    assert "level:tiling" in run("score", both, both, "--config", config, "--level", "tiling").out


# ---- the whole process ---------------------------------------------------------------------------------------------


def test_the_process_exits_with_two_and_debug_shows_the_traceback(tmp_path: Path) -> None:
    plain = run_process(["score", "absent.vrt", "absent.vrt"], cwd=tmp_path)
    refused(plain, "Error: absent.vrt: cannot be read")
    loud = run_process(["score", "absent.vrt", "absent.vrt", "--debug"], cwd=tmp_path)
    assert "Traceback" in loud.err
    assert loud.code != 0


def test_a_failing_run_leaves_the_old_file_whole(write, tmp_path: Path) -> None:
    old = write("out/metrics.json", "old")
    gold = write("gold.vrt", GOOD)
    blocked = write("file", "in the way")
    done = run("evaluate", gold, gold, "--json", old, "--files", blocked / "sub")
    refused(done, "file/sub: the folder cannot be made: Not a directory")
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "gold.vrt", "metrics.json", "out"]


def test_validate_lists_every_problem_by_line(write) -> None:
    bad = write("bad.vrt", "Ann\tX\tt1\nLee\n\tO\tt1\nx\tB-\tt4\ny\tO\tt4\n")
    done = run("validate", bad, "--token-id", "3")
    assert done.code == 2
    assert [line.removeprefix(str(bad)).split(": ")[0] for line in done.out.splitlines()] == [
        ":1", ":2", ":3", ":3", ":4", ":5",
    ]  # fmt: skip
    assert done.err == "6 problems found.\n"


def test_validate_counts_what_it_does_not_list(write) -> None:
    bad = write("bad.vrt", "".join(f"w{number}\tword{number}\n" for number in range(5000)))
    done = run("validate", bad)
    assert len(done.out.splitlines()) == 1001
    assert "and 4000 more problems" in done.out
    assert done.err == "5000 problems found.\n"


def test_validate_compares_further_files_with_the_first(write) -> None:
    one, other = write("a.vrt", GOOD), write("b.vrt", GOOD.replace("Lee", "Leo"))
    done = run("validate", one, one, other)
    assert done.code == 2
    assert "a.vrt:2 has 'Lee'" in done.out
    assert run("validate", one, one).code == 0


def test_validate_describes_a_sound_file(examples: Path) -> None:
    done = run("validate", examples / "pred.vrt", "--layer", "category=2", "--token-id", "4")
    assert done.code == 0
    assert "4 documents" in done.out
    assert "6 I- that continue nothing" in done.out
    assert "metadata: id, domain, s_id" in done.out


def test_the_pair_is_compared_in_the_library_too() -> None:
    from tests.support.tables import pair_of

    with pytest.raises(InputError, match="the tokens differ: gold:1 has 'a', pred:1 has 'b'"):
        pair_of(Sides(b"a\tO\n", b"b\tO\n"))
