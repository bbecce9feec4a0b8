"""A page as one self-contained HTML file: style, script and data inside, a strict policy on top."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from math import isnan

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from clueval_xlsx.pages.page import Bars, CaseLink, Number, Page, Table, Tone
from clueval_xlsx.resources import resource_folder
from clueval_xlsx.version import __version__
from clueval_xlsx.words import Words

MOST_ROWS = 500  # of a table; a page with more is no better reading, and the other outputs have them all
# What HTML cannot carry: replaced one for one, so that offsets into the text stay right.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page_html(
    page: Page, template: str = "page.html", data: object = None, *, script: str = "", report: object = None
) -> str:
    """A page as HTML; a template that extends `page.html` may add a `report` to it.

    `data` is handed to a script as JSON; a page without data has no script at all.
    """
    environment, words = _environment(), Words(page.language)
    style = _squeeze(environment.get_template("style.css").render(chapters=len(page.chapters), words=words))
    code = _squeeze(_source(environment, script)) if script else ""
    text = environment.get_template(template).render(
        page=page,
        words=words,
        most_rows=MOST_ROWS,
        report=report,
        cells_listed=script == "confusion.js",
        policy=_policy(style, code),
        style=Markup(style),
        script=Markup(code),
        data=None if data is None else script_json(data),
        version=__version__,
    )
    return _UNSHOWABLE.sub("\ufffd", text.replace("\r", " "))


def script_json(data: object) -> Markup:
    """JSON that can stand inside a script element: nothing in it can end the element.

    >>> print(script_json(["</script>", "R&D"]))
    ["\\u003c/script\\u003e","R\\u0026D"]
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in _IN_SCRIPT.items():
        text = text.replace(character, escape)
    return Markup(text)


@cache
def _environment() -> Environment:
    """The templates, which are compiled once."""
    environment = Environment(
        loader=FileSystemLoader(resource_folder("templates") / "html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(
        kind=lambda section: type(section).__name__,
        is_runs=lambda cell: isinstance(cell, tuple),
        is_link=lambda cell: isinstance(cell, CaseLink),
        is_number=lambda cell: isinstance(cell, Number),
        numeric_columns=_numeric,
        longest=_longest,
        elements={Tone.STRUCK: "del", Tone.INSERTED: "ins", Tone.KEPT: "b", Tone.ALARM: "strong"},
    )
    environment.filters.update(percent=lambda value: f"{100 * value:.2f}%", css_string=_css_string)
    environment.tests["known"] = lambda value: not isnan(value)
    return environment


def _numeric(table: Table) -> list[bool]:
    return [table.numeric(place) for place in range(len(table.columns))]


def _longest(bars: Bars) -> float:
    """The longest bar of all panels, which share one scale."""
    return max((bar.number.value for _, panel in bars.panels for bar in panel), default=0)


def _source(environment: Environment, name: str) -> str:
    """A file that is inlined as it is: a script has braces of its own."""
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _squeeze(text: str) -> str:
    """Drop indentation, blank lines and lines that are only a comment."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not re.match(r"//|/\*.*\*/$", line))


def _policy(style: str, script: str) -> str:
    """The Content-Security-Policy: nothing is loaded, nothing runs but this one script."""
    rules = ["default-src 'none'", f"style-src {_hash(style)}", "base-uri 'none'", "form-action 'none'"]
    return "; ".join([*rules, f"script-src {_hash(script) if script else chr(39) + 'none' + chr(39)}"])


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _css_string(text: str) -> Markup:
    """A text as a CSS string.

    >>> print(_css_string('a "b"'))
    "a \\22 b\\22 "
    """
    return Markup('"' + re.sub(r'["\\<>&\n]', lambda found: f"\\{ord(found.group()):x} ", text) + '"')
