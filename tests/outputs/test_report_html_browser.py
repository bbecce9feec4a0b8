"""The HTML report in a real browser: filters, links, tooltips, documents, no JavaScript, the spans behind a cell."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.options import Options
from clueval_xlsx.outputs.html.report import report_html
from tests.outputs.test_confusion_page import HOSTILE as HOSTILE_WORD
from tests.outputs.test_confusion_page import data_of
from tests.outputs.test_confusion_page import page as confusion_page_of_table
from tests.support.ci import PROGRAMS_REQUIRED
from tests.support.folders import ROOT
from tests.support.pages import HOSTILE, hostile_sides
from tests.support.tables import pair_of

pytestmark = pytest.mark.browser
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1200,900"
)


def unavailable(reason: str) -> None:
    """Skip, or fail where the programs must be there."""
    if PROGRAMS_REQUIRED:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A fresh Chromium for the tests of this file."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        unavailable("Chromium and its driver are not installed (chromium, chromedriver)")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('chromium')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = Service(driver)
    opened = webdriver.Chrome(options=options, service=service)
    yield opened
    opened.quit()


class Opened:
    """A report in the browser."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver = driver
        self.address = path.as_uri()

    def go(self, hash_: str = "") -> Opened:
        """Load the page anew."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(self.address + hash_)
        return self

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that are shown."""
        return [element.text for element in self.all(selector) if element.is_displayed()]

    def choose(self, name: str, value: str) -> None:
        """Set a field of the filters as a person would."""
        from selenium.webdriver.support.ui import Select

        Select(self.one(f"#cases [name={name}]")).select_by_value(value)

    def until(self, done: Callable[[], object]) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 20).until(lambda _: done())

    @property
    def status(self) -> str:
        return self.one("#cases .status").text

    @property
    def shown_ids(self) -> list[str]:
        return self.run("return [...document.querySelectorAll('#cases .case')].map(e => e.dataset.id)")

    @property
    def every_id(self) -> list[str]:
        """The IDs of all cases that the filters leave, page by page."""
        found = self.shown_ids
        while self.one("#cases .on").is_enabled():
            self.one("#cases .on").click()
            found += self.shown_ids
        return found

    @property
    def hash(self) -> str:
        return self.run("return location.hash")

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="module")
def open_page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Opened]:
    folder = tmp_path_factory.mktemp("pages")

    def opener(name: str, page: str) -> Opened:
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_text(page, "utf-8")
        return Opened(browser, path)

    return opener


@pytest.fixture
def report(open_page: Callable[..., Opened], example: Evaluation) -> Iterator[Opened]:
    page = open_page("example", report_html(example))
    yield page
    assert page.complaints() == []


def cases_of(result: Evaluation) -> pd.DataFrame:
    return pd.concat(result.case_tables).sort_values(["start", "sheet"], kind="stable")


def cards(cases: pd.DataFrame) -> pd.DataFrame:
    """Cases as the list shows them: twins are one card."""
    return cases.drop_duplicates(["sheet", "twin_group"])


def test_a_link_to_a_case_shows_it_even_through_filters(report: Opened, example: Evaluation) -> None:
    wanted = example.case_tables[0]["case_id"].iloc[-1]
    report.go(f"#{wanted}")
    assert report.texts("main h2") == ["Cases"]
    active = report.driver.switch_to.active_element
    assert active.get_attribute("data-id") == wanted
    assert active.get_attribute("aria-current") == "true"
    report.choose("sheet", "FP")
    assert wanted not in report.every_id
    report.run("location.hash = arguments[0]", wanted)
    report.until(lambda: wanted in report.shown_ids)
    assert "filters were cleared" in report.status
    report.run("location.hash = 'FN-NOSUCHCASE00'")
    report.until(lambda: "no case FN-NOSUCHCASE00" in report.status)


