import math

import pytest
from helpers.fakes import FakeCar

from trailbrake.driving.loop.supervisor import STOP_BRAKE
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.spec import DriveSpec, KeepSpec, LiveSite
from trailbrake.driving.supervised import keeper_process
from trailbrake.driving.supervised.car_messages import (
    CarOpened,
    CarProblem,
    ChannelClosed,
    KeeperMessageDecoder,
    LeaveCar,
    OpenCar,
    StepAnswer,
    decode_program_message,
    encode_message,
    encode_request,
)
from trailbrake.driving.supervised.keeper_process import (
    ProgramSupervisor,
    describe_connection,
    describe_error,
    game_waits_for_answers,
    make_kept_setup,
    serve_program,
)
from trailbrake.errors import DataError, SimulatorError, UsageError
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls


class FakeChannel:
    def __init__(self, *messages):
        self.messages, self.sent = list(messages), []

    def receive(self, timeout_s):
        if not self.messages:
            raise ChannelClosed
        return self.messages.pop(0)

    def send(self, data, on_wait=None):
        self.sent.append(KeeperMessageDecoder().decode(data))


def request(**site):
    return decode_program_message(encode_request(make_request(("assetto.turbo_boost",), **site)))


def make_request(signals=(), **site):
    return OpenCar(DriveSpec(site=LiveSite(**site), keep=KeepSpec(signals=signals)), 0)


def test_a_request_becomes_the_setup_that_the_program_has():
    setup = make_kept_setup(request(sim="assetto", options={"wait": 3.0, "shifts": "game"}))
    assert setup.simulator is registry.find("assetto")
    assert (setup.live.wait, setup.live.shifts) == (3.0, "game")
    assert [signal.name for signal in setup.signals] == ["assetto.turbo_boost"]
    with pytest.raises(UsageError, match="did you mean assetto"):
        make_kept_setup(request(sim="asseto"))


def test_what_a_program_learns_of_its_car():
    setup = make_kept_setup(request(sim="assetto"))
    car = FakeCar()
    opened = describe_connection(setup, Connection([car], car))
    assert opened == CarOpened(frozenset(), car.period, ("assetto.turbo_boost",), 0)
    car.custom, car.custom_out = (0.0,) * 3, (0.0,) * 4
    assert describe_connection(setup, Connection([car], car)).custom_room == 4


def test_an_error_is_sent_with_its_parts():
    error = SimulatorError("it is gone", where="step", expected="it", got="nothing", hint="start it")
    assert describe_error(error) == CarProblem("SimulatorError", ("it is gone", "step", "it", "nothing", "start it"))


@pytest.mark.parametrize(
    ("sim", "pace", "waits"),
    [("assetto", "simulator", False), ("assetto", "driver", True), ("beamng", "simulator", True),
     ("forza", "simulator", False), ("trend", "simulator", False)],
)  # fmt: skip
def test_which_games_wait(sim, pace, waits):
    setup = make_setup(registry.find(sim), DriveSpec(site=LiveSite(sim=sim, pace=pace)))
    assert game_waits_for_answers(setup) is waits


def test_what_cannot_be_opened_is_reported():
    channel = FakeChannel(encode_request(make_request(sim="nothing")))
    serve_program(channel)
    assert [message.kind for message in channel.sent] == ["UsageError"]


@pytest.mark.parametrize("first", [encode_message(LeaveCar(True)), encode_message(StepAnswer(Controls())), None])
def test_a_program_that_requests_no_car_gets_none(first):
    with pytest.raises(ChannelClosed):
        serve_program(FakeChannel(first))


def test_an_error_outside_of_the_package_is_none_of_the_program_s(monkeypatch):
    def fail(setup, stopped):
        raise DataError("broken", where="link")

    monkeypatch.setattr(keeper_process, "open_connection", fail)
    channel = FakeChannel(encode_request(make_request(sim="forza")))
    serve_program(channel)
    assert channel.sent == [CarProblem("DataError", ("broken", "link", "", "", ""))]


NAN, DT = math.nan, 0.01
BEAMNG = frozenset({"steer", "throttle", "brake", "custom"})


