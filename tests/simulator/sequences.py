"""Random sequences of operations: drawn from a seed, carried out, brought back, and shortened where they fail."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Protocol

from tests.simulator import moving, sheets, typing_in  # noqa: F401 - they register the operations
from tests.simulator.book import Book, Mirror, NotPossible
from tests.simulator.files import read_book, write_book
from tests.simulator.oracle import LOST, MOVED, Verdict, judge
from tests.simulator.person import Facts
from tests.simulator.registry import OPERATIONS, Operation
from tests.simulator.roles import is_annotation, layout, normalise, tag, value_words, words
from tests.simulator.wayback import CameBack, reimport
from tests.simulator.world import World
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.folders import ROOT

LANGUAGES = ("en", "de")
MOST_OPERATIONS = 6
JUDGED_SHARE = 0.6
TWICE = r"1\.3|1\.4"  # sentences that are said again in a further document


@dataclass(frozen=True)
class Fresh:
    """A workbook as `evaluate` wrote it, in one language."""

    path: Path
    book: Book
    facts: Mapping[str, Facts]
    labels: Mapping[str, str]
    digits: bool


@dataclass(frozen=True)
class Ran:
    """One sequence: what was done, and what became of every judgement."""

    number: int
    names: Sequence[str]
    verdicts: Sequence[Verdict] = ()
    back: CameBack | None = None
    files: Sequence[Path] = ()
    closes: bool = True  # every case is accounted for

    @property
    def failures(self) -> list[Verdict]:
        """Judgements that were lost or moved."""
        return [verdict for verdict in self.verdicts if verdict.outcome in {LOST, MOVED}]


class Program(Protocol):
    """A real program that opens workbooks and repeats the edits of the model."""

    def open(self, path: Path | None) -> Mirror:
        """Open a workbook, or a new one."""

    def save(self, mirror: Mirror, path: Path) -> None:
        """Save a workbook; the ending says as what."""

    def close(self) -> None:
        """Close all workbooks without saving."""


@dataclass
class Simulator:
    """Runs sequences in a folder. `program` is a real one that repeats every edit and saves the files.

    `digits` says whether people may type digits; None leaves it to what the lists of the workbook offer.
    """

    folder: Path
    seed: int
    names: Sequence[str] = ()
    digits: bool | None = None
    program: Program | None = None
    _fresh: dict[str, Fresh] = field(default_factory=dict)

    def draw(self, number: int) -> tuple[Random, list[str], int]:
        """The random numbers of a sequence, candidates for its operations in order, and how many it shall have."""
        rng = Random(f"{self.seed}:{number}")
        names = sorted(self.names or OPERATIONS)
        length = rng.randint(1, MOST_OPERATIONS)
        return rng, [rng.choice(names) for _ in range(length * 8)], length

    def run(self, number: int, most: int | None = None) -> Ran:
        """Carry out a sequence, or only its first operations."""
        rng, candidates, length = self.draw(number)
        return self.carry_out(number, candidates, min(length, length if most is None else most), rng)

    def run_named(self, names: Sequence[str], number: int = 0) -> Ran:
        """Carry out these operations."""
        return self.carry_out(number, names, len(names), Random(f"{self.seed}:{number}:{names}"))

    def carry_out(self, number: int, candidates: Sequence[str], length: int, rng: Random) -> Ran:
        """Judge a fresh workbook, edit it, bring it back."""
        world = self.start(rng)
        done: list[str] = []
        for place, name in enumerate(candidates):
            if len(done) == length:
                break
            operation = OPERATIONS[name]
            own = Random(f"{self.seed}:{number}:{place}")
            if self.attempt(operation, world, own):
                done.append(name)
                if operation.last:
                    break
        files = self.save(world)
        gold = self.folder / "gold.vrt"
        written = {path.name: book.sheets for path, book in files}
        names = {name: [sheet.name for sheet in own] for name, own in written.items()}
        back = reimport([path for path, _ in files], gold, self.folder, names)
        closes = back.closes(len(world.facts))
        return Ran(number, done, judge(world, written, back), back, [path for path, _ in files], closes)

    @staticmethod
    def attempt(operation: Operation, world: World, rng: Random) -> bool:
        """Carry out one operation if there is something to work on."""
        try:
            operation.act(world, rng)
        except NotPossible:
            return False
        return True

    def shortest(self, ran: Ran) -> Ran:
        """The shortest beginning of a failing sequence that fails as well."""
        for length in range(len(ran.names) + 1):
            shorter = self.run(ran.number, length)
            if shorter.failures:
                return shorter
        return ran

    def start(self, rng: Random) -> World:
        """A fresh workbook with the judgements of one person."""
        language = rng.choice(LANGUAGES)
        fresh = self.fresh(language)
        digits = fresh.digits if self.digits is None else self.digits
        world = World([fresh.book.copy("judged")], fresh.facts, fresh.labels, language, digits)
        world.leading = rng.choice(("FN", "FP"))
        if self.program is not None:
            world.books[0].mirror = self.program.open(fresh.path)
            world.open_mirror = partial(self.program.open, None)
        _sign(world.books[0], language)
        _judge(world, rng)
        return world

    def save(self, world: World) -> list[tuple[Path, Book]]:
        """Write the workbooks as the person saves them."""
        for old in [*self.folder.glob("judged*.*"), *self.folder.glob("part*.*")]:
            old.unlink()
        found = [(self.folder / f"{book.name}{world.suffix}", book) for book in world.books if book.sheets]
        for path, book in found:
            if self.program is not None and book.mirror is not None:
                self.program.save(book.mirror, path)
            else:
                write_book(book, path)
        if self.program is not None:
            self.program.close()
        if world.given_twice:
            again = self.folder / f"judged again{world.suffix}"
            shutil.copyfile(found[0][0], again)
            found.append((again, found[0][1]))
        return found

    def fresh(self, language: str) -> Fresh:
        """The workbook in a language, evaluated once."""
        if language not in self._fresh:
            self._fresh[language] = make_fresh(self.folder, language)
        return self._fresh[language]


def make_fresh(folder: Path, language: str) -> Fresh:
    """Evaluate the example files and read the workbook."""
    for name in ("gold.vrt", "pred.vrt"):
        (folder / name).write_text(with_twins((ROOT / "examples" / name).read_text("utf-8")), "utf-8")
    path = folder / f"fresh-{language}.xlsx"
    options = (*EXAMPLE_OPTIONS, "--lang", language, "--set", "score.replicates=0", "-o", path)
    result = run("evaluate", folder / "gold.vrt", folder / "pred.vrt", *options)
    if result.code:
        raise RuntimeError(result.err)
    book = read_book(path)
    tag(book)
    facts = _facts(book)
    labels = {"correct_label:category": "!WITNESS", "correct_label:risk": "!NONE"}  # which nobody has
    return Fresh(path, book, facts, labels, _offers_digits(book, language))


def with_twins(text: str) -> str:
    """A corpus with a further document that says two of its sentences twice: cases alike, there and in the first."""
    sentences = re.findall(rf'<s id="(?:{TWICE})">.*?</s>\n', text, re.DOTALL)
    again = [
        re.sub(r"\tt(\d+)$", rf"\t{turn}\1", sentence, flags=re.MULTILINE).replace('<s id="', f'<s id="{turn}')
        for turn in ("u", "v")
        for sentence in sentences
    ]
    return text.rstrip("\n") + '\n<text id="Zweitschrift" domain="tenancy">\n' + "".join(again) + "</text>\n"


def _sign(book: Book, language: str) -> None:
    """Type a name beside the question for it on the guide."""
    asked = normalise(str(words()[language]["guide"]["judge_name"]))
    for sheet in book.sheets:
        for row, column, cell in list(sheet.cells()):
            if normalise(cell.shown) == asked:
                book.put(sheet, row, column + 1, "Anna")
                return
    raise ValueError("the guide asks for no name")


def _facts(book: Book) -> dict[str, Facts]:
    found = {}
    for sheet in book.sheets:
        where = layout(sheet)
        for row, case in (where.rows if where else {}).items():
            texts = [sheet.cell(row, where.columns[role]).shown for role in _SHOWN]
            side = "label:" if case.startswith("FN") else "other_label:"
            labels = {
                f"correct_{role[role.index('label') :]}": sheet.cell(row, column).shown.casefold()
                for role, column in where.columns.items()
                if role.startswith(side)
            }
            places = [
                sheet.cell(row, where.columns[role]).shown for role in ("start", "end", "other_start", "other_end")
            ]
            extents = [
                (int(one), int(other)) if one else None for one, other in zip(places[::2], places[1::2], strict=True)
            ]
            found[case] = Facts(case, sheet.name, *(text.replace("\u2060", "") for text in texts), labels, *extents)
    return found


_SHOWN = ("span", "other_span", "context", "document", "twin_group")


@cache
def _first_judgement(language: str) -> str:
    return normalise(value_words("judgement")["model_error"][language])


def _offers_digits(book: Book, language: str) -> bool:
    """Whether a list of the workbook offers judgements that begin with their digit."""
    wanted = f"1 {_first_judgement(language)}"
    return any(normalise(cell.shown) == wanted for sheet in book.sheets for _, _, cell in sheet.cells())


def _judge(world: World, rng: Random) -> None:
    """Judge most of the cases."""
    book = world.books[0]
    for _, sheet, where in list(world.reviews()):
        for row, case in where.rows.items():
            if rng.random() < JUDGED_SHARE:
                decision = world.decision(case, rng)
                for role in filter(is_annotation, decision):
                    text = world.words(role, decision[role])
                    book.put(sheet, row, where.columns[role], text, role)
                    world.decide(case, role, text)
