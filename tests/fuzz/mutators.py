"""Changes to bytes, lines and JSON trees that files suffer by accident or design; every one drawn from a `Random`."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

# Words that readers stumble over: white space of all kinds, what Python takes for a line end, surrogates, entities,
# formulas, marks of the formats, things that look like numbers.
WORDS = (
    "", " ", "\t", "\n", "\r", "\r\n", "\x00", "\x0b", "\x0c", "\x1c", "\x1f", "\x7f", "\x85", "\xa0", "\u2028",
    "\u200b", "\u2060", "\ufeff", "\ufffd", "\uffff", "e\u0301", "👩‍⚖️", "🇩🇪", "\U0010ffff", "\u202e", "ß", "İ", "ı",
    "O", "B-", "I-", "B-PER", "I-PER", "E-PER", "S-LOC", "L-X", "U-X", "B", "-", "B--", "B-\xa0", "b-per",
    "<", ">", "<s>", "</s>", "<text>", "</text>", '<text id="d1">', '<text id="d1"/>', "<text id=>", "<!-- x -->",
    "<?xml?>", "<g/>", "<p a='b\"c'>", "<text id='a' id='b'>", "&amp;", "&lt;", "&#0;", "&#x110000;", "&#xD800;",
    "&unknown;", "&", "-DOCSTART-", "-DOCSTART- (x)", "# newdoc id = 1", "# a = b", "#", "T1", "T1\tX 0 3\tAnn",
    "R1", "*", "0 3;5 7", "null", "None", "nan", "NaN", "inf", "-inf", "true", "1e5", "0x10", "１２", "٣", "²", "-0",
    "=1+1", "'", '"', '""', "\\", "\\n", ";", ",", "{", "[", "=", "id", "start", "end", "label", "A" * 3000,
)  # fmt: skip
NUMBERS = (
    0, 1, -1, 2, 3, 7, 12, 255, 1000, 65_536, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1,
    2**64, 10**18, 10**30, -(10**40), 0.0, -0.0, 0.5, 1.5, 3.0, 1e300, -1e-300,
    float("nan"), float("inf"), -float("inf"),
)  # fmt: skip
BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
         b"\xe4", b"\r", b"\n", b"\t", b"<", b">", b'"', b"{", b"]", b"PK\x03\x04")  # fmt: skip
# What JSON can say and Python's writer cannot: put in as a text and replaced when the tree is written.
_LONG_NUMBER, _DEEP_LIST, _DEEP_OBJECT = "@@long@@", "@@list@@", "@@object@@"
_DEPTHS = (60, 500, 900, 970, 1100, 20_000)
_DIGITS = re.compile(rb"-?\d+")

Change = Callable[[Random, bytes], bytes]


def _place(rng: Random, data: bytes) -> tuple[int, int]:
    """A stretch of the data, mostly short."""
    begin = rng.randint(0, len(data))
    return begin, min(len(data), begin + rng.choice((0, 1, 1, 2, 4, 8, 16, 64, 512)))


def _flip(rng: Random, data: bytes) -> bytes:
    if not data:
        return data
    index = rng.randrange(len(data))
    return data[:index] + bytes([data[index] ^ (1 << rng.randrange(8))]) + data[index + 1 :]


def _insert(rng: Random, data: bytes) -> bytes:
    index = rng.randint(0, len(data))
    piece = rng.choice(
        (rng.choice(BYTES), word(rng).encode("utf-8", "surrogatepass"), rng.randbytes(rng.randint(1, 5)))
    )
    return data[:index] + piece + data[index:]


def _delete(rng: Random, data: bytes) -> bytes:
    begin, end = _place(rng, data)
    return data[:begin] + data[end:]


def _duplicate(rng: Random, data: bytes) -> bytes:
    begin, end = _place(rng, data)
    return data[:end] + data[begin:end] * rng.choice((1, 1, 2, 20, 1000 if end - begin < 20 else 3)) + data[end:]


def _move(rng: Random, data: bytes) -> bytes:
    begin, end = _place(rng, data)
    rest = data[:begin] + data[end:]
    index = rng.randint(0, len(rest))
    return rest[:index] + data[begin:end] + rest[index:]


def _truncate(rng: Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _number(rng: Random, data: bytes) -> bytes:
    """Replace a number by another."""
    found = list(_DIGITS.finditer(data))
    if not found:
        return data
    match = rng.choice(found)
    new = str(rng.choice(NUMBERS)).encode() if rng.random() < 0.9 else b"9" * rng.choice((30, 400, 5000))
    return data[: match.start()] + new + data[match.end() :]


def _recode(rng: Random, data: bytes) -> bytes:
    """Save the file in another encoding, or with other line ends."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    choice = rng.randrange(8)
    if choice < 5:
        return text.encode(("utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-32")[choice], "replace")
    ends = ("\r\n", "\r", "\n\n")[choice - 5]
    return text.replace("\r\n", "\n").replace("\n", ends).encode()


def _lines(rng: Random, data: bytes) -> bytes:
    """Drop, repeat, swap or empty a line."""
    lines = data.split(b"\n")
    index, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    choice = rng.randrange(6)
    if choice == 0:
        del lines[index]
    elif choice == 1:
        lines.insert(other, lines[index])
    elif choice == 2:
        lines[index], lines[other] = lines[other], lines[index]
    elif choice == 3:
        lines[index] = b""
    elif choice == 4:
        lines[index] = lines[index] + lines[other]
    else:
        lines[index] = word(rng).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def _cells(rng: Random, data: bytes) -> bytes:
    """Change one cell of a line of tab-separated (or otherwise separated) cells."""
    lines = data.split(b"\n")
    index = rng.randrange(len(lines))
    separator = next((mark for mark in (b"\t", b" ", b",", b";") if mark in lines[index]), b"\t")
    cells = lines[index].split(separator)
    place = rng.randrange(len(cells))
    choice = rng.randrange(5)
    if choice == 0:
        del cells[place]
    elif choice == 1:
        cells.insert(place, cells[place])
    elif choice == 2:
        other = rng.randrange(len(cells))
        cells[place], cells[other] = cells[other], cells[place]
    else:
        cells[place] = word(rng).encode("utf-8", "surrogatepass") if rng.random() < 0.8 else _number(rng, b"1")
    lines[index] = separator.join(cells)
    return b"\n".join(lines)


