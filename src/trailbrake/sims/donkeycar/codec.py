"""The messages of the donkeycar simulator: JSON objects, their kind under `msg_type`.

Source: protocol page formula-trend, section 10. The simulator writes numbers, clients write text; both are read
leniently, since .NET writes in the user's locale.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from trailbrake.errors import WireError
from trailbrake.transport.image_codec import decode_base64, encode_base64
from trailbrake.transport.json_values import clamp_magnitude, decode_json, parse_number, require_object

# From the simulator.
SCENE_SELECTION_READY, SCENE_NAMES, CAR_LOADED = "scene_selection_ready", "scene_names", "car_loaded"
NEED_CAR_CONFIG, TELEMETRY, STARTING_LINE = "need_car_config", "telemetry", "collision_with_starting_line"
# From the client.
GET_SCENE_NAMES, LOAD_SCENE, EXIT_SCENE = "get_scene_names", "load_scene", "exit_scene"
CAR_CONFIG, CAM_CONFIG, CONTROL, RESET_CAR = "car_config", "cam_config", "control", "reset_car"
GET_PROTOCOL_VERSION, PROTOCOL_VERSION = "get_protocol_version", "protocol_version"
NO_HIT = "none"
Triple = tuple[float, float, float]


class DonkeycarTelemetry(NamedTuple):
    """The simulator's telemetry. Vectors along Unity's axes (X right, Y up, Z forward) in its world, m and m/s.

    `steering_angle` as a share of the lock, positive to the right; `cte` in m, positive right of the line, None where
    the scene has none; `gyro` in rad/s and `angles` (pitch, yaw, roll) in degrees, positive as Unity turns. Older
    simulators have neither velocity nor gyro nor angles.
    """

    steering_angle: float
    throttle: float
    speed: float  # m/s
    image: bytes
    hit: str
    pos: Triple
    time: float  # s
    cte: float | None = None
    vel: Triple | None = None
    gyro: Triple | None = None
    angles: Triple | None = None


class DonkeycarControl(NamedTuple):
    """The client's command. Steering as a share of the lock, positive to the right; throttle -1..1; brake 0..1."""

    steering: float
    throttle: float
    brake: float


class CamConfig(NamedTuple):
    """A requested camera; 0 = the default. `fov` and angles in degrees, offsets in m along Unity's axes."""

    img_enc: str = "JPG"
    img_w: float = 0.0
    img_h: float = 0.0
    fov: float = 0.0
    offset_x: float = 0.0
    offset_y: float = 0.0
    offset_z: float = 0.0
    rot_x: float = 0.0
    rot_y: float = 0.0


def encode_message(kind: str, data: Mapping[str, Any] | None = None) -> str:
    """Return a message as text."""
    return msgspec.json.encode({"msg_type": kind, **(data or {})}).decode()


def decode_message(text: str) -> tuple[str, dict[str, Any]]:
    """Return kind and data of a message; WireError where `text` is none."""
    data = require_object(decode_json(text), "message")
    kind = data.pop("msg_type", None)
    if not isinstance(kind, str):
        raise WireError("not a kind of message", where="msg_type", got=str(kind)[:40])
    return kind, data


def is_message(text: str) -> bool:
    """Return whether `text` is a message, of whichever kind."""
    try:
        decode_message(text)
    except WireError:
        return False
    return True


def encode_telemetry(message: DonkeycarTelemetry) -> dict[str, Any]:
    """Return the message's data."""
    data: dict[str, Any] = {
        "steering_angle": message.steering_angle, "throttle": message.throttle, "speed": message.speed,
        "image": encode_base64(message.image), "hit": message.hit, "time": message.time,
    }  # fmt: skip
    for name, triple in (("pos", message.pos), ("vel", message.vel), ("gyro", message.gyro)):
        if triple is not None:
            data |= dict(zip((f"{name}_x", f"{name}_y", f"{name}_z"), triple, strict=True))
    if message.angles is not None:
        data |= dict(zip(("pitch", "yaw", "roll"), message.angles, strict=True))
    if message.cte is not None:
        data["cte"] = message.cte
    return data


def decode_telemetry(data: Mapping[str, Any]) -> DonkeycarTelemetry:
    """Return the telemetry in a message's data; WireError where unreadable."""
    hit = data.get("hit", NO_HIT)
    if not isinstance(hit, str):
        raise WireError("not a name", where="hit", got=str(hit)[:40])
    return DonkeycarTelemetry(
        parse_number(data.get("steering_angle", 0.0), "steering_angle"),
        parse_number(data.get("throttle", 0.0), "throttle"),
        parse_number(data.get("speed"), "speed"),
        decode_base64(data.get("image"), "image"),
        hit,
        _decode_triple(data, "pos_x", "pos_y", "pos_z"),
        parse_number(data.get("time"), "time"),
        parse_number(data["cte"], "cte") if "cte" in data else None,
        _decode_triple(data, "vel_x", "vel_y", "vel_z") if "vel_x" in data else None,
        _decode_triple(data, "gyro_x", "gyro_y", "gyro_z") if "gyro_x" in data else None,
        _decode_triple(data, "pitch", "yaw", "roll") if "yaw" in data else None,
    )


def _decode_triple(data: Mapping[str, Any], *keys: str) -> Triple:
    a, b, c = keys
    return parse_number(data.get(a), a), parse_number(data.get(b), b), parse_number(data.get(c), c)


def encode_control(message: DonkeycarControl) -> dict[str, str]:
    """Return the message's data: text; the simulator reads no numbers."""
    return {key: repr(value) for key, value in message._asdict().items()}


def decode_control(data: Mapping[str, Any]) -> DonkeycarControl:
    """Return the command in a message's data, limited to what the simulator accepts; WireError where unreadable.

    Older clients send no brake.
    """
    steering, throttle = parse_number(data.get("steering"), "steering"), parse_number(data.get("throttle"), "throttle")
    brake = parse_number(data.get("brake", 0.0), "brake")
    return DonkeycarControl(clamp_magnitude(steering, 1.0), clamp_magnitude(throttle, 1.0), min(max(brake, 0.0), 1.0))


def decode_cam_config(data: Mapping[str, Any]) -> CamConfig:
    """Return the camera in a message's data; WireError where unreadable."""
    numbers = [parse_number(data.get(key, 0.0), key) for key in CamConfig._fields if key != "img_enc"]
    form = data.get("img_enc", "JPG")
    if form in ("0", 0, "", "0.0"):
        form = "JPG"
    if form not in ("JPG", "PNG", "TGA"):
        raise WireError("no such encoding", where="img_enc", expected="JPG, PNG or TGA", got=str(form)[:40])
    return CamConfig(form, *numbers)


def decode_scene_names(data: Mapping[str, Any]) -> list[str]:
    """Return the names of the scenes; WireError where unreadable."""
    names = data.get("scene_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise WireError("not a list of names", where="scene_names", got=str(names)[:40])
    return names
