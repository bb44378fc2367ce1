"""How many judgments per pair are enough: coverage of the intervals, errors of the verdict.

Each simulation makes a new collection (15 topics, 24 systems, 750 pairs), a crowd of 40 people
whose work is very unequal, who judge blocks of ten pairs of a topic, and one set of judgments.
The truth comes from 100 further crowds of the same kind. Nothing of the estimator's own
simulation of crowds is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from venire import Judgments, Qrels, Runs
from venire.evaluation.score import parse_measures, rank
from venire.simulation.campaigns.annotators_needed import annotators_needed
from venire.simulation.campaigns.judged_systems import JUDGES
from venire.simulation.campaigns.settled_grades import settle
from venire.simulation.campaigns.system_scores import SystemScorer
from venire.stats.order_agreement import mean_off_diagonal, tau_ap_b_matrix, tau_b_matrix
from venire.tables.scale import Scale

TOPICS, DOCS, SYSTEMS, PEOPLE, BLOCK, GRADES = 15, 50, 24, 40, 10, 4
MEASURES = ("nDCG@10", "AP(rel=2)")
TARGETS = (0.75, 0.8, 0.85, 0.9)
REPLICATES, REPLICATES_AP = 100, 40


@dataclass(frozen=True)
class World:
    """Judgments per pair, shares of hard pairs, spammers and biased people, aggregation rule."""

    name: str
    low: int = 5
    high: int = 5
    hard: float = 0.0
    spam: float = 0.0
    biased: float = 0.0
    rule: str = "mean"


WORLDS = (
    World("equal annotators, 5 per pair"),
    World("30% hard pairs, 5 per pair", hard=0.3),
    World("20% spammers, 25% lenient or strict, 5 per pair", spam=0.2, biased=0.25),
    World("25% hard, spammers, biased, 3 per pair", 3, 3, hard=0.25, spam=0.2, biased=0.25),
    World("the same, 2 to 7 per pair", 2, 7, hard=0.25, spam=0.2, biased=0.25),
    World("the same, 2 per pair", 2, 2, hard=0.25, spam=0.2, biased=0.25),
    World("the same, 5 per pair, majority", 5, 5, hard=0.25, spam=0.2, biased=0.25,
          rule="majority"),
)  # fmt: skip


class Simulated:
    """A collection, who judges what, and P(label | pair, kind of person)."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world, self.rng = world, rng
        worth = rng.normal(size=(TOPICS, DOCS))
        quality = np.linspace(0.35, 0.7, SYSTEMS)
        self.runs = self.make_runs(worth, quality)
        true = np.searchsorted([0.2, 0.8, 1.4], worth.reshape(-1))
        self.topic = np.repeat(np.arange(TOPICS), DOCS)
        self.below = self.make_labels(true)
        self.assign()

    def make_runs(self, worth, quality):
        """Systems that see the worth of a document with noise."""
        parts = []
        for s, q in enumerate(quality):
            score = q * worth + np.sqrt(1 - q**2) * self.rng.normal(size=worth.shape)
            parts.append(
                pl.DataFrame({
                    "query_id": np.repeat([f"t{t:02d}" for t in range(TOPICS)], DOCS),
                    "doc_id": np.tile([f"d{d:02d}" for d in range(DOCS)], TOPICS),
                    "score": score.reshape(-1),
                    "run_id": f"s{s:02d}",
                })
            )  # fmt: skip
        return Runs.of(pl.concat(parts))

    def make_labels(self, true):
        """P(label <= l) of plain, lenient, strict people and spammers [kinds, P, K]."""
        edges = np.concatenate([np.arange(GRADES - 1) + 0.5, [np.inf]])
        draws = self.rng.normal(size=4000) * 0.75
        tables = []
        for shift in (0.0, 0.7, -0.7):
            seen = np.arange(GRADES)[:, None] + shift + draws
            cumulated = (seen[:, :, None] <= edges).mean(axis=1)
            tables.append(cumulated[true])
        is_hard = self.rng.random(true.size) < self.world.hard
        own = np.cumsum(self.rng.dirichlet(np.ones(GRADES) * 0.8, true.size), axis=1)
        tables = [np.where(is_hard[:, None], own, table) for table in tables]
        spam = np.tile((np.arange(GRADES) + 1) / GRADES, (true.size, 1))
        return np.stack([*tables, spam])

    @property
    def shares(self):
        """Share of each kind of people."""
        spam, biased = self.world.spam, self.world.biased
        return np.array([1 - spam - biased, biased / 2, biased / 2, spam])

    def assign(self):
        """Blocks of pairs of a topic go to people drawn by 1 / rank."""
        world, rng = self.world, self.rng
        weight = 1 / np.arange(1, PEOPLE + 1)
        most = max(JUDGES[-1], world.high)
        self.person = np.empty((TOPICS * DOCS, most), np.int64)
        self.count = np.empty(TOPICS * DOCS, np.int64)
        for topic in range(TOPICS):
            docs = topic * DOCS + rng.permutation(DOCS)
            for block in docs.reshape(-1, BLOCK):
                n = int(rng.integers(world.low, world.high + 1))
                people = rng.choice(PEOPLE, n, replace=False, p=weight / weight.sum())
                turn = np.arange(most) // n
                self.person[block] = people[np.arange(most) % n] + PEOPLE * turn
                self.count[block] = n

    def judge(self):
        """A new crowd: labels [P, most], those who stay longest first, and who gave them."""
        rng, most = self.rng, self.person.shape[1]
        people = int(self.person.max()) + 1
        kind = rng.choice(4, people, p=self.shares)
        turn = np.arange(most) // self.count[:, None]
        key = rng.random((people, TOPICS))[self.person, self.topic[:, None]] + turn
        order = np.argsort(key, axis=1)
        who = np.take_along_axis(self.person, order, axis=1)
        below = self.below[kind[who], np.arange(len(who))[:, None]]
        label = (rng.random((*who.shape, 1)) > below).sum(axis=2)
        return np.minimum(label, GRADES - 1), who

    def settle_labels(self, labels):
        """The grades that labels [P, j] settle on."""
        counts = np.stack([(labels == k).sum(axis=1) for k in range(GRADES)], axis=1)
        return settle(counts, np.arange(GRADES, dtype=float), self.world.rule)

    def expected_grades(self):
        """The grades under infinitely many judgments."""
        chance = np.diff(self.below, axis=2, prepend=0.0)
        mean = np.tensordot(self.shares, chance, axes=1)
        return settle(mean, np.arange(GRADES, dtype=float), self.world.rule)

    def judgments(self):
        """One set of judgments, as the estimator gets it."""
        labels, who = self.judge()
        is_own = np.arange(labels.shape[1]) < self.count[:, None]
        pair, column = np.nonzero(is_own)
        return Judgments.of(
            pl.DataFrame({
                "query_id": [f"t{p // DOCS:02d}" for p in pair],
                "doc_id": [f"d{p % DOCS:02d}" for p in pair],
                "annotator_id": [f"w{w:02d}" for w in who[pair, column]],
                "label": labels[pair, column],
            }),
            scale=Scale.of(range(GRADES)),
        )  # fmt: skip

    def truth(self, compared):
        """Return the true values [measure][target] -> [G]."""
        pairs = pl.DataFrame({
            "query_id": [f"t{t:02d}" for t in self.topic],
            "doc_id": [f"d{d:02d}" for d in np.tile(np.arange(DOCS), TOPICS)],
            "relevance": 0,
        })  # fmt: skip
        crowds = [self.judge()[0] for _ in range(REPLICATES)]
        grades = np.array([[self.settle_labels(c[:, :j]) for c in crowds] for j in JUDGES])
        expected = self.expected_grades()
        values = {}
        for measure in MEASURES:
            chosen = self.runs.frame.filter(pl.col("run_id").is_in(compared[measure]))
            table = rank(Qrels(pairs), Runs.of(chosen))
            scorer = SystemScorer(table, parse_measures([measure])[0], np.arange(4.0), expected)
            end = scorer.score(expected)[None]
            by_judges = scorer.score_many(grades)
            values[measure] = {
                "tau_rep": [mean_off_diagonal(tau_b_matrix(x, x)) for x in by_judges],
                "tau_inf": [float(np.nanmean(tau_b_matrix(x, end))) for x in by_judges],
                "tau_ap": [
                    mean_off_diagonal(tau_ap_b_matrix(x, x)) for x in by_judges[:, :REPLICATES_AP]
                ],
                "sd": by_judges.std(axis=1, ddof=1).mean(axis=1).tolist(),
            }
        return values


