"""The notebook in `examples` runs from its first cell to its last, and is stored without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.folders import ROOT

NOTEBOOK = ROOT / "examples" / "evaluation.ipynb"


def test_the_notebook_is_stored_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert {cell["execution_count"] for cell in code} == {None}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what the machinery of notebooks warns about is not ours
def test_the_notebook_runs(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed: pip install nbformat")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed: pip install ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    run = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    run.execute()
    shown = [str(output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("<Evaluation: " in text for text in shown)
    assert any("<Reimport: " in text for text in shown)
    assert (tmp_path / "review.xlsx").is_file()
