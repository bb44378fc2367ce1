"""Pool strategies: declared once, and open to packages."""

import pytest

from plugin_for_tests import installed
from venire.errors import BadSetting, UnknownName
from venire.pooling.base import Strategy
from venire.pooling.strategies import (
    build_strategy,
    list_adaptive,
    list_settings,
    list_strategies,
)
from venire.settings import rules

CODE = """
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from venire.pooling.base import Lists, Pool, Strategy
from venire.settings import setting


@dataclass(frozen=True, kw_only=True)
class Every(Strategy):
    name: ClassVar[str] = "every"
    label: ClassVar[str] = "Every n-th rank"
    description: ClassVar[str] = "Choose every n-th rank of each run."

    step: int = setting(2, words="Ranks from one choice to the next.", least=1)

    def pool(self, lists, **_):
        pairs = lists.list_pairs().filter(pl.col("rank") % self.step == 1)
        frame = lists.sort_by_topic(pairs, "rank", "doc_id").with_columns(
            pl.lit(None, pl.Float64).alias("probability")
        )
        return Pool(frame, self.name, self.to_dict())
"""


def test_a_package_adds_a_strategy(tmp_path, lists):
    with installed(tmp_path, "venire.pool_strategies", {"every": "Every"}, CODE):
        assert list(list_strategies())[-1] == "every"
        assert list_settings()["every"] == ("step",)
        pool = build_strategy("every", {"step": 2, "depth": None}).pool(lists({"A": list("abcde")}))
        assert pool.frame["doc_id"].to_list() == ["a", "c", "e"]
        assert dict(pool.settings) == {"step": 2}
        with pytest.raises(BadSetting, match=r"`step` must be >= 1 \(got 0\)"):
            build_strategy("every", {"step": 0})
    with pytest.raises(UnknownName, match="Unknown pool strategy 'every'"):
        build_strategy("every", {})


@pytest.mark.parametrize("name", list_strategies())
def test_a_strategy_declares_its_words_and_settings(name):
    strategy = list_strategies()[name]
    assert issubclass(strategy, Strategy)
    assert strategy.name == name
    assert strategy.label
    assert strategy.description.endswith(".")
    assert all(rule.words.endswith(".") and rule.label for rule in rules(strategy))


def test_the_order_is_that_of_the_declarations():
    assert list(list_strategies()) == [
        "depth",
        "fused",
        "move-to-front",
        "bandit-max-mean",
        "bandit-thompson",
        "bandit-nonstationary",
        "stratified",
        "audit",
    ]
    assert list_adaptive() == list(list_strategies())[2:6]


@pytest.mark.parametrize("name", sorted({"fused", *list_adaptive()}))
def test_a_depth_of_the_runs_cuts_the_lists(name, lists):
    ranked = lists({"A": list("abcd"), "B": list("dcba")})
    whole = build_strategy(name, {"depth": 2}).pool(ranked).frame
    cut = build_strategy(name, {}).pool(ranked.to_depth(2)).frame
    assert whole.equals(cut)
    assert whole.height == 4
