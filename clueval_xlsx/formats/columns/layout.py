"""How a token file is laid out: what separates columns, which holds the token, and the column or key of the tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clueval_xlsx.corpus.tags import OUTSIDE, OUTSIDE_MARKS, parse_tag
from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.formats.columns.cells import TagPlace, parts_of
from clueval_xlsx.formats.columns.structure import LineRules, conll_mark
from clueval_xlsx.formats.registry import DEFAULT_COLUMN, ONE_SIDE
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

TOKEN_NAMES = frozenset({"token", "tokens", "word", "words", "form", "wordform"})
_SAMPLE = 2000  # token lines that are looked at first; if they hold no tag, all are
_BYTES = 1 << 20
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.+)")
_BLANKS = re.compile(r"[ \t]+")  # what separates columns; a no-break space belongs to its token
_INDEX = re.compile(r"\d+(?:[-.]\d+)?")
_PAIR = re.compile(r"\d+-(\d+)")  # sentence and token, as WebAnno TSV 2 counts them
_LABEL = re.compile(r"[^\W\d_][\w.:/+-]*")
_MISC_KEY = re.compile(r"(?:^|\|)([A-Za-z][\w.:-]*)=")
_CONLLU = 10  # columns of CoNLL-U, the last of which holds keys
_MOST_LABELS = 200
_OTHERWISE = re.compile(r"[BIESLUM][_.:/].+|.+[-_.:/][BIESLUM]")  # B_PER, PER-B: tags as other tools write them
_BRACKETS = re.compile(r"(?:\([\w-]+)*\*\)*|(?:\([\w-]+)+\)+")  # (PERSON*, *), (GPE): spans as OntoNotes writes them


@dataclass(frozen=True)
class Layout:
    """What was asked for, and where it was found in this file. Columns are counted from 1."""

    asked: ReadOptions = field(default_factory=ReadOptions)
    conll: bool = False
    token: int = 1
    places: Mapping[str, TagPlace] = field(default_factory=dict)
    space_column: int | None = None
    indexed: bool = False  # column 1 counts the tokens of each sentence
    header: bytes = b""
    tabs: bool = True
    shared: int = 0  # the number of columns that every line has; 0 where they differ

    @property
    def text_columns(self) -> dict[str, int]:
        """The columns besides the token that are read as text, with the words that name them in a message."""
        asked = self.asked
        numbers: dict[str, int | None] = {f"column {name}": number for name, number in asked.columns.items()}
        numbers |= {"token ID": asked.token_id, "document ID": asked.document_id, "sentence ID": asked.sentence_id}
        numbers["spacing"] = self.space_column
        return {name: number for name, number in numbers.items() if number is not None}

    @property
    def columns(self) -> dict[str, int]:
        """Every column that is read, with the words that name it in a message."""
        tags = {f"layer {name}": place.column for name, place in self.places.items()}
        return {"token": self.token, **tags, **self.text_columns}

    @property
    def rules(self) -> LineRules:
        """Which lines are no tokens."""
        return LineRules(self.conll, self.indexed, self.header, max(self.columns.values()), self.shared)


@dataclass(frozen=True)
class Sample:
    """The cells of the first lines that are tokens, whether a sentence begins before each, and what was seen of all."""

    rows: list[list[str]]
    fresh: list[bool]
    names: tuple[str, ...] = ()
    header: bytes = b""
    tabs: bool = True
    shared: int = 0

    @property
    def width(self) -> int:
        """How many columns most lines have, the larger number of equals."""
        counts = Counter(map(len, self.rows))
        return max(counts, key=lambda size: (counts[size], size), default=0)

    def column(self, number: int) -> list[str]:
        """The cells of a column."""
        return [row[number - 1] for row in self.rows if len(row) >= number]

    def only(self, wanted: Sequence[bool]) -> Sample:
        """The same with some of the lines."""
        rows = [row for row, keep in zip(self.rows, wanted, strict=True) if keep]
        return replace(self, rows=rows, fresh=[fresh for fresh, keep in zip(self.fresh, wanted, strict=True) if keep])


def find_layout(data: bytes, begin: int, asked: ReadOptions, name: str, *, conll: bool, tabs_only: bool) -> Layout:
    """Look at the first lines of a file, or at all of it where those hold no tag."""
    for most in (_SAMPLE, None):
        sample = _take_sample(data, begin, most, conll=conll, tabs_only=tabs_only)
        finder = _Finder(sample, asked, name, conll=conll, last=most is None or len(sample.rows) < most)
        places = finder.places()
        if places is not None:
            break
    assert places is not None, "the whole file gives an answer"
    spacing = asked.space_column or finder.misc
    return Layout(
        asked, conll, finder.token, places, spacing, finder.indexed, sample.header, sample.tabs, sample.shared
    )


# -- the sample


def _take_sample(data: bytes, begin: int, most: int | None, *, conll: bool, tabs_only: bool) -> Sample:
    pieces = data[begin : None if most is None else begin + _BYTES].split(b"\n")
    if most is not None and len(data) > begin + _BYTES:
        pieces.pop()
    lines: list[str] = []
    starts: list[bool] = []
    names: tuple[str, ...] = ()
    fresh = True
    for piece in pieces:
        line = piece.rstrip(b"\r\0").decode("utf-8", "replace")
        declared = _GLOBAL_COLUMNS.match(line)
        if declared:
            names = tuple(declared[1].split())
        elif not line.strip().strip("\ufeff"):
            fresh = True
        elif not _is_structure(line, conll=conll):
            lines.append(line)
            starts.append(fresh)
            fresh = False
            if most is not None and len(lines) > most:
                break
    tabs = tabs_only or not conll or _by_tabs(lines)
    rows = [line.split("\t") if tabs else blank_cells(line) for line in lines]
    widths = {len(row) for row in rows if not _is_remark(row)}
    header = lines[0].encode() if rows and _is_header(rows[0]) else b""
    sample = Sample(rows, starts, names, header, tabs, widths.pop() if conll and len(widths) == 1 else 0)
    if header:
        sample = replace(sample, names=tuple(cell.strip() for cell in rows[0]), rows=rows[1:], fresh=starts[1:])
    if sample.shared:  # a line with # that has another number of columns is a comment
        wide = [len(row) == sample.shared or _is_tag(row[-1]) or not _is_remark(row) for row in sample.rows]
        sample = sample.only(wide)
    return sample


def blank_cells(line: str) -> list[str]:
    """The columns of a line that blanks separate.

    >>> blank_cells("10\\u00a0000  O ")
    ['10\\xa0000', 'O']
    """
    return _BLANKS.split(line.strip(" \t"))


def _is_structure(line: str, *, conll: bool) -> bool:
    if conll:
        return conll_mark(line.encode(), len(blank_cells(line)), LineRules(conll=True, columns=2)) is not None
    return line.startswith("<") and "\t" not in line and line.rstrip().endswith(">")


def _is_remark(row: Sequence[str]) -> bool:
    return row[0].lstrip(" ").startswith("#")


def _by_tabs(lines: Sequence[str]) -> bool:
    """Whether only tabs separate columns: blanks would cut lines into different numbers of them."""
    blanks = {len(blank_cells(line)) for line in lines if not line.startswith("#")}
    tabs = {line.count("\t") for line in lines if not line.startswith("#")}
    return len(blanks) > 1 and len(tabs) == 1 and tabs != {0}


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a first line names the columns: one is called token or the like, and none holds a tag."""
    names = {cell.strip().strip('"').casefold() for cell in cells}
    return bool(TOKEN_NAMES & names) and not any(_is_tag(cell.strip()) for cell in cells)


