"""Stand-ins whose wire differs in one thing from what our code assumes, in what they publish or in what they take."""

import math
from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

from trailbrake.sims.assetto import codec as assetto_codec
from trailbrake.sims.assetto import convert as assetto_convert
from trailbrake.sims.beamng.codec import STATE_SIZE, StateMessage
from trailbrake.sims.beamng.message_format import FixedFormat
from trailbrake.sims.forza import convert as forza_convert
from trailbrake.sims.trend import codec as trend_codec
from trailbrake.sims.trend.host import Host as TrendHost
from trailbrake.transport import image_codec, pad_report

WHEELS = ("FL", "FR", "RL", "RR")
MIRRORED = (1, 0, 3, 2)  # left and right wheels exchanged
_DOUBLES = Struct(f"<{STATE_SIZE // 8}d")
_STATE_NAMES = StateMessage._fields[:-1]
Change = Callable[[dict[str, Any]], dict[str, Any]]  # from the fields of a message to those that differ


class Flip(NamedTuple):
    """One difference.

    Attributes:
        owner: module or class of the function that is wrapped.
        name: of the function.
        wrap: returns the function that takes its place.
        host: options of the stand-in, KEY=VALUE.
    """

    owner: Any = None
    name: str = ""
    wrap: Callable[[Any], Any] | None = None
    host: tuple[str, ...] = ()

    def apply(self, monkeypatch) -> None:
        """Make the difference."""
        if self.wrap is not None:
            wrapped = self.wrap(getattr(self.owner, self.name))
            monkeypatch.setattr(self.owner, self.name, staticmethod(wrapped) if self.owner is FixedFormat else wrapped)


