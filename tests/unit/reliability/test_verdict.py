import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels, Runs
from venire.errors import BadSetting, DataError, NoOverlap
from venire.evaluation.told_apart import ToldApart
from venire.evaluation.uncertain import GradeProbabilities
from venire.measures import parse
from venire.reliability import verdict
from venire.reliability.favour_verdict import assess_favour
from venire.reliability.favoured_system import FavouredSystem
from venire.reliability.judge_audit import Audit
from venire.reliability.leave_one_out import LeaveOneOut
from venire.reliability.pairs_to_judge import FAVOURED, list_favoured
from venire.reliability.panels import PanelComparison
from venire.reliability.summary import assess_ranking
from venire.reliability.top_order import ONE_SYSTEM, TOO_FEW_TOPICS, TopOrder
from venire.reliability.unjudged import Unjudged
from venire.report.trust import WORDS, trust_page, write_trust

QRELS = Qrels.from_dict(
    {f"q{at}": {"a": 2, "b": 0, "c": 1, "d": 0, "e": 0, "f": 0} for at in range(6)}
)
GOOD = {f"q{at}": {"a": 3, "c": 2, "b": 1} for at in range(6)}
POOR = {f"q{at}": {"b": 3, "d": 2, "a": 1 if at % 2 else 3.5} for at in range(6)}
RUNS = Runs(
    pl.concat(
        Runs.from_dict(lists, run_id=name).frame for name, lists in (("good", GOOD), ("poor", POOR))
    )
)
NAMES = [
    "pool too shallow", "outsiders underrated", "assessors disagree", "judge favours a system",
    "too few topics",
]  # fmt: skip


def judged(grade, who="A1"):
    rows = [
        (query, doc, who, grade(query, doc, old)) for query, doc, old in QRELS.frame.iter_rows()
    ]
    columns = ("query_id", "doc_id", "annotator_id", "label")
    return Judgments.from_dict(
        dict(zip(columns, zip(*rows, strict=True), strict=True)), scale="0,1,2"
    )


def test_always_the_same_five_risks():
    found = assess_ranking(QRELS, RUNS)
    assert [risk.name for risk in found.risks] == NAMES
    assert [row["risk"] for row in found.rows] == NAMES
    for name in ("assessors disagree", "judge favours a system"):
        assert found[name].light == "not checked"
        assert found[name].number is None
        assert found[name].reason == "no judgments by others were given"


def test_the_same_grades_do_not_differ():
    found = assess_ranking(QRELS, RUNS, judgments=judged(lambda query, doc, old: old))
    # 36 common pairs are too few for the test of panels.
    risk = found["assessors disagree"]
    assert (risk.light, risk.number) == ("not checked", None)
    assert risk.reason == "A1 judged 36 pairs of the qrels; 50 are needed"
    assert found.substitutions[0].order.tau == 1.0


def make_panel(p, *, told_apart=0, chance=1.0, topics=20, panel="A1", pairs=300, reason=None):
    return PanelComparison(
        panel=panel,
        pairs=pairs,
        topics=topics,
        system_pairs=45,
        leniency=0.0,
        systems_swapped=8.0,
        told_apart_swapped=told_apart,
        aligned_swapped=7.0,
        chance_swapped=chance / 2,
        chance_swapped_95=chance,
        p=p,
        p_corrected=p,
        exchanges=999,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("p", "told_apart", "chance", "light"),
    # Red needs both a small p and a swap of told-apart runs; green a test that could find some.
    [(0.01, 2, 1, "red"), (0.01, 0, 1, "amber"), (0.2, 2, 1, "green"), (0.2, 0, 5, "amber")],
)
def test_panel_thresholds(p, told_apart, chance, light):
    panel = make_panel(p, told_apart=told_apart, chance=chance)
    risk = verdict.assess_assessors([panel], "", 40)
    assert (risk.light, risk.number) == (light, p)
    assert f"told apart by the 40 topics of the qrels: {told_apart} of them" in risk.reason
    assert "A1 (20 topics)" in risk.reason


