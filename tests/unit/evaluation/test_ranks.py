"""The join by hashes finds what a join of texts finds, even where hashes meet."""

import numpy as np
import polars as pl

from venire.evaluation import ranks


def tables():
    rng = np.random.default_rng(2)
    doc = pl.Series("doc_id", [f"d{at}" for at in rng.integers(0, 40, 500)])
    topic = rng.integers(-1, 4, 500)
    known = pl.DataFrame(
        {"t": [at // 30 for at in range(120)], "d": [f"d{at}" for at in range(30)] * 4}
    )
    return doc, topic, known["d"].rename("doc_id"), known["t"].to_numpy()


def truth(doc, topic, known, of_known):
    place = {pair: at for at, pair in enumerate(zip(of_known.tolist(), known, strict=True))}
    pairs = enumerate(zip(topic.tolist(), doc, strict=True))
    return sorted((row, place[pair]) for row, pair in pairs if pair in place)


def found(*arguments):
    return sorted(zip(*(part.tolist() for part in ranks._look_up(*arguments)), strict=True))


def test_pairs_are_found():
    assert found(*tables()) == truth(*tables())


def test_pairs_are_found_where_all_topics_share_a_hash(monkeypatch):
    """With the mixing number 0 a document has one hash in all topics."""
    monkeypatch.setattr(ranks, "_MIX", np.uint64(0))
    assert found(*tables()) == truth(*tables())


def test_what_is_found_is_compared(monkeypatch):
    """One topic in the short table: no hash is there twice, and other topics' documents meet."""
    monkeypatch.setattr(ranks, "_MIX", np.uint64(0))
    doc, topic, known, of_known = tables()
    one = of_known == 2
    assert found(doc, topic, known.filter(pl.Series(one)), of_known[one]) == truth(
        doc, topic, known.filter(pl.Series(one)), of_known[one]
    )