def _on_result(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda function: lambda *args, **options: change(function(*args, **options))


def _on_first_argument(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda function: lambda first, *args: function(change(first), *args)


def _replace_fields(change: Change) -> Callable[[Any], Any]:
    return lambda message: message._replace(**change(message._asdict()))


# ---- Assetto Corsa -----------------------------------------------------------------------------------------


def _car(change: Change) -> Flip:
    return Flip(assetto_convert, "state_to_wire", _on_result(_replace_fields(change)))


def _wheels(change: Callable[[int, dict[str, Any]], dict[str, Any]]) -> Flip:
    return _car(
        lambda m: {"wheels": tuple(w._replace(**change(i, w._asdict())) for i, w in enumerate(m["wheels"]))}
    )  # fmt: skip


def _taken_controls(change: Change) -> Flip:
    return Flip(assetto_codec, "decode_controls", _on_result(_replace_fields(change)))


def _negate(vector: str, *axes: int) -> Change:
    return lambda m: {vector: tuple(-v if i in axes else v for i, v in enumerate(m[vector]))}


ASSETTO = {
    "assetto-steer-right": _taken_controls(lambda m: {"steer": -m["steer"]}),
    "assetto-wheel-angle-right": _car(lambda m: {"steer": -m["steer"]}),
    "assetto-wheel-angle-degrees": _car(lambda m: {"steer": m["steer"] / 270.0}),
    "assetto-world-left": _car(_negate("look", 0)),
    "assetto-yaw-rate-left": _car(_negate("local_angular_velocity", 1)),
    "assetto-car-frame-left": _car(_negate("local_velocity", 0)),
    "assetto-car-frame-forward": _car(_negate("local_velocity", 2)),
    "assetto-acceleration-left": _car(_negate("acc_g", 0)),
    "assetto-acceleration-forward": _car(_negate("acc_g", 2)),
    "assetto-acceleration-gravity": _car(lambda m: {"acc_g": (m["acc_g"][0], m["acc_g"][1] + 1.0, m["acc_g"][2])}),
    "assetto-gear-codes": _car(lambda m: {"gear": m["gear"] - 1}),
    "assetto-clutch-released": _car(lambda m: {"clutch": 1.0 - m["clutch"]}),
    "assetto-packet-rate": _car(lambda m: {"packet_id": 2 * m["packet_id"]}),
    "assetto-wheel-order": _car(lambda m: {"wheels": tuple(m["wheels"][i] for i in MIRRORED)}),
    "assetto-pressure-psi": _wheels(lambda i, w: {"pressure": w["pressure"] / 14.5}),
    "assetto-camber-outward": _wheels(lambda i, w: {"camber_rad": w["camber_rad"] * (-1.0 if i % 2 == 0 else 1.0)}),
    "assetto-slip-angle-left": _wheels(lambda i, w: {"slip_angle_deg": -w["slip_angle_deg"]}),
    "assetto-handbrake-share": _taken_controls(lambda m: {"handbrake": float(m["handbrake"] > 0.0)}),
    "assetto-teleport-heading": _taken_controls(lambda m: {"teleport_dir": tuple(-v for v in m["teleport_dir"])}),
    "assetto-lap-progress": _car(lambda m: {"spline_position": 1.0 - m["spline_position"]}),
}

# ---- Forza -------------------------------------------------------------------------------------------------


def _packet(block: str, change: Change) -> Flip:
    replace_block = _replace_fields(change)
    return Flip(
        forza_convert, "state_to_wire", _on_result(lambda p: p._replace(**{block: replace_block(getattr(p, block))}))
    )


def _sled(change: Change) -> Flip:
    return _packet("sled", change)


def _dash(change: Change) -> Flip:
    return _packet("dash", change)


def _of_wheels(name: str, change: Callable[[float], float]) -> Change:
    return lambda m: {f"{name}_{wheel}": change(m[f"{name}_{wheel}"]) for wheel in WHEELS}


def _taken_report(change: Change) -> Flip:
    return Flip(pad_report, "decode_report", _on_result(_replace_fields(change)))


FORZA = {
    "forza-stick-right": _taken_report(lambda m: {"left_x": -m["left_x"]}),
    "forza-steer-echo": _dash(lambda m: {"steer": -m["steer"]}),
    "forza-handbrake-button": _taken_report(lambda m: {"buttons": m["buttons"] & ~pad_report.PadButton.A}),
    "forza-yaw-clockwise": _sled(lambda m: {"yaw": -m["yaw"]}),
    "forza-yaw-zero": _sled(lambda m: {"yaw": m["yaw"] + 0.5 * math.pi}),
    "forza-yaw-rate-right": _sled(lambda m: {"angular_velocity_y": -m["angular_velocity_y"]}),
    "forza-velocity-right": _sled(lambda m: {"velocity_x": -m["velocity_x"]}),
    "forza-acceleration-right": _sled(lambda m: {"acceleration_x": -m["acceleration_x"]}),
    "forza-acceleration-gravity": _sled(lambda m: {"acceleration_y": m["acceleration_y"] - 9.81}),
    "forza-roll-sign": _sled(lambda m: {"roll": -m["roll"]}),
    "forza-pitch-sign": _sled(lambda m: {"pitch": -m["pitch"]}),
    "forza-suspension-compression": _sled(_of_wheels("norm_suspension_travel", lambda share: 1.0 - share)),
    "forza-slip-angle-sign": _sled(_of_wheels("tire_slip_angle", lambda angle: -angle)),
    "forza-wheel-order": _sled(
        lambda m: {f"wheel_rotation_speed_{w}": m[f"wheel_rotation_speed_{WHEELS[MIRRORED[i]]}"]
                   for i, w in enumerate(WHEELS)}
    ),
    "forza-race-clock": _dash(lambda m: {"cur_race_time": 0.5 * m["cur_race_time"]}),
    "forza-timestamp-ms": _sled(lambda m: {"timestamp_ms": m["timestamp_ms"] // 1000}),
    "forza-speed-length": _dash(lambda m: {"speed": 3.6 * m["speed"]}),
    "forza-gear-codes": _dash(lambda m: {"gear": m["gear"] + 1}),
    "forza-line-left": _dash(lambda m: {"norm_driving_line": -m["norm_driving_line"]}),
    "forza-tyre-fahrenheit": _dash(_of_wheels("tire_temp", lambda degrees_f: (degrees_f - 32.0) / 1.8)),
    "forza-boost-psi": _dash(lambda m: {"boost": m["boost"] / 14.5}),
    "forza-power-watt": _dash(lambda m: {"power": m["power"] / 1000.0}),
}  # fmt: skip

# ---- BeamNG ------------------------------------------------------------------------------------------------


def _state(change: Change) -> Flip:
    def change_bytes(data: bytes) -> bytes:
        values = list(_DOUBLES.unpack(data))
        for name, value in change(dict(zip(_STATE_NAMES, values, strict=False))).items():
            values[_STATE_NAMES.index(name)] = value
        return _DOUBLES.pack(*values)

    return Flip(FixedFormat, "finish_message", _on_result(change_bytes))


def _command(change: Change) -> Flip:
    return Flip(FixedFormat, "decode_command", _on_result(_replace_fields(change)))


def _of_rotators(name: str, change: Callable[[dict[str, Any], str], float]) -> Change:
    return lambda m: {f"wheel{wheel}_{name}": change(m, wheel) for wheel in WHEELS}


BEAMNG = {
    "beamng-steer-right": _command(lambda m: {"steering": -m["steering"]}),
    "beamng-wheel-angle-left": _state(lambda m: {"steering": -m["steering"]}),
    "beamng-wheel-angle-degrees": _state(lambda m: {"steering": m["steering"] / 270.0}),
    "beamng-yaw-left": _state(lambda m: {"yaw": math.pi - m["yaw"]}),  # the heading along world X stays
    "beamng-yaw-zero": _state(lambda m: {"yaw": m["yaw"] + 0.5 * math.pi}),
    "beamng-acceleration-forward": _state(lambda m: {"accY": -m["accY"]}),
    "beamng-acceleration-left": _state(lambda m: {"accX": -m["accX"]}),
    "beamng-acceleration-gravity": _state(lambda m: {"accZ": m["accZ"] + 9.81}),
    "beamng-roll-sign": _state(lambda m: {"roll": -m["roll"]}),
    "beamng-pitch-sign": _state(lambda m: {"pitch": -m["pitch"]}),
    "beamng-message-period": Flip(host=("simulink_time=0.01",)),
    "beamng-gear-index": _state(lambda m: {"gear": m["gear"] + 1.0}),
    "beamng-load-newton": _state(_of_rotators("downForce", lambda m, w: 0.3 * m[f"wheel{w}_downForce"])),
    "beamng-wheel-order": _state(
        _of_rotators("angularVelocity", lambda m, w: m[f"wheel{WHEELS[MIRRORED[WHEELS.index(w)]]}_angularVelocity"])
    ),
    "beamng-brake-torque-command": _command(_of_rotators("brakingTorque", lambda m, w: -m[f"wheel{w}_brakingTorque"])),
    "beamng-brake-torque-state": _state(_of_rotators("brakingTorque", lambda m, w: -m[f"wheel{w}_brakingTorque"])),
    "beamng-nan-unchanged": _command(lambda m: {"brake": 0.0 if math.isnan(m["brake"]) else m["brake"]}),
    "beamng-brake-at-rest": _state(lambda m: {"groundspeed": m["groundspeed"] + 0.25 * (m["brake"] > 0.9)}),
    "beamng-altitude-z": _state(lambda m: {"altitude": m["posZ"] + 100.0}),
}

# ---- Formula Trend -----------------------------------------------------------------------------------------


def _telemetry(change: Change) -> Flip:
    return Flip(trend_codec, "encode_telemetry", _on_first_argument(_replace_fields(change)))


def _taken_steer(change: Change) -> Flip:
    return Flip(trend_codec, "decode_steer", _on_result(_replace_fields(change)))


def _pixels(change: Callable[[Any], Any]) -> Flip:
    return Flip(image_codec, "encode_image", _on_first_argument(change))


def _ignore_restart(execute: Any) -> Any:
    return lambda host, command: False if command.name == TrendHost.RESTART else execute(host, command)


TREND = {
    "trend-steer-right": _telemetry(lambda m: {"steering_angle": -m["steering_angle"]}),
    "trend-steer-degrees": _telemetry(lambda m: {"steering_angle": m["steering_angle"] / trend_codec.MAX_ANGLE_DEG}),
    "trend-speed-unit": _telemetry(lambda m: {"speed": 2.237 * m["speed"]}),
    "trend-pedal-saturates": _taken_steer(
        lambda m: {"throttle": 0.05 * m["throttle"] if 0.0 < m["throttle"] < 0.2 else m["throttle"]}
    ),
    "trend-pedal-brakes": _taken_steer(lambda m: {"throttle": max(m["throttle"], 0.0)}),
    "trend-brakes-echo": _telemetry(lambda m: {"brakes": 1.0 - m["brakes"]}),
    "trend-clock-seconds": _telemetry(lambda m: {"time": 1000.0 * m["time"]}),
    "trend-status-running": _telemetry(lambda m: {"status": 1}),
    "trend-lap-one": _telemetry(lambda m: {"lap": m["lap"] - 1}),
    "trend-restart-clock": Flip(TrendHost, "_execute", _ignore_restart),
    "trend-picture-rgb": _pixels(lambda pixels: pixels[..., ::-1]),
    "trend-picture-size": _pixels(lambda pixels: pixels[::2, ::2]),
}

FLIPS: dict[str, dict[str, Flip]] = {"assetto": ASSETTO, "forza": FORZA, "beamng": BEAMNG, "trend": TREND}
