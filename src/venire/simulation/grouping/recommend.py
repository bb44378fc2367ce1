"""Which grouping saves the most time without losing relevant images, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

import numpy as np
import polars as pl

from venire.agreement.bootstrap import resample
from venire.arrays import Floats, Longs, Mask
from venire.errors import BadSetting, DataError, UnknownName
from venire.grouping.settings import ONE
from venire.short_repr import write_repr
from venire.simulation.grouping.explanations import list_caveats, summarise_recommendation
from venire.stats.topic_bootstrap import expand_tail

POINTS = 0.02
"""How much recall a setting may cost against judging one at a time: 2 points."""
EXACT = 1e-9
"""Sums of shares in another order differ by less."""
SUMS = ("seconds", "never_looked", "judged", "labelled", "corrected", "split", "glances")


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The recommended setting, and every setting beside it.

    Attributes
    ----------
    setting : str
        The fastest setting that keeps every chosen type within the points: one-at-a-time where no
        grouping does, or none is faster.
    chosen : tuple of str
        The annotator types it is based on.
    points : float
    settings : polars.DataFrame
        A row a setting: ``setting, seconds_per_image`` (the mean over the chosen types),
        ``saved`` (share of the time of one at a time) with ``saved_low, saved_high``;
        ``worst_loss`` (of recall, over the chosen types), ``worst_type``; ``within``; and
        ``recommended``.
    types : polars.DataFrame
        A row a setting and type, bounds too: ``setting, annotator, seconds_per_image, saved,
        saved_low, saved_high, recall, precision, loss`` (against the type's own recall one at a
        time)``, loss_low, loss_high, within``, and an image's mean ``never_looked, judged,
        labelled, corrected, split, glances``.
    runner_up : str or None
        The next fastest setting that is within the points.
    apart : bool or None
        Whether the interval of the difference in time to the runner-up leaves out zero; None
        where there is no runner-up, or one query only.
    unsure : tuple of str
        Chosen types for which the interval of the loss of the recommended setting passes the
        points.
    faster : str or None
        The fastest setting of all, where that is another: it loses too much.
    queries, bootstrap, seed : int
        Queries replayed, resamples, their seed.
    version : str
    """

    setting: str
    chosen: tuple[str, ...]
    points: float
    settings: pl.DataFrame
    types: pl.DataFrame
    runner_up: str | None
    apart: bool | None
    unsure: tuple[str, ...]
    faster: str | None
    queries: int
    bootstrap: int
    seed: int
    version: str = field(default_factory=lambda: version("venire"))

    def __repr__(self) -> str:
        return write_repr(self, self.summary)

    @property
    def summary(self) -> str:
        """The recommendation as one sentence."""
        return summarise_recommendation(self)

    @property
    def caveats(self) -> list[str]:
        """What stands against the recommendation, or beside it, a sentence each."""
        return list_caveats(self)

    def of(self, setting: str) -> pl.DataFrame:
        """Return the rows of one setting, a row a type: what is compared before it is used.

        Raises
        ------
        UnknownName
        """
        if setting not in set(self.settings["setting"]):
            raise UnknownName("setting", setting, self.settings["setting"].to_list())
        return self.types.filter(pl.col("setting") == setting)


