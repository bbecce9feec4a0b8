"""Presidio Analyzer as a detector: its language is the one asked for, whatever its configuration lists first."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from clueval_xlsx.detectors.base import Description, Detection, DetectorSettings, configuration_hash
from clueval_xlsx.exceptions import DetectorError

INSTALL = 'pip install "clueval-xlsx[presidio]"'
BLANK = "blank:"
_MODELS = ("spacy", "slim")  # the kinds of pipeline whose models are spaCy's


def check_installed() -> None:
    """Say how to get Presidio where it is missing."""
    if any(find_spec(name) is None for name in ("presidio_analyzer", "spacy")):
        raise DetectorError(f"--detector presidio: Presidio is not installed here. Get it with: {INSTALL}")


def make(settings: DetectorSettings) -> PresidioDetector:
    """Build the analyzer."""
    check_installed()
    if settings.options:
        raise DetectorError(
            f"--detector presidio has no options of its own, found {', '.join(settings.options)}. "
            "Configure it with nlp_config, recognizers_config, score_threshold and --detector-language."
        )
    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    stay_offline()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # advice to people who write configurations, not to those who evaluate
        return PresidioDetector(settings)


class PresidioDetector:
    """An analyzer for one language."""

    def __init__(self, settings: DetectorSettings) -> None:
        from presidio_analyzer import AnalyzerEngine

        self.settings = settings
        nlp_configuration = _nlp_configuration(settings)
        registry_configuration = _registry_configuration(settings)
        self._custom = _custom_entities(registry_configuration, settings.language)
        nlp_engine = _nlp_engine(nlp_configuration)
        self._label_map = _label_map(nlp_engine)
        try:
            registry = _registry(registry_configuration, nlp_engine)
            self.analyzer = AnalyzerEngine(
                registry=registry, nlp_engine=nlp_engine, supported_languages=[settings.language]
            )
            self._entities = sorted(self.analyzer.get_supported_entities(settings.language))
        except (ValueError, TypeError) as error:
            name = settings.recognizers_config or "Presidio's own recognizers"
            raise DetectorError(f"{name}: Presidio refuses this configuration: {_one_line(error)}") from None
        if not self._entities:
            raise DetectorError(
                f"{settings.recognizers_config or 'Presidio'}: no recognizer is there for language "
                f"{settings.language!r}. Add one, or choose another --detector-language."
            )

    def describe(self) -> Description:
        """Presidio's version, and what this configuration can find."""
        return Description(
            name="presidio",
            version=metadata.version("presidio-analyzer"),
            language=self.settings.language,
            configuration=configuration_hash(self.settings),
            entities=tuple(self._entities),
            label_map=self._label_map,
            custom_entities=self._custom,
            presidio_names=True,
        )

    def analyse(self, texts: Sequence[str]) -> list[list[Detection]]:
        """Run the analyzer; a threshold of None leaves the recognizers' own in force."""
        language, threshold = self.settings.language, self.settings.score_threshold
        return [
            [
                Detection(found.start, found.end, found.entity_type, float(found.score))
                for found in self.analyzer.analyze(text, language, score_threshold=threshold)
            ]
            for text in texts
        ]


def stay_offline() -> None:
    """Let e-mail and URL checks use the list of domains that came with the package.

    Otherwise the first address in a text makes Presidio ask the network: results would depend on the day, and a
    machine without a network would wait.
    """
    try:
        import tldextract
    except ImportError:
        return
    extractor = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    tldextract.tldextract.TLD_EXTRACTOR = extractor


def _read_yaml(path: str) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise DetectorError(f"{path}: cannot be read: {error.strerror or error}. Check the path.") from None
    except UnicodeDecodeError:
        raise DetectorError(f"{path}: the file is not UTF-8. Save it as UTF-8.") from None
    except yaml.YAMLError as error:
        raise DetectorError(f"{path}: not valid YAML: {_one_line(error)}") from None
    if not isinstance(content, dict):
        raise DetectorError(
            f"{path}: found {type(content).__name__}, allowed: a YAML mapping as Presidio documents it."
        )
    return content


def _nlp_configuration(settings: DetectorSettings) -> dict[str, Any]:
    """Presidio's NLP configuration with the models of the chosen language alone."""
    if settings.nlp_config is None:
        from presidio_analyzer.nlp_engine import NlpEngineProvider

        name = "Presidio's default NLP configuration"
        configuration = dict(NlpEngineProvider().nlp_configuration)
    else:
        name = settings.nlp_config
        configuration = _read_yaml(name)
    models = configuration.get("models")
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise DetectorError(f"{name}: 'models' must be a list of mappings with lang_code and model_name.")
    chosen = [model for model in models if model.get("lang_code") == settings.language]
    if not chosen:
        known = ", ".join(str(model.get("lang_code")) for model in models) or "none"
        raise DetectorError(
            f"{name}: no model for language {settings.language!r}. Languages there: {known}. Choose one of them with "
            f"--detector-language, or give nlp_config a file with a model for {settings.language!r} "
            f"({BLANK}{settings.language} works without a model)."
        )
    configuration = {**configuration, "models": chosen[:1]}
    kind = configuration.setdefault("nlp_engine_name", "spacy")
    if kind in _MODELS:
        _check_model(name, str(chosen[0].get("model_name")), settings.language)
    return configuration


