import numpy as np
import polars as pl
import pytest
from grouped import labels_of, pools_of
from scipy.stats import binomtest, norm
from scipy.stats import t as student_t

from venire import Judgments, Qrels
from venire.errors import BadSetting, DataError, NoOverlap, UnknownName
from venire.simulation.grouping.annotators import annotator, parse_annotators, with_bounds
from venire.simulation.grouping.pilot import Share, default_types, majority_truth, measure_pilot
from venire.simulation.grouping.recommend import recommend
from venire.simulation.grouping.replay import Chance, replay, results

ONE = "one-at-a-time"


def fifty(seed=0, sizes=(40, 30, 50, 20), people=None):
    """Units of one at a time and 49 groupings of all kinds, good and bad."""
    pools = pools_of(sizes, seed=seed)
    chance = Chance.draw(pools, 2, seed)
    rng = np.random.default_rng(seed)
    tried = {ONE: np.full(len(pools), -1)}
    for at in range(49):
        labels = labels_of(pools, int(rng.integers(2, 25)), seed + at)
        # Some of the images are in groups of their own kind.
        tidy = rng.random() < 0.7
        if tidy:
            for group in range(labels.max() + 1):
                inside = np.flatnonzero(labels == group)
                kinds = pools.relevant[inside]
                if kinds.sum() < 2 or (~kinds).sum() < 2:
                    labels[inside] = -1
                else:
                    labels[inside[kinds]] = labels.max() + 1
        tried[f"s{at}"] = np.unique(labels, return_inverse=True)[1] - int((labels < 0).any())
    people = people or with_bounds(parse_annotators("novice,typical,expert"))
    units = [
        replay(pools, labels, one, chance, setting=name)
        for name, labels in tried.items()
        for one in people
    ]
    return results(units)


def brute_force(frame, chosen, points=0.02):
    """Apply the rule of the manual page with loops over rows."""
    rows = frame.to_dicts()

    def recall(setting, name):
        queries = {}
        for row in rows:
            if (row["setting"], row["annotator"]) == (setting, name) and row["relevant"]:
                queries.setdefault(row["query_id"], []).append(row["recall"])
        return np.mean([np.mean(values) for values in queries.values()])

    def pace(setting, name):
        queries = {}
        for row in rows:
            if (row["setting"], row["annotator"]) == (setting, name):
                queries.setdefault(row["query_id"], []).append((row["seconds"], row["images"]))
        seconds = sum(np.mean([s for s, _ in values]) for values in queries.values())
        return seconds / sum(values[0][1] for values in queries.values())

    best, least = ONE, np.mean([pace(ONE, name) for name in chosen])
    for setting in dict.fromkeys(row["setting"] for row in rows):
        if all(recall(ONE, name) - recall(setting, name) <= points + 1e-9 for name in chosen):
            mean = np.mean([pace(setting, name) for name in chosen])
            if mean < least - 1e-9:
                best, least = setting, mean
    return best, 1 - least / np.mean([pace(ONE, name) for name in chosen])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("chosen", [["typical"], ["novice", "typical", "expert"]])
def test_a_brute_force_recommendation_over_50_settings_agrees(seed, chosen):
    frame = fifty(seed)
    assert frame["setting"].n_unique() == 50
    found = recommend(frame, chosen, bootstrap=20)
    setting, saved = brute_force(frame, chosen)
    assert found.setting == setting
    row = found.settings.filter("recommended").row(0, named=True)
    assert row["saved"] == pytest.approx(saved)


def test_the_bounds_never_change_the_pick():
    people = parse_annotators("novice,expert")
    without = recommend(fifty(people=people), ["novice", "expert"], bootstrap=50)
    with_them = recommend(fifty(people=with_bounds(people)), ["novice", "expert"], bootstrap=50)
    assert with_them.setting == without.setting
    assert with_them.settings.equals(without.settings)