def recommend(
    results: pl.DataFrame,
    chosen: Sequence[str],
    *,
    points: float = POINTS,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Recommendation:
    """Apply the rule: the fastest setting that costs no chosen type more than the points of recall.

    A type's recall is the mean over the queries with a relevant image, of the mean over
    repetitions. Its time per image is the time of all queries over the images of all queries.
    Speed is the mean over the chosen types. Each type is compared with itself, one at a time. The
    intervals are 95% expanded percentile intervals of a bootstrap over queries.
    Of equally fast settings one at a time is taken, then the first by name.

    Parameters
    ----------
    results : polars.DataFrame
        The rows of all units, as :func:`venire.simulation.grouping.replay.results` gives them, in
        any order.
    chosen : sequence of str
        Annotator types; not the bounds.
    points : float
        As a share: .02 is 2 points.
    bootstrap : int
        Resamples.
    seed : int
        Of the resamples.

    Raises
    ------
    DataError
        Without one at a time, or with units missing.
    BadSetting, UnknownName
    """
    settings = results["setting"].unique(maintain_order=True).to_list()
    types = results["annotator"].unique(maintain_order=True).to_list()
    if not chosen:
        raise BadSetting("a recommendation needs at least one annotator type")
    if not 0 <= points <= 1:
        raise BadSetting(f"points are a share of recall, 0 to 1, not {points:g}")
    for name in chosen:
        if name not in types:
            raise UnknownName("annotator type", name, types)
    if ONE not in settings:
        raise DataError(f"the results lack {ONE}, which every setting is compared with")
    sums, images, recall, precision, has = _tables(results, settings, types)
    single = settings.index(ONE)
    basis = np.array([types.index(name) for name in chosen])
    time = sums["seconds"].sum(axis=0) / images.sum()
    mean_recall = recall.sum(axis=0) / has.sum()
    loss = mean_recall[single] - mean_recall
    within = loss <= points + EXACT
    good = within[:, basis].all(axis=1)
    speed = time[:, basis].mean(axis=1)
    # Sums in another order differ in the last bits; what is equal but for them is equal.
    order = sorted(
        range(len(settings)),
        key=lambda row: (round(speed[row], 9), settings[row] != ONE, settings[row]),
    )
    ranked = [row for row in order if good[row]]
    pick = ranked[0]
    tail = expand_tail(max(len(images), 2))
    tails = (tail, 1.0 - tail)
    draws = _draws(sums["seconds"], images, recall, has, single, basis, bootstrap, seed)
    gap = None
    if len(ranked) > 1 and draws:
        low, high = np.quantile(draws["speed"][:, ranked[1]] - draws["speed"][:, pick], tails)
        gap = bool(low > 0 or high < 0)
    ends = {name: np.nanquantile(draws[name], tails, axis=0) for name in draws}
    unsure = tuple(
        name
        for name, column in zip(chosen, basis, strict=True)
        if draws and ends["loss"][1][pick, column] > points + EXACT
    )
    per_type = _types(
        settings, types, sums, images, time, mean_recall, precision, loss, within, single, ends
    )
    worst = basis[np.argmax(loss[:, basis], axis=1)]
    every = np.arange(len(settings))
    per_setting = pl.DataFrame(
        {
            "setting": settings,
            "seconds_per_image": speed,
            "saved": _share_saved(speed, speed[single]),
            "saved_low": ends["saved"][0] if draws else [None] * len(settings),
            "saved_high": ends["saved"][1] if draws else [None] * len(settings),
            "worst_loss": loss[every, worst],
            "worst_type": [types[column] for column in worst],
            "within": good,
            "recommended": every == pick,
        },
        schema_overrides={"saved_low": pl.Float64, "saved_high": pl.Float64},
    )
    first = order[0]
    return Recommendation(
        setting=settings[pick],
        chosen=tuple(chosen),
        points=points,
        settings=per_setting,
        types=per_type,
        runner_up=settings[ranked[1]] if len(ranked) > 1 else None,
        apart=gap,
        unsure=unsure,
        faster=settings[first] if not good[first] else None,
        queries=images.size,
        bootstrap=bootstrap if draws else 0,
        seed=seed,
    )


def _tables(
    results: pl.DataFrame, settings: list[str], types: list[str]
) -> tuple[dict[str, Floats], Floats, Floats, Floats, Floats]:
    """Return sums [Q, S, T] by name, images [Q], recall [Q, S, T], precision [S, T], has [Q].

    Repetitions are averaged. ``recall`` is 0 in queries without a relevant image, which ``has``
    counts as 0.
    """
    queries = results["query_id"].unique().sort().to_list()
    shape = (len(queries), len(settings), len(types))
    keys = (("query_id", queries), ("setting", settings), ("annotator", types))
    frame = results.with_columns(
        (pl.col("glances_relevant") + pl.col("glances_not_relevant")).alias("glances")
    )
    for name, values in keys:
        place = pl.DataFrame({name: values}).with_row_index(f"{name}_at")
        frame = frame.join(place, on=name)
    places = [f"{name}_at" for name, _ in keys]
    # Sums are made in one order, whatever order the units come in: a group_by of threads would
    # add in another order each time, and the last digit of a share would not repeat.
    frame = frame.sort(*places, "repetition")
    cell = np.ravel_multi_index([frame[name].to_numpy() for name in places], shape)
    held = np.unique(cell).size
    if held != np.prod(shape):
        raise DataError(
            f"the results have {held:,} of the {int(np.prod(shape)):,} units that "
            f"{shape[1]} settings, {shape[2]} types and {shape[0]} queries make; go on replaying"
        )

    def table(name: str) -> Floats:
        """Return the mean over repetitions where there is a value, else nan: [Q, S, T]."""
        values = frame[name].cast(pl.Float64).to_numpy()
        known = ~np.isnan(values)
        count = np.bincount(cell[known], minlength=held)
        total = np.bincount(cell[known], values[known], minlength=held)
        mean: Floats = np.divide(total, count, out=np.full(held, np.nan), where=count > 0)
        return mean.reshape(shape)

    images, relevant = table("images")[:, 0, 0], table("relevant")[:, 0, 0]
    if not (relevant > 0).any():
        raise DataError("no query has a relevant image, so there is no recall to keep")
    precision = table("precision")
    called = (~np.isnan(precision)).sum(axis=0)
    precision = np.nan_to_num(precision).sum(axis=0)
    precision = np.divide(precision, called, out=np.full(shape[1:], np.nan), where=called > 0)
    return (
        {name: table(name) for name in SUMS},
        images,
        np.nan_to_num(table("recall")),
        precision,
        (relevant > 0).astype(np.float64),
    )


def _draws(
    seconds: Floats,
    images: Floats,
    recall: Floats,
    has: Floats,
    single: int,
    basis: Longs,
    times: int,
    seed: int,
) -> dict[str, Floats]:
    """Return the figures of resampled queries; none where one query cannot be resampled."""
    if images.size < 2:
        return {}

    def figures(seconds: Floats, images: Floats, recall: Floats, has: Floats) -> dict[str, Floats]:
        time = seconds / images[:, None, None]
        # A resample may hold no query with a relevant image.
        share = recall / np.where(has > 0, has, np.nan)[:, None, None]
        speed = time[:, :, basis].mean(axis=2)
        return {
            "speed": speed,
            "saved": _share_saved(speed, speed[:, [single]]),
            "saved_type": _share_saved(time, time[:, [single]]),
            "loss": share[:, [single]] - share,
        }

    return resample([seconds, images, recall, has], figures, times=times, seed=seed)


def _share_saved(time: Floats, single_time: Floats) -> Floats:
    """Return the share of the time of one at a time that is saved; 0 where that costs nothing."""
    out: Floats = 1.0 - np.divide(time, single_time, out=np.ones_like(time), where=single_time != 0)
    return out


def _types(
    settings: list[str],
    types: list[str],
    sums: dict[str, Floats],
    images: Floats,
    time: Floats,
    recall: Floats,
    precision: Floats,
    loss: Floats,
    within: Mask,
    single: int,
    ends: dict[str, Floats],
) -> pl.DataFrame:
    """Return a row a setting and type."""
    nothing = np.full((2, *time.shape), np.nan)
    saved, lost = ends.get("saved_type", nothing), ends.get("loss", nothing)
    columns = {
        "seconds_per_image": time,
        "saved": _share_saved(time, np.broadcast_to(time[single], time.shape)),
        "saved_low": saved[0],
        "saved_high": saved[1],
        "recall": recall,
        "precision": precision,
        "loss": loss,
        "loss_low": lost[0],
        "loss_high": lost[1],
        "within": within,
        **{name: sums[name].sum(axis=0) / images.sum() for name in SUMS[1:]},
    }
    frame = pl.DataFrame(
        {
            "setting": np.repeat(np.array(settings, dtype=object), len(types)).tolist(),
            "annotator": types * len(settings),
            **{name: value.reshape(-1) for name, value in columns.items()},
        }
    )
    return frame.with_columns(pl.col(pl.Float64).fill_nan(None))
