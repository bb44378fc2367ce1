"""Judgment lists for search tools: OpenSearch Search Relevance Workbench and Quepid.

Both identify a query by its text instead of an ID; Venire writes the title of the topic.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from venire.errors import DataError
from venire.formats.source import write_bytes
from venire.tables.judgments import Judgments
from venire.tables.qrels import Qrels
from venire.tables.schema import express


def write_opensearch_json(
    qrels: Qrels, topics: pl.DataFrame, path: str | Path, *, name: str, description: str = ""
) -> tuple[str, ...]:
    """Write the body of ``PUT _plugins/_search_relevance/judgments``; return notes.

    ``{"name", "description", "type": "IMPORT_JUDGMENT", "judgmentRatings": [{"query", "ratings":
    [{"docId", "rating"}]}]}``, a rating being a number as text
    (https://docs.opensearch.org/latest/search-plugins/search-relevance/judgments/, and
    ImportJudgmentsProcessor.java of opensearch-project/search-relevance).

    Raises
    ------
    DataError
        A topic without a title, or two topics with the same.
    """
    frame, notes = _ratings(qrels, topics)
    ratings = [
        {
            "query": query,
            "ratings": [
                {"docId": doc_id, "rating": rating}
                for doc_id, rating in zip(docs, values, strict=True)
            ],
        }
        for query, docs, values in frame.group_by("query", maintain_order=True)
        .agg("docid", "rating")
        .iter_rows()
    ]
    body = {
        "name": name,
        "description": description,
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": ratings,
    }
    write_bytes(path, f"{json.dumps(body, ensure_ascii=False, indent=1)}\n".encode())
    return notes


def write_opensearch_csv(qrels: Qrels, topics: pl.DataFrame, path: str | Path) -> tuple[str, ...]:
    """Write ``query,docid,rating`` for upload on the page of the workbench; return notes.

    The columns are those of
    https://github.com/opensearch-project/dashboards-search-relevance/pull/715, which follows
    Quepid. Errors are those of :func:`write_opensearch_json`.
    """
    frame, notes = _ratings(qrels, topics)
    write_bytes(path, frame.write_csv().encode())
    return notes


def write_quepid_csv(qrels: Qrels, topics: pl.DataFrame, path: str | Path) -> tuple[str, ...]:
    """Write the ratings of a Quepid case, ``query,docid,rating``; return notes.

    As Quepid exports them (app/views/api/v1/export/ratings/show.basic.csv.erb of o19s/quepid):
    a query that begins with ``= + - @`` gets a leading blank, so that no spreadsheet reads it as
    a formula. Errors are those of :func:`write_opensearch_json`.
    """
    frame, notes = _ratings(qrels, topics)
    write_bytes(path, frame.with_columns(_escape_formulas("query")).write_csv().encode())
    return notes


def write_quepid_book_csv(
    judgments: Judgments, topics: pl.DataFrame, path: str | Path
) -> tuple[str, ...]:
    """Write the judgments of a Quepid book: ``query,docid`` and a column per annotator.

    As Quepid exports a book (app/controllers/api/v1/books_controller.rb of o19s/quepid). If an
    annotator judged a pair more than once, the last judgment in the table counts, and a note
    gives the number of earlier ones. Errors are those of :func:`write_opensearch_json`.
    """
    frame = judgments.frame.select("query_id", "doc_id", "annotator_id", "label")
    latest = frame.unique(["query_id", "doc_id", "annotator_id"], keep="last", maintain_order=True)
    notes = []
    if latest.height < frame.height:
        notes.append(f"{express(frame.height - latest.height, 'earlier judgment')} left out")
    annotators = latest["annotator_id"].unique().sort()
    reserved = [name for name in annotators if name in ("query_id", "doc_id")]
    if reserved:
        raise DataError(
            f"The annotator ID {reserved[0]!r} is reserved for a column",
            hint="Rename the annotator.",
        )
    wide = (
        latest.with_columns(pl.col("label").cast(pl.Float64))
        .pivot("annotator_id", index=["query_id", "doc_id"], values="label")
        .select("query_id", "doc_id", *annotators)
        .sort("query_id", "doc_id")
    )
    wide = _replace_ids(wide, topics).with_columns(_escape_formulas("query"))
    names = pl.DataFrame([["query", "docid", *annotators]], orient="row")
    first = names.select(map(_escape_formulas, names.columns)).write_csv(include_header=False)
    write_bytes(path, (first + wide.write_csv(include_header=False)).encode())
    return tuple(notes)


def _ratings(qrels: Qrels, topics: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return ``query, docid, rating`` sorted by ids, the rating as text."""
    frame = qrels.frame.select("query_id", "doc_id", pl.col("relevance").cast(pl.Float64))
    judged = frame.filter(pl.col("relevance") >= 0).sort("query_id", "doc_id")
    notes: tuple[str, ...] = ()
    if judged.height < frame.height:
        skipped = express(frame.height - judged.height, "pair")
        notes = (f"{skipped} with a negative grade (in the pool, not judged) left out",)
    titled = _replace_ids(judged, topics)
    rating = pl.col("relevance").cast(pl.String).alias("rating")
    return titled.select("query", pl.col("doc_id").alias("docid"), rating), notes


def _replace_ids(frame: pl.DataFrame, topics: pl.DataFrame) -> pl.DataFrame:
    """Replace query_id by the title of the topic; titles must be unique."""
    ids = frame.select(pl.col("query_id").unique(maintain_order=True))
    titles = topics.select("query_id", pl.col("title").str.strip_chars().alias("query"))
    titled = ids.join(titles, on="query_id", how="left", maintain_order="left")
    blank = titled.filter(pl.col("query").fill_null("") == "")
    if blank.height:
        raise DataError(
            f"Topic {blank['query_id'][0]!r} has no title",
            hint="These tools identify topics by title.",
        )
    repeated = titled.filter(pl.col("query").is_duplicated())
    if repeated.height:
        first_two = " and ".join(map(repr, repeated["query_id"][:2]))
        raise DataError(
            f"Topics {first_two} have the same title, {repeated['query'][0]!r}",
            hint="These tools identify topics by title.",
        )
    joined = frame.join(titled, on="query_id", how="left", maintain_order="left")
    return joined.select("query", *(name for name in frame.columns if name != "query_id"))


def _escape_formulas(column: str) -> pl.Expr:
    cell = pl.col(column)
    stripped = cell.str.strip_chars_start()
    is_formula = stripped.str.contains(r"^[=+\-@]")
    return pl.when(is_formula).then(pl.lit(" ") + stripped).otherwise(cell).alias(column)
