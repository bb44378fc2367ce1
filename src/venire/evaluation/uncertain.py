"""Scores of systems under uncertain grades: qrels drawn from the grade probabilities."""

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
from venire.short_repr import list_names, write_repr
from venire.tables.runs import Runs
from venire.tables.schema import PAIR, express

_NO_PROBABILITIES = "no-grade-probabilities"
_HINT = "Pass the folder that `venire.write_report` wrote for an aggregation."


@dataclass(frozen=True)
class GradeProbabilities:
    """Probability of each grade per pair, as an aggregation writes them.

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

    def __repr__(self) -> str:
        return write_repr(
            self, f"{express(self.pairs.height, 'pair')}, grades {list_names(self.grades.tolist())}"
        )

    @classmethod
    def read(cls, path: str | Path) -> GradeProbabilities:
        """Read ``items.parquet`` or ``items.csv`` of an output folder, or the folder itself.

        Raises
        ------
        DataError
            A file without grade probabilities.
        """
        from venire.formats import read_frame

        if not str(path):
            raise BadLine("''", None, "is not a folder name")
        file = Path(path)
        if file.is_dir():
            file = file / "items.parquet"
            if not file.exists():
                raise DataError(
                    f"{path}: the folder has no items.parquet", hint=_HINT, code=_NO_PROBABILITIES
                )
        frame, _ = read_frame(file)
        return cls.of(frame, str(file))

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str = "table") -> GradeProbabilities:
        """Return the grade probabilities in the columns ``p(<grade>)`` of a table of items.

        Errors call the table ``name``.

        Raises
        ------
        DataError
            A table without grade probabilities.
        """
        columns = [
            column for column in frame.columns if column.startswith("p(") and column[-1:] == ")"
        ]
        missing = [column for column in PAIR if column not in frame.columns]
        if missing or not columns:
            raise DataError(
                f"{name}: has no grade probabilities", hint=_HINT, code=_NO_PROBABILITIES
            )
        try:
            grades = np.array([int(float(column[2:-1])) for column in columns], np.int64)
        except ValueError:
            # Columns with the names of grades: the grades are 0, 1, 2, ... in column order.
            grades = np.arange(len(columns), dtype=np.int64)
        probabilities = frame.select(pl.col(columns).cast(pl.Float64)).to_numpy()
        if not np.isfinite(probabilities).all() or (probabilities < -1e-9).any():
            raise BadLine(name, None, "grade probabilities must be finite and >= 0")
        return cls(frame.select(pl.col(PAIR).cast(pl.String)), probabilities, grades)


@dataclass(frozen=True)
class Draws:
    """Scores under qrels drawn from the grade probabilities.

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

    def __repr__(self) -> str:
        return write_repr(
            self,
            f"{express(len(self.values), 'draw')} of {express(len(self.runs), 'run')}",
            list_names(self.measures),
            f"seed {self.seed}",
        )

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return the ends of the credible intervals, low and high [measures, runs]."""
        if not 0 < level < 1:
            raise BadSetting(f"must be > 0 and < 1 (got {level})", argument="level", value=level)
        tail = (1.0 - level) / 2.0
        low, high = np.quantile(self.values, [tail, 1.0 - tail], axis=0)
        return low, high

    def better(self, first: str, second: str, measure: int = 0) -> float:
        """Return the share of draws in which the first run scores higher; a tie counts half."""
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
    """Score runs under many qrels drawn from the grade probabilities.

    The grade of each pair is drawn independently. Errors that pairs share, because the same
    annotator judged them, are not modelled: the intervals assume independent errors.

    Parameters
    ----------
    uncertain : GradeProbabilities
    runs : Runs
    measures : sequence of str or Measure
    draws : int
        Number of qrels to draw.
    seed : int
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.

    Raises
    ------
    NoOverlap
        Runs and pairs share no topic.

    Examples
    --------
    >>> pairs = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"]})
    >>> certain = GradeProbabilities(pairs, np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0, 1]))
    >>> runs = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}})
    >>> draw_scores(certain, runs, ["AP"], draws=3).values.reshape(-1).tolist()
    [1.0, 1.0, 1.0]
    """
    if draws < 1:
        raise BadSetting(f"must be >= 1 (got {draws})", argument="draws", value=draws)
    if uncertain.pairs.is_empty():
        raise DataError("No pair has grade probabilities")
    require_overlap(uncertain.pairs, runs.frame, "grade probabilities")
    table = RankTable.of(runs, uncertain.pairs, ties=ties)
    numbered = uncertain.pairs.with_row_index("row")
    order = table.pairs.join(numbered, on=PAIR, how="left", maintain_order="left")["row"].to_numpy()
    cumulative = np.cumsum(uncertain.probabilities[order], axis=1)[:, :-1]
    rng = np.random.default_rng(seed)

    def score_draw() -> Scores:
        column = np.sum(rng.random((cumulative.shape[0], 1)) > cumulative, axis=1)
        return score(table, uncertain.grades[column], measures, topics=topics)

    first = score_draw()
    values = [first.mean, *(score_draw().mean for _ in range(draws - 1))]
    return Draws(first.measures, first.runs, np.stack(values), seed)
