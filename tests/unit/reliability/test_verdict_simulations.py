"""The simulations of ``reproduce/verdicts``: the shape of their rows, worlds with a sure answer."""

import sys
from pathlib import Path

import numpy as np
import pytest

from venire.reliability.verdict import GREEN

FOLDER = str(Path(__file__).resolve().parents[3] / "reproduce")


@pytest.fixture
def simulations(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    from verdicts import favoured, outsiders, shallow_pool, uncertain_grades

    monkeypatch.setattr(sys.modules["verdict_pools"], "DOCUMENTS", 40)
    monkeypatch.setattr(sys.modules["verdict_pools"], "LISTED", 20)
    return favoured, outsiders, shallow_pool, uncertain_grades


def draw(rng):
    return sys.modules["verdict_pools"].make_world(rng, runs=7, topics=8)


def check(rows, times):
    assert all(0 <= row.get("standard_error") <= 0.5 for row in rows)
    for row in rows:
        assert row["simulations"] <= times
        shares = [row.get(name) for name in ("false_alarms", "power")]
        assert sum(share is not None for share in shares) == 1
        assert all(0 <= share <= 1 for share in shares if share is not None)


def test_rows(simulations):
    favoured, outsiders, shallow_pool, _ = simulations
    check(shallow_pool._try_worlds("w", draw, 2, 0), 2)
    check(outsiders._try_worlds("w", draw, 2, 0), 2)
    rows = favoured._count(
        lambda number: favoured.draw_world("two grades", (0.1, 0.1), number), 2, 0, "w",
        "false_alarms",
    )  # fmt: skip
    check(list(rows), 2)


def test_the_truth_of_a_world(simulations):
    world = draw(np.random.default_rng(0))
    table = world.table
    # Relevant among the first ten of each run, counted by the table and from the scores.
    first = table.rank <= 10
    precision = np.bincount(table.run[first], weights=world.truth[table.pair[first]]) / 80
    assert precision.min() > 0.1
    assert np.corrcoef(precision, world.scores.mean[0])[0, 1] > 0.5
    grades = world.pool(table.runs[:3], 5)
    judged = np.unique(table.pair[(table.run < 3) & (table.rank <= 5)])
    assert np.flatnonzero(grades >= 0).tolist() == judged.tolist()
    assert np.array_equal(grades[judged], world.truth[judged])


def test_sure_answers(simulations):
    _, outsiders, shallow_pool, uncertain_grades = simulations
    rng = np.random.default_rng(1)
    world = draw(rng)
    # Everything that a run lists is judged, or all grades are certain: the order is the true one.
    light, tau, _ = shallow_pool.observe(world, 20, np.random.default_rng(0))
    assert (light, tau >= 0.9) == (GREEN, True)
    assert outsiders.observe(world, 20)[0] == GREEN
    assert uncertain_grades.observe(world, 50.0, 1.0, rng) == (GREEN, pytest.approx(1.0))
