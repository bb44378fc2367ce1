"""The statistic of a test for a judge who favours a system, for many judges at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import ndtr

from venire.arrays import Floats, Longs, Mask

CHUNK = 32
"""Number of groups computed at once; bounds the memory."""
ENOUGH_TOPICS = 20
"""Below it the correction for fitted quantities is smaller; chosen on simulations."""
LENIENCE_OF_CHECK = 0.1
"""Factor of the p-value under the finer match, which confirms a finding; chosen on simulations."""
BOUNDARY_SHIFT = 0.1
"""Difference of mean grades, on a scale of 0 to 1, from which two judges have another boundary."""
BOUNDARY_FACTOR = 5.0
"""Factor of p where qrels of two grades meet a judge with another boundary: documents between the
boundaries can look like a favour. Chosen on simulations."""
RIDGE = 1e-3
"""Ridge of the finer regression, per pair, on standardised columns."""
_TINY = 1e-12


@dataclass(frozen=True)
class Outcome:
    """The test of D judges on the same pairs.

    Attributes
    ----------
    z : float64 [groups, D]
        Gain of each group in standard deviations under the null hypothesis.
    p : float64 [groups, D]
        Familywise: share of the sign flips whose largest z over all groups reaches the group's. It
        is at least ``LENIENCE_OF_CHECK`` times the one-sided p of the group under the finer match.
    gain : float64 [groups, D]
        Grades that the judge adds to a pair of weight 1, beyond what its mix explains.
    """

    z: Floats
    p: Floats
    gain: Floats


@dataclass(frozen=True)
class Operator:
    """What a judge gives to some groups beyond their mixes, as a linear function of the grades.

    With ``own``, a group's weights minus its mix, and X, what is matched, the contribution of
    topic t is the sum over its pairs of ``own * (j - X beta)``, where ``beta = solve @ j``.

    Attributes
    ----------
    own : float64 [S, P]
    solve : float64 [S, K, P]
    explained : float64 [S, K, T]
        Sum over the pairs of each topic of ``own * X``.
    scale : float64 [S]
        Sum of ``own * v``: what a judge adds who adds the weights of the group to the grades.
    """

    own: Floats
    solve: Floats
    explained: Floats
    scale: Floats

    def contributions(self, grades: Floats, starts: Longs) -> Floats:
        """Return the contribution of each topic [S, T, D].

        Parameters
        ----------
        grades : float64 [P, D]
        starts : int64 [T + 1]
            First pair of each topic.
        """
        groups, pairs = self.own.shape
        beta = self.solve.reshape(-1, pairs) @ grades
        beta = beta.reshape(groups, -1, grades.shape[1])
        result: Floats = -np.einsum("skt,skd->std", self.explained, beta)
        for topic, (low, high) in enumerate(pairwise(starts.tolist())):
            result[:, topic] += self.own[:, low:high] @ grades[low:high]
        return result


@dataclass(frozen=True)
class FavourStatistic:
    """The overidentification test of every group of runs (Sargan 1958), one group at a time.

    Given what a document is, errors that do not look at the runs have the same mean for all runs.
    So a group's weights minus a mix of the other runs' weights that scores the same under the
    qrels is uncorrelated with the judge's grades minus the rescaled grades of the qrels, whatever
    the two error rates are: the other runs are the instrument for the grade of the qrels.

    Matched are q and, with three grades or more, q^2 (any use of a scale is nearly a quadratic of
    it); the square and the cube of I, the grade of the qrels expected from the ranks (a judge with
    another boundary). The finer match takes I from a cubic regression, not a linear one.

    Attributes
    ----------
    weight : float64 [R, P]
        Weight of each pair for each run, pairs sorted by topic; no two runs have the same.
    grade : float64 [P]
        Grade of the qrels, or the mean of all other assessors.
    starts : int64 [T + 1]
        First pair of each topic.
    groups : sequence of tuple of int
        Runs of each group.
    """

    weight: Floats
    grade: Floats
    starts: Longs
    groups: Sequence[tuple[int, ...]]

    @property
    def topics(self) -> int:
        """Number of topics."""
        return self.starts.size - 1

    def test(self, grades: Floats, flips: int, seed: int) -> Outcome:
        """Test judges by flipping the signs of whole topics.

        Parameters
        ----------
        grades : float64 [P, D]
            Grades of D judges.
        flips : int
        seed : int
        """
        topics, judges = self.topics, grades.shape[1]
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], (flips, topics))
        fitted = 2 if topics >= ENOUGH_TOPICS else 1
        shrink = np.sqrt(max(topics - fitted, 1) / topics)
        z, gain, check = np.empty((3, len(self.groups), judges))
        largest = np.full((flips, judges), -np.inf)
        for rows, coarse, fine in self._operators():
            nu = coarse.contributions(grades, self.starts)
            # Where a favour would not raise its own group, nothing can be said of the group.
            nu[coarse.scale <= 0] = 0.0
            gain[rows] = nu.sum(axis=1) / np.where(coarse.scale > 0, coarse.scale, 1.0)[:, None]
            nu /= _length(nu)[:, None, :]
            z[rows] = nu.sum(axis=1) * shrink
            for row in nu:
                np.maximum(largest, signs @ row, out=largest)
            nu = fine.contributions(grades, self.starts)
            check[rows] = nu.sum(axis=1) / _length(nu) * shrink
        largest.sort(axis=0)
        reached = np.stack(
            [
                flips - np.searchsorted(largest[:, judge], z[:, judge] - 1e-9)
                for judge in range(judges)
            ],
            axis=1,
        )
        p = (1.0 + reached) / (flips + 1.0)
        p = np.maximum(p, LENIENCE_OF_CHECK * ndtr(-check))
        p = np.where(self._has_other_boundary(grades), np.minimum(BOUNDARY_FACTOR * p, 1.0), p)
        return Outcome(z, p, gain)

    def _has_other_boundary(self, grades: Floats) -> Mask:
        """Return whether qrels of two grades cannot follow the judge's use of the scale [D]."""
        if np.unique(self.grade).size > 2:
            return np.zeros(grades.shape[1], dtype=np.bool_)
        low, high = grades.min(axis=0), grades.max(axis=0)
        is_graded = ((grades > low) & (grades < high)).any(axis=0)
        own = (grades - low).mean(axis=0) / np.maximum(high - low, 1e-9)
        reach = max(float(np.ptp(self.grade)), 1e-9)
        shift = own - (self.grade - self.grade.min()).mean() / reach
        has_other: Mask = is_graded | (np.abs(shift) > BOUNDARY_SHIFT)
        return has_other

    def _operators(self) -> Iterator[tuple[slice, Operator, Operator]]:
        """Yield the operators of some groups at a time, under the coarse and the finer match."""
        q = _standardise(self._centre(self.grade[None, :]))[0]
        slopes = self._slopes()
        for first in range(0, len(self.groups), CHUNK):
            groups = self.groups[first : first + CHUNK]
            member = np.zeros((len(groups), len(self.weight)))
            for row, runs in enumerate(groups):
                member[row, list(runs)] = 1.0
            v = member @ self.weight / member.sum(axis=1, keepdims=True)
            c = self._average_others(1.0 - member, slopes)
            linear = _expect(np.stack([self._centre(c), self._centre(v)], axis=2), q, 0.0)
            cubic = _expect(self._terms(c, v), q, RIDGE * q.size)
            rows = slice(first, first + len(groups))
            yield rows, self._operate(q, c, v, linear), self._operate(q, c, v, cubic)

    def _operate(self, q: Floats, c: Floats, v: Floats, expected: Floats) -> Operator:
        """Return the operator of some groups.

        Parameters
        ----------
        q : float64 [P]
        c, v : float64 [S, P]
            Weights of the consensus of the other runs and of the group.
        expected : float64 [S, P]
            I, the grade of the qrels expected from the ranks.
        """
        v = self._centre(v)
        expected = _standardise(expected)
        powers = [self._scale(expected**power) for power in (2, 3)]
        matched = [np.broadcast_to(q, expected.shape)]
        mixed = [self._scale(c)]
        if np.unique(self.grade).size > 2:
            square = self._scale((self.grade[None, :] - self.grade.mean()) ** 2)
            matched.append(np.broadcast_to(square, expected.shape))
            mixed.append(self._scale(c**2))
        x = np.stack([*matched, *powers], axis=1)
        z = np.stack([*mixed, *powers], axis=1)
        inverse = np.linalg.pinv(x @ z.transpose(0, 2, 1))
        mix = np.einsum("gab,gb->ga", inverse, (x @ v[:, :, None])[:, :, 0])
        own = v - np.einsum("ga,gap->gp", mix, z)
        solve = np.einsum("gba,gbp->gap", inverse, z)
        explained = np.add.reduceat(own[:, None, :] * x, self.starts[:-1], axis=2)
        scale = (own * v).sum(axis=1)
        return Operator(own, solve, explained, scale)

    def _terms(self, c: Floats, v: Floats) -> Floats:
        """Return the terms of a cubic of consensus and group, centred within topics [S, P, 11]."""
        is_ranked = (v > 0).astype(np.float64)
        terms = (c, v, c**2, v**2, c * v, is_ranked, c**3, c**2 * v, c * v**2, v**3, c * is_ranked)
        return np.stack([self._scale(term) for term in terms], axis=2)

    def _average_others(self, outside: Floats, slopes: Floats) -> Floats:
        """Return the mean weight of the runs outside each group, standardised [S, P]."""
        half = self._half()
        result = np.empty((len(outside), self.weight.shape[1]))
        for part in (0, 1):
            share = outside * slopes[part]
            share /= share.sum(axis=1, keepdims=True)
            result[:, half == part] = share @ self.weight[:, half == part]
        return _standardise(result - result.mean(axis=1, keepdims=True))

    def _slopes(self) -> Floats:
        """Return how far the qrels follow each run, from the other half of the topics [2, R].

        Learned on the same topics, they would carry the errors of the qrels into the consensus.
        """
        half = self._half()
        slopes = []
        for part in (0, 1):
            others = half != part
            x = self.weight[:, others]
            x = x - x.mean(axis=1, keepdims=True)
            slope = x @ self.grade[others] / np.maximum((x**2).sum(axis=1), 1e-9)
            slopes.append(np.maximum(slope, 0.0) + 1e-6)
        return np.stack(slopes)

    def _half(self) -> Longs:
        half: Longs = np.repeat(np.arange(self.topics) % 2, np.diff(self.starts))
        return half

    def _centre(self, values: Floats) -> Floats:
        """Return values minus their mean over the pairs of the topic: leniency cancels."""
        sizes = np.diff(self.starts)
        mean = np.add.reduceat(values, self.starts[:-1], axis=1) / sizes
        centred: Floats = values - np.repeat(mean, sizes, axis=1)
        return centred

    def _scale(self, values: Floats) -> Floats:
        return _standardise(self._centre(values))


def _expect(terms: Floats, q: Floats, ridge: float) -> Floats:
    """Return q regressed on the terms of each group [S, P].

    Parameters
    ----------
    terms : float64 [S, P, K]
    q : float64 [P]
    ridge : float
    """
    size = terms.shape[2]
    square = terms.transpose(0, 2, 1) @ terms + ridge * np.eye(size)
    slope = np.linalg.pinv(square) @ (terms.transpose(0, 2, 1) @ q)[:, :, None]
    fitted: Floats = (terms @ slope)[:, :, 0]
    return fitted


def _length(nu: Floats) -> Floats:
    """Return the root of the sum of squares over topics [S, D]; infinite where it is 0."""
    length = np.sqrt((nu**2).sum(axis=1))
    longer: Floats = np.where(length > 1e-9, length, np.inf)
    return longer


def _standardise(values: Floats) -> Floats:
    scaled: Floats = values / np.maximum(values.std(axis=1, keepdims=True), _TINY)
    return scaled
