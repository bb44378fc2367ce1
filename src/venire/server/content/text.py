"""Text as a judge reads it: paragraphs, query terms marked, the densest passage found.

Nothing here is HTML. A page shows each segment as text (``textContent``), so that a document
cannot run anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from statistics import median
from typing import Any, NamedTuple

from venire.server.content.control_characters import harmless

MOST_TERMS = 64
"""Query terms that are looked for; a longer query is cut there."""
LONGEST = 5_000
"""Characters of a paragraph; a longer one is cut at a line, a sentence or a blank."""
WINDOW = 300
"""Characters within which distinct query terms count as one passage: about 50 words."""
# Words that would mark half of every document. A query of nothing else keeps them.
_COMMON_WORDS = """
a about am an and any are as at be been by can could did do does for from had has have how i if in
into is it its me my no not of on or our s should so such t that the their then there these they
this to was we were what when where which who whom whose why will with would you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"
)
"""Han, kana, Hangul, Thai, Lao, Burmese and Khmer: no blanks between words, or endings glued on."""


class Segment(NamedTuple):
    """A piece of text, and whether a query term is in it."""

    text: str
    marked: bool


Line = tuple[Segment, ...]
_ITEM = re.compile(r"\s|[-*•–+] |\(?\w{1,2}[.)] ")


@dataclass(frozen=True)
class ShownText:
    """A text document as it is shown.

    Attributes
    ----------
    title : tuple of Segment
    paragraphs : tuple of tuple of Segment
        Line ends within a paragraph are kept, unless the text was wrapped at a fixed width.
    densest : int or None
        The paragraph with the densest passage; None where no query term is in the body.
    """

    title: Line
    paragraphs: tuple[Line, ...]
    densest: int | None


def show_text(title: str | None, body: str | None, query: str | None) -> ShownText:
    r"""Return a document cut into paragraphs, with the terms of the query marked.

    Words are compared without case and accents, and by their stem (Snowball's English one,
    where PyStemmer is installed; otherwise as they are). Common words (the, of, what) are not
    marked, unless the query has no other. Where a script writes no blanks between words
    (Chinese, Japanese, Korean, Thai, ...), pairs of neighbouring characters of the query are
    marked, as Lucene's CJK analyser indexes them.

    The densest passage is the stretch of 300 characters in one paragraph that has the most
    distinct query terms; among equals, the most marked words; then the first.

    Control characters are made visible; see
    :func:`venire.server.content.control_characters.harmless`.

    Examples
    --------
    >>> shown = show_text("", "Cooking.\n\nTwo wings, in Café air.", "WING cafe")
    >>> shown.densest, [text for text, marked in shown.paragraphs[1] if marked]
    (1, ['wings', 'Café'])
    """
    terms = _Terms(harmless(query or ""))
    head, _ = terms.mark(" ".join(harmless(title or "").split()))
    paragraphs = []
    best, densest = (0, 0), None
    for number, paragraph in enumerate(_paragraphs(harmless(body or ""))):
        segments, hits = terms.mark(paragraph)
        paragraphs.append(segments)
        score = _density(hits)
        if score > best:
            best, densest = score, number
    return ShownText(head, tuple(paragraphs), densest)


def fold(word: str) -> str:
    """Return a word without case, accents and compatibility forms (``Ｃａｆé`` is ``cafe``)."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).casefold()
    return "".join(c for c in plain if not unicodedata.combining(c))


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what a token is, and the characters that make it more than a run of letters."""
    marks = [c for c in range(0x300, 0x3000) if unicodedata.category(chr(c))[0] == "M"]
    starts = [b for a, b in pairwise([-2, *marks]) if b != a + 1]
    ends = [a for a, b in pairwise([*marks, 1 << 30]) if b != a + 1]
    ranges = "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))
    letter = f"[^\\W{_UNSPACED}]"
    # Marks of Thai and its neighbours are in both; the run of their script is tried first.
    token = re.compile(f"([{_UNSPACED}]+|{letter}(?:{letter}+|(?![{_UNSPACED}])[{ranges}])*)")
    return token, re.compile(f"[{_UNSPACED}{ranges}]")


_LETTERS = re.compile(r"(\w+)")


def _token(text: str) -> re.Pattern[str]:
    """Return the pattern of a token: a run of an unspaced script, or a word with its marks."""
    if text.isascii():
        return _LETTERS
    token, special = _patterns()
    return token if special.search(text) else _LETTERS


@lru_cache(maxsize=1)
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]")


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    try:
        import Stemmer
    except ImportError:
        return None
    return Stemmer.Stemmer("english")


def _stems(words: list[str]) -> list[str]:
    """Return the folded stem of each word."""
    folded = [fold(word) for word in words]
    # Algorithms of this kind take time by the square of a word's length.
    stemmer = _stemmer()
    if stemmer is None:
        return folded
    return [stemmer.stemWord(word) if len(word) < 50 else word for word in folded]


