"""Charts: what they draw, computed by hand; and every chart of a page has its table."""

import json
import re

import polars as pl
import pytest

from venire.server.web.pages import charts
from venire.server.web.pages.grouping_charts import draw_time_and_recall, draw_time_saved
from venire.server.web.pages.simulation import _read_result
from venire.server.web.rendering import WEB_FOLDER, _load_templates


def points(trace):
    return list(zip(trace["x"], trace["y"], strict=True))


def test_topics_are_drawn_lowest_first_without_those_that_have_no_value():
    frame = pl.DataFrame({"query_id": ["q1", "q2", "q3", "q4"], "alpha": [0.9, None, 0.2, 0.2]})
    chart = charts.draw_topics(frame, "alpha", "alpha")
    (trace,) = chart["data"]
    assert points(trace) == [(1, 0.2), (2, 0.2), (3, 0.9)]
    assert trace["text"] == ["q3", "q4", "q1"]
    assert chart["layout"]["xaxis"]["title"]["text"] == "topics, lowest alpha first"
    assert charts.draw_topics(frame.filter(pl.col("alpha").is_null()), "alpha", "alpha") is None


def test_the_histogram_of_uncertainty_has_thirty_bins_up_to_the_largest_value():
    # Bins of 0.1: 0.05 in the first, 1.5 in the 16th, the largest in the last.
    (trace,) = charts.draw_uncertainty([0.05, 0.0, 1.5, 3.0])["data"]
    assert trace["y"] == [2, *[0] * 14, 1, *[0] * 13, 1]
    assert (trace["x"][0], trace["x"][-1]) == pytest.approx((0.05, 2.95))
    assert sum(trace["y"]) == 4
    # All grades certain: one bar at 0, and no division by 0.
    (trace,) = charts.draw_uncertainty([0.0, 0.0])["data"]
    assert trace["y"] == [2, *[0] * 29]
    assert charts.draw_uncertainty([]) is None


def test_scores_are_drawn_best_run_first_and_three_measures_are_on():
    rows = [
        {"run_id": "<b>", "AP": 0.2, "P@10": 0.1, "RR": 0.5, "Bpref": 0.3},
        {"run_id": "good", "AP": 0.4, "P@10": 0.3, "RR": 0.6, "Bpref": 0.4},
        {"run_id": "none", "AP": None, "P@10": None, "RR": None, "Bpref": None},
    ]
    traces = charts.draw_scores(rows)["data"]
    assert [trace["name"] for trace in traces] == ["AP", "P@10", "RR", "Bpref"]
    assert points(traces[0]) == [("good", 0.4), ("&lt;b&gt;", 0.2), ("none", None)]
    assert points(traces[1]) == [("good", 0.3), ("&lt;b&gt;", 0.1), ("none", None)]
    assert [trace["visible"] for trace in traces] == [True, True, True, "legendonly"]
    assert charts.draw_scores([]) is None
    many = [{"run_id": str(number), "AP": number / 100} for number in range(50)]
    (trace,) = charts.draw_scores(many)["data"]
    assert len(trace["x"]) == charts.MAX_RUNS
    assert (trace["x"][0], trace["x"][-1]) == ("49", "10")


def test_each_run_goes_from_its_rank_in_the_pool_to_its_rank_without():
    frame = pl.DataFrame({"run_id": ["b", "a"], "rank": [2, 1], "rank_without": [1, 2]})
    chart = charts.draw_left_out_runs(frame)
    assert [trace["name"] for trace in chart["data"]] == ["a", "b"]
    assert points(chart["data"][0]) == [("in the pool", 1), ("left out", 2)]
    assert points(chart["data"][1]) == [("in the pool", 2), ("left out", 1)]
    assert chart["layout"]["yaxis"]["autorange"] == "reversed"
    assert charts.draw_left_out_runs(frame.clear()) is None


def test_a_line_per_column_and_a_line_per_measure():
    rows = [{"run_id": "a", "wave 1": 0.5, "experts": 0.6}, {"run_id": "b", "wave 1": 0.4,
             "experts": 0.7}]  # fmt: skip
    chart = charts.draw_columns(rows, "run_id", ["wave 1", "experts"], ("systems", "AP"))
    assert [(trace["name"], points(trace)) for trace in chart["data"]] == [
        ("wave 1", [("a", 0.5), ("b", 0.4)]),
        ("experts", [("a", 0.6), ("b", 0.7)]),
    ]
    assert chart["layout"]["xaxis"] == {"title": {"text": "systems"}, "type": "category"}
    rows = [
        {"measure": measure, "judges": judges, "sd": sd}
        for measure, judges, sd in (("AP", 1, 0.3), ("P@10", 1, 0.4), ("AP", 2, 0.1))
    ]
    chart = charts.draw_measures(rows, "judges", "sd", ("judgments per pair", "sd"))
    assert [(trace["name"], points(trace)) for trace in chart["data"]] == [
        ("AP", [(1, 0.3), (2, 0.1)]),
        ("P@10", [(1, 0.4)]),
    ]
    assert chart["layout"]["xaxis"]["dtick"] == 1
    assert charts.draw_columns([], "run_id", ["a"], ("x", "y")) is None
    assert charts.draw_measures([], "judges", "sd", ("x", "y")) is None


