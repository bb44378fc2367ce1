"""The verbs take tables, dataframes, mappings and paths, and return results with notes."""

import polars as pl
import pytest

import venire
from venire.errors import BadSetting, DataError, MissingColumns
from venire.tables.scale import WordLabel

LABELS = {
    "query_id": ["q1"] * 4 + ["q2"] * 4,
    "doc_id": ["a", "a", "b", "b"] * 2,
    "annotator_id": ["x", "y"] * 4,
    "label": [2, 2, 0, 1, 1, 1, 0, 0],
}
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
GOOD = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
POOR = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 2.0}}


@pytest.fixture
def folder(tmp_path):
    venire.Judgments.from_dict(LABELS).write(tmp_path / "judgments.csv")
    venire.Qrels.from_dict(QRELS).write(tmp_path / "known.qrels")
    (tmp_path / "runs").mkdir()
    for name, scores in (("good", GOOD), ("poor", POOR)):
        venire.Runs.from_dict(scores, run_id=name).write(tmp_path / "runs" / f"{name}.run")
    return tmp_path


@pytest.fixture
def runs():
    frames = [
        venire.Runs.from_dict(GOOD, run_id="good"),
        venire.Runs.from_dict(POOR, run_id="poor"),
    ]
    return venire.Runs(pl.concat([table.frame for table in frames]))


def kinds_of_judgments(folder):
    table = venire.Judgments.from_dict(LABELS)
    return [table, table.frame, LABELS, folder / "judgments.csv", str(folder / "judgments.csv")]


def test_judgments_of_every_kind_give_the_same_grades(folder):
    sources = kinds_of_judgments(folder)
    results = [venire.aggregate(source, "mean") for source in sources]
    assert all(result.frame.equals(results[0].frame) for result in results)
    values = [venire.measure_agreement(source, bootstrap=0).rows for source in sources]
    assert all(rows == values[0] for rows in values)


def test_qrels_and_runs_of_every_kind_give_the_same_scores(folder, runs):
    known = venire.Qrels.from_dict(QRELS)
    files = sorted((folder / "runs").iterdir())
    expected = venire.evaluate(known, runs, "AP").rows
    for qrels in (known.frame, QRELS, folder / "known.qrels"):
        for source in (runs, runs.frame, folder / "runs", files, [str(file) for file in files]):
            assert venire.evaluate(qrels, source, "AP").rows == expected
    assert expected == [{"run_id": "good", "AP": 1.0}, {"run_id": "poor", "AP": 0.25}]


def test_an_aggregation_has_its_posterior_and_the_notes_of_the_command(folder, tmp_path):
    result = venire.aggregate(
        folder / "judgments.csv", "majority", gold=QRELS, drop_labels=[2], scale="0,1,2"
    )
    assert "2 judgments with label 2 left out" in result.notes
    assert result.rows[0]["accuracy"] == 1.0
    assert result.posterior.model == "majority"
    assert result.qrels().to_dict()["q2"] == {"a": 1, "b": 0}
    page = venire.write_report(result, tmp_path / "out")
    assert page.name == "report.html"
    assert (tmp_path / "out" / "items.csv").exists()


def test_several_models_have_a_posterior_each():
    result = venire.aggregate(LABELS, "all", settings={"restarts": 1})
    assert [row["model"] for row in result.rows] == list(result.posteriors)
    with pytest.raises(BadSetting, match="name one `model`"):
        result.frame  # noqa: B018


def test_a_posterior_gives_intervals(runs):
    result = venire.aggregate(LABELS, "mean")
    for source in (result, result.posterior):
        rows = venire.evaluate(result.qrels(), runs, "AP", posterior=source, draws=5).rows
        assert set(rows[0]) == {"run_id", "AP", "AP low", "AP high"}
        better = venire.compare(QRELS, runs, posterior=source, draws=5, permutations=9).rows
        assert 0 <= better[0]["first_better"] <= 1


