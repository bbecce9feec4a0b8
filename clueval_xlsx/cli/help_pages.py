"""How the help of a command looks: options under headings, the usual ones first, examples at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import click

from clueval_xlsx.cli.parameters import FileName

_SELDOM_READING = (
    "text", "annotator", "field", "token", "nested", "offsets", "mismatch", "discontinuous", "several-tags",
    "tag-names", "encoding", "token-id", "document-id", "sentence-id", "column", "space-column", "document-tag",
    "sentence-tag",
)  # fmt: skip
# Every option has its heading here, in the order in which help shows them; those that most people need stand first.
SECTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Output": (
        ("output", "json", "html", "files", "report", "judgements", "conflicts", "changes", "as", "to", "lang"),
        ("force", "quiet", "name", "sentences"),
    ),
    "Input": (
        ("gold", "layer", "format"),
        (*_SELDOM_READING, "align", "align-limit", "bio", "merge", "head"),
    ),
    "Input of one side": (
        (),
        (
            *(f"{side}-{name}" for name in ("layer", "format", *_SELDOM_READING) for side in ("gold", "pred")), "pred",
        ),
    ),
    "Scores": (
        ("level", "labelled", "by", "scheme", "least-recall"),
        (
            "beta", "seed", "replicates", "type-layer", "iou-threshold", "skip-words", "coverage-threshold",
            "scenario-threshold", "allow", "allow-file", "char-unit",
        ),
    ),
    "Labels": (("map",), ("equivalent", "equivalence", "ignore", "unmapped")),
    "Workbook": (
        ("judges", "sample", "unmarked", "order"),
        (
            "previous", "hide-previous", "contact", "double", "agreed", "unmarked-from", "unmarked-words", "also",
            "context", "lock-cells", "max-rows", "without-text",
            "password-file", "blind",
        ),
    ),
    "Judgements": (("resolve",), ("trust-id",)),
    "Detector": (
        ("detector",),
        (
            "detector-language", "nlp-config", "recognizers-config", "score-threshold", "detector-option",
            "workers", "time-limit", "fail-fast", "resume", "keep-unmapped",
        ),
    ),
    "Cluster": ((), ("cluster", "cluster-tls", "cluster-wait")),
    "Gates": (("fail-under",), ("baseline", "max-drop", "other-baseline", "history")),
    "General": (("config", "help", "help-all"), ("threads", "debug")),
}  # fmt: skip
_OTHER = "Further options"
_HEADING = {name: heading for heading, parts in SECTIONS.items() for names in parts for name in names}
_USUAL = {name for usual, _ in SECTIONS.values() for name in usual}
_FILES = ("FILE", "DIR", "PATH")  # what options are called whose value is the name of a file
_FEW = 16  # a command with no more options than this shows them all

_ALL = "clueval_xlsx.cli.help_pages.all"


def long_name(param: click.Parameter) -> str:
    """What an option is called in full, without its dashes."""
    return max(param.opts, key=len).lstrip("-")


class GroupedCommand(click.Command):
    """A command whose help is grouped and whose files complete; `--help-all` shows what `--help` leaves out."""

    def __init__(self, *names: Any, examples: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.examples = tuple(examples)
        for param in self.params:
            if param.type is click.STRING and (isinstance(param, click.Argument) or param.metavar in _FILES):
                param.type = FileName()  # the shell completes it
        if len(self._options()) > _FEW:
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    help="Show every option.",
                )
            )

    def _options(self) -> list[click.Option]:
        return [param for param in self.params if isinstance(param, click.Option) and not param.hidden]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under their headings, the usual ones alone unless all are wanted."""
        params = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        everything = ctx.meta.get(_ALL, False) or len(params) <= _FEW
        shown = [param for param in params if everything or long_name(param) in _USUAL]
        for heading in (*SECTIONS, _OTHER):
            mine = [param for param in shown if _HEADING.get(long_name(param), _OTHER) == heading]
            rows = [record for param in _in_order(mine) if (record := param.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=26)
        if len(shown) < len(params):
            formatter.write_paragraph()
            formatter.write_text(f"{len(params) - len(shown)} further options: clueval-xlsx {self.name} --help-all")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Calls that work as they stand with files of one's own."""
        super().format_epilog(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")


class OrderedGroup(click.Group):
    """Commands in the order in which people need them, each with its whole first sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """As they were added."""
        del ctx
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One sentence for each."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.commands[name].get_short_help_str(200)) for name in self.list_commands(ctx)]
            )


def _in_order(params: Iterable[click.Option]) -> list[click.Option]:
    """Options in the order of the table."""
    place = {name: number for number, name in enumerate(_HEADING)}
    return sorted(params, key=lambda param: place.get(long_name(param), len(place)))


def _show_all(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()
