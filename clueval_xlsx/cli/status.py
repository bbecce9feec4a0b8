"""`status`: who has judged how much, without the gold file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from clueval_xlsx.cli import options, review_options


@click.command()
@click.argument("workbooks", nargs=-1, required=True, metavar="WORKBOOK...")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@review_options.password
@options.common
def status(workbooks: tuple[str, ...], as_json: bool, password_file: Path | None) -> None:
    """Say who has judged how much in each WORKBOOK, and whose workbook is missing."""
    from clueval_xlsx.cli.console import output, say
    from clueval_xlsx.exceptions import InputError
    from clueval_xlsx.protection import find_password
    from clueval_xlsx.reimport.progress import missing_people, workbook_progress

    password = find_password(password_file)
    found = []
    for path in workbooks:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path.") from None
        found.append(workbook_progress(data, path, password))
    missing = missing_people(found)
    if as_json:
        content = {"workbooks": [each.as_dict() for each in found], "missing": missing}
        click.echo(json.dumps(content, ensure_ascii=False, indent=1))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("workbook", overflow="fold")
    table.add_column("judge", overflow="fold")
    for name in ("judged", "of", "per cent", "not usable"):
        table.add_column(name, justify="right")
    for each in found:
        cells = (str(each.judged), str(each.cases), each.share, str(each.unusable) if each.unusable else "")
        table.add_row(Text(each.name), Text(each.annotator), *cells)
    output().print(table)
    for name in missing:
        say(f"Missing: no workbook of {name} is among these.")
