"""The driver that holds a plan: signs, what it does without some fields, and how it learns from lap to lap."""

import copy
import math
from functools import cache

import msgspec
import numpy as np
import pytest
from helpers.socketio_agents import ring
from msgspec import structs

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.cars.params import SteerRange
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.control.vehicle.drivetrain import upshift_speeds
from trailbrake.control.vehicle.grip_estimate import GripEstimate
from trailbrake.control.vehicle.line_tracking import PlanColumn, TrackingCommand
from trailbrake.drivers import line_track
from trailbrake.drivers.line_track import (
    CAREFUL_FACTOR,
    CUT_ROOM,
    FADING,
    FIRST_FACTOR,
    KERB_ROOM,
    MOST_FIRST_FACTOR,
    MOST_WIDE,
    VERIFIED_FACTOR,
    Driver,
)
from trailbrake.drivers.parts.adaptive_plan import CAUTIOUS_GRIP, UNTESTED_GRIP, AdaptivePlan
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import DataError
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.planning.edge_learning import STEP
from trailbrake.planning.lap_learning import PEAK_LIMITS, STATION, LapSample
from trailbrake.roles import HasGains
from trailbrake.sims.forza.link import Link
from trailbrake.state import CarState, Controls, Pose, WheelState
from trailbrake.tracks import layout
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.road_builder import build_road
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

DOUBT = Uncertainty(source="test", lateral_grip=0.03, braking=0.03, drive_force=0.02, downforce=0.1, steer_angle=0.01,
                    delay=0.003)  # fmt: skip


@cache
def course():
    return Course(load_track("pinegrove"), load_car("gt3")).with_kerbs()


def driver(**gains):
    made = Driver(**gains)
    made.reset(course())
    return made


def state(s=100.0, offset=0.0, faster=0.0, **more):
    line = course().line
    x, y, z = line.point(s, offset)
    v = float(course().profile.speed[round(s / line.spacing)]) + faster
    curvature = float(line.column_at(s, RoadColumn.CURVATURE))
    known = {"yaw_rate": v * curvature, "acceleration_y": v * v * curvature, "acceleration_x": 0.0, "gear": 3} | more
    yaw = math.remainder(float(line.column_at(s, RoadColumn.YAW)), 2.0 * math.pi)
    return CarState(time=1.0, sequence=1, x=x, y=y, z=z, yaw=yaw, speed=v, velocity_x=v, velocity_y=0.0, **known)


def test_it_steers_back_to_the_line():
    steers = [driver().act(state(offset=offset), 0.003).steer for offset in (-0.5, 0.0, 0.5)]
    assert steers[0] > steers[1] > steers[2]


def test_it_brings_the_speed_back():
    slow, fast = (driver().act(state(faster=faster), 0.003) for faster in (-6.0, 6.0))
    assert slow.throttle > 0.2 > slow.brake
    assert fast.brake > 0.2 > fast.throttle - 0.2


def test_beside_the_road_it_slows_down():
    made = driver(learn=0.0)
    width = float(course().line.table[100, RoadColumn.WIDTH_LEFT])
    for _ in range(2):  # the place is known from the first answer on
        answer = made.act(state(offset=width + 0.5), 0.003)
    assert answer.brake > 0.2


def test_a_car_beside_the_road_aims_inside_its_edge_until_its_wheels_are_back():
    made = driver(learn=0.0)
    place = 180.0  # m, where a kerb begins
    width = float(course().line.column_at(place, RoadColumn.WIDTH_LEFT))
    shifts = []
    for beyond in (0.0, 1.0, 3.0, 0.0, -2.0, 0.0):  # m that the car's middle is beyond the edge
        made.act(state(place, width + beyond), 0.003)
        shifts.append(made.return_shift)
    assert shifts[0] == shifts[-1] == shifts[-2] == 0.0  # on a kerb it is not beside the road
    assert shifts[2] < shifts[1] < shifts[3] < 0.0


