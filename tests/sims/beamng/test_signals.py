"""Signals of both generations in a driver, a loop, a recording and its export; free values to the game."""

import csv
import math

import pytest
from helpers.beamng.contracts import make_sensor_contract, make_torques_contract
from helpers.beamng.state_bytes import encode_state

from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.stepping import connect
from trailbrake.record.csv_files import export_csv
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.beamng.codec import StateMessage, decode_state_doubles
from trailbrake.sims.beamng.signals import (
    SLOT_OF_SIGNAL,
    WIRE_SIGNALS,
    CouplingSignals,
    find_command_target,
    find_state_source,
    find_wheel,
    list_signals,
    make_snake_name,
)
from trailbrake.sims.beamng.spec import LiveOptions
from trailbrake.state import Controls
from trailbrake.state.signals import match_signals

DRIVER = """
from trailbrake import Controls
from trailbrake.state import WheelTorque

SIGNALS = ("beamng.wheel_fl.braking_torque", "beamng.wheel_rr.propulsion_torque", "beamng.throttle_input",
           "beamng.custom.1", "beamng.custom.2")
SEEN = []


class Driver:
    NEEDS = {"speed", "time", *SIGNALS}
    CUSTOM = 2

    def reset(self, course):
        SEEN.clear()

    def act(self, state, dt):
        values = [state.signals[name] for name in SIGNALS]
        SEEN.append(values)
        braking = state.time > 0.6
        return Controls(throttle=0.0 if braking else 0.8, brake=0.4 if braking else 0.0,
                        custom=(state.speed, values[0]))
"""
CUSTOM = """
def custom(state, received):
    return [2.0 * received[0], received[1]]
"""


def test_every_value_of_the_banks_is_declared_once():
    names = [wire.signal.name for wire in WIRE_SIGNALS]
    assert len(set(names)) == len(names)
    covered = {wire.slot for wire in WIRE_SIGNALS}
    vectors = {f"{kind}{axis}" for kind in ("pos", "vel", "acc") for axis in "XYZ"}
    kinematics = vectors | {"groundspeed", "roll", "pitch", "yaw", "message_id", "custom"}
    assert set(StateMessage._fields) - covered == kinematics, "the state has these"
    assert sum(name.startswith("beamng.custom.") for name in names) == 50
    assert {"beamng.throttle_input", "beamng.wheel_fl.braking_torque", "beamng.ignition_level"} <= set(names)


def test_values_are_in_units_and_signs_of_the_state():
    doubles = decode_state_doubles(
        encode_state(StateMessage(steering=90.0, steering_input=-0.5, rpm=6000.0, wheelRL_frictionTorque=7.0,
                                  custom=(1.5, *[0.0] * 49)))
    )  # fmt: skip
    names = ["beamng.steering_wheel_angle", "beamng.steering_input", "beamng.engine_speed",
             "beamng.wheel_rl.friction_torque", "beamng.custom.1"]  # fmt: skip
    assert CouplingSignals(names).read_values(doubles) == pytest.approx((0.5 * math.pi, 0.5, 200.0 * math.pi, 7.0, 1.5))


def test_a_contract_declares_what_it_lists(tmp_path):
    path = tmp_path / "contract.csv"
    path.write_text(make_torques_contract())
    assert [signal.name for signal in list_signals(LiveOptions(contract=path))] == [
        "beamng.contract.vehicle_yaw", "beamng.contract.vehicle_ground_speed",
    ]  # fmt: skip
    path.write_text(make_sensor_contract())
    names = [signal.name for signal in list_signals(LiveOptions(contract=path))]
    assert {"beamng.contract.oiltemp", "beamng.contract.imu_acceleration_raw_axis1",
            "beamng.contract.imu_acceleration_raw_axis1_2", "beamng.wheel_fr.wheel_speed",
            "beamng.wheel_rl.braking_torque", "beamng.contract.main_engine_output_av1"} <= set(names)  # fmt: skip


def test_a_link_fills_the_selected_signals_and_sends_free_values(session, tmp_path):
    path = tmp_path / "custom.py"
    path.write_text(CUSTOM)
    session.serve(simulink_time=0.0005, custom=path)
    link = session.connect(simulink_time=0.0005)
    wanted = match_signals(list_signals(LiveOptions()), ["beamng.custom.1", "beamng.wheel_fr.*"], where="here")
    link.select_signals(wanted)
    session.exchange(link, Controls(custom=(4.0, 3.0)), times=3)
    state = session.exchange(link, Controls())
    assert state.signals["beamng.custom.1"] == 8.0
    assert state.signals["beamng.wheel_fr.propulsion_torque"] == 21.0
    assert (state.wheels[1].drive_torque, state.fuel, state.engine_load) == (21.0, 0.25, 0.5)
    assert link.custom[:2] == (8.0, 3.0)


