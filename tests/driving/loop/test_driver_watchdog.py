"""A driver that hangs, with the watchdog's polls made by the driver itself: one thread, no clock."""

import re
import threading

import pytest
from helpers.fakes import PERIOD, FakeCar, FakeDriver, FakeTap

from trailbrake.driving.loop import driver_watchdog
from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.driver_watchdog import (
    ANSWER_LIMIT_S,
    BRAKE_POLL_S,
    BREAK_LIMIT_S,
    BREAK_POLL_S,
    END_S,
    POLL_S,
    STANDING_END_S,
    USUAL_ANSWERS,
    USUAL_SHARE,
    AnswerDiscarded,
    DriverWatchdog,
    find_call_place,
)
from trailbrake.driving.loop.supervisor import STOP_BRAKE, Supervisor, decide_controls
from trailbrake.state import CarState, Controls
from trailbrake.system.breakable_call import CallBroken


class FakeBreakable:
    """Breaks off the call of the same thread: by an exception out of the poll, from the attempt `works_at` on."""

    thread = 0

    def __init__(self, works_at=1):
        self.is_active, self.attempts, self.works_at, self.woken = False, 0, works_at, 0

    def wake(self):
        self.woken += 1

    def break_off(self):
        assert self.is_active
        self.attempts += 1
        if self.attempts >= self.works_at:
            raise CallBroken

    def clear_requests(self):
        pass


class Bench:
    """A drive of FakeCars whose drivers may hang: `hang` lets wall time pass, and the world with it."""

    def __init__(self, cars=1, breakable=None, **more):
        self.cars = [FakeCar() for _ in range(cars)]
        self.tap, self.said, self.given_up = FakeTap(), [], []
        self.now = 50.0
        self.answer = lambda state: Controls(throttle=0.5)
        self.driver = FakeDriver(lambda state, dt: self.answer(state))
        self.breakable = breakable or FakeBreakable()
        self.seats = []
        for number, car in enumerate(self.cars):
            driver = self.driver if number == 0 else FakeDriver()
            taps = [self.tap] if number == 0 else []
            self.seats.append(CarLoop(car, driver, Supervisor(), taps, lambda: None))
        self.watchdog = DriverWatchdog(
            self.seats, self.said.append, breakable=self.breakable, give_up=self.give_up, **more
        )
        self.watchdog._announce = self.said.append  # in this thread
        for seat in self.seats:
            seat.attach_watchdog(self.watchdog)

    def give_up(self, reason):
        self.given_up.append(reason)
        raise CallBroken

    def hang(self, seconds, stopped_at=None):
        """Let time pass inside of a call."""
        end = self.now + seconds
        wait = POLL_S
        while self.now < end:
            self.now += wait
            for car in self.cars:
                car.wait_for_sample(car)
            wait = self.watchdog.poll(self.now)
            assert wait in (POLL_S, BRAKE_POLL_S)

    def drive(self, ticks=100):
        seat = self.seats[0]
        seat._goal = lambda: "" if len(self.tap.seen) >= ticks else None
        first = self.cars[0]
        pace = FakeCar()

        def wait(link, rehearse):
            self.now += PERIOD
            self.watchdog.poll(self.now)
            return max(car.wait_for_sample(car) for car in self.cars)

        pace.wait_for_sample = wait
        self.watchdog._lock.acquire()
        try:
            return run_loop(seat, pace, self.seats[1:]), first
        finally:
            self.watchdog._lock.release()

    @property
    def hung(self):
        return self.seats[0].supervisor.counters.hung


def answer_once(bench, compute, sequence=20):
    """Let the driver answer that sample with what `compute()` returns, all others with half throttle."""
    bench.answer = lambda state: (state.sequence == sequence and compute()) or Controls(throttle=0.5)
    return bench


def hang_once(bench, seconds, sequence=20):
    return answer_once(bench, lambda: bench.hang(seconds) or Controls(throttle=1.0), sequence)


def test_an_answer_in_time_is_sent():
    bench = hang_once(Bench(), ANSWER_LIMIT_S - 2.0 * POLL_S)
    bench.drive()
    assert bench.cars[0].written[19] == Controls(throttle=1.0)
    assert (bench.hung, bench.said) == (0, [])