def test_wheels_beyond_the_edge_count_where_the_car_is_wide_of_its_line():
    made = driver()
    table = made.line.table
    rows = np.flatnonzero((table[:, RoadColumn.CURVATURE] > 5e-3) & (table[:, RoadColumn.KERB_RIGHT] == 0.0))
    made.row = int(rows[0])
    room = table[made.row, RoadColumn.WIDTH_RIGHT] - made.car.half_tracks[0]
    rest = TrackingCommand(0.0, 0.0, 0.0, 3, 0.0, 0.0, made.row, 0.0, 0.0, 0.0, 0.0)
    overruns = [made._measure_deviation(rest._replace(offset=-offset)).overrun for offset in (room - 0.2, room + 0.3)]
    assert overruns == pytest.approx([0.0, 0.3 + KERB_ROOM])
    assert made._measure_deviation(rest._replace(offset=0.05)).overrun == 0.0


def test_wheels_that_stay_on_the_road_count_where_the_car_cuts_a_bend():
    made = driver()
    table = made.line.table
    made.row = int(np.flatnonzero(table[:, RoadColumn.CURVATURE] > 5e-3)[0])
    rest = TrackingCommand(0.0, 0.0, 0.0, 3, 0.0, 0.0, made.row, 0.0, 0.0, 0.0, 0.0)
    edge = table[made.row, RoadColumn.WIDTH_LEFT] + made.car.half_tracks[1]
    overruns = [made._measure_deviation(rest._replace(offset=edge + beyond)).overrun for beyond in (-CUT_ROOM, -0.05)]
    assert overruns == pytest.approx([0.0, CUT_ROOM - 0.05])


@pytest.mark.parametrize(("dt", "samples"), [(1.0 / 333.0, 3), (0.01, 12), (1.0 / 60.0, 12)])
def test_it_learns_a_hundred_times_a_second_at_most_and_counts_all_the_time(monkeypatch, dt, samples):
    made, seen = driver(), []
    adapt = made.adaptive.adapt
    monkeypatch.setattr(made.adaptive, "adapt", lambda s, ax, dt, *a, **k: seen.append(dt) or adapt(s, ax, dt, *a, **k))
    for _ in range(12):
        made.act(state(), dt)
    assert len(seen) == samples
    assert sum(seen) == pytest.approx(12 * dt)


def test_a_lap_is_learned_from_at_its_first_sample_behind_the_line():
    made = driver()
    made.act(state(s=course().line.length - 2.0), 0.02)
    assert made.adaptive.learning.laps == 0
    made.act(state(s=0.5), 0.001)  # a drive that ends here keeps the lap
    assert made.adaptive.learning.laps == 1


def test_the_speeds_of_a_line_are_the_first_plan_within_bounds():
    usual, given = Driver(), Driver()
    usual.reset(Course(course().track, course().car, given_line=course().line))
    speeds = course().profile.speed.copy()
    speeds[300:400] *= 1.04
    speeds[600:700] *= 1.5
    given.reset(Course(course().track, course().car, given_line=course().line, given_speeds=speeds))
    factors = given.adaptive.learning.factors
    assert factors.min() == usual.adaptive.learning.factors.max() == FIRST_FACTOR
    assert factors.max() == MOST_FIRST_FACTOR
    learned = structs.replace(course().car, uncertainty=DOUBT)
    careful = Driver()
    careful.reset(Course(course().track, learned, given_line=course().line, given_speeds=speeds))
    assert careful.adaptive.learning.factors.max() == CAREFUL_FACTOR


def test_the_torque_gap_of_a_shift_takes_no_shift_back():
    """Beyond the upshift speed by less than a car without drive loses over its delay."""
    car = structs.replace(course().car, actuation=structs.replace(course().car.actuation, delay=0.1))
    made = Driver()
    made.reset(Course(course().track, car, given_line=course().line))
    now = state(acceleration_x=-3.0)
    now.speed = now.velocity_x = upshift_speeds(car)[2] + 0.1
    for _ in range(30):
        assert made.act(now, 0.003).gear == 4
        now.speed = now.velocity_x = now.speed - 0.02
    before = copy.copy(made.gears)
    made.rehearse(now, 0.3)
    assert vars(made.gears) == vars(before)


def test_without_a_gear_it_leaves_the_gearbox_alone():
    assert driver().act(state(gear=None), 0.003).gear is None


