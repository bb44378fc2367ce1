"""The verdict on the number of judgments per pair."""

import numpy as np
import pytest

from venire.simulation.campaigns.judges_verdict import decide, find_least

JUDGES = (1, 2, 3, 4, 5, 7, 10)


def meets_from(judges):
    """All numbers from ``judges`` on meet the target; none for None."""
    return np.array([judges is not None and number >= judges for number in JUDGES])


@pytest.mark.parametrize(
    ("enough", "possible", "code"),
    [
        (1, 1, "enough"),
        (3, 2, "enough"),
        (10, 7, "enough"),
        (4, 2, "between"),
        (10, 1, "between"),
        (None, 3, "at-least"),
        (None, 10, "at-least"),
        (None, None, "more"),
    ],
)
def test_a_number_a_range_or_neither(enough, possible, code):
    verdict = decide(meets_from(enough), meets_from(possible), JUDGES)
    assert (verdict.code, verdict.enough, verdict.possible) == (code, enough, possible)


def test_a_number_counts_only_with_all_larger_ones():
    assert find_least(np.array([False, True, False, True, True, True, True]), JUDGES) == 4
    assert find_least(np.array([True] * 6 + [False]), JUDGES) is None
    assert find_least(np.array([True] * 7), JUDGES) == 1
