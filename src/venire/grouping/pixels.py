"""Encoders without a model: a perceptual hash, and how often each colour occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from venire.arrays import Float32s
from venire.errors import BadSetting, MissingExtra

BITS = 64


@dataclass(frozen=True, kw_only=True)
class PerceptualHash:
    """The 64 bits of imagehash's ``phash``: signs of the low frequencies of a cosine transform.

    A bit is -1 or 1 here, so that the cosine of two vectors is 1 - H / 32, where H is the
    Hamming distance of the hashes (Zauner 2010).

    Examples
    --------
    >>> from PIL import Image
    >>> PerceptualHash().encode([Image.new("RGB", (9, 9))]).shape
    (1, 64)
    """

    reads: ClassVar[str] = "image"

    def encode(self, documents: list[Any]) -> Float32s:
        """Return the vectors of images [n, 64]."""
        try:
            import imagehash
        except ImportError:
            raise MissingExtra("ImageHash", "images", "the encoder perceptual-hash") from None
        bits = np.stack(
            [imagehash.phash(image, hash_size=8).hash.reshape(-1) for image in documents]
        )
        return np.where(bits, 1.0, -1.0).astype(np.float32)


@dataclass(frozen=True, kw_only=True)
class ColourHistogram:
    """The square root of the share of the pixels in each cell of the RGB cube.

    The cosine of two such vectors is the Bhattacharyya coefficient of the two histograms
    (Swain and Ballard 1991 for the histogram).

    Attributes
    ----------
    bins : int
        Cells along each of the three colours.

    Examples
    --------
    >>> from PIL import Image
    >>> ColourHistogram(bins=2).encode([Image.new("RGB", (2, 2), "blue")]).tolist()
    [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """

    reads: ClassVar[str] = "image"
    bins: int = 8

    def __post_init__(self) -> None:
        """Check the number of bins."""
        if not 2 <= self.bins <= 64:
            raise BadSetting(f"bins must be between 2 and 64 (got {self.bins})")

    def encode(self, documents: list[Any]) -> Float32s:
        """Return the vectors of images [n, bins ** 3]."""
        out = []
        for image in documents:
            small = image.copy()
            small.thumbnail((256, 256))
            cell = np.asarray(small.convert("RGB"), np.int64).reshape(-1, 3) * self.bins // 256
            code = (cell[:, 0] * self.bins + cell[:, 1]) * self.bins + cell[:, 2]
            out.append(np.sqrt(np.bincount(code, minlength=self.bins**3) / code.size))
        return np.stack(out).astype(np.float32)
