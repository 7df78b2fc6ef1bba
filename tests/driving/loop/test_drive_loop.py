"""The loop over a wire in memory: no simulator, no clock."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.fakes import PERIOD, FakeCar, FakeDriver, FakeTap

from trailbrake.driving.loop.camera_check import DAMAGED, NO_PICTURE, NO_PICTURE_LIMIT_S
from trailbrake.driving.loop.drive_loop import (
    ENDLESS_PAUSE,
    LOST_LIMIT,
    STOPPING_LIMIT,
    STOPPING_SILENCE_S,
    CarLoop,
    LockstepPacer,
    RealTimePacer,
    RequestPacer,
    run_loop,
)
from trailbrake.driving.loop.supervisor import BLIND_LIMIT_S, STOP_BRAKE, Supervisor
from trailbrake.errors import WireError
from trailbrake.state import Controls, Phase
from trailbrake.system import steady_clock
from trailbrake.transport.client_notices import MOST_LINES
from trailbrake.transport.image_codec import ImageDecoder, encode_image


def loop(car, driver=None, *, supervisor=None, taps=(), goal=lambda: None):
    return run_loop(CarLoop(car, driver or FakeDriver(), supervisor or Supervisor(), taps, goal), car)


def after(ticks, tap):
    return lambda: "" if len(tap.seen) >= ticks else None


def test_dt_is_simulator_time_and_nothing_at_first():
    car, driver, tap = FakeCar(step=0.004), FakeDriver(), FakeTap()
    result = loop(car, driver, taps=[tap], goal=after(50, tap))
    assert [dt for _, dt in driver.seen] == [0.0, *[pytest.approx(0.004)] * 49]
    assert result.reason == ""
    assert result.ticks == 50
    assert result.simulated_s == pytest.approx(49 * 0.004)


@pytest.mark.parametrize("step", [1.0, 30.0, -5.0, 0.0])
def test_over_a_gap_or_a_restart_dt_is_nothing(step):
    car, driver, tap = FakeCar(step=step), FakeDriver(), FakeTap()
    loop(car, driver, taps=[tap], goal=after(5, tap))
    assert [dt for _, dt in driver.seen] == [0.0] * 5


def test_the_same_sample_is_not_driven_twice():
    car, driver, tap = FakeCar(["new", "old", "old"] * 5), FakeDriver(), FakeTap()
    loop(car, driver, taps=[tap], goal=after(5, tap))
    assert [sequence for sequence, _ in driver.seen] == [1, 2, 3, 4, 5]
    assert len(car.written) == 5


def test_taps_see_every_tick_and_what_was_sent():
    car, taps = FakeCar(), [FakeTap(), FakeTap()]
    loop(car, FakeDriver(lambda s, dt: Controls(throttle=7.0)), taps=taps, goal=after(20, taps[0]))
    for tap in taps:
        assert [sequence for sequence, _ in tap.seen] == list(range(1, 21))
        assert [controls for _, controls in tap.seen] == car.written
    assert all(controls.throttle == 1.0 for controls in car.written)


def test_the_goal_s_text_is_the_reason():
    assert loop(FakeCar(), goal=lambda: "enough").reason == "enough"


def test_a_state_that_the_wire_cannot_hold_ends_the_drive_in_words():
    def tick(now):
        if now > 0.1:
            raise WireError("a field does not fit", where="acceleration_y")

    car, driver = FakeCar(), FakeDriver()
    pacer = LockstepPacer(tick, PERIOD)
    result = run_loop(CarLoop(car, driver, Supervisor(), (), lambda: None), pacer)
    assert result.reason == "the simulator's state does not fit its wire: acceleration_y: a field does not fit"


def test_a_stale_wire_gets_the_brake_and_the_drive_goes_on_when_it_comes_back():
    car, driver, tap = FakeCar(["new"] * 3 + ["old"] * 8 + ["new"]), FakeDriver(), FakeTap()
    supervisor = Supervisor()
    result = loop(car, driver, supervisor=supervisor, taps=[tap], goal=after(6, tap))
    braked = [c for c in car.written if c.brake == STOP_BRAKE and c.throttle == 0.0]
    assert len(braked) == 3  # 0.30, 0.35 and 0.40 s old
    assert supervisor.counters.stale == 1
    assert car.written[-1].throttle == 0.5
    assert (result.reason, len(driver.seen)) == ("", 6)


def test_a_wire_that_stays_silent_ends_the_drive():
    car = FakeCar(["new", "old"])
    result = loop(car)
    assert result.reason == "the simulator went silent for 60 s"
    assert car.now - car.arrived == pytest.approx(LOST_LIMIT + 0.25, abs=0.2)
    assert car.written[-1].brake == STOP_BRAKE


class PausedCar(FakeCar):
    ACCEPTS = frozenset({"pause"})

    def read(self, now):
        state = super().read(now)
        state.phase = Phase.PAUSED if state.age > 0.0 else Phase.DRIVING
        return state


def test_a_pause_may_last_as_long_as_the_player_likes():
    waits = round(2.0 * LOST_LIMIT / 0.05)
    car, tap, said = PausedCar(["new"] + ["old"] * waits + ["new"]), FakeTap(), []
    seat = CarLoop(car, FakeDriver(), Supervisor(), [tap], after(3, tap))
    assert run_loop(seat, car, say=said.append).reason == ""
    assert said == ["the simulator is paused", "the simulator is back"]


def test_a_pause_in_lockstep_ends_the_drive_since_nothing_can_end_the_pause():
    car = PausedCar(["new"] + ["old"] * 200 + ["new"])
    car.now = car.arrived = 0.0
    pacer = LockstepPacer(lambda now: car.wait_for_sample(None), 0.05)
    seat = CarLoop(car, FakeDriver(), Supervisor(), [], lambda: None)
    assert run_loop(seat, pacer).reason == ENDLESS_PAUSE
    assert car.waits < 20


def test_a_wire_that_is_known_to_be_dead_ends_it_within_half_a_second():
    car = FakeCar(["new", "old"])
    car.dead = "the host process ended"
    assert loop(car).reason == "the host process ended"
    assert car.now - car.arrived < 0.5
    assert car.written[-1].brake == STOP_BRAKE


def test_asked_to_stop_on_a_silent_wire_it_stops():
    car, supervisor = FakeCar(["new", "old"]), Supervisor()
    driver = FakeDriver(lambda s, dt: supervisor.request_stop("interrupted") or Controls())
    assert loop(car, driver, supervisor=supervisor).reason == "interrupted"
    assert STOPPING_SILENCE_S < car.now - car.arrived < STOPPING_SILENCE_S + 0.5  # the car was moving


def test_asked_to_stop_a_car_that_stands_on_a_silent_wire_it_stops_at_once():
    car, supervisor = FakeCar(["new", "old"], speed=0.0), Supervisor()
    driver = FakeDriver(lambda s, dt: supervisor.request_stop("interrupted") or Controls())
    assert loop(car, driver, supervisor=supervisor).reason == "interrupted"
    assert car.now - car.arrived < 0.5


def test_a_pause_of_the_wire_does_not_cut_a_stop_short():
    car, supervisor = FakeCar(["new"] * 5 + ["old"] * 12 + ["new"]), Supervisor()
    supervisor.request_stop("interrupted")
    assert loop(car, supervisor=supervisor).reason == "interrupted"
    assert car.speed == 0.0


def test_asked_to_stop_the_car_is_braked_to_a_standstill():
    car, supervisor, tap = FakeCar(speed=15.0), Supervisor(), FakeTap()

    def act(state, dt):
        if state.sequence == 10:
            supervisor.request_stop("interrupted")
        return Controls(steer=0.1, throttle=1.0, gear=3)

    result = loop(car, FakeDriver(act), supervisor=supervisor, taps=[tap])
    assert result.reason == "interrupted"
    assert car.speed < 0.3
    assert all(c.throttle == 0.0 and c.brake >= STOP_BRAKE for c in car.written[10:])
    assert all(c.steer == 0.1 and c.gear == 3 for c in car.written[10:])
    assert len(tap.seen) == result.ticks > 100


def test_a_car_that_does_not_stop_is_let_go_in_the_end():
    car, supervisor = FakeCar(step=0.5, speed=1e6), Supervisor()
    supervisor.request_stop("interrupted")
    result = loop(car, supervisor=supervisor)
    assert result.reason == "interrupted"
    assert result.simulated_s == pytest.approx(STOPPING_LIMIT, abs=1.1)


def test_a_driver_that_raises_is_named_with_its_line_and_the_car_is_stopped(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "import json\nfrom trailbrake import Controls\nclass Driver:\n    def act(self, state, dt):\n"
        "        if state.sequence == 5:\n            json.loads('{\\n')\n        return Controls(throttle=1.0)\n"
    )
    scope = {}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    car = FakeCar()
    result = loop(car, scope["Driver"]())
    assert result.reason.startswith(f"the driver raised JSONDecodeError at {file}:6: ")
    assert "\n" not in result.reason
    assert car.speed < 0.3
    assert all(c.brake >= STOP_BRAKE and c.throttle == 0.0 for c in car.written[4:])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "the driver answered NoneType, expected Controls"),
        (Controls(steer=np.zeros((50, 50))), "the driver answered what is no number: steer=array([[0., "),
    ],
)
def test_garbage_from_a_driver_stops_the_car(answer, said):
    car = FakeCar()
    result = loop(car, FakeDriver(lambda s, dt: answer))
    assert result.reason.startswith(said)
    assert len(result.reason) < 120
    assert car.speed < 0.3


def test_nan_from_a_driver_holds_the_last_answer_then_stops_the_car():
    car = FakeCar()
    driver = FakeDriver(lambda s, dt: Controls(throttle=0.8 if s.sequence < 10 else math.nan))
    supervisor = Supervisor()
    result = loop(car, driver, supervisor=supervisor)
    held = int(0.25 / PERIOD)
    assert [c.throttle for c in car.written[9 : 9 + held - 1]] == [0.8] * (held - 1)
    assert "NaN" in result.reason
    assert supervisor.counters.rejected == pytest.approx(held, abs=2)
    assert car.speed < 0.3


def test_ticks_longer_than_the_period_are_overruns(monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr(steady_clock, "now", lambda: 0.001 * next(clock))
    for period, overruns in ((0.0005, 10), (0.002, 0)):
        car, tap = FakeCar(period=period), FakeTap()
        result = loop(car, taps=[tap], goal=after(10, tap))
        assert (result.ticks, result.overruns, result.durations.count) == (10, overruns, 10)
        assert result.durations.longest == pytest.approx(0.001)


def test_lockstep_counts_simulator_time_by_steps():
    ticked = []
    pace = LockstepPacer(ticked.append, 0.25)
    assert [pace.wait_for_sample(None), pace.step(), pace.wait_for_sample(None)] == [0.25, 0.5, 0.75] == ticked
    assert pace.end_reason() == ""


def test_real_time_waits_for_a_sample_or_for_its_overdue_time():
    class Link:
        period = PERIOD
        answers = 3

        def has_new_sample(self):
            self.answers -= 1
            return self.answers < 0

    pace = RealTimePacer()
    began = steady_clock.now()
    assert began < pace.wait_for_sample(Link()) < began + 1.0
    silent = Link()
    silent.answers = 10**9
    began = steady_clock.now()
    assert 0.05 <= pace.wait_for_sample(silent) - began < 1.0
    assert pace.end_reason() == ""
    assert RealTimePacer(lambda: "dead").end_reason() == "dead"


def two_cars(first_ticks, other_ticks, **more):
    """Drive two cars over one wire each; return the result, and the ticks that each one's tap has seen."""
    cars, taps = [FakeCar(), FakeCar()], [FakeTap(), FakeTap()]
    first = CarLoop(cars[0], FakeDriver(), Supervisor(), [taps[0]], after(first_ticks, taps[0]))
    other = CarLoop(cars[1], more.get("driver") or FakeDriver(), Supervisor(), [taps[1]], after(other_ticks, taps[1]))
    pace = FakeCar()
    pace.wait_for_sample = lambda link, rehearse: max(car.wait_for_sample(link) for car in cars)
    return run_loop(first, pace, [other]), [len(tap.seen) for tap in taps], cars, other


