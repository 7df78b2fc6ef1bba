"""Laps, distance and damage of a car, from states made by hand."""

import math

import pytest

from trailbrake.sims.assetto.wire.car_condition import TripLog
from trailbrake.state import CarState


def state(time, lap_time=0.0, **more):
    known = {"lap": 1.0, "speed": 10.0, "velocity_x": 10.0, "velocity_y": 0.0, "acceleration_x": 0.0,
             "acceleration_y": 0.0, "yaw_rate": 0.0, "contact_depth": 0.0}  # fmt: skip
    return CarState(time=time, lap_time=lap_time, **(known | more))


def followed(*states):
    book = TripLog()
    for each in states:
        book.add_state(each)
    return book


def test_a_lap_is_as_long_as_the_time_by_which_its_start_moved():
    # The line was crossed 1 ms before t = 60.002: the lap took from 0.5 to 60.001.
    book = followed(state(0.5), state(59.999, 59.499), state(60.002, 0.001, lap=2.0), state(60.005, 0.004, lap=2.0))
    assert book.laps == 1
    assert book.last_lap == pytest.approx(59.501)


def test_a_crossing_after_a_teleport_is_no_lap():
    """The clock of the lap starts again, and the number of the lap stays."""
    book = followed(state(0.5), state(15.0, 14.5), state(15.003, 0.001), state(15.006, 0.004))
    assert (book.laps, book.last_lap) == (0, 0.0)


def test_a_car_that_was_put_somewhere_has_not_finished_a_lap():
    book = followed(state(0.5), state(30.0, 29.5))
    book.mark_discontinuity()
    book.add_state(state(30.003, 0.0))
    assert (book.laps, book.last_lap) == (0, 0.0)


@pytest.mark.parametrize(
    ("ahead", "aside", "side"), [(-5.0, 1.0, 0), (5.0, 1.0, 1), (1.0, -5.0, 2), (-1.0, 5.0, 3)]
)  # pushed back: hit in front; pushed to the right: hit on the left
def test_damage_is_on_the_side_that_was_hit(ahead, aside, side):
    hit = state(0.003, 0.003, velocity_x=10.0 + ahead, velocity_y=aside, contact_depth=0.02)
    book = followed(state(0.0), hit, state(0.006, 0.006))
    assert book.damage[side] == pytest.approx((ahead**2 + aside**2) ** 0.5 * 3.6)
    assert sum(book.damage) == book.damage[side]
    book.mark_discontinuity()
    assert sum(book.damage) > 0.0
    book.mark_discontinuity(repaired=True)
    assert sum(book.damage) == 0.0


def test_each_lap_is_counted_and_the_last_one_is_kept():
    log = followed(
        state(0.0), state(60.0, 0.0, lap=2.0), state(61.0, 1.0, lap=2.0), state(110.0, 0.0, lap=3.0),
        state(111.0, 1.0, lap=3.0),
    )  # fmt: skip
    assert (log.laps, log.last_lap, log.distance) == (2, 50.0, pytest.approx(1110.0))


def test_nothing_has_happened_to_a_car_before_its_second_state():
    for log in (TripLog(), followed(state(5.0, contact_depth=1.0, lap=7.0))):
        assert (log.laps, log.last_lap, log.distance, log.damage) == (0, 0.0, 0.0, (0.0,) * 5)


@pytest.mark.parametrize(
    ("change", "damage"),
    [
        ((-2.0, 0.0), (7.2, 0.0, 0.0, 0.0, 0.0)),
        ((-2.0, 2.0), (2.0 * 3.6 * 2.0**0.5, 0.0, 0.0, 0.0, 0.0)),  # by as much: in front
        ((0.5, 0.0), (0.0, 1.8, 0.0, 0.0, 0.0)),
        ((0.0, 0.5), (0.0, 0.0, 0.0, 1.8, 0.0)),
        ((0.0, -2.0), (0.0, 0.0, 7.2, 0.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize("depth", [0.0, 0.001, 0.5])
def test_damage_is_the_change_of_speed_in_km_h_while_something_touches(change, damage, depth):
    hit = state(0.0, velocity_x=10.0 + change[0], velocity_y=change[1], contact_depth=depth)
    log = followed(state(0.0), hit)
    assert log.damage == pytest.approx(damage if depth else (0.0,) * 5)
    log.add_state(state(0.0, velocity_x=10.0 + 2.0 * change[0], velocity_y=2.0 * change[1], contact_depth=depth))
    assert log.damage == pytest.approx(tuple(2.0 * value for value in damage) if depth else (0.0,) * 5)


def test_what_acceleration_and_rotation_explain_is_taken_off():
    """dvx = (ax + r vy) dt, dvy = (ay - r vx) dt; here with 4 m/s of the 10 m/s sideways, and 0.5 s."""
    moving = {"velocity_x": 6.0, "velocity_y": 4.0, "acceleration_x": 2.0, "acceleration_y": 3.0, "yaw_rate": 0.25}
    log = followed(state(1.0, velocity_x=6.0, velocity_y=4.0), state(1.5, contact_depth=0.1, **moving))
    # Nothing has changed although 2 + 1 and 3 - 1.5 m/s^2 for 0.5 s would have: -1.5 and -0.75 m/s.
    assert log.damage == pytest.approx((3.6 * (1.5**2 + 0.75**2) ** 0.5, 0.0, 0.0, 0.0, 0.0))


def test_each_sector_has_its_own_time_found_between_two_steps():
    """As the game's readers expect: that of the sector which has just ended, not of the lap up to there."""

    def at(time, lap_time, progress, lap=1.0):
        book.add_state(state(time, lap_time, lap=lap, lap_progress=progress))
        return book.last_sector

    book = TripLog()
    assert at(5.0, 0.0, 0.0) == 0.0
    assert at(24.0, 19.0, 0.30) == 0.0
    assert at(26.0, 21.0, 0.35) == pytest.approx(19.0 + 2.0 * (1 / 3 - 0.30) / 0.05)
    first = book.last_sector
    assert at(45.0, 40.0, 2 / 3) == pytest.approx(40.0 - first)
    assert at(65.003, 0.001, 0.0001, 2.0) == pytest.approx(60.002 - 40.0)  # the lap began at 5.0
    assert at(85.0, 19.998, 0.34, 2.0) == pytest.approx(0.001 + 19.997 * (1 / 3 - 0.0001) / 0.3399)
    kept = book.last_sector
    book.mark_discontinuity()
    assert at(90.0, 25.0, 0.60, 2.0) == kept
    assert at(95.0, 30.0, 0.70, 2.0) == kept, "it began where the car was put"
    assert at(99.0, 34.0, math.nan, 2.0) == kept
    assert at(110.0, 0.5, 0.01, 2.0) == kept, "the line crossed after a teleport"
    assert at(130.0, 20.5, 1 / 3, 2.0) == pytest.approx(20.5)
