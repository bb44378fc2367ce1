"""A study with its people, copied for each test."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from owner_world import World


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """The folder of the study, and its ids."""
    folder = tmp_path_factory.mktemp("owner")
    world = World(folder)
    ids = {
        name: getattr(world, name) for name in ("users", "study", "other", "campaign", "batches")
    }
    world.store.close()
    return folder, ids


@pytest.fixture
def world(made, tmp_path):
    folder, ids = made
    shutil.copy(folder / "venire.db", tmp_path / "venire.db")
    found = World(tmp_path, ids)
    yield found
    found.store.close()


@pytest.fixture
def ada(world):
    return world.client("ada")
