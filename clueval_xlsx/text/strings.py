"""Many short strings as slices of one UTF-8 buffer, decoded when somebody looks at them; ranges of places; entities."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Offsets = npt.NDArray[np.int64] | npt.NDArray[np.int32]  # of bytes; a file of less than two gigabytes needs half

PADDING = 8  # zero bytes behind the last character, so that an 8-byte window may start anywhere
_AMPERSAND = ord("&")
_LONG = 32  # bytes; the few strings that are longer are numbered one by one
_AT_ONCE = 1 << 18  # strings
_MIXER = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well spread
_WINDOW_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class Strings:
    """An immutable sequence of strings: `data[start : start + length]`, with `data` zero-padded at the end."""

    data: bytes
    start: Offsets
    length: npt.NDArray[np.int32]
    entities: bool = False

    @classmethod
    def of(cls, values: Iterable[str]) -> Strings:
        """Pack ordinary strings."""
        encoded = [value.encode("utf-8", "surrogatepass") for value in values]
        length = np.array([len(item) for item in encoded], dtype=np.int32)
        start = np.concatenate([[0], np.cumsum(length, dtype=np.int64)[:-1]]) if encoded else np.empty(0)
        return cls(b"".join(encoded) + bytes(PADDING), start.astype(np.int64), length)

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        """How many there are, and none of them: texts may be confidential."""
        return f"<Strings: {len(self)}>"

    def __getitem__(self, index: int) -> str:
        return self.between(index, index)

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))

    def take(self, indices: Iterable[int]) -> list[str]:
        """The strings at these indices, decoded."""
        chosen = np.asarray(indices if isinstance(indices, Sequence | np.ndarray) else list(indices), dtype=np.int64)
        start = self.start[chosen]
        stop = start + self.length[chosen]
        data = self.data
        texts = [
            data[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in zip(start.tolist(), stop.tolist(), strict=True)
        ]
        return [decode_entities(text) for text in texts] if self.entities else texts

    def at(self, rows: slice | IntArray) -> Strings:
        """Some of the strings, in the same buffer."""
        return Strings(self.data, self.start[rows], self.length[rows], self.entities)

    def packed(self) -> Strings:
        """The same strings with their entities decoded, one behind another in a buffer of their own."""
        length = self.length.astype(np.int64)
        end = np.cumsum(length)
        start = self.start.astype(np.int64, copy=False)
        letters = np.frombuffer(self.data, dtype=np.uint8)[places(start, start + length)]
        pieces, done = [], 0
        ampersands = np.flatnonzero(letters == _AMPERSAND) if self.entities else end[:0]
        for row in np.unique(np.searchsorted(end, ampersands, side="right")).tolist():
            decoded = self[row].encode("utf-8", "surrogatepass")
            pieces += [letters[done : int(end[row] - length[row])].tobytes(), decoded]
            done = int(end[row])
            length[row] = len(decoded)
        data = b"".join([*pieces, letters[done:].tobytes(), bytes(PADDING)])
        return Strings(data, np.cumsum(length) - length, length.astype(np.int32))

    def raw(self, index: int) -> bytes:
        """One string as it stands in the buffer."""
        begin = int(self.start[index])
        return self.data[begin : begin + int(self.length[index])]

    def between(self, first: int, last: int) -> str:
        """The text from the start of one string to the end of another, with whatever stands between."""
        text = self.data[int(self.start[first]) : int(self.start[last]) + int(self.length[last])]
        decoded = text.decode("utf-8", "surrogatepass")
        return decode_entities(decoded) if self.entities else decoded

    def numbered(self) -> tuple[IntArray, IntArray]:
        """Number the distinct strings in order of appearance, and say where each occurs first."""
        import pandas as pd

        codes = pd.factorize(self._mixed())[0].astype(np.int64, copy=False)
        first = first_of_each(codes)
        same = first[codes]
        longer = np.flatnonzero(self.length > PADDING)  # up to a window, strings of one length are mixed alike if equal
        if (self.length[same] != self.length).any() or self.at(longer)._differs(self.at(same[longer])).any():
            number: dict[bytes, int] = {}
            codes = np.array([number.setdefault(self.raw(row), len(number)) for row in range(len(self))], np.int64)
            first = first_of_each(codes)
        return codes, first

    def distinct(self) -> bool:
        """Whether no string occurs twice; needs less memory than numbering them."""
        mixed = self._mixed()
        mixed.sort()
        if not (mixed[1:] == mixed[:-1]).any():
            return True  # equal strings would have been mixed alike
        return len(self.numbered()[1]) == len(self)

    def _mixed(self) -> npt.NDArray[np.uint64]:
        """A number for each string, the same for equal ones; what lies in the middle of long ones does not count."""
        mixed = np.empty(len(self), dtype=np.uint64)
        for part in _portions(len(self)):
            some = self.at(part)
            hashed = some._windows(0, slice(None)) * _MIXER
            for rows, offset in some._further(slice(None)):
                before = hashed[rows]
                hashed[rows] = (before ^ some._eight(offset, rows) ^ (before >> np.uint64(29))) * _MIXER
            mixed[part] = hashed
        return mixed

    def _further(self, rows: slice | IntArray) -> Iterator[tuple[slice | IntArray, Offsets | int]]:
        """Where to look at eight bytes more, so that all up to `_LONG` are seen: the last eight, and those between.

        Yields rows and where to look in each; a whole window lies within each of those strings.
        """
        rows = self._longer(rows, PADDING)
        if self._count(rows):
            yield rows, self.length[rows] - PADDING
        for offset in range(PADDING, _LONG, PADDING):
            rows = self._longer(rows, offset + PADDING)
            if not self._count(rows):
                return
            yield rows, offset

    def _longer(self, rows: slice | IntArray, size: int) -> slice | IntArray:
        """Those of the rows whose strings have more bytes than this; all of them as they came."""
        longer = self.length[rows] > size
        if longer.all():
            return rows
        return np.flatnonzero(longer) if isinstance(rows, slice) else rows[longer]

    def _count(self, rows: slice | IntArray) -> int:
        return len(self) if isinstance(rows, slice) else len(rows)

    def isin(self, values: Iterable[str]) -> BoolArray:
        """Which of the strings, entities not decoded, are among a few short ones (of up to eight bytes)."""
        encoded = [value.encode("utf-8") for value in values]
        windows = np.array([int.from_bytes(value, "little") for value in encoded], dtype=np.uint64)
        return np.isin(self._windows(0, slice(None)), windows) & (self.length <= PADDING)

    def factorise(self) -> tuple[IntArray, list[str]]:
        """The number of each string, and the distinct strings in that order."""
        codes, first = self.numbered()
        values = self.take(first)
        number = {value: code for code, value in enumerate(dict.fromkeys(values))}
        if len(number) < len(values):  # several spellings of one string: `&amp;` and `&#38;`
            codes = np.array([number[value] for value in values], dtype=np.int64)[codes]
        return codes, list(number)

    def differs(self, other: Strings) -> BoolArray:
        """Where two sequences of equal length hold different strings, entities decoded."""
        found: BoolArray = np.empty(len(self), dtype=bool)
        for part in _portions(len(self)):
            found[part] = self.at(part)._differs(other.at(part))
        return found

    def _differs(self, other: Strings) -> BoolArray:
        unequal: BoolArray = self.length != other.length
        first = self._eight(0, slice(None)) ^ other._eight(0, slice(None))
        unequal |= (first & self._mask(0, slice(None))) != 0
        same: slice | IntArray = np.flatnonzero(~unequal) if unequal.any() else slice(None)
        for rows, offset in self._further(same):
            unequal[rows] |= self._eight(offset, rows) != other._eight(offset, rows)
        for index in np.flatnonzero((self.length > _LONG) & ~unequal).tolist():
            unequal[index] = self.raw(index) != other.raw(index)
        if self.entities or other.entities:
            for index in np.flatnonzero(unequal).tolist():
                if b"&" in self.raw(index) or b"&" in other.raw(index):
                    unequal[index] = self[index] != other[index]
        return unequal

    def _windows(self, offset: int, rows: slice | IntArray) -> npt.NDArray[np.uint64]:
        """Up to eight bytes of each string from `offset` on, packed into one integer."""
        return self._eight(offset, rows) & self._mask(offset, rows)

    def _eight(self, offset: Offsets | int, rows: slice | IntArray) -> npt.NDArray[np.uint64]:
        """Eight bytes from `offset` on, whether the string reaches so far or not."""
        size = max(len(self.data) - PADDING + 1, 0)
        view: npt.NDArray[np.uint64] = np.ndarray((size,), dtype="<u8", buffer=self.data, strides=(1,))
        return view[self.start[rows] + offset]

    def _mask(self, offset: int, rows: slice | IntArray) -> npt.NDArray[np.uint64]:
        """Which of eight bytes from `offset` on are the string's own."""
        return _WINDOW_MASKS.take(self.length[rows] - offset, mode="clip")


