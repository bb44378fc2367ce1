"""A posterior as a folder: tables as Parquet and CSV, settings as JSON, one page to look at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.posterior import Posterior
from venire.formats import write_frame
from venire.formats.source import write_bytes
from venire.report.aggregation import posterior_page


def write_posterior(
    posterior: Posterior, folder: str | Path, *, scores: Mapping[str, Any] | None = None
) -> list[Path]:
    """Write all that a posterior holds; return the files.

    ``items``, ``annotators``, ``difficulty`` (where the model has it), ``bounds`` and
    ``confusion`` as .parquet and .csv, ``posterior.json`` with settings, seed and version,
    ``report.html``.
    """
    target = Path(folder)
    tables = {
        "items": posterior.frame,
        "annotators": posterior.annotators,
        "bounds": posterior.bounds,
    }
    if posterior.difficulty is not None:
        tables["difficulty"] = posterior.difficulty
    if posterior.confusion is not None:
        tables["confusion"] = confusion_frame(posterior)
    written = []
    for name, frame in tables.items():
        for ending in ("parquet", "csv"):
            path = target / f"{name}.{ending}"
            write_frame(frame, path)
            written.append(path)
    about = {
        "model": posterior.model,
        "version": posterior.version,
        "settings": dict(posterior.settings),
        "seed": posterior.seed,
        "scale": {"values": posterior.scale.values, "names": posterior.scale.names},
        "converged": posterior.converged,
        "restart": posterior.restart,
        "scores": dict(scores) if scores else None,
        "notes": list(posterior.notes),
    }
    path = target / "posterior.json"
    write_bytes(path, (json.dumps(about, indent=2, ensure_ascii=False) + "\n").encode())
    page = target / "report.html"
    posterior_page(posterior, scores=scores).write(page, footer=f"Venire {posterior.version}")
    return [*written, path, page]


def confusion_frame(posterior: Posterior) -> pl.DataFrame:
    """Return P(label | grade) of each annotator, one row a cell."""
    if posterior.confusion is None or posterior.confusion_sd is None:
        raise ValueError("the posterior has no confusion matrices")
    n, size, _ = posterior.confusion.shape
    names = np.array(posterior.scale.names)
    return pl.DataFrame(
        {
            "annotator_id": posterior.annotators["annotator_id"][
                np.repeat(np.arange(n), size * size)
            ],
            "grade": np.tile(np.repeat(names, size), n),
            "label": np.tile(names, n * size),
            "probability": posterior.confusion.reshape(-1),
            "probability_sd": posterior.confusion_sd.reshape(-1),
        }
    )
