"""Documents in, vectors out: what every encoder shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl

from venire import plugins
from venire.arrays import Float32s
from venire.errors import BadImage, BadSetting, DataError, UnknownName
from venire.grouping.images import open_image
from venire.grouping.vectors import Vectors, join_vectors
from venire.progress import Event, Progress, silent
from venire.tables.schema import express

BATCH = 32
MESSAGES = 20
"""Documents that could not be read and are named one by one; more are counted."""


class Encoder(Protocol):
    """Turns documents into vectors; its settings are a frozen dataclass.

    An encoder that can also turn a query into a vector of the same space (text and image in one)
    has ``encode_queries(texts) -> float32 [n, d]`` too.
    """

    reads: ClassVar[str]
    """``image`` (documents come as Pillow gives them, RGB) or ``text``."""

    def encode(self, documents: list[Any]) -> Float32s:
        """Return the vectors of some documents [n, d]."""


def load_encoder(name: str) -> Encoder:
    """Return the encoder registered under a name, with its defaults.

    Raises
    ------
    UnknownName

    Examples
    --------
    >>> from venire.grouping.encoders import load_encoder
    >>> load_encoder("colour-histogram").reads
    'image'
    """
    made: Encoder = plugins.load("encoder", name)()
    return made


def parse_encoder(text: str) -> Encoder:
    """Return the encoder ``name`` or ``name(setting=value,...)``, as a command line writes it.

    Raises
    ------
    UnknownName
        For an encoder or a setting.
    BadSetting
        Not so written; a value that is no number where one is wanted.

    Examples
    --------
    >>> from venire.grouping.encoders import parse_encoder
    >>> parse_encoder("open-clip(model=RN50,device=cuda)").model
    'RN50'
    """
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text)
    if match is None:
        raise _make_spelling_error(text)
    kind: Any = plugins.load("encoder", match[1])
    defaults = {field.name: field.default for field in fields(kind)}
    settings: dict[str, Any] = {}
    for item in (match[2] or "").split(","):
        if not item.strip():
            continue
        name, equals, value = (word.strip() for word in item.partition("="))
        if not equals:
            raise _make_spelling_error(text)
        if name not in defaults:
            raise UnknownName(f"setting of {match[1]}", name, list(defaults))
        kind_of: Any = type(defaults[name])
        try:
            settings[name] = kind_of(value)
        except ValueError:
            raise BadSetting(f"{match[1]}: {name} must be a number (got {value!r})") from None
    made: Encoder = kind(**settings)
    return made


def _make_spelling_error(text: str) -> BadSetting:
    return BadSetting(
        f"must be NAME or NAME(setting=value), for example open-clip(model=RN50) (got {text!r})",
        argument="encoder",
        value=text,
    )


def encode(
    encoder: Encoder,
    documents: pl.DataFrame,
    *,
    name: str = "encoder",
    root: str | Path = ".",
    known: Vectors | None = None,
    progress: Progress = silent,
) -> Vectors:
    """Return the vectors of documents, each computed once.

    Parameters
    ----------
    encoder : Encoder
    documents : polars.DataFrame
        ``doc_id`` and ``image`` (a path), or ``text`` (and maybe ``title``).
    name : str
        What the result calls the encoder.
    root : path
        The folder that paths of images start from.
    known : Vectors, optional
        Computed earlier; these documents are not encoded again.
    progress : callable

    Returns
    -------
    Vectors
        In the order of the documents. An image that cannot be read is left out; a note says why.
    """
    made = [known] if known is not None else []
    made += parts(encoder, documents, name=name, root=root, known=known, progress=progress)
    done = join_vectors(made, name)
    rows = done.rows(documents["doc_id"].to_list())
    rows = rows[rows >= 0]
    ids = np.asarray(done.ids, dtype=object)[rows] if rows.size else ()
    return Vectors(
        tuple(ids), done.array[rows] if rows.size else done.array, name, _few(done.notes)
    )


def parts(
    encoder: Encoder,
    documents: pl.DataFrame,
    *,
    name: str = "encoder",
    root: str | Path = ".",
    known: Vectors | None = None,
    progress: Progress = silent,
) -> Iterator[Vectors]:
    """Yield the vectors a batch at a time, so that a caller can keep each and stop in between.

    The arguments are those of :func:`encode`. A part of images none of which can be read has
    no vectors, only notes.
    """
    column = "image" if encoder.reads == "image" else "text"
    if column not in documents.columns:
        where = "a folder images/, or a column image" if column == "image" else "a column text"
        raise DataError(
            f"the encoder {name} reads {encoder.reads}s, and the documents have none; they want "
            f"{where}"
        )
    have = set(known.ids) if known is not None else set()
    todo = documents.filter(~pl.col("doc_id").is_in(have)) if have else documents
    task = f"encoding with {name}"
    for start in range(0, todo.height, BATCH):
        some = todo.slice(start, BATCH)
        ids, read, notes = _read(some, encoder.reads, Path(root) if isinstance(root, str) else root)
        if read:
            yield Vectors.of(ids, encoder.encode(read), encoder=name, notes=notes, name=name)
        else:
            yield Vectors((), np.zeros((0, 0), np.float32), name, tuple(notes))
        progress(Event(task, min(start + BATCH, todo.height), todo.height))


def similarity(encoder: Encoder, texts: list[str], vectors: Vectors) -> Float32s:
    """Return the cosine of each text with each document [texts, documents].

    Raises
    ------
    BadSetting
        For an encoder that knows no queries.
    """
    if not hasattr(encoder, "encode_queries"):
        raise BadSetting("This encoder encodes documents only, not queries")
    queries = Vectors.of(
        [str(number) for number in range(len(texts))], encoder.encode_queries(texts)
    )
    near: Float32s = queries.array @ vectors.array.T
    return near


def _read(frame: pl.DataFrame, kind: str, root: Path) -> tuple[list[str], list[Any], list[str]]:
    """Return ids and contents of what can be read, and a note for each of the rest."""
    ids: list[str] = []
    read: list[Any] = []
    notes: list[str] = []
    if kind == "text":
        title = frame["title"].fill_null("") if "title" in frame.columns else pl.lit("")
        with_titles = frame.select(
            pl.concat_str(title, pl.col("text").fill_null(""), separator=" ").alias("text")
        )
        return frame["doc_id"].to_list(), with_titles["text"].str.strip_chars().to_list(), notes
    for doc_id, path in frame.select("doc_id", "image").iter_rows():
        if not path:
            notes.append(f"{doc_id}: has no image; left out")
            continue
        try:
            image = open_image(root / path)
        except BadImage as error:
            notes.append(f"{doc_id} left out: {error}")
            continue
        if max(image.size) == 1:
            notes.append(f"{doc_id}: {path} is a single pixel; its vector says only its colour")
        ids.append(doc_id)
        read.append(image)
    return ids, read, notes


def _few(notes: tuple[str, ...]) -> tuple[str, ...]:
    if len(notes) <= MESSAGES:
        return notes
    rest = express(len(notes) - MESSAGES, "more note", "more notes")
    return (*notes[:MESSAGES], f"{rest} on documents")
