"""Decide whether the order of the runs can be trusted, and what to do next, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from venire.evaluation.told_apart import ToldApart
from venire.reliability.verdict import AMBER, GREEN, NOT_CHECKED, RED, Risk
from venire.tables.schema import express

YES, AS_FAR_AS_CHECKED, IN_PART, NO = "yes", "as far as checked", "in part", "no"


@dataclass(frozen=True)
class Decision:
    """Whether the order can be trusted, and what to do next.

    Attributes
    ----------
    answer : "yes", "as far as checked", "in part" or "no"
        "no" where a risk is red, "in part" where one is amber, "as far as checked" where all that
        was checked is green.
    sentence : str
    holds : str
        Which differences hold.
    steps : tuple of str
        What to do next, the most urgent first.
    """

    answer: str
    sentence: str
    holds: str
    steps: tuple[str, ...]


def decide(risks: Sequence[Risk], told_apart: ToldApart) -> Decision:
    """Return the decision on the risks.

    Parameters
    ----------
    risks : sequence of Risk
    told_apart : ToldApart
    """
    by_light = {
        light: [risk for risk in risks if risk.light == light]
        for light in (RED, AMBER, NOT_CHECKED, GREEN)
    }
    reasons = "; ".join(risk.reason for risk in by_light[RED] or by_light[AMBER])
    unchecked = ", ".join(risk.name for risk in by_light[NOT_CHECKED])
    if by_light[RED]:
        answer, sentence = NO, f"No, do not rely on this order yet: {reasons}."
    elif by_light[AMBER]:
        answer, sentence = IN_PART, f"In part: {reasons}."
    elif by_light[GREEN] and by_light[NOT_CHECKED]:
        answer = AS_FAR_AS_CHECKED
        sentence = f"Yes, as far as it was checked. Not checked: {unchecked}."
    elif by_light[GREEN]:
        answer, sentence = YES, "Yes: no check found a reason to doubt this order."
    else:
        answer, sentence = NO, f"It cannot be told: {by_light[NOT_CHECKED][0].reason}."
    steps = [risk.next_step for light in (RED, AMBER) for risk in by_light[light] if risk.next_step]
    return Decision(answer, sentence, _describe_pairs(told_apart), tuple(dict.fromkeys(steps)))


def _describe_pairs(told_apart: ToldApart) -> str:
    """Return which differences hold on other topics."""
    pairs, apart = len(told_apart.apart), int(told_apart.apart.sum())
    topics = express(told_apart.topics, "topic")
    if not pairs:
        return "All runs score alike: there is no difference to trust."
    sentence = (
        f"{apart:,} of {express(pairs, 'pair')} of different runs differ by more than chance "
        f"explains ({topics})."
    )
    best, worse = told_apart.systems[0], told_apart.count_worse()[told_apart.systems[0]]
    if not apart:
        return f"{sentence} Do not claim that any run is better than another."
    if not worse:
        return f"{sentence} {best} is first, but is not clearly better than any run."
    others = express(len(told_apart.systems) - 1, "other run")
    return f"{sentence} {best}, the first, is clearly better than {worse:,} of {others}."
