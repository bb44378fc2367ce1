import dataclasses

import numpy as np
import pytest
from agreement_tables import counted, four_coders, random_rows, table
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from venire.agreement.alpha import krippendorff_alpha
from venire.agreement.bootstrap import resample
from venire.agreement.breakdown import with_the_rest
from venire.agreement.interpretation import band
from venire.agreement.pairs import Pair
from venire.agreement.summary import HEADLINE, measure_agreement
from venire.agreement.value import ONE_LABEL
from venire.errors import BadSetting


def topics(rows, every=5):
    """The same rows, their documents spread over topics."""
    docs = {doc: at for at, doc in enumerate(dict.fromkeys(row[1] for row in rows))}
    return [(f"q{docs[doc] % every}", doc, name, label) for _, doc, name, label in rows]


RARE = {(1, 1): 10, (1, 0): 15, (0, 1): 15, (0, 0): 360}


def test_the_figures_of_two_are_those_of_the_pair():
    judgments = counted(RARE)
    result = measure_agreement(judgments, bootstrap=0)
    pair = Pair.of(judgments, "x", "y").values()
    for name, value in pair.items():
        ours = "fleiss-kappa" if name == "pooled-kappa" else name
        assert result[ours].value == pytest.approx(value.value, abs=1e-12), name
    assert result["binary-kappa"].value == pytest.approx(0.36)
    assert result["binary-agreement"].value == pytest.approx(0.925)
    assert result["binary-ac1"].value == pytest.approx(0.91504, abs=5e-6)


def test_high_agreement_low_kappa_is_warned_of():
    result = measure_agreement(counted(RARE), bootstrap=0)
    first, second = result.warnings
    assert first.startswith("high agreement, low kappa: 92.5% of pairs of labels agree")
    assert "kappa is 0.36" in first
    assert "25% (overlap)" in first
    # 50 of 800 labels are relevant.
    assert second.startswith("relevant documents are rare (6.2% of the labels, from grade 1)")
    assert "positive agreement (0.40) and overlap (0.25)" in second
    fair = measure_agreement(
        counted({(1, 1): 300, (1, 0): 20, (0, 1): 10, (0, 0): 70}), bootstrap=0
    )
    assert fair.warnings == ()


def test_the_sentence_says_the_band():
    fair = measure_agreement(
        counted({(1, 1): 300, (1, 0): 20, (0, 1): 10, (0, 0): 70}), bootstrap=0
    )
    assert fair.sentence == (
        "Krippendorff's alpha (ordinal) is 0.78: between 0.67 and 0.8, fair agreement."
    )
    assert "dubious" in measure_agreement(counted(RARE), bootstrap=0).sentence
    assert [band(x).split(",")[1] for x in (0.81, 0.8, 0.67, 0.66)] == [
        " good agreement",
        " fair agreement",
        " fair agreement",
        " a dubious basis for evaluation",
    ]


def test_ac1_never_leads_and_stands_beside_overlap():
    names = [value.name for value in measure_agreement(counted(RARE), bootstrap=0).values]
    assert names[0] == HEADLINE
    at = names.index("gwet-ac1")
    assert at > names.index("fleiss-kappa")
    assert {"positive-agreement", "overlap"} <= set(names[at : at + 5])
    assert names.index("binary-ac1") > names.index("overlap")


def test_intervals_are_seeded_and_hold_the_value():
    judgments = table(random_rows(0, items=400, topics=20))
    one, two = (measure_agreement(judgments, bootstrap=200, seed=4) for _ in range(2))
    assert one.values == two.values
    assert one.values != measure_agreement(judgments, bootstrap=200, seed=5).values
    for value in one.values:
        assert value.low < value.value < value.high
    assert "intervals: 95%, expanded percentiles of 200 resamples of 20 topics, seed 4" in one.notes


def test_the_interval_is_that_of_a_plain_bootstrap():
    rows = random_rows(2, items=80, topics=8)
    judgments = table(rows)
    by_topic = {q: [row for row in rows if row[0] == q] for q in sorted({row[0] for row in rows})}
    weight = np.random.default_rng(7).multinomial(8, np.full(8, 1 / 8), size=30)
    plain = []
    for draw in weight:
        drawn = [
            (f"{q}-{copy}", d, a, label)
            for (q, mine), times in zip(by_topic.items(), draw, strict=True)
            for copy in range(times)
            for _, d, a, label in mine
        ]
        plain.append(krippendorff_alpha(table(drawn, scale="0,1,2,3")).value)
    value = measure_agreement(judgments, bootstrap=30, seed=7)[HEADLINE]
    # Hesterberg (2015): Phi(sqrt(n / (n - 1)) t(.025, n - 1)) in place of .025.
    tail = stats.norm.cdf(np.sqrt(8 / 7) * stats.t.ppf(0.025, 7))
    assert (value.low, value.high) == pytest.approx(np.quantile(plain, [tail, 1 - tail]), abs=1e-9)


