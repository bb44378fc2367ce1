"""N-Triples: one triple per line, read and written without loss.

Venire reads this syntax itself, because rdflib's reader needs time quadratic in the length of a
line and converts typed literals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from venire.errors import BadLine


class Term(NamedTuple):
    """A part of a triple.

    ``kind`` is ``uri``, ``blank`` or ``literal``; a literal has a language or a datatype, or
    neither.
    """

    kind: str
    text: str
    language: str = ""
    datatype: str = ""


Triple = tuple[Term, Term, Term]

_IRI = r'<((?:[^<>"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*+)>'
_BLANK = r"_:([^\s<>\"@^]++)"
_LINE = re.compile(
    rf"[ \t]*+(?:{_IRI}|{_BLANK})[ \t]*+{_IRI}[ \t]*+"
    rf'(?:{_IRI}|{_BLANK}|"((?:[^"\\\n\r]++|\\.)*+)"(?:@([A-Za-z]++(?:-[A-Za-z0-9]++)*+)|\^\^{_IRI})?)'
    r"[ \t]*+\.[ \t]*+(?:#.*)?"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_SHORT = {"\\t": "\t", "\\b": "\b", "\\n": "\n", "\\r": "\r", "\\f": "\f", '\\"': '"', "\\'": "'"}
_CONTROL = (*range(0x20), 0x7F, 0x85, 0x2028, 0x2029)
_SPECIAL = str.maketrans(
    {code: f"\\u{code:04X}" for code in _CONTROL}
    | dict.fromkeys(range(0xD800, 0xE000), "\\uFFFD")
    | {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
)
_SPECIAL_IRI = str.maketrans(
    {code: f"\\u{code:04X}" for code in (*_CONTROL, *map(ord, ' <>"{}|^`\\'))}
    | dict.fromkeys(range(0xD800, 0xE000), "\\uFFFD")
)


def parse_ntriples(text: str, name: str = "N-Triples") -> list[Triple]:
    """Read N-Triples (https://www.w3.org/TR/n-triples/) in file order, without repeated triples.

    Raises
    ------
    BadLine
        A line that is not a triple.

    Examples
    --------
    >>> parse_ntriples('<http://a> <http://b> "c"@en .')[0][2]
    Term(kind='literal', text='c', language='en', datatype='')
    """
    triples: dict[Triple, None] = {}
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        match = _LINE.fullmatch(line)
        if match:
            s, s_blank, p, o, o_blank, literal, language, datatype = match.groups()
            try:
                subject = Term("uri", _unescape(s)) if s is not None else Term("blank", s_blank)
                if literal is not None:
                    kind = _unescape(datatype or "")
                    value = Term("literal", _unescape(literal), language or "", kind)
                else:
                    value = Term("uri", _unescape(o)) if o is not None else Term("blank", o_blank)
                triples[subject, Term("uri", _unescape(p)), value] = None
            except ValueError as error:
                raise BadLine(name, number, str(error)) from None
        elif line.strip() and not line.lstrip().startswith("#"):
            raise BadLine(name, number, "is not a triple `<subject> <predicate> object .`")
    return list(triples)


def _unescape(text: str) -> str:
    """Replace the escape sequences; split at escaped backslashes first."""
    return "\\".join(_unescape_part(part) for part in text.split("\\\\")) if "\\" in text else text


def _unescape_part(text: str) -> str:
    for short, character in _SHORT.items():
        text = text.replace(short, character)
    return _ESCAPE.sub(_decode_escape, text) if "\\" in text else text


def _decode_escape(match: re.Match[str]) -> str:
    if match[3] is not None:
        raise ValueError(f"has the escape \\{match[3]}, which N-Triples does not define")
    code = int(match[1] or match[2], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError(f"has the escape {match[0]}, which is not a character")
    return chr(code)


def write_ntriples(triples: Iterable[Triple]) -> str:
    """Return triples as N-Triples text, one line per triple."""
    return "".join(f"{_write_term(s)} {_write_term(p)} {_write_term(o)} .\n" for s, p, o in triples)


def _write_term(term: Term) -> str:
    if term.kind == "blank":
        return f"_:{term.text}"
    if term.kind == "uri":
        return f"<{term.text.translate(_SPECIAL_IRI)}>"
    end = f"@{term.language}" if term.language else ""
    if term.datatype:
        end = f"^^<{term.datatype.translate(_SPECIAL_IRI)}>"
    return f'"{term.text.translate(_SPECIAL)}"{end}'
