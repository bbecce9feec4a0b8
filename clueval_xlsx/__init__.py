"""Compare gold and predicted spans, let people judge the errors in Excel, and bring their judgements home.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clueval_xlsx.version import __version__

if TYPE_CHECKING:
    from clueval_xlsx.cases.table import error_table as error_table
    from clueval_xlsx.corpus.merging import merge_layers as merge_layers
    from clueval_xlsx.evaluation import Evaluation as Evaluation
    from clueval_xlsx.evaluation import Options as Options
    from clueval_xlsx.evaluation import evaluate as evaluate
    from clueval_xlsx.formats.loading import read as read
    from clueval_xlsx.formats.loading import read_pair as read_pair
    from clueval_xlsx.outputs.xlsx import write_workbook as write_workbook
    from clueval_xlsx.review.reimport import reimport as reimport
    from clueval_xlsx.scoring.matching import match_spans as match_spans
    from clueval_xlsx.threads import set_threads as set_threads

_HOMES = {
    "Evaluation": "evaluation",
    "Options": "evaluation",
    "error_table": "cases.table",
    "evaluate": "evaluation",
    "match_spans": "scoring.matching",
    "merge_layers": "corpus.merging",
    "read": "formats.loading",
    "read_pair": "formats.loading",
    "reimport": "review.reimport",
    "set_threads": "threads",
    "write_workbook": "outputs.xlsx",
}

__all__ = [
    "Evaluation",
    "Options",
    "__version__",
    "error_table",
    "evaluate",
    "match_spans",
    "merge_layers",
    "read",
    "read_pair",
    "reimport",
    "set_threads",
    "write_workbook",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'clueval_xlsx' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"clueval_xlsx.{_HOMES[name]}"), name)