class _Terms:
    """The terms of a query, and the parts of a text that match them."""

    def __init__(self, query: str) -> None:
        query = query[: MOST_TERMS * 100]
        tokens = list(dict.fromkeys(_token(query).findall(query)))
        runs = [token for token in tokens if _unspaced_pattern().match(token)]
        words = [token for token in tokens if not _unspaced_pattern().match(token)]
        telling = [word for word in words if fold(word) not in _COMMON]
        words = telling if telling or runs else words
        self.stems = frozenset(_stems(words)[:MOST_TERMS])
        pairs = dict.fromkeys(
            run[start : start + 2] for run in runs for start in range(max(1, len(run) - 1))
        )
        some = [re.escape(pair) for pair in list(pairs)[:MOST_TERMS]]
        self.pairs = re.compile(f"(?=({'|'.join(some)}))") if some else None
        self.known: dict[str, tuple[tuple[int, int, str], ...]] = {}

    def _of(self, word: str, stem: str) -> tuple[tuple[int, int, str], ...]:
        """Return (begin, end, term) of what is marked in a word."""
        if stem in self.stems:
            return ((0, len(word), stem),)
        if self.pairs is None or not _unspaced_pattern().match(word):
            return ()
        matches = self.pairs.finditer(word)
        return tuple((match.start(), match.start() + len(match[1]), match[1]) for match in matches)

    def __bool__(self) -> bool:
        return bool(self.stems or self.pairs)

    def mark(self, text: str) -> tuple[Line, list[tuple[int, str]]]:
        """Return the segments of a text, and (place, term) of each hit."""
        if not text:
            return (), []
        if not self:
            return (Segment(text, marked=False),), []
        spans: list[tuple[int, int]] = []
        hits: list[tuple[int, str]] = []
        parts = _token(text).split(text)
        known = self.known
        new = list({part for part in parts[1::2] if part not in known})
        known.update(zip(new, map(self._of, new, _stems(new)), strict=True))
        marked_parts = [number for number in range(1, len(parts), 2) if known[parts[number]]]
        if not marked_parts:
            return (Segment(text, marked=False),), []
        starts = [0, *accumulate(map(len, parts))]
        for number in marked_parts:
            start, part = starts[number], parts[number]
            for begin, end, term in known[part]:
                spans.append((start + begin, start + end))
                hits.append((start + begin, term))
        return _segments(text, spans), hits


def _segments(text: str, spans: list[tuple[int, int]]) -> Line:
    """Cut a text at rising spans; spans that touch become one."""
    joined: list[list[int]] = []
    for begin, end in spans:
        if joined and begin <= joined[-1][1]:
            joined[-1][1] = max(end, joined[-1][1])
        else:
            joined.append([begin, end])
    out = []
    position = 0
    for begin, end in joined:
        if begin > position:
            out.append(Segment(text[position:begin], marked=False))
        out.append(Segment(text[begin:end], marked=True))
        position = end
    if position < len(text):
        out.append(Segment(text[position:], marked=False))
    return tuple(out)


def _density(hits: list[tuple[int, str]]) -> tuple[int, int]:
    """Return the most distinct terms in a window, and the most hits in such a window."""
    best = (0, 0)
    inside: Counter[str] = Counter()
    first = 0
    for last, (place, term) in enumerate(hits):
        inside[term] += 1
        while hits[first][0] < place - WINDOW:
            left = hits[first][1]
            inside[left] -= 1
            if not inside[left]:
                del inside[left]
            first += 1
        best = max(best, (len(inside), last - first + 1))
    return best


def _paragraphs(text: str) -> list[str]:
    """Cut at blank lines, and paragraphs that are too long at the best place there is."""
    out: list[str] = []
    lines: list[str] = []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            out += _short((" " if _hard_wrapped(lines) else "\n").join(lines))
            lines = []
    return out


def _hard_wrapped(lines: list[str]) -> bool:
    """Whether line ends are only where a typewriter's line was full: they say nothing then.

    Three lines or more, none above 100 characters, half of them at least 40, and none that
    begins like a list, code or verse with an indent.
    """
    return (
        len(lines) >= 3
        and max(map(len, lines)) <= 100
        and median(len(line) for line in lines[:-1]) >= 40
        and not any(_ITEM.match(line) for line in lines)
    )


def _short(text: str) -> list[str]:
    out = []
    position = 0
    while len(text) - position > LONGEST:
        piece = text[position : position + LONGEST]
        half = LONGEST // 2
        for end in ("\n", ". ", "。", " "):
            cut = piece.rfind(end, half)
            if cut >= 0:
                break
        cut = cut + len(end) if cut >= 0 else LONGEST
        out.append(piece[:cut].strip())
        position += cut
    out.append(text[position:].strip())
    return [paragraph for paragraph in out if paragraph]