def test_the_panel_that_swaps_told_apart_runs_is_named():
    panels = [
        make_panel(0.01, panel="all annotators together", topics=40),
        make_panel(0.02, told_apart=3, panel="A4"),
        make_panel(0.9, told_apart=9, panel="A5"),
    ]
    risk = verdict.assess_assessors(panels, "", 40)
    assert (risk.light, risk.number) == ("red", 0.01)
    assert risk.reason.startswith("under A4 (20 topics), 8 of 45 pairs of runs change order")
    assert risk.next_step.startswith("leave out the grades of A4")


def test_panels_of_few_topics_cannot_tell():
    few = make_panel(None, topics=3, reason="judged 3 topics of the qrels; 6 are needed")
    risk = verdict.assess_assessors([few], "", 40)
    assert (risk.light, risk.number) == ("amber", None)
    assert risk.reason == "A1 judged 3 topics of the qrels; 6 are needed"


def test_annotators_with_few_pairs_are_counted():
    few = judged(lambda query, doc, old: old)
    few = Judgments(few.frame.head(5), few.scale)
    found = assess_ranking(QRELS, RUNS, judgments=few)
    assert found["assessors disagree"].reason == "A1 judged 5 pairs of the qrels; 50 are needed"
    assert "1 annotator with fewer than 20 pairs of the qrels: not checked" in found.notes


def test_what_to_judge_next_is_counted():
    new = {f"q{at}": {"x": 3, "y": 2, "a": 1} for at in range(6)}
    runs = Runs(pl.concat([RUNS.frame, Runs.from_dict(new, run_id="new").frame]))
    risk = assess_ranking(QRELS, runs)["outsiders underrated"]
    # "new" would pass no run if its unjudged documents were a quarter as good as the judged ones.
    assert (risk.light, risk.number) == ("amber", pytest.approx(2 / 3))
    assert risk.next_step == "judge 12 pairs: the first 10 of every run"


def left(*lost, leaders=()):
    rows = [
        {"run_id": f"r{at}", "group": f"r{at}", "score": 0.5, "score_without": 0.4,
         "places_lost": places}
        for at, places in enumerate(lost)
    ]  # fmt: skip
    return LeaveOneOut(pl.DataFrame(rows), parse("AP"), 10, leaders)


@pytest.mark.parametrize(
    ("lost", "light"),
    # Two places of one run are amber; 1.25 places on average are red; a gain does not make up.
    [
        ((0, 0, 0, 0), "green"), ((1, 1, 1, 1), "green"), ((2, 0, 0, 0), "amber"),
        ((2, 1, 1, 1), "red"), ((4, 0, 0, 0), "amber"), ((3, 2, 0, -1), "red"),
    ],
)  # fmt: skip
def test_pool_thresholds(lost, light):
    risk = verdict.assess_pool(left(*lost), ["r0", "r1", "r2", "r3"], 7, 1.0)
    assert (risk.light, risk.number) == (light, np.maximum(lost, 0).mean())
    if light == "red":
        assert risk.reason.startswith(f"left out, a run loses {risk.number:.1f} places on average")


def test_an_order_that_changes_with_depth_is_amber():
    risk = verdict.assess_pool(left(0, 0), ["r0", "r1"], 7, 0.94)
    assert risk.light == "amber"
    assert risk.reason.endswith("with half of the depth the order is another one (tau 0.94)")
    assert risk.next_step == "judge to depth 20: 7 pairs more"


def test_another_leader_is_amber():
    risk = verdict.assess_pool(left(1, leaders=("r0",)), ["r0", "s"], 7, None)
    assert risk.light == "amber"
    assert risk.next_step == "judge to depth 20: 7 pairs more"