def test_keys_go_to_the_next_and_the_previous_case_across_pages(report: Opened, example: Evaluation) -> None:
    from selenium.webdriver.common.keys import Keys

    ids = cards(cases_of(example))["case_id"].tolist()
    report.go(f"#{ids[24]}")
    for key, expected in ((Keys.ARROW_DOWN, 25), ("j", 26), ("k", 25), (Keys.ARROW_UP, 24), ("k", 23)):
        report.driver.switch_to.active_element.send_keys(key)
        assert report.driver.switch_to.active_element.get_attribute("data-id") == ids[expected]
        assert report.hash == f"#{ids[expected]}"
        assert report.status.startswith(f"Case {expected + 1} of {len(ids)}")
    report.go(f"#{ids[0]}")
    report.driver.switch_to.active_element.send_keys("k")
    assert report.status == "This is the first case."
    field = report.one("#cases [name=text]")
    field.send_keys("jk")
    assert field.get_attribute("value") == "jk"


def test_every_mark_of_a_document_says_its_own_labels(report: Opened, example: Evaluation) -> None:
    """The script finds a mark's spans by its place in the text."""
    pair, document = example.pair, 1
    report.go(f"#doc-{document + 1}")
    first = """return [...document.querySelectorAll(`#doc-${arguments[0]} mark`)].map(mark => {
        mark.focus();
        return [...document.querySelectorAll('#tip div')].slice(0, 2).map(line => line.textContent.split(' · ')[0]);
    })"""
    said = [line.split(": ", 1) for lines in report.run(first, document + 1) for line in lines]
    bounds = pair.corpus.documents.start[document], pair.corpus.documents.stop[document]
    for side, name in ((pair.gold, "Reference"), (pair.pred, "Model")):
        spans = side.spans[side.spans["start"].between(bounds[0], bounds[1] - 1)]
        labels = [spans[layer].astype(object).fillna("") for layer in pair.layers]
        expected = {", ".join(filter(None, each)) for each in zip(*labels, strict=True)}
        assert {text for key, text in said if key == name} - {"nothing"} == expected


def test_page_can_be_read_without_javascript(report: Opened, example: Evaluation) -> None:
    driver = report.driver
    case = example.case_tables[0].iloc[-1]
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        report.go()
        assert report.texts("main h2") == ["Metrics", "Documents", "Confusion", "Cases", "Texts"]
        assert not [element for element in report.all(".scripted") if element.is_displayed()]
        assert "cases needs JavaScript" in report.one("#cases").text
        assert len([element for element in report.all("summary") if element.is_displayed()]) == 4
        report.go(f"#{case['case_id']}")  # a link to a case leads to its place in the document, which opens
        report.until(lambda: report.one(f"#{case['case_id']} + mark").is_displayed())
        assert report.one(f"#{case['case_id']} + mark").text in case["surface"]
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_hostile_tokens_are_shown_and_never_run(open_page: Callable[..., Opened]) -> None:
    page = open_page("hostile", report_html(evaluate(pair_of(hostile_sides()), Options(by=("domain",)))))
    page.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "window.alert = () => { window.wasRun = true; }"}
    )
    for view in ("", "#cases", "#documents"):
        page.go(view)
        assert page.run("return [!!window.wasRun, document.images.length, document.scripts.length]") == [False, 0, 2]
        for mark in page.run(
            "return [...document.querySelectorAll('main mark[data-at]')].map(m => (m.focus(), m.textContent))"
        ):
            assert mark in {token.replace("&amp;", "&") for token in HOSTILE}
        assert page.complaints() == []
    page.go("#cases")
    contexts = page.run("return [...document.querySelectorAll('.context')].map(e => e.textContent)")
    assert len(contexts) == len(HOSTILE)
    assert all("<script>alert(1)</script>" in context for context in contexts)


