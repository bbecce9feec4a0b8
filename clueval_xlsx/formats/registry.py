"""The formats: what each is called, how it is told, what it holds, and the module that reads and writes it.

This is all that help, options and messages need to know; nothing heavy is imported before a format is used. A new
format is a module with `tell`, `read` and `write` (see `module.FormatModule`) and a line in this table; what it reads
carries how it is corrected.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from clueval_xlsx.exceptions import OptionError


@dataclass(frozen=True)
class Format:
    """One format.

    `endings` are those of its files; several formats may share one, and then the content tells. `targets` are the
    endings by which it is chosen for writing. `fields` are what labels can be taken from, the main one first; formats
    of columns have none. `sign` says by what a document of it is known. `folder` says that it is a folder of files,
    `columns` that layers are columns of tags, `needs_text` that its text lies elsewhere. `converts` says that
    annotations can be written to it, `predicts` that a detector's finds can. `one_word` says that a label has no white
    space there, `labelled` that a span must have one, `binary` that a file of it is no text. `extra` is the extra whose
    library it needs, at least for writing. `project` says that a folder of it is one source. `uses` are the options of
    reading, by their names in `ReadOptions`, that mean something for it; layers and encoding do for all.
    """

    name: str
    title: str
    module: str
    endings: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    sign: str = ""
    folder: bool = False
    columns: bool = False
    needs_text: bool = False
    converts: bool = True
    predicts: bool = True
    one_word: bool = False
    labelled: bool = False
    binary: bool = False
    extra: str = ""
    holds: tuple[str, ...] | None = None
    project: bool = False
    uses: tuple[str, ...] = ()


_JSON = (".json", ".jsonl", ".ndjson")
SCORES, METADATA, TOKEN_IDS = "scores", "metadata", "token IDs"

_LINES = (
    "token", "token_id", "document_id", "sentence_id", "columns", "space_column", "several_tags",
    "document_tag", "sentence_tag",
)  # fmt: skip
_SPANS = ("nested", "offsets", "mismatch")
_RECORDS = (*_SPANS, "fields", "annotator")
_OWN_OFFSETS = ("nested", "mismatch")
# The text that a table belongs to may be a file of any format.
_ANY = (*_LINES, *_RECORDS, "text", "tag_names", "discontinuous")

FORMATS = (
    Format("vrt", ".vrt", "vrt", (".vrt", ".vert"), (".vrt",), columns=True, holds=(METADATA, TOKEN_IDS), uses=_LINES),
    Format(
        "conll",
        "CoNLL",
        "conll",
        (".conll", ".conllu", ".bio", ".iob", ".iob2"),
        (".conll",),
        columns=True,
        one_word=True,
        holds=(),
        uses=_LINES,
    ),
    Format("token-csv", "token CSV", "token_csv", holds=(), uses=_LINES),
    Format(
        "brat",
        "brat",
        "brat",
        (".ann",),
        fields=("label",),
        folder=True,
        one_word=True,
        holds=(),
        uses=(*_SPANS, "discontinuous", "text"),
    ),
    Format(
        "json",
        "JSON records",
        "json_format",
        _JSON,
        (".jsonl",),
        fields=("label",),
        sign="text, spans (or what --field names)",
        holds=(SCORES, METADATA),
        uses=_RECORDS,
    ),
    Format(
        "spacy-json",
        "spaCy training pairs",
        "json_format",
        _JSON,
        fields=("label",),
        sign='[text, {"entities": …}], or text, entities (or ents)',
        holds=(),
        uses=_RECORDS,
    ),
    Format(
        "tab",
        "TAB JSON",
        "json_format",
        _JSON,
        fields=("entity_type", "identifier_type", "entity_id"),
        sign="doc_id, text, annotations (or presidio_detected_pii)",
        converts=False,
        uses=_RECORDS,
    ),
    Format(
        "label",
        "LABEL",
        "json_format",
        _JSON,
        fields=("category",),
        sign="text, annotations with category",
        labelled=True,
        holds=(SCORES, METADATA),
        uses=_RECORDS,
    ),
    Format(
        "juritools",
        "juritools",
        "json_format",
        _JSON,
        fields=("label",),
        sign="entities with entityId",
        needs_text=True,
        labelled=True,
        holds=(SCORES, METADATA),
        uses=_ANY,
    ),
    Format(
        "lawnotation",
        "Lawnotation",
        "json_format",
        _JSON,
        fields=("label",),
        sign="full_text, assignments",
        labelled=True,
        holds=(),
        uses=_RECORDS,
    ),
    Format(
        "presidio",
        "Presidio JSON",
        "json_format",
        _JSON,
        fields=("entity_type",),
        sign="full_text, spans",
        uses=(*_SPANS, "fields"),
    ),
    Format(
        "doccano",
        "doccano",
        "json_format",
        _JSON,
        fields=("label",),
        sign="text, label (or labels, entities, annotations)",
        holds=(METADATA,),
        uses=_RECORDS,
    ),
    Format(
        "prodigy",
        "Prodigy",
        "json_format",
        _JSON,
        fields=("label",),
        sign="text, spans, answer",
        holds=(SCORES, METADATA),
        uses=_RECORDS,
    ),
    Format(
        "huggingface",
        "Hugging Face tokens",
        "huggingface",
        _JSON,
        sign="tokens, ner_tags",
        holds=(),
        uses=("fields", "tag_names"),
    ),
    Format(
        "ai4privacy",
        "ai4privacy",
        "json_format",
        _JSON,
        fields=("label",),
        sign="source_text, privacy_mask",
        holds=(SCORES, METADATA),
        uses=_RECORDS,
    ),
    Format(
        "label-studio",
        "Label Studio JSON",
        "json_format",
        _JSON,
        fields=("label",),
        sign="data, annotations (or predictions)",
        holds=(SCORES, METADATA),
        uses=(*_RECORDS, "several_tags"),
    ),
    Format("cas", "UIMA CAS XMI", "cas_xmi", (".xmi",), (".xmi",), extra="cas", holds=(), uses=_OWN_OFFSETS),
    Format(
        "cas-json",
        "UIMA CAS JSON",
        "cas_json",
        (".json",),
        sign="%TYPES, %FEATURE_STRUCTURES, %VIEWS",
        extra="cas",
        holds=(),
        uses=_OWN_OFFSETS,
    ),
    Format("webanno", "WebAnno TSV", "webanno_tsv", holds=(), uses=_OWN_OFFSETS),
    Format(
        "inception",
        "INCEpTION's export",
        "inception",
        (".zip",),
        (".zip",),
        extra="cas",
        binary=True,
        holds=(),
        project=True,
        uses=(*_OWN_OFFSETS, "annotator"),
    ),
    Format(
        "i2b2",
        "i2b2 XML",
        "i2b2_xml",
        (".xml",),
        (".xml",),
        fields=("TYPE", "tag"),
        labelled=True,
        holds=(),
        uses=_SPANS,
    ),
    Format(
        "docbin",
        "spaCy DocBin",
        "docbin",
        (".spacy",),
        (".spacy",),
        fields=("ents",),
        labelled=True,
        extra="spacy",
        binary=True,
        holds=(),
        uses=_OWN_OFFSETS,
    ),
    Format(
        "parquet",
        "Parquet",
        "parquet_table",
        (".parquet", ".pq"),
        (".parquet",),
        needs_text=True,
        binary=True,
        extra="parquet",
        uses=_ANY,
    ),
    Format(
        "table",
        "the table",
        "span_table",
        (".xlsx",),
        (".tsv", ".csv", ".xlsx"),
        needs_text=True,
        binary=True,
        uses=_ANY,
    ),
)
DETECTOR = Format("detector", "a detector's list", "", uses=("nested",))  # no file, and in no list of formats
FORMAT_NAMES = tuple(each.name for each in FORMATS)
CONVERTED = tuple(each.name for each in FORMATS if each.converts)
PREDICTED = tuple(each.name for each in FORMATS if each.predicts)
JSON_FORMATS = tuple(each.name for each in FORMATS if ".json" in each.endings)
TARGET_ENDINGS = {ending: each.name for each in FORMATS for ending in each.targets}
FOLDER_FORMAT = next(each.name for each in FORMATS if each.folder)


def format_named(name: str) -> Format:
    """The format of a name."""
    for each in FORMATS:
        if each.name == name:
            return each
    raise OptionError(f"unknown format {name!r}. Allowed: {', '.join(FORMAT_NAMES)}.")


def formats_ending(name: str) -> list[Format]:
    """The formats whose files have the ending of this name."""
    ending = PurePath(name).suffix.lower()
    return [each for each in FORMATS if ending in each.endings]
