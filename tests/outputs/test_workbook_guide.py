"""The Guide: what a judge reads first, and what each label means; the conflict workbook has one of its own."""

from __future__ import annotations

import io
import re

import openpyxl
import pytest

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.outputs.xlsx.review import write_workbook
from clueval_xlsx.review.judgements import Role
from clueval_xlsx.words import Words
from tests.support.commands import EXAMPLE_OPTIONS, run
from tests.support.workbooks import TABS, example, headers, opened, written

LABELS = {"PERSON": "natürliche Personen, auch Spitznamen", "DATE": "Tage und Zeiträume"}


def guide_texts(book, lang="en"):
    """Everything that stands on the Guide, from top to bottom."""
    sheet = book[Words(lang)["sheet.guide"]]
    return [str(cell) for row in sheet.iter_rows(values_only=True) for cell in row if cell is not None]


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_guide_begins_with_enable_editing_and_the_cursor_is_in_the_name_cell(lang):
    book, words = opened(written(example(), Handout(lang=lang))), Words(lang)
    texts = guide_texts(book, lang)
    assert texts.index(words["guide.enable"]) == 2  # behind title and subtitle
    sheet = book[words["sheet.guide"]]
    chosen = sheet.sheet_view.selection[0].activeCell
    assert sheet[chosen].offset(0, -1).value == words["guide.judge_name"]


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_guide_names_sheets_by_their_tabs_and_leads_to_them(lang):
    book, words = opened(written(example(), Handout(lang=lang))), Words(lang)
    sheet = book[words["sheet.guide"]]
    links = {cell.value: cell.hyperlink.location for row in sheet.iter_rows() for cell in row if cell.hyperlink}
    tabs = [words["sheet.fn"], words["sheet.fp"]]
    assert list(links) == tabs
    for tab, location in links.items():
        name, _, cell = location.rpartition("!")
        assert name.strip("'") == tab
        assert book[tab][cell].column == headers(book[tab]).index(words["column.judgement"]) + 1
    text = "\n".join(guide_texts(book, lang))
    without_tabs = text.replace(tabs[0], "").replace(tabs[1], "")
    assert not re.search(r"\b(FN|FP)\b", without_tabs)  # no abbreviation but in the names of the sheets


@pytest.mark.parametrize("lang", ["en", "de"])
def test_the_guide_says_what_labels_mean_and_the_list_of_labels_does_too(lang):
    book, words = opened(written(example(), Handout(lang=lang, label_words=LABELS))), Words(lang)
    texts = guide_texts(book, lang)
    for label, meaning in LABELS.items():
        assert texts[texts.index(label) + 1] == meaning
    sheet = book[words["sheet.fn"]]
    hints = [rule.prompt for rule in sheet.data_validations.dataValidation if rule.prompt]
    assert sum("PERSON: natürliche Personen, auch Spitznamen" in hint for hint in hints) == 2  # one for each layer
    assert words["guide.labels_title"] not in guide_texts(opened(written(example(), Handout(lang=lang))), lang)


def test_label_words_come_from_the_config_to_guide_and_tooltips(sides, tmp_path):
    config = tmp_path / "project.toml"
    config.write_text('[label_words]\nPERSON = "natural persons"\n', "utf-8")
    book, page = tmp_path / "review.xlsx", tmp_path / "report.html"
    done = run("evaluate", *sides, *EXAMPLE_OPTIONS, "--config", config, "-o", book, "--html", page)
    assert done.code == 0, done.err
    assert "natural persons" in guide_texts(openpyxl.load_workbook(book))
    html = page.read_text("utf-8")
    assert re.search(r'"meanings": ?{"PERSON": ?"natural persons"}', html)


@pytest.mark.parametrize("blind", [False, True])
def test_the_conflict_workbook_has_a_guide_of_its_own(blind):
    evaluation, stream = example(), io.BytesIO()
    cases = {FN: evaluation.case_tables[0].head(2), FP: evaluation.case_tables[1].head(0)}
    why = dict.fromkeys(cases[FN]["case_id"], "The judges disagree.\nAnna: …\nBen: …")
    write_workbook(evaluation, stream, Handout(role=Role.CONFLICTS, why=why, blind=blind), cases=cases)
    book, words = opened(stream.getvalue()), Words("en")
    texts = guide_texts(book)
    assert texts[0] == "Open cases: you decide"
    assert words["guide.conflict_what_blind" if blind else "guide.conflict_what"] in texts
    assert words["guide.what"] not in texts
    sheet = book[TABS["FN"]]
    shown, judged = (headers(sheet).index(name) + 1 for name in ("Why you see this", "Judgement"))
    assert shown + 1 == judged  # beside the judgement, frozen with the context
    assert sheet.freeze_panes == sheet.cell(4, judged).coordinate
    assert sheet.cell(4, shown).value.startswith("The judges disagree.")
