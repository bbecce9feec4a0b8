"""The sentences by which a file is refused that is out of all proportion, or not whole."""

from __future__ import annotations

from clueval_xlsx.exceptions import InputError

ASK_AGAIN = "The file is refused; ask for it again, as Excel, LibreOffice or Google Sheets saves it."


def too_large(where: str, found: str, allowed: str) -> InputError:
    """The refusal of something that is out of all proportion."""
    return InputError(
        f"{where}: found {found}. Allowed: {allowed}. The file is refused before it is read; ask for it again, "
        "as Excel, LibreOffice or Google Sheets saves it."
    )


def damaged(name: str, why: str) -> InputError:
    """The refusal of an archive that is not whole."""
    return InputError(
        f"{name}: the workbook is damaged ({why}). Ask for it again, or open it in Excel or LibreOffice and save it."
    )
