"""From text to terms: lower case, tokens, stop words, stemming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from venire.errors import BadSetting, MissingExtra
from venire.settings import Settings, setting

LUCENE_STOP_WORDS = (
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
)  # fmt: skip
"""The 33 English stop words of Lucene's ``EnglishAnalyzer``."""
STEMMERS = ("porter", "none")


@dataclass(frozen=True, kw_only=True)
class Analyzer(Settings):
    """How text becomes terms.

    The steps, in this order: lower case, tokens, removal of stop words, stemming. Stop words are
    removed before stemming, so the list contains whole words. The stemmer is the original
    algorithm (Porter 1980), not Snowball's later English one; it needs PyStemmer.

    Examples
    --------
    >>> Analyzer().split_terms(pl.Series(["The wings, in slipstreams"]))["term"].to_list()
    ['wing', 'slipstream']
    """

    lower_case: bool = setting(True, words="Convert text to lower case.")
    token: str = setting(
        "[a-z0-9]+", words="Regular expression of a token, matched after the conversion."
    )
    stop_words: tuple[str, ...] = setting(
        LUCENE_STOP_WORDS, words="Words to remove; an empty list keeps all."
    )
    stemmer: str = setting("porter", words="Stemming algorithm.", choices=STEMMERS)

    def __post_init__(self) -> None:
        """Check the settings before a collection is read."""
        super().__post_init__()
        object.__setattr__(self, "stop_words", tuple(self.stop_words))
        try:
            pl.Series([""]).str.extract_all(self.token)
        except pl.exceptions.PolarsError as error:
            reason = str(error).split("error:")[-1].split("\n")[0].strip()
            raise BadSetting(
                f"must be a regular expression (got {self.token!r}: {reason or 'syntax error'})",
                argument="token",
                value=self.token,
            ) from None

    def split_terms(self, texts: pl.Series) -> pl.DataFrame:
        """Return ``row, term``: the terms of each text, in order.

        Parameters
        ----------
        texts : polars.Series of text
            A null is an empty text.

        Raises
        ------
        MissingExtra
            If the stemmer is porter and PyStemmer is not installed.
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
        stems = pl.Series(_load_porter().stemWords(words.to_list()), dtype=pl.String)
        return frame.with_columns(pl.col("term").replace_strict(words, stems))


def _load_porter() -> Any:
    try:
        import Stemmer
    except ImportError:
        raise MissingExtra("PyStemmer", "retrieval", "The Porter stemmer") from None
    return Stemmer.Stemmer("porter")
