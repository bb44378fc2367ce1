import json

import numpy as np
import polars as pl
import pytest

from venire import Judgments, Qrels
from venire.grouping.settings import Setting
from venire.grouping.vectors import Vectors, read_vectors
from venire.simulation.grouping.annotators import annotator, parse_annotators, with_bounds
from venire.simulation.grouping.explanations import comparison, explanations, plan
from venire.simulation.grouping.pools import GroupedPools, Groupings, with_always
from venire.simulation.grouping.recommend import recommend
from venire.simulation.grouping.replay import results, simulate

COMMAND = ("simulate", "grouping")


@pytest.fixture
def folder(tmp_path):
    """Six queries of 40 documents; what is relevant lies in directions of its own."""
    rng = np.random.default_rng(0)
    rows, vectors = [], []
    for query in range(6):
        centres = rng.normal(size=(6, 16))
        for at in range(40):
            relevant = at % 4 == 0
            kind = rng.integers(0, 2) if relevant else rng.integers(2, 6)
            rows.append((f"q{query}", f"q{query}d{at}", int(relevant)))
            vectors.append(centres[kind] + rng.normal(0, 0.2, 16))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")
    (tmp_path / "qrels").mkdir()
    Qrels.of(frame).write(tmp_path / "qrels" / "known.qrels")
    Vectors.of(frame["doc_id"], np.array(vectors)).write(tmp_path / "v.parquet")
    np.save(tmp_path / "noise.npy", rng.normal(size=(240, 2)))
    (tmp_path / "noise.txt").write_text("\n".join(frame["doc_id"]) + "\n")
    return tmp_path


def by_hand(folder, methods, chosen, seed=0):
    from venire.grouping.settings import parse_methods

    truth = Qrels.read(folder / "qrels" / "known.qrels")
    pools = GroupedPools.of(truth.frame, truth, seed=seed)
    groupings = Groupings(pools, read_vectors(folder / "v.parquet"))
    settings = with_always(parse_methods(methods))
    people = with_bounds(parse_annotators(chosen))
    units = list(simulate(groupings, settings, people, seed=seed))
    return recommend(results(units), chosen.split(","), seed=seed)


def test_the_same_as_in_python_to_the_last_digit(folder, venire_json):
    options = ("--vectors", folder / "v.parquet", "--methods", "leader,k-means", "--seed", 3)
    found = venire_json(*COMMAND, folder, *options, "--annotators", "novice,expert")
    expected = by_hand(folder, "leader,k-means", "novice,expert", seed=3)
    (best,) = [row for row in found["rows"] if row["recommended"]]
    assert best == expected.settings.filter("recommended").row(0, named=True)
    assert found["rows"] == expected.settings.to_dicts()
    assert best["setting"] != "one-at-a-time"
    assert best["saved"] > 0.2
    assert found["notes"][0] == expected.summary
    types = venire_json(*COMMAND, folder, *options, "--annotators", "novice,expert", "--by", "type")
    assert types["rows"] == expected.types.to_dicts()
    again = venire_json(*COMMAND, folder, *options, "--annotators", "novice,expert")
    assert again == found


def test_hopeless_vectors_are_told(folder, venire_json):
    found = venire_json(
        *COMMAND, folder, "--vectors", folder / "noise.npy",
        "--methods", "k-means(size=16),leader(cosine=0.7),average-linkage(distance=0.4)",
        "--annotators", "novice,typical,expert",
    )  # fmt: skip
    (best,) = [row for row in found["rows"] if row["recommended"]]
    assert best["setting"] == "one-at-a-time"
    assert "every grouping lost more than 2 points" in found["notes"][0]
    assert any(note.startswith("The fastest setting,") for note in found["notes"])


