"""Outputs that are links, private or elsewhere: permissions stay, links are followed, none leads out of a dataset."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.outputs import Outputs
from tests.support.commands import refused, run


def write_over(*targets: Path) -> None:
    with Outputs() as outputs:
        for target in targets:
            outputs.write_text(target, "new")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
@pytest.mark.parametrize("together", [1, 2])
def test_a_replaced_file_keeps_its_permissions(mode: int, together: int, tmp_path: Path) -> None:
    private, other = tmp_path / "private.txt", tmp_path / "other.txt"
    private.write_text("old")
    private.chmod(mode)
    write_over(*[private, other][:together])
    assert private.read_text() == "new"
    assert stat.S_IMODE(private.stat().st_mode) == mode


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    real, link = elsewhere / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_over(link)
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert [path.name for path in elsewhere.iterdir()] == ["real.txt"]


def test_links_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    circle, lost = tmp_path / "circle.txt", tmp_path / "lost.txt"
    circle.symlink_to(circle)
    lost.symlink_to(tmp_path / "not there" / "file.txt")
    with pytest.raises(OutputError, match=r"circle|symbolic links"):
        write_over(circle)
    with pytest.raises(OutputError, match="which is not there"):
        write_over(lost)
    assert not (tmp_path / "not there").exists()


def test_a_link_to_an_input_is_an_input(write, tmp_path: Path) -> None:
    gold = write("gold.vrt", "Ann\tB-PER\n")
    link = tmp_path / "link.tsv"
    link.symlink_to(gold)
    refused(run("convert", gold, link), "is an input of this run")
    assert gold.read_text() == "Ann\tB-PER\n"


@pytest.mark.parametrize(("given", "ending"), [("folder", ".txt"), ("folder", ".ann"), ("file", ".txt")])
def test_a_link_out_of_a_brat_folder_is_refused(ending: str, given: str, write, tmp_path: Path) -> None:
    secret = write("elsewhere/secret.txt", "Ann Lee\n")
    folder = tmp_path / "brat"
    folder.mkdir()
    (folder / f"a{ending}").symlink_to(secret)
    other = folder / ("a.ann" if ending == ".txt" else "a.txt")
    other.write_text("T1\tPER 0 3\tAnn\n" if ending == ".txt" else "Ann Lee\n")
    refused(run("convert", folder if given == "folder" else other, tmp_path / "out.tsv"), f"a{ending}", "outside")
    assert not (tmp_path / "out.tsv").exists()
