"""Settings become click parameters, config keys and `--set`; what was given comes back as a `Call`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clueval_xlsx.cli.parameters import OF_SIDES, SIDES, choices_of, listed, options_of, titles
from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.options import LabelRules, Options, SchemeOptions
from clueval_xlsx.options.declaration import Setting, SettingError, all_settings, settings_called, settings_of

if TYPE_CHECKING:
    from clueval_xlsx.review.judgements import JudgementKind

Section = TypeVar("Section")
JUDGEMENTS, LABEL_WORDS = "judgements", "label_words"  # sections whose keys are the project's own


# --- what was given, and where -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """One value that somebody gave: for which setting and side, and where, so that a message can say it."""

    setting: Setting
    value: Any
    where: str
    side: str = ""
    typed: bool = False
    option: bool = False

    def idle(self, owner: str, remedy: str = "Leave it out.") -> OptionError:
        """The refusal of what is used by nothing in this call."""
        return OptionError(f"{self.where} has no effect here: it belongs to {owner}. {remedy}")


@dataclass(frozen=True)
class Call:
    """What a command was told: the strongest word comes last."""

    command: str
    given: Sequence[Given]
    judgements: tuple[JudgementKind, ...] = ()
    label_words: Mapping[str, str] = field(default_factory=dict)

    def of(self, kind: type[Section], side: str = "") -> Section:
        """The settings of a section, as one side reads them."""
        section: Any = kind
        keys = {each.key for each in settings_of(section)}
        own = [each for each in self.given if each.setting.key in keys and each.side in {"", side}]
        return kind(**{each.setting.name: each.value for each in own})

    @property
    def scoring(self) -> Options:
        """What is computed, with schemes and rules for labels."""
        keys = {each.key for each in settings_of(Options)}
        own = {each.setting.name: each.value for each in self.given if each.setting.key in keys}
        return Options(**own, schemes=self.of(SchemeOptions), labels=self.of(LabelRules))

    def value(self, key: str) -> Any:
        """The value of one setting."""
        values = [each.value for each in self.given if each.setting.key == key and not each.side]
        return values[-1] if values else all_settings()[key].default

    def names_of(self, section: str) -> frozenset[str]:
        """The names of the settings of a section that somebody gave."""
        return frozenset(each.setting.name for each in self.given if each.setting.section == section)

    def is_typed(self, key: str) -> bool:
        """Whether somebody typed it on the command line."""
        return any(each.typed and each.setting.key == key for each in self.given)

    def refuse(self, keys: Iterable[str], belongs_to: str) -> None:
        """Refuse the first of these settings that was typed; a section's name stands for all of its keys."""
        for each in self.given:
            if each.typed and {each.setting.key, each.setting.section} & {*keys}:
                raise each.idle(belongs_to, "Leave it out, or add that.")

    def refuse_idle_reading(self, formats: Mapping[str, Iterable[str]]) -> None:
        """Refuse what was typed about reading but means nothing for the formats of the inputs.

        `formats` are the names of those of each side (gold, pred), or of all that is read, whatever they are called.
        """
        from clueval_xlsx.formats.registry import DETECTOR, FORMATS

        known = {each.name: each for each in (*FORMATS, DETECTOR)}
        used = {side: [known[name] for name in names] for side, names in formats.items()}
        everything = [each for side in used.values() for each in side]
        for each in self.given:
            kind, concerned = each.setting.formats, used.get(each.side, everything)
            if each.typed and kind and not any(kind in one.kinds for one in concerned):
                users = titles([one for one in FORMATS if kind in one.kinds])
                others = " and ".join(dict.fromkeys(one.title for one in concerned))
                raise each.idle(f"{users}, not to {others}")

    @property
    def files_read(self) -> list[str]:
        """The files that are read because a setting names them."""
        files: list[str] = []
        for each in self.given:
            value = each.value
            if each.setting.key == "detector.option":
                files += [path for name, path in value.items() if name.endswith("_config")]
            elif each.setting.key == "read.tag_names" or (each.setting.is_file and each.setting.section != "output"):
                files += [value] if isinstance(value, str) else list(value or ())
        return files


