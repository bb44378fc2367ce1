"""Rate the risks to a ranking: a light, the number that decides it, and the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from venire.aggregation.decision import SURE
from venire.evaluation.told_apart import ToldApart
from venire.reliability.leave_one_out import LeaveOneOut
from venire.reliability.panels import PanelComparison
from venire.reliability.top_order import LEAST_TOPICS, TOO_FEW_TOPICS, TopOrder
from venire.reliability.uncertain_grades import UncertainGrades
from venire.reliability.unjudged import Unjudged
from venire.tables.schema import express

GREEN, AMBER, RED, NOT_CHECKED = "green", "amber", "red", "not checked"
POOL, OUTSIDERS = "pool too shallow", "outsiders underrated"
ASSESSORS, FAVOUR, TOPICS = "assessors disagree", "judge favours a system", "too few topics"
GRADES = "grades are uncertain"

PLACES_AMBER = 2
"""Places a run loses when left out; a choice. On Cranfield a depth-10 pool of twelve runs
costs one place at most; two are more than that."""
PLACES_RED = 1.25
"""Mean places lost by the compared runs, each left out. Chosen on simulated pools so that at most
5% of the pools are red that are deep enough; see the verdicts page."""
TAU_HALF = 0.95
"""Least tau between the orders by half of the pool's depth and by all of it for the light to be
green. Chosen on simulated pools and on Cranfield."""
UNJUDGED_AMBER, UNJUDGED_RED = 0.10, 1 / 3
"""Share of a run's first ten; a choice. On Cranfield the runs outside a pool of one family
have 13% or more."""
UNJUDGED_WORTH = 0.25
"""How good the unjudged documents of all runs are, beside their judged ones, for the light to be
red: the run must then pass a compared run. Chosen on simulated pools so that at most 5% of them are
red where no run loses a place."""
UNJUDGED_UNKNOWN = 0.9
"""Share of a run's first ten from which the qrels say nothing about a run; a choice."""
TAU_SAME = 0.9
"""A convention of the field: .9 or more counts as the same order. Voorhees (IPM 36, 2000) found
rankings under other assessors to correlate highly; she is not its source."""
TOP_GREEN, TOP_RED = 0.9, 0.7
"""Expected tau of the first runs with their order on other topics: .9 is the field's; below .7,
which is a choice, more than one pair in seven changes order."""
PANEL_LEVEL = 0.05
"""Level of the test of panels, over all panels together."""
PANEL_CHANCE = 0.1
"""Share of the pairs of systems: where two equal panels may swap more, the test clears nobody; a
choice."""
P_GREEN, P_RED = 0.05, 0.01
"""The usual levels of a test, after correction for the number of systems and of judges."""
NO_STEP = "none"
NO_RELEVANT = "no document is relevant under the qrels, so every run scores 0"


@dataclass(frozen=True)
class Risk:
    """One risk to a ranking.

    Attributes
    ----------
    name : str
    light : "green", "amber", "red" or "not checked"
    number : float or None
        The number that decides the light.
    what : str
        What the number measures.
    reason : str
        Why this light, or why it was not checked.
    next_step : str
        The cheapest next step; "none" where the risk is green.
    """

    name: str
    light: str
    number: float | None
    what: str
    reason: str
    next_step: str


def assess_pool(
    result: LeaveOneOut, compared: Sequence[str], deeper: int, half: float | None
) -> Risk:
    """Rate by the ranks that the compared runs lose when each, or its group, is left out.

    Red where they lose ``PLACES_RED`` on average: a new run would lose so many. Amber where a run
    loses ``PLACES_AMBER`` or more, where another run comes first, or where the order still changes
    between half of the depth and all of it.

    Parameters
    ----------
    result : LeaveOneOut
    compared : sequence of str
        The runs that are compared: those that are not clearly below the first ones, copies left
        out. Others may change nothing.
    deeper : int
        Number of pairs that are unjudged to twice the depth.
    half : float or None
        See :func:`venire.reliability.depth_curve.compare_half_depth`.
    """
    frame = result.frame.filter(pl.col("run_id").is_in(list(compared)))
    worst = frame.row(0, named=True)
    leaders = [name for name in result.leaders if name in set(frame["group"])]
    lost = int(worst["places_lost"])
    mean = float(frame["places_lost"].clip(0).to_numpy().mean())
    is_moving = result.depth < 2 or (half is not None and half < TAU_HALF)
    light = AMBER if lost >= PLACES_AMBER or leaders or is_moving else GREEN
    if mean >= PLACES_RED:
        light = RED
    change = f"{result.measure} {worst['score']:.4f} to {worst['score_without']:.4f}"
    reason = f"left out, {worst['run_id']} loses {express(lost, 'place')} ({change})"
    if light == RED:
        reason = f"left out, a run loses {mean:.1f} places on average; the most: {reason[10:]}"
    if lost <= 0:
        reason = "no run loses a place when its own documents are left out"
    if leaders:
        reason += f"; without {leaders[0]} other runs come first"
    if is_moving and half is not None:
        reason += f"; with half of the depth the order is another one (tau {half:.2f})"
    deep = f"judge to depth {2 * result.depth}: {express(deeper, 'pair')} more"
    step = NO_STEP if light == GREEN else deep if deeper else "add a different kind of run"
    return Risk(POOL, light, mean, "mean number of places lost by a run left out", reason, step)