def test_the_others_may_finish_when_the_first_has():
    result, seen, cars, _ = two_cars(100, 120)
    assert result.reason == ""
    assert seen == [100, 120]  # the first is driven on, and shown no more
    assert len(cars[0].written) == 120


def test_but_not_for_longer_than_half_the_time_that_it_took():
    result, seen, _, other = two_cars(100, 1000)
    assert result.reason == ""
    assert seen[0] == 100
    assert seen[1] == pytest.approx(150, abs=2)
    assert other.ended is None


def test_another_car_s_broken_driver_stops_that_car_alone():
    def broken(state, dt):
        raise RuntimeError("no idea")

    result, _, cars, other = two_cars(50, 10**6, driver=FakeDriver(broken))
    assert result.reason == ""
    assert "RuntimeError" in other.supervisor.stop_reason
    assert cars[0].written[-1].throttle == 0.5
    assert cars[1].written[-1].brake > 0.0


def test_silence_and_its_end_are_said():
    car, tap, said = FakeCar(["new"] * 3 + ["old"] * 8 + ["new"]), FakeTap(), []
    run_loop(CarLoop(car, FakeDriver(), Supervisor(), [tap], after(6, tap)), car, say=said.append)
    assert said == ["the simulator has gone silent: braking, waiting for it", "the simulator is back"]


