"""Pools whose truth is known, and their groups under each setting, computed once."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import polars as pl

from venire.arrays import Float32s, Longs, Mask
from venire.errors import BadSetting, DataError, MissingColumns, NoOverlap
from venire.grouping.distribution import cosine_distribution
from venire.grouping.encoders import Encoder, similarity
from venire.grouping.settings import ONE, Setting
from venire.grouping.vectors import Vectors
from venire.progress import Event, Progress, silent
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR, express


@dataclass(frozen=True, eq=False)
class GroupedPools:
    """The pools of some queries, one after another.

    Attributes
    ----------
    queries : tuple of str
    documents : tuple of str [N]
        The images of the first query in the order of its pool, then those of the second, ...
    start : int64 [Q + 1]
        Where each query begins.
    relevant : bool [N]
        The truth.
    nearness : int64 [N]
        Place within the query by similarity to it, from 0; the order of the pool where nobody
        knows.
    notes : tuple of str
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    start: Longs
    relevant: Mask
    nearness: Longs
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        pool: pl.DataFrame,
        truth: Qrels,
        *,
        relevant_from: float = 1,
        queries: int | None = None,
        seed: int = 0,
    ) -> GroupedPools:
        """Return pools with their truth; images that the truth does not name are not relevant.

        Parameters
        ----------
        pool : polars.DataFrame
            ``query_id, doc_id``, the images of each query best first.
        truth : Qrels
        relevant_from : float
            Least relevant grade.
        queries : int, optional
            How many to draw; all that have labels by default.
        seed : int
            Of that draw.

        Raises
        ------
        NoOverlap
            Where no pool has a label, or none a relevant image.
        BadSetting, MissingColumns
        """
        missing = [name for name in PAIR if name not in pool.columns]
        if missing:
            raise MissingColumns(missing, pool.columns, "the pool", renamed=False)
        frame = pool.select(PAIR).unique(maintain_order=True)
        notes = []
        if frame.height < pool.height:
            notes.append(f"{express(pool.height - frame.height, 'row')} of the pool repeat a pair")
        pairs = truth.frame.select(*PAIR, "relevance")
        names = frame.join(pairs, on=PAIR, how="semi")["query_id"].unique().sort()
        if not len(names):
            raise NoOverlap(
                "No pooled image has a label in the truth",
                hint="Use the same ids in the pool and in the truth.",
            )
        bare = frame["query_id"].n_unique() - len(names)
        if bare:
            notes.append(f"{express(bare, 'query', 'queries')} without a label left out")
        chosen = _draw_names(names, queries, seed)
        frame = frame.filter(pl.col("query_id").is_in(chosen.implode()))
        outside = pairs.filter(pl.col("query_id").is_in(chosen.implode())).join(
            frame, on=PAIR, how="anti"
        )
        if outside.height:
            lost = outside.filter(pl.col("relevance") >= relevant_from).height
            notes.append(
                f"{express(outside.height, 'label')} of images that are in no pool not used, "
                f"{lost:,} of them relevant"
            )
        place = pl.DataFrame({"query_id": chosen}).with_row_index("query")
        frame = frame.join(pairs, on=PAIR, how="left", maintain_order="left")
        frame = frame.join(place, on="query_id", maintain_order="left").sort(
            "query", maintain_order=True
        )
        unlabelled = int(frame["relevance"].null_count())
        if unlabelled:
            notes.append(f"{express(unlabelled, 'image')} without a label count as not relevant")
        relevant = (frame["relevance"].fill_null(relevant_from - 1) >= relevant_from).to_numpy()
        query = frame["query"].cast(pl.Int64).to_numpy()
        start = np.searchsorted(query, np.arange(len(chosen) + 1))
        none = np.flatnonzero(np.bincount(query, relevant, len(chosen)) == 0)
        if none.size == len(chosen):
            raise NoOverlap("no pool has a relevant image, so there is no recall to keep")
        if none.size:
            listed = ", ".join(chosen[none.tolist()][:3]) + (", ..." if none.size > 3 else "")
            notes.append(
                f"{express(int(none.size), 'query', 'queries')} without a relevant image count "
                f"for time and not for recall: {listed}"
            )
        return cls(
            tuple(chosen),
            tuple(frame["doc_id"]),
            start.astype(np.int64),
            relevant,
            np.arange(frame.height) - np.repeat(start[:-1], np.diff(start)),
            tuple(notes),
        )

    def by_similarity(self, similarity: pl.DataFrame) -> GroupedPools:
        """Return the pools with ``nearness`` by similarity to the query.

        Parameters
        ----------
        similarity : polars.DataFrame
            ``query_id, doc_id, similarity`` of an encoder that knows queries. Images that are not
            in it come last, in the order of the pool.
        """
        query = self.query
        pairs = pl.DataFrame(
            {"query_id": np.array(self.queries)[query].tolist(), "doc_id": list(self.documents)}
        )
        table = similarity.select(*PAIR, pl.col("similarity").cast(pl.Float64)).fill_nan(None)
        value = pairs.join(table, on=PAIR, how="left", maintain_order="left")["similarity"]
        notes = self.notes
        if value.null_count():
            notes = (*notes, f"{express(value.null_count(), 'image')} without similarity come last")
        places = np.arange(len(self))
        by = np.lexsort((places, -value.fill_null(-np.inf).to_numpy(), query))
        nearness = np.empty(len(self), np.int64)
        nearness[by] = places - self.start[query]
        return replace(self, nearness=nearness, notes=notes)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def query(self) -> Longs:
        """The query of each image [N]."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.start))

    def pool(self, query: int) -> tuple[str, ...]:
        """Return the images of one query."""
        return self.documents[self.start[query] : self.start[query + 1]]

    def only(self, query: int) -> GroupedPools:
        """Return the pool of one query alone."""
        begin, end = int(self.start[query]), int(self.start[query + 1])
        return replace(
            self,
            queries=(self.queries[query],),
            documents=self.documents[begin:end],
            start=np.array([0, end - begin], np.int64),
            relevant=self.relevant[begin:end],
            nearness=self.nearness[begin:end],
            notes=(),
        )


class Groupings:
    """The groups of every pool under every setting; each is computed once.

    Parameters
    ----------
    pools : GroupedPools
    vectors : Vectors, optional
        Of the study's encoder. Images without one are single.
    hashes : Vectors, optional
        Of the encoder perceptual-hash, for near-duplicates.
    cache : mutable mapping, optional
        ``(setting without cap, query_id) -> int64 [n]``; a caller may keep it, or fill it from
        where it was kept.
    """

    def __init__(
        self,
        pools: GroupedPools,
        vectors: Vectors | None = None,
        hashes: Vectors | None = None,
        cache: MutableMapping[tuple[str, str], Longs] | None = None,
    ) -> None:
        self.pools = pools
        self.cache = {} if cache is None else cache
        self._rows: dict[str, Float32s] = {}
        notes = [*pools.notes]
        for name, vectors_of_kind in (("vectors", vectors), ("hashes", hashes)):
            if vectors_of_kind is None:
                continue
            notes += vectors_of_kind.notes
            self._rows[name] = rows = _rows(vectors_of_kind, pools.documents)
            without = int(np.isnan(rows[:, :1]).sum())
            if without:
                what = "vector" if name == "vectors" else "hash"
                notes.append(f"{express(without, 'image')} of the pools without a {what}: single")
        self.notes = tuple(notes)

    @property
    def arrays(self) -> tuple[Float32s, ...]:
        """The vectors of the pools' images, then their hashes, where they are there."""
        return tuple(self._rows.values())

    def check(self, settings: Sequence[Setting]) -> None:
        """Refuse settings that need vectors or hashes that are not there.

        Raises
        ------
        BadSetting
        """
        for setting in settings:
            needs = setting.grouper.needs
            if needs != "nothing" and needs not in self._rows:
                raise BadSetting(
                    f"{setting.method} needs {needs}: "
                    + ("give vectors or an encoder" if needs == "vectors" else "images to hash")
                )

    def of(self, setting: Setting, query: int) -> Longs:
        """Return the groups of one query's pool [n]; ``-1`` is single."""
        from venire.grouping.base import finish

        pools = self.pools
        key = (str(setting.uncapped), pools.queries[query])
        if key not in self.cache:
            self.check([setting])
            begin, end = pools.start[query], pools.start[query + 1]
            rows = self._rows.get(setting.grouper.needs)
            some = np.zeros((end - begin, 1), np.float32) if rows is None else rows[begin:end]
            self.cache[key] = setting.uncapped.group(some)
        return finish(np.asarray(self.cache[key]), setting.cap)

    def only(self, query: int) -> Groupings:
        """Return the groupings of one query alone, with nothing computed yet."""
        some = Groupings(self.pools.only(query))
        begin, end = self.pools.start[query], self.pools.start[query + 1]
        some._rows = {name: rows[begin:end] for name, rows in self._rows.items()}
        return some

    def labels(self, setting: Setting) -> Longs:
        """Return the groups of all pools [N], numbered through; ``-1`` is single."""
        out = np.full(len(self.pools), -1, np.int64)
        number = 0
        for query in range(len(self.pools.queries)):
            labels = self.of(setting, query)
            out[self.pools.start[query] : self.pools.start[query + 1]] = np.where(
                labels >= 0, labels + number, -1
            )
            number += int(labels.max(initial=-1)) + 1
        return out

    def prepare(self, settings: Sequence[Setting], progress: Progress = silent) -> None:
        """Compute the groups of all settings now, with progress."""
        self.check(settings)
        every = list(dict.fromkeys(setting.uncapped for setting in settings))
        for number, setting in enumerate(every, start=1):
            for query in range(len(self.pools.queries)):
                self.of(setting, query)
            progress(Event("grouping", number, len(every), str(setting)))

    def cosines(self) -> pl.DataFrame:
        """Return how alike the images of a pool are.

        See :func:`venire.grouping.distribution.cosine_distribution`.
        """
        rows = self._rows.get("vectors")
        start = self.pools.start
        some = [] if rows is None else [rows[a:b] for a, b in pairwise(start)]
        return cosine_distribution(some)


