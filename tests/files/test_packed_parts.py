"""An archive that is put together of parts as they are packed: what any program finds in it."""

from __future__ import annotations

import io
import zipfile
import zlib

from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.files.packed_parts import PackedPart, archive, stored

NAMES = st.text(st.characters(exclude_characters="\0\\", exclude_categories=["Cs"]), min_size=1, max_size=12)


def deflated(content: bytes) -> PackedPart:
    packer = zlib.compressobj(wbits=-15)
    return PackedPart(
        packer.compress(content) + packer.flush(), zipfile.ZIP_DEFLATED, len(content), zlib.crc32(content)
    )


@given(st.dictionaries(NAMES, st.tuples(st.sampled_from([stored, deflated]), st.binary(max_size=200)), max_size=6))
def test_every_part_is_found_as_it_was(parts):
    made = archive({name: pack(content) for name, (pack, content) in parts.items()})
    with zipfile.ZipFile(io.BytesIO(made)) as found:
        assert found.testzip() is None
        assert found.namelist() == list(parts)
        assert [found.read(name) for name in parts] == [content for _, content in parts.values()]
        methods = {stored: zipfile.ZIP_STORED, deflated: zipfile.ZIP_DEFLATED}
        assert [each.compress_type for each in found.infolist()] == [methods[pack] for pack, _ in parts.values()]


def test_the_same_parts_are_the_same_archive():
    parts = {"a": stored(b"one"), "b/ä.xml": deflated(b"two" * 99)}
    assert archive(parts) == archive(dict(parts))
    assert archive(parts) != archive({"a": stored(b"one")})