def rows(setting, name, times, recalls, images=10):
    """One repetition a query with a given time and recall."""
    n = len(times)
    zeros = dict.fromkeys(
        ("judged", "labelled", "corrected", "split", "glances_relevant", "glances_not_relevant",
         "never_looked", "found", "called"), [0] * n,
    )  # fmt: skip
    return pl.DataFrame(
        {"setting": [setting] * n, "annotator": [name] * n,
         "query_id": [f"q{at}" for at in range(n)], "repetition": [1] * n, "images": [images] * n,
         "relevant": [0 if r is None else 5 for r in recalls], "seconds": times, **zeros,
         "recall": recalls, "precision": [1.0] * n},
        schema_overrides={"recall": pl.Float64, "seconds": pl.Float64},
    )  # fmt: skip


def test_within_two_points_exactly():
    frame = pl.concat([
        rows(ONE, "typical", [50, 50], [0.7, 0.7]),
        rows("edge", "typical", [30, 30], [0.68, 0.68]),  # 2 points are within 2 points
        rows("over", "typical", [20, 20], [0.68, 0.6799]),
    ])  # fmt: skip
    found = recommend(frame, ["typical"], bootstrap=50)
    assert found.setting == "edge"
    assert found.faster == "over"
    assert found.settings["within"].to_list() == [True, True, False]
    assert found.settings.row(1, named=True)["saved"] == pytest.approx(0.4)
    assert found.of("over")["loss"].item() == pytest.approx(0.02005)
    assert found.runner_up == ONE
    assert found.apart is True
    with pytest.raises(UnknownName):
        found.of("edges")


def test_every_type_against_itself_and_speed_is_the_mean():
    frame = pl.concat([
        rows(ONE, "a", [50], [0.6]), rows(ONE, "b", [30], [0.9]),
        rows("x", "a", [10], [0.6]), rows("x", "b", [20], [0.89]),  # mean 15
        rows("y", "a", [20], [0.9]), rows("y", "b", [8], [0.88]),  # mean 14
        rows("z", "a", [1], [0.9]), rows("z", "b", [1], [0.87]),  # b loses 3 points
    ])  # fmt: skip
    found = recommend(frame, ["a", "b"])
    assert (found.setting, found.runner_up, found.faster) == ("y", "x", "z")
    # One query: nothing to resample, so no interval and no word on the runner-up.
    assert found.apart is None
    assert found.bootstrap == 0
    assert found.settings["saved_low"].to_list() == [None] * 4
    assert recommend(frame, ["a"]).setting == "z"


def test_nothing_qualifies():
    frame = pl.concat([
        rows(ONE, "a", [50, 50], [0.6, 0.6]), rows("x", "a", [10, 10], [0.1, 0.2]),
        rows("slow", "a", [60, 60], [0.6, 0.6]),
    ])  # fmt: skip
    found = recommend(frame, ["a"], bootstrap=100)
    assert found.setting == ONE
    assert found.faster == "x"
    assert found.settings.filter("recommended")["saved"].item() == 0


def test_equal_settings_cannot_be_told_apart():
    frame = pl.concat([
        rows(ONE, "a", [50, 50], [0.6, 0.6]), rows("x", "a", [10, 20], [0.6, 0.6]),
        rows("same", "a", [20, 10], [0.6, 0.6]),
    ])  # fmt: skip
    found = recommend(frame, ["a"], bootstrap=200)
    assert (found.setting, found.runner_up, found.apart) == ("same", "x", False)


def test_the_interval_of_the_loss_can_pass_the_points():
    frame = pl.concat([
        rows(ONE, "a", [50] * 6, [0.6] * 6), rows("x", "a", [10] * 6, [0.6] * 5 + [0.5]),
    ])  # fmt: skip
    found = recommend(frame, ["a"], bootstrap=300)
    assert found.setting == "x"
    assert found.unsure == ("a",)
    row = found.of("x").row(0, named=True)
    # Resamples lose 0, 1/60, 2/60, ...: the ends of the percentile interval are of these.
    assert row["loss_low"] == pytest.approx(0)
    assert row["loss_high"] * 60 == pytest.approx(round(row["loss_high"] * 60), abs=1e-6)
    assert row["loss_high"] > 0.02


