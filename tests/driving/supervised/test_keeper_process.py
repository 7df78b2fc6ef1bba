import pytest
from helpers.fakes import FakeCar

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
    describe_connection,
    describe_error,
    game_waits_for_answers,
    make_kept_setup,
    serve_program,
)
from trailbrake.errors import DataError, SimulatorError, UsageError
from trailbrake.sims import registry
from trailbrake.state import Controls


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