def _portions(size: int) -> Iterator[slice]:
    """Slices of a length whose arrays are quick to get and to fill."""
    return (slice(begin, min(begin + _AT_ONCE, size)) for begin in range(0, size, _AT_ONCE))


def first_of_each(codes: IntArray) -> IntArray:
    """Where each code, numbered in order of appearance, occurs first.

    >>> first_of_each(np.array([0, 1, 0, 2]))
    array([0, 1, 3])
    """
    first = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several, the last that is written stays
    return first


# ---- ranges of rows or places: unfolded into what they hold, and what lies inside of them


def unfold(first: IntArray, stop: IntArray, rows: IntArray | None = None) -> tuple[IntArray, IntArray]:
    """Unfold ranges into pairs (row of a, row of b), in order."""
    rows = np.arange(len(first), dtype=np.int64) if rows is None else rows
    first, stop = first[rows], stop[rows]
    return np.repeat(rows, stop - first), places(first, stop)


def places(first: IntArray, stop: IntArray) -> IntArray:
    """Every place of ranges, one range behind the other.

    >>> places(np.array([5, 9, 2]), np.array([7, 9, 4]))
    array([5, 6, 2, 3])
    """
    some = stop > first
    first, stop = first[some], stop[some]
    begins = np.cumsum(stop - first)
    steps = np.ones(begins[-1] if len(begins) else 0, dtype=np.int64)
    steps[:1] = first[:1]
    steps[begins[:-1]] = first[1:] - stop[:-1] + 1  # from the last place of a range to the first of the next
    return np.cumsum(steps, out=steps)


