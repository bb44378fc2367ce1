"""Panels of annotators: a crowd is one panel, an assessor of whole topics is one of their own."""

import numpy as np
import polars as pl

from venire import Judgments, Qrels, Runs
from venire.evaluation.score import rank
from venire.reliability.assessor_panels import ALL_TOGETHER, make_panels

TOPICS, DOCUMENTS = 8, 12
PAIRS = pl.DataFrame(
    [(f"q{topic}", f"d{document:02}") for topic, document in np.ndindex(TOPICS, DOCUMENTS)],
    schema=["query_id", "doc_id"],
    orient="row",
)
QRELS = Qrels(PAIRS.with_columns(relevance=pl.Series(np.arange(PAIRS.height) % 3)))
TABLE = rank(QRELS, Runs.from_dict({"q0": {"d00": 1.0}}))
GRADES = TABLE.grades(QRELS)


def judge(names):
    """Return judgments: the label of each (annotator, pair) is that of the qrels plus the code."""
    rows = [
        (query, doc, name, (grade + code) % 3)
        for (query, doc), grade, row_names in zip(PAIRS.iter_rows(), GRADES, names, strict=True)
        for code, name in enumerate(row_names)
    ]
    columns = ["query_id", "doc_id", "annotator_id", "label"]
    return Judgments.of(pl.DataFrame(rows, schema=columns, orient="row"), scale="0,1,2")


def test_a_crowd_is_one_panel_settled_by_majority():
    # 18 workers, three per pair, none with more than a sixth of a topic.
    crowd = [
        (f"w{pair % 6:02}", f"w{6 + pair % 6:02}", f"w{12 + pair % 6:02}")
        for pair in range(PAIRS.height)
    ]
    judgments = judge(crowd)
    (panel,), notes = make_panels(TABLE, judgments, GRADES)
    assert panel.name == ALL_TOGETHER
    # Three labels that all differ: the lowest wins, as majority says.
    assert panel.grades.tolist() == [0] * PAIRS.height
    assert "18 annotators: their judgments are settled by majority" in notes[0]
    assert "18 annotators judged too few pairs of each topic" in notes[1]


def test_assessors_of_whole_topics_are_panels_and_one_grade_is_drawn_of_them_together():
    together, first, second = make_panels(TABLE, judge([("A1", "A2")] * PAIRS.height), GRADES)[0]
    assert (first.name, second.name) == ("A1", "A2")
    assert first.grades.tolist() == GRADES.tolist()
    assert second.grades.tolist() == ((GRADES + 1) % 3).tolist()
    is_first = together.grades == GRADES
    assert (is_first | (together.grades == (GRADES + 1) % 3)).all()
    # A fair coin for each pair and row.
    assert 0.4 < is_first.mean() < 0.6


def test_one_annotator_is_one_panel():
    (panel,), _ = make_panels(TABLE, judge([("A1",)] * PAIRS.height), GRADES)
    assert panel.name == "A1"


def test_pairs_outside_the_qrels_count_for_nothing():
    judgments = judge([("A1", "A2")] * PAIRS.height)
    grades = GRADES.copy()
    grades[:6] = -1
    panels, _ = make_panels(TABLE, judgments, grades)
    assert all((np.atleast_2d(panel.grades)[:, :6] < 0).all() for panel in panels)
    assert make_panels(TABLE, judgments, np.full(len(GRADES), -1))[0] == []
