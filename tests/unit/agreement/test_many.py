"""Alpha, Fleiss' kappa, AC1 and AC2 of any number of annotators."""

import krippendorff
import numpy as np
import pytest
from agreement_tables import counted, four_coders, matrix, random_rows, table

from venire.agreement.alpha import LEVELS, krippendorff_alpha
from venire.agreement.counts import pair_counts
from venire.agreement.fleiss import fleiss_kappa
from venire.agreement.gwet import gwet_ac1, gwet_ac2, weights_of
from venire.agreement.pairs import Pair
from venire.agreement.value import NO_PAIRS, NOT_RATIO, ONE_LABEL
from venire.errors import BadSetting

FOUR = {"nominal": 0.743421, "ordinal": 0.815388, "interval": 0.849107, "ratio": 0.797403}


@pytest.mark.parametrize("level", LEVELS)
def test_the_four_coders_of_krippendorff(level):
    value = krippendorff_alpha(table(four_coders()), level=level)
    assert value.value == pytest.approx(FOUR[level], abs=5e-7)
    assert value.notes == ("1 item with one judgment left out: no pair to compare",)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_alpha_is_that_of_krippendorff(level, seed):
    rows = random_rows(seed)
    expected = krippendorff.alpha(reliability_data=matrix(rows), level_of_measurement=level)
    value = krippendorff_alpha(table(rows), level=level).value
    assert value == pytest.approx(expected, abs=1e-12)


def test_a_grade_nobody_used_does_not_change_alpha():
    rows = [(q, d, a, 2 * label) for q, d, a, label in random_rows(1, grades=2)]
    for level in LEVELS:
        plain = krippendorff_alpha(table(rows), level=level).value
        wide = krippendorff_alpha(table(rows, scale="0,1,2,3"), level=level).value
        assert wide == pytest.approx(plain, abs=1e-12)


# What the public package irrCAC 0.4.4 gives for the four coders (raw.CAC, to five digits). There
# an item with one judgment counts in chance agreement.
@pytest.mark.parametrize(
    ("function", "options", "expected"),
    [
        (fleiss_kappa, {}, 0.76117),
        (gwet_ac1, {}, 0.77544),
        (gwet_ac2, {"weights": "nominal"}, 0.77544),
        (gwet_ac2, {"weights": "ordinal"}, 0.89894),
        (gwet_ac2, {"weights": "linear"}, 0.85874),
        (gwet_ac2, {"weights": "quadratic"}, 0.914),
    ],
)
def test_the_four_coders_of_gwet(function, options, expected):
    value = function(table(four_coders()), singles=True, **options)
    assert value.value == pytest.approx(expected, abs=5e-6)


def test_items_judged_once_change_nothing_by_default():
    rows = [row for row in four_coders() if row[1] != "u11"]
    for function in (fleiss_kappa, gwet_ac1, gwet_ac2):
        whole = function(table(four_coders())).value
        assert whole == pytest.approx(function(table(rows, scale="1,2,3,4,5")).value, abs=1e-12)


def test_fleiss_of_two_is_the_pooled_kappa():
    judgments = counted({(1, 1): 10, (1, 0): 60, (0, 0): 330})
    value = fleiss_kappa(judgments)
    assert value.value == pytest.approx(0.16667, abs=5e-6)
    assert value.value == pytest.approx(
        Pair.of(judgments, "x", "y").values()["pooled-kappa"].value, abs=1e-12
    )
    assert value.notes == ("2 judgments an item: the formula of Fleiss (1971)",)


def test_fleiss_says_when_it_is_the_general_formula():
    assert fleiss_kappa(table(four_coders())).notes[0].startswith("2 to 4 judgments an item: the ")


def test_fleiss_by_hand():
    # Three annotators: (0,0,1) and (1,1,1). P = (1/3 + 1)/2, p = (1/3, 2/3), P_e = 5/9.
    labels = {"a": (0, 0, 1), "b": (1, 1, 1)}
    rows = [("q", doc, f"x{n}", x) for doc, all_ in labels.items() for n, x in enumerate(all_)]
    assert fleiss_kappa(table(rows)).value == pytest.approx((2 / 3 - 5 / 9) / (4 / 9))


@pytest.mark.parametrize("function", [krippendorff_alpha, fleiss_kappa, gwet_ac1, gwet_ac2])
def test_undefined_is_none_with_a_reason(function):
    same = [("q", doc, name, 1) for doc in "ab" for name in "xyz"]
    value = function(table(same))
    assert value.value is None
    assert value.notes[0] == ONE_LABEL
    value = function(table(same, scale="0,1,2"))
    if function in (gwet_ac1, gwet_ac2):
        # Three grades of which one is used: P = 1, P_e = 0 (Gwet 2008).
        assert value.value == 1.0
    else:
        assert value.value is None
        assert value.notes[0] == ONE_LABEL
    apart = [("q", "a", "x", 0), ("q", "b", "y", 1)]
    value = function(table(apart))
    assert value.value is None
    assert value.notes[0] == NO_PAIRS
    value = function(table([], scale="0,1"))
    assert value.value is None


def test_a_ratio_of_negative_grades_is_undefined():
    rows = [("q", "a", "x", -1), ("q", "a", "y", 1), ("q", "b", "x", 1), ("q", "b", "y", 1)]
    value = krippendorff_alpha(table(rows), level="ratio")
    assert (value.value, value.notes) == (None, (NOT_RATIO,))


def test_settings_that_are_none():
    judgments = table(four_coders())
    with pytest.raises(BadSetting, match="nominal, ordinal, interval, ratio"):
        krippendorff_alpha(judgments, level="cardinal")
    with pytest.raises(BadSetting, match="weights are one of"):
        gwet_ac2(judgments, weights="cubic")


def test_ordinal_weights():
    # Gwet (2014): 1 - C(|k - l| + 1, 2) / C(K, 2); K = 5: 0, 1, 3, 6, 10 of 10.
    assert weights_of("ordinal", np.arange(5.0))[0] == pytest.approx([1, 0.9, 0.7, 0.4, 0])


def test_counts_by_topic_add_up():
    rows = random_rows(3)
    counts = pair_counts(table(rows))
    # One topic instead of six gives the same sums.
    merged = pair_counts(table([("q", q + d, a, label) for q, d, a, label in rows]))
    assert counts.by_judgment.sum(axis=0) == pytest.approx(merged.by_judgment[0])
    assert counts.by_item.sum(axis=0) == pytest.approx(merged.by_item[0])
    assert counts.by_judgment.sum() == pytest.approx(counts.judgments.sum())
    assert counts.by_item.sum() == pytest.approx(counts.items.sum())
    assert counts.judgments.sum() + counts.n_single == len(rows)
