"""`predict`: run a detector over a dataset and write what it finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clueval_xlsx.cli.console import say, say_notes
from clueval_xlsx.cli.detecting import detection
from clueval_xlsx.cli.inputs import read_input, reading_of
from clueval_xlsx.cli.writing import Writing, guard
from clueval_xlsx.exceptions import OptionError, counted
from clueval_xlsx.formats.registry import DETECTOR, JSON_FORMATS, PREDICTED, Format, format_named

if TYPE_CHECKING:
    from clueval_xlsx.cli.settings import Call
    from clueval_xlsx.corpus.reading import Reading
    from clueval_xlsx.detectors.prediction import Dataset, Prediction


def run(call: Call, dataset: str) -> int:
    """Run the detector, and write what it finds as the dataset itself is written, if that can be."""
    from clueval_xlsx.detectors.label_counterparts import align_entities
    from clueval_xlsx.detectors.prediction import make_dataset, make_prediction, run_notes
    from clueval_xlsx.files.outputs import check_target

    if call.value("detector.name") is None:
        raise OptionError("--detector is missing. Say which detector runs, such as --detector presidio.")
    if call.value("output.predictions") is None:
        raise OptionError("-o is missing. Say where the predictions go, such as -o pred.json.")
    output, reading = Path(call.value("output.predictions")), reading_of(call)
    # A dataset's own annotations do not matter for predicting, so their overlaps are nobody's business here.
    source = read_input(call, dataset, replace(reading, nested="longest"))
    call.refuse_idle_reading({"": [source.source.format, DETECTOR.name]})
    format_ = _format(output, call.value("output.to"), source)
    if not format_.folder:
        check_target(output, guard(call))  # before a long run, not behind it
    prepared = make_dataset(source)
    with detection(call, prepared, output) as finds:
        prediction = make_prediction(prepared, finds, reading.nested)
        with Writing(call, [dataset]) as out:
            for path, content in _files(source, prepared, prediction, format_, output).items():
                out.write_bytes(path, content)
        aligned = align_entities(prepared.labels, finds.description)
        notes = aligned.notes() if prepared.labels else ()
        say_notes([*run_notes(finds.description, prepared), *prediction.notes, *notes])
        if aligned.mapping:
            say(f"To compare labels with the dataset's: {aligned.renames}")
    done = len(prepared.documents) - len(finds.failures)
    say(f"{counted(prediction.spans, 'prediction')} in {counted(done, 'document')} ({format_.name}).")
    return 3 if finds.failures else 0


def _format(output: Path, wanted: str | None, reading: Reading) -> Format:
    from clueval_xlsx.formats.writing import output_format

    own = reading.source.format
    if wanted or output.suffix.lower() not in {".json", ".jsonl"}:
        return format_named(wanted or output_format(output))
    known = [name for name in JSON_FORMATS if name in PREDICTED]
    if own not in known:
        raise OptionError(f"{output}: which JSON? Give --to {'|'.join(known)}.")
    return format_named(own)


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
