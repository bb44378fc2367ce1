"""From text to terms: lower case, tokens, stop words, stemming; each a setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.errors import BadSetting, MissingExtra

LUCENE_STOP_WORDS = (
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
)  # fmt: skip
"""The 33 English stop words of Lucene's ``EnglishAnalyzer``."""
STEMMERS = ("porter", "none")


@dataclass(frozen=True, kw_only=True)
class Analyzer:
    """How text becomes terms.

    Steps, in this order: lower case, tokens, stop words out, stemming. Stop words go before
    stemming, so the list holds whole words.

    Attributes
    ----------
    lower_case : bool
    token : str
        Regular expression of a token, matched after lower-casing.
    stop_words : tuple of str
        Words left out; ``()`` keeps all.
    stemmer : "porter" or "none"
        The original algorithm (Porter 1980), not Snowball's later English one. It needs
        PyStemmer.

    Examples
    --------
    >>> Analyzer().terms(pl.Series(["The wings, in slipstreams"]))["term"].to_list()
    ['wing', 'slipstream']
    """

    lower_case: bool = True
    token: str = "[a-z0-9]+"
    stop_words: tuple[str, ...] = LUCENE_STOP_WORDS
    stemmer: str = "porter"

    def __post_init__(self) -> None:
        """Refuse what cannot work, before a collection is read."""
        if self.stemmer not in STEMMERS:
            raise BadSetting(f"stemmer is one of {', '.join(STEMMERS)}, not {self.stemmer!r}")
        if isinstance(self.stop_words, str):
            raise BadSetting("stop_words is a tuple of words, not one text")
        try:
            pl.Series([""]).str.extract_all(self.token)
        except pl.exceptions.PolarsError as error:
            reason = str(error).split("error:")[-1].split("\n")[0].strip()
            raise BadSetting(
                f"token {self.token!r} is no regular expression: {reason or 'see the regex syntax'}"
            ) from None

    def terms(self, texts: pl.Series) -> pl.DataFrame:
        """Return ``row, term``: the terms of each text, in their order.

        Parameters
        ----------
        texts : polars.Series of text
            A null is an empty text.

        Raises
        ------
        MissingExtra
            When stemming is asked for and PyStemmer is not installed.
        """
        lowered = texts.cast(pl.String)
        if self.lower_case:
            lowered = lowered.str.to_lowercase()
        frame = (
            pl.DataFrame({"term": lowered.str.extract_all(self.token)})
            .with_row_index("row")
            .explode("term")
            .drop_nulls("term")
        )
        if self.stop_words:
            frame = frame.filter(~pl.col("term").is_in(list(self.stop_words)))
        if self.stemmer == "none" or frame.is_empty():
            return frame
        # Only the vocabulary is stemmed, not every occurrence.
        words = frame["term"].unique()
        stems = pl.Series(_porter().stemWords(words.to_list()), dtype=pl.String)
        return frame.with_columns(pl.col("term").replace_strict(words, stems))


def _porter() -> Any:
    try:
        import Stemmer
    except ImportError:
        raise MissingExtra("PyStemmer", "retrieval", "The Porter stemmer") from None
    return Stemmer.Stemmer("porter")
