import logging
import re
import socket
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.errors import BadLine
from venire.formats.ntriples import Term, parse_ntriples, write_ntriples
from venire.formats.rdf import entities, read_entities, read_triples

pytest.importorskip("rdflib")
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/">{{}}</rdf:RDF>'
THING = '<rdf:Description rdf:about="http://e/a"><e:p>{}</e:p></rdf:Description>'


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def read(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_entities(path)


SAME = {
    "a.nt": '<http://e/a> <http://e/p> "ü"@de .\n<http://e/a> <http://e/q> <http://e/b> .\n',
    "a.ttl": '@prefix e: <http://e/> . e:a e:p "ü"@de ; e:q e:b .',
    "a.rdf": XML.format(
        '<rdf:Description rdf:about="http://e/a"><e:p xml:lang="de">ü</e:p>'
        '<e:q rdf:resource="http://e/b"/></rdf:Description>'
    ),
    "a.jsonld": '{"@context": {"e": "http://e/"}, "@id": "e:a", "e:q": {"@id": "e:b"},'
    ' "e:p": {"@value": "ü", "@language": "de"}}',
}


@pytest.mark.parametrize("name", SAME)
def test_four_syntaxes_say_the_same(tmp_path, name):
    assert read(tmp_path, name, SAME[name]).rows() == [("http://e/a", SAME["a.nt"])]
    assert read(tmp_path, name, b"\xef\xbb\xbf" + SAME[name].encode()).height == 1


def test_an_entity_has_all_that_it_takes_to_show_it_alone(tmp_path):
    text = """@prefix e: <http://e/> . @prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
    e:a e:knows e:b ; e:address [ e:street "S" ; e:in e:c ; e:geo [ e:lat 1 ] ] ; e:l (e:c "x") .
    e:b r:label "Bea" ; e:age 3 . e:c r:label "Ce" . e:knows r:label "is friends with" .
    [] e:p "nobody's" .
    """
    frame = read(tmp_path, "a.ttl", text)
    assert frame["doc_id"].to_list() == ["http://e/a", "http://e/b", "http://e/c", "http://e/knows"]
    body = frame["triples"][0]
    for there in ('"Bea"', '"S"', '"Ce"', '"is friends with"', '"x"', f"{RDF}rest"):
        assert there in body
    assert "age" not in body
    assert "lat" not in body
    assert parse_ntriples(body)
    (note,) = entities(read_triples(tmp_path / "a.ttl"))[1]
    assert note.startswith("2 blank nodes deeper than one level or not referenced, with 2 triples")
    assert all(frame.equals(read_entities(tmp_path / "a.ttl")) for _ in range(3))


def test_literals_stay_as_they_are_written(tmp_path, caplog):
    number = "<http://www.w3.org/2001/XMLSchema#integer>"
    text = f'<http://e/a> <http://e/p> "01"^^{number}, "x"^^{number} .'
    with caplog.at_level(logging.WARNING):
        body = read(tmp_path, "a.ttl", text)["triples"][0]
    assert '"01"^^' in body
    assert '"x"^^' in body
    assert not caplog.records


def test_relative_addresses_stay_relative(tmp_path):
    assert read(tmp_path, "a.ttl", "<Nike> <http://p> <nike> .")["doc_id"].to_list() == ["Nike"]
    both = read(
        tmp_path, "a.jsonld", '[{"@id": "Nike", "http://p": 1}, {"@id": "nike", "http://p": 1}]'
    )
    assert both["doc_id"].to_list() == ["Nike", "nike"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonld", '{"@context": "https://schema.org", "@id": "a"}', "not download"),
        ("a.jsonld", '{"@context": {"x": {"@id": "y", "@context": ["http://evil"]}}}', "download"),
        ("a.jsonld", '{"@context": {"@version": 1.1, "@import": "http://evil"}}', "not download"),
        ("a.jsonld", '{"@graph": [{"x": {"@context": "http://evil"}}]}', "not download"),
        ("a.jsonld", "[" * 100_000, "is not valid JSON"),
        ("a.jsonld", "{", "is not valid JSON"),
        ("a.rdf", f'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>{XML}', "external"),
        ("a.rdf", f'<!DOCTYPE r [<!ENTITY y ">"><!ENTITY x SYSTEM "file:///x">]>{XML}', "external"),
        ("a.rdf", f'<!DOCTYPE r PUBLIC "x" "http://evil/x.dtd">{XML}', "external"),
        ("a.rdf", f'<!DOCTYPE r [<!ENTITY % x SYSTEM "http://evil">%x;]>{XML}', "external"),
        ("a.rdf", f'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>{XML}', "expands too far"),
        ("a.rdf", '<!DOCTYPE r [<!ENTITY a "' + "h" * 1000 + '">]>' + XML.format("&a;" * 20_000),
         "expands too far"),
        ("a.rdf", f'<!DOCTYPE r [<!ATTLIST x y CDATA "z">]>{XML}', "ATTLIST"),
        ("a.rdf", XML.format("<e:p>"), "cannot be read"),
        ("a.ttl", "<http://a> <http://p> " + "[" * 50_000 + "]" * 50_000 + " .", "nested too deep"),
        ("a.ttl", "\n<a> nonsense", "line 2"),
        ("a.ttl", "@prefix", "cannot be read"),
        ("a.ttl", "", "is empty"),
        ("a.nt", b'<http://a> <http://p> "\xff" .', "line 1: is not UTF-8"),
        ("a.nt", '<http://a> <http://p> "\\ud800" .', "is not a character"),
        ("a.nt", '<http://a> <http://p> "\\q" .', "does not define"),
        ("a.nt", "\n<http://a> <http://p> .", "line 2: is not a triple"),
        ("a.nt", "<" + "a" * 10_000_000, "is not a triple"),
        ("a.txt", "x", "unknown file ending"),
    ],
)  # fmt: skip
def test_hostile_and_broken_files_are_refused_in_one_line(tmp_path, name, text, said):
    start = time.process_time()
    with pytest.raises(BadLine, match=re.escape(said)) as caught:
        read(tmp_path, name, text)
    assert time.process_time() - start < 10
    assert "\n" not in str(caught.value)


