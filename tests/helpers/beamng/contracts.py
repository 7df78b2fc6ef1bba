"""Contracts of generation 2 as the vendor writes them, and a client and a simulator that know nothing but the rows."""

import csv
from struct import Struct

from trailbrake.sims.beamng.signal_contract import HEADER

TOP = ",".join(HEADER) + "\n"
THROTTLE = TOP + (
    "connection,time,3rd Party Computation Time,0.0005,number,,s,\n"
    "signalTo,Kinematics,vehicleYaw,,number,,rad,\n"
    "signalTo,Kinematics,vehicleGroundSpeed,,number,,m/s,\n"
    "signalFrom,Driver,throttle,value,number,,,\n"
    "signalFrom,Driver,steeringWheelPosition,value,number,,,\n"
)
FLOAT_PERIOD = "0.00050000002374873"  # as the vendor's files hold 0.5 ms; the game makes 1 ms of it
WHEELS = ("RR", "RL", "FR", "FL")


def _rows(section, group, names, value=""):
    return [f"{section},{group},{name},{value},number,{name},," for name in names]


def _connection(period, ping="9.9999997473788e-06"):
    return [
        "vehicle,,Vehicle Model,pickup,string,,,",
        f"connection,,3rd Party Computation Time,{period},number,,,",
        f"connection,,Ping Time,{ping},number,,,",
        "connection,otherUDP,IP,127.0.0.1,string,,,",
        "connection,otherUDP,port,64890,number,,,",
        "connection,beamngUDP,IP,127.0.0.1,string,,,",
        "connection,beamngUDP,port,64891,number,,,",
    ]


def make_default_interface(period="0.0005"):
    """Return a contract with the names and the order of the vendor's default one."""
    axes = [f"vehicle{kind}{axis}" for kind in ("Position", "Velocity", "Acceleration") for axis in "XYZ"]
    wheels = [f"{kind}{wheel}" for wheel in WHEELS for kind in ("wheelSpeed", "angularVelocity", "downforce")]
    torques = [f"{kind}Torque{wheel}" for wheel in WHEELS for kind in ("braking", "propulsion", "friction")]
    rates = ["vehicleRollRate", "vehiclePitchRate", "vehicleYawRate", "vehicleGroundSpeed", "vehicleAltitude"]
    inputs = [f"{name}Input" for name in ("throttle", "brake", "clutch", "parkingBrake", "steeringWheelPosition")]
    electrics = ["wheelspeed", "engineLoad", "maxrpm", "ignitionLevel", "gearIndex", "rpm", "fuel", "reverse",
                 "signal_R", "highbeam", "signal_L", "lowbeam"]  # fmt: skip
    pedals = ["throttle", "brake", "clutch", "parkingBrake", "steeringWheelPosition"]
    rows = [
        *_rows("signalTo", "Kinematics", axes + rates), *_rows("signalTo", "Driver", inputs),
        *_rows("signalTo", "Wheels", wheels), *_rows("signalTo", "Electrics", electrics),
        *_rows("signalFrom", "Driver", pedals, "value"), *_rows("signalFrom", "Wheels", torques, "value"),
        *_connection(period),
    ]  # fmt: skip
    return TOP + "\n".join(rows)


def make_torques_contract(period=FLOAT_PERIOD):
    """Return the vendor's example with torques and without pedals."""
    torques = [f"{kind}Torque{wheel}" for wheel in WHEELS for kind in ("braking", "propulsion")]
    rows = [
        *_rows("signalTo", "Kinematics", ["vehicleYaw", "vehicleGroundSpeed"]),
        *_rows("signalFrom", "Driver", ["steeringWheelPosition"], "value"),
        *_rows("signalFrom", "Wheels", torques, "value"), *_connection(period),
    ]  # fmt: skip
    return TOP + "\n".join(rows)


def make_sensor_contract(period=FLOAT_PERIOD):
    """Return a contract with sensors, other spellings and values that only the vehicle knows."""
    rows = [
        "sensors,IMU,IMU1,0,string,,,",
        *_rows("signalTo", "IMU1", ["imuAccelerationRawAxis1", "imuReadingTimestamp"]),
        *_rows("signalTo", "IMU2", ["imuAccelerationRawAxis1", "imuReadingTimestamp"]),
        *_rows("signalTo", "Kinematics", ["vehicleGroundSpeed"]),
        *_rows("signalTo", "Wheels", ["FRwheelSpeed", "RL_brakingTorque"]),
        *_rows("signalTo", "Electrics", ["oiltemp", "turnsignal"]),
        *_rows("signalTo", "Powertrain", ["mainEngine_outputAV1"]),
        *_rows("signalFrom", "Driver", ["throttle", "steeringWheelPosition"], "value"),
        *_rows("signalFrom", "Electrics", ["lightbar"], "value"),
        *_connection(period),
    ]
    return TOP + "\n".join(rows)


class ContractRows:
    """What a program reads out of a contract that divides messages by rows alone."""

    def __init__(self, text):
        rows = list(csv.reader(text.splitlines()))[1:]
        self.to = [row[2] for row in rows if row[0] == "signalTo"]
        self.back = [row[2] for row in rows if row[0] == "signalFrom"]
        self._to, self._back = Struct(f"<{1 + len(self.to)}d"), Struct(f"<{1 + len(self.back)}d")

    def pack_state(self, message_id, **values):
        """Return a state message; signals that are not given are 0."""
        return self._to.pack(message_id, *[values.get(name, 0.0) for name in self.to])

    def unpack_state(self, data):
        """Return (id, {name: value})."""
        message_id, *values = self._to.unpack(data)
        return message_id, dict(zip(self.to, values, strict=True))

    def pack_command(self, message_id, **values):
        """Return a command message; signals that are not given are 0."""
        return self._back.pack(message_id, *[values.get(name, 0.0) for name in self.back])

    def unpack_command(self, data):
        """Return (id, {name: value})."""
        message_id, *values = self._back.unpack(data)
        return message_id, dict(zip(self.back, values, strict=True))
