import numpy as np
import pytest
from scipy.stats import gamma

from venire.aggregation.kernels.gamma import gamma_shape


@pytest.mark.parametrize("shape", [0.05, 0.7, 3.0, 40.0, 900.0])
def test_shape_is_that_of_scipys_maximum_likelihood(shape):
    values = gamma(shape, scale=0.5).rvs(4000, random_state=1)
    ours = gamma_shape(values.mean(), np.log(values).mean())
    theirs, _, _ = gamma.fit(values, floc=0)
    assert ours == pytest.approx(theirs, rel=1e-3)


def test_equal_values_have_the_highest_shape_there_is():
    assert gamma_shape(2.0, np.log(2.0)) == 1e6
