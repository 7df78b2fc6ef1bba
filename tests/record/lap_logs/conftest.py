"""Laps as the truth, and conversions in a folder of the test's own."""

import pytest
from helpers.lap_log_files import make_laps


@pytest.fixture(scope="session")
def laps():
    """Laps at 25 samples a second."""
    return make_laps(25.0)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setenv("TRAILBRAKE_CHANNELS", str(tmp_path_factory.getbasetemp() / "no_channels.toml"))
