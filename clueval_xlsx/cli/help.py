"""`help`: the manual, which comes with the tool, and the help of every command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli.parameters import choices_of, titles
from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.options.declaration import all_settings
from clueval_xlsx.resources import resource_folder

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call

_MANUAL = "manual"
_SCHEMAS = "schemas"  # made from what is written, so it is no page
_SETTINGS = "settings"  # made from their declarations
_PYTHON_NAMES = "api"  # made from their docstrings
_START = "start"  # the page for those who know nothing yet stands first


def run(_call: Call, topic: str | None) -> None:
    """Print the page, made or written."""
    from clueval_xlsx.cli.console import put

    if topic is None:
        put(_contents())
        return
    name = topic.strip().lower().removesuffix(".md").replace(" ", "-").replace("_", "-")
    if name == _SCHEMAS:
        from clueval_xlsx.outputs.json_structs import schemas

        put(schemas())
        return
    if name == _SETTINGS:
        _show(settings_page())
        return
    if name == _PYTHON_NAMES:
        _show(_python_names())
        return
    if name in topics():
        _show((resource_folder(_MANUAL) / f"{name}.md").read_text("utf-8"))
        return
    from clueval_xlsx.cli.commands import cli

    commands = cli.commands
    if name not in commands:
        known = [*topics(), _SETTINGS, _PYTHON_NAMES, *commands]
        hint = did_you_mean(name, known)
        raise OptionError(f"help {topic}: there is no such page.{hint} Pages: {', '.join(topics())}.")
    with click.Context(commands[name], info_name=name, parent=click.get_current_context().parent) as own:
        put(commands[name].get_help(own) + "\n")


def topics() -> dict[str, str]:
    """The pages of the manual with their titles, the first steps first."""
    pages = sorted(resource_folder(_MANUAL).glob("*.md"), key=lambda path: (path.stem != _START, path.stem))
    return {path.stem: _title(path.read_text("utf-8")) for path in pages}


def _python_names() -> str:
    """What `help()` says of every public name."""
    import inspect

    import clueval_xlsx

    parts = ["# The Python names, one by one\n"]
    for name in (name for name in clueval_xlsx.__all__ if name[0] != "_"):
        value = getattr(clueval_xlsx, name)
        signature = inspect.signature(value) if inspect.isfunction(value) else ""
        parts.append(f"## {name}\n\n```\n{name}{signature}\n\n{inspect.getdoc(value)}\n```\n")
    return "\n".join(parts)


def _title(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ").strip()


def _contents() -> str:
    width = max(len(name) for name in topics())
    rows = "".join(f"  {name:{width}}  {title}\n" for name, title in topics().items())
    return (
        f"Pages of the manual (clueval-xlsx help PAGE):\n\n{rows}\n"
        "Every setting: clueval-xlsx help settings. Every Python name: clueval-xlsx help api. "
        "Options of a command: clueval-xlsx help COMMAND\n"
    )


def _show(text: str) -> None:
    """A page as it is for a program or a file, laid out where a person looks on."""
    from clueval_xlsx.cli.console import output, put

    if not sys.stdout.isatty():
        put(text)
        return
    from rich.markdown import Markdown

    output().print(Markdown(text))


def settings_page() -> str:
    """The manual's page of all settings."""
    from clueval_xlsx.formats.registry import FORMATS

    lines = ["# All settings"]
    section = ""
    for each in all_settings().values():
        if each.section != section:
            section = each.section
            lines += ["", f"## `{section}`", "", "| key | option | takes | default | what |", "|---|---|---|---|---|"]
        users = [one for one in FORMATS if each.formats in one.kinds]
        belongs = " or ".join(each.schemes) or each.needs or titles(users)
        cells = (
            "–" if each.typed else f"`{each.key}`",
            f"`{each.option}`" if each.option else "",
            ", ".join(choices_of(each)) or each.allowed,
            f"`{each.default}`" if each.default or each.default == 0 else "",
            each.help + (f" Belongs to {belongs}." if belongs else ""),
        )
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join([*lines, ""])
