"""An entity as a table that a layman can read: names for addresses, the useful lines first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from venire.formats.ntriples import Term, Triple, parse_ntriples
from venire.formats.rdf import FIRST, LABELS, NIL, REST, best_label, language_rank, terms_of
from venire.server.content.control_characters import harmless
from venire.server.content.vocabulary import place, plain_name

SHORT = 240
"""Characters of a value before it is cut."""
MOST_ROWS = 200
"""Properties that are shown."""
_XSD = "http://www.w3.org/2001/XMLSchema#"
_CAMEL = re.compile(r"(?<=[^\W\d_])(?<![A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DATE = re.compile(r"(-?\d{4,})-(\d\d)-(\d\d)(?:Z|[+-]\d\d:\d\d)?")


@dataclass(frozen=True)
class EntityValue:
    """One value of a property.

    Attributes
    ----------
    short, full : str
        The text, cut and whole; equal where nothing was cut.
    kind : "text", "resource" or "blank"
    language : str
        Of a text; empty where none is said.
    uri : str or None
        The address of a resource, only where it is a sound http or https address.
    rows : tuple of EntityRow
        What a blank node holds, one level deep.
    """

    short: str
    full: str
    kind: str
    language: str = ""
    uri: str | None = None
    rows: tuple[EntityRow, ...] = ()


@dataclass(frozen=True)
class EntityRow:
    """One property of an entity.

    Attributes
    ----------
    label : str
        Its name for readers.
    property : str
        Its URI, as text.
    group : "type", "label", "description" or "other"
    values : tuple of EntityValue
    omitted : int
        Values that the limit left out.
    other_languages : int
        Values left out because they are in a language that was not asked for.
    """

    label: str
    property: str
    group: str
    values: tuple[EntityValue, ...]
    omitted: int = 0
    other_languages: int = 0


@dataclass(frozen=True)
class EntityTable:
    """An entity as it is shown: all of it plain text.

    Attributes
    ----------
    label : str
        Its name.
    id : str
        Its URI, as text.
    uri : str or None
        The same, only where it is a sound http or https address.
    rows : tuple of EntityRow
    omitted : int
        Properties beyond the first 200.
    """

    label: str
    id: str
    uri: str | None
    rows: tuple[EntityRow, ...]
    omitted: int = 0


def show_entity(
    triples: Any,
    uri: str,
    languages: Sequence[str] = ("en",),
    limit: int | None = 10,
) -> EntityTable:
    """Return the table of an entity.

    Parameters
    ----------
    triples : str, or an rdflib Graph
        N-Triples text, as :func:`venire.formats.rdf.read_entities` gives it.
    uri : str
        The entity.
    languages : sequence of str
        Preferred languages, best first; ``en`` includes ``en-GB``. Texts in other languages are
        shown only if a property has no text in these. An empty sequence shows all texts.
    limit : int, optional
        Maximum number of values per property; None shows all.

    Raises
    ------
    BadLine
        For text that is no N-Triples.

    Notes
    -----
    A name is the value of rdfs:label, skos:prefLabel, foaf:name, schema:name or dc:title, in the
    best language; failing that the local name of the URI, decoded, its words parted. Properties
    stand in a fixed order: type, names, descriptions, then others; see
    ``venire/content/vocabulary.py``. Blank nodes are shown one level deep, and RDF lists item by
    item. Nothing is followed further, so that a cycle ends where it begins.

    Examples
    --------
    >>> table = show_entity(
    ...     '<http://e/Elba> <http://e/birthPlace> <http://e/New_York> .', "http://e/Elba")
    >>> table.label, table.rows[0].label, table.rows[0].values[0].short
    ('Elba', 'birth place', 'New York')
    """
    read = parse_ntriples(triples, uri) if isinstance(triples, str) else terms_of(triples)
    view = _View(read, tuple(languages), limit)
    subject = Term("uri", uri)
    rows = view.rows(subject, inside=False)
    return EntityTable(
        label=view.name(subject),
        id=harmless(uri),
        uri=sound_address(uri),
        rows=tuple(rows[:MOST_ROWS]),
        omitted=max(0, len(rows) - MOST_ROWS),
    )


class _View:
    """Triples by subject, and how their parts are shown."""

    def __init__(
        self, triples: list[Triple], languages: tuple[str, ...], limit: int | None
    ) -> None:
        self.languages = languages
        self.limit = limit
        self.of: dict[Term, list[tuple[str, Term]]] = {}
        for subject, predicate, value in triples:
            self.of.setdefault(subject, []).append((predicate.text, value))
        self.names: dict[Term, str] = {}

    def rank(self, term: Term) -> int:
        """Return the place of a text's language; the lower, the better."""
        return language_rank(term.language, self.languages)

    def name(self, term: Term) -> str:
        """Return the label of a resource."""
        if term not in self.names:
            best = best_label(self.of.get(term, ()), self.languages) or local_name(term.text)
            self.names[term] = _one_line(best)
        return self.names[term]

    def rows(self, subject: Term, *, inside: bool) -> list[EntityRow]:
        """Return the properties of a node in their order."""
        values: dict[str, list[Term]] = {}
        for uri, value in self.of.get(subject, ()):
            values.setdefault(uri, []).append(value)
        placed = []
        for uri, terms in values.items():
            label = self.property_name(uri)
            group, order = place(uri, label)
            placed.append((order, self.row(label, uri, group, terms, inside=inside)))
        return [row for _, row in sorted(placed, key=lambda item: item[0])]

    def property_name(self, uri: str) -> str:
        """Return the name of a property: a well-known one, its label, its local name."""
        known = plain_name(uri)
        if known is not None:
            return known
        term = Term("uri", uri)
        if any(predicate in LABELS for predicate, _ in self.of.get(term, ())):
            return self.name(term)
        words = _one_line(local_name(uri)).split(" ")
        return " ".join(word if word[1:] != word[1:].lower() else word.lower() for word in words)

    def row(
        self, label: str, uri: str, group: str, terms: list[Term], *, inside: bool
    ) -> EntityRow:
        """Return one property with the values in a language that was asked for."""
        best = min(map(self.rank, terms))
        worst = max(best, len(self.languages)) if self.languages else 1
        if best > len(self.languages):
            # No language that was asked for: the first there is, by its tag.
            tag = min(term.language for term in terms)
            chosen = [term for term in terms if not self.languages or term.language == tag]
        else:
            chosen = [term for term in terms if self.rank(term) <= worst]
        chosen.sort(key=lambda term: (self.rank(term), self.text(term).casefold(), term))
        shown = chosen if self.limit is None else chosen[: self.limit]
        return EntityRow(
            label=label,
            property=harmless(uri),
            group=group,
            values=tuple(self.value(term, inside=inside) for term in shown),
            omitted=len(chosen) - len(shown),
            other_languages=len(terms) - len(chosen),
        )

    def text(self, term: Term) -> str:
        """Return what a value is sorted by."""
        return self.name(term) if term.kind == "uri" else term.text

    def value(self, term: Term, *, inside: bool) -> EntityValue:
        """Return one value; a blank node inside another one is not opened."""
        if term.kind == "literal":
            full = harmless(_literal(term))
            link = sound_address(term.text) if term.datatype == f"{_XSD}anyURI" else None
            return EntityValue(shorten(full), full, "text", harmless(term.language), link)
        if term.kind == "uri":
            full = "(empty list)" if term.text == NIL else self.name(term)
            return EntityValue(shorten(full), full, "resource", uri=sound_address(term.text))
        items = self.items(term)
        if items:
            full = "; ".join(self.plain(item) for item in items)
            return EntityValue(shorten(full), full, "text")
        rows = () if inside else tuple(self.rows(term, inside=True))
        full = self.plain(term)
        return EntityValue(shorten(full), full, "blank", rows=rows)

    def plain(self, term: Term) -> str:
        """Return a value in one line; of a blank node, what it holds but for further ones."""
        if term.kind == "literal":
            return _one_line(_literal(term))
        if term.kind == "uri":
            return self.name(term)
        held = [
            f"{self.property_name(uri)}: {_one_line(self.text(value))}"
            for uri, value in sorted(self.of.get(term, ()))
            if value.kind != "blank"
        ]
        return "; ".join(held) or "(no details)"

    def items(self, term: Term) -> list[Term]:
        """Return the items of an RDF list; a list that runs into itself ends there."""
        out: list[Term] = []
        seen: set[Term] = set()
        cell: Term | None = term
        while cell is not None and cell.kind == "blank" and cell not in seen:
            seen.add(cell)
            held = self.of.get(cell, ())
            out += [value for uri, value in held if uri == FIRST]
            cell = next((value for uri, value in held if uri == REST), None)
        return out


