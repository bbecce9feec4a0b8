"""One function that writes the page of any result, for notebooks and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from clueval_xlsx.arguments import target_of
from clueval_xlsx.comparison import Comparison
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.files.outputs import Outputs
from clueval_xlsx.outputs.html.adjudication import adjudication_html
from clueval_xlsx.outputs.html.comparison import comparison_html
from clueval_xlsx.outputs.html.report import to_html
from clueval_xlsx.review.reimport import Reimport

Result = Evaluation | Comparison | Reimport


def write_html(result: Result, target: str | Path | BinaryIO, *, lang: str = "en") -> None:
    """Write the page of an evaluation, a comparison or a re-import to a file or an open stream."""
    page, place = _page(result, lang), target_of(target)
    if not isinstance(place, Path):
        place.write(page.encode("utf-8", "replace"))
        return
    with Outputs() as outputs:
        outputs.write_text(place, page)


def _page(result: Result, lang: str) -> str:
    match result:
        case Evaluation():
            return to_html(result, lang)
        case Comparison():
            return comparison_html(result, lang)
        case Reimport(runs=(run,)):
            return adjudication_html(run, lang)
        case Reimport():
            raise OptionError(
                f"the re-import has {len(result.runs)} runs, one a layer. Give one workbook's layers at a time, or "
                "write the pages with `clueval-xlsx reimport --html`."
            )
    raise OptionError(f"found {type(result).__name__}. Allowed: an evaluation, a comparison or a re-import.")
