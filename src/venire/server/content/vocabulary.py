"""Properties that people know, in the order in which they help to judge an entity."""

from __future__ import annotations

from venire.formats.rdf import LABELS

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"
_DC = "http://purl.org/dc/elements/1.1/"
_TERMS = "http://purl.org/dc/terms/"
_FOAF = "http://xmlns.com/foaf/0.1/"
_SCHEMA = ("http://schema.org/", "https://schema.org/")
_DBO = "http://dbpedia.org/ontology/"

TYPE = f"{RDF}type"
GROUPS: dict[str, tuple[str, ...]] = {
    "type": (
        TYPE,
        f"{_DC}type",
        f"{_TERMS}type",
        *(f"{schema}additionalType" for schema in _SCHEMA),
    ),
    "label": (
        *LABELS,
        f"{_SKOS}altLabel",
        *(f"{schema}alternateName" for schema in _SCHEMA),
        f"{_FOAF}nick",
        f"{_FOAF}givenName",
        f"{_FOAF}familyName",
    ),
    "description": (
        f"{_DBO}abstract",
        *(f"{schema}description" for schema in _SCHEMA),
        f"{_TERMS}description",
        f"{_DC}description",
        f"{_TERMS}abstract",
        f"{_RDFS}comment",
        f"{_SKOS}definition",
        f"{_SKOS}note",
    ),
}
"""Group -> its properties, the most useful first. All others are in the group ``other``."""
_FIRST = (
    "birth date", "birth place", "death date", "death place", "date", "start date", "end date",
    "founded", "location", "place", "country", "city", "address", "creator", "author", "artist",
    "director", "publisher", "occupation", "genre", "subject", "part of", "has part", "homepage",
)  # fmt: skip
"""Names of other properties that come first, in this order; then the rest by name."""
_LAST = tuple(
    f"{uri}" for uri in (
        f"{_OWL}sameAs", f"{_RDFS}seeAlso", f"{_SKOS}exactMatch", f"{_SKOS}closeMatch",
        f"{_RDFS}isDefinedBy", f"{_FOAF}isPrimaryTopicOf", f"{_DBO}wikiPageWikiLink",
        f"{_DBO}wikiPageExternalLink", f"{_DBO}wikiPageID", f"{_DBO}wikiPageRevisionID",
        f"{_DBO}wikiPageRedirects", "http://www.w3.org/ns/prov#wasDerivedFrom",
    )
)  # fmt: skip
"""Properties that say little to a reader: at the end."""
_PLAIN = {
    TYPE: "type",
    f"{_RDFS}comment": "description",
    f"{_DBO}abstract": "description",
    f"{_SKOS}prefLabel": "label",
    f"{_SKOS}altLabel": "other name",
    f"{_OWL}sameAs": "same as",
    f"{_RDFS}seeAlso": "see also",
    **{f"{schema}alternateName": "other name" for schema in _SCHEMA},
}
_GROUP = {uri: (rank, group, place) for rank, (group, uris) in enumerate(GROUPS.items())
          for place, uri in enumerate(uris)}  # fmt: skip
_REST = len(GROUPS)


def plain_name(uri: str) -> str | None:
    """Return the everyday name of a property, where it is none of its local name."""
    return _PLAIN.get(uri)


def place(uri: str, label: str) -> tuple[str, tuple[int, int, str, str]]:
    """Return the group of a property, and its place in the table."""
    if uri in _GROUP:
        rank, group, number = _GROUP[uri]
        return group, (rank, number, "", uri)
    if uri in _LAST:
        return "other", (_REST + 1, _LAST.index(uri), "", uri)
    name = label.casefold()
    number = _FIRST.index(name) if name in _FIRST else len(_FIRST)
    return "other", (_REST, number, name, uri)
