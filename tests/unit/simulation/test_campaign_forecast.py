import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadSetting, DataError
from venire.simulation.campaigns.designs import Crowd, Design, forecast, grid
from venire.simulation.campaigns.pilot_crowd import crowd_of_pilot
from venire.simulation.crowds.annotators import AnnotatorType, judge
from venire.simulation.crowds.collection import SCALE, make_collection

CROWD = Crowd(spam=0.15, accuracy=0.75, seconds=10.0, price=0.03, fee=0.2)
DESIGNS = grid(depth=[10, 20], overlap=[1, 3])


@pytest.fixture(scope="module")
def known():
    return make_collection(seed=4)


def test_cost_without_rejections_is_arithmetic(known):
    (row,) = forecast(
        known.truth, known.runs, [Design(depth=20, overlap=3, gold_size=0)],
        Crowd(spam=0.0, accuracy=0.9, price=0.05, fee=0.2, seconds=12.0), replays=2,
    ).rows  # fmt: skip
    pool = known.pool.height
    assert row["pairs"] == pool
    assert row["judgments"] == 3 * pool
    assert row["money"] == pytest.approx(3 * pool * 0.05 * 1.2)
    assert row["work_hours"] == pytest.approx(3 * pool * 12 / 3600)
    assert row["rejected"] == 0


def test_the_rejected_share_is_that_of_gold_failed(known):
    (row,) = forecast(
        known.truth, known.runs, [Design(depth=20, overlap=5)],
        Crowd(spam=0.3, accuracy=1.0), replays=10,
    ).rows  # fmt: skip
    # Spam gets the relevant gold right in 3 of 4 labels, the other in 1 of 4: 3/16 pass both.
    fails = 0.3 * (1 - 3 / 16)
    assert row["rejected"] == pytest.approx(fails, abs=0.02)
    assert row["given_up"] == 0


def test_perfect_people_give_the_truth_of_the_pool(known):
    (row,) = forecast(known.truth, known.runs, [Design(depth=100, overlap=1)],
                      Crowd(spam=0.0, accuracy=1.0), replays=2).rows  # fmt: skip
    assert (row["error"], row["kappa"], row["tau"]) == (0.0, 1.0, 1.0)


def test_a_forecast_holds_in_a_replay_with_other_seeds(known):
    """Cost within 10% and tau within .05."""
    expected = forecast(known.truth, known.runs, DESIGNS, CROWD, replays=20, seed=0).rows
    happened = forecast(known.truth, known.runs, DESIGNS, CROWD, replays=20, seed=999).rows
    for one, other in zip(expected, happened, strict=True):
        assert other["money"] == pytest.approx(one["money"], rel=0.1)
        assert other["tau"] == pytest.approx(one["tau"], abs=0.05)


def test_a_forecast_from_a_pilot_holds_too(known):
    """People judge a tenth of the pool; what they do then to all of it is forecast from that."""
    people = {f"w{at}": AnnotatorType("w", sd=0.6, attention=0.95) for at in range(40)}
    pairs = known.truth.frame.join(known.pool, on=["query_id", "doc_id"])
    pilot = judge(pairs.sample(fraction=0.1, seed=1), SCALE, people, overlap=3, seed=2)
    design = [Design(depth=20, overlap=3, gold_size=0)]
    guess = crowd_of_pilot(pilot, known.truth, price=0.03)
    (expected,) = forecast(known.truth, known.runs, design, guess, replays=20).rows
    whole = judge(pairs, SCALE, people, overlap=3, seed=50)
    (happened,) = forecast(
        known.truth, known.runs, design, crowd_of_pilot(whole, known.truth, price=0.03),
        replays=20, seed=77,
    ).rows  # fmt: skip
    assert happened["money"] == pytest.approx(expected["money"], rel=0.1)
    assert happened["tau"] == pytest.approx(expected["tau"], abs=0.05)


def test_the_front_is_that_of_brute_force(known):
    rows = forecast(known.truth, known.runs, grid(depth=[5, 10, 20], overlap=[1, 3, 5]), CROWD,
                    replays=4).rows  # fmt: skip
    for row in rows:
        worse = any(
            other["money"] <= row["money"] and other["tau"] >= row["tau"]
            and (other["money"], other["tau"]) != (row["money"], row["tau"])
            for other in rows
        )  # fmt: skip
        assert row["best"] is not worse
    assert any(row["best"] for row in rows)


def test_more_judgments_are_better_grades(known):
    one, five = forecast(known.truth, known.runs, grid(depth=[20], overlap=[1, 5]), CROWD,
                         replays=5).rows  # fmt: skip
    assert five["error"] < one["error"]
    assert five["kappa"] > one["kappa"]
    assert five["money"] > 4 * one["money"]


def test_paying_for_rejected_work_costs_more(known):
    design = [Design(depth=20)]
    plain, paid = (
        forecast(known.truth, known.runs, design, Crowd(spam=0.3, pay_rejected=pay), replays=3)
        for pay in (False, True)
    )
    assert paid.rows[0]["money"] > 1.2 * plain.rows[0]["money"]
    assert paid.rows[0]["work_hours"] == plain.rows[0]["work_hours"]