def test_a_driver_that_hangs_for_three_seconds_is_braked_for_and_drives_on():
    bench = hang_once(Bench(), 3.0)
    result, car = bench.drive(300)
    braked = [number for number, c in enumerate(car.written) if c.throttle == 0.0 and c.brake >= STOP_BRAKE]
    assert braked[0] == 19  # in place of the answer to sample 20
    assert len(braked) == pytest.approx((3.0 - ANSWER_LIMIT_S) / BRAKE_POLL_S, abs=4)
    assert braked == list(range(19, 19 + len(braked)))
    assert Controls(throttle=1.0) not in car.written  # the late answer
    assert {c.throttle for c in car.written[19 + len(braked) :]} == {0.5}
    assert bench.said == ["the driver has not answered for 0.3 s: braking, waiting for it", "the driver answers again"]
    assert (bench.hung, result.reason) == (1, "")
    assert bench.breakable.woken == 11  # four times a second, for signals that another thread got
    dts = [dt for sequence, dt in bench.driver.seen if sequence > 20]
    assert dts[0] == pytest.approx(sum(dts[:1]))
    assert max(dts[1:]) == pytest.approx(PERIOD)
    # The taps have seen the braking as well, each sample once.
    assert [s for s, _ in bench.tap.seen] == sorted({s for s, _ in bench.tap.seen})
    assert sum(c.brake >= STOP_BRAKE for _, c in bench.tap.seen) == len(braked)


def test_a_driver_that_hangs_for_good_ends_the_drive_when_the_car_stands():
    bench = hang_once(Bench(), 1e6)
    result, car = bench.drive()
    assert result.reason == f"the driver has not answered for {END_S:g} s"
    assert END_S < bench.now - 50.0 < END_S + 4.0  # with the rest of the stop
    assert bench.breakable.attempts == 1
    assert car.speed == 0.0
    assert all(c.throttle == 0.0 and c.brake >= STOP_BRAKE for c in car.written[19:])


def test_a_stop_that_is_requested_meanwhile_breaks_the_call_off_at_once():
    bench = Bench()

    def compute():
        bench.hang(1.0)
        bench.seats[0].supervisor.request_stop("interrupted")
        bench.hang(1e6)

    result, car = answer_once(bench, compute).drive()
    assert result.reason == "interrupted"
    assert bench.now - 50.0 < 5.0
    assert car.speed == 0.0


def test_a_stop_that_is_requested_before_the_hang_is_noticed():
    bench = Bench(limit=lambda: 10.0)

    def compute():
        bench.seats[0].supervisor.request_stop("interrupted")
        bench.hang(1e6)

    assert answer_once(bench, compute).drive()[0].reason == "interrupted"
    assert bench.said == []


def test_attempts_go_on_until_one_works():
    bench = hang_once(Bench(breakable=FakeBreakable(works_at=5)), 1e6)
    bench.drive()
    assert bench.breakable.attempts == 5
    assert bench.given_up == []


def test_a_driver_that_cannot_be_broken_off_is_given_up_with_the_car_at_rest():
    bench = hang_once(Bench(breakable=FakeBreakable(works_at=10**9)), 1e6)
    bench.drive()
    assert bench.given_up == [
        f"the driver has not answered for {END_S:g} s; the driver cannot be interrupted: the process ends"
    ]
    assert bench.now - 50.0 == pytest.approx(END_S + BREAK_LIMIT_S, abs=1.0)
    assert bench.cars[0].speed == 0.0


def test_a_car_that_stands_waits_longer_for_its_driver():
    bench = hang_once(Bench(), STANDING_END_S - 5.0, sequence=1)
    bench.cars[0].speed = 0.0
    result, _ = bench.drive()
    assert result.reason == ""
    assert bench.breakable.attempts == 0


def test_where_the_simulator_waits_the_drive_does_not_end():
    bench = hang_once(Bench(limit=lambda: 5.0, ends=False), 200.0)
    result, _ = bench.drive(3000)
    assert result.reason == ""
    assert bench.said[0] == "the driver has not answered for 5 s: braking, waiting for it"


def test_a_slow_driver_is_no_driver_that_hangs():
    bench = Bench()

    def act(state):
        bench.hang(0.5)
        return Controls(throttle=0.5)

    bench.answer = act
    bench.drive(60)
    assert 1 <= bench.hung <= 6  # until its pace is known
    assert bench.cars[0].written[-1].throttle == 0.5


def test_a_suspended_machine_is_no_driver_that_hangs():
    bench = Bench()

    def compute():
        bench.hang(POLL_S)
        bench.now += 3600.0
        bench.watchdog.poll(bench.now)

    answer_once(bench, compute).drive()
    assert (bench.hung, bench.said) == (0, [])


def test_all_cars_of_the_loop_are_braked():
    bench = hang_once(Bench(cars=2), 3.0)
    bench.drive()
    second = bench.cars[1].written
    assert sum(c.brake >= STOP_BRAKE for c in second) == pytest.approx((3.0 - ANSWER_LIMIT_S) / BRAKE_POLL_S, abs=4)


