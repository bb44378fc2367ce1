"""Judgments and runs, and what other crowds would make of them, measure by measure."""

from __future__ import annotations

import numpy as np
import polars as pl

from venire.arrays import Longs, Shorts
from venire.errors import BadSetting
from venire.evaluation.ranks import RankTable
from venire.evaluation.score import rank
from venire.measures import Measure
from venire.progress import Event, Progress
from venire.simulation.campaigns.compared_runs import drop_copies, find_contenders, select_runs
from venire.simulation.campaigns.disjoint_halves import draw_halves, find_half_size
from venire.simulation.campaigns.fitted_crowd import draw_crowds
from venire.simulation.campaigns.order_estimates import (
    OrderEstimates,
    ScoredWorld,
    estimate_orders,
)
from venire.simulation.campaigns.relevance_strata import stratify_pairs
from venire.simulation.campaigns.settled_grades import midpoints, settle
from venire.simulation.campaigns.system_scores import SystemScorer
from venire.simulation.campaigns.worlds import (
    JudgingDesign,
    draw_type_shares,
    judge_anew,
    settle_expected,
)
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import PAIR, express

JUDGES = (1, 2, 3, 4, 5, 7, 10)
"""Numbers of judgments per pair that are always computed, whatever is shown."""
CROWDS = 10
"""Crowds per world."""
SPLITS = 30
"""Pairs of disjoint halves of the data."""
WORLD_SPLITS = 12
"""Pairs of disjoint halves of the judgments of a world."""
TOO_FEW_JUDGMENTS = "most pairs have fewer than 2 judgments"
NO_ORDER = "all systems tie under the labels"
NO_SYSTEMS = "fewer than two runs rank the judged pairs differently"


