"""Rate the risks to a ranking: a light, the number that decides it, and the next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venire.reliability.discriminative_power import DiscriminativePower
from venire.reliability.favoured_system import Audit
from venire.reliability.generalizability import Generalizability
from venire.reliability.leave_one_out import LeaveOneOut
from venire.reliability.substitution import Substitution
from venire.reliability.uncertain_grades import SURE, UncertainGrades
from venire.reliability.unjudged import Unjudged
from venire.tables.schema import express

GREEN, AMBER, RED, NOT_CHECKED = "green", "amber", "red", "not checked"
POOL, OUTSIDERS = "pool too shallow", "outsiders underrated"
ASSESSORS, FAVOUR, TOPICS = "assessors disagree", "judge favours a system", "too few topics"
GRADES = "grades are uncertain"

PLACES_AMBER = 2
"""Places a run loses when left out; a choice of ours. On Cranfield a depth-10 pool of twelve runs
costs one place at most; two are more than that."""
PLACES_RED = 0.25
"""Share of the other runs that pass a run left out; a choice of ours."""
UNJUDGED_AMBER, UNJUDGED_RED = 0.10, 1 / 3
"""Share of a run's first ten; a choice of ours. On Cranfield the runs outside a pool of one family
have 13% or more."""
TAU_GREEN, TAU_RED = 0.9, 0.8
"""A convention of the field: .9 or more counts as the same order, below .8 as another one. Voorhees
(IPM 36, 2000) found rankings under other assessors to correlate highly; she is not their source."""
P_GREEN, P_RED = 0.05, 0.01
"""The usual levels of a test, after correction for the number of systems and of judges."""
PAIRS_ENOUGH = 500
"""In simulation the test finds a favoured run three times of four with 500 audited pairs."""
RELATIVE_GREEN, RELATIVE_RED = 0.95, 0.8
"""E rho^2; a choice of ours. With .95 a twentieth of the variance of mean scores is noise of the
topics, with .8 a fifth."""


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
        The cheapest next step.
    """

    name: str
    light: str
    number: float | None
    what: str
    reason: str
    next_step: str


def assess_pool(result: LeaveOneOut, runs: int, deeper: int) -> Risk:
    """Rate by the most ranks that a run loses when it, or its group, is left out.

    ``deeper`` pairs are unjudged to twice the depth.
    """
    worst = result.worst
    lost = int(worst["places_lost"])
    light = GREEN
    if lost >= PLACES_AMBER or result.leaders:
        light = AMBER
    if lost >= PLACES_AMBER and lost >= PLACES_RED * (runs - 1):
        light = RED
    change = f"{result.measure} {worst['score']:.4f} to {worst['score_without']:.4f}"
    reason = f"left out, {worst['run_id']} loses {express(lost, 'place')} ({change})"
    if lost <= 0:
        reason = "no run loses a place when its own documents are left out"
    if result.leaders:
        reason += f"; without {result.leaders[0]} other runs come first"
    deep = f"judge to depth {2 * result.depth}: {express(deeper, 'pair')} more"
    step = "none" if light == GREEN else deep if deeper else "add a different kind of run"
    return Risk(POOL, light, float(lost), "most places lost by a run left out", reason, step)


def assess_unjudged(result: Unjudged, missing: int) -> Risk:
    """Rate by the largest unjudged share; judging ``missing`` pairs would lower it to 0."""
    worst = result.worst
    share = float(worst["unjudged"])
    light = RED if share >= UNJUDGED_RED else AMBER if share >= UNJUDGED_AMBER else GREEN
    reason = f"{worst['run_id']} has {share:.1%} of its first {result.depth} unjudged"
    step = f"judge {express(missing, 'pair')}: the first {result.depth} of every run"
    what = f"largest unjudged share of a first {result.depth}"
    return Risk(OUTSIDERS, light, share, what, reason, "none" if light == GREEN else step)