def test_a_driver_that_raises_late_stops_the_car():
    bench = Bench()

    def compute():
        bench.hang(3.0)
        raise ZeroDivisionError

    result, car = answer_once(bench, compute).drive()
    assert "ZeroDivisionError" in result.reason
    assert car.speed == 0.0


def test_an_error_is_placed_in_the_driver_and_not_in_what_watches_it():
    scope = {}
    exec(compile("def act(state, dt):\n    return 1 // 0\n", "own.py", "exec"), scope)
    watchdog = DriverWatchdog([], lambda text: None)
    supervisor = Supervisor()
    act = watchdog.watch_driver(scope["act"], supervisor)
    watchdog._lock.acquire()
    decide_controls(act, supervisor, CarState(speed=1.0, age=0.0), 0.01)
    assert supervisor.stop_reason.startswith("the driver raised ZeroDivisionError at own.py:2: ")


def test_what_watches_the_drive_may_hang_too():
    bench = Bench()
    plain = bench.tap.tick

    def tick(state, controls):
        plain(state, controls)
        if state.sequence == 20:
            bench.hang(3.0)

    bench.tap.tick = tick
    result, car = bench.drive(200)
    assert result.reason == ""
    assert bench.hung == 1
    assert sum(c.brake >= STOP_BRAKE for c in car.written) > 100
    assert bench.said == []  # a terminal that blocks is told nothing
    assert bench.breakable.attempts == 0


def test_a_link_that_fails_meanwhile_is_reported_when_the_driver_is_back():
    bench = hang_once(Bench(), 3.0)
    car = bench.cars[0]
    plain = car.write

    def write(controls):
        if controls.brake:
            raise OSError("the pad is gone")
        plain(controls)

    car.write = write
    with pytest.raises(OSError, match="the pad is gone"):
        bench.drive()


def test_the_place_of_a_call_is_that_of_the_driver():
    watchdog = DriverWatchdog([], lambda text: None)
    found = []
    code = "def act(find, dt):\n    return helper(find)\n\ndef helper(find):\n    return max([1], key=find)\n"
    scope = {}
    exec(compile(code, "own.py", "exec"), scope)
    act = watchdog.watch_driver(scope["act"], Supervisor())
    watchdog._lock.acquire()
    act(lambda value: found.append(find_call_place(threading.get_ident())), 0.0)
    assert found == ["own.py:5"]
    assert find_call_place(threading.get_ident()) == ""


def test_a_real_thread_brakes_and_breaks_an_endless_loop_off():
    """The one test with a clock: in a thread that is not the main one, as `drive()` may be called."""
    car, supervisor = FakeCar(), Supervisor()
    result = []

    def work():
        def act(state, dt):
            while state.sequence == 20:
                pass
            return Controls(throttle=0.5)

        seat = CarLoop(car, FakeDriver(act), supervisor, [], lambda: None)
        watchdog = DriverWatchdog([seat], lambda text: supervisor.request_stop("interrupted"))
        seat.attach_watchdog(watchdog)
        with watchdog.run():
            result.append(run_loop(seat, car).reason)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60.0)
    assert result == ["interrupted"]
    assert car.written[19].brake == STOP_BRAKE
    assert car.speed == 0.0


def test_the_limits_are_those_of_the_documents():
    assert (ANSWER_LIMIT_S, USUAL_ANSWERS, USUAL_SHARE) == (0.3, 3.0, 0.2)
    assert (END_S, STANDING_END_S, BREAK_LIMIT_S, BREAK_POLL_S) == (10.0, 300.0, 15.0, 0.25)
    assert (POLL_S, BRAKE_POLL_S) == (0.05, 0.02)


# ---- The watchdog alone: polls 1/16 s apart, exact in binary ----

STEP = 0.0625


class BrakedCar:
    """A car that only notes when it was braked."""

    def __init__(self, speed=20.0):
        self.supervisor, self.speed, self.braked = Supervisor(), speed, []

    def brake_tick(self, now, *, notify):
        self.braked.append((now, notify))


class CountedBreakable:
    """A call that cannot be broken off, in this thread."""

    def __init__(self, watched):
        self.is_active, self.thread, self.attempts, self.watched = False, threading.get_ident(), [], watched

    def wake(self):
        pass

    def break_off(self):
        self.attempts.append(self.watched.elapsed)

    def clear_requests(self):
        pass


