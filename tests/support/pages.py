"""HTML pages in tests: their elements as a browser without JavaScript sees them, tables as rows, hostile words."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tests.support.tables import Sides

HOSTILE = (
    "<script>alert(1)</script>",
    "</script>",
    '"><img/src=x/onerror=alert(1)>',
    "{{7*7}}",
    "R&amp;D",
    "👩‍⚖️",
    "\u2028",
)


class Page(HTMLParser):
    """Elements, attributes and text of a page, as a browser without JavaScript would see them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.documents: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.style = ""
        self._inside: list[str] = []
        self._depth = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.elements.append((tag, found))
        self._inside.append(tag)
        if tag == "div" and (found.get("class") or "").split()[:1] == ["text"]:
            self.documents.append("")
            self._depth = len(self._inside)
        if tag == "script":
            self.scripts.append((found, ""))

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass
        if len(self._inside) < self._depth:
            self._depth = 0

    def handle_data(self, text: str) -> None:
        if self._depth:
            self.documents[-1] += text
        if self._inside[-1:] == ["script"]:
            attributes, before = self.scripts[-1]
            self.scripts[-1] = (attributes, before + text)
        if self._inside[-1:] == ["style"]:
            self.style += text

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def hostile_sides() -> Sides:
    """Hostile tokens in and around spans, hostile labels, IDs and metadata."""
    head = "<text id='a\"&gt;&lt;b onclick=x&gt;' domain='&lt;/title&gt;'>\n"
    sides = []
    for tags in (("B-<b>", "O"), ("O", "B-<b>")):
        lines = [f"{token}\t{tags[number % 2]}" for number, token in enumerate(HOSTILE)]
        sides.append((head + "\n".join(lines) + "\n</text>\n").encode())
    return Sides(*sides)


def rows(page: str, section: str) -> list[list[str]]:
    """The cells of the table in a section."""
    part = page.split(f'<section id="{section}"')[1].split("</section>", maxsplit=1)[0]
    body = part.split("<tbody>")[1].split("</tbody>")[0] if "<tbody>" in part else ""
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("<tr")[1:]]
