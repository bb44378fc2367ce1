"""List the pairs that a simulation on known grades is about."""

from __future__ import annotations

import polars as pl

from venire.errors import BadSetting
from venire.evaluation.score import require_overlap, require_whole_grades
from venire.pooling.base import Lists
from venire.tables.qrels import Qrels
from venire.tables.schema import PAIR


def list_pairs(qrels: Qrels, lists: Lists, depth: int | None = None) -> pl.DataFrame:
    """Return the pairs of the qrels and of a depth-k pool of the runs, for the topics of the qrels.

    Parameters
    ----------
    qrels : Qrels
    lists : Lists
        The ranked runs.
    depth : int, optional
        Depth of the pool; all documents of the lists by default.

    Returns
    -------
    polars.DataFrame
        ``query_id, doc_id``, each pair once, sorted.

    Raises
    ------
    NoOverlap
        Where runs and qrels share no topic.
    DataError
        For grades that are not whole.
    """
    require_whole_grades(qrels)
    require_overlap(qrels.frame, lists.frame)
    pool = lists.to_depth(depth).frame.select(PAIR)
    pool = pool.join(qrels.frame.select("query_id").unique(), on="query_id", how="semi")
    return pl.concat([qrels.frame.select(PAIR), pool]).unique().sort(PAIR)


def require_relevant(qrels: Qrels, relevant_from: int) -> None:
    """Refuse qrels without a relevant pair.

    Raises
    ------
    BadSetting
        No grade is ``relevant_from`` or more.
    """
    if not (qrels.frame["relevance"] >= relevant_from).any():
        raise BadSetting(f"No pair of the qrels has a grade >= {relevant_from}")
