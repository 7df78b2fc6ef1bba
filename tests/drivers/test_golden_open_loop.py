"""Open-loop golden: recorded states in, each driver's controls out, compared tick by tick.

A closed loop shows that a drive changed; this shows which number of which tick changed first. The recorded states are
in `tests/golden/open_loop`: CSV files with one state per row, and PNG files with the pictures below each other. After a
change that is meant to change the controls: `PYTHONPATH=tests python tests/drivers/test_golden_open_loop.py`. With the
argument `states` it also records the states anew, with the world and the drivers as they are then.
"""

import csv
import functools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.manoeuvres import course_of, fill_line
from PIL import Image as Picture

from trailbrake.control.vehicle import speed_control
from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.drivers import line_follow
from trailbrake.drivers.loading.driver_registry import builtin_driver_class, driver_names
from trailbrake.planning.course import UnmappedCourse
from trailbrake.sims.udacity import spec as udacity
from trailbrake.state import Controls, Image, OtherCar, Pose, SimCommand
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS, controls_row, state_from_row, state_row
from trailbrake.world.miniature.track_library import load_miniature_track
from trailbrake.world.miniature.world import MiniatureWorld
from trailbrake.world.plant import CameraWorld, World

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "open_loop"
REFERENCE = FOLDER / "controls.json"
# Of a control, or of its size where that is above 1. Rounding on another processor changes less, any gain far more.
TOLERANCE = 2e-6
# Of drivers that adapt their plan: there it moved a single tick by 1.7e-4, where a comparison came out otherwise.
ADAPTIVE, ADAPTIVE_TOLERANCE = {"line_track", "lane_switch", "race_line"}, 5e-4

CAMERA_CARS = ["lane_sign", "wall_follow", "wall_follow_seed"]
ON_LINE = ["line_follow", "line_track", "convoy", "torque_vectoring_seed", "lane_switch", "race_line"]
ON_STRAIGHTS = ["brake_test", "brake_test_seed", "double_lane_change", "double_lane_change_seed"]
# Which drivers answer which recorded states, and the track and car that they plan with.
SEQUENCES = {
    "bend": (
        ("pinegrove", "gt3"),
        [name for name in driver_names() if name not in CAMERA_CARS + ON_LINE + ON_STRAIGHTS],
    ),
    "line": (("pinegrove", "gt3"), ON_LINE),
    "straight": (("proving_ground", "hatchback"), ON_STRAIGHTS),
    "miniature": (None, CAMERA_CARS),
}
CASES = [(sequence, name) for sequence, (_, drivers) in SEQUENCES.items() for name in drivers]
BY_HAND = [  # one after the other, for `manual`
    ManualInput(steer=0.4, throttle=0.7),
    ManualInput(),
    ManualInput(steer=-1.0, brake=1.0),
    ManualInput(steer=0.3, throttle=0.5, handbrake=1.0, keys=False),
]

# What the drivers look at: their NEEDS, and two fields that `line_follow` uses where it finds them.
LOOKED_AT = frozenset().union(*(builtin_driver_class(name).NEEDS for name in driver_names())) | {
    "time", "sequence", "engine_speed", "wheels.angular_velocity",
}  # fmt: skip
COLUMNS = [
    c for c in STATE_COLUMNS if (f"wheels.{c.path[10:]}" if c.path.startswith("wheels[") else c.path) in LOOKED_AT
]
OTHER_FIELDS = ("x", "y", "z", "yaw", "velocity_x", "velocity_y", "speed")
PICTURE_EVERY = 6  # ticks of the sequence "bend"


