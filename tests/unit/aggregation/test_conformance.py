import pytest

from venire import plugins
from venire.aggregation.annotator_types.model import AnnotatorTypes
from venire.aggregation.committee import Committee
from venire.aggregation.dawid_skene import DawidSkene
from venire.aggregation.mean import Mean
from venire.aggregation.minimax_entropy.model import MinimaxEntropy
from venire.aggregation.ordinal_mixture.model import OrdinalMixture
from venire.errors import UnknownName
from venire.testing import check_aggregator
from venire.testing.aggregators import CHECKS
from venire.testing.rules import Nonconforming

VOTES = {
    "the objective never falls", "distinct starts", "any number of shards", "converged only if so",
}  # fmt: skip
VARIANTS = {
    "exact": OrdinalMixture(responsibility="exact", restarts=2),
    "query": OrdinalMixture(difficulty="query", responsibility="exact", restarts=2),
    "item": OrdinalMixture(difficulty="item", restarts=2),
    "no-spam": OrdinalMixture(spam=False, restarts=2),
    "infinite": OrdinalMixture(outer="infinite", responsibility="exact", restarts=2),
    "types-on-grades": AnnotatorTypes(grid="grades", bias=False, scale=False, grade_prior="learnt"),
    "types-on-halves": AnnotatorTypes(grid="halves", scale=False, grade_prior="learnt"),
    "committee-of-two": Committee(members="ordinal-mixture,binary"),
    "minimax-categorical": MinimaxEntropy(form="categorical"),
    "minimax-learnt": MinimaxEntropy(grade_prior="learnt"),
    "dawid-skene-pooled": DawidSkene(strength=3.0, towards="pooled"),
    "dawid-skene-ordinal": DawidSkene(strength=12.0, towards="ordinal", grade_prior="uniform"),
    "real-valued": OrdinalMixture(ordinal=False, restarts=1, max_iterations=200),
}


SLOW = {
    "committee",  # five models, each of which is checked by itself
    "annotator-types",  # its two smaller grids are among the variants
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
        for name in plugins.names("aggregator")
    ],
)
def test_every_registered_aggregator_conforms(name):
    every = {check for check, _ in CHECKS}
    apart = {
        "majority": VOTES | {"the right person"},
        "mean": VOTES | {"the right person"},
        "median": VOTES | {"the right person"},
        "annotator-types": {
            "the objective never falls",
            "distinct starts",
        },  # the tilt may cost some
        "committee": {
            "the objective never falls",
            "distinct starts",
        },  # it has no objective of its own
        "ordinal-mixture": {
            "the objective never falls"
        },  # the printed update promises no such thing
    }.get(name, {"distinct starts"})
    assert set(check_aggregator(plugins.load("aggregator", name)())) == every - apart


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_conform(name):
    check_aggregator(VARIANTS[name])


def test_a_faulty_aggregator_is_found_out():
    class Shuffled(Mean):
        def fit(self, judgments, **options):
            posterior = super().fit(judgments, **options)
            people = posterior.annotators.with_columns(
                posterior.annotators["judgments"].reverse().alias("judgments")
            )
            object.__setattr__(posterior, "annotators", people.head(3))
            return posterior

    with pytest.raises(Nonconforming, match="annotators"):
        check_aggregator(Shuffled())


def test_an_unknown_model_is_told_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'dawid-skene'"):
        plugins.load("aggregator", "dawid_skene")
