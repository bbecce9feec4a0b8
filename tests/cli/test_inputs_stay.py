"""No run changes its inputs, and one that fails leaves the old outputs whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.cli.settings import Call, Given
from clueval_xlsx.cli.writing import Writing
from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.options.declaration import all_settings

# ---- what options and folders name ---------------------------------------------------------------------------------

FILES = [key for key, setting in all_settings().items() if setting.is_file and setting.section != "output"]


@pytest.mark.parametrize("key", [*FILES, "read.tag_names", "detector.option"])
def test_what_a_setting_names_as_an_input_is_no_place_for_an_output(key: str, write) -> None:
    first = str(write("first", ""))
    setting = all_settings()[key]
    given = {"nlp_config": first} if key == "detector.option" else (first,) if setting.shape == "list" else first
    call = Call("evaluate", (Given(setting, given, ""),))
    with pytest.raises(OutputError, match="is an input of this run"):
        Writing(call, []).refuse_input(Path(first))
