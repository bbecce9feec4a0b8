"""Other schemes, and strict against relaxed, as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.tables import count, rate, score_table
from clueval_xlsx.scoring.schemes.settings import is_relaxed
from clueval_xlsx.scoring.strict_relaxed import strict_against_relaxed
from clueval_xlsx.views.scheme_words import leak_sentence, row_name, scheme_name, scheme_sentence, short_name
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType
    from rich.table import Table

    from clueval_xlsx.evaluation import Evaluation


def scheme_tables(evaluation: Evaluation, width: int = 80) -> list[RenderableType]:
    """One table a scheme, its sentence above it; then strict against relaxed, if labels are equivalent."""
    from rich.text import Text

    words = Words("en")
    scores = evaluation.scores
    whole = scores[scores["layer"].isna() & scores["group_key"].isna() & (scores["scheme"] != "clueval")]
    whole = whole[~whole["variant"].map(is_relaxed).astype(bool)]  # these have a table of their own
    found: list[RenderableType] = []
    for scheme in dict.fromkeys(whole["scheme"]):
        rows = whole[whole["scheme"] == scheme]
        names = [row_name(row, words) for row in rows.to_dict("records")]
        title = scheme_name(scheme, words)
        found.append(score_table("variant", rows, names, evaluation.options.beta, title, width))
        found.append(Text(scheme_sentence(scheme, words), style="dim"))
        for line in _details(rows, names, words):
            found.append(Text(line))
        found.append(Text())
    relaxed = strict_against_relaxed(scores)
    if len(relaxed):
        found += [_strict_relaxed(relaxed[relaxed["layer"].isna()], words, width), Text(), *_label_note(evaluation)]
    return found


def _details(rows: pd.DataFrame, names: list[str], words: Words) -> list[str]:
    """The counts of schemes that have their own; the verdict in words."""
    if (rows["scheme"] == "documents").any():
        row = rows.iloc[0]
        return [leak_sentence(row["gold"], row["tp_gold"], row["recall_low"], words)]
    lines: dict[str, list[str]] = {}
    for name, counts in zip(names, rows["counts"], strict=True):
        if isinstance(counts, dict):
            text = ", ".join(f"{key} {value}" for key, value in counts.items())
            lines.setdefault(text, []).append(name)
    return [f"{' / '.join(shared)}: {text}" for text, shared in lines.items()]


def _strict_relaxed(rows: pd.DataFrame, words: Words, width: int) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=words["scheme.row.strict_relaxed"],
        title_justify="left",
        title_style="bold",
        caption=words["scheme.row.strict_relaxed_counts"],
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    names = [short_name(row) for row in rows.to_dict("records")]
    left = width - max(map(len, names), default=0)
    wide, narrow = left > 95, left < 65
    table.add_column("", no_wrap=True)
    columns = ["recall", "found", "precision", "right", "F1", "relaxed"]
    hidden = set() if wide else {"found", "right", "F1"} if narrow else {"found", "right"}
    for column in columns:
        if column not in hidden:
            table.add_column(column, justify="right", no_wrap=True)
    for name, row in zip(names, rows.to_dict("records"), strict=True):
        cells = {
            "recall": _change(row, "recall"),
            "found": f"{count(row['tp_gold_strict'])} → {count(row['tp_gold_relaxed'])}",
            "precision": _change(row, "precision"),
            "right": f"{count(row['tp_pred_strict'])} → {count(row['tp_pred_relaxed'])}",
            "F1": _change(row, "f1"),
            "relaxed": str(row["relaxed_matches"]),
        }
        table.add_row(Text(name), *(cells[column] for column in columns if column not in hidden))
    return table


def _change(row: dict[str, float], name: str) -> str:
    difference = row[f"{name}_difference"]
    text = f"{rate(row[f'{name}_strict'])} → {rate(row[f'{name}_relaxed'])}"
    return text if difference != difference else f"{text} ({100 * difference:+.1f})"  # noqa: PLR0124  (NaN)


def _label_note(evaluation: Evaluation) -> list[RenderableType]:
    from rich.text import Text

    groups = "; ".join(", ".join(group) for group in evaluation.options.labels.equivalent)
    return [Text(f"Equivalent: {groups}", style="dim"), Text()]
