"""RDF in: N-Triples, Turtle, RDF/XML and JSON-LD as entities, one document each.

Nothing is fetched: a JSON-LD context is read where it stands in the file, and refused where it
is the address of another one; RDF/XML may declare no entity that is long, nested or elsewhere.
All but N-Triples is read by rdflib.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from venire.errors import BadLine, MissingExtra
from venire.formats.ntriples import Term, Triple, parse_ntriples, write_ntriples
from venire.formats.source import read_bytes, stem
from venire.tables.schema import express

SYNTAXES = {
    ".nt": "nt",
    ".ttl": "turtle",
    ".rdf": "xml",
    ".xml": "xml",
    ".owl": "xml",
    ".jsonld": "json-ld",
}
MOST_BYTES = 256 << 20
"""Most bytes of a file that rdflib reads, which needs some ten times as much memory."""
LONGEST_VALUE = 10_000_000
"""Most characters of one value in RDF/XML: rdflib needs time by their square."""
MOST_LISTED = 100
"""Items of an RDF list that are kept with an entity."""
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL = f"{_RDF}first", f"{_RDF}rest", f"{_RDF}nil"
LABELS = (
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#prefLabel",
    "http://xmlns.com/foaf/0.1/name",
    "http://schema.org/name",
    "https://schema.org/name",
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
)
"""Properties whose value names a thing, the best first."""


def read_triples(path: str | Path, *, name: str | None = None) -> list[Triple]:
    """Read the triples of a file; its ending says the syntax: .nt .ttl .rdf .xml .owl .jsonld.

    Messages call the file ``name``, by default its path.

    Raises
    ------
    BadLine
        Another ending; what cannot be read; what would have to be fetched.
    MissingExtra
        When rdflib is needed and not installed.
    """
    name = name or str(path)
    syntax = SYNTAXES.get(Path(stem(name, keep_kind=True)).suffix.lower())
    if syntax is None:
        raise BadLine(name, None, f"the ending says the syntax: {' '.join(SYNTAXES)}")
    data = read_bytes(path, name=name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadLine(name, line, "is not UTF-8 text") from None
    if syntax == "nt":
        return parse_ntriples(text, name)
    if len(data) > MOST_BYTES:
        raise BadLine(name, None, f"has more than {MOST_BYTES >> 20} MB; write it as N-Triples")
    if syntax == "json-ld":
        text = _json_without_addresses(text, name)
    elif syntax == "xml":
        _check_xml(text, name)
    return _rdflib(text, syntax, name)


def _json_without_addresses(text: str, name: str) -> str:
    """Return JSON-LD as it was understood here, so that nobody understands it otherwise."""
    try:
        document = json.loads(text)
        waiting = [document]
        while waiting:
            node = waiting.pop()
            if isinstance(node, dict):
                contexts = node.get("@context")
                for context in contexts if isinstance(contexts, list) else [contexts]:
                    if isinstance(context, str):
                        raise BadLine(name, None, _FETCH.format(context))
                if "@import" in node:
                    raise BadLine(name, None, _FETCH.format(node["@import"]))
                waiting += node.values()
            elif isinstance(node, list):
                waiting += node
        return json.dumps(document)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadLine):
            raise
        reason = getattr(error, "msg", "nested too deep")
        raise BadLine(name, getattr(error, "lineno", None), f"is no JSON: {reason}") from None


_FETCH = "names the context {!r}, which is not fetched; write the context itself into the file"


def _check_xml(text: str, name: str) -> None:
    """Refuse declarations that unfold or that are read from elsewhere, and endless values."""
    if max(map(len, text.split("<"))) > LONGEST_VALUE:
        raise BadLine(name, None, f"has a value of more than {LONGEST_VALUE:,} characters")
    if "<!DOCTYPE" not in text:
        return
    if re.search(r"<!(?:ENTITY|DOCTYPE)[^>\"'\[]*\b(?:SYSTEM|PUBLIC)\b", text):
        raise BadLine(
            name,
            None,
            "uses an external entity or DTD",
            hint="Venire does not load these; put the content into the file.",
        )
    unfolded = 0
    for entity, value in re.findall(r"<!ENTITY\s+([^\s\"'>]+)\s+[\"']([^\"'>]*)", text):
        unfolded += len(value) * text.count(f"&{entity};")
        if "&" in value or "%" in value or entity == "%" or unfolded > LONGEST_VALUE:
            raise BadLine(name, None, "declares an entity that unfolds too far")
    if "<!ATTLIST" in text:
        raise BadLine(name, None, "declares default attributes (ATTLIST), which are not read")


_LOCK = threading.Lock()
_BASE = "http://relative.invalid/"
"""What relative addresses are resolved against, and freed of again: ``<Nike>`` stays ``Nike``."""


@contextmanager
def _as_written(rdflib: Any) -> Iterator[None]:
    """Keep literals as they are written, ``"01"^^xsd:integer`` too, and say nothing of odd ones."""
    log = logging.getLogger("rdflib.term")
    with _LOCK, warnings.catch_warnings():
        # rdflib warns of its own use of its own names.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="rdflib")
        before = rdflib.NORMALIZE_LITERALS, log.disabled
        rdflib.NORMALIZE_LITERALS, log.disabled = False, True
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS, log.disabled = before


def _rdflib(text: str, syntax: str, name: str) -> list[Triple]:
    try:
        from xml.sax import SAXException

        import rdflib
        from rdflib.exceptions import Error
    except ImportError:
        raise MissingExtra("rdflib", "web", f"Reading {name}") from None
    # Of JSON-LD's named graphs all triples count, whatever the name.
    graph = rdflib.Dataset() if syntax == "json-ld" else rdflib.Graph(bind_namespaces="none")
    faults = (Error, SAXException, SyntaxError, ValueError, LookupError, TypeError, AttributeError,
              AssertionError, ArithmeticError, RecursionError, OSError)  # fmt: skip
    try:
        with _as_written(rdflib):
            graph.parse(data=text, format=syntax, publicID=_BASE)
    except faults as error:
        raise _fault(error, name) from None
    return terms_of(graph)


def terms_of(graph: Any) -> list[Triple]:
    """Return the triples of an rdflib Graph."""
    import rdflib

    names: dict[Any, str] = {}
    return [
        (_term(s, rdflib, names), _term(p, rdflib, names), _term(o, rdflib, names))
        for s, p, o, *_ in (graph.quads() if isinstance(graph, rdflib.Dataset) else graph)
    ]


def _fault(error: Exception, name: str) -> BadLine:
    """Return what rdflib or the XML parser says, in one line."""
    if isinstance(error, RecursionError):
        return BadLine(name, None, "cannot be read: it is nested too deep")
    line = getattr(error, "lines", None)
    syntax = re.search(r"Bad syntax \((.*?)\) at \^ in", str(error), re.DOTALL)
    reason = syntax[1] if syntax else " ".join(str(error).split()) or type(error).__name__
    reason = reason.replace(_BASE, "")[:200]
    return BadLine(name, None if line is None else int(line) + 1, f"cannot be read: {reason}")


def _term(node: Any, rdflib: Any, names: dict[Any, str]) -> Term:
    if isinstance(node, rdflib.BNode):
        return Term("blank", names.setdefault(node, f"b{len(names)}"))
    if isinstance(node, rdflib.Literal):
        return Term("literal", str(node), str(node.language or ""), str(node.datatype or ""))
    return Term("uri", str(node).removeprefix(_BASE))


def language_rank(language: str, languages: Sequence[str]) -> int:
    """Return the place of a text's language: those asked for, then none, then any other.

    ``en`` also means ``en-GB``.
    """
    tag = language.lower()
    for position, wanted in enumerate(languages):
        if tag == wanted.lower() or tag.startswith(f"{wanted.lower()}-"):
            return position
    return len(languages) + bool(tag)


def best_label(properties: Iterable[tuple[str, Term]], languages: Sequence[str]) -> str | None:
    """Return the value that names a thing best: by language, then by property; None if none."""
    labels = [
        (language_rank(value.language, languages), LABELS.index(uri), value.language, value.text)
        for uri, value in properties
        if uri in LABELS and value.kind == "literal" and value.text.strip()
    ]
    return min(labels)[-1] if labels else None


def read_entities(path: str | Path) -> pl.DataFrame:
    """Read a file of entities, one row for each subject that has a URI.

    Returns
    -------
    polars.DataFrame
        ``doc_id``, the URI, and ``triples``, N-Triples text that is enough to show the entity
        alone: its triples, those of its blank nodes (one level, and RDF lists), and the labels
        that the file has of everything it names. Rows and lines have a fixed order.

    Raises
    ------
    BadLine, MissingExtra
        Another ending; what cannot be read; what would have to be fetched; rdflib that is needed
        and not installed.
    """
    return entities(read_triples(path))[0]


def entities(triples: Iterable[Triple]) -> tuple[pl.DataFrame, list[str]]:
    """Return the frame of :func:`read_entities`, and notes on what is in no entity."""
    of: dict[Term, list[Triple]] = {}
    labels: dict[Term, list[Triple]] = {}
    for triple in triples:
        of.setdefault(triple[0], []).append(triple)
        if triple[1].text in LABELS and triple[2].kind == "literal":
            labels.setdefault(triple[0], []).append(triple)
    rows = []
    shown: set[Term] = set()
    for subject in sorted(term for term in of if term.kind == "uri"):
        own = of[subject]
        blanks = _blanks(own, of)
        shown |= blanks.keys()
        names = _names(own, blanks, of)
        inside = [*own, *(triple for blank in blanks for triple in of.get(blank, ()))]
        named = {part for triple in inside for part in triple[1:] if part.kind == "uri"}
        labelled = [label for part in named - {subject} for label in labels.get(part, ())]
        parts = (own, inside[len(own) :], labelled)
        lines = [sorted(write_ntriples([_rename_blanks(t, names)]) for t in part) for part in parts]
        rows.append((subject.text, "".join(line for part in lines for line in part)))
    stray = [term for term in of if term.kind == "blank" and term not in shown]
    notes = []
    if stray:
        lost = sum(len(of[term]) for term in stray)
        notes.append(
            f"{express(len(stray), 'blank node')} deeper than one level or named by nobody, with "
            f"{express(lost, 'triple')}, left out"
        )
    schema = {"doc_id": pl.String, "triples": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row"), notes


def _blanks(own: list[Triple], of: dict[Term, list[Triple]]) -> dict[Term, None]:
    """Return the blank nodes an entity names, and the cells of lists that begin there."""
    out: dict[Term, None] = {}
    for _, _, value in own:
        cell: Term | None = value
        while cell is not None and cell.kind == "blank" and len(out) < MOST_LISTED + len(own):
            if cell in out:
                break
            out[cell] = None
            items = [t[2] for t in of.get(cell, ()) if t[1].text == FIRST]
            out.update((item, None) for item in items if item.kind == "blank")
            rest = (t[2] for t in of.get(cell, ()) if t[1].text == REST)
            cell = next(rest, None)
    return out


def _names(
    own: list[Triple], blanks: dict[Term, None], of: dict[Term, list[Triple]]
) -> dict[Term, Term]:
    """Name blank nodes by what they hold and what names them, so that the text repeats."""
    about: dict[Term, list[tuple[str, str, Term]]] = {blank: [] for blank in blanks}
    for s, p, o in (*own, *(triple for blank in blanks for triple in of.get(blank, ()))):
        if s in about:
            about[s].append(("holds", p.text, o))
        if o in about:
            about[o].append(("is named by", p.text, s))
    mark = dict.fromkeys(blanks, "")
    distinct = 0
    while (now := len(set(mark.values()))) > distinct:
        distinct = now
        mark = {
            blank: _digest(
                sorted(
                    (way, uri, "" if term.kind == "blank" else repr(term), mark.get(term, ""))
                    for way, uri, term in about[blank]
                )
            )
            for blank in blanks
        }
    ordered = sorted(blanks, key=mark.__getitem__)
    return {blank: Term("blank", f"b{number}") for number, blank in enumerate(ordered)}


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()


def _rename_blanks(triple: Triple, names: dict[Term, Term]) -> Triple:
    deep = Term("blank", "deeper")
    s, p, o = triple
    return (names.get(s, s), p, names.get(o, deep) if o.kind == "blank" else o)
