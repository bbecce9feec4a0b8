"""Presidio itself, with its pattern recognizers and pipelines without a model, in English and German."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from clueval_xlsx.detectors.base import DetectorSettings
from clueval_xlsx.detectors.presidio import make
from clueval_xlsx.exceptions import DetectorError
from tests.support.commands import run

# Asked without loading it, which takes seconds in every process that collects the tests.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("presidio_analyzer") is None, reason="Presidio is not installed: pip install clueval-xlsx[presidio]"
    ),
]

NLP = """nlp_engine_name: spacy
models:
  - {lang_code: en, model_name: "blank:en"}
  - {lang_code: de, model_name: "blank:de"}
"""
RECOGNIZERS = """supported_languages: [en]
recognizers:
  - name: EmailRecognizer
    type: predefined
  - name: Docket
    type: custom
    supported_entity: CASE_NUMBER
    supported_languages: [{language: de, context: [aktenzeichen]}, {language: en}]
    patterns:
      - {name: docket, regex: '\\b\\d{1,3} [CO] \\d{1,5}/\\d{2}\\b', score: 0.4}
  - name: English only
    type: custom
    supported_entity: EXHIBIT
    supported_languages: [en]
    patterns:
      - {name: exhibit, regex: 'Exhibit \\d+', score: 0.9}
"""
TEXT = "Mail ann.lee@example.com or call 01632 960118; 12 C 345/24, Exhibit 4, IBAN DE89 3704 0044 0532 0130 00."


@pytest.fixture
def nlp(write: Callable[..., Path]) -> str:
    return str(write("nlp.yaml", NLP))


@pytest.fixture
def recognizers(write: Callable[..., Path]) -> str:
    return str(write("recognizers.yaml", RECOGNIZERS))


def labels(settings: DetectorSettings, text: str = TEXT) -> list[tuple[str, str]]:
    """What Presidio finds, in this process: a start of its own for each test would take long."""
    found = sorted(make(settings).analyse([text])[0])
    return [(one.label, text[one.start : one.end]) for one in found]


def test_what_a_configuration_finds_is_what_it_says(nlp: str, recognizers: str) -> None:
    settings = DetectorSettings("presidio", "de", nlp_config=nlp, recognizers_config=recognizers)
    description = make(settings).describe()
    assert description.entities == ("CASE_NUMBER", "EMAIL_ADDRESS")  # no PERSON: nothing could find one
    assert description.custom_entities == ("CASE_NUMBER",)
    assert str(description).startswith("presidio/2.")
    assert "/de/" in str(description)


def test_the_language_asked_for_wins_over_what_the_configuration_lists_first(nlp: str, recognizers: str) -> None:
    english, german = (
        labels(DetectorSettings("presidio", language, nlp_config=nlp, recognizers_config=recognizers))
        for language in ("en", "de")
    )
    assert set(english) - set(german) == {("EXHIBIT", "Exhibit 4")}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"language": "fr"}, r"nlp.yaml: no model for language 'fr'. Languages there: en, de."),
        ({"options": {"a": "b"}}, r"--detector presidio has no options of its own, found a"),
    ],
)
def test_what_presidio_cannot_do_is_said(nlp: str, settings: dict[str, object], message: str) -> None:
    with pytest.raises(DetectorError, match=message):
        make(DetectorSettings("presidio", nlp_config=nlp, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("nlp_config", "recognizers_config", "message"),
    [
        (
            "models: [{lang_code: en, model_name: en_core_web_nowhere}]",
            None,
            "is not installed.*spacy download.*blank:en",
        ),
        ("models: [{lang_code: en, model_name: 'blank:qq'}]", None, "spaCy does not know the language 'qq'"),
        ("models: en", None, "'models' must be a list"),
        ("[1, 2]", None, "found list, allowed: a YAML mapping"),
        ("models: [", None, "not valid YAML"),
        (NLP, "recognizers: [{name: NoSuchRecognizer, type: predefined}]", "Presidio refuses this configuration"),
        (NLP, "recognizers: [", "not valid YAML"),
    ],
)
def test_bad_configurations_are_named(
    write: Callable[..., Path], nlp_config: str, recognizers_config: str | None, message: str
) -> None:
    settings = DetectorSettings(
        "presidio",
        nlp_config=str(write("n.yaml", nlp_config)),
        recognizers_config=str(write("r.yaml", recognizers_config)) if recognizers_config else None,
    )
    with pytest.raises(DetectorError, match=message):
        make(settings)


def test_no_network_is_asked(nlp: str) -> None:
    # With the list of domains that comes with the package the answer does not depend on the day.
    from clueval_xlsx.detectors.presidio import stay_offline

    stay_offline()
    import tldextract

    assert tldextract.tldextract.TLD_EXTRACTOR.suffix_list_urls == ()
    assert tldextract.extract("a@b.co.uk").domain == "b"


def test_the_example_in_one_go(tmp_path: Path, nlp: str, recognizers: str, examples: Path) -> None:
    metrics = tmp_path / "metrics.json"
    arguments = (
        "--detector",
        "presidio",
        "--detector-language",
        "en",
        "--detector-option",
        f"nlp_config={nlp}",
        "--layer",
        "category=2",
    )
    result = run(
        *("evaluate", examples / "gold.vrt", *arguments, "--detector-option", f"recognizers_config={recognizers}"),
        *("--json", metrics, "--set", "labels.unmapped=keep", "--labelled", "category"),
    )
    assert result.code == 0, result.err
    assert "labels aligned by built-in map: ADDRESS → LOCATION, DATE → DATE_TIME" in result.err
    assert "labels aligned by custom recognizer: CASE_NUMBER" in result.err
    found = json.loads(metrics.read_text("utf-8"))
    assert "/en/" in found["signature"]
    rows = [row for row in found["scores"] if row["label"] == "CASE_NUMBER" and row["level"] == "exact"]
    assert rows
    assert all(row["tp_gold"] == row["tp_pred"] == 2 for row in rows)  # 12 C 345/24 and 5 O 218/24
