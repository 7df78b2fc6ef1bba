"""The original's three drivers against the same programs written with the package that they used."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simple_pid import PID

from trailbrake.drivers.originals import cruise_seed, curvature_cut_seed, lane_keep_seed
from trailbrake.state import CarState

RATES = st.floats(-3.0, 3.0)
SPEEDS = st.floats(-60.0, 60.0)
ROWS = st.lists(
    st.tuples(
        st.sampled_from([1 / 240, 1 / 60, 0.034, 0.25]), st.integers(-127, 127), st.floats(0.0, 60.0),
        st.tuples(RATES, RATES, RATES), st.tuples(SPEEDS, SPEEDS, SPEEDS),
    ),
    max_size=40,
)  # fmt: skip


class Original:
    """Section 5 of the protocol page, in the words of a program of that time. Answers (stick, throttle)."""

    def __init__(self, speed, lane, cut):
        self.now = 0.0
        self.throttle = PID(1, 1, 1, setpoint=speed, output_limits=(0, 1), time_fn=lambda: self.now)
        self.steer = PID(4 / 127, 0.5 / 127, 8 / 127, setpoint=0, output_limits=(-1, 1), time_fn=lambda: self.now)
        self.lane, self.cut = lane, cut

    def __call__(self, dt, ndl, speed, w, v):
        self.now += dt
        stick = -self.steer(ndl) if self.lane else 0.0
        if self.cut:
            size = math.hypot(*w)
            radius = math.hypot(*v) / size if size else 0.0
            if radius <= 35:
                return stick, 0.0
        return stick, self.throttle(speed)


@pytest.mark.parametrize(
    ("driver", "speed", "lane", "cut"),
    [
        (cruise_seed, 20.0, False, False),
        (lane_keep_seed, 17.8816, True, False),
        (curvature_cut_seed, 33.528, True, True),
    ],
)
@settings(max_examples=60)
@given(rows=ROWS)
def test_the_same_numbers_as_the_original(driver, speed, lane, cut, rows):
    ours, original = driver.Driver(), Original(speed, lane, cut)
    ours.reset(None)
    for dt, ndl, going, w, v in rows:
        state = CarState(
            driving_line=ndl / 127, speed=going, roll_rate=w[0], pitch_rate=w[1], yaw_rate=w[2],
            velocity_x=v[0], velocity_y=v[1], velocity_z=v[2],
        )  # fmt: skip
        controls = ours.act(state, dt)
        # Our steer is positive to the left, the stick to the right.
        assert (-controls.steer, controls.throttle, controls.brake) == (*original(dt, ndl, going, w, v), 0.0)


def test_the_fast_one_never_starts_from_perfect_rest():
    driver = curvature_cut_seed.Driver()
    driver.reset(None)
    still = CarState(
        driving_line=0.0, speed=0.0, roll_rate=0.0, pitch_rate=0.0, yaw_rate=0.0, velocity_x=0.0, velocity_y=0.0,
        velocity_z=0.0,
    )  # fmt: skip
    assert {driver.act(still, 1 / 60).throttle for _ in range(600)} == {0.0}
