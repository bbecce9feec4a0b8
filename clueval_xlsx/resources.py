"""Where the files that come with the package are: inside it when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource_folder(name: str) -> Path:
    """The folder `templates`, `examples` or `manual`."""
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def package_text(name: str) -> str:
    """The text of a data file that lies in the package itself."""
    return (_PACKAGE / name).read_text("utf-8")
