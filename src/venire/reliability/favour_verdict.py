"""Rate the risk that a judge favours a system."""

from __future__ import annotations

from collections.abc import Sequence

from venire.reliability.favour_statistic import ENOUGH_TOPICS
from venire.reliability.favoured_system import NO_DISAGREEMENT
from venire.reliability.judge_audit import Audit
from venire.reliability.verdict import (
    AMBER,
    FAVOUR,
    GREEN,
    NO_STEP,
    NOT_CHECKED,
    P_GREEN,
    P_RED,
    RED,
    Risk,
)
from venire.tables.schema import express

SAMPLE = 1000
"""Pairs of an audit sample that see the article's favouring assessor in 9 trials of 10."""
NAMED = 5
"""Largest number of runs that a sentence names."""
WHAT = "smallest p, corrected for groups of runs and for judges"


def assess_favour(audits: Sequence[Audit], why: str) -> Risk:
    """Rate by the smallest corrected p over judges.

    Red below ``P_RED``, amber below ``P_GREEN``. Green only where the audit would have seen a
    favour of every audited run. Amber at best with fewer than ``ENOUGH_TOPICS`` topics, and where
    several judges gain the same runs, as that speaks against the qrels. ``why`` says why there
    are no judgments to test.
    """
    known = [(audit.p, audit) for audit in audits if audit.p is not None]
    if not known:
        reasons = {audit.favoured.reason for audit in audits}
        if audits:
            why = "; ".join(sorted(reasons))
            if reasons == {NO_DISAGREEMENT}:
                why = "no judge's grades differ from the qrels"
        step = "pass judgments of another judge on pairs of the qrels"
        return Risk(FAVOUR, NOT_CHECKED, None, WHAT, why, step)
    p, worst = min(known, key=lambda item: (item[0], -item[1].favoured.frame["z"][0]))
    if p < P_GREEN:
        return _accuse(p, worst, [audit for value, audit in known if value < P_GREEN])
    return _clear(p, [audit for _, audit in known])


def name_runs(runs: Sequence[str]) -> str:
    """Return the names of runs, at most ``NAMED`` of them, and the number of the others."""
    if not runs:
        return "no run"
    others = len(runs) - NAMED
    names = ", ".join(runs[:NAMED])
    return f"{names} and {express(others, 'other run')}" if others > 0 else names


def _accuse(p: float, worst: Audit, accused: Sequence[Audit]) -> Risk:
    """Return the risk where a judge gains a group of runs."""
    group = worst.favoured.group
    few = worst.favoured.topics < ENOUGH_TOPICS
    allies = [audit for audit in accused if set(audit.favoured.group) & set(group)]
    light = RED if p < P_RED and not few and len(allies) < 2 else AMBER
    base = "the qrels" if worst.others == 1 else f"{worst.others} other assessors"
    reason = (
        f"{worst.judge} grades the first documents of {name_runs(group)} "
        f"{worst.favoured.gain or 0:.2f} higher than {base} and the other runs account for"
    )
    if len(allies) > 1:
        reason += (
            f"; {len(allies)} judges agree on such runs, so the qrels may underrate their documents"
        )
    elif worst.others == 1:
        reason += "; with two assessors either may lean: the qrels may underrate these documents"
    if few:
        reason += f"; too few topics to be sure ({worst.favoured.topics})"
    pairs = express(worst.disputed.height, "pair")
    step = f"have a third assessor judge {pairs} of these runs' first documents in dispute"
    if light == RED:
        step += f", or leave out the grades of {worst.judge}"
    return Risk(FAVOUR, light, p, WHAT, reason, step)


def _clear(p: float, audits: Sequence[Audit]) -> Risk:
    """Return the risk where nothing was found: what would have been seen decides the light."""
    weakest = max(audits, key=lambda audit: (len(audit.unseen) - len(audit.seen), audit.judge))
    size = len(weakest.seen) + len(weakest.unseen)
    topics = min(audit.favoured.topics for audit in audits)
    of_whom = "" if len(audits) == 1 else f" by {weakest.judge}"
    light = AMBER
    if not weakest.seen:
        reason = f"nothing found, but no favour{of_whom} would have been seen"
    elif weakest.unseen:
        reason = (
            f"nothing found; a favour{of_whom} of {len(weakest.seen)} of {express(size, 'run')} "
            f"would have been seen ({name_runs(weakest.seen)}), not of {name_runs(weakest.unseen)}"
        )
    else:
        reason = (
            f"nothing found; a favour{of_whom} of these runs would have been seen: "
            f"{name_runs(weakest.seen)}"
        )
        light = GREEN if topics >= ENOUGH_TOPICS else AMBER
    if topics < ENOUGH_TOPICS:
        reason += f"; too few topics ({topics})"
    if light == GREEN:
        return Risk(FAVOUR, light, p, WHAT, reason, NO_STEP)
    fewest = min(audit.favoured.pairs for audit in audits)
    step = "ask a third assessor about the first documents of the runs that could not be seen"
    if topics < ENOUGH_TOPICS:
        step = f"have the judge grade pairs of at least {ENOUGH_TOPICS} topics"
    elif fewest < SAMPLE:
        step = f"have the judge grade an audit sample of {express(SAMPLE, 'pair')}"
    return Risk(FAVOUR, light, p, WHAT, reason, step)
