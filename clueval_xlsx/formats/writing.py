"""New files in any format: which format a path asks for, and what is written where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath

import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.module import module_of
from clueval_xlsx.formats.options import WriteOptions
from clueval_xlsx.formats.registry import CONVERTED, FOLDER_FORMAT, TARGET_ENDINGS, Format


def output_format(target: Path) -> str:
    """The format that a path asks for by its ending."""
    ending = target.suffix.lower()
    if ending in TARGET_ENDINGS:
        return TARGET_ENDINGS[ending]
    if target.is_dir() or not ending:
        return FOLDER_FORMAT
    allowed = f"{', '.join(TARGET_ENDINGS)}, or a folder for {FOLDER_FORMAT}"
    raise OptionError(f"{target}: which format? Give --to {'|'.join(CONVERTED)}, or one of these endings: {allowed}.")


def output_files(
    reading: Reading,
    layers: Mapping[str, pd.DataFrame],
    format_: Format,
    target: Path,
    *,
    sentences: bool | None = None,
) -> dict[Path, bytes]:
    """What is to be written, by path."""
    files = module_of(format_).write(reading, layers, WriteOptions(target.name, sentences))
    if not format_.folder and set(files) == {target.name}:
        return {target: files[target.name]}
    if target.is_file():
        raise OptionError(f"{target}: is a file, but {format_.name} needs a folder. Choose another name.")
    if not format_.folder and target.suffix.lower() in {PurePath(name).suffix for name in files}:
        raise OptionError(
            f"{target}: {format_.title} holds one document a file, but there are {len(files)}. Give the name of a "
            "folder, such as OUT without an ending."
        )
    return {target / name: content for name, content in files.items()}
