import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from venire import plugins
from venire.errors import BadSetting, UnknownName
from venire.grouping.base import finish
from venire.grouping.clusters import AverageLinkage, CompleteLinkage, Hdbscan, KMeans, distances
from venire.grouping.distribution import cosine_distribution
from venire.grouping.leader import Leader, NearDuplicate
from venire.grouping.settings import Setting, describe_setting, grid, parse_methods, read_caps
from venire.testing import check_grouper
from venire.testing.groupers import make_vectors
from venire.testing.rules import Nonconforming


def unit(seed, n=60, d=5):
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def hashes(seed, n=60):
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, (6, 64))[rng.integers(0, 6, n)]
    flip = rng.random((n, 64)) < 0.06
    return bits ^ flip


def as_vectors(bits):
    return (np.where(bits, 1.0, -1.0) / 8).astype(np.float32)


def groups(labels):
    return [np.flatnonzero(labels == at) for at in range(labels.max(initial=-1) + 1)]


@pytest.mark.parametrize("name", plugins.names("grouper"))
def test_every_registered_grouper_conforms(name):
    assert len(check_grouper(plugins.load("grouper", name)())) == 7


def test_a_faulty_grouper_is_found_out():
    class Everything(Leader):
        def group(self, vectors):
            return np.zeros(vectors.shape[0], np.int64)

    with pytest.raises(Nonconforming, match="pure: a group mixes 4"):
        check_grouper(Everything())


@pytest.mark.parametrize("distance", [2, 4, 8])
def test_near_duplicates_by_counting_bits(distance):
    bits = hashes(1)
    leaders, expected = [], []
    for row in bits:
        away = [int((row != bits[at]).sum()) for at in leaders]
        near = [at for at, bit in enumerate(away) if bit <= distance and bit == min(away)]
        expected.append(near[0] if near else len(leaders))
        if not near:
            leaders.append(len(expected) - 1)
    assert NearDuplicate(distance=distance).group(as_vectors(bits)).tolist() == expected


@pytest.mark.parametrize("cosine", [0.9, 0.5])
def test_leaders_are_apart_and_members_near(cosine):
    vectors = unit(2)
    labels = Leader(cosine=cosine).group(vectors)
    first = np.array([np.flatnonzero(labels == at)[0] for at in range(labels.max() + 1)])
    near = vectors @ vectors[first].T
    assert (near[np.arange(60), labels] >= cosine - 1e-5).all()
    among = near[first][np.triu_indices(first.size, 1)]
    assert (among < cosine).all()


@pytest.mark.parametrize("kind", [AverageLinkage, CompleteLinkage])
def test_linkage_by_brute_force(kind):
    """Join the two nearest groups, again and again, by the definition of the distance."""
    vectors = unit(3, n=25)
    apart = distances(vectors)
    of = {"average": np.mean, "complete": np.max}[kind.linkage]
    for distance in (0.1, 0.3, 0.6):
        clusters = [[at] for at in range(25)]
        while len(clusters) > 1:
            pairs = [
                (of(apart[np.ix_(a, b)]), i, j)
                for i, a in enumerate(clusters)
                for j, b in enumerate(clusters[:i])
            ]
            least, i, j = min(pairs)
            if least >= distance:
                break
            clusters[j] += clusters.pop(i)
        found = kind(distance=distance).group(vectors)
        got = {tuple(np.flatnonzero(found == at)) for at in np.unique(found)}
        assert got == {tuple(sorted(one)) for one in clusters}


def test_k_means_and_hdbscan_find_clusters():
    vectors, of = make_vectors(Leader(), 5, 8, 0)
    labels = KMeans(size=8).group(vectors)
    assert len({(a, b) for a, b in zip(labels, of, strict=True)}) == 5
    # Three documents on the far side of all clusters are too few for a group of their own.
    alone = -vectors.mean(axis=0) + np.random.default_rng(0).normal(0, 0.02, (3, 64))
    alone /= np.linalg.norm(alone, axis=1, keepdims=True)
    labels = Hdbscan(min_size=5).group(np.concatenate([vectors, alone.astype(np.float32)]))
    assert (labels[-3:] == -1).all()
    assert len(set(labels[:40])) == 5


