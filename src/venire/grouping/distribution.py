"""How alike the images of a pool are: where a threshold would cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from venire.arrays import Float32s

WIDTH = 0.05


def cosine_distribution(pools: Sequence[Float32s], *, width: float = WIDTH) -> pl.DataFrame:
    """Return how often each cosine occurs between two documents of one pool.

    Parameters
    ----------
    pools : sequence of float32 [n, d]
        Unit vectors, a pool each; rows of NaN are left out.
    width : float
        Of a class.

    Returns
    -------
    polars.DataFrame
        ``low, high, pairs, share``, and ``above``: the share of pairs with a cosine of at least
        ``low``. Where there is no pair, no rows.

    Examples
    --------
    >>> import numpy as np
    >>> cosine_distribution([np.eye(3, dtype=np.float32)]).filter(pl.col("pairs") > 0).row(0)
    (0.0, 0.05, 3, 1.0, 1.0)
    """
    edges = np.round(np.arange(-1.0, 1.0 + width / 2, width), 10)
    counts = np.zeros(edges.size - 1, np.int64)
    for vectors in pools:
        known = vectors[np.isfinite(vectors).all(axis=1)]
        upper = (known @ known.T)[np.triu_indices(known.shape[0], 1)]
        # Float32 puts a cosine of 0.9 a hair below; classes close at the same 1e-6 for all.
        classes = np.floor((np.clip(upper, -1.0, 1.0).astype(np.float64) + 1.0 + 1e-6) / width)
        counts += np.bincount(
            classes.astype(np.int64).clip(0, counts.size - 1), minlength=counts.size
        )
    total = int(counts.sum())
    if not total:
        return pl.DataFrame(
            schema={"low": pl.Float64, "high": pl.Float64, "pairs": pl.Int64,
                    "share": pl.Float64, "above": pl.Float64}
        )  # fmt: skip
    return pl.DataFrame(
        {
            "low": edges[:-1],
            "high": edges[1:],
            "pairs": counts,
            "share": counts / total,
            "above": counts[::-1].cumsum()[::-1] / total,
        }
    )
