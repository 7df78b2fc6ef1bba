import math

import numpy as np
import pytest

from trailbrake.state import Controls, Pose, SimCommand
from trailbrake.world.miniature.car import STEER_LOCK, WHEELBASE
from trailbrake.world.miniature.parked_cars import place_parked_cars
from trailbrake.world.miniature.track import HalfColumn
from trailbrake.world.miniature.track_library import load_miniature_track, miniature_track_names
from trailbrake.world.miniature.world import MiniatureWorld

FULL = Controls(throttle=1.0)
_worlds = {}


def world(name="oval", **more):
    """Return a world at its start; those without more are made once."""
    if more:
        return MiniatureWorld(load_miniature_track(name), **more)
    if name not in _worlds:
        _worlds[name] = MiniatureWorld(load_miniature_track(name), period=0.04)
    _worlds[name].reset(0)
    return _worlds[name]


def follow(plant, side):
    """Answer with pure pursuit of the middle of a half, which sees the truth, as no driver does."""
    state = plant.car_state(0)
    table = plant.track.halves[side]
    x, y = state.x - 0.5 * WHEELBASE * math.cos(state.yaw), state.y - 0.5 * WHEELBASE * math.sin(state.yaw)
    near = int(np.argmin((table[:, HalfColumn.X] - x) ** 2 + (table[:, HalfColumn.Y] - y) ** 2))
    ahead = table[(near + 14) % len(table)]
    dx, dy = ahead[HalfColumn.X] - x, ahead[HalfColumn.Y] - y
    angle = math.atan2(dy, dx) - state.yaw
    steer = math.atan(2.0 * WHEELBASE * math.sin(angle) / math.hypot(dx, dy)) / STEER_LOCK
    return Controls(steer=min(max(steer, -1.0), 1.0), throttle=1.0, gear=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", miniature_track_names())
@pytest.mark.parametrize("side", [0, 1])
def test_either_half_leads_round_every_track_and_counts_as_a_lap(name, side):
    plant = world(name)
    if side:
        x, y, yaw = plant.track.pose_at(0.0, -0.39)
        plant.execute_command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw)))
    # After the jump the first crossing of the line begins a lap and counts nothing.
    while len(plant.laps(0)) < 1 and plant.car_state(0).time < 60.0 + 60.0 * side:
        plant.step([follow(plant, side)])
    (lap,) = plant.laps(0)
    assert lap.valid
    assert plant.counters() == {"contacts": 0, "stuck_s": 0.0, "wrong_way_s": 0.0}
    # The length of the half at 2 m/s, and a second or so for the start from rest, whatever the steer costs.
    least = plant.track.lengths[side] / 2.0
    assert least < lap.time_s < 1.06 * least + 1.5
    state = plant.car_state(0)
    assert state.lap == 2.0
    assert state.best_lap_time == lap.time_s
    assert state.lap_time < 0.05


def test_it_starts_at_rest_on_the_line_in_the_left_half():
    plant = world()
    state = plant.car_state(0)
    assert (state.time, state.speed, state.lap, state.lap_time, state.contacts) == (0.0, 0.0, 1.0, 0.0, 0.0)
    assert (state.x, state.y, state.yaw) == pytest.approx(plant.track.pose_at(0.0, 0.39))
    assert math.isnan(state.best_lap_time)


def test_time_goes_by_periods_of_whole_steps():
    plant = world(period=0.06)
    plant.step([FULL])
    assert plant.car_state(0).time == pytest.approx(0.06)
    assert plant.car_state(0).speed == pytest.approx(3 * 0.02 * 1.14, rel=0.02)
    with pytest.raises(ValueError, match="whole steps"):
        MiniatureWorld(load_miniature_track("oval"), period=0.03)


def test_equal_controls_give_equal_states_and_pictures():
    seen = []
    for _ in range(2):
        plant = world()
        for k in range(40):
            plant.step([Controls(steer=0.3 * math.sin(k), throttle=0.8)])
        state = plant.car_state(0)
        seen.append((state.x, state.y, state.yaw, state.image.pixels))
    assert seen[0][:3] == seen[1][:3]
    assert np.array_equal(seen[0][3], seen[1][3])


def test_a_picture_is_drawn_when_it_is_asked_for_and_shows_its_own_instant(monkeypatch):
    plant = world()
    drawn = []
    frame = plant.renderer.render_frame
    monkeypatch.setattr(plant.renderer, "render_frame", lambda *pose: drawn.append(pose) or frame(*pose))
    before = plant.car_state(0)
    for _ in range(60):
        plant.step([FULL])
    assert drawn == []
    pixels = before.image.pixels
    assert before.image.pixels is pixels
    assert drawn == [(before.x, before.y, before.yaw)]
    assert pixels.shape == (240, 320, 3)
    assert pixels.dtype == np.uint8


def test_pedals_and_gear_are_shown_as_applied():
    plant = world()
    plant.step([Controls(throttle=0.4, gear=-1)])
    state = plant.car_state(0)
    assert (state.throttle, state.brake, state.gear) == (0.4, 0.0, -1)
    assert state.velocity_x < 0.0 < state.speed
    plant.step([Controls(steer=1.0, throttle=3.0, brake=-2.0)])
    state = plant.car_state(0)
    assert (state.throttle, state.brake) == (1.0, 0.0)
    assert 0.0 < state.steer <= 1.0


def test_a_contact_spoils_the_lap_and_a_restart_forgets_it():
    plant = world()
    while not plant.car_state(0).contacts:
        plant.step([Controls(steer=1.0, throttle=0.5)])
        assert plant.car_state(0).time < 20.0
    assert plant.counters()["contacts"] == 1
    plant.step([FULL])
    assert plant.counters()["stuck_s"] > 0.0
    plant.execute_command(0, SimCommand(restart=True))
    state = plant.car_state(0)
    assert (state.time, state.contacts, state.lap) == (0.0, 0.0, 1.0)
    assert plant.counters()["stuck_s"] == 0.0


def test_driving_back_over_the_line_makes_no_lap():
    plant = world()
    for _ in range(200):
        plant.step([Controls(throttle=0.6, gear=-1)])
    assert plant.laps(0) == []
    assert plant.car_state(0).lap == 1.0


def test_facing_backwards_is_counted():
    plant = world()
    x, y, yaw = plant.track.pose_at(5.0, -0.39)
    plant.execute_command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw + math.pi)))
    for _ in range(25):
        plant.step([FULL])
    assert plant.counters()["wrong_way_s"] == pytest.approx(25 * 0.04)


def test_parked_cars_are_in_the_picture_and_in_the_way():
    track = load_miniature_track("oval")
    (car,) = place_parked_cars(track, 1, 3)
    plant = MiniatureWorld(track, "A", [car])
    x, y, yaw = track.pose_at(car.s - 0.8, car.offset)
    plant.execute_command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw)))
    empty = MiniatureWorld(track, "A").renderer.render_frame(x, y, yaw)
    assert (plant.car_state(0).image.pixels != empty).any(axis=2).sum() > 200
    for _ in range(150):
        plant.step([FULL])
    assert plant.car_state(0).contacts == 1.0
