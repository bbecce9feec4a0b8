"""Compare gold and predicted spans, let people judge the errors in Excel, and bring their judgements home.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.version import __version__

if TYPE_CHECKING:
    from clueval_xlsx.cases.table import error_table
    from clueval_xlsx.comparison import Comparison, compare
    from clueval_xlsx.corpus.spans import merge_layers
    from clueval_xlsx.evaluation import Evaluation, evaluate, evaluate_spans, evaluate_tags
    from clueval_xlsx.formats.loading import read, read_pair
    from clueval_xlsx.options import LabelRules, Options, ReadOptions, ReviewOptions, SchemeOptions
    from clueval_xlsx.outputs.html.report import write_html
    from clueval_xlsx.outputs.xlsx import write_workbook
    from clueval_xlsx.review.reimport import Reimport, reimport
    from clueval_xlsx.scoring.matching import match_spans
    from clueval_xlsx.threads import set_threads
else:  # a type checker sees the names above and no others: a misspelt import is an error there
    _HOMES = {
        "Comparison": "comparison",
        "Evaluation": "evaluation",
        "LabelRules": "options",
        "Options": "options",
        "ReadOptions": "options",
        "Reimport": "review.reimport",
        "ReviewOptions": "options",
        "SchemeOptions": "options",
        "compare": "comparison",
        "error_table": "cases.table",
        "evaluate": "evaluation",
        "evaluate_spans": "evaluation",
        "evaluate_tags": "evaluation",
        "match_spans": "scoring.matching",
        "merge_layers": "corpus.spans",
        "read": "formats.loading",
        "read_pair": "formats.loading",
        "reimport": "review.reimport",
        "set_threads": "threads",
        "write_html": "outputs.html.report",
        "write_workbook": "outputs.xlsx",
    }

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module 'clueval_xlsx' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"clueval_xlsx.{_HOMES[name]}"), name)

    def __dir__() -> list[str]:
        return sorted(__all__)


__all__ = [
    "Comparison",
    "Evaluation",
    "LabelRules",
    "Options",
    "ReadOptions",
    "Reimport",
    "ReviewOptions",
    "SchemeOptions",
    "__version__",
    "compare",
    "error_table",
    "evaluate",
    "evaluate_spans",
    "evaluate_tags",
    "match_spans",
    "merge_layers",
    "read",
    "read_pair",
    "reimport",
    "set_threads",
    "write_html",
    "write_workbook",
]
