"""How a setting is declared, and how a value of it is checked, be it typed, from a file or given in Python.

A setting is a field of a section, which is a frozen dataclass. Its type is its check; options, help, config keys,
`--set`, completion, the manual's page and the sentences of errors follow from the declaration. Nothing heavy is
imported here, and click is not known.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from clueval_xlsx.exceptions import OptionError, did_you_mean

Value = TypeVar("Value")
_SHOWN = 60  # characters of a value in a message
_DECLARED = "clueval_xlsx.setting"  # the key under which a field knows its setting


class SettingError(ValueError):
    """A value that a setting does not take: what was found and what is allowed. Whoever knows its place adds that."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One setting: all that anybody may want to know about it.

    `option`  how it is typed (`-o/--output`); empty: it is a key of the config file and of `--set` only
    `formats`  the kind of format that looks at it; the registry of formats says which formats are of that kind
    `schemes`  the schemes that look at it
    `needs`  the setting without which it has no effect: `labels.equivalent`, or `workbook.order=suspicion`
    `commands`  the commands that have it, and `keys` those where it is a key only
    `parse`  what makes a value of a text, where the type alone does not tell
    `whole`  a comma belongs to the value, so that several are given by repeating the option
    `typed`  it stands only on the command line, never in a config file
    `sides`  there is an option for each side, too: `--gold-layer`, `--pred-layer`
    `word`  what its key is called if not as the field
    `inner`  nobody sets it but a program: it is no key
    """

    help: str
    option: str = ""
    metavar: str = ""
    heading: str = ""
    formats: str = ""
    schemes: tuple[str, ...] = ()
    needs: str = ""
    commands: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    parse: Callable[[str], Any] | None = None
    whole: bool = False
    typed: bool = False
    sides: bool = False
    word: str = ""
    inner: bool = False
    section: str = ""
    name: str = ""
    hint: Any = None
    default: Any = None

    @property
    def flag(self) -> str:
        """The longest spelling of its option, `--output`; empty if it has none."""
        spellings = [part for part in self.option.split("/") if not part.startswith("--no-")]
        return max(spellings, key=len)

    @property
    def key(self) -> str:
        """What the config file and `--set` call it, `read.nested`."""
        return f"{self.section}.{self.word or self.name.rstrip('_')}"

    @property
    def words(self) -> frozenset[str]:
        """What people may call it within its section: its key, its name, its option."""
        called = (self.key.partition(".")[2], self.name.rstrip("_"), self.flag[2:].replace("-", "_"))
        return frozenset(called) - {""}

    @property
    def kind(self) -> Any:
        """Its type, without what constrains it and without None."""
        return _bare(self.hint)

    @property
    def shape(self) -> str:
        """Whether it takes `one` value, or is a `flag`, a `list`, `groups` (lists in a list) or `pairs`."""
        if self.kind is bool:
            return "flag"
        if get_origin(self.kind) is Mapping:
            return "pairs"
        if get_origin(self.kind) is not Sequence:
            return "one"
        return "groups" if get_origin(_bare(get_args(self.kind)[0])) is Sequence else "list"

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it takes, where it takes no others."""
        hint = get_args(self.kind)[0] if self.shape in {"list", "pairs"} else self.kind
        if get_origin(hint) is Annotated:
            return (get_args(hint)[1].extra or {}).get("words", ())
        return get_args(hint) if get_origin(hint) is Literal else ()

    @property
    def is_file(self) -> bool:
        """Whether its value names a file or a folder."""
        return "'file'" in repr(self.hint)

    def checked(self, value: Any, *, typed: bool = False) -> Any:
        """The value as its type wants it, or `SettingError`; in a `typed` one, numbers are spelt out."""
        raw = plain(value)
        if self.shape in {"list", "groups"} and isinstance(raw, str | int | float):
            raw = (raw,)
        try:
            if self.shape == "pairs":
                raw = _dict_of(raw)
            if self.parse is not None:
                raw = _parsed(self.parse, raw)
            made = msgspec.convert(raw, self.hint, strict=not typed)
        except SettingError:
            raise
        except (msgspec.ValidationError, ValueError, TypeError):
            culprit = self._culprit(value, raw, typed)
            allowed = self.allowed + self.several(typed)
            raise SettingError(f"found {shown(culprit)}. Allowed: {allowed}.{self._hint(culprit)}") from None
        return plain(made) if self.shape in {"list", "groups"} else made

    def from_texts(self, texts: Sequence[str]) -> Any:
        """The value of what was typed, perhaps several times: lists by commas or repeated."""
        if self.shape in {"one", "flag"}:
            different = list(dict.fromkeys(texts))
            if len(different) > 1:
                raise SettingError(f"given twice, as {' and '.join(map(repr, different))}. Allowed: one value.")
            return self.checked(texts[-1], typed=True)
        if self.shape == "groups":
            return self.checked([split_list(text) for text in texts], typed=True)
        parts: list[Any] = list(texts) if self.whole else [part for text in texts for part in split_list(text)]
        if self.shape == "pairs":
            parted = [part.partition("=") for part in parts]
            parts = [(name.strip(), text.strip() if equals else None) for name, equals, text in parted]
        return self.checked(parts, typed=True)

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        if self.shape in {"list", "groups", "pairs"}:
            inner = _words(get_args(self.kind)[0])
            return self.metavar if inner == "a text" and self.metavar else inner
        words = _words(self.hint)
        return f"{words}, such as {self.metavar}" if "%" in self.metavar else words

    def several(self, typed: bool) -> str:
        """How several values are given, if there may be several."""
        if not typed:
            return {"list": ", one or a list of them", "pairs": ", as a dict"}.get(self.shape, "")
        if self.whole or self.shape == "groups":
            return " (repeat for several)"
        return " (several by commas or repeated)" if self.shape in {"list", "pairs"} else ""

    def _culprit(self, value: Any, raw: Any, typed: bool) -> Any:
        """The one entry of a collection that does not fit, else all of it."""
        kinds = get_args(self.kind)
        if self.shape == "pairs" and isinstance(raw, Mapping):
            for key, item in raw.items():
                if not _fits(key, kinds[0], typed) or not _fits(item, kinds[1], typed):
                    return key if item is None else f"{key}={item}"
        elif self.shape == "list" and isinstance(raw, tuple):
            for item in raw:
                if not _fits(item, kinds[0], typed):
                    return item
        elif self.shape == "groups" and typed and isinstance(raw, tuple):
            return next(",".join(item) for item in raw if not _fits(item, kinds[0], typed))
        return value

    def _hint(self, value: Any) -> str:
        """The nearest of the words that it takes, or a warning of numbers that are counted in two ways."""
        if not isinstance(value, str) or not self.choices:
            return ""
        if "tiling" in self.choices and re.fullmatch("[0-5]", value):
            return " A bare number counts differently here (1 is exact) and in CLUEval (1 is contained)."
        return did_you_mean(value.partition("=")[0], self.choices)