def test_a_simulator_that_comes_and_goes_for_an_hour_is_no_endless_log():
    car, tap, said = FakeCar([*["old"] * 8, "new"] * 2000), FakeTap(), []
    run_loop(CarLoop(car, FakeDriver(), Supervisor(), [tap], after(1000, tap)), car, say=said.append)
    assert len(tap.seen) == 1000
    assert MOST_LINES <= len(said) <= MOST_LINES + 10  # of 2000; the rest comes with time


class DamagedCar(FakeCar):
    """A car whose wire changes the samples of some numbers."""

    SUPPLIES = frozenset({"time", "x", "y", "speed", "yaw"})

    def __init__(self, damage, **more):
        super().__init__(**more)
        self.damage, self.x, self.counted = damage, 0.0, -1

    def read(self, now):
        seen = super().read(now)
        if self.sequence != self.counted:
            self.counted = self.sequence
            self.x += self.speed * self.step
        seen.x, seen.y, seen.yaw = self.x, 0.0, 0.0
        for name, value in self.damage.get(self.sequence, {}).items():
            setattr(seen, name, value)
        return seen


def drive_damaged(damage, ticks=100, act=None, supervisor=None, **more):
    """Drive a DamagedCar; return the result, the car, the states that the driver has received, and what was said."""
    car, tap, said, states = DamagedCar(damage, **more), FakeTap(), [], []

    def answer(state, dt):
        states.append((state.sequence, state.x, state.speed, state.yaw))
        return act(state, dt) if act else Controls(throttle=0.5)

    seat = CarLoop(car, FakeDriver(answer), supervisor or Supervisor(), [tap], after(ticks, tap), say=said.append)
    result = run_loop(seat, car, say=said.append)
    if states:  # taps see what the driver sees
        assert [sequence for sequence, _ in tap.seen] == [sequence for sequence, *_ in states][: len(tap.seen)]
    return result, car, states, said, seat.supervisor


