"""Whether groups of annotators (waves, crowds, experts) give the same order of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from venire.agreement.strictness import agreements, strictest, strictness
from venire.arrays import Floats, Mask
from venire.errors import BadSetting, NoOverlap
from venire.evaluation.paired_tests import compare_systems
from venire.evaluation.ranks import ABSENT
from venire.evaluation.score import Scores, rank, score
from venire.measures import Measure, parse
from venire.stats.proportion import Proportion, difference
from venire.stats.rank_correlation import RankCorrelation, rank_scores, tau_ap_b, tau_b_many
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs
from venire.tables.schema import counted

Row = dict[str, Any]
PAIRS = ("shared", "own")
MEASURES = ("AP", "nDCG", "P@10")
TOLD_APART = 0.05
FEW_TOPICS = 6
"""Of fewer topics a two-sided sign test cannot say more than chance (2 / 2^5 > .05), agree as they
may."""


@dataclass(frozen=True, eq=False)
class Group:
    """One group of annotators: what they settled, and what is known of their work.

    Attributes
    ----------
    qrels : Qrels
        Whole grades on the scale that all groups share.
    judgments : Judgments, optional
        What the qrels were made of; gives the agreement within the group.
    rejected : Proportion, optional
        Batches that were rejected, of those decided.
    """

    qrels: Qrels
    judgments: Judgments | None = None
    rejected: Proportion | None = None


@dataclass(frozen=True, eq=False)
class Repeatability:
    """The same systems under every group.

    Attributes
    ----------
    groups, runs : tuple of str
    measures : tuple of Measure
    orders : list of dict
        A row for each measure and two groups: ``measure, first, second, tau, tau_low, tau_high,
        tau_ap, pairs, swapped, matter, largest_shift``. ``matter`` counts the swapped pairs of
        systems that either group tells apart.
    swaps : list of dict
        A row for each swap: ``measure, first, second, better, worse, told_apart_by``.
    scores : polars.DataFrame
        ``measure, run_id`` and for each group its score and rank.
    strictness : list of dict
        See :func:`venire.agreement.strictness.strictness`.
    agreement : list of dict
        Within each group and between two: ``first, second, measure, value, low, high``.
    rates : list of dict
        ``group, pairs, judgments, annotators, rejected, low, high, batches``; ``differs``: from
        the group before, where Newcombe's 95% interval of the difference leaves out 0.
    sentence : str
    notes : tuple of str
    settings : dict
    seed : int
    version : str
    """

    groups: tuple[str, ...]
    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    orders: list[Row]
    swaps: list[Row]
    scores: pl.DataFrame
    strictness: list[Row]
    agreement: list[Row]
    rates: list[Row]
    sentence: str
    notes: tuple[str, ...]
    settings: Row
    seed: int
    version: str


def compare_groups(
    groups: Mapping[str, Group],
    runs: Runs,
    measures: Sequence[str | Measure] = MEASURES,
    *,
    pairs: str = "shared",
    relevant_from: float = 1,
    topics: str = "qrels",
    ties: str = "trec",
    permutations: int = 1000,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Repeatability:
    """Score and rank systems under each group, and say whether the order repeats.

    Tau-b, tau_ap,b and swaps for every two groups, with a 95% interval of tau by bootstrap over
    topics. Where that is undefined, or fewer than six topics count, the sentence says first that
    this cannot be told. Two systems are told apart by a group where the randomised Tukey HSD over
    all systems (Carterette, ACM TOIS 30, 2012) has p < .05. The design is that of Blanco et al.,
    "Repeatable and reliable semantic search evaluation" (J. Web Semantics 21, 2013).

    Parameters
    ----------
    groups : mapping
        Two or more groups by name; the first is what the others are compared with first.
    runs : Runs
    measures : sequence
    pairs : "shared" or "own"
        Score on the pairs that all groups judged, so that only grades differ, or each group on
        its own.
    relevant_from : float
        Smallest relevant grade, for agreement.
    topics, ties : str
        As for :func:`venire.evaluation.score.score_runs`.
    permutations, bootstrap : int
        Of the tests and of the intervals.
    seed : int

    Raises
    ------
    BadSetting
        Fewer than two groups, or two runs.
    NoOverlap
        The groups share no pair.

    Examples
    --------
    >>> crowd = Group(Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 1}}))
    >>> expert = Group(Qrels.from_dict({"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 0}}))
    >>> one = Runs.from_dict({"q": {"a": 2.0, "b": 1.0}, "r": {"b": 2.0}}, run_id="one")
    >>> two = Runs.from_dict({"q": {"b": 2.0, "a": 1.0}, "r": {"a": 2.0}}, run_id="two")
    >>> both = Runs(pl.concat([one.frame, two.frame]))
    >>> compare_groups({"crowd": crowd, "expert": expert}, both, ["AP"]).orders[0]["tau"]
    1.0
    """
    if len(groups) < 2:
        raise BadSetting("repeatability needs at least two groups of annotators")
    if pairs not in PAIRS:
        raise BadSetting(f"pairs is one of {', '.join(PAIRS)}, not {pairs!r}")
    parsed = [parse(one) if isinstance(one, str) else one for one in measures]
    if not parsed:
        raise BadSetting("name at least one measure")
    names = tuple(groups)
    every = pl.concat([one.qrels.frame.select("query_id", "doc_id") for one in groups.values()])
    table = rank(
        Qrels(every.unique(maintain_order=True).with_columns(pl.lit(0).alias("relevance"))),
        runs,
        ties=ties,
    )
    if len(table.runs) < 2:
        raise BadSetting("the order of systems needs at least two runs")
    grades = np.stack([table.grades(_whole(name, one.qrels)) for name, one in groups.items()])
    grades[grades < 0] = ABSENT
    shared = (grades != ABSENT).all(axis=0)
    if not shared.any():
        raise NoOverlap(f"the groups {', '.join(names)} share no judged pair")
    size = counted(int(shared.sum()), "pair")
    notes = [f"{size} of {counted(np.unique(table.topic[shared]).size, 'topic')} "
             f"{'was' if shared.sum() == 1 else 'were'} judged by all groups"]  # fmt: skip
    for name, row in zip(names, grades, strict=True):
        more = int(((row != ABSENT) & ~shared).sum())
        if more:
            used = "not used" if pairs == "shared" else "used for its own scores"
            notes.append(f"{name}: {counted(more, 'pair')} that not all groups judged, {used}")
    scored = [
        score(table, np.where(shared, row, ABSENT) if pairs == "shared" else row, parsed,
              topics=topics)
        for row in grades
    ]  # fmt: skip
    notes += dict.fromkeys(note for one in scored for note in one.notes)
    there = np.logical_and.reduce([one.counted.all(axis=0) for one in scored])
    orders, swaps = _orders(names, scored, there, permutations, bootstrap, seed)
    common = grades[:, shared]
    topic = table.topic[shared]
    offsets = strictness(names, common, topic, bootstrap=bootstrap, seed=seed)
    items = table.pairs.filter(pl.Series(shared))
    labelled = {name: one.judgments for name, one in groups.items() if one.judgments is not None}
    agreed, more_notes = agreements(
        names, common, items, labelled, relevant_from, bootstrap=bootstrap, seed=seed
    )
    return Repeatability(
        groups=names,
        runs=tuple(table.runs),
        measures=tuple(parsed),
        orders=orders,
        swaps=swaps,
        scores=_scores(names, scored),
        strictness=offsets,
        agreement=agreed,
        rates=_rates(groups),
        sentence=_sentence(names, orders, strictest(names, offsets), int(there.sum()), size),
        notes=(*notes, *more_notes),
        settings={
            "groups": list(names),
            "measures": [str(one) for one in parsed],
            "pairs": pairs,
            "relevant_from": relevant_from,
            "topics": topics,
            "ties": ties,
            "permutations": permutations,
            "bootstrap": bootstrap,
        },
        seed=seed,
        version=version("venire"),
    )


def _whole(name: str, qrels: Qrels) -> Qrels:
    if not qrels.frame["relevance"].dtype.is_integer():
        raise BadSetting(f"{name}: measures need whole grades; write the qrels with rule mode")
    return qrels


def _orders(
    names: Sequence[str],
    scored: list[Scores],
    there: Mask,
    permutations: int,
    bootstrap: int,
    seed: int,
) -> tuple[list[Row], list[Row]]:
    orders: list[Row] = []
    swaps: list[Row] = []
    n_topics = scored[0].counted.shape[1]
    drawn = np.random.default_rng(seed).multinomial(
        int(there.sum()), np.full(int(there.sum()), 1 / max(int(there.sum()), 1)), size=bootstrap
    )
    weights = np.zeros((bootstrap, n_topics))
    weights[:, there] = drawn
    for m, measure in enumerate(scored[0].measures):
        apart = [_told_apart(one, m, permutations, seed) for one in scored]
        resampled = [weights @ one.values[m].T for one in scored]
        for a, b in combinations(range(len(names)), 2):
            order = RankCorrelation.of(scored[a].runs, scored[a].mean[m], scored[b].mean[m])
            found = tau_b_many(resampled[a], resampled[b])
            low, high = _interval(found) if there.sum() > 1 else (None, None)
            by = {
                pair: [names[at] for at in (a, b) if frozenset(pair) in apart[at]]
                for pair in order.swapped
            }
            orders.append(
                {
                    "measure": str(measure),
                    "first": names[a],
                    "second": names[b],
                    "tau": order.tau,
                    "tau_low": low,
                    "tau_high": high,
                    "tau_ap": tau_ap_b(scored[a].mean[m], scored[b].mean[m]),
                    "pairs": order.pairs,
                    "swapped": len(order.swapped),
                    "matter": sum(bool(one) for one in by.values()),
                    "largest_shift": order.largest_shift,
                }
            )
            swaps += [
                {
                    "measure": str(measure),
                    "first": names[a],
                    "second": names[b],
                    "better": pair[0],
                    "worse": pair[1],
                    "told_apart_by": ", ".join(who) or "neither",
                }
                for pair, who in by.items()
            ]
    return orders, swaps


def _told_apart(scores: Scores, measure: int, permutations: int, seed: int) -> set[frozenset[str]]:
    if scores.counted.all(axis=0).sum() < 2:
        return set()
    found = compare_systems(scores, measure, permutations=permutations, bootstraps=1, seed=seed)
    return {
        frozenset((one.first, one.second))
        for one in found
        if one.p_tukey is not None and one.p_tukey < TOLD_APART
    }


def _interval(values: Floats) -> tuple[float | None, float | None]:
    known = values[~np.isnan(values)]
    if known.size <= values.size / 2:
        return None, None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def _scores(names: Sequence[str], scored: list[Scores]) -> pl.DataFrame:
    parts = []
    for m, measure in enumerate(scored[0].measures):
        first = scored[0].mean[m]
        columns: dict[str, Any] = {"measure": [str(measure)] * len(first), "run_id": scored[0].runs}
        for name, one in zip(names, scored, strict=True):
            columns[name] = one.mean[m]
            columns[f"{name} rank"] = rank_scores(one.mean[m])
        parts.append(pl.DataFrame(columns).sort(f"{names[0]} rank", "run_id"))
    return pl.concat(parts)


def _rates(groups: Mapping[str, Group]) -> list[Row]:
    rows: list[Row] = []
    before: Proportion | None = None
    for name, one in groups.items():
        rate = one.rejected
        differs = None
        if rate is not None and rate.tries and before is not None and before.tries:
            _, low, high = difference(rate, before)
            differs = low > 0 or high < 0
        rows.append(
            {
                "group": name,
                "pairs": len(one.qrels),
                "judgments": None if one.judgments is None else len(one.judgments),
                "annotators": None if one.judgments is None else one.judgments.codes.n_annotators,
                "rejected": None if rate is None else rate.value,
                "low": None if rate is None else rate.low,
                "high": None if rate is None else rate.high,
                "batches": None if rate is None else rate.tries,
                "differs": differs,
            }
        )
        before = rate if rate is not None and rate.tries else before
    return rows


def _sentence(
    names: Sequence[str], orders: list[Row], strict: str | None, topics: int, size: str
) -> str:
    known = [row for row in orders if row["tau"] is not None]
    if not known:
        return "Nothing can be said of the order: all systems tie under one of the groups."
    said = [_doubt(known, topics, size), _order(names, known), strict]
    tied = dict.fromkeys(row["measure"] for row in orders if row["tau"] is None)
    if tied:
        said.insert(2, f"By {', '.join(tied)} all systems tie under one of the groups.")
    return " ".join(one for one in said if one)


def _doubt(known: list[Row], topics: int, size: str) -> str | None:
    """Say that so little cannot tell, where it cannot."""
    wide = dict.fromkeys(row["measure"] for row in known if row["tau_low"] is None)
    if topics >= FEW_TOPICS and not wide:
        return None
    if topics < FEW_TOPICS:
        why = f"the systems are scored on {counted(topics, 'topic')} ({size} judged by all groups)"
        if topics < 2:
            why += ", of which tau has no interval"
        need = f"judge {FEW_TOPICS} topics or more"
    else:
        why = f"tau by {', '.join(wide)} has no interval, as all systems tie on most topics"
        need = "judge more pairs"
    return f"Whether the order repeats cannot be told yet: {why}; {need}. So far:"


def _order(names: Sequence[str], known: list[Row]) -> str:
    listed = ", ".join(dict.fromkeys(row["measure"] for row in known))
    worst = min(known, key=lambda row: row["tau"])
    if worst["tau"] > 1 - 1e-12:
        return f"The order of the systems is the same under {_and(names)} ({listed})."
    matter = sum(row["matter"] for row in known)
    if not any(row["swapped"] for row in known):
        swaps = "no two systems swap, but some tie under one group only."
    elif not matter:
        swaps = "no swap is of systems that a group tells apart."
    else:
        verb = "is" if matter == 1 else "are"
        swaps = f"{counted(matter, 'swap')} {verb} of systems that a group tells apart."
    return (
        f"The order repeats with a tau of at least {worst['tau']:.2f} "
        f"({worst['first']} and {worst['second']}, {worst['measure']}); {swaps}"
    )


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