def test_a_pilot_without_known_grades_is_fitted():
    rng = np.random.default_rng(0)
    grade = rng.integers(0, 2, 400)
    hit = rng.random((400, 5)) < 0.85
    table = Judgments.from_dict({
        "query_id": ["q"] * 2000, "doc_id": np.repeat(np.arange(400), 5).astype(str),
        "annotator_id": np.tile(list("vwxyz"), 400),
        "label": np.where(hit, grade[:, None], 1 - grade[:, None]).ravel(),
    })  # fmt: skip
    confusion = np.array(crowd_of_pilot(table).confusion)
    assert np.allclose(confusion, [[0.85, 0.15], [0.15, 0.85]], atol=0.03)


def test_wrong_input_is_told(known):
    with pytest.raises(BadSetting, match="`overlap` must be >= 1"):
        Design(overlap=0)
    with pytest.raises(BadSetting, match="spam"):
        Crowd(spam=1.0)
    with pytest.raises(BadSetting, match="at least one design"):
        forecast(known.truth, known.runs, [])
    with pytest.raises(BadSetting, match="must have one row per grade, 4"):
        forecast(known.truth, known.runs, DESIGNS, Crowd(confusion=((1.0, 0.0), (0.0, 1.0))))
    same = Qrels.from_dict({"q": {"a": 0}})
    runs = Runs(pl.concat([Runs.from_dict({"q": {"a": 1.0}}, run_id=n).frame for n in "xy"]))
    with pytest.raises(DataError, match="All known grades are the same"):
        forecast(same, runs, DESIGNS)


@pytest.mark.parametrize(
    ("gold_size", "missed"),
    # Spam gets relevant gold right in 3 of 4 labels, the other in 1 of 4. One gold is either.
    [(1, (3 / 4 + 1 / 4) / 2), (2, 3 / 16), (3, 3 / 16 * (3 / 4 + 1 / 4) / 2)],
)
def test_gold_is_relevant_and_not_in_turn_beginning_with_either(known, gold_size, missed):
    (row,) = forecast(
        known.truth, known.runs, [Design(depth=20, overlap=3, gold_size=gold_size)],
        Crowd(spam=0.3, accuracy=1.0), replays=8,
    ).rows  # fmt: skip
    assert row["spam_rejected"] == pytest.approx(1 - missed, abs=0.03)
    assert row["others_rejected"] == 0
    assert row["rejected"] == pytest.approx(0.3 * (1 - missed), abs=0.02)


def test_gold_has_every_relevant_grade(known):
    # People who err by one grade: gold of grade 1 is wrong in half of their errors, of the
    # highest grade never. Grade 1 is a known share of the relevant grades.
    (row,) = forecast(
        known.truth, known.runs, [Design(depth=20, overlap=3, gold_size=2)],
        Crowd(spam=0.0, accuracy=0.6), replays=8,
    ).rows  # fmt: skip
    grades = known.truth.frame["relevance"].to_numpy()
    lowest = (grades == 1).sum() / (grades > 0).sum()
    passed = (1 - 0.4 / 2 * lowest) * (1 - 0.4)
    assert row["others_rejected"] == pytest.approx(1 - passed, abs=0.03)
    assert row["spam_rejected"] is None


def test_the_cheapest_design_that_loses_little_is_taken():
    from venire.simulation.campaigns.recommended_design import advise_on_designs, choose_design

    def rows(*figures):
        return [
            {"money": money, "tau": tau, "tau_sd": sd, "depth": 10, "overlap": money,
             "batch_size": 10, "gold_size": 2, "gold_errors": 0, "work_hours": 3.0,
             "spam_rejected": 0.5, "others_rejected": 0.1}
            for money, tau, sd in figures
        ]  # fmt: skip

    # A loss of .01 is sure to be below .02 with a small spread only: 1.645 sqrt(2/20) .01 = .005.
    assert choose_design(rows((1, 0.90, 0.01), (3, 0.91, 0.01)), 20).design == 0
    assert choose_design(rows((1, 0.90, 0.05), (3, 0.91, 0.05)), 20).design == 1
    assert choose_design(rows((1, 0.80, 0.01), (3, 0.91, 0.01)), 20).design == 1
    # A dearer design that is worse is never taken.
    assert choose_design(rows((5, 0.80, 0.01), (3, 0.91, 0.01)), 20).design == 1
    assert choose_design(rows((1, None, None)), 20) is None
    advice = advise_on_designs(rows((1, 0.80, 0.01), (3, 0.91, 0.01)), 20)
    assert advice[0].startswith("Take pool depth 10, 3 judgments per pair, batches of 10")
    assert "95.5% of the pairs" in advice[1]
    assert "add gold" in advice[-1]
    assert advise_on_designs(rows((1, None, None)), 20) == [
        "No design can be recommended: all systems tie in every simulation."
    ]