def test_entities_that_only_shorten_are_read(tmp_path):
    text = '<!DOCTYPE r [<!ENTITY e "http://e/">]>' + XML.format(THING.format("&e;x"))
    assert '"http://e/x"' in read(tmp_path, "a.owl", text)["triples"][0]


def test_named_graphs_are_read_too(tmp_path):
    text = """[{"@id": "http://g", "http://q": 2, "@graph": [{"@id": "http://a", "http://p": 1}]},
    {"@id": "http://b", "http://p": [{"http://p": 3}]}]"""
    frame = read(tmp_path, "a.jsonld", text)
    assert frame["doc_id"].to_list() == ["http://a", "http://b", "http://g"]
    assert "_:b0 <http://p>" in frame["triples"][1]


def test_of_two_contexts_the_one_that_was_checked_is_read(tmp_path):
    text = '{"@context": "http://evil", "@context": {"p": "http://e/p"}, "@id": "http://a", "p": 1}'
    assert "<http://e/p>" in read(tmp_path, "a.jsonld", text)["triples"][0]


@pytest.mark.parametrize("length", [10_000_000])
def test_a_line_of_ten_megabytes(tmp_path, length):
    start = time.process_time()
    frame = read(tmp_path, "a.nt", f'<http://a> <http://p> "{"x" * length}" .')
    assert len(frame["triples"][0]) > length
    assert time.process_time() - start < 5


def test_long_lists_and_chains_end(tmp_path):
    chain = "".join(f"_:c{i} <http://p> _:c{(i + 1) % 500} .\n" for i in range(500))
    frame = read(tmp_path, "a.nt", f"{chain}<http://a> <http://p> _:c0 .")
    assert frame["triples"][0].count("\n") == 2
    rest = f'_:l <{RDF}first> "x" .\n_:l <{RDF}rest> _:l .\n<http://a> <http://p> _:l .'
    assert read(tmp_path, "b.nt", rest)["triples"][0].count("\n") == 3


URIS = st.builds(lambda text: Term("uri", text), st.text(min_size=1, max_size=5))
BLANKS = st.builds(lambda text: Term("blank", text), st.sampled_from(["x", "y", "z1"]))
TERMS = st.one_of(
    URIS,
    BLANKS,
    st.builds(lambda text: Term("literal", text), st.text()),
    st.builds(lambda text: Term("literal", text, "en-GB"), st.text()),
    st.builds(lambda text, kind: Term("literal", text, "", kind), st.text(), st.text(min_size=1)),
)


@given(st.lists(st.tuples(URIS | BLANKS, URIS, TERMS), unique=True))
def test_what_is_written_is_read_back(triples):
    assert parse_ntriples(write_ntriples(triples)) == triples


@given(st.lists(st.tuples(URIS | BLANKS, URIS, TERMS), max_size=8), st.randoms())
def test_the_order_of_the_file_does_not_matter(triples, random):
    mixed = list(triples)
    random.shuffle(mixed)
    assert entities(mixed)[0].equals(entities(triples)[0])
