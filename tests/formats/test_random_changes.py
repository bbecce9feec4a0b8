"""Random lists of changes: what a plain second reading of the new file says, and every other byte as it was."""

from __future__ import annotations

import io
import re
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.tables import listed

Span = tuple[int, int, str | None]
LABELS = ("PER", "ORG", "neu")
# How the first, a middle, the last and an only token of a span are written
SCHEMES = {"BIO": "BIIB", "BIOES": "BIES", "BILOU": "BILU", "IOB1": "IIII", "IO": "    "}


# ---- columns: lines are split and tags decoded by a plain loop


def tags_of(rng: Random, scheme: str, sizes: list[int]) -> list[str]:
    """Tags of sentences of these sizes; some of them are orphans, or spans without a label."""
    first, middle, last, only = SCHEMES[scheme]
    tags: list[str] = []
    for size in sizes:
        stop = len(tags) + size
        while len(tags) < stop:
            length = min(rng.choice((1, 1, 2, 3)), stop - len(tags))
            label = rng.choice(LABELS if scheme == "IO" else (*LABELS, None))
            prefixes = [only] if length == 1 else [first, *[middle] * (length - 2), last]
            if scheme == "BIO" and rng.random() < 0.2:
                prefixes[0] = "I"
            if rng.random() < 0.5:
                tags += [rng.choice("O_")] * length
            else:
                tags += [(prefix if label is None else f"{prefix}-{label}").strip(" -") for prefix in prefixes]
    return tags


def decoded(tags: list[str], starts: set[int]) -> list[Span]:
    """Spans as conlleval reads them, token by token; a tag without a prefix goes on where it can."""
    spans: list[Span] = []
    goes_on = False
    for place, tag in enumerate(tags):
        if tag in {"O", "_", "-"}:
            goes_on = False
            continue
        prefix, _, rest = tag.partition("-") if re.match(r"[BIESLU](-|$)", tag) else ("I", "", tag)
        label = rest or None
        same = goes_on and place not in starts and spans[-1][2] == label
        if same and prefix in "IEL":
            spans[-1] = (spans[-1][0], place, label)
        else:
            spans.append((place, place, label))
        goes_on = prefix in "BI"
    return spans


def cells(content: bytes, key: str) -> tuple[list[str], set[int], list[bytes]]:
    """The tag of each token, where sentences begin, and the file with its tags blanked."""
    tags, starts, rest = [], {0}, []
    for line in content.decode("utf-8-sig").split("\n"):
        parts = re.split(r"([ \t]+)", line.rstrip("\r"))
        if len(parts) < 3:
            starts.add(len(tags))
        else:
            kept = [part for part in parts[-1].split("|") if not part.startswith(f"{key}=")] if key else []
            values = [part[len(key) + 1 :] for part in parts[-1].split("|") if part.startswith(f"{key}=")]
            tags.append((values or ["O"])[0] if key else parts[2])
            parts[-1 if key else 2] = "|".join(kept) or "_"
        rest.append("".join(parts).encode())
    return tags, starts, rest


def token_file(rng: Random, scheme: str, gap: str, end: str, key: str) -> bytes:
    sizes = [rng.randrange(1, 6) for _ in range(rng.randrange(1, 5))]
    tags = tags_of(rng, scheme, [*sizes, 2])
    if scheme == "IO":
        tags[-2:] = ["O", "PER"]  # both are there, or nobody could tell
    sizes.append(2)
    lines = []
    for size in sizes:
        for number in range(1, size + 1):
            tag = tags[len([line for line in lines if line])]
            word = rng.choice(("Wort", "&amp;", "ö", "<", "x-y"))
            other = rng.choice(("_", "Gloss=1", "A=1|B=2"))
            held = other if tag in {"O", "_"} else f"NER={tag}" if other == "_" else f"{other}|NER={tag}"
            lines.append(f"{number}\t{word}" + "\tx" * 7 + f"\t{held}" if key else gap.join((word, tag, "B-A", "ü")))
        lines.append("")
    mark = rng.choice(("", "\ufeff"))
    return (mark + end.join(lines)).encode() + rng.choice((b"", end.encode()))