@pytest.mark.parametrize(("grip", "aside", "gear"), [(0.7, -1.2, 3), (1.0, -1.2, 2), (0.7, 0.0, 2)])
def test_on_poor_ground_no_lower_gear_takes_side_force_from_a_sliding_rear(grip, aside, gear):
    """Its clutch braked the driven wheels of a car at the limit of a wet bend, which spun."""
    made = driver()
    made.adaptive.estimate = GripEstimate(grip, (1.6, 1.45, -0.4))
    slow = 0.9 * upshift_speeds(load_car("gt3"))[1] - float(course().profile.speed[100])  # too slow for third gear
    now = state(s=100.0 * course().line.spacing, faster=min(slow, -1.0))
    now.velocity_x, now.velocity_y, now.yaw_rate = now.speed, aside * now.speed * made.car.peak_angles[1], 0.0
    for _ in range(2):
        chosen = made.act(now, 0.003).gear
    assert chosen == gear


def test_a_rehearsal_leaves_it_as_it_is():
    made = driver()
    made.act(state(), 0.0)
    before = (made.row, made.filled, made.angle, made.adaptive.estimate.grip)
    made.rehearse(state(s=150.0), 0.003)
    assert (made.row, made.filled, made.angle, made.adaptive.estimate.grip) == before


def test_a_wheel_beyond_its_kerb_is_on_the_verge_and_one_on_the_kerb_is_not():
    made = driver()
    made.act(state(), 0.0)
    width, kerb = (float(made.line.table[made.row, c]) for c in (RoadColumn.WIDTH_LEFT, RoadColumn.KERB_LEFT))
    command = TrackingCommand(0.0, 0.0, 0.0, 1, 0.0, 0.0, made.row, 0.0, 0.0, 0.0, 0.0)
    for beyond, on_verge in ((-0.02, False), (0.02, True)):
        offset = width + kerb - max(made.car.half_tracks) + beyond
        assert made._measure_deviation(command._replace(offset=offset)).on_verge == on_verge


def test_where_the_grip_has_fallen_what_was_learned_of_the_steering_ends_ahead_of_the_car():
    made = driver()
    made.steering.corrections[:] = 0.01
    made._put_corrections_into_plan()
    made._fade_corrections(20.0, 0.0)
    learned = made.plan.table[:, PlanColumn.LEARNED_STEER]
    rows = [round(s / made.line.spacing) for s in (19.0, 20.0 + 0.5 * FADING, 21.0 + FADING, 900.0)]
    assert learned[rows] == pytest.approx([0.01, 0.005, 0.0, 0.0], abs=1e-3)
    made._put_corrections_into_plan()
    assert made.plan.table[:, PlanColumn.LEARNED_STEER] == pytest.approx(0.01)


def test_after_a_fall_of_the_grip_that_was_none_learned_steering_is_back_and_not_learned_twice(monkeypatch):
    """Bends driven without their corrections taught them once more: they grew until the car was off inside."""
    made = driver()
    made.steering.corrections[:] = 0.01
    made._put_corrections_into_plan()
    learned, ahead = made.plan.table[:, PlanColumn.LEARNED_STEER], round(200.0 / made.line.spacing)
    for fallen, kept in ((True, 0.0), (True, 0.0), (False, 0.01)):
        monkeypatch.setattr(AdaptivePlan, "has_fallen", fallen)
        made.act(state(), 0.02)
        assert learned[ahead] == pytest.approx(kept)
        assert not made.steering._counts.any()
    made.act(state(), 0.02)
    assert made.steering._counts.any()


@pytest.mark.parametrize(("faster", "is_learned"), [(-0.15, False), (-0.05, True), (0.0, True)])
def test_a_car_far_below_its_plan_teaches_nothing_of_how_it_is_steered(faster, is_learned):
    """The lap from rest passes the first bends slowly: what it lacks there is not what the plan lacks."""
    made = driver()
    planned = float(course().profile.speed[round(100.0 / course().line.spacing)])
    made.act(state(faster=faster * planned), 0.02)
    assert made.steering._counts.any() == is_learned


