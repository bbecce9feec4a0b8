"""Every way in which a command writes a file, and the folder of inputs that they need."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from clueval_xlsx.resources import resource_folder
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.detector_scripts import GOOD, command

ONE_LAYER = ("--layer", "category=2")
SIDES = ("{home}/gold.vrt", "{home}/pred.vrt", *EXAMPLE_OPTIONS)
BACK = ("reimport", "{home}/judged.xlsx", "--gold", "{home}/gold.vrt")
THREE = (*SIDES[:2], "{home}/gold.vrt", *EXAMPLE_OPTIONS)


@dataclass(frozen=True)
class Writing:
    """A command that writes one file; {home} has its inputs, {target} is where it writes."""

    ending: str
    words: tuple[str, ...]

    def arguments(self, home: Path, target: Path) -> list[str]:
        return [word.format(home=home, target=target, detector=(home / "detector").read_text()) for word in self.words]


WRITING = {
    "evaluate": Writing(".xlsx", ("evaluate", *SIDES, "-o", "{target}")),
    "evaluate --json": Writing(".json", ("evaluate", *SIDES, "--json", "{target}")),
    "evaluate --html": Writing(".html", ("evaluate", *SIDES, "--html", "{target}")),
    "reimport": Writing(".vrt", (*BACK, "-o", "{target}")),
    "reimport --report": Writing(".xlsx", (*BACK, "--report", "{target}")),
    "reimport --html": Writing(".html", (*BACK, "--html", "{target}")),
    "reimport --json": Writing(".json", (*BACK, "--json", "{target}")),
    "reimport --changes": Writing(".tsv", (*BACK, "--changes", "{target}")),
    "reimport --judgements": Writing(".jsonl", (*BACK, "--judgements", "{target}")),
    "compare": Writing(".xlsx", ("compare", *THREE, "-o", "{target}")),
    "compare --json": Writing(".json", ("compare", *THREE, "--json", "{target}")),
    "compare --html": Writing(".html", ("compare", *THREE, "--html", "{target}")),
    "convert": Writing(".tsv", ("convert", "{home}/gold.vrt", "{target}", *ONE_LAYER)),
    "convert to .xlsx": Writing(".xlsx", ("convert", "{home}/gold.vrt", "{target}", *ONE_LAYER)),
    "convert --merge": Writing(".tsv", ("convert", "{home}/gold.vrt", "{target}", *EXAMPLE_OPTIONS, "--merge")),
    "predict": Writing(
        ".tsv", ("predict", "{home}/gold.vrt", *ONE_LAYER, "-o", "{target}", "--detector", "{detector}")
    ),
}


def make_home(folder: Path) -> Path:
    """What the commands read: the example, a judged workbook, a detector."""
    assert run("demo", folder / "demo").code == 0
    for name in ("gold.vrt", "pred.vrt"):
        shutil.copy(resource_folder("examples") / name, folder / name)
    shutil.copy(folder / "demo" / "review-judged.xlsx", folder / "judged.xlsx")
    (folder / "detector").write_text(command(folder, GOOD))
    return folder
