"""What a driver requests beside driving: sent, or left out with one line while the car drives on."""

from helpers.fakes import FakeCar, FakeDriver, FakeTap

from trailbrake.driving.loop.command_gate import CommandGate
from trailbrake.driving.loop.drive_loop import CarLoop, run_loop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.state import Controls, DebugLine, Pose, SimCommand


class CommandedCar(FakeCar):
    ACCEPTS = frozenset({"pause", "teleport", "time_scale", "lines"})

    def __init__(self):
        super().__init__()
        self.commands = []

    def send_command(self, command):
        self.commands.append(command)


def drive(commands, declared=CommandedCar.ACCEPTS, ticks=6):
    """Return the car, the gate and the lines said in a drive whose driver sends `commands`, one a tick."""
    car, tap, said, waiting = CommandedCar(), FakeTap(), [], list(commands)
    gate = CommandGate(car, frozenset(declared), said.append)

    def act(state, dt):
        return Controls(throttle=0.5, command=waiting.pop(0) if waiting else None)

    seat = CarLoop(car, FakeDriver(act), Supervisor(), [tap], lambda: "" if len(tap.seen) >= ticks else None,
                   commands=gate)  # fmt: skip
    run_loop(seat, car)
    return car, gate, said


def test_commands_go_to_the_link_once_each():
    teleport = SimCommand(teleport=Pose(1.0, 2.0, yaw=0.5))
    car, gate, said = drive([SimCommand(pause=True), teleport])
    assert car.commands == [SimCommand(pause=True), teleport]
    assert (gate.sent, gate.refused, said) == (2, 0, [])


def test_what_is_not_declared_is_left_out():
    car, gate, said = drive([SimCommand(pause=True)], declared={"teleport"})
    assert car.commands == []
    assert gate.refused == 1
    assert said == ["a command of the driver was not sent: command pause: expected one of teleport"]


def test_what_the_link_does_not_accept_is_left_out():
    car, gate, _ = drive([SimCommand(restart=True)], declared={"restart"})
    assert car.commands == []
    assert gate.refused == 1


def test_an_optional_command_is_sent_where_the_link_accepts_it_and_left_out_silently_where_not():
    car, said = CommandedCar(), []
    gate = CommandGate(car, frozenset(), said.append, optional=frozenset({"pause", "restart"}))
    assert gate.send(SimCommand(pause=True))
    assert not gate.send(SimCommand(restart=True))
    assert (car.commands, gate.sent, gate.refused, said) == ([SimCommand(pause=True)], 1, 0, [])
    assert not gate.send(SimCommand(time_scale=2.0))  # not declared at all
    assert (gate.refused, len(said)) == (1, 1)


def test_a_reason_is_said_once_and_the_car_drives_on():
    lines = (DebugLine((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),) * 10_000
    bad = [SimCommand(lines=lines), SimCommand(time_scale=-1.0), SimCommand(time_scale=-2.0), SimCommand(lines=lines)]
    car, gate, said = drive(bad)
    assert car.commands == []
    assert gate.refused == 4
    assert said == [
        "a command of the driver was not sent: command lines: expected up to 585 lines, got 10000",
        "a command of the driver was not sent: command time_scale: expected 0.001 to 100, got -1.0",
    ]
    assert [controls.throttle for controls in car.written] == [0.5] * 6
    assert [controls.command for controls in car.written] == [None] * 6, "taps see what was sent"


def test_a_command_is_not_repeated_with_the_last_good_controls():
    answers = iter([Controls(command=SimCommand(pause=True)), Controls(steer=float("nan"))])
    car, tap = CommandedCar(), FakeTap()
    gate = CommandGate(car, CommandedCar.ACCEPTS, print)
    driver = FakeDriver(lambda state, dt: next(answers))
    run_loop(CarLoop(car, driver, Supervisor(), [tap], lambda: "" if len(tap.seen) >= 2 else None, commands=gate), car)
    assert car.commands == [SimCommand(pause=True)]


def test_free_values_beyond_the_declared_ones_are_cut_and_said_once():
    car, tap, said = CommandedCar(), FakeTap(), []
    gate = CommandGate(car, frozenset(), said.append, custom=2)
    driver = FakeDriver(lambda state, dt: Controls(custom=(1.0, 2.0, 3.0)))
    run_loop(CarLoop(car, driver, Supervisor(), [tap], lambda: "" if len(tap.seen) >= 3 else None, commands=gate), car)
    assert [controls.custom for controls in car.written] == [(1.0, 2.0)] * 3
    assert said == ["free values of the driver were not sent: expected up to CUSTOM = 2, got 3"]


def test_what_is_no_command_is_left_out_with_one_line_for_its_type():
    car, said = CommandedCar(), []
    gate = CommandGate(car, CommandedCar.ACCEPTS, said.append)
    assert gate.send(SimCommand(pause=True)) is True
    assert [gate.send(wrong) for wrong in ("pause", "teleport", 5)] == [False] * 3
    assert (car.commands, gate.sent, gate.refused) == ([SimCommand(pause=True)], 1, 3)
    assert said == ["a command of the driver was not sent: expected a SimCommand, got str"]


def test_as_many_free_values_as_declared_pass_and_usually_none_are():
    said = []
    gate = CommandGate(CommandedCar(), frozenset(), said.append, custom=2)
    assert gate.limit_custom((1.0, 2.0)) == (1.0, 2.0)
    assert gate.limit_custom(()) == ()
    assert said == []
    assert CommandGate(CommandedCar(), frozenset(), said.append).limit_custom((1.0,)) == ()
    assert said == ["free values of the driver were not sent: expected up to CUSTOM = 0, got 1"]
