"""One policy of encodings, for data and for links."""

import codecs
import io

import pytest

from maylink import read_data, read_links
from maylink.errors import FileError, LinkFileError
from maylink.io.decoding import decode

DATA = "ä,b\n1,2\n3,4\n"
LINKS = "i,j,kind,source\n0,1,may,Zoë\n"


def read_both(tmp_path, encode, **options):
    (tmp_path / "data.csv").write_bytes(encode(DATA))
    return (
        read_data(tmp_path / "data.csv", **options).columns[0],
        read_links(io.BytesIO(encode(LINKS)), **options).sources[0],
    )


@pytest.mark.parametrize(
    "encode",
    [
        str.encode,
        lambda text: text.encode("utf-8-sig"),
        lambda text: codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    ],
    ids=["UTF-8", "UTF-8 with a mark", "UTF-16 little", "UTF-16 big"],
)
def test_what_is_read_without_being_told(tmp_path, encode):
    assert read_both(tmp_path, encode) == ("ä", "Zoë")


def test_another_encoding_is_read_where_it_is_named(tmp_path):
    def latin(text):
        return text.encode("latin-1")

    assert read_both(tmp_path, latin, encoding="latin-1") == ("ä", "Zoë")
    assert read_both(tmp_path, lambda text: text.encode("utf-32"), encoding="utf-32")[1] == "Zoë"


REFUSED = {
    "Latin-1": (lambda text: text.encode("latin-1"), {}, r"is not UTF-8 in line {}; save it as "
        r"UTF-8, or say which encoding it is, for example encoding='latin-1'"),
    "UTF-16 without a mark": (lambda text: text.encode("utf-16-le"), {}, "zero bytes"),
    "UTF-32": (lambda text: text.encode("utf-32-be"), {}, "zero bytes"),
    "half of UTF-16": (lambda text: text.encode("utf-16")[:-1], {}, "is not utf-16"),
    "compressed": (lambda text: b"\x1f\x8b\x08" + text.encode(), {}, "compressed, so it is not"),
    "another than is named": (str.encode, {"encoding": "ascii"}, "is not ascii in line {}"),
    "unknown": (str.encode, {"encoding": "klingon"}, "encoding: 'klingon' is not known"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_everything_else_is_refused_in_one_sentence_for_both(tmp_path, case):
    encode, options, message = REFUSED[case]
    (tmp_path / "data.csv").write_bytes(encode(DATA))
    with pytest.raises(FileError, match=message.format(1)):
        read_data(tmp_path / "data.csv", **options)
    with pytest.raises(LinkFileError, match=message.format(2)):
        read_links(io.BytesIO(encode(LINKS)), **options)


def test_the_first_bad_line_is_told():
    with pytest.raises(FileError, match=r"^names: is not UTF-8 in line 3;"):
        decode(b"a\n\nb\xe9\nc\xe9\n", "names")
