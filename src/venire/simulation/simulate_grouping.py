"""``venire.simulate_grouping``: which grouping saves time without losing relevant images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import polars as pl

from venire import plugins
from venire.arguments import check_arguments
from venire.errors import BadSetting, DataError
from venire.formats import read_frame
from venire.formats.collection import Collection
from venire.formats.load import (
    CollectionLike,
    FrameLike,
    JudgmentsLike,
    PathLike,
    QrelsLike,
    is_path,
    load_collection,
    load_judgments,
    load_qrels,
)
from venire.grouping.encoders import Encoder, encode, load_encoder, parse_encoder
from venire.grouping.settings import Setting, parse_methods, read_caps
from venire.grouping.vectors import Vectors, read_vectors
from venire.pooling.base import Lists
from venire.pooling.depth import DepthK
from venire.progress import Progress, silent
from venire.short_repr import write_repr
from venire.simulation.grouping.annotators import GroupedAnnotator, parse_annotators, with_bounds
from venire.simulation.grouping.pilot import default_types, majority_truth, measure_pilot
from venire.simulation.grouping.pools import GroupedPools, Groupings, near_queries, with_always
from venire.simulation.grouping.recommend import Recommendation, recommend
from venire.simulation.grouping.replay import results, simulate
from venire.tables import boundary
from venire.tables.qrels import Qrels

HASH = "perceptual-hash"


@dataclass(frozen=True, eq=False)
class GroupingSimulation:
    """Result of simulated annotators who judged grouped images, under every grouping.

    Attributes
    ----------
    recommendation : Recommendation
        The recommended setting, and every setting beside it.
    results : polars.DataFrame
        One row per query, setting, annotator type and repetition.
    settings : tuple of Setting
        The groupings that were tried.
    annotators : tuple of GroupedAnnotator
        The simulated types, with the two bounds.
    queries : tuple of str
    repetitions : int
    cosines : polars.DataFrame
        How similar the images of a pool are; empty without vectors.
    seed : int
    notes : tuple of str
    """

    recommendation: Recommendation
    results: pl.DataFrame
    settings: tuple[Setting, ...]
    annotators: tuple[GroupedAnnotator, ...]
    queries: tuple[str, ...]
    repetitions: int
    cosines: pl.DataFrame
    seed: int
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return write_repr(self, self.summary)

    @property
    def summary(self) -> str:
        """The recommendation as one sentence."""
        return self.recommendation.summary

    @property
    def frame(self) -> pl.DataFrame:
        """Return one row per setting."""
        return self.recommendation.settings

    @property
    def by_type(self) -> pl.DataFrame:
        """Return one row per setting and annotator type."""
        return self.recommendation.types

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return one row per setting."""
        return self.frame.to_dicts()


