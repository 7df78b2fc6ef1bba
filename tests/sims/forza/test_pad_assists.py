"""What the games do with a stick and triggers, against closed forms and against the embedded car."""

import math

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.sims.forza.pad_assists import AutomaticReverse, PadSteering
from trailbrake.state import Controls
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World


def test_at_walking_pace_a_full_stick_is_full_lock_and_at_speed_far_less():
    steering = PadSteering(load_car("hatchback"), fades=True)
    assert steering.max_steer(1.0) == 1.0
    most = [steering.max_steer(v) for v in (10.0, 20.0, 40.0, 60.0)]
    assert most == sorted(most, reverse=True)
    assert 0.0 < most[-1] < 0.2


def test_slow_enough_the_limit_is_the_turning_circle():
    car = load_car("hatchback")
    steering = PadSteering(car, fades=True)
    geometry = 8.0 * car.body.wheelbase / 8.0**2 / car.steering.max_angle  # 8 m/s^2 at 8 m/s
    assert steering.max_steer(8.0) == pytest.approx(geometry, rel=0.15)  # the tyres' part is small there


def test_a_full_stick_takes_a_quarter_of_a_second():
    steering = PadSteering(load_car("hatchback"), fades=True)
    turned = [steering.filter_stick(1.0, 1.0, 0.05) for _ in range(6)]
    assert turned == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.0])
    assert steering.filter_stick(0.0, 1.0, 0.05) == pytest.approx(0.8)


def test_linear_is_the_stick_itself_at_once():
    steering = PadSteering(load_car("f1"), fades=False)
    assert [steering.filter_stick(x, 80.0, 1e-3) for x in (1.0, -0.3)] == [1.0, -0.3]


@pytest.mark.parametrize(("car", "speed"), [("hatchback", 18.0), ("sports_awd", 30.0)])
def test_a_full_stick_at_speed_asks_the_car_for_about_eight(car, speed):
    """The car itself is the judge: it knows nothing of the formula."""
    params = load_car(car)
    world = World(load_track("proving_ground"), [params], period=1.0 / 60.0)
    steering = PadSteering(params, fades=True)
    world.batch.place_cars(0, 50.0, 0.0, 0.0, speed)
    lateral = []
    for i in range(120):
        state = world.car_state(0)
        world.step([Controls(steer=steering.filter_stick(0.9, state.speed, 1.0 / 60.0), throttle=0.35)])
        if i > 80:
            lateral.append(abs(state.acceleration_y))
    assert 5.5 < sum(lateral) / len(lateral) < 9.0


def held(direction, throttle, brake, speed, seconds):
    pedals = (math.nan, math.nan)
    for _ in range(round(seconds / 0.05)):
        pedals = direction.map_triggers(throttle, brake, speed, 0.05)
    return pedals


def test_a_brake_held_at_rest_is_reverse_and_the_triggers_change_places():
    direction = AutomaticReverse()
    assert held(direction, 0.0, 1.0, 20.0, 2.0) == (0.0, 1.0)  # braking from speed is braking
    assert not direction.in_reverse
    assert held(direction, 0.0, 0.8, 0.0, 0.4) == (0.8, 0.0)
    assert direction.in_reverse
    assert held(direction, 0.7, 0.0, 3.0, 1.0) == (0.0, 0.7)  # rolling backwards the right trigger brakes
    assert held(direction, 0.7, 0.0, 0.1, 0.4) == (0.7, 0.0)  # and then drives forwards
    assert not direction.in_reverse


def test_a_short_touch_changes_nothing():
    direction = AutomaticReverse()
    for _ in range(10):
        held(direction, 0.0, 1.0, 0.0, 0.2)
        held(direction, 0.0, 0.0, 0.0, 0.1)
    assert not direction.in_reverse