@pytest.fixture(scope="module")
def axe() -> str:
    """axe-core: from CLUEVAL_AXE, or from node_modules beside the checkout."""
    path = Path(os.environ.get("CLUEVAL_AXE", ROOT / "node_modules" / "axe-core" / "axe.min.js"))
    if not path.is_file():
        unavailable("axe-core is not there: npm install axe-core, or name its file in CLUEVAL_AXE")
    return path.read_text("utf-8")


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("view", ["", "#cases", "#documents"])
def test_accessibility_checker_finds_nothing(report: Opened, axe: str, mode: str, view: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": mode}
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    report.go(view)
    if view == "#cases":
        report.run("document.querySelector('.case mark').focus()")  # with a tooltip open
    check(report, axe)
    report.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def check(page: Opened, axe: str) -> None:
    """Run the checker over the page as it is shown."""
    page.run(axe)
    looked, complaints = page.driver.execute_async_script(
        """const done = arguments[0];
        const told = ({id, nodes}) => id + ': ' + nodes.map(n => n.html + n.failureSummary).join('; ');
        axe.run(document).then(found => done([found.passes.length, found.violations.map(told)]))"""
    )
    assert complaints == []
    assert looked > 15  # it did look


TWINS = """
    token  gold   pred
    <text id="d1">
    <s>
    Kay    B-PER  O
    rief   O      O
    KAY    B-PER  O
    Lea    B-PER  O
    </s>
    </text>
    <text id="d2">
    <s>
    Kay    B-PER  O
    ging   O      O
    </s>
    </text>
"""


def test_twins_are_folded_into_one_card_with_a_count(browser: Any, tmp_path: Path):
    evaluation = evaluate(pair_of(TWINS), Options(replicates=0))
    path = tmp_path / "twins.html"
    path.write_text(report_html(evaluation), "utf-8")
    first, second, _, third = evaluation.bare_cases[0]["case_id"]
    report = Opened(browser, path).go("#cases")

    assert len(report.shown_ids) == 2
    assert report.run("return document.querySelector('#cases .status').textContent").startswith("4 of 4")
    assert report.run("return document.querySelector('.case-list details.alike summary').textContent") == "3 alike"
    links = "return [...document.querySelectorAll('.case-list details.alike a')].map((one) => one.textContent)"
    assert report.run(links) == []
    report.one(".case-list details.alike:not([hidden]) summary").click()
    report.until(lambda: report.run(links) == [second, third])
    report.go(f"#{third}")  # a link to a twin that is folded away shows that twin
    assert third in report.shown_ids
    assert first not in report.shown_ids
    assert report.run("return document.querySelector('.case[aria-current]').dataset.id") == third
    report.run(
        "const form = document.querySelector('#cases form'); form.elements.namedItem('document').value = '1';"
        "form.dispatchEvent(new Event('change'))"
    )
    assert report.shown_ids == [third]
    assert report.run("return document.querySelector('.case-list details.alike').hidden")


def test_a_click_and_the_keyboard_list_the_spans_behind_a_cell(open_page: Callable[..., Opened], axe: str) -> None:
    from selenium.webdriver.common.keys import Keys

    confusion_html = confusion_page_of_table()
    page = open_page("confusion", confusion_html).go()
    layer = data_of(confusion_html)["layers"][0]
    row, column = layer["rows"].index("ORG"), layer["columns"].index("PER")
    button = page.one(f'button[data-row="{row}"][data-column="{column}"]')
    assert "100.0 %" in button.get_attribute("title")
    button.click()
    assert "Reference ORG, model PER" in page.one("#spans-0").text
    assert HOSTILE_WORD in page.one("#spans-0").text
    assert len(page.all("#spans-0 tbody tr")) == 1
    button.send_keys(Keys.ARROW_DOWN)
    moved = page.driver.switch_to.active_element
    assert (moved.get_attribute("data-row"), moved.get_attribute("data-column")) == (str(row + 1), str(column))
    moved.send_keys(Keys.ENTER)
    assert f"Reference {layer['rows'][row + 1]}, model PER" in page.one("#spans-0").text
    check(page, axe)
    assert page.complaints() == []
