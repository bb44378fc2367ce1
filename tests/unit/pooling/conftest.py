import polars as pl
import pytest

from venire import Runs
from venire.pooling.base import Lists


def runs_of(ranked, query):
    """Return runs from {run: [documents, best first]}."""
    return Runs.of(
        pl.DataFrame(
            [
                (query, doc, float(-rank), run)
                for run, docs in ranked.items()
                for rank, doc in enumerate(docs)
            ],
            schema=["query_id", "doc_id", "score", "run_id"],
            orient="row",
        )
    )


@pytest.fixture
def lists():
    def lists(ranked, query="q", **options):
        return Lists.of(runs_of(ranked, query), **options)

    return lists
