import polars as pl
import pytest

from venire import Qrels, Runs
from venire.errors import BadSetting, DataError, UnknownName
from venire.pooling.bandit import MaxMeanBandit, NonstationaryBandit, ThompsonBandit
from venire.pooling.base import Lists
from venire.pooling.move_to_front import MoveToFront
from venire.pooling.strategies import build_strategy, list_adaptive, list_strategies

# r is relevant, n is not.
RANKED = {"A": ["r1", "n1", "r2"], "B": ["n2", "r3", "n3"]}
GRADES = Qrels.from_dict({"q": {"r1": 1, "r2": 1, "r3": 2, "n1": 0, "n2": 0, "n3": 0}})


def order(pooler, lists, **options):
    return pooler.pool(lists, **options).frame["doc_id"].to_list()


def test_move_to_front_by_hand(lists):
    # A stays with r1 and loses a place at n1; B loses one at n2; both have missed once, B has
    # given less, gives r3, stays, and misses again; A is left.
    wanted = ["r1", "n1", "n2", "r3", "n3", "r2"]
    assert order(MoveToFront(), lists(RANKED), outcomes=GRADES) == wanted


def test_max_mean_by_hand(lists):
    # Means: A 1/2, 2/3 after r1, 1/2 after n1; B 1/2, 1/3 after n2; so A again, then B.
    wanted = ["r1", "n1", "n2", "r2", "r3", "n3"]
    assert order(MaxMeanBandit(), lists(RANKED), outcomes=GRADES) == wanted


def test_forgetting_all_but_the_last_by_hand(lists):
    # After n1 and n2 both means are 1/3, and B has given less: r3, so B is 2/3; n3; A.
    wanted = ["r1", "n1", "n2", "r3", "n3", "r2"]
    forgetful = NonstationaryBandit(discount=0)
    assert order(forgetful, lists(RANKED), outcomes=GRADES) == wanted


def test_forgetting_by_half_by_hand(lists):
    # A has r1 n1 n4: r = 1/4, n = 7/4: mean 5/15 = 1/3 > B's after n2 n5: 1 / 3.5.
    ranked = {"A": ["r1", "n1", "n4", "r2"], "B": ["n2", "n5", "r3"]}
    half = NonstationaryBandit(discount=0.5)
    # r1 (A 2/3) n1 (A 1.5/3.5) n2 (B 1/3) n4 (A 1.25/3.75 = 1/3, B 1/3 and has given less)
    # n5 (B 1/3.5) r2 r3.
    wanted = ["r1", "n1", "n2", "n4", "n5", "r2", "r3"]
    assert order(half, lists(ranked), outcomes=GRADES) == wanted


def test_no_forgetting_is_max_mean(lists):
    keep = NonstationaryBandit(discount=1)
    assert order(keep, lists(RANKED), outcomes=GRADES) == order(
        MaxMeanBandit(), lists(RANKED), outcomes=GRADES
    )


def test_a_document_is_given_once(lists):
    ranked = {"A": ["a", "b"], "B": ["a", "b"], "C": ["b", "c"]}
    for name in list_adaptive():
        given = order(
            build_strategy(name, {}), lists(ranked), outcomes=Qrels.from_dict({"q": {"a": 1}})
        )
        assert sorted(given) == ["a", "b", "c"]


def test_thompson_has_its_seed_and_its_topics_apart(lists):
    ranked = {run: [f"{run}{at}" for at in range(30)] for run in "ABC"}
    thompson = ThompsonBandit(budget=20)
    first = order(thompson, lists(ranked), outcomes=GRADES, seed=1)
    assert first == order(thompson, lists(ranked), outcomes=GRADES, seed=1)
    assert first != order(thompson, lists(ranked), outcomes=GRADES, seed=2)


def test_thompson_asks_each_run_alike_before_it_knows_anything():
    frames = [
        Runs.from_dict({f"q{at}": {doc: 1} for at in range(400)}, run_id=run).frame
        for run, doc in (("A", "a"), ("B", "b"))
    ]
    pool = ThompsonBandit(budget=1).pool(Lists.of(Runs(pl.concat(frames))))
    share = (pool.frame["run_id"] == "A").mean()
    assert share == pytest.approx(0.5, abs=0.075)  # three standard deviations


