"""What the monitor measures of a car along a road, by the wire's states and by a world's."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from trailbrake.driving.road_monitor import HEADWAY_TIME, STANDSTILL_RADIUS, RoadMonitor, WireLapScorer
from trailbrake.laps import END_MARGIN, LapRecord
from trailbrake.state import CarState, Controls, Pose, SimCommand, WheelState
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track

DT = 0.01
LENGTH = 1000.0


@pytest.fixture
def road():
    return load_track("kartwerk").road


def straight(length=200.0):
    n = int(length) + 1
    return Road.from_columns(1.0, False, [float(k) for k in range(n)], [0.0] * n, [0.0] * n, [0.0] * n,
                             width_left=4.0, width_right=4.0)  # fmt: skip


def drive(monitor, road, speed, laps, offset=0.0, wheels=None, contacts=0.0):
    """Move along the centreline (or beside it) at a steady speed."""
    stations = np.arange(0.0, laps * road.length, speed * DT)
    for k, (x, y, z, yaw) in enumerate(road.points(stations, offset)):
        state = CarState(time=k * DT, sequence=k, x=x, y=y, z=z, yaw=yaw, speed=speed, contacts=contacts)
        if wheels is not None:
            for wheel in state.wheels:
                wheel.on_track = wheels
        monitor.tick(state, Controls())


def roll(monitor, places, dt=0.1, start=0.0, **state):
    for k, (x, y) in enumerate(places):
        monitor.observe_state(CarState(time=start + k * dt, x=x, y=y, **{"speed": 1.0} | state))
    return monitor


def lap(number, time=50.0):
    return LapRecord(number, time, True, (), "", 0.0, 0)


def in_world(time, progress, *, off=0, contacts=0.0, speed=20.0, x=None):
    wheels = tuple(WheelState(on_track=0.0 if i < off else 1.0) for i in range(4))
    return CarState(time=time, lap_progress=progress, wheels=wheels, contacts=contacts, speed=speed,
                    x=time if x is None else x, y=0.0)  # fmt: skip


def flat_road(closed=True):
    table = np.full((1, len(RoadColumn)), 4.0)
    return SimpleNamespace(length=LENGTH, closed=closed, table=table, locate=lambda x, y, near: (0.0, 0.0, 0))


def test_laps_errors_and_mean_speed(road):
    done = []
    monitor = RoadMonitor(road, road, done.append)
    drive(monitor, road, 25.0, 0.001, offset=0.7, wheels=1.0)
    assert math.isnan(monitor.max_error), "a car that has not come on its way is at no distance from the line, not at 0"
    monitor = RoadMonitor(road, road, done.append)
    drive(monitor, road, 25.0, 2.02, offset=0.7, wheels=1.0)
    assert [lap.valid for lap in monitor.laps] == [True, True]
    assert done == monitor.laps
    assert monitor.laps[1].time_s == pytest.approx(road.length / 25.0, abs=0.02)
    assert monitor.finished_at == pytest.approx(2.0 * road.length / 25.0, abs=0.02)
    assert monitor.max_error == pytest.approx(0.7, abs=0.02)
    assert monitor.mean_speed == pytest.approx(25.0)
    assert monitor.time == monitor.elapsed == pytest.approx(2.02 * road.length / 25.0, abs=0.02)
    assert monitor.way == pytest.approx(2.02 * road.length, abs=1.0)
    assert monitor.measure_rest(3.0) == pytest.approx(0.98 * road.length, abs=1.0)
    assert monitor.progress == pytest.approx(0.02, abs=0.01)
    assert (monitor.off_track_s, monitor.off_road_s, monitor.stuck_s) == (0.0, 0.0, 0.0)


def test_a_teleport_that_was_sent_spoils_its_lap_however_short_its_way(road):
    monitor = RoadMonitor(road, road)
    for k, (x, y, z, yaw) in enumerate(road.points(np.arange(0.0, 2.02 * road.length, 0.25))):
        command = SimCommand(teleport=Pose(x, y, z, yaw)) if 10 < k < 100 else None
        monitor.tick(CarState(time=k * DT, sequence=k, x=x, y=y, z=z, yaw=yaw, speed=25.0), Controls(command=command))
    assert [lap.valid for lap in monitor.laps] == [True]
    assert monitor.laps[0].end == pytest.approx(2.0 * road.length / 25.0, abs=0.02)


def test_fuel_is_the_share_of_the_tank_or_where_the_wire_has_none_the_litres():
    for fuel, seen in (({"fuel": 0.5, "fuel_litres": 30.0}, 0.5), ({"fuel_litres": 30.0}, 30.0)):
        assert roll(RoadMonitor(None, None), [(0.0, 0.0)], **fuel).fuel == seen


def test_before_the_first_state_there_is_nothing(road):
    monitor = RoadMonitor(road, road)
    monitor.start({})
    monitor.close()
    assert (monitor.laps, monitor.time, monitor.elapsed) == ([], 0.0, 0.0)
    assert (monitor.distance, monitor.standing_s, monitor.without_headway_s) == (0.0, 0.0, 0.0)
    assert math.isnan(monitor.mean_speed)
    assert math.isnan(monitor.max_error)


def test_wheels_that_the_simulator_calls_off_the_track_spoil_a_lap(road):
    monitor = RoadMonitor(road)
    drive(monitor, road, 25.0, 1.02, wheels=0.0)
    assert [lap.valid for lap in monitor.laps] == [False]
    assert monitor.off_track_s == monitor.off_road_s == pytest.approx(1.02 * road.length / 25.0, abs=0.1)
    assert monitor.off_track_count == 1


@pytest.mark.parametrize(("beyond", "wheels"), [(-0.3, 0), (0.5, 2), (1.3, 4)])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_where_the_wire_does_not_tell_the_centre_of_the_car_decides(road, side, beyond, wheels):
    width = float(road.column(RoadColumn.WIDTH_LEFT)[0])
    monitor = RoadMonitor(road)
    drive(monitor, road, 20.0, 1.05, offset=side * (width + beyond))
    assert monitor.wheels_off == wheels
    assert [lap.valid for lap in monitor.laps] == [wheels < 3]
    assert (monitor.off_track_s > 0.0) is (wheels > 2)
    assert (monitor.off_road_s > 0.0) is (beyond > 0.0)


def test_the_time_off_the_road_begins_anew_with_each_excursion():
    places = [(float(k), 4.5 if 10 <= k < 16 or k >= 20 else 0.0) for k in range(30)]
    assert roll(RoadMonitor(straight()), places[:16]).off_road_s == pytest.approx(0.5)
    assert roll(RoadMonitor(straight()), places[:18]).off_road_s == 0.0
    assert roll(RoadMonitor(straight()), places).off_road_s == pytest.approx(0.9)


def test_the_place_nearest_to_the_edge_is_that_of_the_car_s_side():
    places = [(float(x), 3.0 if x == 50 else 0.0) for x in range(100)]
    assert roll(RoadMonitor(straight()), places).edge_share == 0.75
    assert roll(RoadMonitor(straight(), half_width=1.0), places).edge_share == 1.0


def test_contacts_are_those_since_the_start_over_restarts(road):
    monitor = RoadMonitor(road)
    drive(monitor, road, 25.0, 0.5, wheels=1.0, contacts=3.0)
    assert monitor.contacts == 0
    world = RoadMonitor(None)
    for k, contacts in enumerate((1, 2, 0, 1, 2)):  # a world begins without
        world.observe_state(in_world(k * DT, 0.0, contacts=float(contacts)), [])
    assert world.contacts == 4


@pytest.mark.parametrize("start", [0.0, -0.5])
def test_the_way_from_the_grid_to_the_line_is_no_error(road, start):
    monitor = RoadMonitor(road, road)
    for k, s in enumerate(np.arange(start, 1.5 * road.length, 0.5)):
        x, y, _ = road.point(s % road.length, 2.0 if s < 20.0 else 0.3)
        monitor.tick(CarState(time=k * 0.02, x=x, y=y, speed=25.0), Controls())
    assert monitor.max_error == pytest.approx(0.3, abs=0.02)
    x, y, _ = road.point(0.5 * road.length, 1.5)
    monitor.tick(CarState(time=1e3, x=x, y=y, speed=25.0), Controls())
    assert monitor.max_error == pytest.approx(1.5, abs=0.02)


def test_the_end_of_an_open_road_is_before_there_is_no_ground():
    monitor = roll(RoadMonitor(straight()), [(float(x), 0.0) for x in range(5, 151)])
    assert monitor.measure_rest() == pytest.approx(50.0 - END_MARGIN)
    assert monitor.is_open_road
    assert monitor.distance == pytest.approx(144.0, abs=2.0)


def test_a_car_that_rocks_stands_and_one_that_backs_away_makes_no_headway():
    rocking = [(0.4 * STANDSTILL_RADIUS * (-1) ** k, 0.0) for k in range(100)]
    monitor = roll(RoadMonitor(straight()), rocking)
    assert monitor.standing_s == pytest.approx(9.9)
    assert monitor.travelled == 0.0
    backwards = roll(RoadMonitor(straight()), [(100.0 - 0.5 * k, 0.0) for k in range(100)])
    assert backwards.standing_s == pytest.approx(0.0)
    assert backwards.without_headway_s == pytest.approx(9.9)
    assert backwards.stuck_s == pytest.approx(9.9 - HEADWAY_TIME, abs=0.11)
    assert backwards.travelled == pytest.approx(49.5)


def test_a_car_lies_on_its_roof_until_it_makes_headway_on_its_wheels():
    monitor = RoadMonitor(straight())
    roll(monitor, [(10.0, 0.0), (15.0, 0.0)], roll=1.5)  # on two wheels
    assert monitor.rolled_s == 0.0
    roll(monitor, [(20.0, 0.0), (25.0, 0.0), (30.0, 0.0)], start=0.2, roll=-3.0)  # it slides on
    roll(monitor, [(30.0, 0.0), (30.0, 0.0)], start=0.5, pitch=1.7)  # on its nose, and over
    roll(monitor, [(30.0, 0.0)], start=0.7)
    roll(monitor, [(30.0, 0.0)], start=0.8, roll=math.inf)
    assert monitor.rolled_s == pytest.approx(0.5)
    roll(monitor, [(33.0, 0.0)], start=0.9)
    assert monitor.rolled_s == 0.0


def test_without_a_road_the_way_is_what_was_travelled():
    circle = [(200.0 * math.sin(0.01 * k), 200.0 * (1.0 - math.cos(0.01 * k))) for k in range(620)]
    monitor = roll(RoadMonitor(None), circle)
    assert monitor.travelled == monitor.way == pytest.approx(1238.0, abs=1.0)
    assert monitor.away == pytest.approx(400.0, abs=0.1)
    assert monitor.gap == pytest.approx(18.6, abs=0.3)
    assert (monitor.place, monitor.laps, monitor.measure_rest(), monitor.is_open_road) == (0.0, [], math.inf, False)


def test_a_world_s_laps_and_progress_are_its_own():
    laps = [lap(1), lap(2)]
    plant = SimpleNamespace()
    monitor = RoadMonitor(flat_road(), plant=plant)
    for k in range(101):
        plant.car_state = lambda car, k=k: in_world(1.0 * k, (k % 50) / 50.0)
        plant.laps = lambda car, k=k: laps[: k // 50]
        monitor.tick(CarState(), Controls())  # what the wire shows does not matter
    assert monitor.laps == laps
    assert monitor.distance == pytest.approx(2000.0)
    assert (monitor.states, monitor.elapsed, monitor.moved_at, monitor.stuck_s) == (101, 100.0, 0.0, 0.0)


def test_an_open_road_that_is_driven_to_its_end_counts_once():
    monitor = RoadMonitor(flat_road(closed=False))
    for k in range(11):
        monitor.observe_state(in_world(2.0 * k, 0.1 * k), [lap(1)] if k == 10 else [])
    assert monitor.distance == pytest.approx(LENGTH)


def test_times_off_the_road_are_counted_by_episode():
    monitor = RoadMonitor(flat_road())
    for k, off in enumerate([0, 3, 3, 2, 4, 0]):
        monitor.observe_state(in_world(0.1 * k, 0.01 * k, off=off), [])
    assert monitor.off_track_count == 2
    assert monitor.off_track_s == pytest.approx(0.3)


def show_laps(monitor, until, laps=(), start=0.0):
    """Show a world's states every 0.5 s; `laps`: (time at which the world has it, record)."""
    for time in np.arange(start, until + 0.25, 0.5).tolist():
        monitor.observe_state(in_world(time, 0.0), [lap for ended, lap in laps if ended <= time])


