"""A posterior as a folder: tables as Parquet and CSV, settings as JSON, a page as HTML."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from venire.aggregation.decision import Decision
from venire.aggregation.posterior import Posterior
from venire.errors import BadSetting
from venire.formats import write_frame
from venire.formats.source import write_bytes
from venire.report.aggregation import models_page, posterior_page
from venire.tables.qrels import Qrels

TABLES = (
    "items", "annotators", "bounds", "difficulty", "confusion", "agreeing_pairs", "pairs_to_judge",
)  # fmt: skip


def check_folder(folder: str | Path) -> None:
    """Refuse a path that cannot be a folder, before any work is done."""
    target = Path(folder)
    place = next(path for path in (target, *target.absolute().parents) if path.exists())
    if not place.is_dir():
        raise BadSetting(
            f"must be a folder ({place} is a file)", argument="output", value=str(folder)
        )
    if not os.access(place, os.W_OK):
        raise BadSetting(
            f"must be a folder that can be written to ({place} cannot)",
            argument="output",
            value=str(folder),
        )


def write_posteriors(
    results: Sequence[tuple[str, Posterior]],
    folder: str | Path,
    *,
    rows: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    gold: Qrels | None = None,
    decision: Decision | None = None,
) -> None:
    """Write one result into a folder, or many into a folder each with a page over all.

    Parameters
    ----------
    results : sequence of (name, Posterior)
    rows : sequence of mapping
        One row per result, for the page.
    notes : sequence of str
    gold : Qrels, optional
        Known grades that the rows are scored by.
    decision : Decision, optional
        What to do, with which the page of one result begins.
    """
    scored = gold is not None
    if len(results) == 1:
        write_posterior(
            results[0][1],
            folder,
            scores=rows[0] if scored else None,
            notes=notes,
            gold=gold,
            decision=decision,
        )
        return
    for (name, posterior), row in zip(results, rows, strict=True):
        # A label such as "ordinal-mixture (item)" becomes a folder name without spaces.
        place = name.replace(" (", "-").rstrip(")")
        write_posterior(
            posterior,
            Path(folder) / place,
            scores=row if scored else None,
            notes=notes,
            gold=gold,
        )
    write_bytes(
        Path(folder) / "report.html",
        models_page(rows, notes, scored=scored).render(f"Venire {version('venire')}").encode(),
    )


def write_posterior(
    posterior: Posterior,
    folder: str | Path,
    *,
    scores: Mapping[str, Any] | None = None,
    notes: Sequence[str] | None = None,
    gold: Qrels | None = None,
    decision: Decision | None = None,
) -> list[Path]:
    """Write a posterior into a folder; return the files.

    ``items``, ``annotators``, ``difficulty`` (if the model has it), ``bounds``, ``confusion``
    and, of a decision, ``agreeing_pairs`` and ``pairs_to_judge`` as .parquet and .csv,
    ``posterior.json`` with settings, seed and version, ``report.html``. Tables of an earlier
    result that this result does not have are removed.
    """
    target = Path(folder)
    all_notes = list(posterior.notes if notes is None else notes)
    tables = {
        "items": posterior.frame,
        "annotators": posterior.annotators,
        "bounds": posterior.bounds,
    }
    if posterior.difficulty is not None:
        tables["difficulty"] = posterior.difficulty
    if posterior.confusion is not None:
        tables["confusion"] = build_confusion_frame(posterior)
    if decision is not None and decision.agreeing.height:
        tables["agreeing_pairs"] = decision.agreeing
    if decision is not None and decision.to_judge.height:
        tables["pairs_to_judge"] = decision.to_judge
    for name in set(TABLES) - set(tables):
        for ending in ("parquet", "csv"):
            (target / f"{name}.{ending}").unlink(missing_ok=True)
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
        "calibration": dict(posterior.calibration) if posterior.calibration else None,
        "scores": dict(scores) if scores else None,
        "notes": all_notes,
    }
    path = target / "posterior.json"
    write_bytes(path, (json.dumps(about, indent=2, ensure_ascii=False) + "\n").encode())
    page = target / "report.html"
    posterior_page(posterior, scores=scores, notes=all_notes, gold=gold, decision=decision).write(
        page, footer=f"Venire {posterior.version}"
    )
    return [*written, path, page]


def build_confusion_frame(posterior: Posterior) -> pl.DataFrame:
    """Return P(label | grade) of each annotator, one row per cell."""
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
