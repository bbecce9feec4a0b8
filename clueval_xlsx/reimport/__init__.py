"""The way back: judged workbooks become judgements, agreement, decisions, and a corrected gold standard.

The package can be called: `clueval_xlsx.reimport(["review.xlsx"], "gold.vrt")` is `way_back.reimport`.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clueval_xlsx.way_back import Reimport


class _CallablePackage(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Reimport:
        from clueval_xlsx.way_back import reimport

        return reimport(*args, **kwargs)


import_module(__name__).__class__ = _CallablePackage
