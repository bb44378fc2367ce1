"""Families of measures: declared once, and open to packages."""

import inspect

import pytest

from plugin_for_tests import installed
from venire import Qrels, Runs, plugins
from venire.errors import BadSetting, DataError, UnknownName
from venire.evaluation.score import score_runs
from venire.measures import parse
from venire.measures.family import find_family, list_estimates, list_families

QRELS = Qrels.from_dict({"q": {"a": 2, "b": 1, "c": 0}})
RUNS = Runs.from_dict({"q": {"c": 3.0, "a": 2.0, "b": 1.0}})
CODE = """
from venire.measures.family import REL, Family
from venire.settings import Rule

DEPTH = Rule(name="depth", type=int, default=2, least=1, words="Ranks that count.")

def first_rank(hits, *, rel, depth):
    '''FirstRank: rank of the first relevant document in the first ``depth``.'''
    mask = hits.cut(hits.grade >= rel, depth)
    return hits.sum(hits.rank * 1.0, mask & (hits.count_up_to(mask) == 1))

FIRST = Family(name="FirstRank", function=first_rank, parameters=(REL, DEPTH), aliases=("First",),
               needs=("sample",))
"""


def test_a_package_adds_a_measure(tmp_path):
    with installed(tmp_path, "venire.measures", {"FirstRank": "FIRST"}, CODE):
        scores = score_runs(QRELS, RUNS, ["FirstRank", "First(rel=2)", "FirstRank(depth=1)"])
        assert scores.mean[:, 0].tolist() == [2.0, 2.0, 0.0]
        assert [str(measure) for measure in scores.measures] == [
            "FirstRank",
            "FirstRank(rel=2)",
            "FirstRank(depth=1)",
        ]
        assert find_family("FirstRank").description.startswith("FirstRank: rank of the first")
        with pytest.raises(BadSetting, match=r"`depth` must be >= 1 \(got 0\)"):
            parse("FirstRank(depth=0)")
        with pytest.raises(UnknownName, match="Unknown parameter of FirstRank 'deep'"):
            parse("FirstRank(deep=3)")
        assert "FirstRank" in list_estimates()
        adaptive = Qrels(QRELS.frame, adaptive="move-to-front")
        with pytest.raises(DataError, match="FirstRank"):
            score_runs(adaptive, RUNS, ["FirstRank"])
    with pytest.raises(UnknownName):
        parse("FirstRank")


def test_the_entry_point_has_the_name_of_the_measure():
    plugins.register("measure", "AveragePrecision", find_family("AP"))
    try:
        with pytest.raises(BadSetting, match="must have the same name"):
            parse("AveragePrecision")
    finally:
        plugins.unregister("measure", "AveragePrecision")


@pytest.mark.parametrize("family", list_families(), ids=lambda family: family.name)
def test_a_family_declares_what_its_function_takes(family):
    names = {parameter.name for parameter in family.parameters}
    if family.cutoff is not None:
        names.add(family.cutoff.name)
    signature = inspect.signature(family.function)
    assert names == set(signature.parameters) - {"hits"}
    assert family.source
    assert family.description.startswith(family.name)
    assert all(rule.words.endswith(".") for rule in family.parameters)


def test_estimates_are_those_that_need_a_sample():
    assert sorted(list_estimates()) == ["infAP", "infNDCG", "infNumRel", "xinfAP"]
