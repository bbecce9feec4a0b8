"""Settings as click parameters, with their help, their completion and the manual's page of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from clueval_xlsx.exceptions import OptionError, did_you_mean
from clueval_xlsx.options.declaration import Setting, all_settings, settings_called

if TYPE_CHECKING:
    from clueval_xlsx.formats.registry import Format

SIDES = ("gold", "pred")  # sections that say of one side what `read` says of both
OF_SIDES = ("evaluate", "score", "compare")
_LEFT = 25  # columns of the help in which options stand
_NAMED = 4  # formats that a message names
_HEADINGS = ("Output", "Re-import", "Input", "Scores", "Labels", "Workbook", "Detector", "Gates", "General")


def choices_of(setting: Setting) -> Sequence[str]:
    """The words that a setting takes, if there are no others."""
    if setting.key == "workbook.lang":
        from clueval_xlsx.words import languages

        return languages()
    if setting.key in {"read.format", "output.to"}:
        from clueval_xlsx.formats.registry import FORMAT_NAMES, PREDICTED

        return FORMAT_NAMES if setting.key == "read.format" else PREDICTED
    return setting.choices


def titles(formats: Sequence[Format]) -> str:
    titles = [each.title for each in formats if not each.needs_text]
    return ", ".join(titles[:_NAMED]) + (" and others" if len(titles) > _NAMED else "")


def listed(words: Sequence[str], joint: str = "and") -> str:
    return f" {joint} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


class Typed(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.2 on
    """The text as it was typed, which is checked when all is known; the shell completes files and words."""

    name = "text"

    def __init__(self, setting: Setting | None = None) -> None:
        self.setting = setting

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Everything but the name of another option, which click would take for the value."""
        names = {name for other in ctx.command.params for name in other.opts if name.startswith("--")} if ctx else ()
        if value in names:
            self.fail(f"found {value}, which is an option itself. Give a value before it.", param, ctx)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Words that it takes, keys for `--set`, else what files there are."""
        del param
        if self.setting is None or self.setting.is_file:
            return [CompletionItem(incomplete, type="file")]
        if self.setting.key == "general.set":
            keys = [each for each in all_settings().values() if not each.typed and ctx.info_name in each.commands]
            return [CompletionItem(f"{each.key}=", help=each.help) for each in keys if each.key.startswith(incomplete)]
        before, comma, word = incomplete.rpartition(",")
        known = choices_of(self.setting)
        return [CompletionItem(before + comma + choice) for choice in known if choice.startswith(word)]


@cache
def options_of(command: str) -> list[tuple[click.Option, Setting, str]]:
    """The options of a command, each with its setting and the side that it is for."""
    made = []
    for each in all_settings().values():
        if not each.option or command not in each.commands:
            continue
        default = f" [{each.default}]" if each.default and "[" not in each.help else ""
        made.append((_option(each, each.option, each.help + default), each, ""))
        for side in SIDES if each.sides and command in OF_SIDES else ():
            flag = each.option.replace("--", f"--{side}-")
            made.append((_option(each, flag, f"{each.flag} for {side} alone."), each, side))
    return made


def _option(setting: Setting, flags: str, text: str) -> click.Option:
    if setting.shape == "flag":
        return click.Option([flags], is_flag=True, default=None, help=text)
    more = ",…" if setting.shape in {"list", "pairs"} and not setting.whole else ""
    return click.Option(flags.split("/"), type=Typed(setting), multiple=True, metavar=setting.metavar + more, help=text)


class HeadedCommand(click.Command):
    """A command with its options under headings, and examples at the end."""

    examples: Sequence[str] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say what somebody meant who typed what click would misread."""
        flags = {name for param in self.params for name in param.opts} | {"--help"}
        for word in args[: args.index("--") if "--" in args else None]:
            if len(word) > 2 and word[0] == "-" != word[1] and f"-{word.partition('=')[0]}" in flags:
                raise OptionError(f"{word}: one dash is missing. Did you mean -{word}?")
        try:
            return super().parse_args(ctx, list(args))
        except click.NoSuchOption as error:
            raise OptionError(_no_such_option(error.option_name, str(self.name), flags)) from None
        except click.BadOptionUsage as error:
            what = "takes no value" if "not take" in error.message else "a value is missing"
            raise OptionError(f"{error.option_name}: {what}.") from None
        except click.MissingParameter as error:
            name = error.param.make_metavar(ctx) if error.param else ""
            raise OptionError(f"{name} is missing. {self.get_usage(ctx)}") from None
        except click.BadParameter as error:
            flag = max(error.param.opts, key=len) if error.param else ""
            raise OptionError(f"{flag}: {error.message}") from None
        except click.UsageError as error:
            raise OptionError(f"{error.message}. {self.get_usage(ctx)}") from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Under each heading its options, in the order in which they are declared."""
        headings = {param.name: setting.heading for param, setting, _ in options_of(str(self.name))}
        by_heading: dict[str, list[tuple[str, str]]] = {heading: [] for heading in _HEADINGS}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                heading = headings.get(param.name, _HEADINGS[-1])
                by_heading[heading].append((record[0].ljust(_LEFT), record[1]))
        for heading, rows in by_heading.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=_LEFT, col_spacing=1)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Calls that work as they stand, and where the rest is."""
        del ctx
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"  clueval-xlsx {example}\n")
        keys = [each for each in all_settings().values() if not each.option and self.name in each.commands]
        if keys:
            formatter.write(f"\n{len(keys)} further keys for --config and --set: clueval-xlsx help settings\n")


def _no_such_option(name: str, command: str, flags: Iterable[str]) -> str:
    """What is meant by an option that this command does not have: a key, an option of others, or a misspelling."""
    name = name.partition("=")[0]
    side, _, word = name[2:].partition("-")
    if side not in SIDES or not word:
        side, word = "", name[2:]
    owners: set[str] = set()
    for each in settings_called(word):
        is_key = each.section == "read" if side else not (each.option and command in each.commands)
        if command in (*each.commands, *each.keys) and not each.typed and is_key:
            return f"{name}: is a key, not an option. Write --set {side or each.section}.{each.key.partition('.')[2]}=…"
        owners.update(each.commands if each.option and not side else ())
    if owners:
        return f"{name}: `{command}` does not have it; {listed([f'`{one}`' for one in sorted(owners)])} can take it."
    hint = did_you_mean(name, {flag for flag in flags if flag[:2] == "--"})
    return f"{name}: there is no such option.{hint} `clueval-xlsx {command} --help` lists them."