def words(*known: str) -> Meta:
    """What a text is limited to that is one of some words, where a type checker need not know them."""
    return Meta(pattern=f"^({'|'.join(known)})$", description=", ".join(known), extra={"words": known})


def setting(default: Value, help: str, option: str = "", metavar: str = "", **more: Any) -> Value:  # noqa: A002
    """A field that is a setting; `more` stands at `Setting`."""
    for name in ("schemes", "commands", "keys"):
        if name in more:
            more[name] = tuple(more[name].split())
    declared = Setting(help=help, option=option, metavar=metavar, **more)
    made: Any = dataclasses.field(metadata={_DECLARED: declared})
    if isinstance(default, dict):
        made.default_factory = dict
    else:
        made.default = default
    return cast(Value, made)


SECTIONS: list[Any] = []  # the classes, in the order in which they are declared


class Section:
    """Settings that belong together: checked when they are made, listed in the `help()` of their class.

    `section`  the name that config and `--set` have for it
    `commands`, `heading`, `keys`, `needs`  what holds for each of its settings that does not say otherwise
    """

    usual: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(
        cls, section: str = "", commands: str = "", heading: str = "", keys: str = "", needs: str = "", **more: Any
    ) -> None:
        super().__init_subclass__(**more)
        if not section:  # more fields for one that is declared already
            return
        cls.usual = {
            "section": section,
            "commands": tuple(commands.split()),
            "heading": heading or section.capitalize(),
            "keys": tuple(keys.split()),
            "needs": needs,
        }
        rows = [f"`{name}`  {field.metadata[_DECLARED].help}" for name, field in _declared_in(vars(cls).items())]
        text, _, examples = (cls.__doc__ or "").partition("\n\n    >>>")
        parts = [text, "    " + "\n    ".join(rows)]
        cls.__doc__ = "\n\n".join([*parts, f"    >>>{examples}"] if examples else [*parts])
        SECTIONS.append(cls)

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for each in settings_of(kind):
            value = getattr(self, each.name)
            if value is each.default:
                continue
            try:
                keep(self, **{each.name: each.checked(value)})
            except SettingError as wrong:
                raise OptionError(f"{each.name}: {wrong}") from None


