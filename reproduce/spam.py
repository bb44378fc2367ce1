"""Reproduce figure 2 of arXiv:1305.0015: 0 to 9 fake judgments per item, by fake annotators."""

from __future__ import annotations

import plotly.graph_objects as go
from common import save, score, show, trec_rf10, web_relevance

from venire import plugins
from venire.report.page import Page
from venire.simulation.crowds.annotators import add_fakes

LEVELS = (0, 1, 3, 5, 7, 9)
SEED = 1
REFERENCE = {  # independent reference run, one seed: (MSE, Pearson)
    ("web-relevance", "mean"): {0: (0.520, 0.874), 3: (0.778, 0.796), 9: (1.100, 0.697)},
    ("web-relevance", "dawid-skene"): {0: (0.254, 0.931), 3: (0.353, 0.906), 9: (0.461, 0.879)},
    ("web-relevance", "ordinal-mixture"): {0: (0.316, 0.911), 3: (0.334, 0.905), 9: (0.294, 0.916)},
    ("trec-rf10", "mean"): {0: (0.650, 0.359), 3: (0.672, 0.295), 9: (0.685, 0.257)},
    ("trec-rf10", "dawid-skene"): {0: (0.712, 0.423), 3: (0.778, 0.390), 9: (0.843, 0.362)},
    ("trec-rf10", "ordinal-mixture"): {0: (0.580, 0.450), 3: (0.622, 0.390), 9: (0.645, 0.360)},
}


def main() -> None:
    rows = []
    page = Page("Models under fake judgments")
    for data, load in (("web-relevance", web_relevance), ("trec-rf10", trec_rf10)):
        judgments, gold = load()
        data_rows = []
        for level in LEVELS:
            spammed = add_fakes(judgments, level, seed=SEED)
            for name in plugins.names("aggregator"):
                posterior = plugins.load("aggregator", name)().fit(spammed)
                reference = REFERENCE.get((data, name), {}).get(level, (None, None))
                data_rows.append(
                    {"data": data, "fakes": level, "model": name}
                    | score(posterior, gold)
                    | {"reference mse": reference[0], "reference pearson": reference[1]}
                )
            print(f"{data}, {level} fakes per item: done", flush=True)
        show(data_rows, data)
        page.heading(data)
        for measure, title in (("mse", "mean squared error"), ("pearson", "Pearson's r")):
            figure = go.Figure()
            for name in plugins.names("aggregator"):
                line = [row for row in data_rows if row["model"] == name]
                figure.add_trace(
                    go.Scatter(
                        x=[row["fakes"] for row in line],
                        y=[row[measure] for row in line],
                        name=name,
                        mode="lines+markers",
                    )
                )
            figure.update_xaxes(title="fake judgments per item")
            figure.update_yaxes(title=title)
            page.plot(figure, data_rows, caption=f"{data}: {title}.")
        rows += data_rows
    save("spam", rows, page)


if __name__ == "__main__":
    main()
