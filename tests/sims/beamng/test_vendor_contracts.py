"""Contracts as the vendor ships them, between our ends and ends that know nothing but the rows of the file."""

import math

import pytest
from helpers.beamng.contracts import (
    FLOAT_PERIOD,
    ContractRows,
    make_default_interface,
    make_sensor_contract,
    make_torques_contract,
)
from helpers.beamng.coupled_session import FakePlant

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.driver_choice import check_driver_needs
from trailbrake.errors import UsageError
from trailbrake.sims import registry
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.state import Controls, WheelTorque
from trailbrake.transport.rendezvous import lookup_port, publish_port
from trailbrake.transport.udp import UdpSocket


@pytest.fixture
def write_contract(tmp_path):
    def write(text):
        path = tmp_path / "contract.csv"
        path.write_text(text)
        return path

    return write


class Game:
    """The simulator's end with plain sockets; it sends a message every `period` s of its time."""

    def __init__(self, folder, text, path, period, **options):
        self.rows, self.period, self.count = ContractRows(text), period, 0
        self.udp = UdpSocket()
        publish_port(folder, spec.simulator_rendezvous_name(0), self.udp.port)
        self.link = Link(LiveOptions(contract=path, **options), doors=folder)
        self.link.open(0.0)
        self.to = ("127.0.0.1", lookup_port(folder, spec.controller_rendezvous_name(0)))

    @property
    def time(self):
        """Simulator time of the newest message, s; as the link counts, the first one is one period after the start."""
        return self.count * self.period

    def exchange(self, controls=None, **values):
        """Send a message and return the state that the link reads, and the command that it answers."""
        self.udp.send(self.rows.pack_state(float(self.count), **values), self.to)
        self.count += 1
        state = self.link.read(0.0)
        self.link.write(Controls() if controls is None else controls)
        return state, self.receive()

    def receive(self):
        assert self.udp.wait_readable(5.0)
        return self.rows.unpack_command(self.udp.receive()[0])[1]

    def close(self):
        self.link.close()
        self.udp.close()


@pytest.fixture
def play(tmp_path, write_contract):
    games = []

    def start(text, period=0.001, **options):
        games.append(Game(tmp_path, text, write_contract(text), period, **options))
        return games[-1]

    yield start
    for game in games:
        game.close()


# ---- S12: the period of the vendor's file --------------------------------------------------------------------


def test_the_link_counts_time_as_the_game_does(play):
    """The file holds 0.00050000002374873; the game sends every 1 ms. A car that turns at 0.5 rad/s must be seen so."""
    game = play(make_torques_contract())
    assert game.link.period == 0.001
    for k in range(50):
        state, _ = game.exchange(vehicleYaw=0.5 * 0.001 * k, vehicleGroundSpeed=10.0)
    assert state.time == pytest.approx(game.time)
    assert state.yaw_rate == pytest.approx(0.5)


def test_both_ends_and_setup_use_the_same_period(write_contract):
    path = write_contract(make_torques_contract())
    given = float(FLOAT_PERIOD)
    timings = {
        options.timing.message_period
        for options in (
            LiveOptions(contract=path), ServeOptions(contract=path), ServeOptions(contract=path, window="beamng"),
            LiveOptions(simulink_time=given), ServeOptions(simulink_time=given),
            ServeOptions(simulink_time=given, window="beamng"),
        )
    }  # fmt: skip
    assert timings == {0.001}
    assert LiveOptions(contract=path, simulink_time=0.005).timing.message_period == 0.005, "an option wins"
    assert LiveOptions(contract=path).ping_time == pytest.approx(1e-5)
    assert spec.check_times(given, 1e-5).message_period == 0.001, "as `setup` prints it"


