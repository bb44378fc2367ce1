"""Encoders of other packages: OpenCLIP for images and text in one space, WordLlama for text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from venire.arrays import Float32s
from venire.errors import BadSetting, MissingExtra


@dataclass(frozen=True, kw_only=True)
class OpenClip:
    """A model of OpenCLIP: images and queries in one space (Radford et al. 2021).

    Attributes
    ----------
    model : str
        A name of ``open_clip.list_models()``.
    pretrained : str
        A tag of ``open_clip.list_pretrained()``, which is fetched from the network once, or the
        path of a file of weights. Empty: random weights, for tests.
    device : str
        As torch names it.
    """

    reads: ClassVar[str] = "image"
    model: str = "ViT-B-32"
    pretrained: str = "laion2b_s34b_b79k"
    device: str = "cpu"

    def encode(self, documents: list[Any]) -> Float32s:
        """Return the vectors of images [n, d]."""
        torch, model, prepare, _ = self._loaded
        pixels = torch.stack([prepare(image) for image in documents]).to(self.device)
        with torch.no_grad():
            return np.asarray(model.encode_image(pixels).float().cpu(), np.float32)

    def encode_queries(self, texts: list[str]) -> Float32s:
        """Return the vectors of texts, in the space of the images [n, d]."""
        torch, model, _, tokenize = self._loaded
        with torch.no_grad():
            tokens = tokenize(texts).to(self.device)
            return np.asarray(model.encode_text(tokens).float().cpu(), np.float32)

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any, Any]:
        try:
            import open_clip
            import torch
        except ImportError:
            raise MissingExtra("open-clip-torch", "clip", "the encoder open-clip") from None
        try:
            model, _, prepare = open_clip.create_model_and_transforms(
                self.model, pretrained=self.pretrained or None, device=self.device
            )
            tokenize = open_clip.get_tokenizer(self.model)
        except Exception as error:  # noqa: BLE001 - names, files and the network all fail differently
            reason = " ".join(str(error).split())
            raise BadSetting(
                f"OpenCLIP cannot load {self.model} with {self.pretrained!r}: {reason}"
            ) from None
        model.eval()
        return torch, model, prepare, tokenize


@dataclass(frozen=True, kw_only=True)
class WordLlamaText:
    """Text by WordLlama: the mean of token vectors distilled from a language model, 256 numbers.

    The model comes with the package; nothing is fetched. Queries are texts like any other.

    Examples
    --------
    >>> near = WordLlamaText().encode(["a wind tunnel", "the wind tunnel", "bread"])
    >>> bool(near[0] @ near[1] > near[0] @ near[2])
    True
    """

    reads: ClassVar[str] = "text"

    def encode(self, documents: list[Any]) -> Float32s:
        """Return the vectors of texts [n, 256]."""
        return np.asarray(self._model.embed(list(documents)), np.float32)

    def encode_queries(self, texts: list[str]) -> Float32s:
        """Return the vectors of queries [n, 256]."""
        return self.encode(texts)

    @cached_property
    def _model(self) -> Any:
        try:
            import wordllama
        except ImportError:
            raise MissingExtra("wordllama", "text", "the encoder wordllama") from None
        folder = Path(wordllama.__file__).parent
        return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
