"""Runs whose scores say less than they seem to are named, with numbers."""

import polars as pl
import pytest

import venire
from venire import Qrels, Runs
from venire.errors import BadSetting, DataError
from venire.evaluation.score import score_runs

QRELS = {"q": {"a": 1, "b": 0}, "r": {"c": 1}, "s": {"d": 1}}


def runs(**documents):
    """Return runs: ``name={topic: "documents in order"}``."""
    frames = [
        Runs.from_dict(
            {
                topic: {document: -rank for rank, document in enumerate(text.split())}
                for topic, text in topics.items()
            },
            run_id=name,
        ).frame
        for name, topics in documents.items()
    ]
    return Runs(pl.concat(frames))


def notes_of(table, measures=("AP",), **options):
    return score_runs(Qrels.from_dict(QRELS), table, measures, **options).notes


def test_a_run_without_a_document_of_the_qrels_is_named():
    table = runs(good={"q": "a b", "r": "c", "s": "d"}, foreign={"q": "A B", "r": "C", "s": "D"})
    (note,) = notes_of(table)
    assert note.startswith("no document of run foreign is in the qrels; for topic q the qrels")
    assert "have 'a', run foreign has 'A'" in note


def test_averages_over_different_topics_are_named():
    table = runs(many={"q": "a", "r": "c", "s": "d"}, few={"q": "a"})
    (note,) = notes_of(table, topics="run")
    assert "(number of topics: few 1, many 3); do not compare" in note
    # As many topics, but others.
    table = runs(first={"q": "a"}, second={"r": "c"})
    assert any("different topics" in note for note in notes_of(table, topics="run"))
    assert not any("different topics" in note for note in notes_of(table))
    table = runs(first={"q": "a"}, second={"q": "b"})
    assert notes_of(table, topics="run") == ()


def test_topics_that_a_run_lacks_are_counted():
    table = runs(few={"q": "a"})
    (note,) = notes_of(table)
    assert note == "run few has no documents for 2 of 3 topics (r, s): each counts as 0"


def test_a_cutoff_beyond_what_a_run_ranks_is_named():
    table = runs(
        short={"q": "a b", "r": "c", "s": "d"}, long={"q": "a b x y z", "r": "c", "s": "d"}
    )
    (note,) = notes_of(table, ["nDCG@5"])
    assert note.startswith("nDCG@5 looks at 5 documents")
    assert note.endswith("by run short (2)")
    assert notes_of(table, ["nDCG@3", "AP"]) == ()


def test_compare_and_trust_carry_the_notes():
    table = runs(good={"q": "a b", "r": "c", "s": "d"}, foreign={"q": "A B", "r": "C", "s": "D"})
    for result in (
        venire.compare(QRELS, table, permutations=10),
        venire.trust(QRELS, table, permutations=10),
    ):
        assert any("no document of run foreign" in note for note in result.notes)


def test_a_pool_names_short_and_partial_runs():
    table = runs(short={"q": "a b", "r": "c", "s": "d"}, long={"q": "a b x y z w"})
    notes = venire.pool(table, depth=6).notes
    assert "runs that answer fewer than 3 topics: long 1" in notes
    assert "runs that rank at most half of 6 documents for any topic: short (2)" in notes
    with pytest.raises(BadSetting, match="the pool of topic q has 6") as error:
        venire.pool(table, depth=6, collection_size=5).rows  # noqa: B018
    assert error.value.argument == "collection_size"


def test_one_topic_has_no_interval():
    table = runs(good={"q": "a b"}, poor={"q": "b a"})
    result = venire.compare({"q": {"a": 1, "b": 0}}, table, permutations=10)
    assert (result.rows[0]["low"], result.rows[0]["high"]) == (None, None)
    assert "one topic: no interval and no t-test" in result.notes


def test_counts_are_summed_and_listed_once():
    result = venire.evaluate(
        QRELS, runs(r={"q": "a b", "r": "c"}), ["NumRelRet", "NumRet(rel=1)", "NumQ"]
    )
    assert result.rows == [{"run_id": "r", "NumRet(rel=1)": 2.0, "NumQ": 3.0}]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("StRecall@10", "needs grades per subtopic"),
        ("alpha_nDCG@10", "needs grades per subtopic"),
        ("INST", r"INST needs max_rel. Write it as INST\(max_rel=3\)"),
        ("BPM", r"BPM needs cutoff and max_rel. Write it as BPM\(max_rel=3\)@10"),
        ("NERR8@10", r"Write it as NERR8\(max_rel=3\)@10"),
        (f"AP(rel={'-' * 3000}1)", "cannot read the parameters of 'AP"),
    ],
)
def test_measures_that_cannot_be_computed_are_refused_in_one_line(measure, message):
    with pytest.raises(BadSetting, match=message) as error:
        venire.evaluate(QRELS, runs(r={"q": "a"}), [measure])
    assert len(str(error.value)) < 300


def test_err_refuses_a_grade_above_its_highest():
    qrels = {"q": {"a": 5, "b": 0}}
    table = runs(r={"q": "a b"})
    with pytest.raises(DataError, match=r"have grade 5, and ERR takes 4.*ERR\(highest=5\)"):
        venire.evaluate(qrels, table, ["ERR@10"])
    # (2^5 - 1) / 2^5 at rank 1.
    result = venire.evaluate(qrels, table, ["ERR(highest=5)@1"])
    assert result.rows[0]["ERR(highest=5)@1"] == pytest.approx(31 / 32)


def test_rbp_prints_the_grade_it_counts_from():
    result = venire.evaluate(QRELS, runs(r={"q": "a"}), ["RBP(p=0.8)", "RBP(rel=1)"])
    assert list(result.rows[0]) == ["run_id", "RBP(rel=1)"]


@pytest.mark.filterwarnings("error")
def test_judged_only_divides_by_no_zero():
    qrels = {"q": {"a": 1, "m": -1}}
    result = venire.evaluate(qrels, runs(r={"q": "m a"}), ["nDCG(judged_only=True)"])
    assert result.rows[0]["nDCG(judged_only=True)"] == 1.0