def test_a_public_link_prints_the_period_that_it_uses(write_contract, capsys):
    ends = [UdpSocket(), UdpSocket()]
    addresses = [f"127.0.0.1:{udp.port}" for udp in ends]
    for udp in ends:
        udp.close()
    path = write_contract(make_torques_contract())
    link = Link(LiveOptions(contract=path, listen=addresses[0], peer=addresses[1]))
    link.open(0.0)
    link.close()
    assert "beamng: expects a message every 1 ms (simulink time 0.500000024 ms, rounded up" in capsys.readouterr().err


def test_a_sensor_s_clock_shows_a_wrong_period(play, capsys):
    game = play(make_sensor_contract(), simulink_time=0.0005)
    for k in range(600):
        game.exchange(imuReadingTimestamp=0.001 * k)
    assert "a message comes every 1 ms by a sensor's clock, but the options say 0.5 ms" in capsys.readouterr().err


@pytest.mark.parametrize(("period", "wrong"), [(0.001, False), (0.002, True)])
def test_the_way_of_the_car_shows_a_wrong_period(play, capsys, period, wrong):
    game = play(make_default_interface(FLOAT_PERIOD), period)
    for k in range(300):
        game.exchange(vehiclePositionY=-20.0 * period * k, vehicleVelocityY=-20.0, vehicleGroundSpeed=20.0)
    said = capsys.readouterr().err
    assert ("give --simulink-time as the game has it: 0.002" in said) is wrong


# ---- S13: the vendor's names --------------------------------------------------------------------------------


def test_the_vendor_s_default_contract_is_read_by_the_link(play):
    game = play(make_default_interface())
    assert game.link.period == 0.0005
    sent = {"fuel": 0.75, "rpm": 3000.0, "gearIndex": 3.0, "angularVelocityFR": 40.0, "downforceRL": 4000.0,
            "vehicleYawRate": 0.25, "vehiclePositionX": 7.0, "vehicleGroundSpeed": 12.0}  # fmt: skip
    state, command = game.exchange(Controls(clutch=0.5, handbrake=0.25, brake=0.5, steer=-0.1), **sent)
    assert (state.gear, state.engine_speed) == (3, pytest.approx(3000.0 * math.pi / 30.0))
    assert (state.wheels[1].angular_velocity, state.wheels[2].load) == (40.0, 4000.0)
    assert (state.yaw_rate, state.x, state.speed) == (0.25, 7.0, 12.0)
    assert (command["clutch"], command["parkingBrake"], command["steeringWheelPosition"]) == (0.5, 0.25, 0.1)
    assert command["brakingTorqueFL"] < command["brakingTorqueRL"] < 0.0, "the pedal does not act beside a torque"


def test_unknown_signals_are_carried_and_not_read(play):
    game = play(make_sensor_contract())
    state, command = game.exchange(Controls(throttle=0.5), oiltemp=96.5, turnsignal=-1.0, vehicleGroundSpeed=3.0,
                                   mainEngine_outputAV1=310.0, imuAccelerationRawAxis1=0.5)  # fmt: skip
    assert state.speed == 3.0
    assert game.link.custom == (0.5, 0.5, 96.5, -1.0, 310.0), "in the order of the rows"
    assert command == {"throttle": 0.5, "steeringWheelPosition": 0.0, "lightbar": 0.0}
    game.link.custom_out = (1.0,)
    assert game.exchange()[1]["lightbar"] == 1.0


def test_other_spellings_of_a_wheel_s_signal(session, write_contract):
    text = make_sensor_contract()
    session.serve(contract=write_contract(text))
    session.plant.car_state = _rolling_state(session.plant)
    rows, udp = ContractRows(text), UdpSocket()
    publish_port(session.folder, spec.controller_rendezvous_name(0), udp.port)
    for _ in range(10):
        session.tick()
    _, values = rows.unpack_state(udp.receive()[0])
    assert values["FRwheelSpeed"] == pytest.approx(30.0 * session.plant.cars[0].tyre_front.radius)
    assert values["oiltemp"] == 0.0
    assert values["imuReadingTimestamp"] == pytest.approx(0.001), "the first message, two steps of 0.5 ms"
    udp.close()
    (session.folder / f"{spec.controller_rendezvous_name(0)}.port").unlink()


