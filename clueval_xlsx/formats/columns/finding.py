"""What the columns of a token file are: the token, the header's names, and the column or key that holds tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clueval_xlsx.corpus.corpus import LineOrigin
from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, parse_tag
from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.formats.columns.cells import TagPlace, parts_of
from clueval_xlsx.formats.columns.sampled_lines import TOKEN_NAMES, SampledLines, take_sample
from clueval_xlsx.formats.columns.structure import LineRules
from clueval_xlsx.formats.options import DEFAULT_COLUMN, ONE_SIDE
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

_SAMPLE = 2000  # token lines that are looked at first; if they hold no tag, all are
_INDEX = re.compile(r"\d+(?:[-.]\d+)?")
_PAIR = re.compile(r"\d+-(\d+)")
_LABEL = re.compile(r"[^\W\d_][\w.:/+-]*")
_MISC_KEY = re.compile(r"(?:^|\|)([A-Za-z][\w.:-]*)=")
_CONLLU = 10  # columns of CoNLL-U, the last of which holds keys
_MOST_LABELS = 200
_OTHERWISE = re.compile(r"[BIESLUM][_.:/].+|.+[-_.:/][BIESLUM]")  # B_PER, PER-B: tags as other tools write them
_BRACKETS = re.compile(r"(?:\([\w-]+)*\*\)*|(?:\([\w-]+)+\)+")  # (PERSON*, *), (GPE): spans as OntoNotes writes them


@dataclass(frozen=True)
class WantedColumns:
    """What somebody asked for: layers by column, name or key (None: that of the layer's name), and the token."""

    layers: Mapping[str, int | str | None] = field(default_factory=dict)
    token: int | str | None = None
    others: frozenset[int] = frozenset()  # columns that are read for something else
    text_only: bool = False
    tabs_only: bool = False


@dataclass(frozen=True)
class FoundColumns:
    """What there is: where the token and the tags stand, the header, and how columns are separated."""

    token: int
    layers: Mapping[str, TagPlace]
    names: tuple[str, ...] = ()
    header: bytes = b""
    indexed: bool = False
    tabs: bool = True
    shared: int = 0  # the number of columns that every line has; 0 where they differ
    misc: int | None = None  # the column that says where there is no space, and other things by key


def find_columns(data: bytes, begin: int, wanted: WantedColumns, name: str, *, conll: bool) -> FoundColumns:
    """Look at the beginning of a file, or at all of it where that holds no tag."""
    for most in (_SAMPLE, None):
        sample = take_sample(data, begin, most, conll=conll, tabs_only=wanted.tabs_only)
        found = _find(sample, wanted, name, conll=conll, last=most is None or len(sample.rows) < most)
        if found is not None:
            return found
    raise AssertionError("the whole file gives an answer")


def _find(sample: SampledLines, wanted: WantedColumns, name: str, *, conll: bool, last: bool) -> FoundColumns | None:
    indexed = wanted.token is None and not sample.names and _is_indexed(sample)
    token = _token_column(sample, wanted.token, name, indexed=indexed)
    misc = _misc_column(sample)
    indexed = indexed or (conll and token > 1 and _is_indexed(sample))
    if indexed:
        numbered = [(row, start) for row, start in zip(sample.rows, sample.starts, strict=True) if row[0].isdigit()]
        sample = SampledLines(
            tuple(row for row, _ in numbered),
            tuple(start for _, start in numbered),
            sample.names,
            sample.header,
            sample.tabs,
            sample.shared,
        )
    layers = _layers(sample, wanted, _Columns(token, misc, conll), name, last=last)
    if layers is None:
        return None
    return FoundColumns(token, layers, sample.names, sample.header, indexed, sample.tabs, sample.shared, misc)


@dataclass(frozen=True)
class _Columns:
    token: int
    misc: int | None
    conll: bool


def _is_indexed(sample: SampledLines) -> bool:
    """Whether column 1 counts the tokens of each sentence."""
    if sample.width < 3 or not sample.rows:
        return False
    before = -1
    counted = 0
    for row, start in zip(sample.rows, sample.starts, strict=True):
        if not _INDEX.fullmatch(row[0]):
            return False
        if not row[0].isdigit():
            continue
        number = int(row[0])
        if number > 1 and number != before + 1:
            return False
        if start and number > 1:
            return False
        before, counted = number, counted + 1
    return counted > 0 and sample.rows[0][0].split("-")[0] in {"0", "1"}


def _token_column(sample: SampledLines, wanted: int | str | None, name: str, *, indexed: bool) -> int:
    if isinstance(wanted, int):
        return wanted
    names = [each.strip('"') for each in sample.names]
    if isinstance(wanted, str):
        number = _named(names, wanted)
        if number is None:
            known = f"Columns: {', '.join(names)}" if names else "There is no header: give a number"
            raise OptionError(
                f"{name}: --token {wanted}: there is no column of this name.{did_you_mean(wanted, names)} {known}."
            )
        return number
    known_names = [number for number, each in enumerate(names, 1) if each.casefold() in TOKEN_NAMES]
    return known_names[0] if known_names else 2 if indexed or _counts_in_sentences(sample) else 1


def _counts_in_sentences(sample: SampledLines) -> bool:
    """Whether column 1 holds the number of the sentence and of the token in it (`3-1`), as WebAnno TSV 2 has them."""
    pairs = [_PAIR.fullmatch(row[0]) for row in sample.rows]
    return sample.width > 2 and bool(pairs) and all(pairs) and pairs[0] is not None and pairs[0][1] == "1"


def _named(names: Sequence[str], wanted: str) -> int | None:
    if wanted in names:
        return list(names).index(wanted) + 1
    folded = [each.casefold() for each in names]
    return folded.index(wanted.casefold()) + 1 if wanted.casefold() in folded else None


def _misc_column(sample: SampledLines) -> int | None:
    """The column of keys: called MISC, or the last of CoNLL-U's ten."""
    named = _named(sample.names, "MISC")
    if named is not None:
        return named
    if sample.width == _CONLLU and _is_indexed(sample):
        return _CONLLU
    return None


def _layers(
    sample: SampledLines, wanted: WantedColumns, columns: _Columns, name: str, *, last: bool
) -> dict[str, TagPlace] | None:
    if wanted.text_only:
        return {}
    if not wanted.layers:
        place = _only_tags(sample, wanted, columns, name, last=last)
        return None if place is None else {DEFAULT_LAYER: place}
    found = {}
    for layer, asked in wanted.layers.items():
        if isinstance(asked, int):
            found[layer] = _with_plain(sample, TagPlace(asked))
            continue
        place = _by_name(sample, str(asked if asked is not None else layer), columns)
        if place is None and asked is None and len(wanted.layers) == 1:
            place = _only_tags(sample, wanted, columns, name, last=last, layer=layer)
            if place is None:
                return None
        if place is None:
            if not last:
                return None  # a key may turn up later
            raise OptionError(_unknown_layer(sample, layer, asked, columns, name))
        found[layer] = place
    return found


def _by_name(sample: SampledLines, wanted: str, columns: _Columns) -> TagPlace | None:
    """A column by the header's name, or a key of a column: `KEY`, `MISC:KEY` or `10:KEY`."""
    number = _named(sample.names, wanted)
    if number is not None:
        return _with_plain(sample, TagPlace(number))
    holder, colon, key = wanted.rpartition(":")
    if colon:
        column = int(holder) if holder.isdigit() else _named(sample.names, holder)
        if column is None and holder.casefold() == "misc":
            column = columns.misc or (sample.width or None)
        return None if column is None else TagPlace(column, key)
    if columns.misc is not None and wanted in _keys(sample, columns.misc):
        return TagPlace(columns.misc, wanted)
    return None


def _unknown_layer(sample: SampledLines, layer: str, asked: str | None, columns: _Columns, name: str) -> str:
    names = f" or name ({', '.join(sample.names)})" if sample.names else ""
    keys = ", ".join(_keys(sample, columns.misc)) if columns.misc is not None else ""
    held = f"; keys of column {columns.misc}: {keys}" if keys else ""
    return (
        f"{name}: --layer {layer}{f'={asked}' if asked else ''}: here a layer is a column of tags."
        f"{did_you_mean(asked or layer, sample.names)} Give its number{names}, "
        f"such as {layer}={DEFAULT_COLUMN}{held}{ONE_SIDE}."
    )


def _keys(sample: SampledLines, column: int) -> dict[str, list[str]]:
    """The keys of a column's cells, each with its values."""
    found: dict[str, list[str]] = {}
    for cell in sample.column(column):
        for part in cell.split("|"):
            key, equals, value = part.partition("=")
            if equals and _MISC_KEY.match(part):
                found.setdefault(key, []).append(value)
    return found


def _tag_places(sample: SampledLines, wanted: WantedColumns, columns: _Columns) -> list[TagPlace]:
    """Every column, and failing that every key, that holds tags and nothing else."""
    skipped = {columns.token, *wanted.others}
    numbers = [number for number in range(1, sample.width + 1) if number not in skipped]
    cells = {number: set(sample.column(number)) for number in numbers}
    found = [TagPlace(number) for number in numbers if _holds_tags(cells[number])]
    if not found and columns.misc is not None:
        keys = _keys(sample, columns.misc)
        found = [TagPlace(columns.misc, key) for key, values in keys.items() if _holds_tags(set(values))]
    if not found:
        plain = [number for number in numbers if _holds_labels(cells[number])]
        found = [TagPlace(number, plain=True) for number in plain]
    return found


def _refuse_other_tags(sample: SampledLines, place: TagPlace, name: str) -> None:
    """Refuse labels that are tags written otherwise: taken as labels, every token would be a span."""
    marked = sorted(set(sample.column(place.column)) - OUTSIDE_MARKS)
    if place.plain and all(_OTHERWISE.fullmatch(cell) for cell in marked):
        raise InputError(
            f"{name}: column {place.column} holds {', '.join(map(repr, marked[:3]))}, which look like tags, but are "
            "not written as such. Allowed: B-LABEL, I-LABEL, O. Rewrite them."
        )


def _holds_tags(cells: set[str]) -> bool:
    """Whether cells are tags, one at least with a prefix and a label."""
    marked = [cell for cell in cells if cell not in OUTSIDE_MARKS]
    return bool(marked) and all(_is_tag_cell(cell) for cell in marked) and any(cell[1:2] == "-" for cell in marked)


def _is_tag_cell(cell: str) -> bool:
    return all(part in OUTSIDE_MARKS or parse_tag(part) is not None for part in parts_of(cell))


def _holds_labels(cells: set[str]) -> bool:
    """Whether cells are labels without prefixes, and O."""
    marked = [cell for cell in cells if cell not in OUTSIDE_MARKS]
    return (
        OUTSIDE in cells
        and 0 < len(marked) <= _MOST_LABELS
        and all(_LABEL.fullmatch(cell) for cell in marked)
        and not any(parse_tag(cell) is not None or cell[1:2] == "-" for cell in marked)
    )


def _with_plain(sample: SampledLines, place: TagPlace) -> TagPlace:
    return TagPlace(place.column, place.key, plain=_holds_labels(set(sample.column(place.column))))


def _only_tags(
    sample: SampledLines, wanted: WantedColumns, columns: _Columns, name: str, *, last: bool, layer: str = ""
) -> TagPlace | None:
    """The one place that holds tags; None where a larger sample may have it."""
    places = _tag_places(sample, wanted, columns)
    if len(places) > 1:
        raise InputError(_several(sample, places, name, layer))
    if places:
        _refuse_other_tags(sample, places[0], name)
        return places[0]
    skipped = {columns.token, *wanted.others}
    free = [number for number in range(1, sample.width + 1) if number not in skipped]
    if not last and len(free) > 1:
        return None
    # CoNLL-U writes _ where a column says nothing, tags or not.
    least = {OUTSIDE} if columns.misc is not None and not sample.names else set()
    empty = [number for number in free if least <= set(sample.column(number)) <= OUTSIDE_MARKS]
    usual = (max(sample.width, DEFAULT_COLUMN) if columns.conll else DEFAULT_COLUMN) if columns.token == 1 else None
    chosen = usual if usual is not None and (usual in empty or not empty) else empty[0] if empty else columns.token + 1
    if len(free) > 1 and (not _has_tag(sample, chosen) or any(_in_brackets(sample, number) for number in free)):
        raise InputError(_none(sample, free, columns, name))
    return TagPlace(chosen)


def _has_tag(sample: SampledLines, column: int) -> bool:
    return any(_is_tag_cell(cell) for cell in sample.column(column))


def _in_brackets(sample: SampledLines, column: int) -> bool:
    cells = set(sample.column(column))
    return "*" in cells and len(cells) > 1 and all(map(_BRACKETS.fullmatch, cells))


def _none(sample: SampledLines, free: Sequence[int], columns: _Columns, name: str) -> str:
    """What the columns hold where none holds tags."""
    brackets = [number for number in free if _in_brackets(sample, number)]
    if brackets:
        return (
            f"{name}: column {brackets[-1]} holds spans in brackets, as OntoNotes (CoNLL-2012) has them, which are not "
            "read. Allowed: a column of tags (O, B-LABEL, I-LABEL). Convert the file."
        )
    held = {number: [cell for cell, _ in Counter(sample.column(number)).most_common(3)] for number in free}
    listed = "; ".join(f"column {number}: {', '.join(cells)}" for number, cells in list(held.items())[:12])
    keys = ", ".join(_keys(sample, columns.misc)) if columns.misc is not None else ""
    listed += f" (keys: {keys})" if keys else ""
    return (
        f"{name}: no column holds tags. {listed}. Allowed: a column of tags (O, B-LABEL, I-LABEL). Choose one "
        f"(--layer {DEFAULT_LAYER}=COLUMN), or convert the file."
    )


def _several(sample: SampledLines, places: Sequence[TagPlace], name: str, layer: str) -> str:
    described, calls = [], []
    for place in places:
        cells = sample.column(place.column)
        if place.key:
            cells = [
                part.partition("=")[2] for cell in cells for part in cell.split("|") if part.startswith(f"{place.key}=")
            ]
        tags = Counter(cell for cell in cells if cell not in OUTSIDE_MARKS)
        title = f"key {place.key} of column {place.column}" if place.key else f"column {place.column}"
        named = sample.names[place.column - 1] if not place.key and len(sample.names) >= place.column else ""
        title += f" ({named})" if named else ""
        described.append(f"{title}: {', '.join(tag for tag, _ in tags.most_common(3))}")
        calls.append(f"--layer {named or f'{layer or _suggested(place)}={place}'}")
    together = calls
    if layer and not sample.names:  # the name that was given is one layer's alone
        together = [calls[0], *(f"--layer {_suggested(place)}={place}" for place in places[1:])]
    hint = f" No column is called {layer!r}.{did_you_mean(layer, sample.names)}" if layer and sample.names else ""
    return (
        f"{name}: {len(places)} columns hold tags.{hint} {'; '.join(described)}. Choose one: {' or '.join(calls)}; "
        f"several are merged: {' '.join(together)}{ONE_SIDE}."
    )


def _suggested(place: TagPlace) -> str:
    return place.key or f"layer{place.column}"


@dataclass(frozen=True)
class TokenFormat:
    """How to read one token file: what was asked for, and where it was found. Columns are counted from 1."""

    asked: ReadOptions = field(default_factory=ReadOptions)
    conll: bool = False
    tabs_only: bool = False
    origin: LineOrigin | None = None
    token_column: int = 1
    space_column: int | None = None
    places: Mapping[str, TagPlace] = field(default_factory=dict)
    rules: LineRules = field(default_factory=LineRules)
    tabs: bool = True

    def on(self, data: bytes, begin: int, name: str) -> TokenFormat:
        """The same with everything found that this file leaves to be found."""
        asked = self.asked
        placed = replace(self, space_column=asked.space_column)
        others = frozenset(placed.wanted_as_text().values())
        wanted = WantedColumns(asked.layers, asked.token, others, text_only=asked.text_only, tabs_only=self.tabs_only)
        found = find_columns(data, begin, wanted, name, conll=self.conll)
        placed = replace(
            placed,
            places=found.layers,
            token_column=found.token,
            tabs=found.tabs,
            space_column=asked.space_column or found.misc,
        )
        least = max([found.token, *placed.wanted().values()])
        rules = LineRules(self.conll, found.indexed, found.header, least, found.shared)
        return replace(placed, rules=rules)

    def wanted(self) -> dict[str, int]:
        """Every column that is read besides the token, with the words that name it in a message."""
        return {**{f"layer {name}": place.column for name, place in self.places.items()}, **self.wanted_as_text()}

    def wanted_as_text(self) -> dict[str, int]:
        """Those of them that are not tags."""
        wanted = {f"column {name}": column for name, column in self.asked.columns.items()}
        for name, column in (
            ("token ID", self.asked.token_id),
            ("document ID", self.asked.document_id),
            ("sentence ID", self.asked.sentence_id),
            ("spacing", self.space_column),
        ):
            if column is not None:
                wanted[name] = column
        return wanted
