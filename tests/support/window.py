"""A review workbook in a real LibreOffice window on a small screen: pictures, and keys typed as a judge types them.

    python -m tests.support.window pictures review.xlsx /tmp/pictures     # one picture of every sheet
    python -m tests.support.window judge review.xlsx 30                   # judge so many cases by keyboard alone
    python -m tests.support.window links review.xlsx                      # sort both sheets, click links there and back
    python -m tests.support.window readme                                 # the picture of the README

Needs Xvfb, xdotool, ImageMagick, LibreOffice and python3-uno.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.support.office import Document, Office, columns
from tests.support.workbooks import HEADER_ROW, example, written

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

WIDTH, HEIGHT = 1366, 768  # of a small laptop
_ITEM = '<item oor:path="/org.openoffice.{}"><prop oor:name="{}"><value>{}</value></prop></item>'
_SETTINGS = "\n".join(
    [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry">',
        _ITEM.format("Office.Common/Misc", "ShowTipOfTheDay", "false"),
        _ITEM.format("Office.Common/Misc", "FirstRun", "false"),
        _ITEM.format("Setup/Office", "ooSetupInstCompleted", "true"),
        _ITEM.format("Setup/Product", "ooSetupLastVersion", "99.9"),
        "</oor:items>",
    ]
)


class Window:
    """LibreOffice with one workbook on a screen of its own."""

    def __init__(self, display: str, office: Office, folder: Path) -> None:
        self._environment = {**os.environ, "DISPLAY": display}
        self.office, self.folder = office, folder

    def keys(self, *keys: str, pause: float = 0.15) -> None:
        """Press keys one after the other."""
        for key in keys:
            self._x("key", "--clearmodifiers", key)
            time.sleep(pause)

    def click(self, x: int, y: int, *, held: str = "") -> None:
        """Click somewhere, with a key held down if one is named."""
        self._x("mousemove", str(x), str(y))
        steps = (
            ["click", "1"]
            if not held
            else ["keydown", held, "sleep", "0.3", "click", "1", "sleep", "0.3", "keyup", held]
        )
        self._x(*steps)
        time.sleep(1.5)

    def picture(self, path: Path) -> Path:
        """What is seen."""
        subprocess.run(["import", "-window", "root", str(path)], env=self._environment, check=True, timeout=60)
        return path

    def maximise(self) -> None:
        """Let the workbook fill the screen, without the sidebar."""
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "LibreOffice Calc"],
            env=self._environment,
            check=True,
            timeout=60,
            capture_output=True,
            text=True,
        ).stdout.split()
        for each in found[-1:]:
            self._x("windowmove", each, "0", "0", "windowsize", each, str(WIDTH), str(HEIGHT))
            self._x("windowfocus", each)

    def follow(self, book: Document, sheet: str, address: str) -> None:
        """Click the link in a cell, with Ctrl, where the screen shows it."""
        book.select(sheet, address)
        time.sleep(1)
        self.click(*self._cursor_place(), held="ctrl")

    def _cursor_place(self) -> tuple[int, int]:
        """Where the frame of the cursor is, behind the headers of rows and columns, which have its colour, too."""
        picture = self.picture(self.folder / "cursor.png")
        crop = f"{WIDTH - 60}x{HEIGHT - 260}+40+200"
        command = ["convert", str(picture), "-crop", crop, "+repage", "-fill", "white", "+opaque", "#000080", "-trim"]
        shown = subprocess.run([*command, "info:-"], check=True, timeout=60, capture_output=True, text=True).stdout
        width, height, left, top = map(int, re.search(r"(\d+)x(\d+) \d+x\d+\+(\d+)\+(\d+)", shown).groups())
        return 40 + left + min(width // 3, 20), 200 + top + min(height // 2, 8)

    def _x(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], env=self._environment, check=True, timeout=60, capture_output=True)


@contextmanager
def window() -> Iterator[Window]:
    """A screen of a small laptop, with LibreOffice running on it."""
    number = next(each for each in range(50, 90) if not Path(f"/tmp/.X11-unix/X{each}").exists())
    display, folder = f":{number}", Path(tempfile.mkdtemp(prefix="clueval-window-"))
    profile = folder / "office-profile" / "user"
    profile.mkdir(parents=True)
    (profile / "registrymodifications.xcu").write_text(_SETTINGS, "utf-8")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    screen = subprocess.Popen(["Xvfb", display, "-screen", "0", f"{WIDTH}x{HEIGHT}x24", "-dpi", "96"], **quiet)
    time.sleep(1)
    managers = [["openbox"]] if shutil.which("openbox") else []  # without one, the window is moved and sized alone
    started = [subprocess.Popen(manager, env={**os.environ, "DISPLAY": display}, **quiet) for manager in managers]
    try:
        with Office(folder, display) as office:
            yield Window(display, office, folder)
    finally:
        for process in (*started, screen):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def maximised(shown: Window, path: Path) -> Document:
    """A workbook over the whole screen."""
    book = shown.office.open(path)
    time.sleep(3)
    shown.maximise()
    time.sleep(2)
    return book


def pictures(path: Path, folder: Path) -> list[Path]:
    """A picture of every sheet that can be seen, as it opens."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with window() as shown:
        book = maximised(shown, path)
        for place, (sheet, seen) in enumerate(book.sheets().items()):
            if seen:
                book.select(sheet)
                time.sleep(1)
                made.append(shown.picture(folder / f"{path.stem}-{place}.png"))
        book.close()
    return made