def changed(rng: Random, reading: Reading, layer: str, *, apart: bool) -> list[Span]:
    """Some of the spans, others relabelled or with another end, and new ones wherever sentences allow."""
    corpus = reading.corpus
    stops = {*corpus.closing_breaks.tolist(), len(corpus)}
    spans: list[Span] = []
    for start, end, label in listed(reading.annotation.layers[layer]):
        spans += rng.choice(
            ([(start, end, label)], [(start, end, rng.choice(LABELS))], [(start, rng.randint(start, end), label)], [])
        )
    taken = {place for start, end, _ in spans for place in range(start - apart, end + 1 + apart)}
    for _ in range(rng.randrange(4)):
        start = rng.randrange(len(corpus))
        end = start
        while rng.random() < 0.5 and end + 1 not in stops:
            end += 1
        if taken.isdisjoint(range(start, end + 1)):
            spans.append((start, end, rng.choice(LABELS)))
            taken.update(range(start - apart, end + 1 + apart))
    return sorted(spans)


def frame(spans: list[Span], layer: str):
    starts, ends, labels = zip(*spans, strict=True) if spans else ((), (), ())
    return make_spans(np.array(starts, np.int64), np.array(ends, np.int64), {layer: list(labels)})


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("name", "gap", "end", "key"),
    [
        ("x.vrt", "\t", "\n", ""),
        ("x.vrt", "\t", "\r\n", ""),
        ("x.conll", "  ", "\n", ""),
        ("x.conllu", "\t", "\n", "NER"),
    ],
)
def test_columns_read_as_intended_and_only_their_tags_change(
    scheme: str, name: str, gap: str, end: str, key: str
) -> None:
    for seed in range(40 if scheme != "IO" or not key else 0):  # labels without prefixes are a column's
        rng = Random(seed)
        content = token_file(rng, scheme, gap, end, key)
        options = ReadOptions(layers={"x": f"10:{key}" if key else 2})
        reading = read(io.BytesIO(content), options, name=name)
        before, starts, rest = cells(content, key)
        plain = scheme == "IO" and reading.columns["x"].plain
        old = listed(reading.annotation.layers["x"])
        assert old == decoded(before, starts), seed
        wanted = changed(rng, reading, "x", apart=plain)
        if plain and any(one[1] + 1 == other[0] and one[2] == other[2] for one, other in pairwise(wanted)):
            continue  # refused: two spans could not be told apart
        written = correct(reading, {"x": frame(wanted, "x")})[name]
        after, again, others = cells(written, key)
        assert (again, others) == (starts, rest), seed
        assert decoded(after, starts) == wanted, (seed, content, written)
        # A tag changes only in a span that went or came, or right behind one.
        touched = {place for first, last, _ in set(old) ^ set(wanted) for place in range(first, last + 2)}
        assert [place for place in range(len(before)) if before[place] != after[place] and place not in touched] == []
        if wanted == old:
            assert written == content


# ---- brat: lines are matched by a plain expression

LINE = re.compile(r"(T\d+)\t(\S+) (\d+) (\d+)\t([^\r\n]*)")


def annotated(content: str) -> dict[str, tuple[str, int, int, str]]:
    matches = [LINE.match(line) for line in content.split("\n")]
    return {match[1]: (match[2], int(match[3]), int(match[4]), match[5]) for match in matches if match}


def brat_file(rng: Random, text: str, places: list[tuple[int, int]], end: str) -> str:
    """Annotations of some words, and lines that refer to them."""
    chosen = [place for place in places if rng.random() < 0.5]
    lines = [
        f"T{number}\t{rng.choice(LABELS)} {start} {stop}\t{text[start:stop]}"
        for number, (start, stop) in enumerate(chosen, 1)
    ]
    for number in range(1, len(chosen) + 1):
        other = rng.randrange(1, len(chosen) + 1)
        lines += rng.choice(
            ([], [f"A{number}\tSure T{number}"], [f"#{number}\tNote T{number}\tT{other} is near"],
             [f"R{number}\tNear Arg1:T{number} Arg2:T{other}"], [f"*\tAlias T{number} T{other} T1"])
        )  # fmt: skip
    return end.join(lines) + (end if rng.random() < 0.7 and lines else "")