def call_of(command: str, params: Mapping[str, Any]) -> Call:
    """An option goes before `--set`, this before the config, this before the default; one side before both."""
    typed = list(_from_options(command, params))
    by_key = {each.setting.key: each.value for each in typed}
    own: dict[str, dict[str, Any]] = {JUDGEMENTS: {}, LABEL_WORDS: {}}
    path = by_key.get("general.config")
    given = [
        *(_from_config(command, path, own) if path else ()),
        *_from_sets(by_key.get("general.set", ()), own),
        *typed,
    ]
    given.sort(key=lambda each: (each.typed, bool(each.side), each.option))
    where = path or "--set"
    call = Call(command, given, _own_judgements(own[JUDGEMENTS], where), _label_words(own[LABEL_WORDS], where))
    for each in given:
        if each.typed:
            _refuse_idle(call, each)
    return call


def _from_options(command: str, params: Mapping[str, Any]) -> Iterator[Given]:
    for param, setting, side in options_of(command):
        value = params[str(param.name)]
        if value is None or value == ():
            continue
        where = max(param.secondary_opts if value is False else param.opts, key=len)
        if not isinstance(value, bool):
            value = _value(where, setting, value)
        yield Given(setting, value, where, side, typed=True, option=True)


def _from_config(command: str, path: str, own: dict[str, dict[str, Any]]) -> Iterator[Given]:
    from clueval_xlsx.files.typed_values import parse_toml

    try:
        content = parse_toml(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}. Check the path given to --config.") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}.") from None
    for section, table in content.items():
        if not isinstance(table, dict):
            raise InputError(f"{path}: {_no_section(section)}")
        if section in own:
            own[section].update(table)
            continue
        for name, value in table.items():
            where = f"{path}, [{section}] {name}"
            setting, side = _find(section, name, where)
            if setting.typed:
                raise InputError(f"{where}: belongs on the command line: {setting.flag}.")
            checked = _configured(where, setting, value)
            if command in (*setting.commands, *setting.keys) and (not side or command in OF_SIDES):
                yield Given(setting, checked, where, side)


def _configured(where: str, setting: Setting, value: Any) -> Any:
    """A value of a config file; texts are understood as on the command line."""
    several = setting.shape not in {"one", "flag"}
    if isinstance(value, dict) and setting.shape == "list":
        value = [f"{key}={item}" for key, item in value.items()]
    if isinstance(value, str) and several:
        value = [value]
    if several and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return _value(where, setting, value)
    return _checked(where, setting, setting.checked, value)


