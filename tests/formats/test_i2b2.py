"""i2b2 and MEDDOCAN XML: read and corrected."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.formats.loading import read
from clueval_xlsx.options import ReadOptions
from tests.support.corrections import corrected

MEDDOCAN = """<?xml version='1.0' encoding='UTF-8'?>
<MEDDOCAN>
  <TEXT><![CDATA[Datos del paciente.
Nombre:  Ernesto.
Apellidos: Rivera & Bueno <jr>.
]]></TEXT>
  <TAGS>
    <NAME id="T1" start="29" end="36" text="Ernesto" TYPE="NOMBRE_SUJETO_ASISTENCIA" comment=""/>
    <NAME id="T2" start="49" end="63" text="Rivera &amp; Bueno" TYPE="NOMBRE_SUJETO_ASISTENCIA" comment="&gt; 1"/>
    <TLINK id="L1" fromID="T1" toID="T2" type="BEFORE"/>
  </TAGS>
</MEDDOCAN>
"""


def load(data: str, **options: Any) -> Reading:
    return read(io.BytesIO(data.encode()), ReadOptions(**options), name="x.xml")


def spans(reading: Reading, layer: str = "span") -> list[tuple[str, str]]:
    assert not reading.tokenised
    ranges, labels = reading.mentions.ranges, reading.mentions.labels[layer]
    text = reading.documents[0].text
    return [(text[ranges.start[row] : ranges.end[row]], labels[row]) for row in range(len(reading.mentions))]


def test_what_mae_writes_is_read_and_corrected() -> None:
    data = "<Task><TEXT>Ann Lee 😊 Bob</TEXT><TAGS><NAME id='N0' spans='0~7' text='Ann Lee'/></TAGS></Task>"
    assert spans(load(data)) == [("Ann Lee", "NAME")]
    after = corrected(load(data), ("Ann", "NAME"), ("Bob", "NAME"))
    assert '<NAME id=\'N0\' spans="0~3" text="Ann"/>' in after
    assert '<NAME id="N1" spans="10~13" text="Bob" TYPE="NAME" comment=""/>' in after


def test_only_the_corrected_tags_change() -> None:
    after = corrected(load(MEDDOCAN), ("Rivera", "APELLIDO"), ("paciente", "NOMBRE_SUJETO_ASISTENCIA"))
    expected = re.sub(r"\n    <NAME id=\"T1\".*", "", MEDDOCAN)
    expected = re.sub(r"\n    <TLINK.*", "", expected)
    expected = expected.replace(
        'start="49" end="63" text="Rivera &amp; Bueno" TYPE="NOMBRE_SUJETO_ASISTENCIA"',
        'start="49" end="55" text="Rivera" TYPE="APELLIDO"',
    ).replace(
        "\n  </TAGS>",
        '\n<NAME id="T3" start="10" end="18" text="paciente" TYPE="NOMBRE_SUJETO_ASISTENCIA" comment=""/>\n  </TAGS>',
    )
    assert after == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (MEDDOCAN.replace("</TAGS>", ""), r"x\.xml:12: the XML is not well-formed \(mismatched tag\)"),
        (
            MEDDOCAN.replace('start="29"', 'start="30"'),
            r"x\.xml: NAME T1: the annotation says 'Ernesto', but the text has",
        ),
        (
            MEDDOCAN.replace('start="29"', 'start="x"'),
            r"x\.xml: NAME T1: start is 'x', end is '36'\. Allowed: whole numbers",
        ),
        (MEDDOCAN.replace('end="63"', 'end="630"'), r"NAME T2: offsets 49-630 .* lie beyond the text"),
        ("<TEI><p>Ann</p></TEI>", "this is a TEI document"),
        ("<ROOT><TEXT>Dr. <PHI>Lee</PHI></TEXT><TAGS/></ROOT>", "the tag <PHI> stands inside the text"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><a><TEXT>&b;</TEXT><TAGS/></a>', "found a DOCTYPE or ENTITY"),
    ],
)
def test_a_broken_file_is_answered_with_what_is_wrong(data: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(data)
