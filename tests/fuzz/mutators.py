"""Changes to bytes, JSON trees, tables and archives that files suffer by accident or design, drawn from a `Random`."""

from __future__ import annotations

import copy
import io
import json
import re
import warnings
import zipfile
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


def _piece(rng: Random, data: bytes) -> bytes:
    """Take a stretch of the data away, or put it there several times, elsewhere, or something else in its place."""
    begin = rng.randint(0, len(data))
    end = min(len(data), begin + rng.choice((0, 1, 1, 2, 4, 8, 16, 64, 512)))
    piece, rest = data[begin:end], data[:begin] + data[end:]
    runs = rng.choice((b" ", b"\t", b"<", b"'", b"0", b"\xc3\xa4", b"\\", b"[")) * rng.choice((200, 3000, 30_000))
    new = rng.choice((rng.choice(BYTES), word(rng).encode("utf-8", "surrogatepass"), rng.randbytes(2), runs))
    place = rng.randint(0, len(rest))
    again = piece * rng.choice((1, 2, 20))
    return rng.choice(
        (rest, data[:end] + again + data[end:], rest[:place] + piece + rest[place:], data[:begin] + new + data[end:])
    )


def _number(rng: Random, data: bytes) -> bytes:
    """Replace a number by another."""
    new = str(rng.choice(NUMBERS)).encode() if rng.random() < 0.9 else b"9" * rng.choice((30, 400, 5000))
    return replaced(rng, data, _DIGITS, new)


def replaced(rng: Random, data: bytes, what: re.Pattern[bytes], new: bytes) -> bytes:
    """One of the places that match is written otherwise."""
    places = list(what.finditer(data[:200_000]))
    match = rng.choice(places) if places else None
    return data if match is None else data[: match.start()] + new + data[match.end() :]


def _recode(rng: Random, data: bytes) -> bytes:
    """Save the file in another encoding, or with other line ends."""
    text = data.decode("utf-8", "replace").replace("\n", rng.choice(("\n", "\r\n", "\r", "\n\n")))
    return text.encode(rng.choice(("utf-8", "utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-32")), "replace")


