import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from venire import Judgments
from venire.agreement.alpha import LEVELS, krippendorff_alpha
from venire.agreement.fleiss import fleiss_kappa
from venire.agreement.gwet import gwet_ac1, gwet_ac2
from venire.agreement.summary import measure_agreement

FEW = settings(max_examples=30, deadline=None)
key = st.tuples(st.sampled_from("pqr"), st.sampled_from("abcd"), st.sampled_from("vwxyz"))
judged = st.dictionaries(key, st.integers(0, 3), min_size=1, max_size=40)
SCALE = "0,1,2,3"


def table(labels, scale=SCALE):
    rows = [(*key, label) for key, label in labels.items()]
    names = ("query_id", "doc_id", "annotator_id", "label")
    columns = map(list, zip(*rows, strict=True))
    return Judgments.from_dict(dict(zip(names, columns, strict=True)), scale=scale)


def near(one, two):
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, abs_tol=1e-9)


@FEW
@given(judged, st.permutations("vwxyz"))
def test_relabelling_annotators_changes_nothing(labels, names):
    renamed = dict(zip("vwxyz", names, strict=True))
    other = {(q, d, renamed[who]): label for (q, d, who), label in labels.items()}
    one, two = (measure_agreement(table(x), bootstrap=0) for x in (labels, other))
    for value in one.values:
        assert near(value.value, two[value.name].value), value.name
    assert one.sentence == two.sentence


@FEW
@given(judged, st.permutations(range(4)))
def test_nominal_figures_do_not_care_what_labels_are_called(labels, names):
    other = {key: names[label] for key, label in labels.items()}
    for function in (lambda t: krippendorff_alpha(t, level="nominal"), fleiss_kappa, gwet_ac1):
        assert near(function(table(labels)).value, function(table(other)).value)


@FEW
@given(judged)
def test_a_value_is_at_most_one_and_never_nan(labels):
    judgments = table(labels)
    values = [
        *(krippendorff_alpha(judgments, level=level) for level in LEVELS),
        fleiss_kappa(judgments),
        gwet_ac1(judgments),
        gwet_ac2(judgments),
        *measure_agreement(judgments, bootstrap=5).values,
    ]
    for value in values:
        if value.value is None:
            assert value.notes[0].startswith("undefined, ")
            assert value.low is None
        else:
            assert value.value <= 1 + 1e-12


@FEW
@given(judged)
def test_equal_labels_are_one_or_undefined(labels):
    first = {}
    same = {(q, d, who): first.setdefault((q, d), x) for (q, d, who), x in labels.items()}
    for value in measure_agreement(table(same), bootstrap=0).values:
        assert value.value is None or math.isclose(value.value, 1)


@FEW
@given(judged)
def test_items_judged_once_change_nothing(labels):
    more = {**labels, ("p", "only", "v"): 3, ("s", "only", "w"): 0}
    one, two = (measure_agreement(table(x), bootstrap=0) for x in (labels, more))
    for value in one.values:
        if value.name in ("cohen-kappa", "linear-kappa", "quadratic-kappa"):
            continue  # only where there are two annotators in all
        assert near(value.value, two[value.name].value), value.name


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.2, 0.6))
def test_the_interval_holds_the_value(seed, noise):
    """Twenty topics of twenty documents, three noisy annotators, all grades in use."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 4, (20, 20))
    labels = {}
    for who in "xyz":
        wrong = random.random(truth.shape) < noise
        said = np.where(wrong, random.integers(0, 4, truth.shape), truth)
        labels |= {(f"q{t}", f"d{d}", who): int(said[t, d]) for t in range(20) for d in range(20)}
    for value in measure_agreement(table(labels), bootstrap=200, seed=seed).values:
        assert value.low <= value.value <= value.high, value.name
