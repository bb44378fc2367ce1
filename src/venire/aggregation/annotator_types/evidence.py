"""What each annotator's labels say of their type, with items placed by the other annotators."""

from __future__ import annotations

import numpy as np

from venire.aggregation.annotator_types.grid import FLOOR, Types, log_chances
from venire.aggregation.annotator_types.inference import Problem, State
from venire.arrays import Float32s, Floats, Longs

CHUNK = 4096
"""Judgments whose likelihoods are computed at once."""
MAX_JUDGMENTS = 150
"""Judgments per annotator that count, evenly spaced: more would hardly change the evidence."""
MAX_ITEMS = 1000
"""Items from which the frequencies of places are learnt, evenly spaced."""
STEPS = 20
"""Steps of expectation maximisation for the frequencies of places."""


def compute_evidence(problem: Problem, state: State) -> tuple[Floats, Longs]:
    r"""Return the log-likelihood of each annotator's labels per type [N, H], and their number [N].

    .. math:: \ell_{nh} = \sum_m \ln \sum_t q_m^{-n}(t)\, P(r_{mn} \mid t, h)

    The place t of an item is inferred from its other annotators (q without n). An annotator's own
    label would pull the place to itself and make every type look exact. Frequencies of places
    are learnt. Items that nobody else judged and no known grade places are left out.
    """
    item = np.repeat(np.arange(problem.indptr.size - 1), np.diff(problem.indptr))
    log_prior = _learn_places(problem, state)
    perceived, percept = _list_percepts(problem)
    types = problem.types
    reliability = types.reliability.astype(np.float32)
    guess = ((1.0 - types.reliability) * types.pi[types.spam].T).astype(np.float32)
    rows = _choose_judgments(problem, item)
    out = np.zeros((problem.n_annotators, types.count))
    for start in range(0, rows.size, CHUNK):
        chunk = rows[start : start + CHUNK]
        # Rows lie in the order of items, so the items of a chunk are few.
        first, last = item[chunk[0]], item[chunk[-1]] + 1
        total = _add_evidence(problem, state, np.arange(first, last))
        annotator, label = problem.annotator[chunk], problem.label[chunk]
        log = total[item[chunk] - first] - state.evidence[annotator, label] + log_prior
        places = _normalise(_limit(problem, log, item[chunk])).astype(np.float32)
        for k in np.unique(label):
            is_k = np.flatnonzero(label == k)
            order = is_k[np.argsort(annotator[is_k], kind="stable")]
            who, begins = np.unique(annotator[order], return_index=True)
            chance = (places[order] @ perceived[k])[:, percept]
            chance *= reliability
            chance += guess[k]
            np.maximum(chance, FLOOR, out=chance)
            out[who] += np.add.reduceat(np.log(chance, out=chance), begins, axis=0)
    count = np.bincount(problem.annotator[rows], minlength=problem.n_annotators)
    return out, count.astype(np.int64)


def _list_percepts(problem: Problem) -> tuple[Float32s, Longs]:
    """Return P(label | place) of those who look [K, T, L], and the row of each type [H]."""
    types = problem.types
    traits = np.stack([types.bias, types.error, types.scale])
    unique, percept = np.unique(traits, axis=1, return_inverse=True)
    (bias, error, scale), size = unique, unique.shape[1]
    always = np.ones(size)
    looking = Types(bias, error, scale, always, np.zeros(size, np.int64), types.pi, types.names)
    chances = np.exp(log_chances(looking, problem.places)).transpose(1, 2, 0)
    return np.ascontiguousarray(chances, np.float32), percept.reshape(-1).astype(np.int64)


def _choose_judgments(problem: Problem, item: Longs) -> Longs:
    """Return the rows of the judgments that count, in their order."""
    is_placed = (np.diff(problem.indptr) > 1) | (problem.known >= 0)
    rows = np.flatnonzero(is_placed[item])
    by_annotator = rows[np.argsort(problem.annotator[rows], kind="stable")]
    count = np.bincount(problem.annotator[rows], minlength=problem.n_annotators)
    size = count[problem.annotator[by_annotator]]
    place = np.arange(rows.size) - (np.cumsum(count) - count)[problem.annotator[by_annotator]]
    drawn = np.minimum(size, MAX_JUDGMENTS)
    is_drawn = (place * drawn) // size != ((place - 1) * drawn) // size
    chosen: Longs = np.sort(by_annotator[is_drawn])
    return chosen


def _learn_places(problem: Problem, state: State) -> Floats:
    """Return the log frequencies of places [T], from all judgments of some items."""
    size = problem.indptr.size - 1
    items = np.unique(np.linspace(0, max(size - 1, 0), min(size, MAX_ITEMS)).astype(np.int64))
    evidence = _add_evidence(problem, state, items)
    log = problem.compute_log_prior(state)
    for _ in range(STEPS):
        places = _normalise(_limit(problem, evidence + log, items))
        frequency = places.sum(axis=0) + 1.0 / log.size
        log = np.log(frequency / frequency.sum())
    return log


def _add_evidence(problem: Problem, state: State, items: Longs) -> Floats:
    """Return what all labels of items say of their places [items, T]."""
    counts = np.diff(problem.indptr)[items]
    begins = np.cumsum(counts) - counts
    offsets = np.arange(int(counts.sum())) - np.repeat(begins, counts)
    rows = np.repeat(problem.indptr[items], counts) + offsets
    evidence = state.evidence[problem.annotator[rows], problem.label[rows]]
    total: Floats = np.add.reduceat(evidence, begins, axis=0)
    return total


def _limit(problem: Problem, log: Floats, item: Longs) -> Floats:
    """Return log weights of places that are impossible outside the window of a known grade."""
    if (problem.known[item] < 0).all():
        return log
    low, high = problem.window
    place = np.arange(log.shape[1])
    is_outside = (place < low[item, None]) | (place >= high[item, None])
    return np.where(is_outside, -np.inf, log)


def _normalise(log: Floats) -> Floats:
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    out: Floats = weight / weight.sum(axis=1, keepdims=True)
    return out