def assess_unjudged(
    result: Unjudged, missing: int, scores: Mapping[str, float], compared: Sequence[str]
) -> Risk:
    """Rate by the largest unjudged share among the runs that it could change the order of.

    Red where a share of ``UNJUDGED_RED`` or more is of a run that would pass a compared run even
    if the unjudged documents of both were only ``UNJUDGED_WORTH`` as good as their judged ones.

    These are the compared runs, and each other run whose score, divided by the share of its first
    documents that is judged, reaches the last of them: its unjudged documents then count as good
    as its judged ones. A run below them with an unjudged share of ``UNJUDGED_UNKNOWN`` or more is
    not rated: the qrels say nothing about it, and nothing about the others depends on it.

    Parameters
    ----------
    result : Unjudged
    missing : int
        Number of pairs whose judgment would lower all shares to 0.
    scores : mapping of str to float
        Mean score of every run.
    compared : sequence of str
        The runs that are compared, best first, copies left out.
    """
    what = f"largest unjudged share of a first {result.depth}"
    least = scores[compared[-1]]
    rated: list[tuple[str, float]] = []
    unknown: list[str] = []
    for run, share in result.frame.select("run_id", "unjudged").iter_rows():
        if scores[run] >= least:
            rated.append((run, share))
        elif share >= UNJUDGED_UNKNOWN:
            unknown.append(run)
        elif scores[run] >= least * (1 - share):
            rated.append((run, share))
    shares = dict(result.frame.select("run_id", "unjudged").iter_rows())
    reached = {run: scores[run] / (1 - UNJUDGED_WORTH * share) for run, share in shares.items()}
    passing = [
        (name, unjudged, passed)
        for name, unjudged in rated
        if unjudged >= UNJUDGED_RED and (passed := _count_passed(name, scores, reached, compared))
    ]
    run, share = passing[0][:2] if passing else rated[0]
    light = RED if passing else AMBER if share >= UNJUDGED_AMBER else GREEN
    reason = f"{run} has {share:.1%} of its first {result.depth} unjudged"
    if passing:
        reason += (
            f" and would pass {express(passing[0][2], 'run')} if unjudged documents were a quarter "
            "as good as judged ones"
        )
    if share == 0:
        reason = f"the first {result.depth} of every rated run are judged"
    elif light == GREEN:
        reason = f"at most {share:.1%} of a run's first {result.depth} is unjudged"
    if unknown:
        reason += f"; not rated, as hardly a document of it is judged: {', '.join(unknown[:3])}"
        reason += f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    step = f"judge {express(missing, 'pair')}: the first {result.depth} of every run"
    return Risk(OUTSIDERS, light, share, what, reason, NO_STEP if light == GREEN else step)


def _count_passed(
    run: str, scores: Mapping[str, float], reached: Mapping[str, float], compared: Sequence[str]
) -> int:
    """Return the number of better compared runs that a run would pass with the scores reached."""
    return sum(scores[run] < scores[other] and reached[other] <= reached[run] for other in compared)