def test_unknown_signals_of_a_contract(session, tmp_path):
    path = tmp_path / "contract.csv"
    path.write_text(make_sensor_contract("0.0005"))
    values = tmp_path / "custom.py"
    values.write_text("def custom(state, received):\n    return [0.5, 0.25, 96.5, received[0] if received else 0.0]\n")
    session.serve(contract=path, custom=values)
    link = session.connect(contract=path)
    names = ["beamng.contract.oiltemp", "beamng.contract.turnsignal", "beamng.contract.imu_acceleration_raw_axis1_2"]
    link.select_signals(match_signals(list_signals(LiveOptions(contract=path)), names, where="here"))
    state = session.exchange(link, Controls(custom=(-1.0,)), times=4)
    assert [state.signals[name] for name in names] == [96.5, -1.0, 0.25]


@pytest.mark.slow
def test_a_driver_a_loop_a_recording_and_its_export_have_the_same_values(tmp_path):
    driver, custom = tmp_path / "mine.py", tmp_path / "values.py"
    driver.write_text(DRIVER)
    custom.write_text(CUSTOM)
    summary = drive(DriveFlags(sim="beamng", driver=str(driver), track="plain", car="hatchback", laps=0, seconds=1.0,
                                 out=tmp_path, report=False, host=(f"custom={custom}",)).make_spec())  # fmt: skip
    assert summary["ended"] == "done"
    recording = Recording.open(summary["recording"])
    recorded = recording.signals
    assert recorded["beamng.wheel_fl.braking_torque"].max() > 500.0
    assert recorded["beamng.wheel_rr.propulsion_torque"].max() == 0.0, "a front drive car"
    speeds = recording.state["speed"]
    assert recorded["beamng.custom.1"][2:].tolist() == (2.0 * speeds[1:-1]).tolist(), "bank B, and back as bank H"

    out = tmp_path / "drive.csv"
    export_csv(recording, out)
    with out.open() as file:
        rows = list(csv.DictReader(file))
    for name in recorded:
        assert [float(row[name]) for row in rows] == recorded[name].tolist()

    scope = {}
    exec(DRIVER, scope)
    mine, names = scope["Driver"](), scope["SIGNALS"][:3]
    mine.reset(None)
    with connect("beamng", track="plain", car="hatchback", signals=names) as sim:
        for k in range(len(rows) - 1):
            assert [sim.state.signals[name] for name in names] == [recorded[name][k] for name in names]
            braking = sim.state.time > 0.6
            sim.step(Controls(throttle=0.0 if braking else 0.8, brake=0.4 if braking else 0.0))


@pytest.mark.parametrize(("name", "slot"), [
    ("wheelSpeedFR", "wheelFR_wheelSpeed"), ("FRwheelSpeed", "wheelFR_wheelSpeed"),
    ("RL_brakingTorque", "wheelRL_brakingTorque"), ("downforceRR", "wheelRR_downForce"),
    ("wheelspeed", "wheelspeed"), ("engineLoad", "engineLoad"), ("gearIndex", "gear"), ("signal_L", "signal_L"),
    ("throttleInput", "throttle_input"), ("parkingbrake", "parkingbrake"), ("vehicleYaw", "yaw"),
    ("oiltemp", None), ("wheelAngleFL", None), ("mainEngine_outputAV1", None), ("imuMass", None),
])  # fmt: skip
def test_signals_of_the_simulator(name, slot):
    assert find_state_source(name) == slot


def test_every_slot_is_one_of_generation_1():
    assert set(SLOT_OF_SIGNAL.values()) <= set(StateMessage._fields)


@pytest.mark.parametrize(("name", "target"), [
    ("throttle", "throttle"), ("parkingBrake", "parkingBrake"), ("frictionTorqueFL", "frictionTorqueFL"),
    ("RRpropulsionTorque", "propulsionTorqueRR"), ("throttleInput", None), ("lightbar", None), ("wheelSpeedFL", None),
])  # fmt: skip
def test_signals_to_the_simulator(name, target):
    assert find_command_target(name) == target


def test_a_wheel_s_name_is_found_as_it_is_written():
    assert find_wheel("wheelspeedfl", ("wheelSpeed",)) is None, "the game compares letters as they are"


@pytest.mark.parametrize(("name", "snake"), [
    ("vehicleYawRate", "vehicle_yaw_rate"), ("idealRADARVehicle1Distance", "ideal_radar_vehicle1_distance"),
    ("signal_L", "signal_l"), ("FRwheelSpeed", "fr_wheel_speed"), ("oil temp", "oil_temp"), ("??", "signal"),
])  # fmt: skip
def test_names_in_lower_case(name, snake):
    assert make_snake_name(name) == snake
