import numpy as np
import polars as pl
import pytest
from agreement_tables import counted, random_rows, table
from sklearn.metrics import cohen_kappa_score

from venire import Qrels, Scale
from venire.agreement.pairs import Pair
from venire.agreement.value import NO_RELEVANT, ONE_LABEL
from venire.errors import BadSetting, NoOverlap, UnknownName

# The agreement tables of the evaluation semantics: both relevant, only first, only second,
# neither; then the figures to the digits given there.
FIGURES = (
    "agreement",
    "cohen-kappa",
    "pooled-kappa",
    "gwet-ac1",
    "alpha-nominal",
    "overlap",
)
KNOWN = {
    (300, 20, 10, 70): (0.925, 0.77612, 0.77591, 0.88727, 0.77619, 0.90909),
    (10, 15, 15, 360): (0.925, 0.36, 0.36, 0.91504, 0.3608, 0.25),
    (10, 60, 0, 330): (0.85, 0.21569, 0.16667, 0.81707, 0.16771, 0.14286),
}


@pytest.mark.parametrize("counts", KNOWN)
@pytest.mark.parametrize("made", ["table", "judgments", "qrels"])
def test_known_tables(counts, made):
    a, b, c, d = counts
    if made == "table":
        pair = Pair.of_table([[d, c], [b, a]])
    else:
        judgments = counted({(1, 1): a, (1, 0): b, (0, 1): c, (0, 0): d})
        pair = Pair.of(judgments, "x", "y")
        if made == "qrels":
            mine, theirs = (
                Qrels.of(
                    judgments.frame.filter(pl.col("annotator_id") == name).select(
                        "query_id", "doc_id", pl.col("label").alias("relevance")
                    )
                )
                for name in ("x", "y")
            )
            pair = Pair.of_qrels(mine, theirs)
    values = pair.values()
    for name, expected in zip(FIGURES, KNOWN[counts], strict=True):
        assert values[name].value == pytest.approx(expected, abs=5e-6), name
    assert values["positive-agreement"].value == pytest.approx(2 * a / (2 * a + b + c))
    assert values["negative-agreement"].value == pytest.approx(2 * d / (2 * d + b + c))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("name", "weights"), [("cohen-kappa", None), ("linear-kappa", "linear"),
                          ("quadratic-kappa", "quadratic")]
)  # fmt: skip
def test_kappas_are_those_of_sklearn(seed, name, weights):
    random = np.random.default_rng(seed)
    mine = random.integers(0, 4, 200)
    theirs = np.clip(mine + random.integers(-1, 3, 200), 0, 3)
    rows = [("q", f"d{at}", "x", int(label)) for at, label in enumerate(mine)]
    rows += [("q", f"d{at}", "y", int(label)) for at, label in enumerate(theirs)]
    pair = Pair.of(table(rows), "x", "y")
    expected = cohen_kappa_score(mine, theirs, weights=weights)
    assert pair.values()[name].value == pytest.approx(expected, abs=1e-12)


def test_one_label_has_no_chance_corrected_value():
    values = Pair.of_table([[50, 0], [0, 0]]).values()
    for name in ("pooled-kappa", "cohen-kappa", "linear-kappa", "quadratic-kappa"):
        assert values[name].value is None
        assert values[name].notes == (ONE_LABEL,)
    assert values["alpha-nominal"].value is None
    assert values["alpha-ordinal"].value is None
    assert values["agreement"].value == 1.0
    # Gwet (2008): P = 1, and P_e = 2 p (1 - p) = 0 with two grades of which one is used.
    assert values["gwet-ac1"].value == 1.0
    assert values["positive-agreement"].value is None
    assert values["positive-agreement"].notes == (NO_RELEVANT,)
    assert values["overlap"].value is None
    assert values["negative-agreement"].value == 1.0


def test_perfect_agreement_on_two_labels_is_one():
    values = Pair.of_table([[3, 0], [0, 2]]).values()
    assert {value.value for value in values.values()} == {1.0}


def test_one_who_says_one_thing_only_has_cohen_zero():
    # P = P_e whatever the other says.
    assert Pair.of_table([[6, 4], [0, 0]]).values()["cohen-kappa"].value == pytest.approx(0)


def test_what_only_one_judged_is_left_out_and_counted():
    rows = [("q", "a", "x", 1), ("q", "a", "y", 1), ("q", "b", "x", 0), ("q", "c", "x", 1)]
    pair = Pair.of(table(rows), "x", "y")
    assert pair.items == 1
    assert pair.notes == ("2 items that only x judged left out",)


def test_of_repeats_the_last_row_counts():
    rows = [("q", "a", "x", 1), ("q", "a", "y", 0), ("q", "a", "x", 0)]
    pair = Pair.of(table(rows, repeats="all"), "x", "y")
    assert pair.table.tolist() == [[1.0, 0.0], [0.0, 0.0]]


def test_relevant_from_moves_the_threshold():
    cells = [[1, 2, 0], [0, 3, 4], [0, 0, 5]]
    # From 1: both relevant 12, only second 2. From 2: both 5, only second 4.
    assert Pair.of_table(cells).values()["overlap"].value == pytest.approx(12 / 14)
    assert Pair.of_table(cells, relevant_from=2).values()["overlap"].value == pytest.approx(5 / 9)
    named = Scale.parse("bad,fair,good")
    pair = Pair.of_table(cells, scale=named, relevant_from="good")
    assert pair.values()["overlap"].value == pytest.approx(5 / 9)


def test_wrong_input_is_told():
    judgments = table(random_rows(0))
    with pytest.raises(UnknownName, match="Did you mean 'a1'"):
        Pair.of(judgments, "a1", "a11")
    with pytest.raises(BadSetting, match="`relevant_from` must be a grade of the scale 0, 1, 2, 3"):
        Pair.of(judgments, "a1", "a2", relevant_from=9)
    with pytest.raises(NoOverlap, match="x and y judged no item in common"):
        Pair.of(table([("q", "a", "x", 0), ("q", "b", "y", 1)]), "x", "y")
    with pytest.raises(NoOverlap, match="no judged pair in common"):
        Pair.of_qrels(Qrels.from_dict({"q": {"a": 1}}), Qrels.from_dict({"q": {"b": 1}}))
    with pytest.raises(BadSetting, match="K x K"):
        Pair.of_table([[1, 2, 3], [4, 5, 6]])
    with pytest.raises(BadSetting, match="K x K"):
        Pair.of_table(3)
    with pytest.raises(BadSetting, match="zero or more"):
        Pair.of_table([[1, -2], [4, 5]])
