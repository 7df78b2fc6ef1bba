"""A session of host and links for each test."""

import math

import pytest
from coupled import Session


@pytest.fixture
def session(tmp_path):
    made = Session(tmp_path)
    yield made
    made.close()
    assert list(tmp_path.glob("*.port")) == []
    assert math.isfinite(made.now)