def test_a_line_joins_the_designs_of_the_pareto_front_by_cost():
    rows = [
        {"design": "overlap 5", "money": 50, "tau": 0.9, "best": True},
        {"design": "overlap 1", "money": 10, "tau": 0.6, "best": True},
        {"design": "overlap 3", "money": 60, "tau": 0.8, "best": False},
        {"design": "overlap 0", "money": 1, "tau": None, "best": False},
    ]
    front, others = charts.draw_designs(rows)["data"]
    assert (front["name"], front["mode"]) == ("Pareto front", "lines+markers")
    assert points(front) == [(10, 0.6), (50, 0.9)]
    assert front["text"] == ["overlap 1", "overlap 5"]
    assert (others["mode"], points(others)) == ("markers", [(60, 0.8)])
    assert len(charts.draw_designs(rows[:2])["data"]) == 1
    assert charts.draw_designs(rows[3:]) is None


def unit(setting, annotator, seconds, recall, saved, within):
    return {
        "setting": setting, "annotator": annotator, "seconds_per_image": seconds, "recall": recall,
        "saved": saved, "saved_low": saved, "saved_high": saved, "loss": 0.9 - recall,
        "loss_low": None, "loss_high": None, "within": within, "never_looked": 0.0, "judged": 1.0,
        "corrected": 0.0, "labelled": 0.0, "words": setting, "short": setting,
    }  # fmt: skip


ONE = "one-at-a-time"
BASE = unit(ONE, "typical", 5.0, 0.9, 0.0, True)
LEADER = unit("leader(cosine=0.9)", "typical", 2.0, 0.89, 0.6, True)
LINKAGE = unit("average-linkage(distance=0.4)", "typical", 4.0, 0.7, 0.2, False)


def test_time_and_recall_of_each_setting_with_one_at_a_time_as_the_line():
    chart = draw_time_and_recall([LEADER, LINKAGE], BASE, LEADER["setting"], 0.02)
    traces = {trace["name"]: points(trace) for trace in chart["data"]}
    assert traces == {
        "loses more than 2 points": [(4.0, 0.7)],
        "recommended ★": [(2.0, 0.89)],
        "one at a time": [(5.0, 0.9)],
    }
    (line,) = chart["layout"]["shapes"]
    assert (line["y0"], line["y1"]) == (0.9, 0.9)
    # A tenth of 0.7 to 0.9 on both sides.
    assert chart["layout"]["yaxis"]["range"] == pytest.approx([0.68, 0.92])
    alone = draw_time_and_recall([], {**BASE, "recall": 1.0}, ONE, 0.02)
    assert alone["layout"]["yaxis"]["range"] == pytest.approx([0.99, 1.01])


def test_time_saved_is_in_per_cent_with_the_largest_on_top():
    chart = draw_time_saved([LEADER, LINKAGE], LEADER["setting"])
    (trace,) = chart["data"]
    assert trace["x"] == pytest.approx([20, 60])
    assert trace["y"] == ["average-linkage(distance=0.4)", "leader(cosine=0.9) ★"]
    assert trace["customdata"] == [LINKAGE["setting"], LEADER["setting"]]
    assert trace["marker"]["color"] == [charts.GREY, "#c4541a"]
    assert draw_time_saved([], ONE) is None


def test_every_point_of_a_simulation_has_its_row():
    result = {
        "verdict": "", "doubts": [], "setting": LEADER["setting"], "encoder": "mine",
        "points": 0.02, "chosen": ["typical"], "rows": [BASE, LEADER, LINKAGE],
        "types": [BASE, LEADER, LINKAGE],
    }  # fmt: skip
    report = _read_result(result, {"truth": "qrels:old"}, [])
    assert report["labels"] == "old"
    for name, drawn in report["charts"].items():
        rows = {
            (row["setting"], row["seconds_per_image"], row["recall"])
            for row in report["tables"][name]
        }
        shown = {
            point
            for trace in drawn["scatter"]["data"]
            for point in zip(trace["customdata"], trace["x"], trace["y"], strict=True)
        }
        assert shown == rows
        assert set(drawn["bars"]["data"][0]["customdata"]) == {row[0] for row in rows} - {ONE}


FIGURE = r'<figure class="chart"'
TABLE = r"parts\.table\(|{{ \w+_table\(|<table|cosine-table"
CHART_PAGES = sorted(
    path.name
    for path in (WEB_FOLDER / "templates").glob("*.html")
    if re.search(r"parts\.chart\(|" + FIGURE, path.read_text()) and path.name != "parts.html"
)


def test_the_pages_with_charts_are_known():
    assert CHART_PAGES == [
        "aggregate.html", "agreement.html", "crowd_judgments.html", "crowd_planner.html",
        "crowd_repeatability.html", "evaluate.html", "simulation.html", "trust.html",
    ]  # fmt: skip


@pytest.mark.parametrize("name", CHART_PAGES)
def test_a_table_follows_every_chart(name):
    """Between two groups of charts, and after the last, there is a table."""
    text = (WEB_FOLDER / "templates" / name).read_text()
    mark = re.compile(rf"parts\.chart\(|{FIGURE}|{TABLE}")
    kinds = ["chart" if "chart" in match[0] else "table" for match in mark.finditer(text)]
    assert "chart" in kinds
    last = len(kinds) - 1 - kinds[::-1].index("chart")
    assert "table" in kinds[last:], f"{name}: no table after the last chart"
    sections = re.split(r"<h[23]|<section", text)
    for part in sections:
        if re.search(r"parts\.chart\(|" + FIGURE, part):
            assert re.search(TABLE, part), part[:200]


def test_a_chart_is_data_in_the_page_and_has_a_label():
    parts = _load_templates().get_template("parts.html").module
    spec = charts.draw_scores([{"run_id": "</script>", "AP": 1.0}])
    html = str(parts.chart(spec, "Score of each run"))
    assert html.count("</script>") == 1
    data = json.loads(re.search(r"application/json\">(.*?)</script>", html)[1])
    assert data == spec
    assert 'aria-label="Score of each run"' in html
    assert str(parts.chart(None, "None")).strip() == ""
