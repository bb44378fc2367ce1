"""Moments and normaliser of a standard normal truncated to an interval, to 1e-12.

The difference of two normal distribution functions becomes 0/0 a few standard deviations from
the mean, which is common here; differences of their logarithms lose digits in narrow cells.
Therefore: flip the sign so that |a| <= b; for a >= 0 use ratios of erfcx(x) = exp(x^2) erfc(x),
in which the tails cancel exactly; for a narrow cell use 5-point Gauss-Legendre; where the cell
contains zero, sums of Phi(x) - 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from venire.arrays import Floats
from venire.compilation import jit

_PIECES = 128
_DEGREE = 7
_SPAN = 8.0
"""Beyond this point the normal distribution function is 1 to the last bit."""


def _fit(function: Callable[[Floats], Floats], pieces: int) -> Floats:
    """Return polynomials of degree 7 of a function on equal pieces of [0, 1], [pieces, 8].

    Each is the Chebyshev interpolant, as monomials of the position in [-1, 1] within the
    piece.
    """
    nodes = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    vandermonde = np.vander(nodes, _DEGREE + 1, increasing=True)
    points = (np.arange(pieces)[:, None] + 0.5 + 0.5 * nodes[None, :]) / pieces
    out: Floats = np.linalg.solve(vandermonde, function(points).T).T
    return np.ascontiguousarray(out)


def _build_tables() -> tuple[Floats, Floats, Floats]:
    """Return erfcx(x) / y on y = 4 / (4 + x); Phi(x) - 1/2 and phi(x) on x / 8."""
    from scipy.special import erf, erfcx

    return (
        _fit(lambda y: erfcx(4.0 / y - 4.0) / y, _PIECES),
        _fit(lambda t: 0.5 * erf(t * _SPAN * math.sqrt(0.5)), _PIECES),
        _fit(lambda t: np.exp(-0.5 * (t * _SPAN) ** 2) / math.sqrt(2.0 * math.pi), _PIECES),
    )


_ERFCX, _CENTRE, _DENSITY = _build_tables()
_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
# Nodes and weights of 5-point Gauss-Legendre on [-1, 1].
_X1, _X2 = 0.5384693101056831, 0.906179845938664
_W0, _W1, _W2 = 0.5688888888888889, 0.4786286704993665, 0.23692688505618908


@jit
def polynomial(c: Floats, t: float) -> float:
    """Return a polynomial of degree 7; terms are added in pairs, which the processor overlaps."""
    t2 = t * t
    low = (c[0] + c[1] * t) + (c[2] + c[3] * t) * t2
    high = (c[4] + c[5] * t) + (c[6] + c[7] * t) * t2
    return low + high * (t2 * t2)


@jit
def erfcx(x: float) -> float:
    """Return exp(x^2) erfc(x) for x >= 0."""
    y = 4.0 / (4.0 + x)
    position = y * _PIECES
    piece = min(int(position), _PIECES - 1)
    return y * polynomial(_ERFCX[piece], 2.0 * (position - piece) - 1.0)


@jit
def centre(x: float) -> tuple[float, float]:
    """Return Phi(x) - 1/2 and phi(x) for x >= 0, each to 1e-16."""
    if x >= _SPAN:
        return 0.5, 0.0
    position = x * (_PIECES / _SPAN)
    piece = int(position)
    t = 2.0 * (position - piece) - 1.0
    return polynomial(_CENTRE[piece], t), polynomial(_DENSITY[piece], t)


@jit
def moments(a: float, b: float) -> tuple[float, float, float, float]:
    """Return (z, e, m1, m2) of a standard normal truncated to (a, b), a < b.

    The normaliser is Phi(b) - Phi(a) = z * exp(-e), which does not underflow;
    m1 = E[t] and m2 = E[t^2].
    """
    flip = 1.0
    if a + b < 0.0:
        a, b = -b, -a
        flip = -1.0
    width = b - a
    center = 0.5 * (a + b)
    if width < 0.15 and center * width < 0.3:
        h = 0.5 * width
        t1, t2, t3, t4 = h * _X1, -h * _X1, h * _X2, -h * _X2
        p1 = _W1 * math.exp(-t1 * (center + 0.5 * t1))
        p2 = _W1 * math.exp(-t2 * (center + 0.5 * t2))
        p3 = _W2 * math.exp(-t3 * (center + 0.5 * t3))
        p4 = _W2 * math.exp(-t4 * (center + 0.5 * t4))
        total = _W0 + p1 + p2 + p3 + p4
        s1 = (p1 * t1 + p2 * t2 + p3 * t3 + p4 * t4) / total
        s2 = (p1 * t1 * t1 + p2 * t2 * t2 + p3 * t3 * t3 + p4 * t4 * t4) / total
        first = center + s1
        second = center * center + 2.0 * center * s1 + s2
        return h * _INV_SQRT_2PI * total, 0.5 * center * center, flip * first, second
    if a >= 0.0:
        ratio = math.exp(-width * center)
        gap = erfcx(a * _SQRT_HALF) - ratio * erfcx(b * _SQRT_HALF)
        scale = _SQRT_2_OVER_PI / gap
        first = scale * (1.0 - ratio)
        return 0.5 * gap, 0.5 * a * a, flip * first, 1.0 + scale * (a - b * ratio)
    # The cell contains zero: nothing cancels, and polynomials need no exponential.
    below, at_a = centre(-a)
    above, at_b = centre(b)
    z = below + above
    inverse = 1.0 / z
    return z, 0.0, flip * inverse * (at_a - at_b), 1.0 + inverse * (a * at_a - b * at_b)


@jit
def array_moments(a: Floats, b: Floats) -> Floats:
    """Return log normaliser, first and second moment for arrays of cells, as rows [3, n]."""
    out = np.empty((3, a.size))
    for i in range(a.size):
        z, e, m1, m2 = moments(a[i], b[i])
        out[0, i] = math.log(z) - e
        out[1, i] = m1
        out[2, i] = m2
    return out