def test_the_folder_and_the_page(folder, venire, tmp_path):
    out = tmp_path / "out"
    status, shown, err = venire(
        *COMMAND, folder, "--vectors", folder / "v.parquet", "--methods", "leader,hdbscan",
        "--current", "k-means(size=4)", "--caps", "8,none", "--queries", 4, "-o", out,
    )  # fmt: skip
    assert status == 0, err
    assert "★" in shown
    assert "there are no runs: the pool of a query is what the truth has labels of" in err
    settings = pl.read_csv(out / "settings.csv")
    assert settings.height == 2 + 2 * 9
    assert {"one-at-a-time", "k-means(size=4)"} <= set(settings["setting"])
    queries = pl.read_csv(out / "queries.csv")
    assert queries["query_id"].n_unique() == 4
    assert queries.height == 20 * 4 * (3 + 1 + 3)
    page = (out / "report.html").read_text()
    for words in ("Which grouping saves the most time", "perfect (a bound; does not count)",
                  "Villa and Halvey 2013", "seconds per image"):  # fmt: skip
        assert words in page
    assert pl.read_csv(out / "annotators.csv")["name"].to_list() == [
        "typical", "perfect", "group-only"
    ]  # fmt: skip
    assert pl.read_csv(out / "cosines.csv")["pairs"].sum() == 4 * 40 * 39 // 2


def test_images_are_encoded_once_and_the_broken_are_told(folder, venire, venire_json):
    image = pytest.importorskip("PIL.Image", reason="images need the extra [images]")
    rng = np.random.default_rng(0)
    names = [f"q0d{at}" for at in range(40)]
    for name in names:
        pixels = rng.integers(0, 256, (8, 8, 3)).astype(np.uint8)
        image.fromarray(pixels).resize((64, 64)).save(folder / f"{name}.png")
    (folder / "q0d3.png").write_bytes(b"broken")
    image.new("RGB", (1, 1)).save(folder / "q0d5.png")
    lines = ["doc_id\timage", *(f"{name}\t{name}.png" for name in names)]
    (folder / "documents.tsv").write_text("\n".join(lines) + "\n")
    pool = folder / "pool.csv"
    pool.write_text("query_id,doc_id\n" + "".join(f"q0,{name}\n" for name in names))
    options = ("--encoder", "colour-histogram", "--pool", pool, "-o", folder / "out")
    methods = ("--methods", "near-duplicate(distance=4),leader(cosine=0.8)")
    found = venire_json(*COMMAND, folder, *options, *methods)
    assert len(found["rows"]) == 3
    said = " | ".join(found["notes"])
    assert "q0d3 left out" in said
    assert "is not an image in a supported format" in said
    assert "q0d5.png is a single pixel" in said
    assert "1 image of the pools without a vector: single" in said
    assert "Only 1 query was simulated, so there are no intervals" in said
    assert found["rows"][0]["saved_low"] is None
    for name in names:
        (folder / f"{name}.png").unlink()
    again = venire_json(*COMMAND, folder, *options, *methods)
    assert again["rows"] == found["rows"]


def test_a_pilot_gives_types_and_truth(folder, venire_json):
    truth = Qrels.read(folder / "qrels" / "known.qrels").frame
    rng = np.random.default_rng(1)
    frames = []
    for name, accuracy in (("ann", 0.9), ("ben", 0.8), ("cem", 0.85)):
        right = rng.random(truth.height) < accuracy
        label = np.where(right, truth["relevance"], 1 - truth["relevance"])
        frames.append(
            truth.select("query_id", "doc_id").with_columns(
                annotator_id=pl.lit(name), label=pl.Series(label), seconds=pl.lit(4.0)
            )
        )
    pl.concat(frames).write_csv(folder / "pilot.csv")
    judged = Judgments.read(folder / "pilot.csv")
    options = ("--pilot", folder / "pilot.csv", "--vectors", folder / "v.parquet",
               "--methods", "leader(cosine=0.8)")  # fmt: skip
    for extra, names in (
        (("--truth", "known"), ["pilot ann", "pilot ben", "pilot cem"]),
        (("--annotators", "expert"), ["pilot ann", "pilot ben", "pilot cem", "expert"]),
    ):
        found = venire_json(*COMMAND, folder, *options, *extra)
        people = found["settings"]["annotators"]
        assert [one["name"] for one in people] == [*names, "perfect", "group-only"]
        assert people[0]["judge_seconds"] == 4.0
        assert people[0]["label_seconds"] == pytest.approx(2.4)
    joined = judged.frame.join(truth, on=["query_id", "doc_id"]).filter(
        (pl.col("annotator_id") == "ann") & (pl.col("relevance") == 1)
    )
    found = venire_json(*COMMAND, folder, *options, "--truth", "known")
    share = found["settings"]["annotators"][0]["accuracy_relevant"]
    assert share == pytest.approx((joined["label"] == 1).mean())


