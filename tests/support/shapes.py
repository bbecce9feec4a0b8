"""Corpora of unkind shape, for the benchmark and the tests: one document, one sentence, many layers, many labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np

_WORDS = np.array([f"wort{number}" for number in range(500)] + [",", ".", "(", ")"])


def write_shape(
    folder: Path,
    tokens: int,
    *,
    sentence: int = 25,
    documents: int = 1,
    layers: int = 1,
    labels: int = 20,
    density: float = 0.12,
) -> tuple[Path, Path]:
    """Write gold.vrt and pred.vrt with so many tokens; the prediction loses a tenth of the tags and adds some."""
    generator = np.random.default_rng(1)
    words = _WORDS[generator.integers(0, len(_WORDS), tokens)]
    gold = [_tags(generator, tokens, labels, density) for _ in range(layers)]
    pred = [_noisy(generator, tags, labels, density) for tags in gold]
    place = np.arange(tokens) % -(-tokens // documents)
    before = np.where(place == 0, "<text>\n<s>\n", np.where(place % sentence == 0, "<s>\n", "")).astype(object)
    before[(place == 0) & (np.arange(tokens) > 0)] = "</s>\n</text>\n<text>\n<s>\n"
    before[(place > 0) & (place % sentence == 0)] = "</s>\n<s>\n"
    paths = []
    for side, columns in (("gold", gold), ("pred", pred)):
        lines = before + words.astype(object)
        for tags in columns:
            lines = lines + "\t" + tags
        path = folder / f"{side}.vrt"
        path.write_text("\n".join(lines) + "\n</s>\n</text>\n", "utf-8")
        paths.append(path)
    return paths[0], paths[1]


def _tags(generator: np.random.Generator, size: int, labels: int, density: float) -> np.ndarray:
    """Spans of one to three tokens; a span that begins inside another cuts it short."""
    begins = generator.random(size) < density
    label = generator.integers(0, labels, size)
    length = generator.integers(1, 4, size)
    last = np.maximum.accumulate(np.where(begins, np.arange(size), -1))
    inside = (last >= 0) & (np.arange(size) - last < length[last])
    names = np.array([f"L{number}" for number in range(labels)], dtype=object)[label[last]]
    return np.where(begins, "B-" + names, np.where(inside, "I-" + names, "O")).astype(object)


def _noisy(generator: np.random.Generator, tags: np.ndarray, labels: int, density: float) -> np.ndarray:
    """Some tags lost, some added."""
    found = tags.copy()
    found[(generator.random(len(tags)) < 0.1) & (tags != "O")] = "O"
    added = (generator.random(len(tags)) < density / 10) & (tags == "O")
    found[added] = np.array(
        [f"B-L{number}" for number in generator.integers(0, labels, int(added.sum()))], dtype=object
    )
    return found