def least(values, target):
    """The least number of judgments that meets the target as all larger do; 99 for more."""
    number = 99
    for j, value in zip(reversed(JUDGES), reversed(values), strict=True):
        if value < target:
            break
        number = j
    return number


def simulate(world, seed):
    """Return per measure the intervals that hold the truth, and the verdicts beside the truth."""
    simulated = Simulated(world, np.random.default_rng(seed))
    judgments = simulated.judgments()
    result = annotators_needed(judgments, simulated.runs, MEASURES, rule=world.rule, seed=seed[-1])
    truth = simulated.truth(result.compared)
    records = []
    for measure in MEASURES:
        rows = [row for row in result.rows if row["measure"] == measure]
        held = {
            name: float(np.mean([
                row[f"{name}_low"] <= value <= row[f"{name}_high"]
                for row, value in zip(rows, values, strict=True)
            ]))
            for name, values in truth[measure].items()
        }  # fmt: skip
        error = {
            name: [row[name] - value for row, value in zip(rows, values, strict=True)]
            for name, values in truth[measure].items()
        }
        verdicts = {}
        for target in TARGETS:
            enough = least([row["tau_rep_low"] for row in rows], target)
            possible = least([row["tau_rep_high"] for row in rows], target)
            verdicts[target] = (possible, enough, least(truth[measure]["tau_rep"], target))
        records.append({
            "measure": measure, "held": held, "error": error, "verdicts": verdicts,
            "true": truth[measure]["tau_rep"],
            "width": [row["tau_rep_high"] - row["tau_rep_low"] for row in rows],
        })  # fmt: skip
    return records


