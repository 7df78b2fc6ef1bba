import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.random_car import DELAY_RANGE
from trailbrake.state import Controls
from trailbrake.tracks.track_library import load_track
from trailbrake.world.control_delay import ControlDelay
from trailbrake.world.plant import World

DT, SUBSTEPS = 0.001, 10


def acting_times(delays, sent):
    """Return for each car [(substep, steer)] at which the controls that act change, over all periods of `sent`."""
    delay = ControlDelay(delays, DT, SUBSTEPS)
    found = [[] for _ in delays]
    for period, values in enumerate(sent):
        at = period * SUBSTEPS
        for part in delay.delay_controls([Controls(steer=value) for value in values]):
            assert part.substeps > 0
            for car, controls in part.controls:
                if not found[car] or found[car][-1][1] != controls.steer:
                    found[car].append((at, controls.steer))
            at += part.substeps
        assert at == (period + 1) * SUBSTEPS
    return found


@pytest.mark.parametrize("late", [0, 1, 9, 10, 13, 47, 60])
def test_a_control_acts_its_delay_later_to_the_substep(late):
    sent = [(0.01 * (n + 1),) for n in range(20)]
    (times,) = acting_times([late * DT], sent)
    times = [(at, steer) for at, steer in times if steer]
    assert times == [(n * SUBSTEPS + late, 0.01 * (n + 1)) for n in range(20) if n * SUBSTEPS + late < 200]


def test_cars_have_delays_of_their_own():
    sent = [(0.1 * (n % 3 + 1), 0.2 * (n % 3 + 1)) for n in range(10)]
    (first,), (second,) = acting_times([0.013], [s[:1] for s in sent]), acting_times([0.027], [s[1:] for s in sent])
    assert acting_times([0.013, 0.027], sent) == [first, second]


def test_controls_that_wait_are_copies_and_a_restart_discards_them():
    delay = ControlDelay([0.02], DT, SUBSTEPS)
    reused = Controls(throttle=1.0)
    delay.delay_controls([reused])
    reused.throttle = 0.0
    delay.delay_controls([reused])
    assert delay.delay_controls([reused])[0].controls[0][1].throttle == 1.0
    delay.delay_controls([Controls(brake=1.0)])
    delay.clear_car(0)
    assert [delay.delay_controls([Controls()])[0].controls[0][1].brake for _ in range(4)] == [0.0] * 4


def test_a_world_steers_the_delay_of_its_car_later():
    """A car of random:1 with its delay, and the same car without: the wheels of the first follow so much later."""
    track, car = load_track("hartmoor"), load_car("random:1")
    assert 0.02 < car.actuation.delay <= DELAY_RANGE[1]
    prompt = car.__class__(**{name: getattr(car, name) for name in car.__struct_fields__ if name != "actuation"})
    begin = []
    for params in (prompt, car):
        world = World(track, [params], period=1.0 / 60.0)
        steps = 0
        while world.car_state(0).steer == 0.0:
            world.step([Controls(steer=1.0)])
            steps += 1
        angle = world.car_state(0).steer  # share of the lock, reached at the rack's own rate
        rate = params.steering.max_rate / params.steering.max_angle
        begin.append(steps / 60.0 - angle / rate)
    assert begin[0] == pytest.approx(0.0, abs=0.002)
    assert begin[1] == pytest.approx(car.actuation.delay, abs=0.002)
