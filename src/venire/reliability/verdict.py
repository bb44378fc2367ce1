"""Rate the risks to a ranking: a light, the number that decides it, and the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from venire.evaluation.told_apart import ToldApart
from venire.reliability.leave_one_out import LeaveOneOut
from venire.reliability.panels import PanelComparison
from venire.reliability.top_order import LEAST_TOPICS, TOO_FEW_TOPICS, TopOrder
from venire.reliability.uncertain_grades import SURE, UncertainGrades
from venire.reliability.unjudged import Unjudged
from venire.tables.schema import express

GREEN, AMBER, RED, NOT_CHECKED = "green", "amber", "red", "not checked"
POOL, OUTSIDERS = "pool too shallow", "outsiders underrated"
ASSESSORS, FAVOUR, TOPICS = "assessors disagree", "judge favours a system", "too few topics"
GRADES = "grades are uncertain"

PLACES_AMBER = 2
"""Places a run loses when left out; a choice. On Cranfield a depth-10 pool of twelve runs
costs one place at most; two are more than that."""
PLACES_RED = 0.25
"""Share of the other compared runs that pass a run left out; a choice."""
UNJUDGED_AMBER, UNJUDGED_RED = 0.10, 1 / 3
"""Share of a run's first ten; a choice. On Cranfield the runs outside a pool of one family
have 13% or more."""
UNJUDGED_UNKNOWN = 0.9
"""Share of a run's first ten from which the qrels say nothing about a run; a choice."""
TAU_GREEN, TAU_RED = 0.9, 0.8
"""A convention of the field: .9 or more counts as the same order, below .8 as another one. Voorhees
(IPM 36, 2000) found rankings under other assessors to correlate highly; she is not their source."""
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


def assess_pool(result: LeaveOneOut, compared: Sequence[str], deeper: int) -> Risk:
    """Rate by the most ranks that a compared run loses when it, or its group, is left out.

    Parameters
    ----------
    result : LeaveOneOut
    compared : sequence of str
        The runs that are compared: those that are not clearly below the first ones, copies left
        out. Others may change nothing.
    deeper : int
        Number of pairs that are unjudged to twice the depth.
    """
    frame = result.frame.filter(pl.col("run_id").is_in(list(compared)))
    worst = frame.row(0, named=True)
    leaders = [name for name in result.leaders if name in set(frame["group"])]
    lost = int(worst["places_lost"])
    light = GREEN
    if lost >= PLACES_AMBER or leaders:
        light = AMBER
    if lost >= PLACES_AMBER and lost >= PLACES_RED * (len(compared) - 1):
        light = RED
    change = f"{result.measure} {worst['score']:.4f} to {worst['score_without']:.4f}"
    reason = f"left out, {worst['run_id']} loses {express(lost, 'place')} ({change})"
    if lost <= 0:
        reason = "no run loses a place when its own documents are left out"
    if leaders:
        reason += f"; without {leaders[0]} other runs come first"
    deep = f"judge to depth {2 * result.depth}: {express(deeper, 'pair')} more"
    step = NO_STEP if light == GREEN else deep if deeper else "add a different kind of run"
    return Risk(POOL, light, float(lost), "most places lost by a run left out", reason, step)


def assess_unjudged(
    result: Unjudged, missing: int, scores: Mapping[str, float], compared: Sequence[str]
) -> Risk:
    """Rate by the largest unjudged share among the runs that it could change the order of.

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
    run, share = rated[0]
    light = RED if share >= UNJUDGED_RED else AMBER if share >= UNJUDGED_AMBER else GREEN
    reason = f"{run} has {share:.1%} of its first {result.depth} unjudged"
    if share == 0:
        reason = f"the first {result.depth} of every rated run are judged"
    elif light == GREEN:
        reason = f"at most {share:.1%} of a run's first {result.depth} is unjudged"
    if unknown:
        reason += f"; not rated, as hardly a document of it is judged: {', '.join(unknown[:3])}"
        reason += f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
    step = f"judge {express(missing, 'pair')}: the first {result.depth} of every run"
    return Risk(OUTSIDERS, light, share, what, reason, NO_STEP if light == GREEN else step)


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
    """Rate by the low end of tau between the order by likeliest grades and that of drawn qrels."""
    what = "tau with the order by likeliest grades that 97.5% of drawn qrels reach"
    interval = result.interval
    step = f"judge again the {express(result.unsure, 'pair')} with no grade of probability {SURE}"
    if not result.unsure:
        step = "add topics: the grades are as sure as they will be"
    if interval is None:
        return Risk(
            GRADES, NOT_CHECKED, None, what, "all runs tie under the likeliest grades", step
        )
    light = RED if interval[0] < TAU_RED else AMBER if interval[0] < TAU_GREEN else GREEN
    next_to = result.frame["beats_next"].drop_nulls()
    close = int((next_to < 0.95).sum())
    reason = (
        f"{close} of {express(len(next_to), 'pair')} of neighbouring runs keep their order in "
        f"fewer than 95% of {express(result.draws, 'draw')}"
    )
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