def test_brat_reads_as_intended_and_every_other_line_stays(tmp_path: Path) -> None:
    for seed in range(80):
        rng = Random(seed)
        words = [rng.choice(("Ann", "Lee", "😀", "kam")) for _ in range(12)]
        text = " ".join(words)
        stops = np.cumsum([len(word) + 1 for word in words]).tolist()
        places = [(stop - len(word) - 1, stop - 1) for word, stop in zip(words, stops, strict=True)]
        content = brat_file(rng, text, places, rng.choice(("\n", "\r\n")))
        (tmp_path / "d.txt").write_text(text, "utf-8")
        (tmp_path / "d.ann").write_bytes(content.encode())
        (tmp_path / "annotation.conf").write_text("[entities]\n", "utf-8")
        reading = read(tmp_path)
        wanted = changed(rng, reading, "span", apart=False)
        files = correct(reading, {"span": frame(wanted, "span")})
        after = files.pop("d.ann").decode()
        assert files == {"d.txt": text.encode(), "annotation.conf": b"[entities]\n"}
        intended = [(label, places[start][0], places[end][1]) for start, end, label in wanted]
        expected = sorted((label, begin, stop, text[begin:stop]) for label, begin, stop in intended)
        found = annotated(after)
        assert sorted(found.values()) == expected, (seed, content, after)
        gone = set(annotated(content)) - set(found)
        kept = [line for line in content.splitlines() if not LINE.match(line)]
        for line in after.splitlines():
            match = LINE.match(line)
            if match is None and not line.startswith("*"):
                assert line == kept[kept.index(line)]
            assert match is not None or not gone.intersection(re.split(r"[\s:]", line.partition("\tT")[0] + " "))
        unharmed = [line for line in kept if not gone.intersection(re.findall(r"T\d+", line))]
        assert [line for line in after.splitlines() if line in set(unharmed)] == unharmed, (seed, content, after)
        if wanted == listed(reading.annotation.layers["span"]):
            assert after == content


# ---- records, XML and tables: one pattern for an annotation, and what stands between