def covered(*ranges: tuple[IntArray, IntArray]) -> IntArray:
    """The places that lie in one of the ranges from `first` up to `stop`, each once and sorted; ranges may overlap.

    >>> covered((np.array([5, 1]), np.array([7, 2])), (np.array([6]), np.array([8])))
    array([1, 5, 6, 7])
    """
    first, stop = (np.concatenate(side) for side in zip(*ranges, strict=True))
    order = np.argsort(first, kind="stable")
    first, reach = first[order], np.maximum.accumulate(stop[order])
    apart = np.flatnonzero(first[1:] > reach[:-1])  # the ranges behind which a gap follows
    return places(first[np.append(0, apart + 1)], reach[np.append(apart, -1)]) if len(first) else first


def inside(places: IntArray, start: IntArray, end: IntArray) -> BoolArray:
    """Which places lie behind the start and before the end of a range; ranges are sorted by start, may overlap."""
    if not start.size:
        return np.zeros(len(places), dtype=bool)
    reach = np.maximum.accumulate(end)
    before = np.searchsorted(start, places, side="left") - 1  # the last range that starts before the place
    found: BoolArray = (before >= 0) & (reach[before] > places)
    return found


# ---- XML entities in tokens: decoded for people, left as they are where a token is cut

# More digits than any character has are no reference; Python would refuse the longest of them.
_REFERENCE = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,9}|#x[0-9A-Fa-f]{1,8});")


def decode_entities(text: str) -> str:
    """Replace the five XML entities and character references; a bare `&` stays, and what stands for no character.

    >>> decode_entities("Holzmann &amp; S&#246;hne, R&D")
    'Holzmann & Söhne, R&D'
    """
    return _REFERENCE.sub(_character, text) if "&" in text else text


def written_characters(text: str) -> list[str]:
    """How each character of the decoded text is written.

    >>> written_characters("R&amp;D&#3;")
    ['R', '&amp;', 'D', '&', '#', '3', ';']
    """
    pieces: list[str] = []
    done = 0
    for match in _REFERENCE.finditer(text):
        if _character(match) != match.group():
            pieces += [*text[done : match.start()], match.group()]
            done = match.end()
    return [*pieces, *text[done:]]


def written_token(text: str, *, quote: bool = False) -> str:
    """Text with XML entities; white space that would end a cell or vanish becomes a character reference.

    >>> written_token("R&D"), written_token('a "b"', quote=True)
    ('R&amp;D', 'a &quot;b&quot;')
    """
    escaped = html.escape(text, quote=False) if "&" in text or "<" in text or ">" in text else text
    if quote:
        escaped = escaped.replace('"', "&quot;")
    elif text.isspace():
        return "".join(f"&#{ord(character)};" for character in text)
    return re.sub(r"[\t\r\n]", lambda match: f"&#{ord(match[0])};", escaped)


def _character(match: re.Match[str]) -> str:
    """What a reference stands for; Python would make nothing of `&#3;`, and a token must not vanish."""
    return html.unescape(match.group()) or match.group()