def _literal(term: Term) -> str:
    """Return a literal for readers: dates without a time zone, yes and no; else as it is."""
    if term.datatype == f"{_XSD}date" and (date := _DATE.fullmatch(term.text.strip())):
        return f"{date[1]}-{date[2]}-{date[3]}"
    if term.datatype == f"{_XSD}boolean":
        return {"true": "yes", "1": "yes", "false": "no", "0": "no"}.get(term.text, term.text)
    return term.text


def _one_line(text: str) -> str:
    return " ".join(harmless(text).split())


def shorten(text: str, most: int = SHORT) -> str:
    """Cut a text at a blank near its greatest length, and say so with a mark.

    Examples
    --------
    >>> shorten("one two three", 9)
    'one two…'
    """
    if len(text) <= most:
        return text
    cut = text[:most].rfind(" ")
    return text[: cut if cut > most // 2 else most - 1].rstrip() + "…"


def sound_address(uri: str) -> str | None:
    """Return an http or https address that is what it looks like, or None.

    Not ``javascript:`` or ``data:``, nothing with blanks, control characters, a backslash or
    quotes, and no user name before the host.

    Examples
    --------
    >>> sound_address("https://example.org/a"), sound_address("javascript:alert(1)")
    ('https://example.org/a', None)
    """
    if len(uri) > 2_000 or re.search(r"[\s\x00-\x20\\\"'<>`]", uri) or harmless(uri) != uri:
        return None
    try:
        parts = urlsplit(uri)
        sound = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
        _ = parts.port
    except ValueError:
        return None
    return uri if sound else None


def local_name(uri: str) -> str:
    """Return the last part of a URI, decoded, its words parted.

    Examples
    --------
    >>> local_name("http://dbpedia.org/resource/New_York%20City"), local_name("http://e/#XMLParser")
    ('New York City', 'XML Parser')
    """
    parts = [part for part in re.split(r"[/#]", uri) if part]
    last = parts[-1] if parts else uri
    if ":" in last and not re.match(r"[a-z]+:$", last):
        last = last.rsplit(":", 1)[1] or last
    words = re.sub(r"[_\s]+", " ", unquote(last, errors="replace"))
    return _CAMEL.sub(" ", words).strip() or uri
