"""Convolution of each channel by itself."""

from __future__ import annotations

import numpy as np

from venire.arrays import Float32s
from venire.compilation import jit


@jit
def depthwise(
    image: Float32s,
    weight: Float32s,
    bias: Float32s,
    stride: int,
    top: int,
    out: Float32s,
) -> None:
    """Convolve, add the bias and cut to 0..6 (ReLU6), in place of ``out`` [H', W', C].

    Parameters
    ----------
    image : float32 [H, W, C]
        Beyond its edges are zeros.
    weight : float32 [k, k, C]
    bias : float32 [C]
    stride : int
    top : int
        Zeros above and to the left.
    out : float32 [H', W', C]
    """
    height, width, channels = image.shape
    size = weight.shape[0]
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            row = out[y, x]
            for c in range(channels):
                row[c] = bias[c]
            for i in range(size):
                at_y = y * stride + i - top
                if at_y < 0 or at_y >= height:
                    continue
                for j in range(size):
                    at_x = x * stride + j - top
                    if at_x < 0 or at_x >= width:
                        continue
                    for c in range(channels):
                        row[c] += image[at_y, at_x, c] * weight[i, j, c]
            for c in range(channels):
                row[c] = min(max(row[c], np.float32(0.0)), np.float32(6.0))