def _from_sets(texts: Iterable[str], own: dict[str, dict[str, Any]]) -> Iterator[Given]:
    several: dict[tuple[str, str], tuple[str, list[str]]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        section, dot, name = key.strip().partition(".")
        where = f"--set {key.strip()}"
        if not equals:
            raise OptionError(f"--set {text}: found no value. Allowed: SECTION.KEY=VALUE, such as read.offsets=utf16.")
        if not dot:
            raise OptionError(f"{where}: {_no_section(section)}")
        if section in own:
            code, _, word = name.rpartition(".")
            (own[section].setdefault(code, {}) if code else own[section])[word] = value
            continue
        setting, side = _find(section, name, where)
        if setting.typed:
            raise OptionError(f"{where}: is an option of its own: {setting.flag}.")
        several.setdefault((setting.key, side), (where, []))[1].append(value)
    for (key, side), (where, values) in several.items():
        setting = all_settings()[key]
        # An empty value restores the default, whatever the config says.
        value = setting.default if values == [""] else _value(where, setting, values)
        yield Given(setting, value, where, side, typed=True)


def _value(where: str, setting: Setting, texts: Sequence[str]) -> Any:
    """What was typed, as a value."""
    return _checked(where, setting, setting.from_texts, texts)


def _checked(where: str, setting: Setting, check: Callable[[Any], Any], found: Any) -> Any:
    """A value that was checked, also against words that only another room knows; a mistake is said with its place."""
    try:
        value = check(found)
        words = choices_of(setting)
        if value is not None and words and not setting.choices and value not in words:
            raise SettingError(f"found {value!r}. Allowed: {', '.join(words)}.{did_you_mean(value, words)}")
    except SettingError as wrong:
        raise OptionError(f"{where}: {wrong}") from None
    return value


def _own_judgements(tables: Mapping[str, Any], where: str) -> tuple[JudgementKind, ...]:
    if not tables:
        return ()
    from clueval_xlsx.review.judgements import custom_judgements

    return custom_judgements(tables, where)


def _label_words(meanings: Mapping[str, Any], where: str) -> dict[str, str]:
    for label, meaning in meanings.items():
        if not isinstance(meaning, str) or not meaning.strip():
            raise InputError(f"{where}, [{LABEL_WORDS}]: {label}: found {meaning!r}. Allowed: words that say it.")
    return {label: " ".join(meaning.split()) for label, meaning in meanings.items()}


def _find(section: str, name: str, where: str) -> tuple[Setting, str]:
    """The setting of a key, by its name or by that of its option, and the side that it is for."""
    home, side = ("read", section) if section in SIDES else (section, "")
    known = [each for each in all_settings().values() if each.section == home]
    if not known:
        raise OptionError(f"{where}: {_no_section(section)}")
    meant = settings_called(name)
    for each in meant:
        if each.section == home:
            return each, side
    keys = list(dict.fromkeys(each.key.partition(".")[2] for each in known if not each.typed))
    hint = did_you_mean(name, keys) or f" Allowed: {', '.join(keys)}."
    if meant:
        hint = f" It is {meant[0].key}."
    raise OptionError(f"{where}: [{section}] has no key {name!r}.{hint}")


def _no_section(word: str) -> str:
    """What to say of a section that there is not, or of a key without its section."""
    meant = settings_called(word)
    if meant:
        return f"a key stands in a section. Did you mean {meant[0].key!r}?"
    known = dict.fromkeys([*(each.section for each in all_settings().values()), *SIDES, JUDGEMENTS, LABEL_WORDS])
    return f"there is no section {word!r}.{did_you_mean(word, known)} Sections: {', '.join(known)}."


def _refuse_idle(call: Call, given: Given) -> None:
    """Refuse what was typed but is used by nothing in this call, and say what it belongs to."""
    setting, add = given.setting, "Leave it out, or add that."
    if call.command not in (*setting.commands, *setting.keys):
        raise given.idle(listed([f"`{name}`" for name in sorted(setting.commands)]))
    if given.side and call.command not in OF_SIDES:
        raise given.idle(listed([f"`{name}`" for name in OF_SIDES]), f"Write read.{setting.key[5:]}.")
    if call.command not in setting.commands and setting.section != "read" and call.value("reimport.pred") is None:
        raise given.idle("--pred, for workbooks that lost their hidden sheet (all others know it themselves)", add)
    if setting.schemes and not {*setting.schemes, "all"} & set(call.value("scheme.scheme")):
        raise given.idle(listed([f"--scheme {name}" for name in setting.schemes], "or"), add)
    key, equals, wanted = setting.needs.partition("=")
    if key and not (call.value(key) == wanted if equals else call.value(key)):
        owner = all_settings()[key].flag or f"--set {key}"
        raise given.idle(f"{owner} {wanted}".rstrip(), add)


def spelt(message: str) -> str:
    """A message of the library, which names settings by their keys, as the command line spells them.

    >>> spelt("Give its encoding (read.encoding=latin-1).")
    'Give its encoding (--set read.encoding=latin-1).'
    """
    return _keys_in_messages().sub(r"--set \g<0>", message)


@cache
def _keys_in_messages() -> re.Pattern[str]:
    keys = [re.escape(each.key) for each in all_settings().values() if not each.option]
    return re.compile(rf"(?<!--set )(?<![\w'./-])({'|'.join(keys)})(?!\w)")
