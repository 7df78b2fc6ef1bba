import pytest
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.state import Controls
from trailbrake.tracks.track_library import load_track
from trailbrake.world.control_delay import MAX_PART, ControlDelay, divide_period
from trailbrake.world.plant import World

PERIOD, SUBSTEPS, PARTS = 0.018, 15, 5


def acting_times(delays, sent):
    """Return for each car [(part, steer)] at which the controls that act change, over all periods of `sent`."""
    delay = ControlDelay(delays, PERIOD, SUBSTEPS)
    assert delay.parts == PARTS
    found = [[] for _ in delays]
    at = 0
    for values in sent:
        for changes in delay.delay_controls([Controls(steer=value) for value in values]):
            for car, controls in changes:
                if not found[car] or found[car][-1][1] != controls.steer:
                    found[car].append((at, controls.steer))
            at += 1
    return found


@pytest.mark.parametrize("late", [0, 1, 4, 5, 7, 13, 20])
def test_a_control_acts_its_delay_later(late):
    sent = [(0.01 * (n + 1),) for n in range(20)]
    (times,) = acting_times([late * PERIOD / PARTS], sent)
    times = [(at, steer) for at, steer in times if steer]
    assert times == [(n * PARTS + late, 0.01 * (n + 1)) for n in range(20) if n * PARTS + late < 20 * PARTS]


def test_cars_have_delays_of_their_own():
    sent = [(0.1 * (n % 3 + 1), 0.2 * (n % 3 + 1)) for n in range(10)]
    (first,), (second,) = acting_times([0.013], [s[:1] for s in sent]), acting_times([0.027], [s[1:] for s in sent])
    assert acting_times([0.013, 0.027], sent) == [first, second]


@pytest.mark.parametrize("substeps", range(1, 45))
def test_parts_are_equal_and_short(substeps):
    period = substeps * 0.00119
    parts = divide_period(period, substeps)
    assert substeps % parts == 0
    assert period / parts <= MAX_PART


def test_controls_that_wait_are_copies_and_a_restart_discards_them():
    delay = ControlDelay([2.0 * PERIOD], PERIOD, SUBSTEPS)
    reused = Controls(throttle=1.0)
    delay.delay_controls([reused])
    reused.throttle = 0.0
    delay.delay_controls([reused])
    assert delay.delay_controls([reused])[0][0][1].throttle == 1.0
    delay.delay_controls([Controls(brake=1.0)])
    delay.clear_car(0)
    assert [delay.delay_controls([Controls()])[0][0][1].brake for _ in range(4)] == [0.0] * 4


@pytest.mark.parametrize("delay", [0.0012, 0.0323, 0.0510, 0.06])
def test_a_world_steers_the_delay_of_its_car_later(delay):
    """At 60 Hz, from rest: what the wheels' angle is at its own rate says when the steer began to act."""
    own = load_car("hatchback")
    car = replace(own, actuation=replace(own.actuation, delay=delay))
    world = World(load_track("hartmoor"), [car], period=1.0 / 60.0)
    steps = 0
    while world.car_state(0).steer == 0.0:
        world.step([Controls(steer=1.0)])
        steps += 1
    angle = world.car_state(0).steer * car.steering.max_angle
    assert steps / 60.0 - angle / car.steering.max_rate == pytest.approx(delay, abs=0.5 * MAX_PART)
    for _ in range(120):
        world.step([Controls()])
    assert world.car_state(0).speed == pytest.approx(0.0, abs=0.01)  # a car that stands stays where it is