def _is_tag(cell: str) -> bool:
    return cell in OUTSIDE_MARKS or (cell[1:2] == "-" and parse_tag(cell) is not None)


# -- where things stand


class _Finder:
    """Finds the columns of one sample; with `last` there is no larger sample that could tell more."""

    def __init__(self, sample: Sample, asked: ReadOptions, name: str, *, conll: bool, last: bool) -> None:
        self.asked, self.name, self.conll, self.last = asked, name, conll, last
        self.names = sample.names
        counted = _counts_tokens(sample)
        self.indexed = counted and asked.token is None and not sample.names
        self.token = self._token(sample)
        keyed = sample.width == _CONLLU and counted
        self.misc = self._named("MISC") or (_CONLLU if keyed else None)
        self.indexed = self.indexed or (counted and conll and self.token > 1)
        if self.indexed:
            sample = sample.only([row[0].isdigit() for row in sample.rows])
        self.sample, self.width = sample, sample.width
        taken = {self.token, *Layout(asked, space_column=asked.space_column).text_columns.values()}
        self.free = [number for number in range(1, self.width + 1) if number not in taken]

    def _token(self, sample: Sample) -> int:
        asked = self.asked.token
        if isinstance(asked, int):
            return asked
        names = [each.strip('"') for each in self.names]
        if asked is not None:
            number = self._named(asked)
            if number is None:
                known = f"Columns: {', '.join(names)}" if names else "There is no header: give a number"
                raise OptionError(
                    f"{self.name}: --token {asked}: there is no column of this name.{did_you_mean(asked, names)} "
                    f"{known}."
                )
            return number
        for number, each in enumerate(names, 1):
            if each.casefold() in TOKEN_NAMES:
                return number
        pairs = [_PAIR.fullmatch(row[0]) for row in sample.rows]
        paired = sample.width > 2 and bool(pairs) and all(pairs) and pairs[0] is not None and pairs[0][1] == "1"
        return 2 if self.indexed or paired else 1

    def _named(self, wanted: str) -> int | None:
        """The column of this name in the header."""
        for names in ([each.strip('"') for each in self.names], [each.strip('"').casefold() for each in self.names]):
            if wanted in names:
                return names.index(wanted) + 1
            wanted = wanted.casefold()
        return None

    def _keys(self, column: int | None) -> dict[str, list[str]]:
        """The keys of a column's cells, each with its values."""
        keys: dict[str, list[str]] = {}
        for cell in self.sample.column(column) if column is not None else ():
            for part in cell.split("|"):
                key, equals, value = part.partition("=")
                if equals and _MISC_KEY.match(part):
                    keys.setdefault(key, []).append(value)
        return keys

    def _place(self, column: int, key: str = "") -> TagPlace:
        return TagPlace(column, key, plain=_holds_labels(set(self.sample.column(column))))

    def places(self) -> dict[str, TagPlace] | None:
        """Where each layer's tags stand; None where a larger sample may tell."""
        if self.asked.text_only:
            return {}
        if not self.asked.layers:
            only = self._only_tags("")
            return None if only is None else {DEFAULT_LAYER: only}
        places = {}
        for layer, wanted in self.asked.layers.items():
            place = self._place(wanted) if isinstance(wanted, int) else self._by_name(wanted or layer)
            if place is None and wanted is None and len(self.asked.layers) == 1:
                place = self._only_tags(layer)
            elif place is None and self.last:
                raise OptionError(self._unknown(layer, wanted))
            if place is None:
                return None  # a key may turn up later
            places[layer] = place
        return places

    def _by_name(self, wanted: str) -> TagPlace | None:
        """A column by the header's name, or a key of a column: `KEY`, `MISC:KEY` or `10:KEY`."""
        number = self._named(wanted)
        if number is not None:
            return self._place(number)
        holder, colon, key = wanted.rpartition(":")
        if colon:
            column = int(holder) if holder.isdigit() else self._named(holder)
            if column is None and holder.casefold() == "misc":
                column = self.misc or self.width or None
            return None if column is None else TagPlace(column, key)
        return TagPlace(self.misc, wanted) if self.misc is not None and wanted in self._keys(self.misc) else None

    def _unknown(self, layer: str, asked: int | str | None) -> str:
        names = f" or name ({', '.join(self.names)})" if self.names else ""
        keys = ", ".join(self._keys(self.misc))
        held = f"; keys of column {self.misc}: {keys}" if keys else ""
        return (
            f"{self.name}: --layer {layer}{f'={asked}' if asked else ''}: here a layer is a column of tags."
            f"{did_you_mean(str(asked or layer), self.names)} Give its number{names}, "
            f"such as {layer}={DEFAULT_COLUMN}{held}{ONE_SIDE}."
        )

    def _tag_places(self) -> list[TagPlace]:
        """Every column, failing that every key, and failing that every column of labels, that holds nothing else."""
        cells = {number: set(self.sample.column(number)) for number in self.free}
        places = [TagPlace(number) for number in self.free if _holds_tags(cells[number])]
        if not places and self.misc is not None:
            keys = self._keys(self.misc).items()
            places = [TagPlace(self.misc, key) for key, values in keys if _holds_tags(set(values))]
        return places or [TagPlace(number, plain=True) for number in self.free if _holds_labels(cells[number])]

    def _only_tags(self, layer: str) -> TagPlace | None:
        """The one place that holds tags; None where a larger sample may have it."""
        places = self._tag_places()
        if len(places) > 1:
            raise InputError(self._several(places, layer))
        if places:
            self._refuse_other_tags(places[0])
            return places[0]
        if not self.last and len(self.free) > 1:
            return None
        # CoNLL-U writes _ where a column says nothing, tags or not.
        least = {OUTSIDE} if self.misc is not None and not self.names else set()
        empty = [number for number in self.free if least <= set(self.sample.column(number)) <= OUTSIDE_MARKS]
        usual = max(self.width, DEFAULT_COLUMN) if self.conll else DEFAULT_COLUMN
        chosen = empty[0] if empty else self.token + 1
        if self.token == 1 and (usual in empty or not empty):
            chosen = usual
        tagged = any(_is_tag_cell(cell) for cell in self.sample.column(chosen))
        if len(self.free) > 1 and (not tagged or any(map(self._in_brackets, self.free))):
            raise InputError(self._none())
        return TagPlace(chosen)

    def _refuse_other_tags(self, place: TagPlace) -> None:
        """Refuse labels that are tags written otherwise: taken as labels, every token would be a span."""
        marked = sorted(set(self.sample.column(place.column)) - OUTSIDE_MARKS)
        if place.plain and all(map(_OTHERWISE.fullmatch, marked)):
            raise InputError(
                f"{self.name}: column {place.column} holds {', '.join(map(repr, marked[:3]))}, which look like tags, "
                "but are not written as such. Allowed: B-LABEL, I-LABEL, O. Rewrite them."
            )

    def _in_brackets(self, column: int) -> bool:
        cells = set(self.sample.column(column))
        return "*" in cells and len(cells) > 1 and all(map(_BRACKETS.fullmatch, cells))

    def _none(self) -> str:
        """What the columns hold where none holds tags."""
        brackets = [number for number in self.free if self._in_brackets(number)]
        if brackets:
            return (
                f"{self.name}: column {brackets[-1]} holds spans in brackets, as OntoNotes (CoNLL-2012) has them, "
                "which are not read. Allowed: a column of tags (O, B-LABEL, I-LABEL). Convert the file."
            )
        listed = "; ".join(f"column {number}: {_most_common(self.sample.column(number))}" for number in self.free[:12])
        keys = ", ".join(self._keys(self.misc))
        listed += f" (keys: {keys})" if keys else ""
        return (
            f"{self.name}: no column holds tags. {listed}. Allowed: a column of tags (O, B-LABEL, I-LABEL). Choose one "
            f"(--layer {DEFAULT_LAYER}=COLUMN), or convert the file."
        )

    def _several(self, places: Sequence[TagPlace], layer: str) -> str:
        """What each of several places holds, and how to choose one."""
        described, calls, together = [], [], []
        for place in places:
            cells = self._keys(place.column)[place.key] if place.key else self.sample.column(place.column)
            named = self.names[place.column - 1] if not place.key and len(self.names) >= place.column else ""
            title = f"key {place.key} of column {place.column}" if place.key else f"column {place.column}"
            title += f" ({named})" if named else ""
            described.append(f"{title}: {_most_common([cell for cell in cells if cell not in OUTSIDE_MARKS])}")
            suggested = place.key or f"layer{place.column}"
            calls.append(f"--layer {named or f'{layer or suggested}={place}'}")
            # The name that was given is one layer's alone.
            apart = layer and not self.names and len(calls) > 1
            together.append(f"--layer {suggested}={place}" if apart else calls[-1])
        hint = f" No column is called {layer!r}.{did_you_mean(layer, self.names)}" if layer and self.names else ""
        return (
            f"{self.name}: {len(places)} columns hold tags.{hint} {'; '.join(described)}. Choose one: "
            f"{' or '.join(calls)}; several are merged: {' '.join(together)}{ONE_SIDE}."
        )