def _declared_in(items: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [(name, field) for name, field in items if _DECLARED in getattr(field, "metadata", {})]


@cache
def settings_of(cls: Any) -> tuple[Setting, ...]:
    """The settings of a section, in the order in which they are declared."""
    hints = get_type_hints(cls, include_extras=True)
    made = []
    for name, field in _declared_in(cls.__dataclass_fields__.items()):
        declared = field.metadata[_DECLARED]
        own = {key: value for key, value in cls.usual.items() if not getattr(declared, key)}
        if own.get("needs") == f"{cls.usual['section']}.{name}":
            del own["needs"]  # it needs itself least of all
        default = {} if field.default is dataclasses.MISSING else field.default
        made.append(dataclasses.replace(declared, **own, name=name, hint=hints[name], default=default))
    return tuple(made)


@cache
def all_settings() -> Mapping[str, Setting]:
    """Every setting by its key."""
    return {each.key: each for cls in SECTIONS for each in settings_of(cls) if not each.inner}


def settings_called(word: str) -> list[Setting]:
    """The settings of all sections that are called so, with hyphens or without."""
    return [each for each in all_settings().values() if word.strip().replace("-", "_") in each.words]


def keep(options: object, **values: object) -> None:
    """Put values into options that are being made, which nobody can change afterwards."""
    for name, value in values.items():
        object.__setattr__(options, name, value)


def split_list(text: str) -> list[str]:
    """The parts of a list such as `anna, ben`.

    >>> split_list("anna, ben,")
    ['anna', 'ben']
    """
    return [part.strip() for part in text.split(",") if part.strip()]


def _dict_of(raw: Any) -> dict[Any, Any]:
    """A mapping, or pairs, as a dict; a name with two values is refused."""
    if isinstance(raw, Mapping):
        return dict(raw)
    if isinstance(raw, str) or any(isinstance(pair, str) for pair in raw):
        raise ValueError("no pairs")
    made: dict[Any, Any] = {}
    for name, value in raw:
        if made.setdefault(name, value) != value:
            raise SettingError(f"{name!r} is given twice, as {made[name]!r} and {value!r}. Allowed: each name once.")
    return made


def _parsed(parse: Callable[[str], Any], raw: Any) -> Any:
    """A value, or every entry of a collection, with its texts understood."""
    if isinstance(raw, Mapping):
        return {key: _parsed(parse, item) for key, item in raw.items()}
    if isinstance(raw, tuple):
        return tuple(_parsed(parse, item) for item in raw)
    return parse(raw) if isinstance(raw, str) else raw


def plain(value: Any) -> Any:
    """A value without types that mean the same: numbers of numpy, paths, sets, the entries of a series."""
    made = value
    if value is None or isinstance(value, str | bytes | bool) or dataclasses.is_dataclass(value):
        pass
    elif isinstance(value, os.PathLike):
        made = os.fspath(value)
    elif isinstance(value, Integral):
        made = int(value)
    elif isinstance(value, Real):
        made = float(value)
    elif isinstance(value, Mapping):
        made = {plain(key): plain(item) for key, item in value.items()}
    elif isinstance(value, Iterable) and not hasattr(value, "columns"):
        items = sorted(value, key=str) if isinstance(value, AbstractSet) else value
        made = tuple(plain(item) for item in items)
    return made


def _fits(value: Any, hint: Any, typed: bool) -> bool:
    try:
        msgspec.convert(value, hint, strict=not typed)
    except (msgspec.ValidationError, TypeError):
        return False
    return True


def _bare(hint: Any) -> Any:
    """A type without what constrains it and without None."""
    if get_origin(hint) is Annotated:
        return _bare(get_args(hint)[0])
    others = [part for part in get_args(hint) if part is not type(None)]
    if type(None) in get_args(hint) and len(others) == 1:
        return _bare(others[0])
    return hint


_KINDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _words(hint: Any) -> str:
    """What a type takes, in words.

    >>> _words(Annotated[int, Meta(ge=1)] | None), _words(Literal["a", "b"])
    ('a whole number from 1', 'a, b')
    """
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        limits = [meta for meta in metas if isinstance(meta, Meta)]
        told = [meta.description for meta in limits if meta.description]
        return told[0] if told else " ".join([_words(inner), *map(_range, limits)]).strip()
    if get_origin(hint) is Literal:
        return ", ".join(get_args(hint))
    others = [_words(part) for part in get_args(hint) if part is not type(None)]
    return " or ".join(others) if others else _KINDS.get(hint, "a value")


def _range(meta: Meta) -> str:
    parts = []
    if meta.ge is not None:
        parts.append(f"from {meta.ge:,}")
    if meta.gt is not None:
        parts.append(f"more than {meta.gt:,}")
    if meta.le is not None:
        parts.append(f"up to {meta.le:,}")
    return " ".join(parts)


def shown(given: object) -> str:
    """What was found, as short as a message wants it; of large things only what they are.

    >>> shown("exactly"), shown([1, 2]), shown(list(range(99)))
    ("'exactly'", '[1, 2]', 'list')
    """
    number = given is None or isinstance(given, Real)
    small = isinstance(given, str | bytes | list | tuple | dict | set | frozenset) and len(given) < _SHOWN
    text = repr(given) if number or small else ""
    return text if text and len(text) <= _SHOWN and "\n" not in text else type(given).__name__