START, STOP, LABEL = r"(?P<start>\d+)", r"(?P<stop>\d+)", r"(?P<label>\w+)"
# The file, what stands before, between and behind annotations, an annotation, and a pattern that finds it again.
CARRIERS = {
    "presidio": (
        "x.json", '[{{"full_text": "{text}", "spans": [', ", ", '], "n": 1}}]\n',
        '{{"entity_type": "{label}", "entity_value": "{words}", "start_position": {start}, "end_position": {stop}}}',
        rf'\{{"entity_type": "{LABEL}", "entity_value": "[^"]*", "start_position": {START}, "end_position": {STOP}\}}',
    ),
    "doccano": (
        "x.jsonl", '{{"id": 7, "text": "{text}", "label": [', ", ", '], "Comments": []}}\n',
        '[{start}, {stop}, "{label}"]', rf'\[{START}, {STOP}, "{LABEL}"\]',
    ),
    "label-studio": (
        "x.json", '[{{"data": {{"text": "{text}"}}, "annotations": [{{"id": 4, "result": [', ",", "]}}]}}]",
        '{{"id":"r{start}","from_name":"label","to_name":"text","type":"labels",'
        '"value":{{"start":{start},"end":{stop},"text":"{words}","labels":["{label}"]}}}}',
        rf'\{{"id":"[\w-]*","from_name":"label","to_name":"text","type":"labels","value":\{{"start":{START},'
        rf'"end":{STOP},"text":"[^"]*","labels":\["{LABEL}"\]\}}\}}',
    ),
    "i2b2": (
        "x.xml", '<?xml version="1.0" encoding="UTF-8" ?>\r\n<deIdi2b2>\r\n<TEXT>{text}</TEXT>\r\n<TAGS>', "",
        "\r\n</TAGS>\r\n</deIdi2b2>",
        '\n<NAME id="P{start}" start="{start}" end="{stop}" text="{words}" TYPE="{label}" comment=""/>',
        rf'\s<\w+ id="P\d+" start="{START}" end="{STOP}" text="[^"]*" TYPE="{LABEL}" comment=""/>',
    ),
    "table of characters": (
        "x.csv", "doc_id,label,char_start,char_end,text,more\r\n", "", "", "d,{label},{start},{stop},{words},\r\n",
        rf"d,{LABEL},{START},{STOP},[^,]*,\r\n",
    ),
    "table of tokens": (
        "x.tsv", "start\tend\tlabel\ttext\n", "", "", "{first}\t{last}\t{label}\t{words}\n",
        rf"(?P<first>\d+)\t(?P<last>\d+)\t{LABEL}\t[^\n]*\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize("carrier", CARRIERS)
def test_records_xml_and_tables_read_as_intended_and_the_rest_stays(carrier: str, tmp_path: Path) -> None:
    name, before, between, behind, item, pattern = CARRIERS[carrier]
    for seed in range(30):
        rng = Random(seed)
        words = [rng.choice(("Ann", "Lee", "Köln", "kam")) for _ in range(12)]
        text, stops = " ".join(words), np.cumsum([len(word) + 1 for word in words]).tolist()
        starts = [stop - len(word) - 1 for word, stop in zip(words, stops, strict=True)]

        def written(first: int, last: int, label: str | None) -> tuple[str, tuple[int, int, str]]:
            said = {"first": first, "last": last, "start": starts[first], "stop": stops[last] - 1, "label": label}  # noqa: B023
            place = (first, last) if "first" in item else (starts[first], stops[last] - 1)  # noqa: B023
            return item.format(words=" ".join(words[first : last + 1]), **said), (*place, str(label))  # noqa: B023

        def found(content: str) -> dict[tuple[int, int, str], str]:
            groups = ("first", "last") if "first" in item else ("start", "stop")
            matches = re.finditer(pattern, content)
            return {(*(int(match[group]) for group in groups), match["label"]): match[0] for match in matches}

        own = [written(place, place, rng.choice(LABELS)) for place in range(12) if rng.random() < 0.4]
        content = before.format(text=text) + between.join(piece for piece, _ in own) + behind.format()
        (tmp_path / "t.vrt").write_text('<text id="d">\n' + "".join(f"{word}\tO\n" for word in words) + "</text>\n")
        (tmp_path / "t.jsonl").write_text(f'{{"id": "d", "text": "{text}", "spans": []}}\n', "utf-8")
        base = {"table of characters": tmp_path / "t.jsonl", "table of tokens": tmp_path / "t.vrt"}.get(carrier)
        reading = read(io.BytesIO(content.encode()), name=name, base=None if base is None else read(base))
        assert found(content).keys() == {place for _, place in own}
        wanted = changed(rng, reading, "span", apart=False)
        # Positions of the reading are those of its own tokens; words tell which they are in the text.
        corpus = reading.corpus
        begins = range(len(corpus)) if corpus.char_start is None else [starts.index(at) for at in corpus.char_start]
        after = correct(reading, {"span": frame(wanted, "span")})[name].decode()
        intended = dict(reversed(written(begins[first], begins[last], label)) for first, last, label in wanted)
        assert found(after).keys() == intended.keys(), (seed, content, after)
        same = found(content).keys() & intended.keys()
        assert all(found(after)[place] == found(content)[place] for place in same)
        rest = [re.sub(r"[,\s]+", "", re.sub(pattern, "", each)) for each in (content, after)]
        assert rest[0] == rest[1], (seed, content, after)
        if wanted == listed(reading.annotation.layers["span"]):
            assert after == content