def test_a_restart_keeps_the_laps_and_costs_the_time():
    monitor = RoadMonitor(None, began=0.0)
    show_laps(monitor, 14.0, [(10.5, lap(1, 10.2))])
    show_laps(monitor, 30.0, [(9.5, lap(1, 9.1))])  # its clock begins anew, as after `restart` on the wire
    assert [lap.time_s for lap in monitor.laps] == [10.2, 9.1]
    assert monitor.finished_at == pytest.approx(14.0 + 9.1)
    assert monitor.clock == pytest.approx(44.0)


def test_a_restart_without_a_clock_of_its_own_is_seen_by_its_laps():
    monitor = RoadMonitor(None, began=0.0)
    show_laps(monitor, 14.0, [(10.5, lap(1, 10.2))])
    show_laps(monitor, 14.5, start=14.5)
    show_laps(monitor, 24.0, [(24.0, lap(1, 9.3))], start=24.0)
    assert monitor.finished_at == pytest.approx(14.5 + 9.3)


def test_the_drive_begins_at_its_first_state_unless_it_began_before():
    late, raced = RoadMonitor(None), RoadMonitor(None, began=0.0)
    for monitor in (late, raced):
        roll(monitor, [(0.0, 0.0)] * 3, start=5.0)
    assert late.elapsed == pytest.approx(0.2)
    assert raced.elapsed == pytest.approx(5.2)