@pytest.mark.parametrize(
    ("share", "first", "light"),
    # Red needs .3 / (1 - .38 / 4) = .331 to reach the run before it.
    [
        (0.0, 0.31, "green"), (0.09, 0.31, "green"), (0.13, 0.31, "amber"), (0.38, 0.33, "red"),
        (0.38, 0.34, "amber"), (0.38, 0.3, "amber"),
    ],
)  # fmt: skip
def test_outsider_thresholds(share, first, light):
    shares = Unjudged(pl.DataFrame({"run_id": ["r", "s"], "unjudged": [share, 0.0]}), 10)
    risk = verdict.assess_unjudged(shares, 1, {"r": 0.3, "s": first}, ["s", "r"])
    assert (risk.light, risk.number) == (light, share)
    assert ("would pass 1 run" in risk.reason) == (light == "red")
    # Where the other run lacks as many judgments, both rise alike.
    shares = Unjudged(pl.DataFrame({"run_id": ["r", "s"], "unjudged": [share, share]}), 10)
    assert verdict.assess_unjudged(shares, 1, {"r": 0.3, "s": 0.31}, ["s", "r"]).light != "red"


@pytest.mark.parametrize(
    ("score", "share", "light"),
    # .2 / (1 - .4) reaches the last compared run's .3; .1 / (1 - .4) does not; .28 reaches it with
    # documents a quarter as good. Of a run with no judged document nothing is known.
    [(0.28, 0.4, "red"), (0.2, 0.4, "amber"), (0.1, 0.4, "green"), (0.0, 0.95, "green")],
)
def test_a_run_below_the_compared_ones_counts_where_it_could_reach_them(score, share, light):
    shares = Unjudged(pl.DataFrame({"run_id": ["x", "r"], "unjudged": [share, 0.0]}), 10)
    risk = verdict.assess_unjudged(shares, 1, {"r": 0.3, "x": score}, ["r"])
    assert risk.light == light
    assert ("not rated" in risk.reason) == (share > 0.9)


def audit(name, p, *, topics=43, found=(1.0, 0.9), others=1, group=("r",), pairs=1000):
    frame = pl.DataFrame({"runs": [list(group)], "z": [3.0], "p": [p], "gain": [0.25]})
    power = pl.DataFrame({"run_id": ["r", "s"], "found": found}, schema_overrides={"found": float})
    disputed = pl.DataFrame({"query_id": ["q"] * 40, "doc_id": ["d"] * 40})
    test = FavouredSystem(frame, pairs, topics, 10, 1000, 0)
    return Audit(name, test, power, others, disputed, p)


@pytest.mark.parametrize(
    ("p", "topics", "found", "light"),
    [
        (0.3, 43, (1.0, 0.9), "green"),
        # Green never clears a run whose favour would not have been seen.
        (0.3, 43, (1.0, 0.7), "amber"),
        (0.3, 43, (0.1, 0.0), "amber"),
        # A run without audited pairs has no say, as nobody can learn anything about it.
        (0.3, 43, (1.0, None), "green"),
        (0.3, 19, (1.0, 0.9), "amber"),
        (0.02, 43, (0.0, 0.0), "amber"),
        (0.004, 43, (0.0, 0.0), "red"),
        (0.004, 19, (1.0, 1.0), "amber"),
    ],
)
def test_favour_thresholds(p, topics, found, light):
    risk = assess_favour([audit("J", p, topics=topics, found=found)], "")
    assert (risk.light, risk.number) == (light, p)


def test_favour_sentences():
    risk = assess_favour([audit("J", 0.004)], "")
    assert risk.reason == (
        "J grades the first documents of r 0.25 higher than the qrels and the other runs account "
        "for; with two assessors either may lean: the qrels may underrate these documents"
    )
    assert risk.next_step == (
        "have a third assessor judge 40 pairs of these runs' first documents in dispute, or leave "
        "out the grades of J"
    )
    assert "either" not in assess_favour([audit("J", 0.004, others=3)], "").reason
    clear = assess_favour([audit("J", 0.3)], "")
    assert clear.reason == "nothing found; a favour of these runs would have been seen: r, s"
    half = assess_favour([audit("J", 0.3, found=(1.0, 0.1), pairs=400)], "")
    assert half.reason == (
        "nothing found; a favour of 1 of 2 runs would have been seen (r), not of s"
    )
    assert half.next_step == "have the judge grade an audit sample of 1,000 pairs"