def assess_assessors(results: Sequence[PanelComparison], why: str, topics: int) -> Risk:
    """Rate by whether a panel orders the systems differently, beyond chance.

    Red where a corrected p is below ``PANEL_LEVEL`` and the panel swaps systems that the topics
    tell apart; amber where it swaps others only, where a panel has too few topics, or where
    nothing was found by a test that could not find much.

    Parameters
    ----------
    results : sequence of PanelComparison
        The first is that of all assessors together.
    why : str
        Why there is none.
    topics : int
        Number of topics of the qrels.
    """
    what = "probability that panels of equal preference differ as much, corrected for panels"
    step = "have a second assessor judge some topics, and pass the judgments"
    tested = [result for result in results if result.p_corrected is not None]
    if not tested:
        if not results:
            return Risk(ASSESSORS, NOT_CHECKED, None, what, why, step)
        most = max(results, key=lambda result: result.pairs)
        light = AMBER if most.pairs and most.topics < LEAST_TOPICS else NOT_CHECKED
        return Risk(ASSESSORS, light, None, what, f"{most.panel} {most.reason}", step)
    tested.sort(key=lambda result: (-(result.told_apart_swapped or 0) * _differs(result),
                                    result.p_corrected or 0.0))  # fmt: skip
    worst = tested[0] if any(map(_differs, tested)) else min(tested, key=lambda r: -r.topics)
    p = min(result.p_corrected or 0.0 for result in tested)
    apart = worst.told_apart_swapped or 0
    swaps = (
        f"under {worst.panel} ({express(worst.topics, 'topic')}), "
        f"{worst.systems_swapped or 0:.0f} of {express(worst.system_pairs, 'pair')} of runs "
        f"change order"
    )
    known = f"told apart by the {express(topics, 'topic')} of the qrels: {apart} of them"
    step = "judge the pairs where assessors and qrels differ a third time, then aggregate"
    if _differs(worst):
        light = RED if apart else AMBER
        if apart:
            step = f"leave out the grades of {worst.panel}, or {step}"
        return Risk(ASSESSORS, light, p, what, f"{swaps}, more than chance explains; {known}", step)
    chance = worst.chance_swapped_95 or 0.0
    reason = f"{swaps}, no more than chance explains (up to {chance:.0f}); {known}"
    if chance < PANEL_CHANCE * worst.system_pairs:
        return Risk(ASSESSORS, GREEN, p, what, reason, NO_STEP)
    reason += "; with so few judgments a difference would not show"
    return Risk(ASSESSORS, AMBER, p, what, reason, "have assessors judge more topics")


def _differs(result: PanelComparison) -> bool:
    return result.p_corrected is not None and result.p_corrected < PANEL_LEVEL


def assess_grades(result: UncertainGrades) -> Risk:
    """Rate by tau between the order by likeliest grades and that of drawn qrels.

    Green where 97.5% of the drawn qrels reach ``TAU_SAME``, red where fewer than 2.5% do, so that
    either is wrong as seldom where the probabilities are right.
    """
    what = "tau with the order by likeliest grades that 97.5% of drawn qrels reach"
    interval = result.interval
    step = f"judge again the {express(result.unsure, 'pair')} with no grade of probability {SURE}"
    if not result.unsure:
        step = "add topics: the grades are as sure as they will be"
    if interval is None:
        return Risk(
            GRADES, NOT_CHECKED, None, what, "all runs tie under the likeliest grades", step
        )
    light = RED if interval[1] < TAU_SAME else AMBER if interval[0] < TAU_SAME else GREEN
    next_to = result.frame["beats_next"].drop_nulls()
    close = int((next_to < 0.95).sum())
    reason = (
        f"{close} of {express(len(next_to), 'pair')} of neighbouring runs keep their order in "
        f"fewer than 95% of {express(result.draws, 'draw')}"
    )
    if light == RED:
        reason += f"; tau with the order by likeliest grades is at most {interval[1]:.2f}"
    elif light == GREEN:
        reason += ", if the probabilities of the grades are right"
    return Risk(GRADES, light, interval[0], what, reason, NO_STEP if light == GREEN else step)


def assess_topics(result: TopOrder, told_apart: ToldApart, measure: str) -> Risk:
    """Rate by the expected tau of the first runs' order with that on as many other topics.

    Parameters
    ----------
    result : TopOrder
    told_apart : ToldApart
    measure : str
    """
    what = f"expected tau of the order of the first {result.k} runs with that on other topics"
    topics = express(result.topics, "topic")
    if result.tau is None:
        if result.reason != TOO_FEW_TOPICS:
            reason = "all runs score alike, topic by topic"
            return Risk(TOPICS, NOT_CHECKED, None, what, reason, "compare runs that differ")
        step = f"add topics: {LEAST_TOPICS} are the least, 25 or more are usual"
        reason = f"{topics}, too few to tell any order"
        return Risk(TOPICS, RED, None, what, reason, step)
    light = GREEN if result.tau >= TOP_GREEN else AMBER if result.tau >= TOP_RED else RED
    if light == GREEN and not told_apart.apart.any():
        # Two runs on a few topics that all agree: the halves agree by chance.
        light = AMBER
    turned = f"{50 * (1 - result.tau):.0f}%"
    change = f"about {turned} of the pairs of the first {result.k} runs would change order"
    if result.k == 2:
        change = f"the two runs would change order with a probability of about {turned}"
    apart, pairs = int(told_apart.apart.sum()), express(len(told_apart.apart), "pair")
    reason = f"on other topics, {change}; {topics} tell {apart:,} of {pairs} of runs apart"
    step = f"claim only differences of about {result.difference_needed:.3f} {measure} or more"
    if result.topics_needed is not None and result.topics_needed > result.topics:
        step += f", or use about {result.topics_needed:,} topics"
    return Risk(TOPICS, light, result.tau, what, reason, NO_STEP if light == GREEN else step)