def _rolling_state(plant):
    standing = plant.car_state

    def car_state(car):
        state = standing(car)
        for wheel in state.wheels:
            wheel.angular_velocity = 30.0
        return state

    return car_state


def test_a_client_of_the_default_contract_drives_our_host(session, write_contract):
    """It sets clutch, parking brake and friction torques, as the vendor's block does."""
    text = make_default_interface("0.0005")
    session.serve(contract=write_contract(text))
    rows, udp = ContractRows(text), UdpSocket()
    publish_port(session.folder, spec.controller_rendezvous_name(0), udp.port)
    host = ("127.0.0.1", lookup_port(session.folder, spec.simulator_rendezvous_name(0)))
    exchanged = 0
    while exchanged < 50:
        got = udp.receive()
        if got is None:
            session.tick()
            continue
        message_id, values = rows.unpack_state(got[0])
        udp.send(rows.pack_command(message_id, clutch=0.5, parkingBrake=0.25, propulsionTorqueRL=50.0,
                                   brakingTorqueFL=-40.0, frictionTorqueFL=7.0), host)  # fmt: skip
        exchanged += 1
    controls = session.plant.inputs[-1][0]
    assert (controls.clutch, controls.handbrake) == (0.5, 0.25)
    assert (controls.wheels[2].drive_torque, controls.wheels[0].brake_torque) == (50.0, 47.0)
    assert (values["clutchInput"], values["parkingBrakeInput"], values["maxrpm"]) == (
        0.5,
        0.25,
        pytest.approx(900.0 * 30.0 / math.pi),
    )
    assert session.host.read_counters()["vehicles"][0]["wrong_size"] == 0
    udp.close()
    (session.folder / f"{spec.controller_rendezvous_name(0)}.port").unlink()


def test_serve_prints_which_signals_it_does_not_have(write_contract):
    said = Host(FakePlant(), ServeOptions(contract=write_contract(make_sensor_contract()))).description
    assert "0 for oiltemp, turnsignal" in said.replace("imuAccelerationRawAxis1, ", "")


def test_a_message_of_another_size_is_one_line(play, capsys):
    game = play(make_torques_contract())
    for _ in range(3):
        game.udp.send(bytes(888), game.to)
    game.link.has_new_sample()
    said = capsys.readouterr().err
    assert said.count("beamng: dropped a message of signals of another size, expected 24 bytes, got 888") == 1


# ---- S14: what a contract supplies -----------------------------------------------------------------------------


def test_the_link_supplies_what_its_contract_lists(play):
    link = play(make_torques_contract()).link
    supplied, accepted = link.SUPPLIES, link.ACCEPTS
    assert supplied == {"time", "sequence", "age", "phase", "yaw", "yaw_rate", "speed"}
    assert accepted == {"steer", "brake", "wheels.drive_torque", "wheels.brake_torque"}, "no throttle"


def test_a_driver_whose_needs_the_contract_does_not_list_is_refused(write_contract):
    path = write_contract(make_default_interface())
    options = DriveFlags(sim="beamng", driver="heading_hold", track="plain", car="hatchback")
    with pytest.raises(
        UsageError, match="driver heading_hold needs what beamng does not supply with these options: yaw"
    ):
        drive(options.make_spec(LiveOptions(contract=path)))
    with_yaw = LiveOptions(contract=write_contract(make_torques_contract()))
    check_driver_needs(load_driver("heading_hold"), "heading_hold", registry.find("beamng"), with_yaw)


def test_the_default_contract_has_no_heading(play):
    link = play(make_default_interface()).link
    assert "yaw" not in link.SUPPLIES
    assert {"x", "y", "z", "speed", "yaw_rate", "roll_rate", "gear", "engine_speed", "wheels.load"} <= link.SUPPLIES
    assert "wheels.slip_ratio" not in link.SUPPLIES
    assert "throttle" not in link.ACCEPTS, "the listed torques replace the powertrain's"


