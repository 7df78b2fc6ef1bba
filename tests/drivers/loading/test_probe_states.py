import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.probe_states import weaving_state
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track

DT = 0.003


@pytest.mark.parametrize("track", ["pinegrove", "serpent_pass"])
def test_the_car_speeds_up_from_rest_along_the_road_and_stays_on_it(track):
    course = Course(load_track(track), load_car("gt3"))
    states = [weaving_state(course, tick, DT) for tick in range(0, 400, 7)]
    places = [course.track.road.locate(state.x, state.y) for state in states]
    assert all(np.diff([s for s, *_ in places]) > 0.0)
    assert max(abs(offset) for _, offset, *_ in places) < 1.0
    assert [states[0].time, states[0].speed] == [0.0, 0.0]
    assert states[-1].speed > 25.0
    assert states[-1].time == pytest.approx(DT * states[-1].sequence)


def test_what_drivers_read_is_there():
    state = weaving_state(Course(load_track("pinegrove"), load_car("gt3")), 100, DT)
    read = (state.velocity_x, state.velocity_y, state.acceleration_y, state.yaw_rate, state.driving_line, state.yaw)
    assert all(map(math.isfinite, read))
    assert len(state.line_ahead) > 5
