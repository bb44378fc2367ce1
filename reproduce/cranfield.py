"""Reproduce the Cranfield tables of the article "Relevance Judgments, Pooling, and Agreement".

The article gives the twelve MAPs to three digits, an independent run of its settings to four.
Figures of simulated assessors depend on random numbers: they agree if they are within .02.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import polars as pl
from common import DATA, need, save, show

from venire.agreement.pairs import Pair
from venire.formats.collection import read_collection
from venire.report.page import Page
from venire.retrieval.systems import search_documents
from venire.simulation.pools.pool_simulator import PoolSimulator
from venire.simulation.pools.second_assessor import SecondAssessor
from venire.simulation.pools.substitution import SimulatedSubstitution, simulate_substitution
from venire.tables.qrels import Qrels
from venire.tables.runs import Runs

# Ties by ascending document number: the order of the collection.
TIES = "file-order"
MAPS = {
    "bm25": 0.3066, "bm25-k1-3": 0.3113, "bm25-b-0": 0.2706, "bm25-stop-words": 0.3058,
    "bm25-unstemmed": 0.2822, "tf-idf": 0.2942, "tf-idf-unstemmed": 0.2739,
    "query-likelihood": 0.2770, "query-likelihood-unstemmed": 0.2549, "bim": 0.2203,
    "coordination": 0.1720, "raw-tf": 0.0288,
}  # fmt: skip
POOL_COLUMNS = (
    "per_topic", "share_of_lists", "share_of_collection", "found_share", "best_run_share"
)  # fmt: skip
POOLS = {  # documents per query; % of 12 x depth, of the collection, found, found by the best run
    1: (3.8, 32, 0.3, 11, 5),
    5: (17.8, 30, 1.3, 34, 23),
    10: (33.7, 28, 2.4, 45, 34),
    20: (63.8, 27, 4.6, 56, 46),
    50: (148.4, 25, 10.6, 70, 60),
    100: (277.1, 23, 19.8, 80, 71),
}
FAMILY = ("bm25", "bm25-k1-3", "bm25-b-0", "bm25-stop-words")
FAMILY_TABLE = {  # true MAP, MAP by the pool, % of the top ten unjudged, rank, rank by the pool
    "bm25-k1-3": (0.311, 0.467, 0, 1, 1),
    "bm25": (0.307, 0.463, 0, 2, 3),
    "bm25-stop-words": (0.306, 0.464, 0, 3, 2),
    "tf-idf": (0.294, 0.438, 13, 4, 4),
    "bm25-unstemmed": (0.282, 0.420, 21, 5, 5),
    "query-likelihood": (0.277, 0.419, 16, 6, 6),
    "tf-idf-unstemmed": (0.274, 0.398, 29, 7, 8),
    "bm25-b-0": (0.271, 0.407, 0, 8, 7),
    "query-likelihood-unstemmed": (0.255, 0.377, 32, 9, 9),
    "bim": (0.220, 0.323, 23, 10, 10),
    "coordination": (0.172, 0.258, 38, 11, 11),
    "raw-tf": (0.029, 0.037, 88, 12, 12),
}
KAPPAS = (  # both relevant, only first, only second, neither; figure, published
    ((300, 20, 10, 70), "agreement", 0.925, 3),
    ((300, 20, 10, 70), "pooled-kappa", 0.776, 3),
    ((300, 20, 10, 70), "cohen-kappa", 0.776, 3),
    ((10, 60, 0, 330), "cohen-kappa", 0.216, 3),
    ((10, 60, 0, 330), "pooled-kappa", 0.167, 3),
    ((10, 15, 15, 360), "pooled-kappa", 0.36, 2),
)
# The article's rates by Cranfield's codes 1 to 4; codes 1 (best) to 4 are grades 4 to 1 here.
KEEP = {4: 0.9, 3: 0.8, 2: 0.6, 1: 0.4}
FAVOURED = "tf-idf-unstemmed"
SEEDS = 30
MANY = 1000
RANDOM = {  # median and quartiles
    "overlap": (0.45, 0.45, 0.46),
    "kappa": (0.60, 0.59, 0.61),
    "change": (0.067, 0.065, 0.072),
    "relative_change": (0.31, 0.29, 0.33),
    "tau": (0.91, 0.91, 0.94),
    "swapped": (3, 2, 3),
}
FAVOURING = {"overlap": 0.48, "kappa": 0.63, "tau": 0.42}
NEAR = 0.02

Row = dict[str, Any]


def row(what: str, published: float, ours: float | None, digits: int) -> Row:
    """Return a published value and ours, and whether they agree to the last published digit."""
    if ours is None:
        return {"what": what, "published": published, "ours": None, "agrees": "no"}
    # Round half up, as the article does; 1e-9 compensates binary rounding of .0065.
    rounded = math.floor(ours * 10**digits + 0.5 + 1e-9) / 10**digits
    is_equal = abs(rounded - published) < 0.5 * 10**-digits
    is_near = abs(rounded - published) < 1.5 * 10**-digits
    agrees = "yes" if is_equal else "last digit" if is_near else "no"
    return {"what": what, "published": float(published), "ours": float(ours), "agrees": agrees}


def collection() -> tuple[Qrels, Runs, int]:
    """Return the judgments, the twelve runs and the number of documents."""
    cranfield = read_collection(need(DATA / "cranfield"))
    runs = search_documents(cranfield.documents, cranfield.topics, ties=TIES)
    return cranfield.qrels["cranqrel"], runs, cranfield.documents.height


def pools(qrels: Qrels, runs: Runs, size: int) -> dict[str, list[Row]]:
    """Return the tables on pools."""
    lab = PoolSimulator.of(qrels, runs, deepest=100, ties=TIES)
    maps = dict(lab.scores(10).frame.select("run_id", "score").iter_rows())
    table = lab.depths(POOLS, collection_size=size)
    by_depth = {line["depth"]: line for line in table.iter_rows(named=True)}
    depth_rows = [
        row(
            f"depth {depth}: {name}",
            published,
            by_depth[depth][name] * (1 if name == "per_topic" else 100),
            1 if name in ("per_topic", "share_of_collection") else 0,
        )
        for depth, line in POOLS.items()
        for name, published in zip(POOL_COLUMNS, line, strict=True)
    ]
    bm25 = lab.scores(10).frame.filter(pl.col("run_id") == "bm25")
    reliable = [
        row("BM25's MAP by the depth-10 pool", 0.439, bm25["pool_score"][0], 3),
        row("tau at depth 10", 0.97, by_depth[10]["tau"], 2),
        row("pairs swapped at depth 10", 1, by_depth[10]["swapped"], 0),
        row("tau at depth 20", 1.0, by_depth[20]["tau"], 2),
        row("largest leave-one-out drop", 0.0065, by_depth[10]["largest_drop"], 4),
        *(
            row(f"systems that lose a place at depth {depth}", moved, by_depth[depth]["moved"], 0)
            for depth, moved in ((10, 1), (20, 0), (50, 0))
        ),
    ]
    family = lab.scores(10, FAMILY)
    ours = {line[0]: line for line in family.frame.iter_rows()}
    cells = []
    for name, (score, pooled, unjudged, rank, pool_rank) in FAMILY_TABLE.items():
        _, _, true, seen, share, our_rank, our_pool_rank = ours[name]
        cells += [
            row(f"{name}: true MAP", score, true, 3),
            row(f"{name}: MAP by the pool", pooled, seen, 3),
            row(f"{name}: % unjudged of ten", unjudged, 100 * share, 0),
            row(f"{name}: rank", rank, our_rank, 0),
            row(f"{name}: rank by the pool", pool_rank, our_pool_rank, 0),
        ]
    cells += [
        row("% of the relevant found", 39, 100 * (family.found_share or 0), 0),
        row("tau", 0.94, family.tau, 2),
        row("pairs swapped", 2, family.swapped, 0),
        row("tau, depth 5", 0.88, lab.scores(5, FAMILY).tau, 2),
    ]
    return {
        "Mean average precision": [row(name, MAPS[name], maps[name], 4) for name in MAPS],
        "Pools by depth": depth_rows,
        "Is pooling reliable": reliable,
        "A pool of the BM25 family, depth 10": cells,
    }


def kappas() -> list[Row]:
    """Return the worked examples of kappa."""
    rows = []
    for (both, first, second, neither), name, published, digits in KAPPAS:
        value = Pair.of_table([[neither, second], [first, both]]).values()[name].value
        rows.append(row(f"{both}/{first}/{second}/{neither}: {name}", published, value, digits))
    return rows


def pythons_numbers(seed: int, pairs: pl.DataFrame) -> np.ndarray[Any, Any]:
    """Return numbers of Python's generator, drawn by topic, relevant documents first, by number.

    The article does not state its generator or the order of the draws; these give its table.
    """
    order = (
        pairs.with_row_index()
        .filter(pl.col("chance") > 0)
        .sort(pl.col("query_id").cast(int), ~pl.col("relevant"), pl.col("doc_id").cast(int))
    )["index"].to_numpy()
    generator = random.Random(seed)
    numbers = np.ones(pairs.height)
    numbers[order] = [generator.random() for _ in order]
    return numbers


def second_assessor(
    qrels: Qrels, runs: Runs, seeds: int, favour: str | None, *, python: bool = False
) -> SimulatedSubstitution:
    """Return the simulation of the article's second assessor."""
    assessor = SecondAssessor(keep=KEEP, favour=favour)
    numbers = pythons_numbers if python else None
    return simulate_substitution(qrels, runs, assessor, seeds=seeds, ties=TIES, numbers=numbers)