def test_texts_are_grouped_by_the_same_code(tmp_path, venire_json):
    pytest.importorskip("wordllama", reason="needs the extra [text]")
    texts = {
        "a1": "lift of a thin wing in slow flow", "a2": "the lift of thin wings in slow flow",
        "b1": "yeast makes bread rise", "b2": "bread rises because of yeast",
    }  # fmt: skip
    (tmp_path / "documents.tsv").write_text(
        "doc_id\ttext\n" + "".join(f"{name}\t{text}\n" for name, text in texts.items())
    )
    (tmp_path / "topics.tsv").write_text("query_id\ttitle\nq\twing lift\n")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "known.qrels").write_text("q 0 a1 1\nq 0 a2 1\nq 0 b1 0\nq 0 b2 0\n")
    found = venire_json(
        *COMMAND, tmp_path, "--encoder", "wordllama", "--methods", "average-linkage(distance=0.4)",
        "--by", "query",
    )  # fmt: skip
    perfect = [row for row in found["rows"] if row["annotator"] == "perfect"]
    assert perfect[1]["setting"] == "average-linkage(distance=0.4)"
    assert (perfect[1]["labelled"], perfect[1]["corrected"], perfect[1]["recall"]) == (2, 0, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--methods", "leader"), "need vectors"),
        (("--encoder", "wordllama", "--vectors", "V"), "cannot be combined with precomputed"),
        (("--encoder", "word-llama", "--methods", "leader"), "Did you mean 'wordllama'"),
        (("--vectors", "V", "--methods", "leeder"), "Did you mean 'leader'"),
        (("--vectors", "V", "--annotators", "tipical"), "Did you mean 'typical'"),
        (("--vectors", "V", "--truth", "nothing"), "no such file"),
        (("--vectors", "V", "--queries", "0"), "--queries must be >= 1 (got 0)"),
        (("--vectors", "V", "--repetitions", "0"), "at least 1"),
        (("--vectors", "V", "--caps", "few"), "cap must be"),
        (("--vectors", "V", "--methods", "near-duplicate"), "the documents have none"),
        (("--vectors", "V", "--bootstrap", "0"), "at least 1"),
        (("--encoder", "colour-histogram",), "the documents have none"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(folder, venire, options, said):
    words = [folder / "v.parquet" if word == "V" else word for word in options]
    status, out, err = venire(*COMMAND, folder, *words)
    assert status == 2
    assert out == ""
    assert said in err.splitlines()[-1]


def test_two_qrels_must_be_told_apart(folder, venire):
    (folder / "qrels" / "more.qrels").write_text("q0 0 q0d0 1\n")
    status, _, err = venire(*COMMAND, folder, "--vectors", folder / "v.parquet")
    assert status == 2
    assert "known, more" in err


# The sentences.


def test_the_words_of_a_recommendation(folder):
    found = by_hand(folder, "leader,k-means", "typical")
    said = found.summary
    assert said.startswith("Group by ")
    assert "within 2 points for typical" in said
    assert any("runner-up" in sentence for sentence in found.caveats)
    words = explanations(found)
    assert list(words) == ["typical", "perfect", "group-only"]
    assert "the same as the 100% of one at a time" in words["perfect"]
    assert explanations(found, "k-means(size=4)") != words
    rows = comparison(found, "one-at-a-time")
    assert [row["counts"] for row in rows] == ["yes", "no", "no"]
    assert all(row["within 2 points"] == "✓" for row in rows)
    assert rows[0]["saved"] == "0%"


def test_the_words_where_nothing_helps(folder):
    alone = by_hand(folder, "one-at-a-time", "typical")
    assert alone.summary == "Judge one image at a time (★): no grouping was tried."
    slow = by_hand(folder, "leader(cosine=1)", "typical")
    assert "no grouping that keeps recall within 2 points for typical is faster" in slow.summary


def test_what_will_run_in_a_sentence():
    settings, people = [Setting("leader")] * 24, [annotator("typical")] * 3
    sizes = {"queries": 20, "repetitions": 3}
    assert plan(settings, people, **sizes, seconds=41) == (
        "24 settings x 3 annotator types x 20 queries x 3 repetitions, about 40 seconds"
    )
    ends = [plan(settings, people, **sizes, seconds=s).split(", ")[1] for s in (0.2, 3.4, 170)]
    assert ends == ["less than a second", "about 3 seconds", "about 3 minutes"]
    assert json.dumps(people[0].settings)
