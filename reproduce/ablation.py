"""Reproduce figure 3 of arXiv:1305.0015: ordinal link and spam component on and off, under spam."""

from __future__ import annotations

import plotly.graph_objects as go
from common import save, score, show, trec_rf10, web_relevance

from venire.aggregation.ordinal_mixture.model import OrdinalMixture
from venire.report.page import Page
from venire.simulation.crowds.annotators import add_fakes

LEVELS = (0, 3, 9)
SEED = 1
VARIANTS = {
    "ordinal, spam": {"ordinal": True, "spam": True},
    "ordinal, no spam": {"ordinal": True, "spam": False},
    "real-valued, spam": {"ordinal": False, "spam": True},
    "real-valued, no spam": {"ordinal": False, "spam": False},
}


def main() -> None:
    rows = []
    page = Page("Ordinal link and spam component, on and off")
    for data, load in (("web-relevance", web_relevance), ("trec-rf10", trec_rf10)):
        judgments, gold = load()
        data_rows = []
        for level in LEVELS:
            spammed = add_fakes(judgments, level, seed=SEED)
            for name, settings in VARIANTS.items():
                posterior = OrdinalMixture(**settings).fit(spammed)
                data_rows.append(
                    {"data": data, "fakes": level, "variant": name}
                    | score(posterior, gold)
                    | {"converged": posterior.converged}
                )
            print(f"{data}, {level} fakes per item: done", flush=True)
        show(data_rows, data)
        page.heading(data)
        figure = go.Figure()
        for name in VARIANTS:
            line = [row for row in data_rows if row["variant"] == name]
            figure.add_trace(
                go.Scatter(
                    x=[row["fakes"] for row in line],
                    y=[row["mse"] for row in line],
                    name=name,
                    mode="lines+markers",
                )
            )
        figure.update_xaxes(title="fake judgments per item")
        figure.update_yaxes(title="mean squared error")
        page.plot(figure, data_rows, caption=f"{data}: the four variants.")
        rows += data_rows
    save("ablation", rows, page)


if __name__ == "__main__":
    main()
