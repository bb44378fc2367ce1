"""Claims of "at least" are about the lower ends of intervals."""

import re

import pytest

from venire.reliability.order_sentence import describe_order


def make_row(tau, low, high, measure="AP", matter=1):
    return {
        "measure": measure, "first": "crowd", "second": "expert", "tau": tau, "tau_low": low,
        "tau_high": high, "swapped": 0 if tau == 1 else 2, "matter": matter if tau < 1 else 0,
    }  # fmt: skip


def describe(*rows, topics=20):
    return describe_order(("crowd", "expert"), list(rows), None, topics, "90 pairs")


def test_at_least_is_said_of_the_lower_end():
    assert describe(make_row(0.8, 0.105, 0.95)) == (
        "The order repeats with a tau of at least 0.10 (95% confidence; 0.80 on these topics, "
        "crowd and expert, AP); 1 swap is of systems that a group tells apart."
    )


def test_the_lowest_end_of_all_intervals_counts_and_not_the_lowest_tau():
    text = describe(make_row(0.6, 0.5, 0.7), make_row(0.8, 0.3, 0.9, "nDCG"))
    assert "at least 0.30" in text
    assert "0.80 on these topics, crowd and expert, nDCG" in text


@pytest.mark.parametrize("low", [0.0, -0.2, -1.0])
def test_no_order_repeats_where_the_interval_reaches_zero(low):
    text = describe(make_row(0.6, low, 0.9))
    assert text.startswith("That the order repeats is not shown: tau is 0.60, with a 95% interval")
    assert "at least" not in text


def test_the_same_order_on_these_topics_may_differ_on_others():
    text = describe(make_row(1.0, 0.62, 1.0))
    assert text == (
        "The order of the systems is the same under crowd and expert (AP). On as many other topics "
        "tau is at least 0.62 (95% confidence, crowd and expert, AP)."
    )
    assert "at least" not in describe(make_row(1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    ("row", "topics"), [(make_row(0.8, 0.7, 0.9), 5), (make_row(0.8, None, None), 20)]
)
def test_with_too_little_data_only_what_was_measured_is_said(row, topics):
    text = describe(row, topics=topics)
    assert text.startswith("Whether the order repeats cannot be told yet")
    assert "So far: tau is 0.80" in text
    assert not re.search("at least|repeats with", text)


@pytest.mark.parametrize("low", [0.005, 0.1049, 0.29, 0.999])
def test_a_rounded_end_is_never_above_the_end(low):
    stated = re.search(r"at least (\d\.\d\d)|from (\S+) to", describe(make_row(0.9995, low, 1.0)))
    assert float(next(group for group in stated.groups() if group)) <= low
