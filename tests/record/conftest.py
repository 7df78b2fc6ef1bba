"""A small recording."""

import pytest
from helpers.small_drives import small_drive


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    return small_drive(tmp_path_factory.mktemp("drive") / "a.mcap")