def write_states(sequence, states, pictures):
    """Write a sequence; `pictures` are those of the states that have a new one, {tick: pixels}."""
    lines = []
    for tick, state in enumerate(states):
        row = dict(zip((c.name for c in STATE_COLUMNS), state_row(state), strict=True))
        line = {c.name: row[c.name] for c in COLUMNS if not math.isnan(row[c.name])}
        for other in state.others:
            line |= {f"other_{name}": getattr(other, name) for name in OTHER_FIELDS}
        for k, (x, y) in enumerate(state.line_ahead):
            line |= {f"ahead_{k}_x": x, f"ahead_{k}_y": y}
        line = {name: f"{value:.8g}" for name, value in line.items()}
        if pictures:
            line["picture"] = str(sum(seen <= tick for seen in pictures) - 1)
        lines.append(line)
    with (FOLDER / f"{sequence}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
    if pictures:
        stack = Picture.fromarray(np.concatenate(list(pictures.values())))
        stack.save(FOLDER / f"{sequence}.png", optimize=True)


@functools.cache
def states_of(sequence):
    """Return the recorded states of a sequence."""
    with (FOLDER / f"{sequence}.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    pictures = []
    if "picture" in lines[0]:
        stack = np.asarray(Picture.open(FOLDER / f"{sequence}.png"))
        count = 1 + max(int(line["picture"]) for line in lines)
        pictures = [Image(b"", lambda _, pixels=pixels: pixels) for pixels in np.split(stack, count)]
    return [state_from_line(line, pictures) for line in lines]


def state_from_line(line, pictures):
    """Return the state of one line of a file."""
    defaults = {"phase": 0.0, "age": 0.0}
    state = state_from_row([float(line.get(c.name, defaults.get(c.name, math.nan))) for c in STATE_COLUMNS])
    if "other_x" in line:
        state.others = [OtherCar(1, **{name: float(line[f"other_{name}"]) for name in OTHER_FIELDS})]
    count = sum(name.startswith("ahead_") for name in line) // 2
    state.line_ahead = tuple((float(line[f"ahead_{k}_x"]), float(line[f"ahead_{k}_y"])) for k in range(count))
    if pictures:
        state.image = pictures[int(line["picture"])]
    return state


def answers(sequence, name):
    """Return {column: value per tick} of the controls with which a driver answers; columns left alone are left out."""
    planned, _ = SEQUENCES[sequence]
    driver = builtin_driver_class(name)()
    driver.reset(UnmappedCourse() if planned is None else course_of(*planned))
    rows, last = [], None
    for tick, state in enumerate(states_of(sequence)):
        if name == "manual":
            driver.hands = lambda tick=tick: BY_HAND[tick * len(BY_HAND) // len(states_of("bend"))]
        rows.append(controls_row(driver.act(state, 0.0 if last is None else state.time - last)))
        last = state.time
    silent = controls_row(Controls())
    columns = zip(CONTROL_COLUMNS, silent, zip(*rows, strict=True), strict=True)
    return {
        column.name: [None if math.isnan(v) else round(v, 7) + 0.0 for v in values]
        for column, default, values in columns
        if any(v != default and not (math.isnan(v) and math.isnan(default)) for v in values)
    }


def differs(now, kept, tolerance):
    if now is None or kept is None:
        return now is not kept
    return not abs(now - kept) <= tolerance * max(1.0, abs(kept))


def first_difference(sequence, name, kept):
    """Return the earliest difference from the reference in words, "" where there is none."""
    now, tolerance = answers(sequence, name), ADAPTIVE_TOLERANCE if name in ADAPTIVE else TOLERANCE
    if now.keys() != kept.keys():
        return f"{name} ({sequence}): answers with {sorted(now)} instead of {sorted(kept)}"
    for tick, state in enumerate(states_of(sequence)):
        for field in kept:
            if differs(now[field][tick], kept[field][tick], tolerance):
                values = f"{now[field][tick]} instead of {kept[field][tick]}"
                return f"{name} ({sequence}) at tick {tick}, {state.time:.3f} s: {field} is {values}"
    return ""


def reference(sequence, name):
    return json.loads(REFERENCE.read_text())["controls"][sequence][name]


@pytest.mark.parametrize(("sequence", "name"), CASES)
def test_a_driver_answers_recorded_states_as_it_did(sequence, name):
    assert first_difference(sequence, name, reference(sequence, name)) == ""


@pytest.mark.parametrize(
    ("sequence", "name", "module", "gain", "field"),
    [
        ("line", "line_follow", line_follow, "STEER_GAIN", "steer"),
        ("bend", "speed_hold", speed_control, "PEDAL_GAIN", "brake"),
    ],
)
def test_a_failure_names_driver_tick_and_field(sequence, name, module, gain, field, monkeypatch):
    monkeypatch.setattr(module, gain, 1.05 * getattr(module, gain))
    found = first_difference(sequence, name, reference(sequence, name))
    assert found.startswith(f"{name} ({sequence}) at tick ")
    assert f" s: {field} is " in found


def test_every_driver_is_in_the_reference():
    kept = json.loads(REFERENCE.read_text())
    assert [(s, name) for s, drivers in kept["controls"].items() for name in drivers] == CASES
    assert {name for _, name in CASES} == set(driver_names())
    assert Path(__file__).name in kept["made_by"]


def record_bend():
    """Drive through a left bend near the middle of the road: from 24 m/s down to 6 and up again.

    So the speed passes what each driver holds, and none answers with a pedal at its end throughout.
    """
    course, period = course_of("pinegrove", "gt3"), 0.01
    world = CameraWorld(course.track, [course.car], period=period, camera=udacity.CAMERA)
    road = course.track.road
    x, y, _, yaw = road.points(205.0, 0.6)[0].tolist()
    world.batch.place_cars(0, x, y, yaw + 0.02, 24.0)
    world.step([Controls()])
    driver = builtin_driver_class("waypoint_follow")()
    driver.reset(course)
    states, pictures = [], {}
    for k in range(360):
        state = world.car_state(0)
        fill_line(state, road)
        controls = driver.act(state, period if k else 0.0)
        controls.throttle, controls.brake = (0.0, 0.17) if k < 270 else (0.8, 0.0)
        if k % 6 == 0:
            if len(states) % PICTURE_EVERY == 0:
                pictures[len(states)] = state.image.pixels
            states.append(state)
        world.step([controls])
    write_states("bend", states, pictures)


def record_line():
    """Follow the racing line through a left bend, with a slower car ahead."""
    course, period = course_of("pinegrove", "gt3").with_kerbs(), 0.01
    world = World(course.track, [course.car], period=period)
    x, y, _, yaw = course.line.points(165.0, 0.3)[0].tolist()
    world.batch.place_cars(0, x, y, yaw, 30.0)
    world.step([Controls()])
    driver = builtin_driver_class("line_follow")()
    driver.reset(course)
    states = []
    for k in range(240):
        state = world.car_state(0)
        if k % 6 == 0:
            x, y, z, yaw = course.line.points(225.0 + 26.0 * state.time)[0].tolist()
            state.others = [OtherCar(1, x, y, z, yaw, 26.0 * math.cos(yaw), 26.0 * math.sin(yaw), 26.0)]
            states.append(state)
        world.step([driver.act(state, period if k else 0.0)])
    write_states("line", states, {})


def record_straight():
    """Drive through the first gate of the lane change, past the point from which `brake_test` brakes."""
    course, period = course_of("proving_ground", "hatchback"), 0.01
    world = World(course.track, [course.car], period=period)
    x, y, _, yaw = course.track.road.points(280.0, 0.2)[0].tolist()
    world.batch.place_cars(0, x, y, yaw, 23.0)
    world.step([Controls()])
    driver = builtin_driver_class("double_lane_change")()
    driver.reset(course)
    states = []
    for k in range(300):
        state = world.car_state(0)
        if k % 6 == 0:
            states.append(state)
        world.step([driver.act(state, period if k else 0.0)])
    write_states("straight", states, {})


def record_miniature():
    """Roll up to a fork's sign, near enough for `lane_sign` to turn to the side that it shows."""
    world, driver = MiniatureWorld(load_miniature_track("clover"), "B", (), 0.04), builtin_driver_class("lane_sign")()
    world.reset(0)
    x, y, yaw = world.track.place(22.0, 0.39)
    world.execute_command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw)))
    driver.reset(UnmappedCourse())
    states = []
    for k in range(73):
        states.append(world.car_state(0))
        world.step([driver.act(states[-1], 0.04 if k else 0.0)])
    states = states[61:]
    write_states("miniature", states, {tick: state.image.pixels for tick, state in enumerate(states)})


def dump_lines(value, depth=0):
    """Return JSON with a list of numbers on one line."""
    if not isinstance(value, dict):
        return json.dumps(value)
    pad = " " * (depth + 1)
    inner = ",\n".join(f"{pad}{json.dumps(key)}: {dump_lines(item, depth + 1)}" for key, item in value.items())
    return "{\n" + inner + "\n" + " " * depth + "}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    if sys.argv[1:] == ["states"]:
        record_bend()
        record_line()
        record_straight()
        record_miniature()
    kept = {
        sequence: {name: answers(sequence, name) for name in drivers} for sequence, (_, drivers) in SEQUENCES.items()
    }
    content = {"made_by": "python tests/drivers/test_golden_open_loop.py", "controls": kept}
    REFERENCE.write_text(dump_lines(content) + "\n")