def test_one_topic_has_no_interval():
    result = measure_agreement(table(four_coders()))
    assert all(value.low is None for value in result.values)
    assert "low" not in result.rows[0]
    assert any("at least two topics" in note for note in result.notes)


def test_topics_without_a_pair_are_not_drawn():
    rows = [*random_rows(0), ("lonely", "z", "a0", 1)]
    plain = measure_agreement(table(random_rows(0)), bootstrap=50)
    with_one = measure_agreement(table(rows), bootstrap=50)
    assert with_one[HEADLINE] == plain[HEADLINE]
    lonely = with_one.topics.filter(with_one.topics["query_id"] == "lonely").to_dicts()[0]
    assert lonely["alpha_ordinal"] is None
    assert lonely["items"] == 0


def test_undefined_draws_are_counted():
    # Of two topics one uses a single label: drawn twice it gives nothing.
    rows = [("a", d, who, 0) for d in "12" for who in "xy"]
    rows += [("b", d, who, int(d == "1")) for d in "12" for who in "xy"]
    result = measure_agreement(table(rows), bootstrap=400)
    assert result[HEADLINE].value == 1.0
    note = next(note for note in result.notes if "are left out" in note)
    assert "alpha-ordinal" in note
    assert any("undefined in 1 topic:" in note for note in result.notes)


def test_one_label_is_undefined_everywhere():
    rows = [(q, d, who, 0) for q in "pq" for d in "ab" for who in "xyz"]
    result = measure_agreement(table(rows, scale="0,1,2"))
    for value in result.values:
        # AC1 and AC2 are 1 by their formula: P = 1, P_e = 0 (Gwet 2008); a warning says so.
        if "ac" in value.name or value.name in (
            "agreement",
            "binary-agreement",
            "negative-agreement",
        ):
            assert value.value == 1.0
        else:
            assert value.value is None, value.name
    assert result[HEADLINE].notes == (ONE_LABEL,)
    assert result.sentence == f"Krippendorff's alpha (ordinal) is {ONE_LABEL}."
    assert result.topics["alpha_ordinal"].to_list() == [None, None]
    assert result.grades["kappa"].to_list() == [None] * 3
    assert result.annotators["kappa"].to_list() == [None] * 3
    assert any("undefined, nothing was judged relevant: " in note for note in result.notes)
    assert any("only one label was used: AC1" in warning for warning in result.warnings)


def test_labels_that_are_all_zero_say_that_nothing_is_relevant():
    rows = [("q", document, name, 0) for document in "ab" for name in "xy"]
    for relevant_from in (None, 1):
        result = measure_agreement(table(rows), relevant_from=relevant_from, bootstrap=0)
        assert result.relevant_from is None
        assert result["positive-agreement"].value is None
        assert result["overlap"].value is None
        assert result["negative-agreement"].value == 1.0
        assert any(
            "nothing was judged relevant: positive-agreement, overlap" in note
            for note in result.notes
        )
    ones = [(*row[:3], 1) for row in rows]
    assert measure_agreement(table(ones), bootstrap=0)["overlap"].value == 1.0


def test_topics_are_those_of_their_own_table():
    rows = random_rows(5)
    result = measure_agreement(table(rows), bootstrap=0)
    for row in result.topics.to_dicts():
        own = table([one for one in rows if one[0] == row["query_id"]], scale="0,1,2,3")
        assert row["alpha_ordinal"] == pytest.approx(krippendorff_alpha(own).value)
        assert row["judgments"] <= len(own)


def test_grades_by_hand():
    # Labels 0 0 | 0 1 | 1 1 | 1 2: shares 3/8, 4/8, 1/8.
    rows = []
    for doc, (one, two) in {"a": (0, 0), "b": (0, 1), "c": (1, 1), "d": (1, 2)}.items():
        rows += [("q", doc, "x", one), ("q", doc, "y", two)]
    grades = measure_agreement(table(rows), bootstrap=0).grades
    assert grades["judgments"].to_list() == [3, 4, 1]
    assert grades["share"].to_list() == [3 / 8, 1 / 2, 1 / 8]
    assert grades["agreement"].to_list() == pytest.approx([2 / 3, 1 / 2, 0])
    # What is beyond the share, of what could be.
    assert grades["kappa"].to_list() == pytest.approx([7 / 15, 0, -1 / 7])
    assert grades["most_confused"].to_list() == ["1", "0", "1"]


