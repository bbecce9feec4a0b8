"""One palette and one set of cell formats for every sheet."""

from __future__ import annotations

from typing import Any

from clueval_xlsx.cases.contexts import EMOJI
from clueval_xlsx.review.case_sheet import HAPPENED

FONT = "Calibri"
EMOJI_FONT = "Segoe UI Emoji"  # Excel has it; other programs take one that has emoji
PLAIN_FONT = "Arial"  # has all signs, and every system has one as wide: columns are measured by it
INK = "#1F2933"
MUTED = "#5B6673"
ACCENT = "#1F4E79"
LINE = "#D5DAE0"
SHADE = "#F4F6F8"  # not for judging
PAPER = "#FFFFFF"
INPUT = "#FFFBEA"  # for judging
DONE = "#E3F1E6"
ALARM = "#F8D2CF"
AMBER = "#FDE7BF"
BAR = "#BBD3EA"  # behind a rate
QUIET = "#E6E9ED"
HEAT = ("#EAF1F8", "#CFDFF0", "#A9C6E3", "#7FA8D1", "#5F90C2")  # more and more errors
BOTH_COLOUR, GOLD_COLOUR, PRED_COLOUR = "#1B7F3B", "#B3261E", "#B35900"

# Marks in running text: colour, and a second sign that survives black-and-white printing.
MARKS: dict[str, dict[str, Any]] = {
    "both": {"font_color": BOTH_COLOUR, "bold": True},
    "gold": {"font_color": GOLD_COLOUR, "bold": True, "underline": 1},
    "pred": {"font_color": PRED_COLOUR, "bold": True, "italic": True},
    "neither": {"font_color": ACCENT, "bold": True},
    "kept": {"bold": True},
    "struck": {"font_color": GOLD_COLOUR, "font_strikeout": True},
    "inserted": {"font_color": BOTH_COLOUR, "bold": True, "underline": 1},
    "alarm": {"font_color": GOLD_COLOUR, "bold": True},
}

SERIES = (ACCENT, "#D9822B")
TONES = {"both": BOTH_COLOUR, "gold": GOLD_COLOUR, "pred": PRED_COLOUR, "nobody": "#8A96A3"}

# What sets the row of a table apart, over the style of its cells.
LOOKS: dict[str, dict[str, Any]] = {
    "chosen": {"bold": True, "bg_color": "#EEF4FA"},
    "summary": {"italic": True, "top": 1, "top_color": MUTED},
    "opens": {"top": 1, "top_color": MUTED},
    "faint": {"font_color": MUTED},
    **{mark: MARKS[mark] for mark in ("kept", "struck", "inserted", "alarm")},  # a cell that is marked as a whole
}

_BASE: dict[str, Any] = {"font_name": FONT, "font_size": 10, "font_color": INK, "valign": "top"}
_CELL = {**_BASE, "text_wrap": True, "bottom": 1, "bottom_color": LINE}
_NUMBER = {**_BASE, "valign": "vcenter", "bottom": 1, "bottom_color": LINE, "align": "right", "indent": 1}
_NAME = {**_CELL, "valign": "vcenter", "indent": 1}
_HEADER = {
    **_BASE,
    "bold": True,
    "font_color": "#FFFFFF",
    "bg_color": ACCENT,
    "text_wrap": True,
    "valign": "vcenter",
    "border": 1,
    "border_color": ACCENT,
}
_CASE_HEADER = {**_BASE, "bold": True, "text_wrap": True, "bottom": 2}

_MATRIX = {
    **_BASE,
    "align": "center",
    "valign": "vcenter",
    "border": 1,
    "border_color": LINE,
    "num_format": '#,##0;-#,##0;"·"',
}

