import csv
import json

import polars as pl
import pytest

from venire import Judgments, Qrels
from venire.errors import DataError
from venire.formats.judgment_lists import (
    write_opensearch_csv,
    write_opensearch_json,
    write_quepid_book_csv,
    write_quepid_csv,
)

TOPICS = pl.DataFrame({"query_id": ["q1", "q2", "q3"], "title": ["red dress", '=a, "b"', ""]})
QRELS = Qrels.from_dict({"q1": {"B2": 2, "B1": 0.5}, "q2": {"é": 0, "x": -1}})


def rows(path):
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def test_opensearch_json(tmp_path):
    path = tmp_path / "o.json"
    notes = write_opensearch_json(QRELS, TOPICS, path, name="Pilot", description="first wave")
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "name": "Pilot",
        "description": "first wave",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {
                "query": "red dress",
                "ratings": [{"docId": "B1", "rating": "0.5"}, {"docId": "B2", "rating": "2.0"}],
            },
            {"query": '=a, "b"', "ratings": [{"docId": "é", "rating": "0.0"}]},
        ],
    }
    assert notes == ("1 pair with a negative grade (in the pool, not judged) left out",)


def test_both_csv(tmp_path):
    path = tmp_path / "o.csv"
    write_opensearch_csv(QRELS, TOPICS, path)
    wanted = [
        ["query", "docid", "rating"],
        ["red dress", "B1", "0.5"],
        ["red dress", "B2", "2.0"],
        ['=a, "b"', "é", "0.0"],
    ]
    assert rows(path) == wanted
    write_quepid_csv(QRELS, TOPICS, path)
    wanted[3][0] = ' =a, "b"'
    assert rows(path) == wanted


def test_quepid_book(tmp_path):
    judgments = Judgments.from_dict(
        {
            "query_id": ["q2", "q1", "q1", "q1"],
            "doc_id": ["d", "d", "d", "d"],
            "annotator_id": ["@eve", "bob", "@eve", "bob"],
            "label": [1, 0, 2, 1],
        }
    )
    notes = write_quepid_book_csv(judgments, TOPICS, tmp_path / "b.csv")
    assert rows(tmp_path / "b.csv") == [
        ["query", "docid", " @eve", "bob"],
        ["red dress", "d", "2.0", "1.0"],
        [' =a, "b"', "d", "1.0", ""],
    ]
    assert notes == ("1 earlier judgment left out",)


def test_topics_must_have_titles_of_their_own(tmp_path):
    with pytest.raises(DataError, match="'q3' has no title"):
        write_quepid_csv(Qrels.from_dict({"q3": {"d": 1}}), TOPICS, tmp_path / "x")
    with pytest.raises(DataError, match="'q9' has no title"):
        write_quepid_csv(Qrels.from_dict({"q9": {"d": 1}}), TOPICS, tmp_path / "x")
    same = pl.DataFrame({"query_id": ["a", "b"], "title": ["t", "t "]})
    both = Qrels.from_dict({"a": {"d": 1}, "b": {"d": 1}})
    with pytest.raises(DataError, match="'a' and 'b' have the same title, 't'"):
        write_quepid_csv(both, same, tmp_path / "x")
    # Only topics with judgments count.
    assert write_quepid_csv(Qrels.from_dict({"a": {"d": 1}}), same, tmp_path / "x") == ()
    assert not any(tmp_path.glob("*.tmp"))
