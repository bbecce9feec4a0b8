"""Cases and judgements in words: what they are called, and what happened; the same in every medium."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby

import numpy as np
import pandas as pd

from clueval_xlsx.cases.contexts import PLAIN, Segment, context_bounds
from clueval_xlsx.cases.kinds import AG, CLASSES, FN, FP, UM, CaseClass
from clueval_xlsx.cases.table import BETWEEN, NO_LABEL
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.correction import Change, Content, LayerSpan, extent, sorted_parts
from clueval_xlsx.review.judgements import SCOPES, SEVERITIES, SPAN_CHOICES, Judgement, JudgementKind, words_of
from clueval_xlsx.text.cells import ELLIPSIS
from clueval_xlsx.words import Words

# The marks of words that stayed, were dropped, or came in.
KEPT, STRUCK, INSERTED = "kept", "struck", "inserted"
Difference = tuple[Segment, ...]

_LONGEST_QUOTE = 90  # characters of the other side's words


# Cases


def sheet_name(sheet: str, words: Words) -> str:
    """The name of a sheet of cases."""
    return words[f"sheet.{sheet.lower()}"]


def spans_name(sheet: str, words: Words) -> str:
    """The spans that stand on a sheet.

    >>> spans_name("FN", Words("en"))
    'Missed spans'
    """
    return words[f"metrics.tile_{sheet.lower()}"]


def class_name(kind: str, words: Words) -> str:
    """The name of a class.

    >>> class_name("partial", Words("en")), class_name("FN", Words("en"))
    ('partial', 'missed')
    """
    return words[f"class.{kind}"]


def case_name(sheet: str, kind: str, words: Words) -> str:
    """What happened in a case, where its sheet is not seen: whose span it is, and its class.

    >>> case_name("FN", "partial", Words("en")), case_name("FP", "FP", Words("en"))
    ('missed: partial', 'unsupported')
    """
    owner = class_name(sheet, words)
    return owner if kind == sheet else f"{owner}: {class_name(kind, words)}"


def case_names(words: Words) -> dict[str, dict[str, str]]:
    """All of these names, for a script that shows cases by itself: sheet -> class -> words."""
    return {sheet: {kind: case_name(sheet, kind, words) for kind in CLASSES} for sheet in (FN, FP)}


def match_names(words: Words) -> dict[str, str]:
    """What the classes of a match are called, by their numbers.

    >>> match_names(Words("en"))
    {'1': 'exact', '2': 'superset', '3': 'tiling', '4': 'overlap', '5': 'none'}
    """
    names = [words[f"level.{level}"] for level in ("exact", "superset", "tiling", "overlap")]
    return {str(number): name for number, name in enumerate([*names, words["class.none"]], 1)}


def labels_text(labels: Iterable[str]) -> str:
    """The labels of a span on all layers, without those that it lacks.

    >>> labels_text(["PER", "", "HIGH"]), labels_text([""])
    ('PER, HIGH', '')
    """
    return ", ".join(label for label in labels if label)


def happened_lines(cases: pd.DataFrame, layers: Sequence[str], words: Words) -> list[str]:
    """What happened in each case, in one line: `missed · PERSON · 4 alike`, `wrong label: ORG instead of PERSON`."""
    own = zip(*(cases[f"label_{layer}"] for layer in layers), strict=True)
    other = zip(*(cases[f"other_label_{layer}"] for layer in layers), strict=True)
    columns = (cases["sheet"], cases["class"], cases["other_surface"], own, other)
    found = [_happened(*row, words) for row in zip(*columns, strict=True)]
    if len(cases) and (cases["sheet"] == UM).all():
        counts = (cases[name].tolist() for name in ("here", "marked", "unmarked"))
        for place, (here, marked, unmarked) in enumerate(zip(*counts, strict=True)):
            elsewhere = words("happened.elsewhere", here=here, marked=marked, total=marked + unmarked)
            found[place] = f"{elsewhere} · {found[place]}"
    if "alike" in cases.columns:
        for place, size in enumerate(cases["alike"].tolist()):
            if size > 1:
                found[place] += f" · {words('cases.alike', count=size)}"
    if "relaxed" in cases.columns:
        for place, would in enumerate(cases["relaxed"].tolist()):
            if would:
                found[place] += f" · {words['cases.relaxed']}"
    return found


def _happened(
    sheet: str, kind: str, other_words: str, own: tuple[str, ...], other: tuple[str, ...], words: Words
) -> str:
    labels = labels_text(own)
    if kind == CaseClass.LABEL:
        pairs = list(zip(own, other, strict=True))
        differing = [pair for pair in pairs if pair[0] != pair[1]] or pairs
        mine, theirs = (labels_text(pair[side] or NO_LABEL for pair in differing) for side in (0, 1))
        model, reference = (mine, theirs) if sheet == FP else (theirs, mine)
        return words("happened.label", model=model, reference=reference)
    if sheet == UM:
        return labels
    if not other_words or sheet == AG:
        line = words[f"happened.{kind}"]
    else:
        quoted = words("quoted", text=_shortened(other_words))
        if other != own and BETWEEN not in other_words:
            quoted += f" ({labels_text(label for label in other if label != NO_LABEL)})"
        line = words(f"happened.{sheet.lower()}_{kind}", words=quoted)
    return f"{line} · {labels}" if labels else line


def _shortened(text: str) -> str:
    """A quotation that stays on its line; what is left out is seen."""
    text = " ".join(text.split())
    if len(text) <= _LONGEST_QUOTE:
        return text
    half = _LONGEST_QUOTE // 2
    return f"{text[:half].rsplit(' ', 1)[0]} {ELLIPSIS} {text[-half:].split(' ', 1)[-1]}"


# What can be chosen


def judgement_name(judgement: JudgementKind, words: Words) -> str:
    """What a judgement is called in a language."""
    return words_of(judgement, words.language, words.section("judgement"))


def judgement_entry(judgement: JudgementKind, words: Words) -> str:
    """A judgement as an entry of a list: its digit, by which it can be chosen, and its name.

    >>> from clueval_xlsx.review.judgements import JUDGEMENTS
    >>> judgement_entry(JUDGEMENTS[0], Words("en"))
    '1 Model is wrong'
    """
    return f"{judgement.digit} {judgement_name(judgement, words)}".strip()


def judgement_names(judgements: Iterable[JudgementKind], words: Words) -> dict[str, str]:
    """What judgements are called, by their codes."""
    return {judgement.code: judgement_name(judgement, words) for judgement in judgements}


def span_choice_name(choice: str, words: Words) -> str:
    """How a correct span was chosen; the words themselves where they were typed."""
    return words[f"span_choice.{choice}"] if choice in SPAN_CHOICES else choice


def span_choice_entry(choice: str, words: Words) -> str:
    """How a correct span can be chosen, as an entry of a list: the letter that is enough, and its name.

    >>> span_choice_entry("as_model", Words("en")), span_choice_entry("Anna Lee", Words("en"))
    ('M as the model', 'Anna Lee')
    """
    return f"{words[f'span_letter.{choice}']} {words[f'span_choice.{choice}']}" if choice in SPAN_CHOICES else choice


def wrong_text(wrong: Wrong, words: Words) -> str:
    """What State says of a row that does not count.

    >>> wrong_text(Wrong.CORRECT_SPAN, Words("en")), wrong_text(Wrong.NEW_LABEL, Words("en"))
    ('… correct span?', '? new label: type !XYZ')
    """
    return f"{wrong.sign} {words[f'state.{wrong.name.lower()}']}"


def severity_name(severity: str, words: Words) -> str:
    """What a severity is called; something else that was typed stays as it is."""
    return words[f"severity.{severity}"] if severity in SEVERITIES else severity


def severity_entry(severity: str | None, words: Words) -> str:
    """A severity as an entry of a list.

    >>> severity_entry("quasi", Words("en")), severity_entry(None, Words("en"))
    ('2 quasi-identifier', '')
    """
    return _numbered("severity", SEVERITIES, severity, words)


def scope_entry(scope: str | None, words: Words) -> str:
    """Which twins a judgement holds for, as an entry of a list.

    >>> scope_entry("all", Words("en"))
    '1 all alike'
    """
    return _numbered("applies_to", SCOPES, scope, words)


def _numbered(section: str, codes: Sequence[str], code: str | None, words: Words) -> str:
    return f"{codes.index(code) + 1} {words[f'{section}.{code}']}" if code in codes else code or ""


# Judgements and changes


def what_one_said(record: Judgement, names: Mapping[str, str], words: Words) -> str:
    """One judgement in words: who, what, the corrections, the comment."""
    extra = correction_words(record, words)
    comment = f" – {record.comment}" if record.comment else ""
    return f"{record.judge}: {names.get(record.code, record.code)}{f' ({extra})' if extra else ''}{comment}"


def correction_words(record: Judgement, words: Words) -> str:
    """The correct span and the correct labels that somebody chose or typed."""
    parts = [f"{layer}: {label}" for layer, label in record.correct_labels.items()]
    chosen = record.correct_span
    if chosen:
        parts.insert(0, span_choice_name(chosen, words) if chosen in SPAN_CHOICES else words("quoted", text=chosen))
    return ", ".join(part for part in parts if part)


def sentence_differences(changes: Sequence[Change], corpus: Corpus) -> list[Difference]:
    """For each change its sentence, with the words that are marked no longer, newly, and as before."""
    if not changes:
        return []
    reaches = np.array([extent(change.old | change.new) for change in changes], dtype=np.int64)
    bounds = context_bounds(corpus, reaches[:, 0], reaches[:, 1])
    written = corpus.rendered(bounds.left, bounds.right)
    found = []
    for place, change in enumerate(changes):
        left, right = int(bounds.left[place]), int(bounds.right[place])
        origin = int(written.first[place]) - left
        pieces = [Segment(f"{ELLIPSIS} ", PLAIN)] if left > bounds.first[place] else []
        for mark, run in groupby(range(left, right), key=partial(_mark, change)):
            stretch = [position + origin for position in run]
            pieces.append(Segment(written.text(stretch[0], stretch[-1]), mark))
            if stretch[-1] + 1 < right + origin:
                pieces.append(Segment(written.gap(stretch[-1] + 1), PLAIN))
        if right < bounds.stop[place]:
            pieces.append(Segment(f" {ELLIPSIS}", PLAIN))
        found.append(tuple(piece for piece in pieces if piece.text))
    return found


def _mark(change: Change, position: int) -> str:
    before, now = _covers(change.old, position), _covers(change.new, position)
    if before and now:
        return KEPT
    return STRUCK if before else INSERTED if now else PLAIN


def _covers(content: Content, position: int) -> bool:
    return any(part.start <= position <= part.end for part in content)


def label_difference(change: Change, layers: Sequence[str], corpus: Corpus, words: Words) -> Difference:
    """Every label with its layer; with its words, too, where the layers of one span do not reach equally far."""
    apart = any(len({(part.start, part.end) for part in side}) > 1 for side in (change.old, change.new))
    parts = sorted(
        sorted_parts(change.old | change.new), key=lambda part: (layers.index(part.layer), part not in change.old)
    )
    pieces: list[Segment] = []
    for part in parts:
        mark = KEPT if part in change.old and part in change.new else STRUCK if part in change.old else INSERTED
        if mark is not KEPT and not apart and _same_label(part, change):
            mark = KEPT  # the words moved, which the sentence shows; the label did not
            if part in change.new:
                continue
        text = part.label or NO_LABEL
        if len(layers) > 1:
            text = f"{part.layer}: {text}"
        if apart:
            text = f"{text} {words('quoted', text=corpus.text(part.start, part.end))}"
        if pieces:
            pieces.append(Segment("\n", PLAIN))
        pieces.append(Segment(text, mark))
    return tuple(pieces)


def _same_label(part: LayerSpan, change: Change) -> bool:
    """Whether the layer has the same label before and after."""
    before, now = ([each.label for each in side if each.layer == part.layer] for side in (change.old, change.new))
    return before == now == [part.label]
