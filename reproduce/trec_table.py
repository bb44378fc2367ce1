"""Reproduce table 1 of arXiv:1305.0015 on TREC: every model, three settings of difficulty.

The numbers of the published table are not available in the source text. The reference values are
those of an independent run on the same file.
"""

from __future__ import annotations

import plotly.graph_objects as go
from common import save, score, show, trec_rf10

from venire import plugins
from venire.aggregation.ordinal_mixture.model import OrdinalMixture
from venire.report.page import Page

REFERENCE = {
    "mean": (0.6495, 0.3591, 0.8632),
    "median": (0.7463, 0.3361, 0.8553),
    "majority": (0.8540, 0.3177, 0.8550),
    "dawid-skene": (0.712, 0.423, 0.879),
    "ordinal-mixture (none)": (0.580, 0.450, 0.878),
    "ordinal-mixture (query)": (0.573, 0.457, 0.881),
    "ordinal-mixture (item)": (0.574, 0.456, 0.880),
    "ordinal-mixture (none, exact)": (0.649, 0.364, 0.868),
    "ordinal-mixture (query, exact)": (0.643, 0.371, 0.869),
    "ordinal-mixture (item, exact)": (0.653, 0.359, 0.867),
}


def main() -> None:
    judgments, gold = trec_rf10()
    models = {
        name: plugins.load("aggregator", name)()
        for name in plugins.names("aggregator")
        if name != "ordinal-mixture"
    }
    for responsibility in ("paper", "exact"):
        for level in ("none", "query", "item"):
            label = f"ordinal-mixture ({level}{', exact' if responsibility == 'exact' else ''})"
            models[label] = OrdinalMixture(difficulty=level, responsibility=responsibility)
    rows = []
    for name, model in models.items():
        posterior = model.fit(judgments)
        reference = REFERENCE.get(name, (None, None, None))
        rows.append({"model": name, "converged": posterior.converged} | score(posterior, gold))
        rows[-1] |= dict(
            zip(("reference mse", "reference pearson", "reference ndcg"), reference, strict=True)
        )
        print(f"{name}: done", flush=True)
    show(rows, "TREC 2010 relevance feedback: 91,783 judgments, 3,275 items with NIST grades")
    page = Page("TREC crowd judgments: every model against NIST")
    page.table(rows, digits=4)
    figure = go.Figure(
        go.Scatter(
            x=[row["mse"] for row in rows],
            y=[row["pearson"] for row in rows],
            text=[row["model"] for row in rows],
            mode="markers+text",
            textposition="top center",
        )
    )
    figure.update_xaxes(title="mean squared error")
    figure.update_yaxes(title="Pearson's r")
    page.plot(figure, rows, caption="The upper left is best.")
    save("trec_table", rows, page)


if __name__ == "__main__":
    main()