def near(what: str, published: float, ours: float | None) -> Row:
    """Return a published value and ours, for figures that depend on random numbers."""
    is_near = ours is not None and abs(ours - published) <= NEAR
    agrees = "yes" if is_near else "no"
    return {"what": what, "published": float(published), "ours": ours, "agrees": agrees}


def random_rows(simulation: SimulatedSubstitution) -> list[Row]:
    """Return the table of the assessor with random disagreements."""
    return [
        near(f"{line['quantity']}: {part}", published, line[part])
        for line in simulation.summary()
        for part, published in zip(("median", "low", "high"), RANDOM[line["quantity"]], strict=True)
    ]


def favoured_rows(simulation: SimulatedSubstitution) -> list[Row]:
    """Return the figures of the assessor who favours a run."""
    medians = {line["quantity"]: line["median"] for line in simulation.summary()}
    first = next(line for line in simulation.by_run() if line["run"] == FAVOURED)
    return [
        *(near(f"{name}: median", FAVOURING[name], medians[name]) for name in FAVOURING),
        row("rank of the favoured run before", 7, first["rank"], 0),
        row("seeds in which it is first", SEEDS, first["first"] * SEEDS, 0),
    ]


def main() -> None:
    qrels, runs, size = collection()
    tables = pools(qrels, runs, size)
    tables["Textbook kappas"] = kappas()
    for seeds in (SEEDS, MANY):
        title = f"A second assessor at random, {seeds:,} seeds (published: 30)"
        tables[title] = random_rows(second_assessor(qrels, runs, seeds, None))
    title = f"A second assessor at random, {SEEDS} seeds of Python's random numbers"
    tables[title] = random_rows(second_assessor(qrels, runs, SEEDS, None, python=True))
    favoured = favoured_rows(second_assessor(qrels, runs, SEEDS, FAVOURED))
    tables[f"A second assessor who favours {FAVOURED}, {SEEDS} seeds"] = favoured
    page = Page("Cranfield: published and reproduced figures")
    rows = []
    for title, table in tables.items():
        show(table, title)
        page.heading(title)
        page.table(table)
        rows += [{"table": title} | line for line in table]
    counts = {word: sum(line["agrees"] == word for line in rows) for word in ("yes", "last digit")}
    other = len(rows) - sum(counts.values())
    print(f"\n{counts['yes']} agree, {counts['last digit']} differ by one in the last digit, "
          f"{other} by more")  # fmt: skip
    save("cranfield", rows, page)


if __name__ == "__main__":
    main()