class JudgedSystems:
    """Judgments and runs, prepared once for all measures.

    Parameters
    ----------
    judgments : Judgments
    runs : Runs
    rule : "mean" or "majority"
        How labels become a grade.
    ties : str
    """

    def __init__(self, judgments: Judgments, runs: Runs, rule: str, ties: str) -> None:
        codes, self.grades = judgments.codes, judgments.scale.array()
        if not np.array_equal(self.grades, np.round(self.grades)):
            raise BadSetting("measures need whole grades; give the scale in whole numbers")
        items = codes.items.select(PAIR).with_columns(pl.lit(0).alias("relevance"))
        table = rank(Qrels(items), runs, ties=ties)
        if len(table.runs) < 2:
            raise BadSetting("the order of systems needs at least two runs")
        # The pairs of the table are the items of the codes, in the same order.
        self.table, copies = drop_copies(table)
        self.rule, self.labels, self.per_pair = rule, codes, codes.per_item
        self.notes = [*table.notes, *copies, *self._note_assumptions()]
        counts = np.zeros((self.per_pair.size, self.grades.size), np.int64)
        np.add.at(counts, (codes.item_of(), codes.label), 1)
        self.settled = settle(counts, self.grades, rule)
        self.mean_label = counts @ self.grades / self.per_pair

    def _note_assumptions(self) -> list[str]:
        """Say what is estimated and assumed."""
        median = float(np.median(self.per_pair))
        if median < 2:
            return []
        return [
            "tau_rep is the expected tau with the order under as many judgments by another crowd; "
            "the verdict rests on it. tau_inf is the tau with the order under infinitely many "
            "judgments; it is higher, and no verdict rests on it",
            f"up to {median:g} judgments per pair (the median of the data) the same people do "
            "less each; beyond it, more people with the same load each are assumed",
            "topics, pairs and runs stay as they are; only people are drawn anew",
            "in 140 simulations with known truth, 94% of the 95% intervals of tau_rep held the "
            "truth, and the number said to be enough was too small in at most 2.1%",
        ]

    def estimate(
        self, measures: list[Measure], draws: int, seed: int, progress: Progress
    ) -> list[tuple[Measure, list[str], OrderEstimates | str]]:
        """Return per measure the runs compared, and the estimates or why there are none.

        Parameters
        ----------
        measures : list of Measure
        draws : int
            Number of worlds.
        seed : int
        progress : Progress
        """
        if np.median(self.per_pair) < 2:
            return [(measure, self.table.runs, TOO_FEW_JUDGMENTS) for measure in measures]
        if len(self.table.runs) < 2:
            return [(measure, self.table.runs, NO_SYSTEMS) for measure in measures]
        runs_of: dict[str, Longs] = {}
        for measure in measures:
            scorer = SystemScorer(self.table, measure, self.grades, self.settled)
            runs_of[str(measure)] = find_contenders(scorer.score_topics(self.settled))
        outcomes: dict[str, OrderEstimates | None] = {}
        groups = {tuple(runs.tolist()): runs for runs in runs_of.values()}
        for number, (key, runs) in enumerate(groups.items()):
            group = [m for m in measures if tuple(runs_of[str(m)].tolist()) == key]
            table = select_runs(self.table, runs)
            outcomes |= self._estimate_group(
                table, group, draws, seed, progress, (number, len(groups))
            )
        self._note_left_out(runs_of)
        return [
            (
                measure,
                [self.table.runs[number] for number in runs_of[str(measure)]],
                outcomes[str(measure)] or NO_ORDER,
            )
            for measure in measures
        ]

    def _note_left_out(self, runs_of: dict[str, Longs]) -> None:
        for measure, runs in runs_of.items():
            left_out = sorted(set(self.table.runs) - {self.table.runs[run] for run in runs})
            if left_out:
                self.notes.append(
                    f"{measure}: {express(len(left_out), 'run')} far below all others left out of "
                    f"the order ({', '.join(left_out)}): they would raise every tau"
                )

    def _estimate_group(
        self,
        table: RankTable,
        measures: list[Measure],
        draws: int,
        seed: int,
        progress: Progress,
        part: tuple[int, int],
    ) -> dict[str, OrderEstimates | None]:
        """Estimate measures of the same runs in the same worlds."""
        rng = np.random.default_rng(seed)
        labels = self.labels
        scorers = {
            str(measure): SystemScorer(table, measure, self.grades, self.settled)
            for measure in measures
        }
        half_size = find_half_size(self.per_pair)
        halves = np.stack([self._draw_halves(labels.label, half_size, rng) for _ in range(SPLITS)])
        design = JudgingDesign(
            labels.indptr, labels.annotator, table.topic, self.grades, self.rule, np.array(JUDGES)
        )
        worlds: dict[str, list[ScoredWorld]] = {name: [] for name in scorers}
        crowds = draw_crowds(
            labels.indptr, labels.annotator, labels.label, self.grades.size,
            stratify_pairs(self.mean_label, table), draws, rng,
        )  # fmt: skip
        for number, crowd in enumerate(crowds):
            progress(Event("simulating crowds", part[0] * draws + number, part[1] * draws))
            shares = draw_type_shares(crowd, rng)
            judged = [judge_anew(design, crowd, shares, rng) for _ in range(CROWDS)]
            splits = np.stack(
                [self._draw_halves(judged[0].labels, half_size, rng) for _ in range(WORLD_SPLITS)]
            )
            expected = settle_expected(design, crowd, shares)
            for name, scorer in scorers.items():
                worlds[name].append(
                    ScoredWorld(
                        scorer.score_many(np.stack([world.grades for world in judged], axis=1)),
                        scorer.score_many(np.stack([world.own_grades for world in judged])),
                        scorer.score(expected),
                        scorer.score_many(splits),
                    )
                )
        return {
            name: estimate_orders(
                scorer.score(self.settled), scorer.score_many(halves), half_size, worlds[name],
                JUDGES,
            )
            for name, scorer in scorers.items()
        }  # fmt: skip

    def _draw_halves(self, label: Shorts, half_size: int, rng: np.random.Generator) -> Longs:
        chance = rng.random((self.per_pair.size, 2 * half_size))
        return draw_halves(
            self.labels.indptr, label, chance, midpoints(self.grades), self.grades,
            self.rule == "majority",
        )  # fmt: skip
