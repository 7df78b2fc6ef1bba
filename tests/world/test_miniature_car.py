import math

import numpy as np
import pytest

from trailbrake.tracks.miniature.layout import HALF_WIDTH, Layout
from trailbrake.tracks.miniature.obstacles import CAR_LENGTH, CAR_WIDTH
from trailbrake.tracks.miniature.track import assemble
from trailbrake.world.camera.raster import Ground
from trailbrake.world.miniature_car import LOCK, SLEW, STEP, WHEELBASE, Mini, Pedal, step

# A straight of 40 m along +x from (0, 0), then a bend to the left.
TRACK = assemble(
    Layout(corners=[(-4.0, 0.0, 1.5), (44.0, 0.0, 1.5), (44.0, 6.0, 1.5), (-4.0, 6.0, 1.5)], start=4.0), "t", "", "t"
)
GROUND = Ground.of(TRACK)
NOBODY = np.zeros((0, 4))


def drive(steps, x=1.0, y=0.0, yaw=0.0, speed=0.0, steer=0.0, ask=(0.0, 1.0, 0.0), parked=NOBODY, car=None):
    """Return the car's row after each step."""
    cars = np.zeros((1, len(Mini)))
    cars[0, : Mini.STEER + 1] = x, y, yaw, speed, steer
    if car is not None:
        cars[0] = car
    asked = np.zeros((1, len(Pedal)))
    asked[0] = ask
    rows = []
    for _ in range(steps):
        step(cars, asked, STEP, 1, GROUND.left, GROUND.right, GROUND.near, GROUND.corner, TRACK.noses, parked)
        rows.append(cars[0].copy())
    return np.array(rows)


def acceleration(speed, ask, steer=0.0):
    (row,) = drive(1, speed=speed, steer=steer, ask=ask)
    return (row[Mini.SPEED] - speed) / STEP


def test_full_throttle_is_as_measured():
    assert acceleration(0.6, (0.0, 1.0, 0.0)) == pytest.approx(1.04, abs=0.03)
    assert acceleration(0.35, (0.0, 1.0, 0.0)) == pytest.approx(1.09, abs=0.06)


@pytest.mark.parametrize(
    ("speed", "measured"),
    [(0.12, -0.14), (0.3, -0.26), (0.5, -0.33), (0.9, -0.40), (1.1, -0.47), (1.3, -0.55), (1.5, -0.64), (1.7, -0.73),
     (1.9, -0.80)],
)  # fmt: skip
def test_coasting_straight_on_is_as_measured(speed, measured):
    # The page's own fit, -(0.10 + 0.37 v), misses its table by up to 0.05.
    assert acceleration(speed, (0.0, 0.0, 0.0)) == pytest.approx(measured, abs=0.06)


@pytest.mark.parametrize(
    ("speed", "measured"), [(0.3, -0.35), (0.5, -0.51), (0.9, -0.72), (1.1, -0.86), (1.3, -1.08), (1.5, -1.35)]
)
def test_coasting_with_much_steer_is_as_measured(speed, measured):
    lock = math.radians(20.0)
    assert acceleration(speed, (lock / LOCK, 0.0, 0.0), lock) == pytest.approx(measured, abs=0.16)


def test_the_car_is_capped_at_two_metres_a_second():
    assert drive(400)[-1, Mini.SPEED] == 2.0


def test_brakes_stop_it_at_two_and_never_push_it_back():
    assert acceleration(1.0, (0.0, 0.0, 1.0)) == pytest.approx(-2.0 - 0.47)
    rows = drive(60, speed=1.0, ask=(0.0, 0.0, 1.0))
    assert rows[-1, Mini.SPEED] == 0.0
    assert (np.diff(rows[:, Mini.X]) >= 0.0).all()


def test_a_negative_drive_reverses_from_a_stand():
    rows = drive(50, x=5.0, ask=(0.0, -0.5, 0.0))
    assert rows[-1, Mini.SPEED] < -0.3
    assert rows[-1, Mini.X] < 4.9


def test_the_steer_slews_to_the_lock():
    rows = drive(30, ask=(2.0, 0.0, 0.0))
    assert rows[4, Mini.STEER] == pytest.approx(5 * STEP * SLEW)
    assert rows[-1, Mini.STEER] == pytest.approx(math.radians(40.0))


