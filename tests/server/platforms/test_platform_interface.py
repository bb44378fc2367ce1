"""Every registered platform passes the conformance suite, and the suite finds what is broken."""

import pytest

from platforms_for_tests import WRITERS
from venire import plugins
from venire.errors import UnknownName
from venire.server.platforms.base import TaskFile
from venire.server.platforms.check import check_platform
from venire.server.platforms.mturk import MTurk
from venire.server.platforms.registry import list_platforms, load_platform, recognise_platform
from venire.server.platforms.worker_link import find_worker, is_preview
from venire.testing.rules import Nonconforming


def writer_of(name):
    def write(assignments):
        return WRITERS[name]([(a.id, a.worker, a.hit, a.labels, a.status.upper())
                              for a in assignments])  # fmt: skip

    return write


@pytest.mark.parametrize("name", plugins.names("platform"))
def test_a_platform_conforms(name):
    assert name in WRITERS, f"tests/platforms_for_tests.py has no result file of {name}"
    done = check_platform(load_platform(name), writer_of(name))
    assert done[0] == "names"
    assert len(done) == 10


class NoHeader(MTurk):
    def write_tasks(self, hits, texts):
        return TaskFile(super().write_tasks(hits, texts).content.split(b"\n", 1)[1])


class TellsAll(MTurk):
    def write_decisions(self, path, columns, decisions):
        return super().write_decisions(path, columns, decisions) + b"A01\n"


class DropsLast(MTurk):
    def read_results(self, path, columns, problems):
        return super().read_results(path, columns, problems)[:-1]


@pytest.mark.parametrize(
    ("platform", "check"),
    [(NoHeader, "task file"), (TellsAll, "decision file"), (DropsLast, "result file")],
)
def test_a_platform_that_breaks_a_rule_is_named(platform, check):
    with pytest.raises(Nonconforming, match=check):
        check_platform(platform(), writer_of("mturk"))


def test_platforms_are_found_by_name_and_by_their_columns():
    assert list_platforms() == ["mturk", "toloka"]
    for name in list_platforms():
        platform = load_platform(name)
        assert platform.name == name
        assert recognise_platform(platform.result_columns).name == name
    assert recognise_platform(["query_id", "label"]) is None
    with pytest.raises(UnknownName, match=r"Unknown platform 'turk'.*Did you mean 'mturk'"):
        load_platform("turk")


def test_a_worker_is_known_by_the_parameter_of_the_platform():
    assert find_worker({"workerId": "A1", "assignmentId": "B"}) == "A1"
    assert find_worker({"PROLIFIC_PID": "P"}) == "P"
    assert find_worker({"worker": "W", "workerId": "A1"}) == "W"
    assert find_worker({"hitId": "H"}) == ""
    for name in ("assignmentId", "assignment_id"):
        assert is_preview({name: "ASSIGNMENT_ID_NOT_AVAILABLE"})
        assert not is_preview({name: "3ABC"})
