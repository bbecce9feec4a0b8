"""Options, configs and commands that cannot be: exit code 2 and a message that says what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import refused, run, run_process
from tests.support.tables import SOUND


def test_both_sides_from_standard_input() -> None:
    refused(run("score", "-", "-", stdin=SOUND.encode()), "only one side can come from standard input")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--level", "exakt"), ("--level", "'exakt' is not one of 'exact', 'superset', 'tiling', 'overlap'")),
        (("--labelled", "risk"), ("--labelled risk: there is no such layer. Layers: span",)),
        (("--by", "court"), ("there is no metadata called 'court'. Known here: none.",)),
        (("--layer", "risk=x"), ("gold.vrt: --layer risk=x: here a layer is a column of tags. Give its number",)),
        (("--layer", "risk=0"), ("'risk=0' is not NAME=COLUMN",)),
        (("--layer", "start=2"), ("'start' cannot be the name of a layer",)),
        (("--layer", "a=2", "--layer", "a=3"), ("a layer is named twice: a, a",)),
        (("--format", "docx"), ("--format", "'docx' is not one of 'vrt', 'conll'")),
        (("--beta", "0"), ("--beta",)),
        (("--replicates", "-1"), ("--replicates",)),
        (("--replicates", "99999999999"), ("replicates: found 99999999999. Allowed: a whole number from 0",)),
        (("--beta", "inf"), ("beta: found inf. Allowed: a number from 0.001 up to 1,000",)),
        (("--beta", "1e300"), ("beta: found 1e+300",)),
        (("--beta", "1e-300"), ("beta: found 1e-300",)),
        (("--layer", "span=99999999999999999999"), ("layers: found",)),
        (("--token-id", "0"), ("--token-id",)),
        (("--no-such-option",), ("No such option",)),
    ],
)  # fmt: skip
def test_options_that_cannot_be(both_refuse, options: tuple[str, ...], words: tuple[str, ...]) -> None:
    both_refuse(SOUND, SOUND, *words, options=options)


def test_a_seed_that_cannot_be(write) -> None:
    gold = write("gold.vrt", SOUND)
    refused(run("compare", gold, gold, "--seed", "-5"), "seed: found -5. Allowed: a whole number from 0")


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
        ("replicates = 7.5", ("replicates: '7.5' is not a valid integer",)),
        ("equivalent = [3]", ("equivalent: '3' is no group of labels",)),
        (f"seed = {'9' * 5000}", ("a number of thousands of digits",)),
        (f"layer = {'[' * 5000}{']' * 5000}", ("a value is nested too deeply",)),
        (f"{'.'.join('a' * 30_000)} = 1", ("line 1 has more than 200 dots",)),
        ("[judgements.x]\neffect = ['gold_wrong']\nen = 'X'", ("judgement 'x' has effect ['gold_wrong']. Allowed",)),
    ],
)
def test_config_files_that_cannot_be(write, content: str, words: tuple[str, ...]) -> None:
    gold, config = write("gold.vrt", SOUND), write("c.toml", content)
    refused(run("score", gold, gold, "--config", config), "c.toml", *words)


def test_a_config_file_that_is_missing_or_not_utf8(write, tmp_path: Path) -> None:
    gold = write("gold.vrt", SOUND)
    refused(run("score", gold, gold, "--config", tmp_path / "no.toml"), "no.toml: cannot be read", "--config")
    bad = write("c.toml", "# ü\n".encode("latin-1"))
    refused(run("score", gold, gold, "--config", bad), "c.toml: the file is not UTF-8")


def test_config_holds_every_option_by_its_own_name_and_the_command_line_wins(write) -> None:
    both = write("both.vrt", '<text id="d" kind="x">\na\tB-X\tO\nb\tI-X\tB-Y\n</text>\n')
    config = write(
        "c.toml", 'level = "exact"\nby = "kind"\nreplicates = 0\n[gold-layer]\nrisk = 2\n[pred-layer]\nrisk = 3\n'
        '[score]\njson = "-"\nmerge = false\n[evaluate]\ncontext = 3\n',
    )  # fmt: skip
    done = run("score", both, both, "--config", config)
    assert done.code == 0, done.err
    assert "level:exact" in done.out
    assert "by:kind" in done.out
    assert "layers:risk=2/risk=3" in done.out
    assert "level:tiling" in run("score", both, both, "--config", config, "--level", "tiling").out


def test_the_process_exits_with_two_and_debug_shows_the_traceback(tmp_path: Path) -> None:
    plain = run_process(["score", "absent.vrt", "absent.vrt"], cwd=tmp_path)
    refused(plain, "Error: absent.vrt: cannot be read")
    loud = run_process(["score", "absent.vrt", "absent.vrt", "--debug"], cwd=tmp_path)
    assert "Traceback" in loud.err
    assert loud.code != 0


def test_a_review_workbook_has_the_ending_of_one(home: Path) -> None:
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", "-o", home / "review.docx")
    refused(done, "review.docx: a review workbook ends in .xlsx")