def summarise(world, records):
    """Return the rows of one world; the measures of a simulation are not independent."""
    rows, n = [], len(records) // len(MEASURES)

    def average(values):
        """Mean and its standard error over simulations."""
        means = np.array(values, float).reshape(-1, len(MEASURES)).mean(axis=1)
        return float(means.mean()), float(means.std(ddof=1) / np.sqrt(n)) if n > 1 else None

    for name in ("tau_rep", "tau_inf", "tau_ap", "sd"):
        coverage, error = average([record["held"][name] for record in records])
        rows.append({
            "verdict": f"interval of {name}", "world": world, "simulations": n,
            "coverage": coverage, "standard_error": error,
        })  # fmt: skip
    for target in TARGETS:
        verdicts = [record["verdicts"][target] for record in records]
        wrong, error = average(
            [enough < true or true < possible for possible, enough, true in verdicts]
        )
        reachable = [enough for _, enough, true in verdicts if true < 99]
        rows.append({
            "verdict": f"judgments enough for tau {target:g}", "world": world, "simulations": n,
            "false_alarms": wrong, "standard_error": error,
            "power": float(np.mean(np.array(reachable) < 99)) if reachable else None,
        })  # fmt: skip
    return rows


def run(quick: bool, seed: int) -> list[dict]:
    """Simulate every world; the last rows are over all of them."""
    rows, everything = [], []
    for number, world in enumerate(WORLDS[:2] if quick else WORLDS):
        records = []
        for simulation in range(2 if quick else 25):
            records += simulate(world, [seed, number, simulation])
        rows += summarise(world.name, records)
        everything += records
    return rows + summarise("all", everything)
