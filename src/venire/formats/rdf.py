"""Read RDF files (N-Triples, Turtle, RDF/XML, JSON-LD) as entities, one document per entity.

Nothing is downloaded. A JSON-LD context must be inside the file. RDF/XML with external, nested or
long entity declarations is refused. rdflib reads all syntaxes except N-Triples.
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
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

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
"""Maximum size of a file for rdflib, which needs about ten times as much memory."""
LONGEST_VALUE = 10_000_000
"""Maximum number of characters of a value in RDF/XML: rdflib needs time quadratic in it."""
MOST_LISTED = 100
"""Maximum number of items of an RDF list that are kept with an entity."""
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
"""Properties whose value is a label, preferred first."""


def read_triples(path: str | Path, *, name: str | None = None) -> list[Triple]:
    """Read the triples of a file; its ending selects the syntax: .nt .ttl .rdf .xml .owl .jsonld.

    Messages call the file ``name``, by default its path.

    Raises
    ------
    BadLine
        An unknown ending, a file that cannot be read, or a reference to a remote file.
    MissingExtra
        rdflib is required and not installed.
    """
    name = name or str(path)
    syntax = SYNTAXES.get(Path(stem(name, keep_kind=True)).suffix.lower())
    if syntax is None:
        raise BadLine(name, None, "unknown file ending", hint=f"Choose from {' '.join(SYNTAXES)}.")
    data = read_bytes(path, name=name)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadLine(name, line, "is not UTF-8 text") from None
    if syntax == "nt":
        return parse_ntriples(text, name)
    if len(data) > MOST_BYTES:
        raise BadLine(
            name, None, f"is larger than {MOST_BYTES >> 20} MB", hint="Convert it to N-Triples."
        )
    if syntax == "json-ld":
        text = _refuse_remote_contexts(text, name)
    elif syntax == "xml":
        _check_xml(text, name)
    return _rdflib(text, syntax, name)


def _refuse_remote_contexts(text: str, name: str) -> str:
    """Return JSON-LD written anew from the checked values, so that rdflib reads these values."""
    try:
        document = json.loads(text)
        unchecked = [document]
        while unchecked:
            node = unchecked.pop()
            if isinstance(node, dict):
                contexts = [node.get("@context")]
                while contexts:
                    context = contexts.pop()
                    if isinstance(context, str):
                        raise _remote_context(name, context)
                    if isinstance(context, list):
                        contexts += context
                if "@import" in node:
                    raise _remote_context(name, node["@import"])
                unchecked += node.values()
            elif isinstance(node, list):
                unchecked += node
        return json.dumps(document)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadLine):
            raise
        reason = getattr(error, "msg", "nested too deeply")
        raise BadLine(
            name, getattr(error, "lineno", None), f"is not valid JSON: {reason}"
        ) from None


def _refuse_context(source: Any, *_: Any, **__: Any) -> NoReturn:
    raise ValueError(f"it refers to the context {source}, which Venire does not download")


def _remote_context(name: str, context: object) -> BadLine:
    return BadLine(
        name,
        None,
        f"refers to the context {context!r}, which Venire does not download",
        hint="Write the context itself into the file.",
    )


def _check_xml(text: str, name: str) -> None:
    """Refuse external entities, entities that expand too far, and very long values."""
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
    expanded = 0
    for entity, value in re.findall(r"<!ENTITY\s+([^\s\"'>]+)\s+[\"']([^\"'>]*)", text):
        expanded += len(value) * text.count(f"&{entity};")
        if "&" in value or "%" in value or entity == "%" or expanded > LONGEST_VALUE:
            raise BadLine(name, None, "declares an entity that is nested or expands too far")
    if "<!ATTLIST" in text:
        raise BadLine(
            name, None, "declares default attributes (ATTLIST), which Venire does not support"
        )


_LOCK = threading.Lock()
_BASE = "http://relative.invalid/"
"""Base of relative URIs, removed again after reading: ``<Nike>`` stays ``Nike``."""


@contextmanager
def _as_written(rdflib: Any) -> Iterator[None]:
    """Keep literals such as ``"01"^^xsd:integer`` as written, without warnings of rdflib."""
    log = logging.getLogger("rdflib.term")
    with _LOCK, warnings.catch_warnings():
        # rdflib itself uses names that it has deprecated.
        warnings.filterwarnings("ignore", category=DeprecationWarning, module="rdflib")
        context: Any = import_module("rdflib.plugins.shared.jsonld.context")
        before = rdflib.NORMALIZE_LITERALS, log.disabled, context.source_to_json
        rdflib.NORMALIZE_LITERALS, log.disabled = False, True
        # Whatever a document says: there is nothing that could fetch or open a context.
        context.source_to_json = _refuse_context
        try:
            yield
        finally:
            rdflib.NORMALIZE_LITERALS, log.disabled, context.source_to_json = before


def _rdflib(text: str, syntax: str, name: str) -> list[Triple]:
    try:
        from xml.sax import SAXException

        import rdflib
        from rdflib.exceptions import Error
    except ImportError:
        raise MissingExtra("rdflib", "web", f"Reading {name}") from None
    # Triples of all named graphs of JSON-LD are read.
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
    """Return the message of rdflib or the XML parser as an error of one line."""
    if isinstance(error, RecursionError):
        return BadLine(name, None, "cannot be read: nested too deeply")
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
    """Return the rank of a language: preferred languages, then no language, then any other.

    ``en`` includes ``en-GB``.
    """
    tag = language.lower()
    for position, wanted in enumerate(languages):
        if tag == wanted.lower() or tag.startswith(f"{wanted.lower()}-"):
            return position
    return len(languages) + bool(tag)


def best_label(properties: Iterable[tuple[str, Term]], languages: Sequence[str]) -> str | None:
    """Return the best label, by language, then by property; None if there is no label."""
    labels = [
        (language_rank(value.language, languages), LABELS.index(uri), value.language, value.text)
        for uri, value in properties
        if uri in LABELS and value.kind == "literal" and value.text.strip()
    ]
    return min(labels)[-1] if labels else None


def read_entities(path: str | Path) -> pl.DataFrame:
    """Read a file of entities, one row per subject with a URI.

    Returns
    -------
    polars.DataFrame
        ``doc_id``, the URI, and ``triples``, N-Triples text with everything to show the entity:
        its triples, those of its blank nodes (one level, and RDF lists), and the labels of all
        URIs in them. The order of rows and lines is fixed.

    Raises
    ------
    BadLine, MissingExtra
        As for ``read_triples``.
    """
    return entities(read_triples(path))[0]


def entities(triples: Iterable[Triple]) -> tuple[pl.DataFrame, list[str]]:
    """Return the frame of :func:`read_entities`, and notes on triples that are in no entity."""
    by_subject: dict[Term, list[Triple]] = {}
    labels: dict[Term, list[Triple]] = {}
    for triple in triples:
        by_subject.setdefault(triple[0], []).append(triple)
        if triple[1].text in LABELS and triple[2].kind == "literal":
            labels.setdefault(triple[0], []).append(triple)
    rows = []
    blanks_of_entities: set[Term] = set()
    for subject in sorted(term for term in by_subject if term.kind == "uri"):
        own_triples = by_subject[subject]
        blanks = _find_blanks(own_triples, by_subject)
        blanks_of_entities |= blanks.keys()
        names = _name_blanks(own_triples, blanks, by_subject)
        blank_triples = [triple for blank in blanks for triple in by_subject.get(blank, ())]
        uris = {
            part
            for triple in (*own_triples, *blank_triples)
            for part in triple[1:]
            if part.kind == "uri"
        }
        label_triples = [label for uri in uris - {subject} for label in labels.get(uri, ())]
        parts = (own_triples, blank_triples, label_triples)
        lines = [sorted(write_ntriples([_rename_blanks(t, names)]) for t in part) for part in parts]
        rows.append((subject.text, "".join(line for part in lines for line in part)))
    stray = [term for term in by_subject if term.kind == "blank" and term not in blanks_of_entities]
    notes = []
    if stray:
        n_triples = sum(len(by_subject[term]) for term in stray)
        notes.append(
            f"{express(len(stray), 'blank node')} deeper than one level or not referenced, with "
            f"{express(n_triples, 'triple')}, left out"
        )
    schema = {"doc_id": pl.String, "triples": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row"), notes


def _find_blanks(
    own_triples: list[Triple], by_subject: dict[Term, list[Triple]]
) -> dict[Term, None]:
    """Return the blank nodes that an entity refers to, including the cells of its RDF lists."""
    blanks: dict[Term, None] = {}
    most = MOST_LISTED + len(own_triples)
    for _, _, value in own_triples:
        cell: Term | None = value
        while cell is not None and cell.kind == "blank" and len(blanks) < most:
            if cell in blanks:
                break
            blanks[cell] = None
            items = [t[2] for t in by_subject.get(cell, ()) if t[1].text == FIRST]
            blanks.update((item, None) for item in items if item.kind == "blank")
            next_cells = (t[2] for t in by_subject.get(cell, ()) if t[1].text == REST)
            cell = next(next_cells, None)
    return blanks


def _name_blanks(
    own_triples: list[Triple], blanks: dict[Term, None], by_subject: dict[Term, list[Triple]]
) -> dict[Term, Term]:
    """Name blank nodes by their content and references, so that equal files give equal text."""
    about: dict[Term, list[tuple[str, str, Term]]] = {blank: [] for blank in blanks}
    for s, p, o in (
        *own_triples,
        *(triple for blank in blanks for triple in by_subject.get(blank, ())),
    ):
        if s in about:
            about[s].append(("holds", p.text, o))
        if o in about:
            about[o].append(("is named by", p.text, s))
    mark = dict.fromkeys(blanks, "")
    n_before = 0
    while (n_marks := len(set(mark.values()))) > n_before:
        n_before = n_marks
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
