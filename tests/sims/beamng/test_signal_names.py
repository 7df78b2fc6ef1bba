"""The meaning of the names in a contract."""

import pytest

from trailbrake.sims.beamng.codec import StateMessage
from trailbrake.sims.beamng.signal_names import (
    SLOT_OF_SIGNAL,
    find_command_target,
    find_state_source,
    find_wheel,
    make_snake_name,
)


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
