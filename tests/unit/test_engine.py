import threading

import pytest

from venire.engine import Serial, Threads
from venire.errors import BadSetting


@pytest.mark.parametrize("engine", [Serial(), Threads(1), Threads(3)])
def test_results_come_in_the_order_of_the_items(engine):
    assert list(engine.map(lambda at: at * at, range(20))) == [at * at for at in range(20)]


def test_threads_work_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    assert sorted(Threads(2).map(lambda _: both.wait(), range(2))) == [0, 1]


def test_no_workers_is_refused():
    with pytest.raises(BadSetting):
        Threads(0)
