"""Sessions of a host and links over a small world."""

import pytest
from helpers.assetto.foreign_pages import let_go, pages
from helpers.assetto.small_world import Session

from trailbrake.sims.assetto import diagnosis_snapshots


@pytest.fixture(params=[True, False], ids=["mapped", "unmapped"])
def session(request, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    made = Session(tmp_path, cars=2, private=request.param)
    yield made
    made.close()
    assert sorted(p.name for p in tmp_path.iterdir() if "SimState" not in p.name and "CarControls" not in p.name) == []
    let_go()


@pytest.fixture
def told_session(tmp_path, monkeypatch):
    """A session with the classic pages, on the public names, which has run long enough to be joined."""
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    made = Session(tmp_path, cars=2, private=False, classic=True)
    made.tick(700)
    yield made
    made.close()
    let_go()


@pytest.fixture
def shm(tmp_path, monkeypatch):
    """A folder of pages, for a doctor of a game that runs."""
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setenv("TRAILBRAKE_SHM", str(folder))
    monkeypatch.setattr(diagnosis_snapshots, "is_game_running", lambda: True)
    monkeypatch.setattr("trailbrake.sims.assetto.install.installation._documents_folder", lambda game, home: None)
    yield pages(folder)
    let_go()
