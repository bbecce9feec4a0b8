"""`predict`: run a detector over a dataset and write what it finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clueval_xlsx.cli import common_options, detector_options, input_options
from clueval_xlsx.cli.help_pages import GroupedCommand
from clueval_xlsx.cli.idle_options import refuse_idle_reading
from clueval_xlsx.cli.writing import force_option, guard, guarded_outputs
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.formats.registry import DETECTOR, JSON_FORMATS, PREDICTED, TARGET_ENDINGS, Format, format_named

if TYPE_CHECKING:
    from clueval_xlsx.cli.detector_options import DetectorRequest
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.detectors.prediction import Dataset, Prediction
    from clueval_xlsx.options import ReadOptions


@click.command(
    cls=GroupedCommand,
    examples=(
        "clueval-xlsx predict texts.json -o pred.json --detector presidio",
        'clueval-xlsx predict gold.vrt -o pred.vrt --detector command:"python my.py"',
    ),
)
@click.argument("dataset")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="Write the predictions here: a file, or a folder for brat.",
)
@detector_options.predicting
@click.option(
    "--to",
    "wanted",
    type=click.Choice(PREDICTED),
    metavar="FORMAT",
    help=f"Output format: {', '.join(PREDICTED)}. Default: by the ending ({', '.join(TARGET_ENDINGS)}; "
    ".json: like the dataset; none: a brat folder).",
)
@input_options.reading
@force_option
@common_options.common
@click.pass_context
def predict(
    ctx: click.Context,
    /,
    *,
    dataset: str,
    output: Path,
    wanted: str | None,
    detector: DetectorRequest,
    reading: ReadOptions,
    force: bool,
) -> None:
    """Run a detector over every document of DATASET and write its predictions.

    What was found so far lies in a side file beside the output until the run is complete: --resume continues a
    run that broke off. Exit code 3 means that the detector failed on some documents.
    """
    from clueval_xlsx.cli.console import counted, say, say_notes
    from clueval_xlsx.cli.detector_run import finds_kept, run_dataset, say_failures, side_file
    from clueval_xlsx.detectors.label_counterparts import align_entities
    from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, run_notes
    from clueval_xlsx.files.outputs import check_target

    # A dataset's own annotations do not matter for predicting, so their overlaps are nobody's business here.
    source = input_options.read_input(dataset, replace(reading, nested="longest"))
    refuse_idle_reading({"": [source.source.format, DETECTOR.name]})
    format_ = _format(output, wanted, source)
    if not format_.folder:
        check_target(output, guard(force))  # before a long run, not behind it
    prepared = make_dataset(source)
    run = run_dataset(prepared, detector, output)
    with finds_kept(run, output):
        prediction = make_prediction(prepared, run, reading.nested)
        with guarded_outputs([dataset], force=force) as outputs:
            for path, content in _files(source, prepared, prediction, format_, output).items():
                outputs.write_bytes(path, content)
            if not run.failures:
                outputs.remove_afterwards(side_file(output))
    aligned = align_entities(prepared.labels, run.description)
    say_notes([*run_notes(run.description, prepared), *prediction.notes, *(aligned.notes() if prepared.labels else ())])
    if aligned.mapping:
        say(f"To compare labels with the dataset's: {aligned.renames}")
    say_failures(prepared, run, output)
    done = len(prepared.documents) - len(run.failures)
    say(f"{counted(prediction.spans, 'prediction')} in {counted(done, 'document')} ({format_.name}).")
    if run.failures:
        ctx.exit(3)


def _format(output: Path, wanted: str | None, reading: Reading) -> Format:
    from clueval_xlsx.formats.writing import output_format

    if wanted:
        return format_named(wanted)
    if output.suffix.lower() in {".json", ".jsonl"}:
        if reading.source.format in JSON_FORMATS:
            return format_named(reading.source.format)
        raise OptionError(f"{output}: which JSON? Give --to {'|'.join(JSON_FORMATS)}.")
    return format_named(output_format(output))


def _files(
    reading: Reading, dataset: Dataset, prediction: Prediction, format_: Format, output: Path
) -> dict[Path, bytes]:
    """What is to be written; a token file keeps everything but its tags."""
    from clueval_xlsx.corpus.correcting import correct
    from clueval_xlsx.formats.writing import output_files

    layers = prediction.layers
    if format_.name == reading.source.format and format_.columns:
        spans = layers[dataset.layer]
        empty = {layer: spans.iloc[:0].rename(columns={dataset.layer: layer}) for layer in dataset.left_over}
        (content,) = correct(reading, {**layers, **empty}).values()
        return {output: content}
    return output_files(prediction.side, layers, format_, output)
