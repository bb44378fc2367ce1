"""Data, scores and output shared by the reproductions."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import polars as pl

from venire import Judgments, Qrels
from venire.aggregation.check.truth import score_against_gold
from venire.aggregation.posterior import Posterior
from venire.report.page import Page

DATA = Path(os.environ.get("VENIRE_DATA", Path(__file__).parents[2] / "shared" / "data"))
OUT = Path(__file__).parent / "output"


def need(path: Path) -> Path:
    """Return the path of a data file; end the script with a message if it does not exist."""
    if not path.exists():
        print(f"skipped: {path}: no such file. Set VENIRE_DATA to the data folder.")
        sys.exit(0)
    return path


def trec_rf10() -> tuple[Judgments, Qrels]:
    """Return the TREC 2010 crowd judgments and the NIST grades."""
    judgments = Judgments.read(
        need(DATA / "trec-rf10" / "trec-rf10-data.txt.gz"),
        columns={"query_id": "topicID", "annotator_id": "workerID", "doc_id": "docID"},
        drop_labels=["-2"],
    )
    return judgments, judgments.gold("gold")


def web_relevance() -> tuple[Judgments, Qrels]:
    """Return the web search crowd judgments and their grades; all items have the same query."""
    folder = DATA / "web-relevance"
    judgments = Judgments.read(
        need(folder / "label.csv"),
        columns={"query_id": ":web", "annotator_id": "worker", "doc_id": "item"},
    )
    gold = Qrels.read(
        need(folder / "truth.csv"),
        columns={"query_id": ":web", "doc_id": "item", "relevance": "truth"},
    )
    return judgments, gold


def score(posterior: Posterior, gold: Qrels) -> dict[str, float | None]:
    """Return the source paper's three scores."""
    truth = score_against_gold(posterior, gold)
    return {"mse": truth.mse, "pearson": truth.pearson, "ndcg": truth.ndcg}


def show(rows: list[dict[str, object]], title: str) -> None:
    """Print rows as a table."""
    print(f"\n{title}")
    with pl.Config(
        tbl_rows=200, tbl_cols=20, tbl_hide_dataframe_shape=True, float_precision=4,
        tbl_hide_column_data_types=True, fmt_str_lengths=60, tbl_width_chars=140,
    ):  # fmt: skip
        print(pl.DataFrame(rows))


def save(name: str, rows: list[dict[str, object]], page: Page) -> None:
    """Write NAME.csv and NAME.html."""
    OUT.mkdir(exist_ok=True)
    with (OUT / f"{name}.csv").open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    page.write(OUT / f"{name}.html")
    print(f"written: reproduce/output/{name}.csv and {name}.html")
