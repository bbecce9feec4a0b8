"""UIMA CAS as XMI, which is written and corrected, too; as JSON, WebAnno TSV and INCEpTION's project export: read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.formats.loading import annotators, read
from clueval_xlsx.formats.registry import format_named
from clueval_xlsx.formats.writing import output_files
from clueval_xlsx.options import ReadOptions
from tests.support.corrections import corrected
from tests.support.extras import needed
from tests.support.folders import FIXTURES
from tests.support.strategies import at_most

cassis = needed("test", "cassis")

NE = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"
METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"


def load(data: str | bytes, name: str, **options: Any) -> Reading:
    raw = data.encode() if isinstance(data, str) else data
    return read(io.BytesIO(raw), ReadOptions(**options), name=name)


def spans(reading: Reading, layer: str = "span") -> list[tuple[str, str | None]]:
    assert not reading.tokenised
    ranges, labels = reading.mentions.ranges, reading.mentions.labels[layer]
    rows = reading.mentions.rows_of(layer).tolist()
    found = []
    for row in rows:
        document, start, end = (int(values[row]) for values in (ranges.document, ranges.start, ranges.end))
        label = labels[row] if isinstance(labels[row], str) else None
        found.append((document, start, reading.documents[document].text[start:end], label))
    return [(words, label) for _, _, words, label in sorted(found, key=lambda each: each[:2])]


def tsv(*lines: str, layers: str = "#T_SP=webanno.custom.Span|value") -> str:
    return "\n".join(["#FORMAT=WebAnno TSV 3.3", layers, "", "", *lines]) + "\n"


def xmi(text: str, *elements: str, root: str = "") -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;").replace("\n", "&#10;")
    members = " ".join(str(number) for number in range(10, 10 + len(elements)))
    return (
        '<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:cas="http:///uima/cas.ecore" xmlns:custom="http:///webanno/custom.ecore" '
        f'xmlns:type4="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" xmi:version="2.0"{root}>'
        + "".join(elements)
        + f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{escaped}"/>'
        f'<cas:View sofa="1" members="{members}"/></xmi:XMI>'
    )


def entity(number: int, begin: int, end: int, more: str = 'value="PER"', tag: str = "type4:NamedEntity") -> str:
    return f'<{tag} xmi:id="{number}" sofa="1" begin="{begin}" end="{end}" {more}/>'


def type_system() -> Any:
    types = cassis.TypeSystem()
    for name, features in ((NE, ("value", "identifier")), (TOKEN, ()), (METADATA, ("documentTitle",))):
        kind = types.create_type(name, "uima.tcas.Annotation")
        for feature in features:
            types.create_feature(kind, feature, "uima.cas.String")
    relation = types.create_type("webanno.custom.Same", "uima.tcas.Annotation")
    for feature in ("Governor", "Dependent"):
        types.create_feature(relation, feature, NE)
    return types


# --- WebAnno TSV ---


def test_stacked_annotations_are_told_apart_by_their_numbers() -> None:
    data = tsv("#Text=Ms. Haag", "1-1\t0-3\tMs.\tPER[1]|PERpart[2]\t", "1-2\t4-8\tHaag\tPER[1]\t")
    with pytest.raises(InputError, match=r"'Ms\.' \(PERpart, 0-3\)|'Ms\. Haag' \(PER, 0-8\)"):
        load(data, "x")
    assert spans(load(data, "x", nested="longest")) == [("Ms. Haag", "PER")]


LAYERS = "\n".join(
    [
        "#T_SP=webanno.custom.Lu|luvalue",
        "#T_SP=webanno.custom.Frame|FE|ROLE_webanno.custom.Frame:Roles_webanno.custom.FrameRolesLink|webanno.custom.Lu",
        "#T_CH=webanno.custom.CorefLink|referenceType|referenceRelation",
        "#T_RL=webanno.custom.Rel|kind|BT_webanno.custom.Lu",
    ]
)
FRAME = tsv(
    "#Text=Bob auctioned the clock",
    "1-1\t0-3\tBob\tbob\t_\t_\t_\tpr[1]\tcoref->1-1\t_\t_\t",
    "1-2\t4-13\tauctioned\t_\ttransaction\tseller;goods\t1-1;1-3[4]\t_\t_\t_\t_\t",
    "1-3\t14-17\tthe\tclock[4]\t_\t_\t_\t_\t_\tsold\t1-1[0_4]\t",
    "1-4\t18-23\tclock\tclock[4]\t_\t_\t_\t_\t_\t_\t_\t",
    layers=LAYERS,
)


def test_slots_chains_and_relations_are_no_spans() -> None:
    reading = load(FRAME, "x", layers={"lu": "Lu:luvalue"})
    assert spans(reading, "lu") == [("Bob", "bob"), ("the clock", "clock")]
    assert reading.notes == ("x: left alone, because they are no spans: slots (1), chains (1), relations (1)",)


def test_several_types_must_be_chosen_from_or_are_layers_that_may_overlap() -> None:
    with pytest.raises(OptionError) as caught:
        load(FRAME, "x")
    assert "webanno.custom.Lu:luvalue (2 annotations), webanno.custom.Frame:FE (1 annotations)" in str(caught.value)
    assert "--layer span=webanno.custom.Lu:luvalue" in str(caught.value)
    both = FRAME.replace("clock\tclock[4]\t_", "clock\tclock[4]\tpart")
    reading = load(both, "x", layers={"lu": "Lu:luvalue", "fe": "webanno.custom.Frame:FE"})
    assert spans(reading, "lu") == [("Bob", "bob"), ("the clock", "clock")]
    assert spans(reading, "fe") == [("auctioned", "transaction"), ("clock", "part")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("#FORMAT=WebAnno TSV 2.0\n", "x:1: found '#FORMAT=WebAnno TSV 2.0'|WebAnno TSV 2.0 is not read"),
        (tsv("#Text=Ann", "1-1\t0-3\tAnna\tPER\t"), "x:6: the row says 'Anna', but the text has 'Ann' at 0-3"),
        (tsv("#Text=Ann", "1-1\t0-3\tAnn"), "x:6: 0 cells of annotations"),
        (tsv("#Text=Ann", "Ann\tPER"), "x:6: 'Ann\\\\tPER' is no row of a token"),
        (tsv("1-1\t0-3\tAnn\tPER\t"), "x:5: a token stands before any #Text= line"),
    ],
)
def test_a_broken_file_is_answered_with_its_line(data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(data, "x", format="webanno")


# --- XMI and JSON ---


def test_offsets_of_a_cas_count_utf16_units() -> None:
    reading = load(xmi("😊 𝒜nn Lee", entity(10, 3, 7), entity(11, 8, 11)), "x.xmi")
    assert spans(reading) == [("𝒜nn", "PER"), ("Lee", "PER")]
    assert 'begin="3" end="11"' in corrected(reading, ("𝒜nn Lee", "PER"))


def test_type_and_feature_can_be_chosen_and_a_wrong_one_is_answered_with_what_is_there() -> None:
    data = xmi("Ann Lee", entity(10, 0, 3, 'a="1" b="2"', "custom:PHI"))
    with pytest.raises(OptionError, match=r"which feature of webanno\.custom\.PHI holds the labels\? Features: a, b"):
        load(data, "x.xmi")
    assert spans(load(data, "x.xmi", layers={"span": "PHI:b"})) == [("Ann", "2")]
    with pytest.raises(OptionError, match=r"has no feature 'c'\. Features: a, b"):
        load(data, "x.xmi", layers={"span": "PHI:c"})
    with pytest.raises(OptionError, match=r"there is no such type or feature, only webanno\.custom\.PHI:a\|b"):
        load(data, "x.xmi", layers={"span": "NamedEntity:value"})


WORDS = st.text(st.sampled_from("aé😊𝒜 \n\t&<\"'"), min_size=1, max_size=25)


@at_most(60)
@given(text=WORDS, data=st.data())
def test_what_cassis_writes_is_read_and_corrected_at_any_place(text: str, data: st.DataObject) -> None:
    name = "x.xmi"
    types = type_system()
    cas = cassis.Cas(types)
    cas.sofa_string = text
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    cas.add(types.get_type(NE)(begin=start, end=end, value="A & B"))
    raw = cas.to_xmi().encode()
    reading = read(io.BytesIO(raw), name=name)
    assert spans(reading) == spans(load(cas.to_json(), "x.json")) == [(text[start:end], "A & B")]
    assert correct(reading, reading.annotation.layers) == {name: raw}
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    from clueval_xlsx.corpus.running_text import RunningText
    from clueval_xlsx.text.tokenise import Ranges

    assert not reading.tokenised
    ranges = Ranges(np.array([0]), np.array([first]), np.array([last]))
    corpus = reading.cut_at(ranges)
    frame = make_spans(*RunningText.of(corpus).positions(ranges), {"span": ["New"]})
    after = correct(reading, {"span": frame}, corpus)[name]
    assert spans(read(io.BytesIO(after), name=name)) == [(text[first:last], "New")]
    again = cassis.load_cas_from_xmi(io.BytesIO(after), types)
    assert [(each.begin, each.end, each.value) for each in again.select(NE)] == [(first, last, "New")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (xmi("Ann", entity(10, 0, 3)).replace("</xmi:XMI>", ""), "x.xmi:1: the XML is not well-formed"),
        (
            xmi("Ann", entity(10, 0, 9)),
            r"x\.xmi: .*NamedEntity 10: offsets 0-9 lie beyond the text, which has 3 UTF-16 units",
        ),
        (xmi("😊", entity(10, 1, 2)), r"x\.xmi: .*NamedEntity 10: offset 1 or 2 lies inside a character"),
        (xmi("Ann", entity(10, 0, 3)).replace("sofaString", "sofaURI"), "there is no text in this CAS"),
        (xmi("Ann", '<custom:X xmi:id="10" begin="a" end="3"/>'), "begin is 'a', end is 3. Allowed: whole numbers"),
        ("<a><b/></a>", "the root element is <a>. Allowed: <xmi:XMI>"),
        (
            '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI xmlns:xmi="http://www.omg.org/XMI">&a;</xmi:XMI>',
            "found a DOCTYPE or ENTITY, which no such file has and which can harm",
        ),
    ],
)
def test_a_broken_xmi_is_answered_with_what_is_wrong(data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(data, "x.xmi")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"%TYPES": {}', r"x\.json:1: not valid JSON"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": {"1": {}}}', "Allowed: a list of objects, as UIMA CAS JSON"),
        ('{"%TYPES": {}, "%FEATURE_STRUCTURES": []}', "there is no text in this CAS"),
        (
            '{"%TYPES": {}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "Ann"}, '
            '{"%ID": 2, "%TYPE": "a.B", "begin": "0", "end": 3}]}',
            "a.B 2: begin is '0', end is 3. Allowed: whole numbers",
        ),
    ],
)
def test_a_broken_cas_json_is_answered_with_what_is_wrong(data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(data, "x.json", format="cas-json")


# --- the project export ---


@pytest.mark.parametrize("ending", ["xmi", "json", "tsv"])
def test_annotators_of_a_project_are_listed_and_chosen(ending: str) -> None:
    path = FIXTURES / f"inception-{ending}.zip"
    assert annotators(path) == ["anna", "model"]
    with pytest.raises(InputError, match=r"2 documents have several annotators \(anna, model\)\. Choose: --annotator"):
        read(path)
    assert len(spans(read(path, ReadOptions(annotator="anna")))) == 10
    assert len(spans(read(path, ReadOptions(annotator="model")))) == 12


def test_a_corrected_project_changes_in_the_corrected_files_alone(tmp_path: Path) -> None:
    path = FIXTURES / "inception-xmi.zip"
    reading = read(path, ReadOptions(annotator="anna"))
    frame = reading.annotation.layers["span"]
    assert correct(reading, {"span": frame}) == {path.name: path.read_bytes()}
    after = correct(reading, {"span": frame.iloc[1:]})[path.name]
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        assert [entry.filename for entry in new.infolist()] == [entry.filename for entry in old.infolist()]
        different = [name for name in old.namelist() if old.read(name) != new.read(name)]
        old.extractall(tmp_path)
    assert different == ["annotation/LG-Seehafen-2-O-17-24/anna.zip"]
    assert spans(read(io.BytesIO(after), ReadOptions(annotator="anna"), name="x.zip")) == spans(reading)[1:]
    # the folder of an unpacked project is read and corrected, too
    assert annotators(tmp_path) == ["anna", "model"]
    reading = read(tmp_path, ReadOptions(annotator="anna"))
    frame = reading.annotation.layers["span"]
    before = {
        path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    }
    assert correct(reading, {"span": frame}) == before
    folder = correct(reading, {"span": frame.iloc[1:]})
    assert [path for path in before if before[path] != folder[path]] == ["annotation/AG-Birkenau-5-C-88-23/anna.zip"]


def archive(**files: bytes | str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"annotation/a/ann.ser": b"", "exportedproject.json": "{}"},
            "holds 1 annotations as serialized Java objects only",
        ),
        ({"exportedproject.json": "{}"}, "there is no CAS in it. Allowed: annotation/DOCUMENT/ANNOTATOR"),
        ({"annotation/a/ann.xmi": "<html/>"}, "x.zip, annotation/a/ann.xmi: is no CAS"),
        ({"../../annotation/a/ann.xmi": "x"}, "leads out of the archive"),
        ({"annotation/a/ann.xmi": bytes(200_000_000)}, "unpacks to 200 MB, more than an archive of this size may hold"),
    ],
)
def test_a_broken_export_is_answered_with_what_is_wrong(files: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(io.BytesIO(archive(**files)), name="x.zip")


# --- writing ---


def test_written_files_are_those_of_cassis(tmp_path: Path) -> None:
    reading = read(FIXTURES / "brat-gold")
    files = output_files(reading, reading.annotation.layers, format_named("cas"), tmp_path / "out")
    assert [path.name for path in files] == ["AG-Birkenau-5-C-88-23.xmi", "LG-Seehafen-2-O-17-24.xmi"]
    found = []
    for document, content in zip(reading.documents, files.values(), strict=True):
        types = type_system()
        types.create_feature(types.get_type(METADATA), "documentId", "uima.cas.String")
        types.create_type(TOKEN.replace("Token", "Sentence"), "uima.tcas.Annotation")
        cas = cassis.load_cas_from_xmi(io.BytesIO(content), types)
        assert cas.sofa_string == document.text
        assert "".join(each.get_covered_text() for each in cas.select(TOKEN)) == "".join(document.text.split())
        found += [(each.get_covered_text(), each.value) for each in cas.select(NE)]
        assert cas.to_xmi(pretty_print=False).encode() == content
    assert found == spans(reading)
