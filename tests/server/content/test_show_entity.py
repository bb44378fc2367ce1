import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire.errors import BadLine
from venire.server.content.entity import local_name, shorten, show_entity, sound_address

E = "http://e/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"


def nt(*lines):
    return "\n".join(f"{line} ." for line in lines)


def table(*lines, **options):
    return show_entity(nt(*lines), f"{E}a", **options)


def rows(shown):
    return {row.label: [value.short for value in row.values] for row in shown.rows}


def test_a_layman_can_read_it():
    shown = table(
        f'<{E}a> <{RDFS}label> "Carlos Santana"@en',
        f"<{E}a> <{RDF}type> <{E}MusicalArtist>",
        f"<{E}a> <{E}birthPlace> <{E}Autl%C3%A1n_de_Navarro>",
        f'<{E}a> <{E}birthDate> "1947-07-20Z"^^<{XSD}date>',
        f'<{E}a> <{E}active> "true"^^<{XSD}boolean>',
        f'<{E}a> <{RDFS}comment> "A guitarist."@en',
        f"<{E}a> <http://www.w3.org/2002/07/owl#sameAs> <http://www.wikidata.org/entity/Q819016>",
        f"<{E}a> <{E}instrument> <{E}i1>",
        f'<{E}i1> <http://www.w3.org/2004/02/skos/core#prefLabel> "guitar"',
    )
    assert shown.label == "Carlos Santana"
    assert list(rows(shown).items()) == [
        ("type", ["Musical Artist"]),
        ("label", ["Carlos Santana"]),
        ("description", ["A guitarist."]),
        ("birth date", ["1947-07-20"]),
        ("birth place", ["Autlán de Navarro"]),
        ("active", ["yes"]),
        ("instrument", ["guitar"]),
        ("same as", ["Q819016"]),
    ]
    assert [row.group for row in shown.rows[:4]] == ["type", "label", "description", "other"]
    json.dumps(asdict(shown))


@pytest.mark.parametrize(
    ("languages", "label"),
    [(("en",), "Cologne"), (("de", "en"), "Köln"), (("fr", "en"), "Cologne"), (("pt",), "Plain"),
     ((), "Plain")],
)  # fmt: skip
def test_the_label_is_in_the_best_language(languages, label):
    shown = table(
        f'<{E}a> <{RDFS}label> "Köln"@de',
        f'<{E}a> <{RDFS}label> "Cologne"@en-GB',
        f'<{E}a> <{RDFS}label> "Plain"',
        languages=languages,
    )
    assert shown.label == label


def test_a_better_language_beats_a_better_property():
    lines = [f'<{E}a> <{RDFS}label> "Köln"@de', f'<{E}a> <http://schema.org/name> "Cologne"@en']
    assert table(*lines).label == "Cologne"


def test_values_in_other_languages_are_counted():
    lines = [f'<{E}a> <{E}p> "{tag}"@{tag}' for tag in ("en", "de", "fr")]
    (row,) = table(*lines).rows
    assert ([value.full for value in row.values], row.other_languages) == (["en"], 2)
    (row,) = table(*lines[1:]).rows
    assert ([value.full for value in row.values], row.other_languages) == (["de"], 1)
    (row,) = table(*lines, languages=()).rows
    assert (len(row.values), row.other_languages) == (3, 0)


def test_long_and_many_values_are_cut_and_said():
    lines = [f'<{E}a> <{E}p> "{n:02} {"word " * 100}"' for n in range(12)]
    (row,) = table(*lines).rows
    assert (len(row.values), row.omitted) == (10, 2)
    assert row.values[0].short.endswith("word…")
    assert len(row.values[0].full) == 503
    (row,) = table(*lines, limit=None).rows
    assert (len(row.values), row.omitted) == (12, 0)
    many = table(*(f'<{E}a> <{E}p{n}> "x"' for n in range(250)))
    assert (len(many.rows), many.omitted) == (200, 50)