def test_the_pairs_to_judge_are_those_of_judges_with_a_finding():
    first = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "runs": [7]})
    first = first.with_columns(pl.col("runs").cast(pl.Int64))
    frames = list_favoured(first, [audit("J", 0.04), audit("K", 0.06), audit("L", None)])
    assert len(frames) == 1
    assert set(frames[0].select("reason", "runs").iter_rows()) == {(FAVOURED, 7)}


def test_judges_who_agree_against_the_qrels_are_amber():
    risk = assess_favour([audit("J1", 0.004), audit("J2", 0.03)], "")
    assert risk.light == "amber"
    assert "2 judges agree on such runs, so the qrels may underrate" in risk.reason
    apart = assess_favour([audit("J1", 0.004), audit("J2", 0.03, group=("s",))], "")
    assert apart.light == "red"


def make_order(tau, *, reason=None, topics=40, needed=100):
    return TopOrder(
        tau=tau,
        half_tau=tau,
        first_repeats=0.5,
        top=("a", "b", "c"),
        k=3,
        copies=(),
        topics=topics,
        topics_needed=needed,
        difference_needed=0.0312,
        target=0.9,
        reason=reason,
    )


APART = ToldApart(("a", "b", "c"), np.array([True, True, False]), (), frozenset(), 40)
NONE_APART = ToldApart(("a", "b", "c"), np.zeros(3, dtype=bool), (), frozenset(), 40)


@pytest.mark.parametrize(("tau", "light"), [(0.9, "green"), (0.89, "amber"), (0.69, "red")])
def test_topic_thresholds(tau, light):
    risk = verdict.assess_topics(make_order(tau), APART, "AP")
    assert (risk.light, risk.number) == (light, tau)
    assert "40 topics tell 2 of 3 pairs of runs apart" in risk.reason


def test_topics_that_tell_nothing_apart_are_not_green():
    assert verdict.assess_topics(make_order(1.0), NONE_APART, "AP").light == "amber"


def test_what_to_claim_and_topics_to_use():
    # (1 - .6) / 2 of the pairs change order.
    risk = verdict.assess_topics(make_order(0.6), APART, "AP")
    assert "about 20% of the pairs of the first 3 runs" in risk.reason
    assert (
        risk.next_step
        == "claim only differences of about 0.031 AP or more, or use about 100 topics"
    )


def test_too_few_topics_are_red_and_equal_runs_are_not_checked():
    few = verdict.assess_topics(make_order(None, reason=TOO_FEW_TOPICS, topics=1), APART, "AP")
    assert (few.light, few.number) == ("red", None)
    assert few.reason == "1 topic, too few to tell any order"
    equal = verdict.assess_topics(make_order(None, reason=ONE_SYSTEM), APART, "AP")
    assert equal.light == "not checked"


def test_one_topic_and_no_relevant_document():
    # The case trust-one-topic: red for the topics; no green where nothing is relevant.
    runs = Runs(RUNS.frame.filter(pl.col("query_id") == "q0"))
    qrels = Qrels(QRELS.frame.filter(pl.col("query_id") == "q0"))
    assert assess_ranking(qrels, runs)["too few topics"].light == "red"
    zero = Qrels(qrels.frame.with_columns(pl.lit(0).alias("relevance")))
    found = assess_ranking(zero, runs)
    assert {risk.light for risk in found.risks} == {"red", "not checked"}
    assert found["pool too shallow"].reason == verdict.NO_RELEVANT
    assert found["outsiders underrated"].light == "not checked"
    assert found.decision.answer == "no"