@pytest.mark.parametrize(("name", "value"), [("time", math.nan), ("x", math.inf), ("speed", -1e30), ("yaw", math.nan)])
def test_a_sample_that_no_car_sends_never_reaches_the_driver(name, value):
    result, car, states, said, supervisor = drive_damaged({20: {name: value}})
    assert result.reason == ""
    assert [sequence for sequence, *_ in states] == [*range(1, 20), *range(21, 102)]
    assert len(car.written) == 101  # lockstep: every sample has its answer
    assert car.written[19] == car.written[18]
    assert supervisor.counters.implausible == 1
    assert said == [f"a sample of the simulator was rejected: {name} is {value:.4g}"]


def test_a_jump_for_one_sample_never_reaches_the_driver():
    result, _, states, said, supervisor = drive_damaged({20: {"x": 5000.0}, 40: {"speed": 250.0}})
    assert result.reason == ""
    assert [sequence for sequence, *_ in states] == [n for n in range(1, 103) if n not in (20, 40)]
    assert supervisor.counters.implausible == 2
    assert said == ["a sample of the simulator was rejected: the car jumped by 5e+03 m in 0.003 s"]


def test_a_teleport_is_driven_on_from_with_the_second_sample():
    damage = {n: {"x": 5000.0, "speed": 0.0} for n in range(20, 200)}
    result, _, states, said, supervisor = drive_damaged(damage)
    assert result.reason == ""
    assert [sequence for sequence, *_ in states] == [n for n in range(1, 102) if n != 20]
    assert (supervisor.counters.implausible, said) == (0, [])


def test_while_all_samples_are_garbage_the_car_brakes_and_then_drives_on():
    garbage = {n: {"speed": math.nan} for n in range(50, 250)}  # 0.6 s
    result, car, states, said, supervisor = drive_damaged(garbage, ticks=200)
    assert result.reason == ""
    assert [sequence for sequence, *_ in states] == [*range(1, 50), *range(250, 401)]
    held = int(BLIND_LIMIT_S / PERIOD)
    assert {c.throttle for c in car.written[: 49 + held - 1]} == {0.5}
    assert {(c.throttle, c.brake) for c in car.written[49 + held + 1 : 249]} == {(0.0, STOP_BRAKE)}
    assert supervisor.counters.implausible == 200
    assert said == [
        "a sample of the simulator was rejected: speed is nan",
        "no plausible sample for 0.25 s: braking",
        "the simulator's samples are plausible again",
    ]


def test_a_simulator_that_sends_nothing_but_garbage_counts_as_gone():
    class Endless(dict):
        def get(self, sequence, default):
            return {"speed": math.nan} if sequence > 10 else {}

    result, car, *_ = drive_damaged(Endless(), ticks=10**6)
    assert result.reason == "the simulator sent no plausible sample for 60 s"
    assert car.now - 100.0 == pytest.approx(LOST_LIMIT, abs=1.0)