def test_the_interval_is_that_of_the_bootstrap_by_hand():
    rng = np.random.default_rng(3)
    times = rng.uniform(10, 40, 30)
    frame = pl.concat([
        rows(ONE, "a", [50.0] * 30, [0.6] * 30), rows("x", "a", list(times), [0.6] * 30),
    ])  # fmt: skip
    row = recommend(frame, ["a"], bootstrap=4000).settings.row(1, named=True)
    draws = [1 - times[rng.integers(0, 30, 30)].mean() / 50 for _ in range(4000)]
    tail = norm.cdf(np.sqrt(30 / 29) * student_t.ppf(0.025, 29))  # expanded percentiles
    low, high = np.quantile(draws, [tail, 1 - tail])
    assert row["saved"] == pytest.approx(1 - times.mean() / 50)
    assert row["saved_low"] == pytest.approx(low, abs=0.008)
    assert row["saved_high"] == pytest.approx(high, abs=0.008)


def test_a_query_without_relevant_images_counts_for_time_only():
    frame = pl.concat([
        rows(ONE, "a", [50, 50], [0.6, None]), rows("x", "a", [10, 30], [0.6, None]),
    ])  # fmt: skip
    found = recommend(frame, ["a"])
    assert found.of("x")["recall"].item() == pytest.approx(0.6)
    assert found.settings.row(1, named=True)["saved"] == pytest.approx(0.6)


def test_the_order_of_units_changes_nothing():
    """As after a stop and a restart; with two settings that cost the same."""
    frame = fifty(people=parse_annotators("novice,typical"))
    best = recommend(frame, ["typical"], bootstrap=10).setting
    twin = frame.filter(pl.col("setting") == best).with_columns(setting=pl.lit("a twin"))
    frame = pl.concat([frame, twin])
    backwards = pl.concat(frame.partition_by("setting", "annotator")[::-1])
    a, b = (recommend(one, ["typical", "novice"], bootstrap=50) for one in (frame, backwards))
    assert (a.setting, a.runner_up, a.apart) == (b.setting, b.runner_up, b.apart)
    assert a.settings.sort("setting").equals(b.settings.sort("setting"))
    key = ["setting", "annotator"]
    assert a.types.sort(key).equals(b.types.sort(key))


def test_the_last_digit_repeats():
    """Near 1,000 units, group_by of polars adds in one order or another by chance."""
    rng = np.random.default_rng(0)
    counts = ("judged", "labelled", "corrected", "split", "never_looked")
    glances = ("glances_relevant", "glances_not_relevant")
    units = [
        pl.DataFrame(
            {
                "setting": setting,
                "annotator": annotator,
                "query_id": [f"q{at}" for at in range(10)] * 3,
                "repetition": np.repeat([1, 2, 3], 10),
                "images": 200,
                "relevant": 40,
                **{name: rng.integers(0, 50, 30) for name in (*counts, *glances)},
                **{name: rng.random(30) for name in ("seconds", "recall", "precision")},
            }
        )
        for setting in [ONE, *(f"s{at}" for at in range(19))]
        for annotator in "abcde"
    ]
    first = recommend(pl.concat(units), ["a"], bootstrap=2).types
    for at in range(40):
        again = recommend(pl.concat(units, rechunk=at % 2 == 0), ["a"], bootstrap=2).types
        assert again.equals(first)


def test_mistakes():
    frame = rows(ONE, "a", [50.0], [0.6])
    with pytest.raises(BadSetting, match="at least one annotator type"):
        recommend(frame, [])
    with pytest.raises(BadSetting, match="points"):
        recommend(frame, ["a"], points=2)
    with pytest.raises(UnknownName, match="annotator type 'b'"):
        recommend(frame, ["b"])
    with pytest.raises(DataError, match="lack one-at-a-time"):
        recommend(rows("x", "a", [50.0], [0.6]), ["a"])
    with pytest.raises(DataError, match="3 of the 4 units"):
        recommend(
            pl.concat([frame, rows(ONE, "b", [1.0], [0.6]), rows("x", "a", [1.0], [0.6])]), ["a"]
        )
    with pytest.raises(DataError, match="no query has a relevant image"):
        recommend(rows(ONE, "a", [50.0], [None]), ["a"])