@pytest.fixture
def said():
    return []


def make_supervisor(said, leaves=frozenset()):
    made = ProgramSupervisor(said.append)
    made.leaves = leaves
    return made


def pedals(controls):
    return controls.steer, controls.throttle, controls.brake


def test_nan_is_replaced_then_braked_for_and_the_next_numbers_drive_on(said):
    supervisor = make_supervisor(said)
    supervisor.limit_controls(Controls(steer=0.05, throttle=1.0), DT)
    sent = [supervisor.limit_controls(Controls(steer=NAN, throttle=math.inf), DT) for _ in range(30)]
    assert [pedals(controls) for controls in sent[:24]] == [(0.05, 1.0, 0.0)] * 24
    assert [pedals(controls) for controls in sent[-4:]] == [(0.05, 0.0, STOP_BRAKE)] * 4
    assert supervisor.stop_reason == ""
    assert supervisor.counters.rejected == 30
    assert pedals(supervisor.limit_controls(Controls(steer=0.06, throttle=0.5), DT)) == (0.06, 0.5, 0.0)
    assert said == [
        "the program steps with NaN or infinite controls: braking until it steps with numbers",
        "the program steps with numbers again",
    ]


def test_ranges_and_the_rate_of_the_steer_are_limited(said):
    supervisor = make_supervisor(said)
    supervisor.limit_controls(Controls(), DT)
    assert pedals(supervisor.limit_controls(Controls(steer=1.0, throttle=3.0, brake=-1.0), DT)) == (0.12, 1.0, 0.0)


def test_nan_leaves_unchanged_where_the_wire_can_do_so(said):
    supervisor = make_supervisor(said, BEAMNG)
    first = supervisor.limit_controls(Controls(steer=NAN, throttle=NAN, brake=NAN, custom=(NAN, 1.0)), DT)
    assert all(map(math.isnan, pedals(first)))
    assert math.isnan(first.custom[0])
    assert first.custom[1] == 1.0
    supervisor.limit_controls(Controls(steer=0.1, throttle=0.5), DT)
    for _ in range(100):
        sent = supervisor.limit_controls(Controls(steer=NAN, throttle=0.7), DT)
    assert math.isnan(sent.steer)
    assert (sent.throttle, sent.brake) == (0.7, 0.0)
    assert supervisor.counters.rejected == 0
    # The rate counts from the steer that is in force.
    assert supervisor.limit_controls(Controls(steer=1.0), DT).steer == pytest.approx(0.1 + 0.12)
    assert said == []


def test_infinity_is_left_unchanged_nowhere(said):
    supervisor = make_supervisor(said, BEAMNG)
    supervisor.limit_controls(Controls(throttle=0.5), DT)
    assert pedals(supervisor.limit_controls(Controls(steer=math.inf, throttle=NAN), DT)) == (0.0, 0.5, 0.0)
    assert supervisor.counters.rejected == 1


def test_a_brake_that_is_not_the_program_s_does_not_stay(said):
    supervisor = make_supervisor(said, BEAMNG)
    supervisor.limit_controls(Controls(throttle=0.8, brake=0.0), DT)
    supervisor.safe_stop_controls(CarState(speed=20.0))
    back = supervisor.limit_controls(Controls(steer=NAN, throttle=NAN, brake=NAN, custom=(NAN,)), DT)
    assert pedals(back) == (0.0, 0.8, 0.0)
    assert math.isnan(back.custom[0])
    assert all(map(math.isnan, pedals(supervisor.limit_controls(Controls(steer=NAN, throttle=NAN, brake=NAN), DT))))


def test_a_program_that_only_watches_gets_its_pedals_back_without_a_brake(said):
    supervisor = make_supervisor(said, BEAMNG)
    nothing = Controls(steer=NAN, throttle=NAN, brake=NAN)
    supervisor.limit_controls(nothing, DT)
    supervisor.safe_stop_controls(CarState(speed=20.0))
    assert pedals(supervisor.limit_controls(nothing, DT)) == (0.0, 0.0, 0.0)