def _cells(rng: Random, data: bytes) -> bytes:
    """Change a line, or a cell of one: dropped, repeated, swapped, joined, another word."""
    parts = re.split(rb"(\n)" if rng.random() < 0.4 else rb"([\t\n ,;])", data)
    index, other = (2 * rng.randrange(len(parts) // 2 + 1) for _ in range(2))
    new = rng.choice((b"", parts[index] * 2, parts[other], word(rng).encode("utf-8", "surrogatepass")))
    parts[index], parts[other] = new, rng.choice((parts[index], parts[other]))
    if rng.random() < 0.3:
        del parts[index : index + 2]
    return b"".join(parts)


_BYTE_CHANGES: tuple[Change, ...] = (_piece, _number, _recode, _cells)
_WEIGHTS = (28, 8, 2, 24)


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


# ---- workbooks: their tables, the XML of their parts, their archives

Table = tuple[str, list[list[Any]]]
Parts = dict[str, bytes]
_BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
_TAG, _VALUE = re.compile(rb"<[^<>]*>"), re.compile(rb"(?<==)\"[^\"<>]*\"")
_END, _ODS = re.compile(b">"), re.compile(rb"(?<=<table:table-cell)|(?<=<table:table-row)")
_NAME = re.compile(rb'r\s*=\s*"[A-Z]+[0-9]+"')
_PLACES = (b"XFD1048576", b"A1048576", b"XFD1", b"AAAA1", b"A99999999999", b"A0", b"1", b"", b"$B$9", b"ZZ3000")
_COUNTS = (b"0", b"2", b"1000", b"1048576", b"4000000000", b"99999999999999999999", b"-1", b"+9")


def mutate_tables(rng: Random, tables: Sequence[Table], words: Sequence[str]) -> list[Table]:
    """What people and programs do to sheets: cells overwritten, rows and columns moved, repeated, sorted, deleted.

    `words` are those that mean something in such a sheet.
    """
    changed = [(name, [list(row) for row in rows]) for name, rows in tables]
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        index = rng.randrange(len(changed))
        name, rows = changed[index]
        choice = rng.randrange(14)
        if choice == 0:
            changed[index] = (rng.choice((*(other for other, _ in changed), word(rng))), rows)
        elif choice == 1:
            changed.insert(rng.randint(0, len(changed)), (name + rng.choice(("", "2")), [list(row) for row in rows]))
        elif choice == 2 and len(changed) > 1 and rng.random() < 0.4:
            del changed[index]
        elif rows:
            _change_rows(rng, rows, words, choice)
    return changed


def _change_rows(rng: Random, rows: list[list[Any]], words: Sequence[str], choice: int) -> None:
    row = rng.choice(rows)
    if choice == 3:
        rows.remove(row)
    elif choice == 4:
        rows.insert(rng.randint(0, len(rows)), list(row))
    elif choice == 5:
        rng.shuffle(rows)
    elif choice == 6:
        rows.sort(key=str)
    elif choice == 7:
        column = rng.randint(0, len(row))
        for each in rows:
            each.insert(min(column, len(each)), rng.choice(each) if each and rng.random() < 0.5 else "")
    elif choice == 8 and row:
        column = rng.randrange(len(row))
        for each in rows:
            del each[column : column + 1]
    elif row:
        row[rng.randrange(len(row))] = _cell(rng, rows, words)


def _cell(rng: Random, rows: Sequence[Sequence[Any]], words: Sequence[str]) -> Any:
    kind = rng.randrange(8)
    if kind < 4 and words:
        return rng.choice(words)
    if kind == 4:
        return rng.choice(NUMBERS)
    if kind == 5:
        return rng.choice((True, False, ""))
    other = rng.choice(rows)
    return rng.choice(other) if kind == 6 and other else word(rng)


def mutate_xml(rng: Random, content: bytes) -> bytes:
    """Tags dropped, repeated or renamed; attributes written otherwise, or saying what cannot be."""
    odd = rng.choice((*_COUNTS, *_PLACES, word(rng).encode("utf-8", "replace")))
    tag = rng.choice(_TAG.findall(content[:200_000]) or [b""])
    return rng.choice(
        (
            replaced(rng, content, _TAG, rng.choice((b"", tag * 2, tag.lower(), b"<%s>" % odd))),
            replaced(rng, content, _END, rng.choice((b"><!-- <c> -->", b"><![CDATA[<c>]]>", b">" + b"<x>" * 300))),
            replaced(rng, content, _VALUE, rng.choice((b'"%s"', b"'%s'", b'" %s "', b"\"%s\" x='y'")) % odd),
            replaced(rng, content, _NAME, b'r="%s"' % odd),
            replaced(rng, content, _ODS, b' table:number-rows-repeated="%s"' % odd),
            _BOMB + content,
            mutate_bytes(rng, content),
        )
    )


def mutate_parts(rng: Random, parts: Parts) -> Parts:
    """Damage the XML of some parts, take parts away, exchange them, or pack far too much."""
    parts = dict(parts)
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(list(parts))
        choice = rng.randrange(20)
        if choice == 0 and len(parts) > 1:
            del parts[name]
        elif choice == 1:
            parts[name] = parts[rng.choice(list(parts))]
        elif choice == 2:
            other = rng.choice((name.upper(), f"{name}/", f"../{name}", f"x{word(rng)}", "xl/sharedStrings.xml"))
            parts[other] = parts[name]
        elif choice == 3:
            parts[name] = rng.choice((b"", b"<", b" " * 2_000_000, b"<x>" * 30_000))
        else:
            parts[name] = mutate_xml(rng, parts[name])
    return parts


def mutate_archive(rng: Random, data: bytes) -> bytes:
    """Damage the archive itself: its headers, what it says about sizes, names and methods, or any byte."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data)
    changed = bytearray(data)
    places = [match.start() for match in re.finditer(rb"PK\x01\x02|PK\x03\x04|PK\x05\x06", data)]
    place = rng.choice(places or [0]) + rng.choice(range(6, 44, 2))
    changed[place : place + 4] = rng.choice((0, 1, 8, 9, 12, 99, 1000, 5000, 0xFFFF, 2**31, 0xFFFFFFFF)).to_bytes(
        4, "little"
    )
    return bytes(changed)


def packed(parts: Parts, rng: Random | None = None) -> bytes:
    """The parts as an archive, packed in one of the ways that there are."""
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2)
    method = zipfile.ZIP_DEFLATED if rng is None or rng.random() < 0.9 else rng.choice(methods)
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # a name twice
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def unpacked(data: bytes) -> Parts:
    """The parts of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
