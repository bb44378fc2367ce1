import pytest

from venire.testing.crowds import make_crowd


@pytest.fixture
def small():
    """30 items, 8 annotators, 4 grades; some annotators poor."""
    return make_crowd(3, items=30, people=8, good=(0.3, 0.95))