def tick(counter, time, lap, began, contacts=math.nan):
    counter.tick(CarState(time=time, lap=lap, lap_time=time - began, speed=2.0, contacts=contacts), Controls())


def test_laps_and_times_are_the_wire_s_own():
    done = []
    counter = WireLapScorer(done.append)
    for time, lap, began in ((0.0, 1, 0.0), (30.0, 1, 0.0), (31.5, 2, 31.48), (60.0, 2, 31.48), (61.04, 3, 61.04)):
        tick(counter, time, lap, began)
    assert [(lap.number, lap.valid, lap.sectors_s) for lap in done] == [(1, True, ()), (2, True, ())]
    assert [lap.time_s for lap in done] == pytest.approx([31.48, 29.56])
    assert (counter.time, counter.mean_speed) == (61.04, 2.0)
    assert math.isnan(counter.contacts)
    assert math.isnan(counter.off_track_s)


def test_a_restart_begins_anew_and_its_first_lap_is_no_lap():
    counter = WireLapScorer(lambda lap: None)
    for time, lap in ((0.0, 1), (30.0, 2), (0.04, 1), (0.08, 1)):
        tick(counter, time, lap, 0.0)
    assert counter.laps == []
    tick(counter, 29.0, 2, 29.0)
    assert [lap.number for lap in counter.laps] == [1]


def test_a_contact_that_the_wire_shows_spoils_its_own_lap_only():
    counter = WireLapScorer(lambda lap: None)
    for time, lap, began, contacts in ((0.0, 1, 0.0, 0), (10.0, 1, 0.0, 2), (30.0, 2, 30.0, 2), (60.0, 3, 60.0, 2)):
        tick(counter, time, lap, began, contacts)
    assert [(lap.valid, lap.invalid_reason, lap.contacts) for lap in counter.laps] == [
        (False, "contact", 2),
        (True, "", 0),
    ]


def test_before_the_first_tick_there_is_nothing():
    counter = WireLapScorer(lambda lap: None)
    counter.start({})
    counter.close()
    assert (counter.laps, counter.time) == ([], 0.0)
    assert math.isnan(counter.mean_speed)
