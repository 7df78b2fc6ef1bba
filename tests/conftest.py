"""Fixtures that several parts share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data beside the repository; TRAILBRAKE_SHARED names another."""
    folder = Path(os.environ.get("TRAILBRAKE_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "data").is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder
