import mpmath
import numpy as np
import pytest
from scipy.special import erfcx as scipy_erfcx

from venire.aggregation.kernels.truncated_normal import array_moments, erfcx, moments

# The grid of the notes: sqrt(rho) from 1e-4 to 100, cells 0 to 4 grades away, z anywhere in a cell.
FAR = 1e10
ROOTS = 10.0 ** np.linspace(-4, 2, 25)
CELLS = range(-4, 5)
OFFSETS = (-0.5, -0.3, 0.0, 0.2, 0.5)


def reference(a, b):
    """Log normaliser and two moments with 80 digits, from the definition."""
    with mpmath.workdps(80):
        a, b = mpmath.mpf(a), mpmath.mpf(b)
        root = mpmath.sqrt(2)
        if a > 0:
            z = (mpmath.erfc(a / root) - mpmath.erfc(b / root)) / 2
        elif b < 0:
            z = (mpmath.erfc(-b / root) - mpmath.erfc(-a / root)) / 2
        else:
            z = (mpmath.erf(b / root) - mpmath.erf(a / root)) / 2
        low, high = mpmath.npdf(a), mpmath.npdf(b)
        return mpmath.log(z), (low - high) / z, 1 + (a * low - b * high) / z


def test_moments_agree_with_mpmath_over_the_grid():
    edges = np.array(
        [
            ((cell - 0.5 + off) * root, (cell + 0.5 + off) * root)
            for root in ROOTS
            for cell in CELLS
            for off in OFFSETS
        ]
    )
    found = array_moments(edges[:, 0].copy(), edges[:, 1].copy())
    for (a, b), log_z, first, second in zip(edges, *found, strict=True):
        exact = reference(a, b)
        # The first moment may be 0: its error counts against the width of the cell.
        scale = max(abs(exact[1]), mpmath.mpf(b - a))
        assert abs(log_z - exact[0]) <= 1e-10 * max(1, abs(exact[0]))
        assert abs(first - exact[1]) <= 1e-10 * scale
        assert abs(second - exact[2]) <= 1e-10 * exact[2]


def test_erfcx_agrees_with_scipy():
    x = np.concatenate([np.linspace(0, 60, 5001), 10.0 ** np.arange(2, 12)])
    ours = np.array([erfcx(value) for value in x])
    assert np.max(np.abs(ours / scipy_erfcx(x) - 1)) < 1e-13


@pytest.mark.parametrize(("a", "b"), [(-FAR, 0.3), (0.3, FAR), (-FAR, FAR), (40.0, FAR)])
def test_infinite_cells_are_those_of_a_half_line(a, b):
    z, e, first, second = moments(a, b)
    exact = reference(max(a, -1e4), min(b, 1e4))
    assert np.log(z) - e == pytest.approx(float(exact[0]), rel=1e-12, abs=1e-12)
    assert first == pytest.approx(float(exact[1]), rel=1e-12, abs=1e-12)
    assert second == pytest.approx(float(exact[2]), rel=1e-12)


def test_mirrored_cells_have_mirrored_moments():
    for a, b in [(0.2, 1.7), (-0.4, 3.0), (5.0, 5.01), (-0.01, 0.02)]:
        z, e, first, second = moments(a, b)
        assert moments(-b, -a) == (z, e, -first, second)
