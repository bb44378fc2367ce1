import random
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from venire import Judgments, Qrels, Runs
from venire.tables.codes import code

SETTINGS = settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # shrinking takes minutes with files
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
anything = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=8
)
ids = anything | st.text("ab\"',;|\t\n\r\\ \u00a0\ufeff#{}", min_size=1, max_size=4)
blankless = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00 \t\n\r\x0b\x0c"),
    min_size=1,
    max_size=8,
)
scores = st.floats(allow_nan=False, allow_infinity=False)
judged = st.lists(st.tuples(ids, ids, ids, st.integers(-2, 3)), min_size=1, max_size=12)


def judgments_of(rows):
    columns = ["query_id", "doc_id", "annotator_id", "label"]
    return Judgments.of(pl.DataFrame(rows, schema=columns, orient="row"), repeats="all")


def written_and_read(table, ending):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{ending}"
        table.write(path)
        options = {"repeats": "all"} if isinstance(table, Judgments) else {}
        return type(table).read(path, **options)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
@SETTINGS
@given(rows=judged)
def test_judgments_written_and_read_are_the_same(ending, rows):
    # Tab-separated text has no way to say a tab or a line end in a cell; writing refuses it.
    assume(ending != ".tsv" or not any(set("\t\r\n") & set("".join(row[:3])) for row in rows))
    judgments = judgments_of(rows)
    again = written_and_read(judgments, ending)
    assert again.frame.rows() == judgments.frame.rows()
    assert again.scale == judgments.scale


@SETTINGS
@given(grades=st.dictionaries(st.tuples(blankless, blankless), st.integers(-3, 9), min_size=1))
def test_trec_qrels_written_and_read_are_the_same(grades):
    rows = [(query, doc, grade) for (query, doc), grade in grades.items()]
    columns = ["query_id", "doc_id", "relevance"]
    qrels = Qrels.of(pl.DataFrame(rows, schema=columns, orient="row"))
    assert written_and_read(qrels, ".txt").frame.rows() == qrels.frame.rows()


@SETTINGS
@given(
    found=st.dictionaries(st.tuples(blankless, blankless), scores, min_size=1, max_size=12),
    name=blankless,
)
def test_trec_runs_written_and_read_rank_the_same(found, name):
    rows = [(query, doc, score, name) for (query, doc), score in found.items()]
    columns = ["query_id", "doc_id", "score", "run_id"]
    runs = Runs.of(pl.DataFrame(rows, schema=columns, orient="row"))
    again = written_and_read(runs, ".run")
    for ties in ("trec", "docid-ascending", "file-order"):
        assert again.with_ranks(ties=ties).rows() == runs.with_ranks(ties=ties).rows()


@SETTINGS
@given(st.dictionaries(anything, st.sampled_from([0.0, -0.0, 1.0, -1.5]), min_size=1))
def test_ranking_is_by_score_then_by_bytes_falling(found):
    expected = sorted(found, key=lambda doc: (found[doc], doc.encode()), reverse=True)
    assert Runs.from_dict({"q": found}).with_ranks()["doc_id"].to_list() == expected


@SETTINGS
@given(st.lists(anything))
def test_codes_give_the_ids_back(column):
    codes, values = code(pl.Series("id", column, dtype=pl.String))
    assert [values[int(at)] for at in codes] == column
    assert values.to_list() == sorted(set(column), key=str.encode)


@SETTINGS
@given(judged)
def test_judgment_codes_give_the_rows_back(rows):
    judgments = judgments_of(rows)
    codes = judgments.codes
    pairs = codes.items.select("query_id", "doc_id").rows()
    back = [
        (*pairs[item], codes.annotators[int(who)], int(judgments.scale.values[label]))
        for item, who, label in zip(codes.item_of(), codes.annotator, codes.label, strict=True)
    ]
    assert sorted(back) == sorted(rows)
    assert [rows[at] for at in codes.row] == back
    assert len(pairs) == len({row[:2] for row in rows})
    for item, pair in enumerate(pairs):
        assert codes.items["first"][item] == [row[:2] for row in rows].index(pair)


@SETTINGS
@given(judged, st.randoms(use_true_random=False))
def test_codes_do_not_depend_on_the_order_of_rows(rows, chance: random.Random):
    other = list(rows)
    chance.shuffle(other)
    first, second = judgments_of(rows).codes, judgments_of(other).codes
    for name in ("indptr", "annotator", "label", "query"):
        assert getattr(first, name).tolist() == getattr(second, name).tolist()
    assert first.items.drop("first").equals(second.items.drop("first"))
    assert first.annotators.equals(second.annotators)