def test_judged_documents_are_learnt_from_at_no_cost(lists):
    judged = Qrels.from_dict({"q": {"r1": 1, "n1": 0}})
    pool = MaxMeanBandit(budget=2).pool(lists(RANKED), judged=judged)
    # Both means are 1/2 then; B has given nothing, and what it gives is not known yet.
    assert pool.frame["doc_id"].to_list() == ["n2", "r3"]
    assert "learnt from 2 judged pairs at no cost" in pool.notes


@pytest.mark.parametrize("name", list_adaptive())
def test_asking_one_by_one_is_the_replay(lists, name):
    ranked = {"A": ["r1", "n1", "r2", "n3"], "B": ["n2", "r3", "n3", "r1"], "C": ["r3", "n1"]}
    whole = order(build_strategy(name, {}), lists(ranked), outcomes=GRADES, seed=3)
    grades = GRADES.to_dict()["q"]
    so_far = {}
    for doc in whole:
        judged = Qrels.from_dict({"q": so_far})
        step = order(build_strategy(name, {"budget": 1}), lists(ranked), judged=judged, seed=3)
        assert step == [doc]
        so_far[doc] = grades[doc]


def test_negative_grades_are_not_judgments(lists):
    judged = Qrels.from_dict({"q": {"r1": -1}})
    assert order(MaxMeanBandit(budget=1), lists(RANKED), judged=judged) == ["r1"]


def test_relevant_from(lists):
    ranked = {"A": ["low", "n1"], "B": ["n2", "n3"]}
    grades = Qrels.from_dict({"q": {"low": 1, "n1": 0, "n2": 0, "n3": 0}})
    assert order(MaxMeanBandit(), lists(ranked), outcomes=grades)[:2] == ["low", "n1"]
    assert order(MaxMeanBandit(), lists(ranked), outcomes=grades, relevant_from=2)[:2] == [
        "low",
        "n2",
    ]


@pytest.mark.parametrize("name", list_strategies())
def test_adaptive_pools_are_biased_and_give_no_probabilities(lists, name):
    pool = build_strategy(name, {}).pool(lists(RANKED), outcomes=GRADES)
    assert pool.strategy == name
    assert pool.biased == (name in list_adaptive())
    if pool.biased:
        assert "no interval may be computed from it" in pool.notes[0]
        with pytest.raises(DataError, match="no interval can be computed"):
            pool.get_probabilities()
    else:
        assert pool.get_probabilities()["probability"].is_between(0, 1).all()


def test_what_the_qrels_lack_is_counted(lists):
    pool = MaxMeanBandit().pool(lists(RANKED), outcomes=Qrels.from_dict({"q": {"r1": 1}}))
    assert "5 pairs not in the qrels counted as not relevant" in pool.notes


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: build_strategy("bandit-ucb", {}), "Unknown pool strategy 'bandit-ucb'"),
        (lambda: NonstationaryBandit(discount=2), r"`discount` must be between 0 and 1 \(got 2\)"),
        (lambda: MoveToFront(budget=0), r"`budget` must be >= 1 \(got 0\)"),
        (
            lambda: build_strategy("depth", {"budget": 3}),
            "`budget` cannot be used with strategy 'depth'. It is a setting of fused",
        ),
        (
            lambda: build_strategy("fused", {"discount": 0.5}),
            "`discount` cannot be used with strategy 'fused'",
        ),
    ],
)
def test_wrong_settings(make, said):
    with pytest.raises((BadSetting, UnknownName), match=said):
        make()


def test_written_qrels_carry_the_mark(lists, tmp_path):
    """Estimates from a random sample are refused under them, through a file too."""
    build_strategy("bandit-max-mean", {"budget": 2}).pool(lists(RANKED)).write(
        tmp_path / "pool.qrels"
    )
    written = Qrels.read(tmp_path / "pool.qrels")
    assert written.adaptive == "bandit-max-mean"
    written.write(tmp_path / "again.qrels")
    assert Qrels.read(tmp_path / "again.qrels").adaptive == "bandit-max-mean"
    build_strategy("depth", {"depth": 2}).pool(lists(RANKED)).write(tmp_path / "depth.qrels")
    assert Qrels.read(tmp_path / "depth.qrels").adaptive == ""