@pytest.mark.parametrize("values", [{"speed": 0.0}, {"speed": 0.0, "x": 0.0}, {"speed": math.nan}])
@pytest.mark.parametrize("many", [1, 2, 5])
def test_bad_samples_do_not_cut_a_safe_stop_short(values, many):
    damage = dict.fromkeys(range(30, 30 + many), values)
    supervisor = Supervisor()
    supervisor.request_stop("interrupted")
    result, car, *_ = drive_damaged(damage, supervisor=supervisor, speed=25.0)
    assert result.reason == "interrupted"
    assert car.speed == 0.0


@pytest.mark.parametrize("jump", [3600.0, -90.0])
def test_a_clock_that_jumps_neither_ends_a_stop_nor_extends_it(jump):
    supervisor = Supervisor()
    supervisor.request_stop("interrupted")

    class Jumping(DamagedCar):
        def read(self, now):
            seen = super().read(now)
            seen.time += jump if self.sequence > 30 else 0.0
            return seen

    car = Jumping({}, speed=25.0)
    assert loop(car, supervisor=supervisor).reason == "interrupted"
    assert car.speed == 0.0
    never = Jumping({}, speed=400.0)
    assert loop(never, supervisor=supervisor).reason == "interrupted"
    assert never.sequence * PERIOD == pytest.approx(STOPPING_LIMIT, rel=0.01)


class CameraDriver(FakeDriver):
    NEEDS = frozenset({"image"})


def make_filmed_car(script, blind):
    """Return a FakeCar whose samples of the numbers in `blind` have an image that cannot be decoded."""
    decoder = ImageDecoder(8, 8, lambda: None)
    car = FakeCar(script)

    class Filmed(type(car)):
        def read(self, now):
            state = super().read(now)
            pixels = np.random.default_rng(state.sequence).integers(0, 255, (8, 8, 3), dtype=np.uint8)
            state.image = decoder.make_image(b"AAAA" if state.sequence in blind else encode_image(pixels))
            return state

    car.__class__ = Filmed
    return car


def test_a_driver_of_pictures_is_braked_for_while_it_cannot_see_and_drives_on():
    car, driver, tap, said = make_filmed_car(["new"], range(40, 300)), CameraDriver(), FakeTap(), []
    supervisor = Supervisor()
    seat = CarLoop(car, driver, supervisor, [tap], after(400, tap), say=said.append)
    assert run_loop(seat, car).reason == ""
    assert said == [f"{DAMAGED}: braking, waiting for it", "the camera is back"]
    braked = [controls.brake == STOP_BRAKE and controls.throttle == 0.0 for controls in car.written]
    first, last = braked.index(True), len(braked) - 1 - braked[::-1].index(True)
    assert (first - 39) * car.period == pytest.approx(BLIND_LIMIT_S, abs=2.0 * car.period)
    assert all(braked[first : last + 1])
    assert last < 302
    assert (supervisor.counters.blind, len(tap.seen)) == (1, 400), "taps see the braked ticks too"


def test_a_driver_that_needs_no_pictures_drives_on_without():
    car, tap = make_filmed_car(["new"], range(1000)), FakeTap()
    seat = CarLoop(car, FakeDriver(), Supervisor(), [tap], after(100, tap))
    assert run_loop(seat, car).reason == ""
    assert all(controls.throttle == 0.5 for controls in car.written)


def test_a_camera_that_is_gone_for_a_minute_ends_the_drive():
    car, said = make_filmed_car(["new"], range(40, 100_000)), []
    seat = CarLoop(car, CameraDriver(), Supervisor(), [], lambda: None, say=said.append)
    assert run_loop(seat, car).reason == f"{NO_PICTURE} for {NO_PICTURE_LIMIT_S:g} s"


def test_a_stop_that_has_no_time_left_ends_although_the_car_rolls():
    car, supervisor = FakeCar(["new"], speed=60.0), Supervisor()
    supervisor.request_stop("interrupted")
    supervisor.limit_stop(0.0)
    assert loop(car, supervisor=supervisor).reason == "interrupted"
    assert car.speed > 50.0


def test_requests_are_carried_out_before_each_wait():
    order = []
    inner = SimpleNamespace(
        wait_for_sample=lambda link, rehearse: order.append((link, rehearse)) or 3.5, end_reason=lambda: "gone"
    )
    pacer = RequestPacer(inner, lambda: order.append("requests"))
    assert pacer.wait_for_sample("link", "rehearse") == 3.5
    assert order == ["requests", ("link", "rehearse")]
    assert pacer.end_reason() == "gone"
