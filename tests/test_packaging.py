"""The built wheel works on its own: templates and examples are inside, the program runs from any folder."""

from __future__ import annotations

import importlib.util
import os
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from clueval_xlsx import __version__
from tests.support.folders import ROOT

pytestmark = pytest.mark.slow


def command(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program without anything that would let it see the checkout."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    words = list(map(str, arguments))
    return subprocess.run(
        words, capture_output=True, text=True, encoding="utf-8", cwd=cwd, env=environment, check=False
    )


def build(source: Path, folder: Path) -> Path:
    """Build a wheel from a folder or an sdist."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("pip is not installed")
    # Without a build tool of our own, pip fetches one.
    local = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    done = command(sys.executable, "-m", "pip", "wheel", "--no-deps", *local, "-w", folder, source, cwd=folder)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: pip install hatchling")
    done = command(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as somebody builds it who has the sdist and no repository."""
    return build(sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel; the libraries come from the one that runs the tests."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, with_pip=False, symlinks=os.name != "nt")
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    target = command(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home).stdout.strip()
    # A path from a .pth file is searched after the environment's own, and its own .pth files are not read: an
    # editable install of the checkout stays out of sight.
    Path(target, "libraries.pth").write_text("\n".join(site.getsitepackages()) + "\n", "utf-8")
    pip = sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel
    done = command(*pip, "--force-reinstall", cwd=home)
    assert done.returncode == 0, done.stderr
    return scripts / "clueval-xlsx"


def test_the_wheel_holds_templates_and_examples_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    shipped = [path for path in (ROOT / "templates").rglob("*") if path.is_file()]
    shipped += [ROOT / "examples" / "gold.vrt", ROOT / "examples" / "pred.vrt"]
    for path in shipped:
        assert f"clueval_xlsx/{path.relative_to(ROOT).as_posix()}" in names
    assert not [name for name in names if name.startswith("tests/") or "__pycache__" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_is_the_same_to_the_byte_whenever_it_is_built_from_sdist_or_repository(
    wheel: Path, tmp_path: Path
) -> None:
    direct = build(ROOT, tmp_path)
    assert direct.name == wheel.name
    with zipfile.ZipFile(direct) as one, zipfile.ZipFile(wheel) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        assert [name for name in one.namelist() if one.read(name) != other.read(name)] == []
    assert direct.read_bytes() == wheel.read_bytes()


def test_the_sdist_holds_what_a_packager_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tests/conftest.py", "examples/gold.vrt"):
        assert name in names
    assert not [name for name in names if name.startswith((".ci", ".git/", "build", ".venv")) or "__pycache__" in name]


def test_help_and_the_whole_round_run_from_an_empty_folder(program: Path, tmp_path: Path) -> None:
    done = command(program, "--help", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "evaluate" in done.stdout
    done = command(program, "demo", "round", "--lang", "de", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "round").iterdir()} >= {
        "review.xlsx",
        "corrected.vrt",
        "adjudicated.xlsx",
    }


def test_both_packages_pass_the_checks_of_an_index(sdist: Path, wheel: Path) -> None:
    if importlib.util.find_spec("twine") is None:
        pytest.skip("twine is not installed: pip install twine")
    done = command(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel, cwd=sdist.parent)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_version_stands_in_one_place_and_everything_else_agrees(wheel: Path) -> None:
    assert f"-{__version__}-" in wheel.name
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {__version__} (" in (ROOT / "CHANGELOG.md").read_text("utf-8")