@pytest.mark.parametrize("cut", [0.0, 0.01])
def test_feedback_that_front_tyres_at_their_peak_cannot_give_teaches_nothing(cut):
    """In the next lap, slower, it put the car off the inside of the bend, and the speed was lowered for it."""
    made = driver()
    law = made.track_line
    made.track_line = lambda *states: TrackingCommand(*law(*states))._replace(steer_cut=cut)
    made.act(state(), 0.02)
    assert made.steering._counts.any() == (cut == 0.0)


def test_the_wheel_that_locks_first_has_no_margin_left_for_later_braking(monkeypatch):
    car = load_car("f1")
    made, seen = Driver(), []
    made.reset(Course(course().track, car, given_line=course().line))
    now = state()
    spins = [now.velocity_x / tyre.radius for tyre in (car.tyre_front, car.tyre_rear) for _ in range(2)]
    spins[0] *= 1.0 - car.tyre_front.peak_slip_ratio
    now.wheels = tuple(WheelState(angular_velocity=spin) for spin in spins)
    now.yaw_rate = 0.0
    monkeypatch.setattr(made.adaptive, "adapt", lambda *a, locking, is_disturbed: seen.append(locking))
    made.act(now, 0.02)
    assert seen == [pytest.approx(1.0, abs=0.1)]


def test_wing_and_motor_are_used_on_a_straight_and_counted_as_the_world_does():
    track, car = load_track("hartmoor"), load_car("f1")
    here = Course(track, car, given_line=Course(track, car).line)
    made, world = Driver(), World(track, [car])
    made.reset(here)
    row = round((track.drs_zones[1].begin - 60.0) / here.line.length * len(here.line.table))
    x, y, z = here.line.point(row * here.line.spacing, 0.0)
    yaw = math.remainder(float(here.line.table[row, RoadColumn.YAW]), 2.0 * math.pi)
    world.place_car(0, Pose(x, y, z, yaw), float(here.profile.speed[row]))
    opened = []
    for _ in range(round(4.0 / world.period)):
        controls = made.act(world.car_state(0), world.period)
        world.step([controls])
        opened.append((world.race.is_wing_open[0], controls.throttle))
    assert not any(is_open for is_open, throttle in opened if throttle < 0.99)
    assert sum(is_open for is_open, _ in opened) > 0.3 * len(opened)
    meter = world.race.meters[0]
    assert meter.deployed > 1e5
    assert made.aids._charge == pytest.approx(meter.charge, abs=1e3)
    assert world.car_state(0).speed > here.profile.speed.max()  # which knows of neither


def test_a_car_without_wing_and_motor_leaves_both_alone():
    made = driver()
    controls = made.act(state(), 0.003)
    assert made.aids is None
    assert (made.adaptive.shapes[:, -1] == 0.0).all()
    assert (str(controls.drs), str(controls.boost)) == (str(Controls().drs), str(Controls().boost))


@pytest.mark.parametrize(
    ("forward", "laps", "hides"), [(5.0, 1, True), (0.0, 1, True), (-8.0, 1, False), (5.0, 0, False)]
)
def test_a_shift_hides_what_driven_wheels_show_against_other_laps(monkeypatch, forward, laps, hides):
    made, seen = driver(), []
    made.adaptive.learning.laps = laps
    monkeypatch.setattr(made.adaptive, "adapt", lambda s, ax, dt, use, *a, **k: seen.append(use))
    monkeypatch.setattr(type(made.gears), "is_shifting", True)
    made.act(state(acceleration_x=forward), 0.02)
    assert math.isnan(seen[0].slip) is hides
    assert not math.isnan(seen[0].share + seen[0].angle_slip)


@pytest.mark.slow
def test_a_patch_at_half_the_grip_slows_its_place_alone(tmp_path):
    """After a lap with 6.2 s beside the road the next ones were 10 s slower than without the patch; it costs 1 s."""
    world = ("patch_begin=551", "patch_length=30", "patch_left=0.5", "patch_right=0.5")
    flags = DriveFlags(track="gen:992016", sim="assetto", laps=2, world=world, report=False, out=str(tmp_path))
    summary = drive(flags.make_spec())
    second = summary["laps"][1]
    assert summary["contacts"] == 0
    assert summary["off_track_s"] < 3.5
    assert second["valid"]
    assert second["time_s"] < 45.0


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [5, 20])
def test_rain_that_nothing_announces_does_not_put_the_car_off_the_road(tmp_path, seconds):
    """A grip that was estimated against the file of the car was 12 s and one contact off the road."""
    world = ("rain_after=2", f"rain_seconds={seconds}")
    flags = DriveFlags(sim="forza", track="pinegrove", laps=3, world=world, report=False, out=str(tmp_path))
    summary = drive(flags.make_spec())
    assert summary["contacts"] == 0
    assert [lap["valid"] for lap in summary["laps"]] == [True] * 3