def assess_assessors(results: Sequence[Substitution], why: str) -> Risk:
    """Rate by the smallest tau under another assessor; ``why`` says why there is none."""
    what = "smallest tau with the ranking under another assessor"
    known = [(result.order.tau, result) for result in results if result.order.tau is not None]
    if not known:
        why = results[0].order.reason or why if results else why
        step = "have a second assessor judge some topics, and pass the judgments"
        return Risk(ASSESSORS, NOT_CHECKED, None, what, why, step)
    tau, worst = min(known, key=lambda pair: pair[0])
    light = RED if tau < TAU_RED else AMBER if tau < TAU_GREEN else GREEN
    swaps = f"{len(worst.order.swapped)} of {express(worst.order.pairs, 'pair')} of runs"
    reason = f"{swaps} swap under {worst.assessor}"
    if worst.stricter == worst.assessor:
        reason += f"; {worst.assessor} is stricter ({worst.leniency:+.2f} grades)"
    elif worst.leniency:
        reason += f"; the qrels are stricter ({worst.leniency:+.2f} grades)"
    step = "judge the pairs where they differ a third time, then aggregate"
    return Risk(ASSESSORS, light, tau, what, reason, "none" if light == GREEN else step)


def assess_favour(results: Sequence[Audit], why: str) -> Risk:
    """Rate by the smallest p over systems, times the number of judges (Bonferroni).

    The test measures that a judge's differences from the qrels follow the ranks of a run. It cannot
    say which of the two errs; only a third opinion can. A finding that holds both ways is amber at
    most, as the qrels may err. ``why`` says why there are no judgments to test.
    """
    what = "smallest p, corrected for systems and judges"
    step = "pass judgments of another judge on pairs of the qrels"
    if not results:
        return Risk(FAVOUR, NOT_CHECKED, None, what, why, step)
    known = [(audit.favoured.p, audit) for audit in results if audit.favoured.p is not None]
    if not known:
        reason = "no judge's grades differ from the qrels beyond leniency"
        return Risk(FAVOUR, NOT_CHECKED, None, what, reason, step)
    # A finding that does not hold both ways counts before any that does.
    known.sort(key=lambda item: (item[0], item[1].both_ways(), -item[1].favoured.frame["z"][0]))
    least, worst = known[0]
    p = min(1.0, least * len(results))
    light = RED if p < P_RED else AMBER if p < P_GREEN else GREEN
    if light != GREEN:
        reason = (
            f"{worst.judge} grades documents that {worst.favoured.most} ranks high higher than the "
            "qrels do, more than by chance"
        )
        if worst.both_ways():
            light = AMBER
            reason += "; the qrels follow the same run against the judge, so the qrels may err"
        step = f"have a third assessor judge the {express(worst.differ, 'pair')} where they differ"
        return Risk(FAVOUR, light, p, what, reason, step)
    fewest = min(audit.favoured.pairs for audit in results)
    if fewest < PAIRS_ENOUGH:
        reason = f"nothing found, but only {express(fewest, 'pair')} audited: too few to clear"
        step = f"let the judge grade {PAIRS_ENOUGH - fewest} more pairs of the qrels"
        return Risk(FAVOUR, AMBER, p, what, reason, step)
    return Risk(
        FAVOUR,
        light,
        p,
        what,
        "no judge's differences from the qrels follow the ranks of a run",
        "none",
    )


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
    return Risk(GRADES, light, interval[0], what, reason, "none" if light == GREEN else step)


def assess_topics(result: Generalizability, power: DiscriminativePower | None) -> Risk:
    """Rate by E rho^2: how far the ranking would repeat with other topics."""
    what = "E rho^2, how far the order would repeat on other topics"
    value = result.relative()
    if value is None or not result.system:
        reason = result.reason or "undefined"
        light = NOT_CHECKED if value is None else RED
        return Risk(TOPICS, light, value, what, reason, "add topics")
    light = GREEN if value >= RELATIVE_GREEN else AMBER if value >= RELATIVE_RED else RED
    reason = express(result.topics, "topic")
    if power is not None:
        reason += f" tell {power.apart} of {express(power.pairs, 'pair')} of runs apart"
        if power.apart == 0 and light == GREEN:
            # With two runs on a few topics that all agree, the variance is small by chance.
            light = AMBER
    needed = result.topics_needed(RELATIVE_GREEN)
    missing = 0 if needed is None else needed - result.topics
    step = f"add {express(missing, 'topic')} for {RELATIVE_GREEN}" if missing > 0 else "add topics"
    step = "none" if light == GREEN else step
    return Risk(TOPICS, light, value, what, reason, step)