def _most_common(cells: Sequence[str]) -> str:
    return ", ".join(cell for cell, _ in Counter(cells).most_common(3))


def _counts_tokens(sample: Sample) -> bool:
    """Whether column 1 counts the tokens of each sentence."""
    if sample.width < 3 or not sample.rows or sample.rows[0][0].split("-")[0] not in {"0", "1"}:
        return False
    before, counted = -1, 0
    for row, fresh in zip(sample.rows, sample.fresh, strict=True):
        if not _INDEX.fullmatch(row[0]):
            return False
        if row[0].isdigit():
            number = int(row[0])
            if number > 1 and (fresh or number != before + 1):
                return False
            before, counted = number, counted + 1
    return counted > 0


def _holds_tags(cells: set[str]) -> bool:
    """Whether cells are tags, one at least with a prefix and a label."""
    marked = cells - OUTSIDE_MARKS
    return all(map(_is_tag_cell, marked)) and any(cell[1:2] == "-" for cell in marked)


def _is_tag_cell(cell: str) -> bool:
    return all(part in OUTSIDE_MARKS or parse_tag(part) is not None for part in parts_of(cell))


def _holds_labels(cells: set[str]) -> bool:
    """Whether cells are labels without prefixes, and O."""
    marked = cells - OUTSIDE_MARKS
    if OUTSIDE not in cells or not 0 < len(marked) <= _MOST_LABELS:
        return False
    return all(_LABEL.fullmatch(cell) and parse_tag(cell) is None and cell[1:2] != "-" for cell in marked)