@check_arguments
def simulate_grouping(
    collection: CollectionLike,
    *,
    truth: QrelsLike | None = None,
    pilot: JudgmentsLike | None = None,
    encoder: str | None = None,
    vectors: Vectors | PathLike | None = None,
    methods: str | Sequence[str] | None = None,
    caps: str = "none",
    current: str | None = None,
    annotators: str | None = None,
    pool: FrameLike | None = None,
    depth: int = 100,
    queries: int | None = None,
    repetitions: int = 3,
    bootstrap: int = 1000,
    relevant_from: int = 1,
    vectors_folder: PathLike | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> GroupingSimulation:
    """Simulate annotators who judge grouped images, under every grouping that is tried.

    Parameters
    ----------
    collection : collection or path
        Documents (``doc_id`` and ``image``, or ``text``), qrels and runs.
    truth : Qrels, path, dataframe, or a name in the collection's qrels, optional
        Labels to compare against; by default the majority of the pilot, or the only qrels.
    pilot : Judgments, path or dataframe, optional
        A judged pilot: its annotators become types.
    encoder : str, optional
        Encoder that makes vectors of the documents: ``efficientnet-lite0``, or with settings
        ``open-clip(model=RN50)``.
    vectors : Vectors or path, optional
        Precomputed vectors: .npy or .parquet.
    methods : str, optional
        Methods and values to try: ``leader,k-means(size=4|8)``. By default all with all values.
    caps : str
        Maximum group sizes to try: ``8,16,none``.
    current : str, optional
        The study's current setting; always tried.
    annotators : str, optional
        Types that the recommendation is based on: ``novice,typical,mine(check_all=12)``. By
        default the pilot's, or typical.
    pool : path or dataframe, optional
        ``query_id, doc_id``, best first. By default made of the runs, or all labelled documents.
    depth : int
        Depth of the pool that is made of the runs.
    queries : int, optional
        Number of queries to replay; all by default.
    repetitions : int
        Replays per query, for annotators who decide at random.
    bootstrap : int
        Number of resamples of the queries.
    relevant_from : int
        Smallest relevant grade.
    vectors_folder : path, optional
        Folder for computed vectors; those in it are not computed again.
    seed : int
    progress : Progress

    Raises
    ------
    VenireError
        For input that cannot be used; see the page on errors.
    """
    source = load_collection(collection)
    root = collection if is_path(collection) else Path()
    labels, types, notes = _load_truth_and_types(
        source, str(collection) if is_path(collection) else "the collection",
        truth, pilot, annotators, relevant_from,
    )  # fmt: skip
    pairs, pool_notes = _load_pool(source, labels, pool, depth)
    has_vectors = encoder is not None or vectors is not None
    tried, method_notes = _choose_settings(source, methods, caps, has_vectors=has_vectors)
    settings = with_always(tried, Setting.parse(current) if current else None)
    pools = GroupedPools.of(pairs, labels, relevant_from=relevant_from, queries=queries, seed=seed)
    encoding = _Encoding(root, vectors_folder, progress)
    groupings = _make_groupings(source, pools, settings, encoder, vectors, encoding)
    groupings.prepare(settings, progress)
    people = with_bounds(types)
    units = list(
        simulate(groupings, settings, people, seed=seed, repetitions=repetitions, progress=progress)
    )
    table = results(units)
    names = [annotator.name for annotator in types]
    return GroupingSimulation(
        recommendation=recommend(table, names, bootstrap=bootstrap, seed=seed),
        results=table,
        settings=tuple(settings),
        annotators=tuple(people),
        queries=tuple(groupings.pools.queries),
        repetitions=repetitions,
        cosines=groupings.cosines(),
        seed=seed,
        notes=(*notes, *pool_notes, *method_notes, *groupings.notes),
    )


def _load_truth_and_types(
    collection: Collection,
    place: str,
    truth: QrelsLike | None,
    pilot: JudgmentsLike | None,
    annotators: str | None,
    relevant_from: int,
) -> tuple[Qrels, list[GroupedAnnotator], list[str]]:
    """Return the labels to compare against, the annotator types, and notes."""
    notes: list[str] = []
    judged = None if pilot is None else load_judgments(pilot, mapping="")
    if truth is None and judged is not None:
        labels = majority_truth(judged, relevant_from=relevant_from)
        notes.append("the truth is the majority of the pilot's annotators; a tie is relevant")
    elif truth is None:
        if len(collection.qrels) != 1:
            names = ", ".join(collection.qrels) or "none"
            raise DataError(
                f"{place}: must have exactly one file of qrels (got {names})",
                hint="Pass `truth` or `pilot`.",
                code="no-single-qrels",
            )
        (labels,) = collection.qrels.values()
    elif isinstance(truth, str) and truth in collection.qrels:
        labels = collection.qrels[truth]
    else:
        labels = load_qrels(truth)
    notes += labels.notes
    pilots = None
    if judged is not None:
        pilots = measure_pilot(judged, labels, relevant_from=relevant_from)
        notes += [*judged.notes, *(note for measured in pilots for note in measured.notes)]
    types = default_types(pilots)
    if annotators:
        types = [*(types if pilots else []), *parse_annotators(annotators)]
    return labels, types, notes


def _load_pool(
    collection: Collection, truth: Qrels, pool: PathLike | Any, depth: int
) -> tuple[pl.DataFrame, list[str]]:
    """Return ``query_id, doc_id``, best first, and a note on where it is from."""
    if pool is not None:
        frame = read_frame(pool)[0] if is_path(pool) else boundary.to_polars(pool)
        ids = [name for name in ("query_id", "doc_id") if name in frame.columns]
        return frame.with_columns(pl.col(ids).cast(pl.String)), []
    if len(collection.runs):
        built = DepthK(depth=depth).pool(Lists.of(collection.runs))
        return built.frame, [f"the pools are the first {depth} of every run, best first"]
    return truth.frame, ["there are no runs: the pool of a query is what the truth has labels of"]


def _choose_settings(
    collection: Collection, methods: str | Sequence[str] | None, caps: str, *, has_vectors: bool
) -> tuple[list[Setting], list[str]]:
    """Return the groupings to try, by default all that can be; and a note on those left out."""
    sizes = read_caps(caps)
    if methods:
        text = methods if isinstance(methods, str) else ",".join(methods)
        return parse_methods(text, sizes), []
    available = {"nothing"}
    if has_vectors:
        available.add("vectors")
    if "image" in collection.documents.columns:
        available.add("hashes")
    names = plugins.names("grouper")
    usable = [name for name in names if plugins.load("grouper", name).needs in available]
    others = [name for name in names if name not in usable]
    missing = "images" if has_vectors else "an encoder or vectors"
    notes = [f"not tried, for want of {missing}: {', '.join(others)}"] if others else []
    return parse_methods(",".join(usable), sizes), notes


@dataclass(frozen=True)
class _Encoding:
    """How documents are encoded: where images lie, and where vectors are stored."""

    root: PathLike
    folder: PathLike | None
    progress: Progress

    def encode(self, name: str, encoder: Encoder, documents: pl.DataFrame) -> Vectors:
        """Return the vectors of documents; those in the folder are not computed again."""
        path = None
        if self.folder is not None:
            path = Path(self.folder) / f"vectors-{_name_file(name)}.parquet"
        known = read_vectors(path) if path is not None and path.exists() else None
        vectors = encode(
            encoder, documents, name=name, root=self.root, known=known, progress=self.progress
        )
        if path is not None and len(vectors):
            vectors.write(path)
        return vectors


def _make_groupings(
    collection: Collection,
    pools: GroupedPools,
    settings: list[Setting],
    encoder: str | None,
    vectors: Vectors | PathLike | None,
    encoding: _Encoding,
) -> Groupings:
    """Return the groupings, with the vectors, hashes and query similarities they need."""
    if encoder is not None and vectors is not None:
        raise BadSetting("cannot be combined with precomputed vectors", argument="encoder")
    needs = {setting.grouper.needs for setting in settings}
    if "vectors" in needs and encoder is None and vectors is None:
        raise BadSetting("must be set, or vectors passed: these methods need vectors",
                         argument="encoder")  # fmt: skip
    documents = collection.documents
    used = documents.filter(pl.col("doc_id").is_in(pools.documents))
    table = hashes = None
    if isinstance(vectors, Vectors):
        table = vectors
    elif vectors is not None:
        table = read_vectors(vectors, documents["doc_id"].to_list() if documents.height else None)
    elif encoder is not None:
        model = parse_encoder(encoder)
        table = encoding.encode(encoder, model, used)
        pools = near_queries(model, collection.topics, pools, table)
    if "hashes" in needs:
        hashes = table if encoder == HASH else encoding.encode(HASH, load_encoder(HASH), used)
    return Groupings(pools, table, hashes)


def _name_file(encoder: str) -> str:
    """Return an encoder's name as a part of a file's name; settings become a digest."""
    name, settings, _ = encoder.partition("(")
    return f"{name}-{sha256(encoder.encode()).hexdigest()[:8]}" if settings else name