def test_positive_steer_turns_left_on_the_circle_of_its_wheelbase():
    lock = math.radians(30.0)
    rows = drive(40, x=10.0, y=-0.4, speed=0.3, steer=lock, ask=(lock / LOCK, 0.4, 0.0))
    gone = np.hypot(*np.diff(rows[:, :2], axis=0).T).sum()
    turned = rows[-1, Mini.YAW] - rows[0, Mini.YAW]
    slip = math.atan(0.5 * math.tan(lock))
    assert turned > 0.3
    assert gone / turned == pytest.approx(WHEELBASE / math.tan(lock) / math.cos(slip), rel=1e-3)


def test_a_wall_stops_the_car_at_its_own_edge_and_holds_it_until_it_backs_away():
    rows = drive(150, x=5.0, y=0.0, yaw=0.5 * math.pi)
    last = rows[-1]
    reach = last[Mini.Y] + 0.5 * CAR_LENGTH
    assert 2.0 * HALF_WIDTH - 0.04 < reach <= 2.0 * HALF_WIDTH + 1e-9  # one step of 2 m/s at the most
    assert last[Mini.CONTACTS] == 1.0
    assert last[Mini.SPEED] == 0.0
    turned = drive(50, car=last, ask=(1.0, 1.0, 0.0))[-1]
    assert turned[Mini.X : Mini.YAW + 1].tolist() == last[Mini.X : Mini.YAW + 1].tolist()
    back = drive(50, car=turned, ask=(0.0, -1.0, 0.0))[-1]
    assert back[Mini.Y] < last[Mini.Y] - 0.1
    assert back[Mini.BLOCKED] == 0.0
    assert back[Mini.STUCK_TIME] == pytest.approx(last[Mini.STUCK_TIME] + 1.0, abs=0.3)


def test_a_car_that_scrapes_along_is_as_wide_as_it_is():
    free = 2.0 * HALF_WIDTH - 0.5 * CAR_WIDTH
    assert drive(5, x=5.0, y=free - 0.002, speed=1.0)[-1, Mini.CONTACTS] == 0.0
    assert drive(5, x=5.0, y=free + 0.002, speed=1.0)[-1, Mini.CONTACTS] == 1.0


def test_the_line_between_the_halves_is_no_wall():
    assert drive(100, x=5.0, y=0.3, yaw=-0.2, ask=(0.1, 1.0, 0.0))[-1, Mini.CONTACTS] == 0.0


@pytest.mark.parametrize(
    ("aside", "contacts"), [(0.5 * CAR_WIDTH + 0.5 * CAR_WIDTH + 0.003, 0.0), (0.12, 1.0), (0.0, 1.0)]
)
def test_a_parked_car_is_as_wide_as_it_is(aside, contacts):
    parked = np.array([[7.0, aside, 1.0, 0.0]])
    rows = drive(200, x=5.0, parked=parked)
    assert rows[-1, Mini.CONTACTS] == contacts
    if contacts:
        assert rows[-1, Mini.X] + 0.5 * CAR_LENGTH == pytest.approx(7.0 - 0.5 * CAR_LENGTH, abs=0.041)


def test_a_parked_car_across_is_touched_by_its_corner():
    # Turned by 45 degrees its corner reaches half a diagonal.
    reach = 0.5 * (CAR_LENGTH + CAR_WIDTH) / math.sqrt(2.0)
    c = math.sqrt(0.5)
    for gap, contacts in ((0.004, 0.0), (-0.004, 1.0)):
        parked = np.array([[7.0, reach + 0.5 * CAR_WIDTH + gap, c, c]])
        assert drive(200, x=5.0, parked=parked)[-1, Mini.CONTACTS] == contacts


def test_where_the_car_is_is_known_on_either_half():
    row = drive(1, x=9.0, y=0.5, ask=(0.0, 0.0, 0.0))[0]
    assert row[Mini.MAIN] == pytest.approx(9.0)
    assert (row[Mini.SIDE], row[Mini.OFFSET]) == (0.0, pytest.approx(0.5 - HALF_WIDTH))
    row = drive(1, x=9.0, y=-0.1, yaw=math.pi, ask=(0.0, 0.0, 0.0))[0]
    assert (row[Mini.SIDE], row[Mini.OFFSET]) == (1.0, pytest.approx(HALF_WIDTH - 0.1))
    assert row[Mini.ALONG] == pytest.approx(-1.0)
    assert row[Mini.WRONG_TIME] == STEP