def test_a_memory_goes_from_drive_to_drive():
    made = driver()
    made.adaptive.learning.factors[:] = 1.05
    made.steering.corrections[:] = [[0.01], [-0.02]]
    kept = msgspec.json.decode(msgspec.json.encode(made.export_memory()))
    other = driver()
    other.import_memory(kept, "memory.json")
    assert other.export_memory()["factors"] == kept["factors"]
    assert other.plan.table[:, PlanColumn.LEARNED_STEER] == pytest.approx(0.01)
    assert other.plan.table[:, PlanColumn.LEARNED_SIDESLIP] == pytest.approx(-0.02)
    older = driver()
    older.import_memory({name: kept[name] for name in ("grip", "laps", "factors")}, "memory.json")
    assert not older.plan.table[:, PlanColumn.LEARNED_STEER].any()
    before = other.export_memory()
    with pytest.raises(DataError, match=r"memory\.json"):
        other.import_memory({**kept, "factors": [1.0] * len(kept["factors"]), "steer": [0.0]}, "memory.json")
    assert other.export_memory() == before


def test_the_first_lap_is_planned_with_all_the_grip_of_the_file_and_a_given_friction_as_it_is():
    assert driver().adaptive.learning.factors == pytest.approx(1.0 / GRIP_MARGIN)
    assert driver(learn=0.0).adaptive.learning.factors == pytest.approx(1.0)
    line = course().line
    table = line.table.copy()
    for share, expected in ((1.0, 1.0 / GRIP_MARGIN), (1.05, 1.0)):
        table[:, RoadColumn.GRIP] = share * line.column(RoadColumn.GRIP)
        given = Course(course().track, course().car, given_line=Road(table.copy(), line.spacing, line.closed))
        made = Driver()
        made.reset(given)
        assert made.adaptive.learning.factors == pytest.approx(expected)


def test_steer_is_a_share_of_what_the_game_allows_at_that_speed():
    steer_range = SteerRange(source="test", speeds=(0.0, 20.0), shares=(1.0, 0.5))
    narrow = Driver(learn=0.0)
    narrow.reset(Course(course().track, structs.replace(course().car, steer_range=steer_range)))
    usual = driver(learn=0.0).act(state(offset=0.5), 0.003).steer
    assert usual != 0.0
    assert narrow.act(state(offset=0.5), 0.003).steer == pytest.approx(2.0 * usual)


def test_the_live_page_takes_the_law_s_numbers_for_no_gains_that_it_can_change():
    assert not isinstance(driver(), HasGains)


def test_learned_factors_reach_the_plan():
    made = driver()
    made.act(state(), 0.0)
    made.adaptive.learning.factors[:] = 1.10
    made.adaptive._factors[:] = 1.10
    made.adaptive.replan(60.0)
    made.filled = 0
    first = made.plan.table.copy()
    for _ in range(30):
        made.act(state(), 0.003)
    changed = (made.plan.table != first).any(axis=1)
    assert changed[60:120].all()
    assert not changed[:40].any()


def stadium():
    """Return a circuit of two hairpins, 550 m."""
    straight, hairpin = "straight = 60\nadjust = true", "radius = 50\nturn = 180"
    parts = (straight, hairpin, straight, straight, hairpin, straight)
    text = "closed = true\nwidth = 12.0\n" + "".join(f"\n[[segment]]\n{part}\n" for part in parts)
    return Track("stadium", "two hairpins", (build_road(layout.parse_layout(text, "t.toml"), "t.toml"),))


