"""Other cars of a session, by their public pages."""

import pytest

from trailbrake.state import Controls


def test_the_other_cars(session):
    link = session.connect()
    other = session.connect(car=1)
    session.drive(other, Controls(throttle=1.0), 200)
    state = session.drive(link, Controls(), 333)
    assert [o.index for o in state.others] == [1]
    assert state.others[0].x == pytest.approx(session.plant.bodies[1].x, abs=0.5)  # two frame rates late
    assert state.others[0].y == 5.0
