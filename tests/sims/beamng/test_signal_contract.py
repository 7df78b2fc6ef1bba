"""The contract's file: what it must contain, and one line for everything else."""

import pytest

from trailbrake.errors import DataError
from trailbrake.sims.beamng.signal_contract import HEADER, parse_contract

TOP = ",".join(HEADER) + "\n"


@pytest.mark.parametrize(("text", "said"), [
    ("a,b,c\n", "mine.csv:1: is no contract"),
    ("", "mine.csv:1: is no contract"),
    (TOP, "lists no signals one way"),
    (TOP + "signalTo,Kinematics\n", "mine.csv:2: a signal without a name"),
    (TOP + "signalUp,Kinematics,vehicleYaw,,\n", "mine.csv:2: no such section"),
    (TOP + "signalFrom,Driver,throttle,times,\n", "mine.csv:2: no such channel"),
    (TOP + 2 * "signalFrom,Driver,throttle,value,\n", "mine.csv:3: throttle value is listed twice"),
    (TOP + "connection,,Ping Time,soon,number\n", "mine.csv:2: Ping Time is no time, expected seconds"),
])  # fmt: skip
def test_a_contract_that_is_none_is_one_line(text, said):
    with pytest.raises(DataError, match=said):
        parse_contract(text, "mine.csv")


def test_rows_of_other_sections_say_nothing():
    rows = "sensors,IMU,IMU1,0\nconnection,,IP,127.0.0.1\nsignalTo,Kinematics,vehicleYaw\nsignalFrom,Driver,brake,value"
    plain = "\n\nsignalTo,Kinematics,vehicleYaw\nsignalFrom,Driver,brake,value"
    assert parse_contract(TOP + rows, "c") == parse_contract(TOP + plain, "c")


def test_a_cell_that_is_too_long_is_one_line():
    with pytest.raises(DataError, match="is no text of comma-separated values: field larger"):
        parse_contract(",".join(HEADER) + '\n"' + "a" * 131_073 + '"\n', "c.csv")