# The pilot.


def pilot(accuracy, n=400, seed=0, people=("p", "r")):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    frames = []
    for name in people:
        right = rng.random(n) < accuracy[name]
        frames.append(
            pl.DataFrame(
                {"query_id": [f"q{at % 5}" for at in range(n)],
                 "doc_id": [f"d{at}" for at in range(n)], "annotator_id": [name] * n,
                 "label": np.where(right, truth, ~truth).astype(int),
                 "seconds": np.full(n, 10.0 if name == "p" else 2.5)}
            )
        )  # fmt: skip
    qrels = Qrels.of(frames[0].select("query_id", "doc_id").with_columns(
        pl.Series("relevance", truth.astype(int))))  # fmt: skip
    return Judgments.of(pl.concat(frames)), qrels


def test_a_pilot_recovers_known_accuracies_within_the_interval():
    accuracy = {"p": 0.7, "r": 0.9}
    found = measure_pilot(*pilot(accuracy))
    assert [one.annotator_id for one in found] == ["p", "r"]
    for one in found:
        for share in (one.relevant, one.not_relevant):
            assert share.low <= accuracy[one.annotator_id] <= share.high
            exact = binomtest(share.right, share.total).proportion_ci(0.95, method="exact")
            assert (share.low, share.high) == pytest.approx((exact.low, exact.high))
        assert one.notes == ()
    slow, quick = (one.type for one in found)
    assert slow.accuracy_relevant == found[0].relevant.value
    assert (slow.judge_seconds, slow.label_seconds, slow.glance_relevant_seconds) == (10, 6, 2.8)
    assert quick.glance_not_relevant_seconds == pytest.approx(0.1)
    assert slow.check_all == annotator("typical").check_all
    assert [one.name for one in default_types(found)] == ["pilot p", "pilot r"]
    assert [one.name for one in default_types()] == ["typical"]


def test_intervals_at_the_ends():
    for right, total in ((0, 7), (7, 7), (3, 7), (0, 1)):
        exact = binomtest(right, total).proportion_ci(0.95, method="exact")
        share = Share(right, total)
        assert (share.low, share.high) == pytest.approx((exact.low, exact.high))


def test_what_a_pilot_does_not_measure_is_typicals():
    judged = Judgments.of(
        pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "annotator_id": ["x"], "label": [1]}),
        scale="0,1",
    )
    (one,) = measure_pilot(judged, Qrels.from_dict({"q": {"a": 1}}))
    assert one.type.accuracy_relevant == 1.0
    assert one.type.accuracy_not_relevant == annotator("typical").accuracy_not_relevant
    assert one.type.judge_seconds == 5
    assert len(one.notes) == 2
    with pytest.raises(NoOverlap):
        measure_pilot(judged, Qrels.from_dict({"q": {"b": 1}}))


def test_the_majority_and_its_ties():
    judged = Judgments.of(
        pl.DataFrame(
            {"query_id": ["q"] * 7, "doc_id": list("aaabbcc"), "annotator_id": list("xyzxyxy"),
             "label": [0, 0, 1, 0, 1, 0, 0]}
        )
    )  # fmt: skip
    assert majority_truth(judged).to_dict() == {"q": {"a": 0, "b": 1, "c": 0}}
    graded = Judgments.of(judged.frame.with_columns(label=pl.col("label") + 1), scale="0,1,2")
    two = majority_truth(graded, relevant_from=2)
    assert two.to_dict() == {"q": {"a": 1, "b": 2, "c": 1}}
    right = measure_pilot(graded, two, relevant_from=2)[0]
    assert (right.relevant.right, right.relevant.total) == (0, 1)
    with pytest.raises(DataError, match="no judgments"):
        majority_truth(Judgments.of(judged.frame.clear(), scale="0,1"))