FORMATS: dict[str, dict[str, Any]] = {
    "plain": _BASE,
    "text": {**_BASE, "text_wrap": True, "valign": "vcenter"},
    "muted": {**_BASE, "font_color": MUTED, "font_size": 9},
    "muted_wrap": {**_BASE, "font_color": MUTED, "font_size": 9, "text_wrap": True, "valign": "vcenter"},
    "title": {**_BASE, "font_size": 18, "bold": True, "font_color": ACCENT, "valign": "vcenter"},
    "sheet_title": {**_BASE, "font_size": 14, "bold": True, "font_color": ACCENT, "valign": "vcenter"},
    "headline": {**_BASE, "font_size": 13, "bold": True, "text_wrap": True},
    "digits": {**_BASE, "font_color": "#7A5B00", "font_size": 9, "text_wrap": True, "valign": "vcenter"},
    "subtitle": {**_BASE, "font_size": 11, "font_color": MUTED},
    "section": {
        **_BASE,
        "font_size": 12,
        "bold": True,
        "font_color": ACCENT,
        "valign": "vcenter",
        "bottom": 2,
        "bottom_color": ACCENT,
    },
    "bold": {**_BASE, "bold": True, "text_wrap": True},
    "notice": {**_BASE, "bold": True, "bg_color": AMBER, "valign": "vcenter", "indent": 1},
    "form_name": {**_BASE, "bold": True, "valign": "vcenter"},
    "form_text": {**_BASE, "valign": "vcenter"},
    "empty": {**_BASE, "font_size": 11, "bold": True, "text_wrap": True, "valign": "vcenter"},
    "progress": {**_BASE, "font_size": 12, "bold": True, "valign": "vcenter"},
    "header": {**_HEADER, "indent": 1},
    "header_name": {**_HEADER, "indent": 1},
    "header_right": {**_HEADER, "align": "right", "indent": 1},
    "header_centre": {**_HEADER, "align": "center", "text_wrap": False, "shrink": True},
    "note": {**_BASE, "font_color": MUTED, "font_size": 9, "text_wrap": True, "valign": "vcenter"},
    "explanation": {**_BASE, "font_color": MUTED, "font_size": 9, "valign": "vcenter"},
    # under a filter: words on top, the button below
    "header_filter_name": {**_HEADER, "valign": "top", "align": "left", "indent": 1},
    "header_filter_right": {**_HEADER, "valign": "top", "align": "right", "indent": 1},
    # case rows: what is printed again and again takes little ink
    "header_case": {**_CASE_HEADER, "font_color": ACCENT, "bg_color": "#E3EBF4", "bottom_color": ACCENT},
    "header_input": {**_CASE_HEADER, "font_color": "#6B4F00", "bg_color": "#FBEFC8", "bottom_color": "#6B4F00"},
    "cell": {**_CELL, "bg_color": SHADE},
    "cell_context": {**_CELL, "bg_color": PAPER},
    "cell_why": {**_CELL, "bg_color": SHADE, "font_size": 9},
    "cell_number": {**_CELL, "bg_color": SHADE, "font_color": MUTED, "align": "right"},
    "cell_state": {**_CELL, "bg_color": SHADE, "font_size": 9},
    "cell_small": {**_CELL, "bg_color": SHADE, "font_size": 8, "font_color": MUTED},
    "cell_folded": {**_BASE, "bg_color": SHADE, "font_size": 8, "font_color": MUTED},
    "cell_link": {**_CELL, "bg_color": SHADE, "font_size": 8, "font_color": ACCENT, "underline": 1},
    "input": {**_CELL, "bg_color": INPUT, "num_format": "@", "locked": False},
    "input_name": {
        **_BASE,
        "valign": "vcenter",
        "bg_color": INPUT,
        "num_format": "@",
        "locked": False,
        "border": 1,
        "border_color": MUTED,
    },
    # tables
    "row_name": _NAME,
    "row_name_bold": {**_NAME, "bold": True},
    "row_link": {**_NAME, "font_color": ACCENT, "underline": 1},
    "count": {**_NUMBER, "num_format": "#,##0"},
    "count_half": {**_NUMBER, "num_format": "#,##0.0"},
    "measure": {**_NUMBER, "num_format": "0.00"},
    "rate": {**_NUMBER, "num_format": "0.0%"},
    "rate_bold": {**_NUMBER, "num_format": "0.0%", "bold": True},
    "points": {**_NUMBER, "num_format": "+0.0;−0.0;0.0"},
    "chance": {**_NUMBER, "num_format": '[<0.001]"< 0.001";0.000'},
    "undefined": {**_NUMBER, "font_color": MUTED, "italic": True},
    "interval": {**_NUMBER, "font_color": MUTED, "font_size": 9},
    "matrix": _MATRIX,
    "matrix_diagonal": {**_MATRIX, "border": 2, "border_color": ACCENT, "bold": True},
    **{f"matrix_{step}": {**_MATRIX, "bg_color": colour} for step, colour in enumerate(HEAT, 1)},
    # tiles
    "tile_name": {
        **_BASE,
        "valign": "vcenter",
        "font_color": MUTED,
        "bg_color": SHADE,
        "align": "center",
        "top": 2,
        "top_color": ACCENT,
    },
    "tile_rate": {
        **_BASE,
        "font_size": 20,
        "bold": True,
        "bg_color": SHADE,
        "align": "center",
        "valign": "vcenter",
        "num_format": "0.0%",
    },
    "tile_count": {
        **_BASE,
        "font_size": 20,
        "bold": True,
        "bg_color": SHADE,
        "align": "center",
        "valign": "vcenter",
        "num_format": "#,##0",
    },
    "tile_note": {**_BASE, "font_color": MUTED, "font_size": 9, "bg_color": SHADE, "align": "center"},
    f"mark_{HAPPENED}": {"font_name": FONT, "font_size": 8, "font_color": MUTED},
    **{
        f"mark_sign_{mark}": {
            "font_name": PLAIN_FONT,
            "font_size": 7,
            "bold": True,
            "font_color": MARKS[mark]["font_color"],
        }
        for mark in EMOJI
    },
    "mark_emoji": {"font_name": EMOJI_FONT, "font_size": 6, "font_color": INK},
    "mark_none": {"font_name": FONT, "font_size": 10, "font_color": INK},
    **{f"mark_{mark}": {"font_name": FONT, "font_size": 10, **look} for mark, look in MARKS.items()},
    # conditional
    "if_done": {"bg_color": DONE},
    "if_missing": {"bg_color": AMBER},
    "if_strange": {"bg_color": ALARM},
    "if_settled": {"bg_color": QUIET},
}
