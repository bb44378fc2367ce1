"""Images opened in one place: limits before decoding, rotation, colour, one clear error each."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from venire.errors import BadImage, MissingExtra

if TYPE_CHECKING:
    from PIL.Image import Image

PIXELS = 50_000_000
"""Most pixels of an image that is decoded; a larger one is refused by what its header says."""
BYTES = 200_000_000
"""Most bytes of a file that is read."""


def open_image(source: str | Path | bytes, *, pixels: int = PIXELS, name: str = "") -> Image:
    """Open an image as RGB, the way a person would see it.

    The size is checked before anything is decoded. The rotation that the EXIF data asks for is
    applied. 16-bit grey is scaled to 8 bits; CMYK, palettes and grey become RGB; what is
    transparent lies on white; of an animated file the first frame is taken.

    Parameters
    ----------
    source : path or bytes
    pixels : int
        Most pixels.
    name : str
        What errors call the image where it is given as bytes.

    Raises
    ------
    BadImage
        No such file, not an image, cut short, larger than the limit.
    MissingExtra
        Without Pillow.
    """
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise MissingExtra("Pillow", "images", "reading images") from None
    where = name or (str(source) if not isinstance(source, bytes) else "image")
    data = (
        source
        if isinstance(source, bytes)
        else _bytes(Path(source) if isinstance(source, str) else source)
    )
    with warnings.catch_warnings():
        # Pillow warns of large images and odd EXIF data; the first is checked here, and the
        # second must not stop the rest.
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data)) as image:
                size = image.width * image.height
                if size > pixels:
                    raise BadImage(
                        where,
                        f"has {image.width} x {image.height} = {size / 1e6:.1f} million pixels, "
                        f"more than {pixels / 1e6:g} million. Reduce its size.",
                    )
                image.seek(0)
                image.load()
                return _rgb(ImageOps.exif_transpose(image))
        except BadImage:
            raise
        except Image.DecompressionBombError:
            raise BadImage(where, "has more pixels than can be decoded. Reduce its size.") from None
        except UnidentifiedImageError:
            raise BadImage(where, "is not an image in a supported format") from None
        except Exception as error:  # noqa: BLE001 - decoders raise whatever a broken file makes them
            raise BadImage(where, f"cannot be decoded: {error or type(error).__name__}") from None


def _bytes(path: Path) -> bytes:
    try:
        if path.is_file() and path.stat().st_size > BYTES:
            raise BadImage(str(path), f"is larger than {BYTES / 1e6:g} MB. Reduce its size.")
        return path.read_bytes()
    except FileNotFoundError:
        raise BadImage(str(path), "no such file") from None
    except OSError as error:
        raise BadImage(str(path), f"cannot be read: {error.strerror or error}") from None


def _rgb(image: Image) -> Image:
    """Return the image as 8-bit RGB, on white where it is transparent."""
    from PIL import Image as Pillow

    if image.mode.startswith("I") or image.mode == "F":
        return _eight_bits(image).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        over = image.convert("RGBA")
        under = Pillow.new("RGBA", over.size, "white")
        return Pillow.alpha_composite(under, over).convert("RGB")
    return image.convert("RGB")


def _eight_bits(image: Image) -> Image:
    """Scale 16 bits to 8: Pillow's own conversion would clip them. 32 bits by what is in them."""
    import numpy as np
    from PIL import Image as Pillow

    values = np.nan_to_num(np.asarray(image, np.float64))
    top = float(values.max(initial=0.0))
    full = 65535.0 if image.mode.startswith("I") and top <= 65535.0 else top
    if image.mode == "F" and top <= 1.0:
        full = 1.0
    scaled = np.clip(values / (full or 1.0) * 255.0, 0.0, 255.0)
    return Pillow.fromarray(np.rint(scaled).astype(np.uint8))
