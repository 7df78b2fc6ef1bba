"""A session of host and links for each test."""

import math

import pytest
from helpers.beamng.coupled_session import Session
from helpers.beamng.plain_controller import PlainController


@pytest.fixture
def session(tmp_path):
    made = Session(tmp_path)
    yield made
    made.close()
    assert list(tmp_path.glob("*.port")) == []
    assert math.isfinite(made.now)


@pytest.fixture
def controller(session):
    session.serve(simulink_time=0.0005)
    made = PlainController(session)
    yield made
    made.close()
