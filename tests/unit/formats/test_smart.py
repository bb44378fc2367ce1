import pytest

from venire.errors import BadLine, DuplicateRows
from venire.formats.smart import read_codes, read_smart

DOCUMENTS = """.I 1
.T
a wing
 in a slipstream .
.A
ting,
.B
j. 25
.W
first line
  second line
.I 2
.T
.A
.B
.W
.I 3
.W
text
.A
no author
.W
goes on
"""


@pytest.fixture
def read(tmp_path):
    def read(text, reader=read_smart):
        path = tmp_path / "file"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return reader(path)

    return read


def test_fields(read):
    first = read(DOCUMENTS).row(0, named=True)
    assert first == {
        "id": "1",
        "title": "a wing in a slipstream .",
        "author": "ting,",
        "source": "j. 25",
        "text": "first line\n  second line",
        "repeats": False,
    }


def test_empty_records_stay(read):
    assert read(DOCUMENTS).row(1) == ("2", False, "", "", "", "")


def test_a_marker_that_comes_again_adds_to_its_field(read):
    third = read(DOCUMENTS).row(2, named=True)
    assert third["text"] == "text\ngoes on"
    assert third["author"] == "no author"
    assert third["repeats"]


def test_crlf_and_a_missing_last_newline(read):
    crlf = DOCUMENTS.rstrip("\n").replace("\n", "\r\n")
    assert read(crlf).equals(read(DOCUMENTS))


def test_a_line_that_only_begins_like_a_marker_is_text(read):
    frame = read(".I 1\n.W\n.What follows is text\n.5 of it\n")
    assert frame["text"].to_list() == [".What follows is text\n.5 of it"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("\nhello\n.I 1\n", 2, "before the first .I"),
        (".I 1\n.W\nx\n.I\n", 4, "without a number"),
        (b".I 1\n.W\n\xff\n", 3, "not UTF-8"),
        ("  \n", None, "is empty"),
    ],
)
def test_wrong_files(read, text, line, reason):
    with pytest.raises(BadLine, match=reason) as caught:
        read(text)
    assert caught.value.line == line


def test_codes_become_grades(read):
    qrels = read("1 184 1 \r\n1 29 2\n\n1 31  3\n2 5 4\n2 6 -1\n2 7 5\n", read_codes)
    assert qrels.frame.rows() == [
        ("1", "184", 4),
        ("1", "29", 3),
        ("1", "31", 2),
        ("2", "5", 1),
        ("2", "6", 0),
        ("2", "7", 0),
    ]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("1 2 3\n1 0 2 3\n", 2, "must have 3 fields"),
        ("1 2 3\n\n1 3 0\n", 3, "code must be"),
        ("1 2 x\n", 1, "code must be"),
    ],
)
def test_wrong_codes(read, text, line, reason):
    with pytest.raises(BadLine, match=reason) as caught:
        read(text, read_codes)
    assert caught.value.line == line


def test_a_pair_twice(read):
    with pytest.raises(DuplicateRows, match="line 2"):
        read("1 2 3\n1 2 4\n", read_codes)