def test_the_folder_and_the_page(tmp_path):
    other = judged(lambda query, doc, old: 2 if doc in "bd" else 0, who="<b>A1")
    found = assess_ranking(QRELS, RUNS, judgments=other)
    names = {path.name for path in write_trust(found, tmp_path)}
    assert names == {
        "verdict.csv", "scores.csv", "unjudged.csv", "leave_one_out.csv", "substitution.csv",
        "depths.csv", "ranks.csv", "favoured.csv", "favour_power.csv", "favour_disputed.csv",
        "report.html", "panels.csv",
    }  # fmt: skip
    page = (tmp_path / "report.html").read_text()
    assert all(f"<td>{WORDS[risk.light]}</td>" in page for risk in found.risks)
    assert "<b>A1" not in page.split("<body>")[1].replace("\\u003cb\\u003eA1", "")
    assert page.index(found.decision.holds) < page.index("pool too shallow")
    assert page.index("pool too shallow") < page.index("How the ranking changes")
    # The first screen has no term of statistics.
    assert "E rho^2" not in page[: page.index("How the ranking changes")]


def test_the_page_says_red():
    few = assess_ranking(Qrels(QRELS.frame.filter(pl.col("query_id") < "q5")), RUNS)
    assert few["too few topics"].light == "red"
    assert "<td>Red: the order may not hold</td>" in trust_page(few).render()


def test_the_page_without_judgments():
    page = trust_page(assess_ranking(QRELS, RUNS)).render()
    assert "<td>Not checked</td>" in page
    assert "with its own documents in the pool, and left out" in page


def test_wrong_input():
    with pytest.raises(BadSetting, match="at least two runs"):
        assess_ranking(QRELS, Runs.from_dict(GOOD))
    with pytest.raises(BadSetting, match="depth"):
        assess_ranking(QRELS, RUNS, depth=0)
    with pytest.raises(NoOverlap):
        assess_ranking(Qrels.from_dict({"z": {"a": 1}}), RUNS)
    halves = judged(lambda query, doc, old: old)
    halves = Judgments(halves.frame.with_columns(pl.col("label") + 0.5), halves.scale)
    with pytest.raises(DataError, match="must be whole numbers"):
        assess_ranking(QRELS, RUNS, judgments=halves)


def test_the_same_seed_gives_the_same():
    other = judged(lambda query, doc, old: (old + int(query[1])) % 3)
    first, again = (assess_ranking(QRELS, RUNS, judgments=other, seed=4) for _ in range(2))
    assert first.rows == again.rows


def chances(sure):
    """Grade probabilities of the pairs of QRELS: the settled grade has the probability ``sure``."""
    pairs = QRELS.frame
    grades = np.array([0, 1, 2])
    p = np.where(pairs["relevance"].to_numpy()[:, None] == grades, sure, (1 - sure) / 2)
    return GradeProbabilities(pairs.select("query_id", "doc_id"), p, grades)


def test_sure_grades_are_green():
    found = assess_ranking(QRELS, RUNS, posterior=chances(1.0), draws=20)
    risk = found["grades are uncertain"]
    assert (risk.light, risk.number, risk.next_step) == ("green", 1.0, "none")
    assert len(found.risks) == 6
    assert len(assess_ranking(QRELS, RUNS).risks) == 5


def test_grades_of_chance_are_red(tmp_path):
    rng = np.random.default_rng(3)
    runs = Runs.of(
        pl.concat(
            QRELS.frame.select("query_id", "doc_id").with_columns(
                pl.Series("score", rng.random(len(QRELS))), run_id=pl.lit(f"s{system}")
            )
            for system in range(9)
        )
    )
    found = assess_ranking(QRELS, runs, posterior=chances(0.4), draws=100, seed=1)
    risk = found["grades are uncertain"]
    assert risk.light == "red"
    assert risk.number < 0.8
    assert risk.next_step.startswith(f"judge again the {len(QRELS)} pairs")
    frame = found.uncertain.frame
    assert (frame["low"] <= frame["high"]).all()
    assert ((frame["beats_next"].drop_nulls() > 0) & (frame["beats_next"].drop_nulls() < 1)).all()
    names = {path.name for path in write_trust(found, tmp_path)}
    assert "uncertain.csv" in names
    assert "What uncertain grades do" in (tmp_path / "report.html").read_text()
