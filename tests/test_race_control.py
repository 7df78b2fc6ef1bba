"""Race control: order, gaps, laps down, flags and the finish, of cars that are moved by hand."""

import math

import pytest

from trailbrake.cars.drivetrain import Hybrid
from trailbrake.race_control import CarProgress, EnergyMeter, RaceControl, RaceFlag
from trailbrake.tracks.track import DrsZone

LENGTH = 1000.0


def run(race, seconds, speeds, starts=None, step=0.05, begin=0.0):
    """Drive cars at steady speeds (m/s) from their starts (m); return where they are."""
    starts = [-10.0 * car for car in range(len(speeds))] if starts is None else starts
    for k in range(1, round(seconds / step) + 1):
        time, cars = begin + k * step, []
        for start, speed in zip(starts, speeds, strict=True):
            way = start + speed * k * step
            laps = max(int(way // LENGTH), 0)
            ended = begin + (laps * LENGTH - start) / speed if laps and speed else math.nan
            cars.append(CarProgress(way, speed, laps, ended))
        race.update(time, cars)
    return [car.distance for car in cars]


def standings(race, *names):
    return [tuple(row[name] for name in names) for row in race.list_standings()]


def test_before_the_start_the_order_is_that_of_the_grid():
    assert RaceControl(LENGTH, 3, slots=(2, 0, 1)).order == [1, 2, 0]


def test_order_gaps_and_laps_down_follow_the_distances():
    race = RaceControl(LENGTH, 3)
    run(race, 50.0, (40.0, 50.0, 25.0))
    assert standings(race, "position", "car", "laps", "laps_down") == [(1, 1, 2, 0), (2, 0, 2, 0), (3, 2, 1, 1)]
    (_, leader), (_, second), (_, third) = standings(race, "car", "gap_s")
    assert leader == 0.0
    # When the leader was where the second is now: 2000 m; the third is at 1230 m.
    assert second == pytest.approx(50.0 - (2000.0 + 10.0) / 50.0, abs=0.3)
    assert third == pytest.approx(50.0 - (1230.0 + 10.0) / 50.0, abs=0.5)


def test_the_flag_ends_the_race_for_each_car_at_its_next_line():
    """Three laps: the winner takes 60.2 s; the second finishes its third, the lapped third car its second."""
    race = RaceControl(LENGTH, 3, laps=3)
    run(race, 90.0, (49.0, 50.0, 30.0))
    assert standings(race, "car", "laps", "laps_down", "flag") == [
        (1, 3, 0, "chequered"), (0, 3, 0, "chequered"), (2, 2, 1, "chequered"),
    ]  # fmt: skip
    finish = [row["finish_s"] for row in race.list_standings()]
    assert finish == pytest.approx([3010.0 / 50.0, 3000.0 / 49.0, 2020.0 / 30.0])
    assert race.list_standings()[1]["gap_s"] == pytest.approx(finish[1] - finish[0])


def test_a_lapped_car_that_crosses_the_line_first_is_not_before_one_that_still_has_to():
    race = RaceControl(LENGTH, 3, laps=3)
    run(race, 61.8, (48.0, 50.0, 33.0))
    assert standings(race, "car", "laps", "flag") == [(1, 3, "chequered"), (0, 2, "none"), (2, 2, "chequered")]


def test_who_passes_after_the_flag_gains_nothing():
    race = RaceControl(LENGTH, 2, laps=1)
    run(race, 25.0, (50.0, 45.0))
    run(race, 10.0, (20.0, 80.0), starts=[1250.0, 1115.0], begin=25.0)
    assert race.order == [0, 1]
    assert standings(race, "car", "laps") == [(0, 1), (1, 1)]


def test_yellow_before_a_car_that_hardly_moves_and_not_behind_it():
    race = RaceControl(LENGTH, 3)
    run(race, 1.0, (30.0, 30.0, 30.0), starts=[600.0, 400.0, 100.0])
    race.update(1.1, [CarProgress(630.0, 2.0, 0, math.nan), CarProgress(430.0, 30.0, 0, math.nan),
                      CarProgress(130.0, 30.0, 0, math.nan)])  # fmt: skip
    assert race.flags == [RaceFlag.NONE, RaceFlag.YELLOW, RaceFlag.NONE]


def test_a_standing_start_is_not_yellow():
    race = RaceControl(LENGTH, 2)
    run(race, 1.0, (3.0, 3.0))
    assert race.flags == [RaceFlag.NONE] * 2


def test_blue_to_the_car_that_is_about_to_be_lapped_alone():
    race = RaceControl(LENGTH, 2)
    race.update(1.0, [CarProgress(1450.0, 50.0, 1, 20.0), CarProgress(500.0, 30.0, 0, math.nan)])  # 50 m: 1 s
    assert race.flags == [RaceFlag.NONE, RaceFlag.BLUE]
    race.update(2.0, [CarProgress(1350.0, 50.0, 1, 20.0), CarProgress(500.0, 30.0, 0, math.nan)])  # 3 s
    assert race.flags == [RaceFlag.NONE] * 2
    race.update(3.0, [CarProgress(480.0, 50.0, 0, math.nan), CarProgress(500.0, 30.0, 0, math.nan)])  # for the lead
    assert race.flags == [RaceFlag.NONE] * 2


ZONE = DrsZone(400.0, 500.0, 700.0)


def opens(race, car, s=600.0, is_wanted=True):
    return race.open_wing(car, s, is_wanted=is_wanted)


def test_in_practice_a_rear_wing_opens_in_a_zone_and_nowhere_else():
    race = RaceControl(LENGTH, 1, zones=[ZONE])
    assert [opens(race, 0, s) for s in (499.0, 500.0, 699.0, 700.0)] == [False, True, True, False]
    assert not opens(race, 0, is_wanted=False)
    assert (race.allows_drs, race.is_wing_open) == ([True], [False])
    assert not opens(RaceControl(LENGTH, 1), 0)


@pytest.mark.parametrize(("seconds", "expected"), [(47.0, [False] * 3), (53.0, [False, True, False])])
def test_in_a_race_it_opens_from_the_third_lap_on_within_a_second_of_another(seconds, expected):
    """At 50 m/s the second is 0.8 s behind the first, the third 2 s behind the second; they pass 1400 m, and 2400 m."""
    race = RaceControl(LENGTH, 3, laps=9, zones=[ZONE])
    run(race, seconds, (50.0,) * 3, [-10.0, -50.0, -150.0])
    assert [opens(race, car) for car in range(3)] == expected


def test_a_lapped_car_ahead_counts_and_within_a_look_the_earlier_one_is_ahead():
    race = RaceControl(LENGTH, 2, laps=9, zones=[ZONE])
    for ways in ((2000.0, 1000.0), (2395.0, 1395.0), (2405.0, 1404.0)):  # 0.10 s and 0.13 s ago
        race.update(60.0, [CarProgress(ways[0], 50.0, 2, 40.0), CarProgress(ways[1], 30.0, 1, 40.0)])
    assert [opens(race, car) for car in range(2)] == [True, False]


def test_yellow_keeps_it_shut():
    race = RaceControl(LENGTH, 2, laps=9, zones=[ZONE])
    for way in (2000.0, 2390.0, 2402.0, 2422.0):
        race.update(60.0, [CarProgress(way + 15.0, 30.0, 2, 40.0), CarProgress(way, 30.0, 2, 40.0)])
    assert opens(race, 1)
    race.update(62.0, [CarProgress(2450.0, 2.0, 2, 40.0), CarProgress(2440.0, 30.0, 2, 40.0)])
    assert race.flags[1] is RaceFlag.YELLOW
    assert not opens(race, 1)


def test_a_lap_s_energy_is_counted_and_recovery_ends_at_what_a_lap_allows():
    meter = EnergyMeter(Hybrid(power=1e5, torque=200.0, capacity=400.0, recharge=1e5, start=0.75,
                               deployed_per_lap=250.0, recovered_per_lap=100.0))  # fmt: skip
    assert meter.charge_share == 0.75
    assert meter.update(100.0) == 100.0
    assert (meter.deployed, meter.is_spent, meter.is_charging) == (200.0, False, False)
    assert meter.update(160.0) == 160.0
    assert meter.update(230.0) == 200.0  # 100 J of the lap
    assert (meter.recovered, meter.is_charging) == (100.0, True)
    meter.update(150.0)
    assert meter.is_spent
    meter.begin_lap()
    assert (meter.update(170.0), meter.deployed, meter.recovered, meter.is_spent) == (170.0, 0.0, 20.0, False)
