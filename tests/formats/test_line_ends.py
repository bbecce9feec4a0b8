"""Any line end: what a Windows editor makes of a file is read as the file was."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import run


def as_windows(path: Path) -> None:
    """Rewrite a text file the way a Windows editor would: CR LF and a byte order mark."""
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def headline(*arguments: object) -> dict:
    done = run("score", *arguments, "--json", "-")
    assert done.code == 0, done.err
    return json.loads(done.out)["headline"]


def test_every_small_file_takes_windows_line_ends_and_a_byte_order_mark(home: Path) -> None:
    (home / "options.toml").write_text(
        "[read]\ntoken-id = 4\n[read.layer]\ncategory = 2\nrisk = 3\n[judgements.public]\n"
        'effect = "gold_wrong"\nen = "Public"\n',
        "utf-8",
    )
    (home / "allow.txt").write_text("NONE\n\\s\nALL\n\\s\n", "utf-8")
    (home / "password.txt").write_text("süß\n", "utf-8")
    assert run("demo", home / "demo").code == 0
    log = home / "demo" / "judgements.jsonl"
    for path in (home / "options.toml", home / "allow.txt", home / "password.txt", log):
        as_windows(path)
    options = ("--config", home / "options.toml", "--password-file", home / "password.txt", "--previous", log)
    done = run("evaluate", home / "gold.vrt", home / "pred.vrt", *options, "-o", home / "r.xlsx")
    assert done.code == 0, done.err
    (home / "plain.txt").write_text("süß", "utf-8")
    done = run("status", home / "r.xlsx", "--password-file", home / "plain.txt", "--json", "-")
    assert json.loads(done.out)["workbooks"][0]["account"]["judged"] > 0
    lines = len(log.read_text("utf-8-sig").splitlines())
    back = ("--gold", home / "demo" / "gold.vrt", "--judgements", log)
    done = run("reimport", home / "demo" / "review-judged.xlsx", *back)
    assert done.code == 0, done.err
    assert len(log.read_text("utf-8-sig").splitlines()) == lines  # known already, read in spite of its line ends
