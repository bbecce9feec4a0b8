"""Settings: every one by option, config key and `--set`, what is refused and how, and the help that lists them."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from clueval_xlsx.cli import cli
from clueval_xlsx.cli.parameters import HeadedCommand, choices_of
from clueval_xlsx.cli.settings import Call, call_of
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.options.declaration import SECTIONS, Setting, SettingError, all_settings, settings_of
from tests.support.commands import refused, run, run_process
from tests.support.folders import ROOT

COMMANDS = [name for name in cli.commands if name != "help"]
KEYS = {key: setting for key, setting in all_settings().items() if not setting.typed}
_CANDIDATES = ("true", "3", "0.4", "text=2", "a=2", "A,B", "recall=0.5", "recall=1pp", "word")
_ARGUMENTS = {
    "evaluate": ["gold", "pred"], "score": ["gold", "pred"], "compare": ["gold", "pred"], "agree": ["a", "b"],
    "convert": ["in", "out"], "reimport": ["book"], "status": ["book"],
}  # fmt: skip
HELP = ROOT / "tests" / "golden" / "help.txt"


def called(command: str, *options: str) -> Call:
    """What a command makes of its options, before anything is read."""
    made = cli.commands[command]
    context = made.make_context(command, [*_ARGUMENTS.get(command, ["x"]), *options], cli.make_context("x", ["help"]))
    return call_of(command, context.params)


def sample(setting: Setting) -> str:
    """A value of a setting that is not its default."""
    for text in (*choices_of(setting), *_CANDIDATES):
        try:
            value = setting.from_texts([text])
        except SettingError:
            continue
        if value not in (setting.default, ()):
            return text
    raise AssertionError(setting.key)


def given(command: str, setting: Setting, text: str) -> list[str]:
    """How a value is given to a command."""
    if not setting.option or command not in setting.commands:
        return ["--set", f"{setting.key}={text}"]
    return [setting.flag] if setting.shape == "flag" else [setting.flag, text]


def beside(command: str, setting: Setting) -> list[str]:
    """What a setting needs in order to have an effect."""
    options = given(command, all_settings()["scheme.scheme"], setting.schemes[0]) if setting.schemes else []
    if setting.needs:
        key, _, wanted = setting.needs.partition("=")
        other = all_settings()[key]
        options += given(command, other, wanted or sample(other))
    return options if command in setting.commands else [*options, "--pred", "p"]


@pytest.mark.parametrize("key", KEYS)
def test_every_key_reaches_the_library_from_set_option_and_config_or_is_refused(key: str, tmp_path: Path) -> None:
    setting = KEYS[key]
    text = sample(setting)
    wanted = setting.from_texts([text])
    kind = next(each for each in SECTIONS for one in settings_of(each) if one == setting)
    section, name = key.split(".")
    config = tmp_path / "c.toml"
    plain = setting.shape == "flag" or (text in {"3", "0.4"} and setting.parse is None)
    config.write_text(f"[{section}]\n{name} = {text if plain else json.dumps(text)}\n", "utf-8")
    for command in COMMANDS:
        if command not in (*setting.commands, *setting.keys):
            with pytest.raises(OptionError, match="has no effect here: it belongs to"):
                called(command, "--set", f"{key}={text}")
            assert called(command, "--config", str(config)).value(key) == setting.default  # it serves other commands
            continue
        more = beside(command, setting)
        ways = [["--set", f"{key}={text}"], ["--config", str(config)]]
        if setting.option and command in setting.commands and setting.shape != "flag":
            ways.append(given(command, setting, text))
        for way in ways:
            call = called(command, *more, *way)
            assert call.value(key) == wanted, (command, way)
            if key != "scheme.allow_file":  # whose content counts
                assert getattr(call.of(kind), setting.name) == wanted, (command, way)
        if section != "gates":  # which need each other
            assert called(command, *more, "--config", str(config), "--set", f"{key}=").value(key) == setting.default


@pytest.mark.parametrize("key", [key for key, setting in KEYS.items() if setting.needs or setting.schemes])
def test_a_setting_without_what_it_needs_is_refused_and_says_it(key: str) -> None:
    setting = KEYS[key]
    with pytest.raises(OptionError, match=r"has no effect here: it belongs to --.*Leave it out, or add that"):
        called(
            setting.commands[0],
            *(["--detector", "x"] if setting.section == "cluster" else []),
            "--set",
            f"{key}={sample(setting)}",
        )


def test_one_side_goes_before_both_and_an_option_before_set_before_config(write) -> None:
    config = write(
        "c.toml", '[read]\nlayer = "a=2"\nannotator = "x"\n[gold]\nnested = "merge"\n[score]\nlevel = "exact"'
    )
    call = called(
        "evaluate", "--config", str(config), "--set", "read.layer=b=3", "--pred-layer", "c=4", "--level", "tiling",
        "--set", "gold.annotator=first",
    )  # fmt: skip
    from clueval_xlsx.options import ReadOptions

    gold, pred = call.of(ReadOptions, "gold"), call.of(ReadOptions, "pred")
    assert (gold.layers, pred.layers) == ({"b": 3}, {"c": 4})
    assert (gold.annotator, pred.annotator) == ("first", "x")
    assert (gold.nested, pred.nested) == ("merge", None)
    assert call.scoring.level == "tiling"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"[score]\nseed = {'9' * 5000}", "a number of thousands of digits"),
        (f"[read]\nlayer = {'[' * 5000}{']' * 5000}", "a value is nested too deeply"),
        (f"{'.'.join('a' * 30_000)} = 1", "line 1 has more than 200 dots"),
        (b"# \xfc\n", "the file is not UTF-8"),
    ],
    ids=["digits", "depth", "dots", "bytes"],
)
def test_a_config_that_would_choke_a_parser_is_refused(write, content: str, said: str) -> None:
    refused(run("score", "g", "p", "--config", write("c.toml", content)), "c.toml", said)


def test_a_setting_of_each_section_changes_a_result(write, tmp_path: Path) -> None:
    both = write("both.vrt", '<text id="d" kind="x">\na\tB-X\tO\nb\tI-X\tB-Y\nc\tI-X\tO\n</text>\n')
    score = ("score", both, both, "--layer", "a=2")
    plain = run(*score, "--set", "output.as=csv").out
    for options in (
        ("--set", "gold.layer=a=3"),
        ("--set", "score.by=kind"),
        ("--scheme", "iou", "--set", "scheme.iou_threshold=0.5"),
        ("--set", "labels.map=X=Z"),
        ("--layer", "b=3", "--set", "pair.merge=false"),
        ("--set", "output.as=latex"),
    ):
        done = run(*score, *(() if "latex" in str(options) else ("--as", "csv")), *options)
        assert done.code == 0, done.err
        assert done.out != plain, options
    assert run("score", both, both, "--set", "read.layer=a=3", "--as", "csv").out != plain
    assert run(*score, "--pred-layer", "a=3", "--set", "gates.fail_under=recall=1").code == 4
    assert run(*score, "--set", "general.quiet=true").err == ""
    book = tmp_path / "r.xlsx"
    assert run("evaluate", *score[1:], "-o", book, "--set", "workbook.judges=anna").code == 0
    assert (tmp_path / "r-anna.xlsx").exists()


def test_the_process_exits_with_two_and_debug_shows_the_traceback(tmp_path: Path) -> None:
    refused(run_process(["score", "absent.vrt", "absent.vrt"], cwd=tmp_path), "Error: absent.vrt: cannot be read")
    loud = run_process(["score", "absent.vrt", "absent.vrt", "--debug"], cwd=tmp_path)
    assert "Traceback" in loud.err
    assert loud.code != 0


# --- help ----------------------------------------------------------------------------------------------------------


def all_help() -> str:
    """The help of the tool and of every command, as the golden file has it."""
    pages = [run("--help").out, *(run(name, "--help").out for name in cli.commands)]
    return "\n".join(pages)


def test_help_is_as_it_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = all_help()
    assert max(map(len, shown.splitlines())) <= 80
    assert len(run("evaluate", "--help").out.splitlines()) <= 100
    assert shown == HELP.read_text("utf-8"), "look at what changed, then write it to tests/golden/help.txt"


def test_the_page_of_settings_has_every_key_and_its_commands_help_counts_them() -> None:
    page = run("help", "settings").out
    assert all(f"`{key}`" in page for key in KEYS)
    assert all(f"`{setting.option}`" in page for setting in all_settings().values() if setting.option)
    assert run("help", "score").out.strip() == run("score", "--help").out.strip()


def test_every_argument_and_every_option_with_a_file_completes_as_one() -> None:
    for name in COMMANDS:
        command = cli.commands[name]
        assert isinstance(command, HeadedCommand)
        context = click.Context(command, info_name=name)
        for param in command.params:
            if isinstance(param, click.Argument) or param.metavar in {"FILE", "DIR", "PATH"}:
                assert [item.type for item in param.type.shell_complete(context, param, "x")] == ["file"]
    evaluate = cli.commands["evaluate"]
    context = click.Context(evaluate, info_name="evaluate")
    words = {param.name: param for param in evaluate.params}
    for name, begun, wanted in (
        ("set_", "read.off", "read.offsets="),
        ("scheme", "iou,seq", "iou,seqeval"),
        ("lang", "d", "de"),
    ):
        param = words[name] if name in words else words["set"]
        assert wanted in [item.value for item in param.type.shell_complete(context, param, begun)]
