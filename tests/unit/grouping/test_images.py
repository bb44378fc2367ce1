import io
import pickle
import struct
import zlib

import numpy as np
import pytest

from venire.errors import BadImage

PIL = pytest.importorskip("PIL", reason="images need the extra [images]")
from PIL import Image  # noqa: E402

from venire.grouping.images import open_image  # noqa: E402


def saved(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def header_of(width, height):
    """A PNG of a few bytes whose header asks for any size."""

    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 100)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_exif_rotation_is_applied():
    image = Image.new("RGB", (4, 2), "black")
    image.putpixel((0, 0), (255, 255, 255))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter to the right
    seen = open_image(saved(image, "PNG", exif=exif))
    assert seen.size == (2, 4)
    assert seen.getpixel((1, 0)) == (255, 255, 255)


def test_cmyk_is_rgb():
    seen = open_image(saved(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=100))
    assert seen.mode == "RGB"
    red, green, blue = seen.getpixel((4, 4))
    assert red > 200
    assert green < 60
    assert blue < 60


def test_16_bits_are_scaled_and_not_cut():
    ramp = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    seen = np.asarray(open_image(saved(Image.fromarray(ramp), "PNG")))[:, :, 0]
    assert np.abs(seen - ramp / 257.0).max() <= 0.5 + 1e-9


def test_the_first_frame_of_an_animation():
    frames = [Image.new("RGB", (3, 3), colour) for colour in ("red", "blue")]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert open_image(data).getpixel((1, 1)) == (255, 0, 0)


def test_transparent_lies_on_white():
    assert open_image(saved(Image.new("RGBA", (2, 2), (0, 0, 0, 0)), "PNG")).getpixel((0, 0)) == (
        255, 255, 255
    )  # fmt: skip
    palette = Image.new("P", (2, 2), 0)
    palette.putpalette([0, 0, 255] + [0] * 765)
    assert open_image(saved(palette, "PNG", transparency=0)).getpixel((0, 0)) == (255, 255, 255)
    assert open_image(saved(palette, "PNG")).getpixel((0, 0)) == (0, 0, 255)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "I", "F"])
def test_other_modes(mode):
    image = Image.new(mode, (2, 2), 1 if mode in ("1", "I", "F") else 0)
    assert open_image(saved(image, "TIFF")).mode == "RGB"


def test_one_pixel():
    assert open_image(saved(Image.new("RGB", (1, 1), "red"), "PNG")).size == (1, 1)


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ((10_000, 6_000), "10000 x 6000 = 60.0 million pixels, more than 50"),
        ((60_000, 60_000), "pixels"),
    ],
)
def test_too_many_pixels_are_refused_before_decoding(size, said):
    with pytest.raises(BadImage, match=said):
        open_image(header_of(*size), name="large.png")


def test_what_is_no_image(tmp_path):
    text = tmp_path / "text.png"
    text.write_text("not an image")
    cut = tmp_path / "cut.jpg"
    whole = saved(Image.effect_noise((64, 64), 50).convert("RGB"), "JPEG")
    cut.write_bytes(whole[: len(whole) // 2])
    for path, said in (
        (text, "is not an image"),
        (cut, "cannot be decoded"),
        (tmp_path / "none.png", "no such file"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(BadImage, match=said) as caught:
            open_image(path)
        assert caught.value.path == str(path)
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(BadImage, match="image: "):
        open_image(b"")


def test_weights_run_no_code(tmp_path):
    from venire.errors import BadLine
    from venire.grouping.torch_file import MAGIC, read_weights

    class Evil:
        def __reduce__(self):
            return (print, ("never",))

    def file(*objects):
        path = tmp_path / f"weights{len(list(tmp_path.iterdir()))}.pth"
        path.write_bytes(b"".join(pickle.dumps(one, 2) for one in objects))
        return path

    machine = {"little_endian": True}
    for path, said in (
        (file(MAGIC, 1001, machine, Evil(), []), "contains .*print"),
        (file(Evil()), "not allowed in a weights file"),
        (file(7), "not a weights file"),
        (file(MAGIC, 7, machine), "an unsupported version"),
        (file(MAGIC, 1001, machine), "cannot be read as weights"),
        (tmp_path / "none", "cannot be read"),
    ):
        with pytest.raises(BadLine, match=said):
            read_weights(path)