@pytest.mark.slow
def test_the_steering_that_is_learned_brings_the_car_back_to_its_line():
    """The fifth lap from rest; the plan rises from lap to lap with it as without it, by several per cent."""
    here, offsets = Course(stadium(), course().car), {False: [], True: []}
    for learns_steering, squares in offsets.items():
        made, world = Driver(), World(here.track, [here.car], period=0.01)
        made.reset(here)
        made.kerb_offsets[:] = 0.0  # the aim is the line itself
        if not learns_steering:
            made.steering.finish_lap = lambda: None
        dt = 0.0
        while len(world.laps(0)) < 5:
            now = world.car_state(0)
            world.step([made.act(now, dt)])
            dt = world.period
            if len(world.laps(0)) == 4:
                squares.append(made.line.locate(now.x, now.y)[1] ** 2)
    assert np.mean(offsets[True]) < 0.6 * np.mean(offsets[False])


FAULT_S = 0.6  # s, longer than a supervisor waits before it brakes


class FaultyReads:
    """Replaces a link's `read`: in the first hard bend, states come damaged, late or not at all for FAULT_S."""

    def __init__(self, read, kind):
        self.read, self.kind = read, kind
        self.began, self.kept = math.nan, []

    def __call__(self, link, now):
        fresh = copy.copy(self.read(link, now))
        if math.isnan(self.began) and fresh.time > 8.0 and abs(fresh.acceleration_y) > 12.0:
            self.began = fresh.time
        if not self.began <= fresh.time < self.began + FAULT_S:
            self.kept = [*self.kept[-5:], fresh]
            return fresh
        if self.kind == "NaN":
            fresh.x = fresh.velocity_y = fresh.yaw_rate = math.nan
            return fresh
        if self.kind == "late":  # by 6 samples, 0.1 s
            self.kept.append(fresh)
            return self.kept.pop(0)
        last = self.kept[-1]  # nothing comes
        last.age = fresh.time - last.time
        return last


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["NaN", "late", "stopped"])
def test_states_that_fail_in_a_bend_do_not_end_the_drive_nor_what_was_learned(kind, tmp_path, monkeypatch):
    reads, drivers = FaultyReads(Link.read, kind), []
    monkeypatch.setattr(Link, "read", lambda link, now: reads(link, now))
    reset = Driver.reset
    monkeypatch.setattr(Driver, "reset", lambda self, course: (drivers.append(self), reset(self, course)))
    track = str(ring(tmp_path, straight=150.0, radius=50.0))
    options = DriveFlags(sim="forza", driver="line_track", track=track, car="gt3", laps=1, report=False, out=tmp_path)
    summary = drive(options.make_spec())
    assert (summary["ended"], summary["contacts"], len(summary["laps"])) == ("done", 0, 1)
    assert math.isfinite(reads.began)
    plan = drivers[-1].adaptive
    assert 0.85 < plan.estimate.grip <= 1.0
    assert np.isfinite(plan.learning.factors).all()
    assert np.isfinite(drivers[-1].plan.table).all()
    assert plan.learning.factors.min() > (1.0 - PEAK_LIMITS.most_lowering) / GRIP_MARGIN


def test_a_car_whose_file_is_an_estimate_begins_with_less_and_off_the_kerbs():
    made, learned = Driver(), Course(course().track, structs.replace(course().car, uncertainty=DOUBT))
    assert learned.with_kerbs() is learned
    made.reset(learned)
    assert made.adaptive.learning.factors.max() == CAREFUL_FACTOR
    assert made.adaptive.estimate.most == UNTESTED_GRIP < CAUTIOUS_GRIP[0]
    assert driver().adaptive.learning.factors.min() == FIRST_FACTOR


def test_an_estimate_that_was_driven_round_begins_with_its_grip_and_learns_up_to_the_peak():
    driven = structs.replace(DOUBT, verified_laps=2)
    made, believed = Driver(), Course(course().track, structs.replace(course().car, uncertainty=driven))
    assert believed.with_kerbs().on_kerbs, "its line is the quickest, as a known car's: 1.5 s of 43 on pinegrove"
    made.reset(believed)
    assert made.adaptive.learning.factors.max() == VERIFIED_FACTOR < FIRST_FACTOR
    assert made.adaptive.estimate.most == UNTESTED_GRIP
    sample = LapSample(1.0, 1.0, 1.0, 0.85, 0.0)  # between the targets of a cautious car and of one at its peak
    learning = made.adaptive.learning
    for station in range(len(learning.factors)):
        learning.observe(STATION * station, sample)
    learning.finish_lap(1.0)
    assert learning.factors.min() > VERIFIED_FACTOR


