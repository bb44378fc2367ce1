"""The simulator on the 1,797 digits that scikit-learn carries, through the command line."""

import json
import time

import numpy as np
import polars as pl
import pytest

from venire import Qrels
from venire.cli.main import main
from venire.grouping.settings import grid, parse_methods
from venire.grouping.vectors import Vectors
from venire.simulation.grouping.annotators import parse_annotators, with_bounds
from venire.simulation.grouping.pools import GroupedPools, Groupings, with_always
from venire.simulation.grouping.recommend import recommend
from venire.simulation.grouping.replay import results, simulate

datasets = pytest.importorskip("sklearn.datasets", reason="needs the extra [images]")
METHODS = "leader,average-linkage,complete-linkage,k-means(size=8|16)"
CHOSEN = "novice,typical,expert"


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """A query a digit; its pool is 200 images of which 40 show it, drawn by seed."""
    folder = tmp_path_factory.mktemp("digits")
    data = datasets.load_digits()
    rng = np.random.default_rng(0)
    rows = []
    for digit in range(10):
        shows = rng.choice(np.flatnonzero(data.target == digit), 40, replace=False)
        others = rng.choice(np.flatnonzero(data.target != digit), 160, replace=False)
        for at in rng.permutation(np.r_[shows, others]):
            rows.append((f"digit{digit}", f"d{at}", int(data.target[at] == digit)))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")
    (folder / "qrels").mkdir()
    Qrels.of(frame).write(folder / "qrels" / "truth.qrels")
    ids = [f"d{at}" for at in range(1797)]
    Vectors.of(ids, data.data).write(folder / "pixels.parquet")
    noise = np.random.default_rng(1).normal(size=(1797, 2))
    Vectors.of(ids, noise).write(folder / "noise.parquet")
    return folder, frame, data


def command(capsys, *words):
    capsys.readouterr()
    status = main(["simulate", "grouping", *map(str, words), "--format", "json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out)


def test_the_recommended_setting_saves_time_within_two_points(digits, capsys, tmp_path):
    folder, frame, _ = digits
    options = ("--vectors", folder / "pixels.parquet", "--methods", METHODS, "--annotators",
               CHOSEN, "--seed", 7, "--by", "type")  # fmt: skip
    found = command(capsys, folder, *options, "-o", tmp_path)
    # The same from Python functions, to the last digit.
    truth = Qrels.of(frame)
    groupings = Groupings(
        GroupedPools.of(frame, truth, seed=7),
        Vectors.of([f"d{at}" for at in range(1797)], digits[2].data),
    )
    settings = with_always(parse_methods(METHODS))
    units = list(simulate(groupings, settings, with_bounds(parse_annotators(CHOSEN)), seed=7))
    mine = recommend(results(units), CHOSEN.split(","), seed=7)
    assert found["rows"] == mine.types.to_dicts()
    best = mine.settings.filter("recommended").row(0, named=True)
    assert best["setting"] != "one-at-a-time"
    assert best["saved_low"] > 0.5
    for row in mine.of(best["setting"]).to_dicts():
        if row["annotator"] in mine.chosen:
            assert row["loss"] <= 0.02 + 1e-9
            assert row["saved"] > 0
    assert (tmp_path / "report.html").exists()


def test_hopeless_vectors_recommend_one_at_a_time(digits, capsys):
    """Groups of images that have nothing in common, too large to be looked through."""
    folder, _, _ = digits
    found = command(
        capsys, folder, "--vectors", folder / "noise.parquet",
        "--methods", "leader(cosine=0.8|0.7),average-linkage(distance=0.3|0.4),k-means(size=16)",
        "--annotators", CHOSEN,
    )  # fmt: skip
    assert [row["setting"] for row in found["rows"] if row["recommended"]] == ["one-at-a-time"]
    assert found["notes"][0].startswith("Judge one image at a time (★)")


@pytest.mark.slow
def test_images_through_efficientnet(digits, capsys, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="needs the extra [images]")
    folder, _, data = digits
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "truth.qrels").write_bytes(
        (folder / "qrels" / "truth.qrels").read_bytes()
    )
    lines = ["doc_id\timage"]
    for at, pixels in enumerate(data.images):
        large = image.fromarray(np.clip(pixels * 16, 0, 255).astype(np.uint8)).resize((64, 64))
        large.save(tmp_path / f"{at}.png")
        lines.append(f"d{at}\t{at}.png")
    (tmp_path / "documents.tsv").write_text("\n".join(lines) + "\n")
    found = command(capsys, tmp_path, "--encoder", "efficientnet-lite0", "--annotators", CHOSEN,
                    "--caps", "8,16", "--queries", 5)  # fmt: skip
    (best,) = [row for row in found["rows"] if row["recommended"]]
    assert best["saved"] > 0.3
    assert best["worst_loss"] <= 0.02 + 1e-9


@pytest.mark.slow
def test_sixty_settings_are_replayed_in_under_20_seconds():
    """60 settings x 6 types x 3 repetitions x 50 queries x 200 images, without the grouping."""
    rng = np.random.default_rng(0)
    rows = [(f"q{query}", f"q{query}d{at}") for query in range(50) for at in range(200)]
    pool = pl.DataFrame(rows, schema=["query_id", "doc_id"], orient="row")
    relevant = (rng.random(len(rows)) < 0.2).astype(int)
    truth = Qrels.of(pool.with_columns(relevance=pl.Series(relevant)))
    centres = rng.normal(size=(40, 16))
    kind = rng.integers(0, 20, len(rows)) + 20 * relevant
    groupings = Groupings(
        GroupedPools.of(pool, truth),
        Vectors.of(pool["doc_id"], centres[kind] + rng.normal(0, 0.5, (len(rows), 16))),
    )
    every = grid(["leader", "average-linkage", "complete-linkage"], [None, 8, 12, 16])
    settings = with_always(every[:59])
    people = with_bounds(parse_annotators("novice,typical,expert,mine(accuracy_relevant=0.9)"))
    assert (len(settings), len(people)) == (60, 6)
    groupings.prepare(settings)
    started = time.perf_counter()
    units = list(simulate(groupings, settings, people))
    spent = time.perf_counter() - started
    assert results(units).height == 60 * 50 * (5 * 3 + 1)
    assert spent < 20
