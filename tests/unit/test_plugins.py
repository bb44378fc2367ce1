"""What a package registers is found by name, and nothing else is imported."""

import pytest

from plugin_for_tests import installed
from venire import plugins
from venire.errors import UnknownName


def test_a_package_registers_by_entry_point(tmp_path):
    with installed(tmp_path, "venire.measures", {"Half": "HALF"}, "HALF = 1 / 2\n"):
        assert "Half" in plugins.names("measure")
        assert plugins.load("measure", "Half") == 0.5
    assert "Half" not in plugins.names("measure")


def test_a_process_registers_for_itself():
    plugins.register("measure", "Third", "thing")
    try:
        assert plugins.load("measure", "Third") == "thing"
        assert plugins.names("measure")[-1] == "Third"
    finally:
        plugins.unregister("measure", "Third")
    with pytest.raises(UnknownName, match="Unknown measure 'Third'"):
        plugins.load("measure", "Third")


def test_an_unknown_kind_is_refused():
    with pytest.raises(UnknownName, match="Did you mean 'measure'"):
        plugins.register("measures", "x", 1)


@pytest.mark.parametrize("kind", plugins.GROUPS)
def test_everything_of_ours_loads(kind):
    assert list(plugins.load_all(kind)) == plugins.names(kind)