def test_blank_nodes_are_inlined_one_level_and_cycles_stop():
    shown = table(
        f"<{E}a> <{E}address> _:x",
        f'_:x <{E}street> "Main St 1"',
        f"_:x <{E}geo> _:y",
        f'_:y <{E}lat> "1.5"',
        f"_:x <{E}self> _:x",
        f"<{E}a> <{E}knows> <{E}a>",
    )
    address, knows = shown.rows
    assert address.values[0].short == "street: Main St 1"
    inside = {row.label: row.values[0] for row in address.values[0].rows}
    assert inside["street"].full == "Main St 1"
    assert (inside["geo"].full, inside["geo"].rows) == ("lat: 1.5", ())
    assert inside["self"].rows == ()
    assert knows.values[0].rows == ()


def test_lists_are_shown_item_by_item_and_end_where_they_run_into_themselves():
    shown = table(
        f"<{E}a> <{E}p> _:c",
        f'_:c <{RDF}first> "one"',
        f"_:c <{RDF}rest> _:d",
        f"_:d <{RDF}first> <{E}two>",
        f"_:d <{RDF}rest> _:c",
        f"<{E}a> <{E}q> <{RDF}nil>",
    )
    assert rows(shown) == {"p": ["one; two"], "q": ["(empty list)"]}


@pytest.mark.parametrize(
    "uri",
    ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "http:", "http://",
     "http://e/\u202egpj.exe", "http://a b/", "https://user:pw@bank.example/", "http://e/\\@x",
     "http://[::1", "http://e:99999999/", "file:///etc/passwd", "//e/x", "", "http://e/'onx='"],
)  # fmt: skip
def test_an_unsound_address_is_text_only(uri):
    assert sound_address(uri) is None


def test_addresses_of_values():
    shown = table(
        f"<{E}a> <{E}p> <javascript:alert(1)>",
        f"<{E}a> <{E}q> <https://ok.example/x>",
        f'<{E}a> <{E}r> "https://ok.example/"^^<{XSD}anyURI>',
        f'<{E}a> <{E}s> "javascript:x"^^<{XSD}anyURI>',
    )
    assert [row.values[0].uri for row in shown.rows] == [
        None, "https://ok.example/x", "https://ok.example/", None,
    ]  # fmt: skip
    assert show_entity("<javascript:x> <http://p> <http://o> .", "javascript:x").uri is None


def test_names_are_harmless_after_decoding():
    shown = show_entity(f"<{E}a%00b%E2%80%AE_cD> <{E}p> <{E}x> .", f"{E}a%00b%E2%80%AE_cD")
    assert shown.label == "a␀b[U+202E] c D"


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("http://dbpedia.org/resource/New_York_City", "New York City"),
        ("http://e/ontology#birthPlace", "birth Place"),
        ("http://e/ISBNNumber", "ISBN Number"),
        ("http://e/Caf%C3%A9/", "Café"),
        ("urn:isbn:0451450523", "0451450523"),
        ("http://e/x%FF", "x\ufffd"),
        ("http://www.wikidata.org/entity/Q42", "Q42"),
        ("", ""),
        ("http://", "http:"),
    ],
)
def test_local_names(uri, name):
    assert local_name(uri) == name


def test_an_entity_that_says_nothing_still_has_a_name():
    shown = show_entity("", f"{E}Santana_(band)")
    assert (shown.label, shown.rows) == ("Santana (band)", ())


def test_an_rdflib_graph_is_read_too():
    rdflib = pytest.importorskip("rdflib")
    graph = rdflib.Graph()
    graph.parse(data=f'<{E}a> <{RDFS}label> "A"@en .', format="turtle")
    assert show_entity(graph, f"{E}a").label == "A"


def test_text_that_is_no_ntriples_is_an_error_with_its_line():
    with pytest.raises(BadLine, match=r"http://e/a, line 2: is not a triple"):
        show_entity(f"<{E}a> <{E}p> <{E}b> .\nnonsense", f"{E}a")


@given(st.text(min_size=1), st.integers(2, 40))
def test_shortening_never_lengthens(text, most):
    short = shorten(text, most)
    assert len(short) <= most
    assert short == text or short.endswith("…")
