"""`predict`: run a detector over a dataset and write what it finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli import detector_options, options
from clueval_xlsx.cli.writing import force_option, guard, guarded_outputs
from clueval_xlsx.exceptions import OptionError

if TYPE_CHECKING:
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.detectors.prediction import Dataset, Prediction

_TARGETS = ("vrt", "conll", "brat", "tab", "presidio", "label-studio", "table")
_JSON = ("tab", "presidio", "label-studio")


@click.command()
@click.argument("dataset")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="Write the predictions here: a file, or a folder for brat.",
)
@click.option("--detector", required=True, metavar="NAME", help=detector_options.DETECTOR_HELP)
@detector_options.running
@click.option(
    "--to",
    "wanted",
    type=click.Choice(_TARGETS),
    help="Output format. Default: by the ending (.vrt, .conll, .tsv, .csv, .xlsx; .json: like the dataset; "
    "none: a brat folder).",
)
@options.reading
@force_option
@options.common
@click.pass_context
def predict(ctx: click.Context, /, dataset: str, output: Path, wanted: str | None, force: bool, **given: Any) -> None:
    """Run a detector over every document of DATASET and write its predictions.

    What was found so far lies in a side file beside the output until the run is complete: --resume continues a
    run that broke off. Exit code 3 means that the detector failed on some documents.
    """
    from clueval_xlsx.cli.console import say, say_notes
    from clueval_xlsx.cli.detector_run import finds_kept, run_dataset, say_failures, side_file
    from clueval_xlsx.detectors.label_counterparts import align_entities
    from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, run_notes
    from clueval_xlsx.files.outputs import check_target

    # A dataset's own annotations do not matter for predicting, so their overlaps are nobody's business here.
    reading = options.read_input(dataset, {**given, "nested": "longest"})
    format_ = _format(output, wanted, reading)
    if format_ != "brat":
        check_target(output, guard(force))  # before a long run, not behind it
    prepared = make_dataset(reading)
    run = run_dataset(prepared, given, output)
    with finds_kept(run, output):
        prediction = make_prediction(prepared, run, given["nested"])
        with guarded_outputs([dataset], force=force) as outputs:
            for path, content in _files(reading, prepared, prediction, format_, output).items():
                outputs.write_bytes(path, content)
            if not run.failures:
                outputs.remove_afterwards(side_file(output))
    aligned = align_entities(prepared.labels, run.description)
    say_notes([*run_notes(run.description, prepared), *prediction.notes, *(aligned.notes() if prepared.labels else ())])
    if aligned.mapping:
        say(f"To compare labels with the dataset's: {aligned.renames}")
    say_failures(prepared, run, output)
    done = len(prepared.documents) - len(run.failures)
    say(f"{prediction.spans} predictions in {done} documents written to {output} ({format_}).")
    if run.failures:
        ctx.exit(3)


def _format(output: Path, wanted: str | None, reading: Reading) -> str:
    from clueval_xlsx.cli.convert import output_format

    if wanted:
        return wanted
    if output.suffix.lower() in {".json", ".jsonl"}:
        if reading.source.format in _JSON:
            return reading.source.format
        raise OptionError(f"{output}: which JSON? Give --to {'|'.join(_JSON)}.")
    return output_format(output)


def _files(reading: Reading, dataset: Dataset, prediction: Prediction, format_: str, output: Path) -> dict[Path, bytes]:
    """What is to be written; a token file keeps everything but its tags."""
    from clueval_xlsx.corpus.tags import TagColumn

    predicted = prediction.reading
    spans = predicted.layers[dataset.layer]
    assert not isinstance(spans, TagColumn)
    if format_ == reading.source.format and isinstance(reading.layers[dataset.layer], TagColumn):
        from clueval_xlsx.formats.vertical_writer import rewrite_layers

        empty = {layer: spans.iloc[:0].rename(columns={dataset.layer: layer}) for layer in dataset.left_over}
        return {output: rewrite_layers(reading, {dataset.layer: spans, **empty})}
    if format_ == "tab":
        from clueval_xlsx.formats.detected_json import detected_json
        from clueval_xlsx.formats.standoff_writer import written_documents

        text = detected_json(written_documents(predicted, {dataset.layer: spans}, format_))
        return {output: text.encode("utf-8", "backslashreplace")}
    from clueval_xlsx.cli.convert import output_files

    return output_files(predicted, {dataset.layer: spans}, format_, output, None)