def test_trust_pools_and_repeatability(folder, runs):
    verdict = venire.trust(QRELS, runs, permutations=9, groups={"good": "one", "poor": "two"})
    assert len(verdict.rows) == 5
    pool = venire.pool(folder / "runs", depth=1)
    assert (len(pool), pool.rows[0]["pairs"]) == (4, 4)
    with pytest.raises(BadSetting, match="`depth` must be one number"):
        venire.pool(runs, depth=[1, 2]).frame  # noqa: B018
    result = venire.measure_repeatability({"crowd": LABELS, "expert": QRELS}, runs, "AP")
    assert result.orders[0]["tau"] == 1.0


def test_a_collection_is_searched(tmp_path):
    (tmp_path / "topics.tsv").write_text("query_id\ttitle\nq\twing flow\n")
    (tmp_path / "documents.tsv").write_text("doc_id\ttext\na\twing\nb\twing flow\n")
    for source in (tmp_path, venire.read_collection(tmp_path)):
        run = venire.retrieve(source, "bm25")
        assert run.frame["doc_id"].to_list() == ["b", "a"]
        assert "2 documents, 1 topic" in run.notes


def test_errors_name_arguments():
    with pytest.raises(BadSetting, match="`columns` must be NAME=VALUE"):
        venire.aggregate(LABELS, columns="query_id")
    with pytest.raises(BadSetting, match="`scale` applies to files and dataframes only"):
        venire.aggregate(venire.Judgments.from_dict(LABELS), scale="0,1,2")
    with pytest.raises(BadSetting, match="`scale` says how judgments are read"):
        venire.trust(QRELS, GOOD, scale="0,1")
    with pytest.raises(BadSetting, match="`runs` must name at least one file"):
        venire.evaluate(QRELS, [])
    with pytest.raises(DataError, match="no report for a dict"):
        venire.write_report({}, "out")


def test_qrels_of_beir_need_no_option_and_others_a_mapping(folder, runs):
    expected = venire.evaluate(QRELS, runs, "AP").rows
    lines = ["{}\t{}\t{}", "q1\ta\t1", "q1\tb\t0", "q2\ta\t1", "q2\tb\t0", ""]
    beir, other = folder / "beir.tsv", folder / "other.tsv"
    beir.write_text("\n".join(lines).format("query-id", "corpus-id", "score"))
    other.write_text("\n".join(lines).format("topic", "doc_id", "grade"))
    columns = {"query_id": "topic", "relevance": "grade"}
    assert venire.evaluate(beir, runs, "AP").rows == expected
    assert venire.evaluate(other, runs, "AP", columns=columns).rows == expected
    assert venire.compare(other, runs, columns="query_id=topic,relevance=grade").rows
    assert venire.pool(runs, qrels=other, columns=columns).rows[0]["relevant"] == 2
    with pytest.raises(MissingColumns, match=r"Map column names with `columns=\{'query_id'"):
        venire.evaluate(other, runs)
    with pytest.raises(MissingColumns, match=r"`qrels_columns=\{'query_id'"):
        venire.trust(other, runs)
    with pytest.raises(MissingColumns, match=r"\. Rename the columns in the file\."):
        venire.simulate_pools(other, runs)
    with pytest.raises(BadSetting, match="`columns` applies to files and dataframes only"):
        venire.evaluate(venire.Qrels.from_dict(QRELS), runs, columns=columns)


def test_words_as_labels_and_folders_without_probabilities_say_what_to_pass(folder):
    words = LABELS | {"label": ["good", "bad"] * 4}
    with pytest.raises(WordLabel, match=r'Pass them worst first, for example `scale="good,bad"`'):
        venire.aggregate(words)
    mixed = LABELS | {"label": ["1", "n/a"] * 4}
    with pytest.raises(WordLabel, match=r"Leave it out with `drop_labels=\['n/a'\]`"):
        venire.aggregate(mixed)
    with pytest.raises(DataError, match=r"has no items\.parquet") as caught:
        venire.evaluate(QRELS, GOOD, posterior=folder)
    assert caught.value.code == "no-grade-probabilities"
