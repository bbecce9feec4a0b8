"""Settings: every one by option, config key and `--set`, what is refused and how, and the help that lists them."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from tests.support.tables import SOUND

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
    ("options", "said"),
    [
        ("evaluate g p --nestd longest", "--nestd: there is no such option. Did you mean '--nested'?"),
        ("evaluate g p --offsets utf16", "--offsets: is a key, not an option. Write --set read.offsets=…"),
        ("evaluate g p --gold-nested merge", "--gold-nested: is a key, not an option. Write --set gold.nested=…"),
        ("score g p --judges anna", "--judges: `score` does not have it; `evaluate` can take it."),
        ("evaluate g p --nested longst", "Allowed: error, longest, merge. Did you mean 'longest'?"),
        ("score g p --level exakt", "found 'exakt'. Allowed: exact, superset, tiling, overlap. Did you mean 'exact'?"),
        ("score g p --level 1", "A bare number counts differently here (1 is exact) and in CLUEval (1 is contained)."),
        ("score g p --scheme seqval", "Did you mean 'seqeval'?"),
        ("score g p --format conl", "Did you mean 'conll'?"),
        ("evaluate g p --lang fr", "--lang: found 'fr'. Allowed: en, de."),
        ("evaulate g p", "evaulate: there is no such command. Did you mean 'evaluate'? Commands: evaluate, "),
        ("g.vrt p.vrt", "g.vrt: a command is missing. Did you mean `clueval-xlsx evaluate g.vrt p.vrt`?"),
        ("evaluate g", "PRED is missing. Give a file of predictions, or a detector with --detector."),
        ("evaluate g p --detector x", "PRED and --detector are both given. Leave one out."),
        ("score g", "PRED is missing. Usage: clueval-xlsx score"),
        ("reimport book.xlsx", "--gold is missing."),
        ("predict x.json", "--detector is missing."),
        ("score g p --set raed.offsets=utf16", "there is no section 'raed'. Did you mean 'read'? Sections: "),
        ("score g p --set read.ofsets=utf16", "[read] has no key 'ofsets'. Did you mean 'offsets'?"),
        ("score g p --set offsets=utf16", "a key stands in a section. Did you mean 'read.offsets'?"),
        ("score g p --set score.offsets=utf16", "[score] has no key 'offsets'. It is --set read.offsets."),
        ("score g p --set read.offsets=utf61", "Allowed: codepoints, glyphs, utf16. Did you mean 'utf16'?"),
        ("score g p --set read.offsets", "found no value. Allowed: SECTION.KEY=VALUE, such as"),
        ("score g p --set output.force=true", "--set output.force: is an option of its own: --force."),
        ("score g p --set workbook.lock_cells=true", "it belongs to `evaluate` and `reimport`. Leave it out."),
        ("convert g p --set gold.offsets=utf16",
         "it belongs to `evaluate`, `score` and `compare`. Write --set read.offsets."),
        ("reimport b --gold g --level exact", "--level: is a key, not an option. Write --set score.level=…"),
        ("reimport b --gold g --set score.level=exact", "belongs to --pred, for workbooks that lost their"),
        ("evaluate g p --workers 2", "--workers has no effect here: it belongs to --detector. Leave it out, or add"),
        ("evaluate g p --cluster local:2", "--cluster has no effect here: it belongs to --detector."),
        ("score g p --baseline m.json", "--baseline has no effect here: it belongs to --max-drop."),
        ("score g p --thresholds --by domain", "--by has no effect here: it belongs to `score` without --thresholds."),
        ("evaluate g p --json m.json --sample 5", "--sample has no effect here: it belongs to a workbook (-o FILE)."),
        ("evaluate g p -output x.xlsx", "-output: one dash is missing. Did you mean --output?"),
        ("evaluate g p -o --json -", "--output: found --json, which is an option itself. Give a value before it."),
        ("evaluate g p --level exact --level overlap", "given twice, as 'exact' and 'overlap'. Allowed: one value."),
        ("evaluate g p --layer risk=0", "found 'risk=0'. Allowed: NAME or NAME=COLUMN, such as risk=3"),
        ("evaluate g p --layer start=2", "start and end are no names of layers"),
        ("evaluate g p --layer risk=3 --layer risk=4", "'risk' is given twice, as '3' and '4'. Allowed: each name"),
        ("evaluate g p --double 20 --judges a,b", "found '20'. Allowed: a number more than 0 up to 1, such as 20%."),
        ("evaluate g p --double 20% --judges a", "--double needs two people or more, but --judges names only a."),
        ("evaluate g p --judges a,A", "--judges names A, a twice. Give each person once."),
        ("compare g p --seed -1", "found '-1'. Allowed: a whole number from 0"),
        ("score g p --set score.beta=inf", "found 'inf'. Allowed: a number from 0.001 up to 1,000"),
        ("score g p --set score.replicates=9999999", "Allowed: a whole number from 0 up to 1,000,000"),
        ("score g p --equivalent ORG", "Allowed: groups of two labels or more"),
        ("score g p --fail-under recall=95", "(recall=95%?). Allowed: rates from 0 to 1, such as recall=0.95"),
        ("score g p --fail-under recal=0.9", "such as recall=0.95. Did you mean 'recall'?"),
        ("score g p --layer", "--layer: a value is missing."),
        ("score g p --quiet=x", "--quiet: takes no value."),
        ("score g p extra", "Got unexpected extra argument (extra). Usage: "),
        ("score - -", "only one side can come from standard input"),
        ("evaluate g p -o review.docx", "review.docx: a review workbook ends in .xlsx"),
        ("help formts", "there is no such page. Did you mean 'formats'?"),
    ],
)  # fmt: skip
def test_a_mistake_is_answered_with_what_is_allowed(options: str, said: str) -> None:
    done = run(*options.split())
    refused(done)
    assert said in " ".join(done.err.split()), done.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[score]\nlevle = 'exact'", "[score] levle: [score] has no key 'levle'. Did you mean 'level'?"),
        ("[scroe]\nlevel = 'exact'", "there is no section 'scroe'. Did you mean 'score'?"),
        ("level = 'exact'", "a key stands in a section. Did you mean 'score.level'?"),
        ("level = exact", "not valid TOML"),
        ("[score]\nlevel = 'exakt'", "[score] level: found 'exakt'. Allowed: exact, superset, tiling, overlap."),
        ("[score]\nlevel = ['exact']", "[score] level: found ['exact']."),
        ("[read]\ntoken_id = true", "[read] token_id: found True. Allowed: a whole number from 1"),
        ("[pair]\nmerge = 'no'", "[pair] merge: found 'no'. Allowed: true or false."),
        ("[output]\nforce = true", "[output] force: belongs on the command line: --force."),
        ("[score]\nreplicates = 7.5", "[score] replicates: found 7.5. Allowed: a whole number"),
        ("[labels]\nequivalent = [3]", "[labels] equivalent: found"),
        ("[gates]\nfail_under = 'recall=95'", "rates from 0 to 1"),
        (f"[score]\nseed = {'9' * 5000}", "a number of thousands of digits"),
        (f"[read]\nlayer = {'[' * 5000}{']' * 5000}", "a value is nested too deeply"),
        (f"{'.'.join('a' * 30_000)} = 1", "line 1 has more than 200 dots"),
        ("[judgements.x]\neffect = ['gold_wrong']\nen = 'X'", "judgement 'x' has effect ['gold_wrong']. Allowed"),
        ("[judgements]\nx = 1", "judgements must be tables. Write [judgements.CODE]"),
        ("[label_words]\nPER = 1", "[label_words]: PER: found 1. Allowed: words"),
    ],
)
def test_a_mistake_in_a_config_is_answered_with_its_place(write, content: str, said: str) -> None:
    gold, config = write("gold.vrt", SOUND), write("c.toml", content)
    refused(run("score", gold, gold, "--config", config), "c.toml", said)


def test_a_config_file_that_is_missing_or_not_utf8(write, tmp_path: Path) -> None:
    gold = write("gold.vrt", SOUND)
    refused(run("score", gold, gold, "--config", tmp_path / "no.toml"), "no.toml: cannot be read", "--config")
    refused(run("score", gold, gold, "--config", write("c.toml", b"# \xfc\n")), "c.toml: the file is not UTF-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--labelled", "risk"), "--labelled risk: there is no such layer. Layers: span"),
        (("--by", "court"), "there is no metadata called 'court'. Known here: none."),
        (("--layer", "risk=x"), "--layer risk=x: here a layer is a column of tags. Give its number"),
    ],
)
def test_what_only_the_data_tell_is_answered_by_them(both_refuse, options: Sequence[str], said: str) -> None:
    both_refuse(SOUND, SOUND, said, options=tuple(options))


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
