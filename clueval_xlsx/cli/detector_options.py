"""Options of the commands that run a detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from clueval_xlsx.cli.cluster_options import CLUSTER, cluster_place
from clueval_xlsx.cli.idle_options import refuse_idle
from clueval_xlsx.cli.parameters import KeyValue, NumberRange, group

if TYPE_CHECKING:
    from clueval_xlsx.detectors.base import DetectorSettings
    from clueval_xlsx.detectors.runner import RunOptions

_HELP = 'The detector: presidio, command:"PROGRAM ARGUMENTS", or the name that a package registered.'
_RUNNING = [
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
    click.option("--score-threshold", type=NumberRange(0, 1), help="Drop finds that the detector is less sure of."),
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
    *CLUSTER,
    click.option(
        "--time-limit",
        type=NumberRange(0, min_open=True),
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


@dataclass(frozen=True)
class DetectorRequest:
    """Which detector, what it is told, how it is run, and whether documents stay that it has no labels for."""

    settings: DetectorSettings
    run: RunOptions
    keep_unmapped: bool = False


def _request(**given: Any) -> DetectorRequest | None:
    """What to run, if anything."""
    from clueval_xlsx.detectors.base import DetectorSettings
    from clueval_xlsx.detectors.runner import RunOptions

    if not given["detector"]:
        refuse_idle([name for name in given if name != "detector"], "--detector")
        return None
    settings = DetectorSettings(
        detector=given["detector"],
        language=given["detector_language"],
        score_threshold=given["score_threshold"],
        nlp_config=given["nlp_config"],
        recognizers_config=given["recognizers_config"],
        options=dict(given["detector_options"]),
    )
    cluster = cluster_place(given)
    run = RunOptions(given["workers"], given["time_limit"], given["fail_fast"], given["resume"], cluster)
    return DetectorRequest(settings, run, given.get("keep_unmapped", False))


predicting = group(
    "detector", _request, [click.option("--detector", required=True, metavar="NAME", help=_HELP), *_RUNNING]
)
evaluating = group(
    "detector",
    _request,
    [
        click.option("--detector", metavar="NAME", help=f"Make the predictions here and now. {_HELP}"),
        *_RUNNING,
        click.option(
            "--keep-unmapped",
            is_flag=True,
            help="With --detector: keep documents that have labels for which the detector has none.",
        ),
    ],
)