def test_a_heading_can_come_from_the_forward_vector(play, write_contract):
    text = (
        make_torques_contract()
        .replace("vehicleYaw", "vehicleForwardX")
        .replace("signalTo,Kinematics,vehicleGroundSpeed", "signalTo,Kinematics,vehicleForwardY")
    )
    game = play(text)
    state, _ = game.exchange(vehicleForwardX=0.0, vehicleForwardY=1.0)
    assert state.yaw == pytest.approx(0.5 * math.pi)
    assert "yaw" in game.link.SUPPLIES


# ---- S15: the end of a drive -----------------------------------------------------------------------------------


def test_release_brakes_by_torque_where_the_contract_has_no_pedal(play):
    game = play(make_torques_contract(), brake_torque=2000.0)
    drive = WheelTorque(drive_torque=300.0)
    _, command = game.exchange(Controls(wheels=(drive,) * 4), vehicleGroundSpeed=17.0)
    assert command["propulsionTorqueRL"] == 300.0
    game.link.release()
    command = game.receive()
    assert all(command[f"propulsionTorque{wheel}"] == 0.0 for wheel in ("FL", "FR", "RL", "RR"))
    assert command["brakingTorqueFL"] == pytest.approx(-2600.0), "negative brakes; more at the front"
    assert sum(command[f"brakingTorque{wheel}"] for wheel in ("FL", "FR", "RL", "RR")) == pytest.approx(-8000.0)


def test_a_safe_stop_by_pedal_brakes_by_torque_too(play):
    _, command = play(make_torques_contract()).exchange(Controls(brake=0.6))
    assert command["brakingTorqueRR"] < -600.0


def test_release_pulls_the_parking_brake_where_there_is_nothing_else(play):
    text = make_torques_contract()
    text = (
        "\n".join(line for line in text.splitlines() if "Torque" not in line) + "\nsignalFrom,Driver,parkingBrake,value"
    )
    game = play(text)
    assert game.exchange()[1]["parkingBrake"] == 0.0
    game.link.release()
    assert game.receive()["parkingBrake"] == 1.0


def test_the_car_stands_after_the_drive(session, write_contract):
    """Host and link with the torque contract: after `release` the plant brakes, 30 s later too."""
    path = write_contract(make_torques_contract())
    session.serve(contract=path, block_timeout=0.1)
    link = session.connect(contract=path)
    session.exchange(link, Controls(wheels=(WheelTorque(drive_torque=300.0),) * 4), times=20)
    link.release()
    session.tick(300)
    controls = session.plant.inputs[-1][0]
    assert all(wheel.brake_torque > 500.0 and wheel.drive_torque == 0.0 for wheel in controls.wheels)


# ---- Options ---------------------------------------------------------------------------------------------------


def test_a_contract_may_be_a_text_and_implies_generation_2(write_contract):
    path = write_contract(make_torques_contract())
    options = LiveOptions(contract=str(path))
    assert (options.contract, options.generation) == (path, 2)


def test_times_out_of_range():
    with pytest.raises(UsageError, match=r"--simulink-time.*0.0005 to 0.2 s.*older than 0.25 s"):
        LiveOptions(simulink_time=0.5)
    assert ServeOptions(simulink_time=0.5).timing.message_period == 0.5, "the game has no limit"
    with pytest.raises(UsageError, match="--ping-time"):
        ServeOptions(ping_time=0.0)


def test_host_and_link_of_a_contract_run_in_lockstep(session, write_contract):
    path = write_contract(make_sensor_contract("0.0005"))
    session.serve(contract=path)
    link = session.connect(contract=path)
    assert session.exchange(link, times=100).sequence == 99
    assert isinstance(session.host, Host)
    assert session.host.read_counters()["timeouts"] == 0
