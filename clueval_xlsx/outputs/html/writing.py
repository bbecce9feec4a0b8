"""One function that writes the page of any result, for notebooks and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from clueval_xlsx.comparison import Comparison
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.options.declaration import target_of
from clueval_xlsx.outputs.html.page import page_html
from clueval_xlsx.outputs.html.report import report_html
from clueval_xlsx.pages.adjudication import adjudication_page
from clueval_xlsx.pages.comparison import comparison_page
from clueval_xlsx.review.reimport import Reimport
from clueval_xlsx.words import Words

Result = Evaluation | Comparison | Reimport


def write_html(result: Result, target: str | Path | BinaryIO, *, lang: str = "en") -> None:
    """Write the page of a result, which opens in any browser without a network.

    `result`  an `Evaluation`, a `Comparison` or a `Reimport`
    `target`  a path, or a file opened for writing bytes
    `lang`  the language of the page: `en`, `de`, or one of your own

    Gives nothing; a file that stood there is replaced when the new one is whole. Raises `OptionError` if there is no
    such language, `OutputError` if the file cannot be written.

    >>> import io
    >>> from clueval_xlsx import evaluate_tags
    >>> page = io.BytesIO()
    >>> write_html(evaluate_tags([["B-PER"]], [["O"]]), page, lang="de")
    >>> b'lang="de"' in page.getvalue()
    True
    """
    place = target_of(target)
    match result:
        case Evaluation():
            content = report_html(result, lang)
        case Comparison():
            content = page_html(comparison_page(result, Words(lang)))
        case Reimport(runs=(run,)):
            content = page_html(adjudication_page(run, Words(lang)))
        case Reimport():
            raise OptionError(
                f"the re-import has {len(result.runs)} runs, one a layer. Give one workbook's layers at a time, or "
                "write the pages with `clueval-xlsx reimport --html`."
            )
        case _:
            raise OptionError(f"found {type(result).__name__}. Allowed: an evaluation, a comparison or a re-import.")
    if not isinstance(place, Path):
        place.write(content.encode("utf-8", "replace"))
        return
    with Outputs() as outputs:
        outputs.write_text(place, content)