def test_annotators_of_two_are_their_pair():
    random = np.random.default_rng(1)
    mine = random.integers(0, 3, 100)
    theirs = np.clip(mine + random.integers(-1, 2, 100), 0, 2)
    rows = [("q", f"d{at}", "x", int(label)) for at, label in enumerate(mine)]
    rows += [("q", f"d{at}", "y", int(label)) for at, label in enumerate(theirs)]
    frame = measure_agreement(table(rows), bootstrap=0).annotators
    assert frame["kappa"].to_list() == pytest.approx([cohen_kappa_score(mine, theirs)] * 2)
    squared = cohen_kappa_score(mine, theirs, weights="quadratic")
    assert frame["quadratic_kappa"].to_list() == pytest.approx([squared] * 2)
    gap = (mine - theirs).mean()
    assert frame["leniency"].to_list() == pytest.approx([gap, -gap])


def test_annotators_with_the_rest_by_counting():
    rows = random_rows(6, annotators=4, items=20, grades=3)
    tables, items = with_the_rest(table(rows, scale="0,1,2"))
    for at, name in enumerate(sorted({row[2] for row in rows})):
        expected = np.zeros((3, 3))
        shared = 0
        for query, doc, who, label in rows:
            others = [r[3] for r in rows if r[:2] == (query, doc) and r[2] != who]
            if who == name and others:
                shared += 1
                for other in others:
                    expected[label, other] += 1 / len(others)
        assert tables[at] == pytest.approx(expected)
        assert items[at] == shared


def test_nobody_is_their_own_second_opinion():
    rows = [("q", "a", "x", 0), ("q", "a", "x", 1), ("q", "b", "x", 0), ("q", "b", "y", 0)]
    result = measure_agreement(table(rows, repeats="all"), bootstrap=0)
    x = result.annotators.filter(result.annotators["annotator_id"] == "x").to_dicts()[0]
    assert (x["judgments"], x["items"], x["agreement"]) == (3, 1, 1.0)
    assert any(note.startswith("1 repeated judgment count") for note in result.notes)


def test_notes_count():
    notes = measure_agreement(table(four_coders()), bootstrap=0).notes
    assert notes[0] == "41 judgments, 4 annotators, 12 items"
    assert notes[1] == "1 item with one judgment left out: no pair to compare"
    assert notes[2].startswith("fleiss-kappa: 2 to 4 judgments an item")


def test_relevant_from():
    judgments = table(random_rows(0))
    assert measure_agreement(judgments, bootstrap=0).relevant_from == 1
    assert measure_agreement(judgments, relevant_from=2, bootstrap=0).relevant_from == 2
    assert measure_agreement(judgments, relevant_from="2", bootstrap=0).relevant_from == 2
    with pytest.raises(BadSetting, match="`relevant_from` must be a grade of the scale"):
        measure_agreement(judgments, relevant_from=0.5)
    with pytest.raises(BadSetting, match="must be >= 0"):
        measure_agreement(judgments, bootstrap=-1)
    everything = measure_agreement(judgments, relevant_from=0, bootstrap=0)
    assert everything["overlap"].value == 1.0
    assert everything["negative-agreement"].value is None
    assert everything["binary-kappa"].notes == ("undefined, everything was judged relevant",)


def test_an_empty_table():
    result = measure_agreement(table([], scale="0,1"))
    assert all(value.value is None for value in result.values)
    assert result.topics.height == 0
    assert result.warnings == ()


def test_a_result_is_frozen():
    result = measure_agreement(table(four_coders()), bootstrap=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.seed = 1
    with pytest.raises(KeyError):
        result["gamma"]


def test_resample_in_blocks_gives_each_draw(monkeypatch):
    from venire.agreement import bootstrap

    data = np.arange(12.0).reshape(4, 3)
    whole = resample([data], lambda sums: {"x": sums[:, 0]}, times=50, seed=1)
    monkeypatch.setattr(bootstrap, "CELLS", 8)
    parts = resample([data], lambda sums: {"x": sums[:, 0]}, times=50, seed=1)
    assert parts["x"].tolist() == whole["x"].tolist()
    with pytest.raises(BadSetting, match="at least 1"):
        resample([data], lambda sums: {"x": sums[:, 0]}, times=0, seed=1)
