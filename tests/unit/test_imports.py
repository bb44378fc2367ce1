"""What starting up does not import is what makes it fast; times are printed, not tested."""

import json
import subprocess
import sys

import pytest

HEAVY = ("numba", "polars", "pandas", "pyarrow", "scipy", "plotly", "numpy", "narwhals", "rich")


def imported(code):
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import venire",
        "from venire.cli.main import main\nmain(['--help'])",
        "from venire.cli.main import main\nmain(['--version'])",
    ],
)
def test_nothing_heavy_is_imported(code):
    modules = imported(code)
    assert "venire" in modules
    assert not modules & set(HEAVY)


def test_a_public_name_brings_only_what_it_needs():
    modules = imported("import venire\nvenire.Judgments")
    assert "polars" in modules
    assert not modules & {"numba", "pandas", "pyarrow", "plotly", "scipy.stats"}


def test_an_unknown_public_name_is_an_attribute_error():
    import venire

    with pytest.raises(AttributeError, match="no attribute 'Judgements'"):
        venire.Judgements  # noqa: B018


def test_every_public_name_is_there():
    import venire

    assert all(getattr(venire, name) is not None for name in venire.__all__)
