"""Results of earlier versions on the Crowd page, and the bands of its charts."""

from types import SimpleNamespace

from venire.server.web.pages import charts, crowd


def test_an_estimate_of_an_earlier_version_is_not_shown():
    old = {
        "rows": [{"measure": "AP", "judges": 1, "sd": 0.1, "tau": 0.9}],
        "recommended": {"AP": 1},
    }
    assert crowd._read_annotators(None, SimpleNamespace(result=old)) == {"is_outdated": True}


def test_a_forecast_of_an_earlier_version_keeps_its_hours():
    row = {
        "depth": 10, "overlap": 3, "batch_size": 10, "gold_size": 2, "gold_errors": 0, "pairs": 5,
        "judgments": 18.0, "money": 1.5, "hours": 2.5, "rejected": 0.1, "error": 0.2, "kappa": 0.5,
        "tau": 0.9, "tau_low": 0.8, "tau_high": 1.0, "given_up": 0.0, "best": True,
    }  # fmt: skip
    job = SimpleNamespace(result={"rows": [row], "settings": {"crowd": {}, "replays": 20}})
    shown = crowd._read_forecast(None, job)
    assert shown["designs"][0][1]["work_hours"] == 2.5
    assert shown["designs"][0][1]["spam_rejected"] is None
    assert shown["advice"] == []


def test_a_band_follows_each_line():
    rows = [
        {"measure": name, "judges": j, "sd": 0.2 / j, "sd_low": 0.1 / j, "sd_high": 0.3 / j}
        for name in ("AP", "<P>") for j in (1, 2)
    ]  # fmt: skip
    chart = charts.draw_bands(rows, "judges", "sd", ("judges", "sd"), 0.05)
    lines, bands = chart["data"][:2], chart["data"][2:]
    assert [line["name"] for line in lines] == ["AP", "&lt;P&gt;"]
    assert [band["x"] for band in bands] == [[1, 2, 2, 1]] * 2
    assert bands[0]["y"] == [0.3, 0.15, 0.05, 0.1]
    assert [band["fillcolor"] for band in bands] == [line["line"]["color"] for line in lines]
    assert chart["layout"]["shapes"][0]["y0"] == 0.05
    assert charts.draw_bands([], "judges", "sd", ("x", "y")) is None