class Watched:
    """One car and its watchdog. `call_for` calls the driver, which takes so many s."""

    def __init__(self, speed=20.0, **more):
        self.car, self.said, self.recorded, self.given_up = BrakedCar(speed), [], [], []
        self.breakable = CountedBreakable(self)
        self.watchdog = DriverWatchdog(
            [self.car], self.said.append, breakable=self.breakable, record=self.recorded.append,
            give_up=lambda reason: self.given_up.append((self.elapsed, reason)), **more,
        )  # fmt: skip
        self.now = self.began = 1000.0
        self.watchdog.poll(self.now)
        self.watchdog._lock.acquire()
        self.act = self.watchdog.watch_driver(self._spend, self.car.supervisor)

    @property
    def elapsed(self):
        return self.now - self.began

    def _spend(self, seconds, dt):
        self.began = self.now
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            self.watchdog.poll(self.now)
        return seconds

    def call_for(self, seconds):
        """Return after how many s the car was braked for the first time; None if it was not."""
        self.car.braked.clear()
        try:
            assert self.act(seconds, 0.0) == seconds
            assert self.car.braked == [], "an answer that comes too late is discarded"
        except AnswerDiscarded:
            return self.car.braked[0][0] - self.began
        return None


def test_a_driver_is_braked_for_from_its_limit_on():
    watched = Watched(limit=lambda: 0.5)
    assert watched.call_for(0.4375) is None
    assert watched.call_for(2.0) == 0.5
    assert watched.car.braked == [(watched.began + 0.5 + k * STEP, True) for k in range(25)]
    assert watched.car.supervisor.counters.hung == 1
    assert Watched().call_for(2.0) == 0.3125  # 0.3 s


def test_the_limit_is_three_times_the_usual_answer():
    watched = Watched()
    watched.call_for(5.0)
    assert watched.call_for(3.0) == 3.0  # 3 x a fifth of 5 s
    assert watched.call_for(4.25) == 4.25  # 3 x (1 + a fifth of 3 - 1) = 4.2 s
    watched.call_for(100.0)
    assert watched.car.supervisor.counters.hung == 4


@pytest.mark.parametrize(("speed", "end"), [(20.0, 10.0), (0.5, 10.0), (0.499, 300.0)])
def test_a_driver_that_does_not_answer_ends_the_drive_and_is_interrupted_four_times_a_second(speed, end):
    watched = Watched(speed)
    assert watched.call_for(end) == 0.3125
    assert watched.car.supervisor.stop_reason == ""
    watched = Watched(speed)
    watched.call_for(end + 16.0)
    assert re.fullmatch(
        rf"the driver has not answered for {end:g} s, at .*test_driver_watchdog\.py:\d+",
        watched.car.supervisor.stop_reason,
    )
    begun = end + STEP
    assert watched.breakable.attempts == [begun + 0.25 * k for k in range(61)]
    assert watched.given_up[0][0] == begun + 15.0 + STEP
    reason = r"; the driver cannot be interrupted, at .*test_driver_watchdog\.py:\d+: the process ends"
    assert re.fullmatch(re.escape(watched.car.supervisor.stop_reason) + reason, watched.given_up[0][1])


def test_in_a_drive_that_stops_a_driver_is_interrupted_at_once():
    watched = Watched(limit=lambda: 5.0)
    watched.car.supervisor.request_stop("enough")
    assert watched.call_for(16.0) == 0.3125
    assert watched.breakable.attempts == [0.3125 + 0.25 * k for k in range(61)]
    assert watched.given_up[0][0] == 0.3125 + 15.0 + STEP
    assert (watched.said, watched.recorded) == ([], [])


def test_a_line_is_recorded_and_said_in_a_thread_that_holds_up_nothing():
    threads, said = [], threading.Event()

    def say(text):
        threads.append((text, threading.current_thread().name, threading.current_thread().daemon))
        said.set()

    recorded = []
    DriverWatchdog([], say, record=recorded.append)._announce("hung")
    assert said.wait(10.0)
    assert threads == [("hung", "driver watchdog's line", True)]
    assert recorded == ["hung"]


def test_the_thread_beats_brakes_and_ends_with_the_drive(monkeypatch):
    monkeypatch.setattr(driver_watchdog, "ANSWER_LIMIT_S", 0.0)
    car, beats, braked = BrakedCar(7.0), [], threading.Event()
    car.brake_tick = lambda now, *, notify: braked.set()
    watchdog = DriverWatchdog([car], lambda text: None, beat=beats.append)

    def count_threads():
        return [thread.daemon for thread in threading.enumerate() if thread.name == "driver watchdog"]

    act = watchdog.watch_driver(lambda first, second: braked.wait(10.0), car.supervisor)
    with watchdog.run():
        assert count_threads() == [True]
        with pytest.raises(AnswerDiscarded):
            act(0.0, 0.0)
    assert braked.is_set()
    assert set(beats) == {7.0}
    assert count_threads() == []