@given(
    st.lists(st.integers(-1, 6), max_size=40).map(lambda x: np.array(x, np.int64)),
    st.one_of(st.none(), st.integers(2, 9)),
)
def test_finishing(labels, cap):
    done = finish(labels, cap)
    found = groups(done)
    assert all(2 <= at.size <= (cap or 40) for at in found)
    # Numbered in the order of the pool; each within one group from before.
    assert [at[0] for at in found] == sorted(at[0] for at in found)
    assert all(len(set(labels[at])) == 1 and labels[at[0]] >= 0 for at in found)
    for label in set(labels[labels >= 0]):
        inside = np.flatnonzero(labels == label)
        sizes = sorted(int((done[inside] == at).sum()) for at in set(done[inside]) if at >= 0)
        parts = -(-inside.size // cap) if cap else 1
        # As few parts as can be, sizes that differ by one at most; what is one is single.
        expected = sorted(len(part) for part in np.array_split(inside, parts))
        assert sizes == [size for size in expected if size >= 2]
        kept = done[inside][done[inside] >= 0]
        assert (np.diff(kept) >= 0).all()


def test_settings_parse_and_print_as_themselves():
    every = grid(plugins.names("grouper"), [8, None])
    # 1 + 2 x (5 hash, 5 leader, 6 and 6 linkage, 5 k-means, 4 HDBSCAN)
    assert len(every) == 1 + 2 * 31
    assert len(set(every)) == len(every)
    assert [Setting.parse(str(one)) for one in every] == every
    assert Setting.parse("leader") == Setting("leader", (("cosine", 0.9),))
    assert Setting.parse("k-means( size = 4 , cap=none )") == Setting("k-means", (("size", 4.0),))
    several = parse_methods("leader(cosine=0.9|0.8,cap=8|none),one-at-a-time")
    assert [str(one) for one in several] == [
        "leader(cosine=0.9,cap=8)", "leader(cosine=0.9)", "leader(cosine=0.8,cap=8)",
        "leader(cosine=0.8)", "one-at-a-time",
    ]  # fmt: skip
    assert describe_setting(Setting.parse("k-means(size=4)")) == "k-means at 4"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("leader(cosine=0.9", "is not a method of grouping"),
        ("leader(cosine)", "name=value"),
        ("leader(cosine=near)", "numbers"),
        ("leader(cosine=2)", "between -1 and 1"),
        ("k-means(size=2.5)", "whole number"),
        ("k-means(size=0)", ">= 1"),
        ("leader(cap=1)", ">= 2"),
        ("leader(cap=few)", "must be a whole number or none"),
        ("hdbscan(min_size=1)", ">= 2"),
        ("average-linkage(distance=3)", "between 0 and 2"),
        ("near-duplicate(distance=65)", "between 0 and 64"),
        ("one-at-a-time(cap=8)", "no groups"),
        (",", "must name at least one method"),
    ],
)
def test_mistakes_in_settings(text, said):
    with pytest.raises(BadSetting, match=said):
        parse_methods(text)


def test_names_that_are_near():
    with pytest.raises(UnknownName, match="Did you mean 'leader'"):
        parse_methods("leaders")
    with pytest.raises(UnknownName, match="Did you mean 'cosine'"):
        parse_methods("leader(cosin=0.9)")
    with pytest.raises(BadSetting, match="several values"):
        Setting.parse("leader(cosine=0.9|0.8)")
    with pytest.raises(BadSetting, match="8,16,none"):
        read_caps(" ")


def test_documents_without_a_vector_are_single():
    vectors = np.repeat(unit(0, n=1), 6, axis=0)
    vectors[2] = np.nan
    labels = Setting.parse("leader").group(vectors)
    assert labels.tolist() == [0, 0, -1, 0, 0, 0]


def test_the_distribution_by_counting():
    pools = [unit(4, n=20), unit(5, n=9)]
    pools[0][3] = np.nan
    frame = cosine_distribution(pools, width=0.1)
    near = []
    for pool in pools:
        good = pool[np.isfinite(pool).all(axis=1)].astype(float)
        near += [float(good[i] @ good[j]) for i in range(len(good)) for j in range(i)]
    assert frame["pairs"].sum() == len(near) == 19 * 18 // 2 + 36
    for low, high, pairs, _, above in frame.iter_rows():
        assert pairs == sum(low <= x < high for x in near)
        assert above == pytest.approx(sum(x >= low for x in near) / len(near))
    assert cosine_distribution([unit(0, n=1)]).is_empty()