def near_queries(
    encoder: Encoder, topics: pl.DataFrame, pools: GroupedPools, vectors: Vectors
) -> GroupedPools:
    """Return the pools with ``nearness`` by an encoder that knows queries; else as they are.

    Parameters
    ----------
    encoder : Encoder
    topics : polars.DataFrame
        ``query_id, title``.
    pools : GroupedPools
    vectors : Vectors
        What the encoder made of the images.
    """
    if not hasattr(encoder, "encode_queries") or not topics.height:
        return pools
    known = topics.filter(pl.col("query_id").is_in(pools.queries))
    inside = vectors.rows(list(dict.fromkeys(pools.documents)))
    rows = np.sort(inside[inside >= 0])
    some = Vectors(tuple(vectors.ids[row] for row in rows), vectors.array[rows], vectors.encoder)
    near = similarity(encoder, known["title"].to_list(), some)
    return pools.by_similarity(
        pl.DataFrame(
            {
                "query_id": [name for name in known["query_id"] for _ in some.ids],
                "doc_id": list(some.ids) * known.height,
                "similarity": near.reshape(-1),
            }
        )
    )


def with_always(settings: Sequence[Setting], current: Setting | None = None) -> list[Setting]:
    """Return the settings with what is always tried: one at a time, and the study's current one."""
    first = [Setting(ONE), *([current] if current is not None else [])]
    return list(dict.fromkeys([*first, *settings]))


def _draw_names(names: pl.Series, queries: int | None, seed: int) -> pl.Series:
    if queries is None or queries >= len(names):
        return names
    if queries < 1:
        raise BadSetting(f"must be >= 1 (got {queries})", argument="queries", value=queries)
    drawn = np.random.default_rng(seed).choice(len(names), queries, replace=False)
    return names.gather(np.sort(drawn).tolist())


def _rows(vectors: Vectors, documents: Sequence[str]) -> Float32s:
    """Return the vector of each document, NaN where there is none."""
    rows = vectors.rows(documents)
    if not (rows >= 0).any():
        raise DataError(
            "No pooled image has a vector",
            hint="Use the same ids in the vectors file and in the documents.",
        )
    padded = np.concatenate([vectors.array, np.full((1, vectors.dimension), np.nan, np.float32)])
    return padded[rows]
