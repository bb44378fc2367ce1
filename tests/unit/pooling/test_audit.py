"""The audit sample: pairs in proportion to the variance over runs of their weight."""

from collections import Counter

import polars as pl
import pytest

import venire
from venire import Qrels
from venire.errors import BadSetting
from venire.pooling.audit import AuditSample


def test_one_pair_is_drawn_in_proportion_to_its_variance(lists):
    """Two runs that swap a pair of ranks, and one document that only one of them has.

    Weights 1, 1/log2(3) and 1/2 for ranks 1 to 3: the variances over two runs are a quarter of the
    squared differences, (1 - .631)^2 for a and b, .5^2 for c and d; e is at rank 4 in both.
    """
    two = lists({"x": ["a", "b", "c", "e"], "y": ["b", "a", "d", "e"]})
    drawn = Counter(
        AuditSample(pairs=1).pool(two, seed=seed).frame["doc_id"][0] for seed in range(2000)
    )
    swap, alone = (1 - 0.63093) ** 2, 0.25
    total = 2 * swap + 2 * alone
    assert "e" not in drawn
    for doc, variance in {"a": swap, "b": swap, "c": alone, "d": alone}.items():
        # Three standard errors of a share of 2,000.
        assert drawn[doc] / 2000 == pytest.approx(variance / total, abs=0.034)


def test_only_judged_pairs_are_drawn_and_their_grades_stay_hidden(lists, tmp_path):
    runs = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    other = {"q": {"c": 3.0, "d": 2.0, "a": 1.0}}
    frame = pl.concat(
        venire.Runs.from_dict(ranked, run_id=name).frame
        for name, ranked in {"x": runs, "y": other}.items()
    )
    known = Qrels.from_dict({"q": {"a": 1, "b": 0, "c": -1}})
    result = venire.pool(venire.Runs(frame), audit=10, qrels=known)
    assert sorted(result.frame["doc_id"]) == ["a", "b"]
    assert "2 pairs without a grade in the qrels cannot be drawn" in result.notes
    assert "only 2 pairs can be drawn: the audit has all of them" in result.notes
    assert result.rows[0]["pairs"] == 2
    result.write(tmp_path / "audit.qrels")
    written = (tmp_path / "audit.qrels").read_text().splitlines()
    assert sorted(written) == ["q 0 a -1", "q 0 b -1"]
    # The grades themselves have no say.
    flipped = Qrels.from_dict({"q": {"a": 0, "b": 1, "c": -1}})
    again = venire.pool(venire.Runs(frame), audit=10, qrels=flipped)
    assert again.frame.equals(result.frame)


def test_the_same_seed_draws_the_same_and_ranks_below_the_depth_do_not_count(lists):
    two = lists({"x": list("abcdefgh"), "y": list("hgfedcba")})
    draws = [AuditSample(pairs=3, depth=2).pool(two, seed=seed).frame for seed in (1, 1, 2)]
    assert draws[0].equals(draws[1])
    assert not draws[0].equals(draws[2])
    assert set(draws[0]["doc_id"]) <= set("abgh")
    assert draws[0]["probability"].null_count() == 3


def test_an_audit_of_another_strategy_is_refused():
    with pytest.raises(BadSetting, match="cannot be used with strategy 'fused'"):
        venire.pool({"q": {"a": 1.0}}, "fused", audit=5)
    with pytest.raises(BadSetting, match=r"`audit` must be >= 1 \(got 0\)"):
        venire.pool({"q": {"a": 1.0}}, audit=0)
