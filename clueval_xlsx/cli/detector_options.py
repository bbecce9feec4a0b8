"""Options of the commands that run a detector."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.parameters import KeyValue, apply

if TYPE_CHECKING:
    from clueval_xlsx.detectors.base import DetectorSettings
    from clueval_xlsx.detectors.runner import RunOptions

DETECTOR_HELP = 'The detector: presidio, command:"PROGRAM ARGUMENTS", or the name that a package registered.'


running = apply(
    [
        click.option(
            "--detector-language",
            default="en",
            show_default=True,
            metavar="CODE",
            help="Language the detector works in, whatever its configuration lists first.",
        ),
        click.option("--nlp-config", type=click.Path(), metavar="YAML", help="Presidio's NLP configuration."),
        click.option(
            "--recognizers-config", type=click.Path(), metavar="YAML", help="Presidio's recognizers configuration."
        ),
        click.option(
            "--score-threshold", type=click.FloatRange(0, 1), help="Drop finds that the detector is less sure of."
        ),
        click.option(
            "--detector-option",
            "detector_options",
            type=KeyValue("label=NAME", may_be_empty=True),
            multiple=True,
            help="An option of a detector that a package registered; repeatable.",
        ),
        click.option(
            "--workers",
            type=click.IntRange(1),
            default=1,
            show_default=True,
            help="Processes of the detector side by side; the result is the same.",
        ),
        click.option(
            "--time-limit",
            type=click.FloatRange(0, min_open=True),
            default=120.0,
            show_default=True,
            metavar="SECONDS",
            help="A detector that needs longer for one document is stopped, and the document reported.",
        ),
        click.option("--fail-fast", is_flag=True, help="Stop at the first document that the detector fails on."),
        click.option(
            "--resume/--no-resume",
            default=None,
            help="Continue a run that broke off, or start anew and forget it.",
        ),
    ]
)


def detector_settings(given: dict[str, Any]) -> DetectorSettings:
    """Which detector and what it is told, from the command's keyword arguments."""
    from clueval_xlsx.detectors.base import DetectorSettings

    return DetectorSettings(
        detector=given["detector"],
        language=given["detector_language"],
        score_threshold=given["score_threshold"],
        nlp_config=given["nlp_config"],
        recognizers_config=given["recognizers_config"],
        options=dict(given["detector_options"]),
    )


def run_options(given: dict[str, Any]) -> RunOptions:
    """How to run it, from the command's keyword arguments."""
    from clueval_xlsx.detectors.runner import RunOptions

    return RunOptions(
        workers=given["workers"],
        time_limit=given["time_limit"],
        fail_fast=given["fail_fast"],
        resume=given["resume"],
    )