def _lengthen(rng: Random, data: bytes) -> bytes:
    """A very long line, run of spaces, or run of one character."""
    index = rng.randint(0, len(data))
    piece = rng.choice((b" ", b"\t", b"a", b"a ", b"<", b"'", b"0", b"\xc3\xa4", b"\\", b"[", b"- "))
    return data[:index] + piece * rng.choice((200, 3000, 30_000)) + data[index:]


_BYTE_CHANGES: tuple[Change, ...] = (
    _flip, _insert, _delete, _duplicate, _move, _truncate, _number, _recode, _lines, _cells, _lengthen,
)  # fmt: skip
_WEIGHTS = (6, 8, 6, 4, 3, 2, 8, 1, 10, 14, 1)


def word(rng: Random) -> str:
    """A word that somebody might stumble over, or some ordinary letters."""
    return rng.choice(WORDS) if rng.random() < 0.8 else "".join(rng.choices("abÄß 1-\t", k=rng.randint(1, 6)))


def mutate_bytes(rng: Random, data: bytes, others: Sequence[bytes] = ()) -> bytes:
    """A few changes to a file; now and then the end of another file is put behind its beginning."""
    if others and rng.random() < 0.1:
        other = rng.choice(others)
        data = data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]
    for _ in range(rng.choice((1, 1, 1, 1, 1, 2, 2, 3, 6))):
        data = rng.choices(_BYTE_CHANGES, _WEIGHTS)[0](rng, data)
    return data[:200_000]


def value(rng: Random) -> Any:
    """A JSON value of any type that is wrong in most places."""
    kind = rng.randrange(10)
    if kind < 3:
        return word(rng) if rng.random() < 0.9 else rng.choice(("\ud800", "a\udfff", "\ud83d\ude00"))
    if kind < 6:
        return rng.choice(NUMBERS) if rng.random() < 0.95 else _LONG_NUMBER
    if kind < 8:
        return rng.choice((None, True, False, [], {}, [[]], [None], {"": None}, [1, 2], {"id": 1}, "", 0))
    if kind == 8:
        return [value(rng) for _ in range(rng.randint(1, 3))]
    return rng.choice((_DEEP_LIST, _DEEP_OBJECT)) if rng.random() < 0.2 else {word(rng): value(rng)}


def mutate_tree(rng: Random, tree: Any) -> Any:
    """A few changes to a copy of a JSON tree: other types, missing keys, repeated entries, swapped numbers."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 5))):
        holder, key = _random_node(rng, tree)
        if holder is None:
            return value(rng)
        _change_node(rng, holder, key)
    return tree


def _random_node(rng: Random, tree: Any) -> tuple[Any, Any]:
    """Some place in the tree, as its holder and its key there; every one is as likely as the others."""
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder) if isinstance(holder, list) else 0):
            places.append((holder, key))
            waiting.append(holder[key])
    return rng.choice(places) if places else (None, None)


def _change_node(rng: Random, holder: Any, key: Any) -> None:
    node = holder[key]
    choice = rng.randrange(12)
    if choice == 0:
        del holder[key]
    elif choice == 1 and isinstance(holder, list):
        holder.insert(rng.randint(0, len(holder)), copy.deepcopy(node))
    elif choice == 2:
        holder[key] = [node]
    elif choice == 3 and isinstance(holder, dict):
        holder[word(rng)] = holder.pop(key)
    elif choice == 4 and isinstance(holder, dict):
        holder[word(rng)] = value(rng)
    elif choice < 8 and isinstance(node, int) and not isinstance(node, bool):
        holder[key] = node + rng.choice((-40, -2, -1, 1, 2, 40, 2**31, 2**63))
    elif choice < 8 and isinstance(node, str):
        index = rng.randint(0, len(node))
        holder[key] = node[:index] + word(rng) + node[index + rng.randint(0, 2) :]
    else:
        holder[key] = value(rng)


def write_json(rng: Random, tree: Any, **options: Any) -> bytes:
    """A tree as JSON, with the things in it that Python's writer refuses to write."""
    text = json.dumps(tree, ensure_ascii=rng.random() < 0.5, **options)
    depth = rng.choice(_DEPTHS)
    for mark, content in (
        (_LONG_NUMBER, "9" * rng.choice((400, 4400, 20_000))),
        (_DEEP_LIST, "[" * depth + "]" * depth),
        (_DEEP_OBJECT, '{"meta":' * depth + "1" + "}" * depth),
    ):
        text = text.replace(f'"{mark}"', content, 3)
    return text.encode("utf-8", "surrogatepass")


def mutate_json(rng: Random, seeds: Sequence[bytes]) -> bytes:
    """A JSON file with changes to its tree, or to its bytes."""
    seed = rng.choice(seeds)
    if rng.random() < 0.25:
        return mutate_bytes(rng, seed, seeds)
    content = write_json(rng, mutate_tree(rng, json.loads(seed)))
    return mutate_bytes(rng, content) if rng.random() < 0.05 else content