def _check_model(name: str, model: str, language: str) -> None:
    """Refuse a model that is not there: Presidio would download it without a word."""
    import spacy

    if model.startswith(BLANK) or spacy.util.is_package(model) or Path(model).exists():
        return
    raise DetectorError(
        f"{name}: the spaCy model {model!r} is not installed. Install it (python -m spacy download {model}), or name "
        f"another in nlp_config; {BLANK}{language} is a pipeline without a model, for pattern recognizers alone."
    )


def _nlp_engine(configuration: dict[str, Any]) -> Any:
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    model = configuration["models"][0]
    if str(model.get("model_name", "")).startswith(BLANK):
        return _blank_engine(model)
    try:
        return NlpEngineProvider(nlp_configuration=configuration).create_engine()
    except (ValueError, TypeError, KeyError, OSError, ImportError) as error:
        raise DetectorError(f"the NLP configuration: Presidio refuses it: {_one_line(error)}") from None


def _blank_engine(model: dict[str, Any]) -> Any:
    """A spaCy pipeline that only cuts tokens: no entities of its own, but recognizers can use context words."""
    import spacy
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    name = str(model["model_name"]).removeprefix(BLANK)
    try:
        pipeline = spacy.blank(name)
    except ImportError:
        raise DetectorError(f"{BLANK}{name}: spaCy does not know the language {name!r}. Example: {BLANK}de.") from None
    # Without a model there are no lemmas; the words themselves let context words count.
    pipeline.add_pipe(_lower_case_lemmas(), name="lemmas")

    class BlankNlpEngine(SpacyNlpEngine):  # type: ignore[misc,unused-ignore]
        engine_name = "blank"

        def load(self) -> None:
            self.nlp = {model["lang_code"]: pipeline}

        def get_supported_entities(self) -> list[str]:
            return []

    nlp_engine = BlankNlpEngine(models=[model])
    nlp_engine.load()
    return nlp_engine


def _lower_case_lemmas() -> str:
    from spacy.language import Language

    name = "clueval_lower_case_lemmas"
    if not Language.has_factory(name):

        def set_lemmas(document: Any) -> Any:
            for token in document:
                token.lemma_ = token.lower_
            return document

        Language.component(name, func=set_lemmas)
    return name


def _registry_configuration(settings: DetectorSettings) -> dict[str, Any]:
    configuration: dict[str, Any] = {}
    if settings.recognizers_config is not None:
        configuration = _read_yaml(settings.recognizers_config)
    return {**configuration, "supported_languages": [settings.language]}


def _registry(configuration: dict[str, Any], nlp_engine: Any) -> Any:
    from presidio_analyzer.predefined_recognizers import SpacyRecognizer
    from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider

    provider = RecognizerRegistryProvider(registry_configuration=configuration, nlp_engine=nlp_engine)
    registry = provider.create_recognizer_registry()
    if nlp_engine.engine_name == "blank":  # it finds nothing, so it must not claim to support anything
        registry.recognizers = [one for one in registry.recognizers if not isinstance(one, SpacyRecognizer)]
    return registry


def _label_map(nlp_engine: Any) -> dict[str, str]:
    """How the NLP configuration renames the labels of its model, without those it ignores."""
    if nlp_engine.engine_name == "blank":
        return {}
    configuration = getattr(nlp_engine, "ner_model_configuration", None)
    mapping = getattr(configuration, "model_to_presidio_entity_mapping", None) or {}
    ignored = set(getattr(configuration, "labels_to_ignore", None) or ())
    return {old: new for old, new in mapping.items() if old not in ignored and new not in ignored}


def _custom_entities(configuration: dict[str, Any], language: str) -> tuple[str, ...]:
    """The entities of the recognizers that somebody wrote, for this language."""
    found: dict[str, None] = {}
    for recognizer in configuration.get("recognizers") or ():
        if not isinstance(recognizer, dict) or recognizer.get("type", "custom") != "custom":
            continue
        languages = [recognizer.get("supported_language")] if recognizer.get("supported_language") else []
        for one in recognizer.get("supported_languages") or ():
            languages.append(one.get("language") if isinstance(one, dict) else one)
        if recognizer.get("enabled", True) and (not languages or language in languages):
            entities = recognizer.get("supported_entities") or [recognizer.get("supported_entity")]
            found.update(dict.fromkeys(str(entity) for entity in entities if entity))
    return tuple(found)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if text.endswith(".") else f"{text}."