def judge(path: Path, wanted: int, picture: Path | None = None) -> tuple[int, int, int]:
    """Judge so many cases of the first sheet by keyboard alone: keys pressed, rows done, cases of the sheet.

    Each case takes its digit and Enter; by turns 1, 2, 5 and 6, which need no correction.
    """
    keys = 0
    with window() as shown:
        book = maximised(shown, path)
        sheet = list(book.sheets())[1]
        at = columns(book, sheet)
        book.select(sheet)
        time.sleep(1)
        last, _ = book.used(sheet)
        for case in range(wanted):
            shown.keys("1256"[case % 4], "Return")
            keys += 2
        time.sleep(1)
        states = [row[0] for row in book.texts(sheet, f"{at['State']}{HEADER_ROW + 1}:{at['State']}{last}")]
        if picture:
            shown.picture(picture)
        book.close()
    return keys, sum(state.startswith("✓") for state in states), len(states)


def follow_links(path: Path) -> list[tuple[str, str, str]]:
    """Sort both sheets, click a few links of the first one, and the link back: (link, sheet and case reached)."""
    reached = []
    with window() as shown:
        book = maximised(shown, path)
        missed, unsupported = list(book.sheets())[1:3]
        for sheet in (missed, unsupported):
            at, (last, _) = columns(book, sheet), book.used(sheet)
            order = list(at).index("Span")
            book.sort(sheet, f"A{HEADER_ROW + 1}:{at['Case ID']}{last}", order)
        at, (last, _) = columns(book, missed), book.used(missed)
        for row in range(HEADER_ROW + 1, last + 1):
            text = book.cell(missed, f"{at['See also']}{row}")["text"]
            if not text or len(reached) >= 6:
                continue
            sheet, here = missed, row
            for _ in range(2):  # there and back
                own = columns(book, sheet)
                name = book.cell(sheet, f"{own['See also']}{here}")["text"]
                case = book.cell(sheet, f"{own['Case ID']}{here}")["text"]
                shown.follow(book, sheet, f"{own['See also']}{here}")
                there, cell = book.cursor()
                here = int(cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
                number = book.cell(there, f"A{here}")["text"]
                reached.append((f"{case}: {name}", there, f"{cell}: {number}"))
                sheet = there
        book.close()
    return reached


def main(arguments: Sequence[str]) -> None:
    """What the command line asks for."""
    if arguments[:1] == ["pictures"]:
        print(*pictures(Path(arguments[1]), Path(arguments[2])), sep="\n")
    elif arguments[:1] == ["judge"]:
        keys, done, total = judge(Path(arguments[1]), int(arguments[2]), Path(arguments[3]) if arguments[3:] else None)
        print(f"{keys} keys for {arguments[2]} cases; {done} of {total} rows done")
    elif arguments[:1] == ["links"]:
        print(*follow_links(Path(arguments[1])), sep="\n")
    elif arguments[:1] == ["readme"]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "review.xlsx")
            path.write_bytes(written(example()))
            judge(path, 3, EXAMPLES / "review-fn.png")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
