"""What the uncertainty of inferred grades does to the scores of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from venire.arrays import Floats, Longs
from venire.errors import BadLine, BadSetting, DataError
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import Scores, require_overlap, score
from venire.measures import Measure
from venire.tables.runs import Runs
from venire.tables.schema import PAIR


@dataclass(frozen=True)
class GradeProbabilities:
    """Grade probabilities of pairs, as an aggregation writes them.

    Attributes
    ----------
    pairs : polars.DataFrame [P]
        ``query_id, doc_id``.
    probabilities : float64 [P, K]
    grades : int64 [K]
    """

    pairs: pl.DataFrame
    probabilities: Floats
    grades: Longs

    @classmethod
    def read(cls, path: str | Path) -> GradeProbabilities:
        """Read ``items.parquet`` or ``items.csv`` of ``venire aggregate -o DIR``, or that DIR.

        Raises
        ------
        BadLine
            For a file without grade probabilities.
        """
        from venire.formats import read_frame

        if not str(path):
            raise BadLine("''", None, "is no folder name")
        place = Path(path)
        if place.is_dir():
            place = place / "items.parquet"
        frame, _ = read_frame(place)
        return cls.of(frame, str(place))

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str = "table") -> GradeProbabilities:
        """Return the grade probabilities in the columns ``p(<grade>)`` of a table of items.

        Raises
        ------
        BadLine
            For a table without grade probabilities; ``name`` is what the error calls it.
        """
        columns = [
            column for column in frame.columns if column.startswith("p(") and column[-1:] == ")"
        ]
        missing = [column for column in PAIR if column not in frame.columns]
        if missing or not columns:
            raise BadLine(
                name, None, "has no grade probabilities; give the folder that "
                "venire aggregate -o wrote, or items.parquet in it"
            )  # fmt: skip
        try:
            grades = np.array([int(float(column[2:-1])) for column in columns], np.int64)
        except ValueError:
            # A scale with names: its grades are 0, 1, 2, ... in the order of the columns.
            grades = np.arange(len(columns), dtype=np.int64)
        probabilities = frame.select(pl.col(columns).cast(pl.Float64)).to_numpy()
        if not np.isfinite(probabilities).all() or (probabilities < -1e-9).any():
            raise BadLine(name, None, "holds a grade probability that is none")
        return cls(frame.select(pl.col(PAIR).cast(pl.String)), probabilities, grades)


@dataclass(frozen=True)
class Draws:
    """Scores under grades drawn from their probabilities.

    Attributes
    ----------
    measures : list of Measure
    runs : list of str
    values : float64 [draws, measures, runs]
        Averages over topics.
    seed : int
    """

    measures: list[Measure]
    runs: list[str]
    values: Floats
    seed: int

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return low and high of each measure and run [measures, runs]."""
        if not 0 < level < 1:
            raise BadSetting(f"level is between 0 and 1, not {level}")
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(self.values, [tail, 1.0 - tail], axis=0)
        return low, high

    def better(self, first: str, second: str, measure: int = 0) -> float:
        """Return the share of draws in which the first run is ahead; a tie is half."""
        a = self.values[:, measure, self.runs.index(first)]
        b = self.values[:, measure, self.runs.index(second)]
        return float(np.mean((a > b) + 0.5 * (a == b)))


def draw_scores(
    uncertain: GradeProbabilities,
    runs: Runs,
    measures: Sequence[str | Measure],
    *,
    draws: int = 200,
    seed: int = 0,
    topics: str = "qrels",
    ties: str = "trec",
) -> Draws:
    """Score runs under qrels drawn again and again from the grades' probabilities.

    Pairs are drawn apart from each other: the errors of an annotator who judged many pairs
    are not shared between them, so intervals are those of independent errors.

    Parameters
    ----------
    uncertain : GradeProbabilities
    runs : Runs
    measures : sequence of str or Measure
    draws : int
    seed : int
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.

    Raises
    ------
    NoOverlap
        When runs and pairs share no topic.

    Examples
    --------
    >>> pairs = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"]})
    >>> sure = GradeProbabilities(pairs, np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> runs = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}})
    >>> draw_scores(sure, runs, ["AP"], draws=3).values.reshape(-1).tolist()
    [1.0, 1.0, 1.0]
    """
    if draws < 1:
        raise BadSetting(f"draws must be at least 1, not {draws}")
    if uncertain.pairs.is_empty():
        raise DataError("there is no pair with grade probabilities")
    require_overlap(uncertain.pairs, runs.frame, "grade probabilities")
    table = RankTable.of(runs, uncertain.pairs, ties=ties)
    numbered = uncertain.pairs.with_row_index("row")
    order = table.pairs.join(numbered, on=PAIR, how="left", maintain_order="left")["row"].to_numpy()
    below = np.cumsum(uncertain.probabilities[order], axis=1)[:, :-1]
    rng = np.random.default_rng(seed)

    def once() -> Scores:
        drawn = np.sum(rng.random((below.shape[0], 1)) > below, axis=1)
        return score(table, uncertain.grades[drawn], measures, topics=topics)

    first = once()
    values = [first.mean, *(once().mean for _ in range(draws - 1))]
    return Draws(first.measures, first.runs, np.stack(values), seed)
