"""TREC DL 2019 judged twice: the order of the 37 runs under NIST's grades and other assessors'.

Two of eight assessors judged each of 4,511 pairs again. Prints the order under their mean grade
beside that under NIST's, how strict they are, pools of several depths, and how the scores repeat
with one to ten assessors per pair. The figures stand in docs/ideas/what-holds.md.
"""

from __future__ import annotations

import polars as pl
from common import DATA, need, save, show

import venire
from venire.report.page import Page

MEASURES = ["AP", "nDCG@10", "P@10"]
SHOWN_JUDGES = (1, 2, 3, 5, 10)


def main() -> None:
    """Print and write the tables."""
    folder = need(DATA / "trec-dl19")
    qrels, runs = str(folder / "qrels-pass.txt"), str(folder / "runs")
    grades = pl.read_csv(need(DATA / "dl19-assessors" / "main_long.tsv"), separator="\t").select(
        query_id=pl.col("topic").cast(str),
        doc_id=pl.col("docno").cast(str),
        annotator_id="assessor",
        label="grade",
        nist="nist_grade",
    )
    assessors = grades.drop("nist")
    nist = grades.select("query_id", "doc_id", annotator_id=pl.lit("NIST"), label="nist").unique(
        maintain_order=True
    )
    result = venire.measure_repeatability(
        {"assessors": assessors, "NIST": nist}, runs, measures=MEASURES, model="mean"
    )
    orders = [
        {name: row[name] for name in ("measure", "tau", "tau_low", "tau_high", "swapped", "matter")}
        for row in result.orders
    ]
    show(orders, "Order of 37 runs under the assessors' mean grade and under NIST's, same pairs")
    offset = next(row for row in result.strictness if row["grade"] is None)
    show([offset], "Mean grade of the assessors less NIST's")
    pools = venire.simulate_pools(qrels, runs, depth=[5, 10, 20]).frame
    pools = pools.select(
        "depth", "per_topic", "found_share", "tau", "swapped", "largest_drop", "moved"
    )
    show(pools.to_dicts(), "Order of AP under a pool and under all of NIST's grades")
    rows = []
    for measure in MEASURES:
        needed = venire.simulate_annotators(assessors, runs, measures=[measure])
        rows += [
            {
                name: row[name]
                for name in ("measure", "judges", "tau_rep", "sd", "sd_low", "sd_high")
            }
            for row in needed.rows
            if row["judges"] in SHOWN_JUDGES
        ]
    show(rows, "Order and scores under another draw of as many assessors per pair")
    page = Page("TREC DL 2019 judged twice")
    for table in (orders, pools.to_dicts(), rows):
        page.table(table)
    save("assessors", rows, page)


if __name__ == "__main__":
    main()