@pytest.mark.parametrize(("abs_", "delay", "factor"), [(False, 0.05, CAREFUL_FACTOR), (False, 0.0, FIRST_FACTOR),
                                                       (True, 0.05, FIRST_FACTOR)])  # fmt: skip
def test_a_late_car_without_anti_lock_brakes_begins_with_less_and_never_brakes_harder_than_planned(abs_, delay, factor):
    gt3 = course().car
    car = structs.replace(
        gt3, brakes=structs.replace(gt3.brakes, abs=abs_), actuation=structs.replace(gt3.actuation, delay=delay)
    )
    made = Driver()
    made.reset(Course(course().track, car, given_line=course().line))
    assert made.adaptive.learning.factors.max() == factor
    # Braked wheels with half of the peak's slip are nearly all that it learns to brake with.
    assert (made.adaptive._braked_target * 0.55 >= made.adaptive._target_slip) is (factor == CAREFUL_FACTOR)
    # Far too fast in a bend: wheels that lock and turn by turns would brake least there.
    assert (made.act(state(s=700.0, faster=8.0), 0.003).brake > 0.9) is (factor == FIRST_FACTOR)


@pytest.mark.parametrize(("to_left", "sign"), [(True, -1.0), (False, 1.0)])
def test_a_blow_at_the_edge_moves_the_line_away_from_it_and_says_nothing_of_the_tyres(to_left, sign, monkeypatch):
    monkeypatch.setattr(line_track, "MOST_WIDE", math.inf)  # one of the edges is at the outside of a bend
    made = driver()
    line = made.line
    widths = [line.column_at(100.0, side) for side in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT)]
    offset = widths[0] - 1.0 if to_left else 1.0 - widths[1]
    seen = []
    made.adaptive.adapt = lambda *args, **_: seen.append(args[3]) is not None
    calm = state(offset=offset, acceleration_y=0.0, yaw_rate=0.0)
    for now in (calm, calm, msgspec.structs.replace(calm, yaw_rate=0.9), calm):
        made.act(now, 0.016)
    assert [math.isnan(use.share) for use in seen] == [False, False, True, True]
    made.edges.finish_lap()
    shift = made.edges.shifts_at(101, 1.0)[100]
    assert sign * shift == pytest.approx(STEP, rel=0.01)


def test_a_blow_far_from_the_line_is_no_error_of_the_map():
    made = driver()
    wide = state(offset=-math.copysign(1.5 * MOST_WIDE, float(made.line.column_at(100.0, RoadColumn.CURVATURE))))
    for now in (wide, msgspec.structs.replace(wide, yaw_rate=wide.yaw_rate + 0.9)):
        made.act(now, 0.016)
    assert made.blow_age == 0.0
    made.edges.finish_lap()
    assert not made.edges.shifts.any()


def widened(track, by):
    """Return a road whose edges its map has `by` m too far out, and whose walls it does not know."""
    table = track.road.table.copy()
    table[:, [RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT]] += by
    table[:, [RoadColumn.RUNOFF_LEFT, RoadColumn.RUNOFF_RIGHT]] = 2.5
    return Track("widened", "a map with wrong edges", (Road(table, track.road.spacing, track.road.closed),))


@pytest.mark.slow
def test_laps_on_a_map_whose_edges_are_wrong_get_no_slower_and_touch_less():
    """The walls are where the map has 0.7 m of tarmac: laps that got slower for it touched them all the same."""
    track, car = load_track("kartwerk"), load_car("random:9005")
    made, world = Driver(), World(track, [car], period=0.01)
    made.reset(Course(widened(track, 0.7), car))
    dt = 0.0
    while len(world.laps(0)) < 7:
        world.step([made.act(world.car_state(0), dt)])
        dt = world.period
    times, contacts = [lap.time_s for lap in world.laps(0)], [lap.contacts for lap in world.laps(0)]
    assert max(times[4:]) < 1.003 * min(times[:4])
    assert contacts[-1] < 0.5 * max(contacts)
