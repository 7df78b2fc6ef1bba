"""The three classic shared-memory pages of Assetto Corsa: bytes <-> messages, with the game's own units and oddities.

Source: protocol page assetto-custom-ai, section 6. Little-endian, packed to 4 bytes; texts are UTF-16 units that a
zero ends; flags are whole numbers of 4 bytes. The pages describe the player's car only. A field's type has its unit.

The layout is read off the annotations: `int` and `float` are 4 bytes each, a tuple its members, a `Text` its units.
"""

from dataclasses import dataclass
from struct import Struct
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from trailbrake.errors import WireError
from trailbrake.transport.wire_packing import packs_fields

PHYSICS_NAME = "acpmf_physics"
GRAPHICS_NAME = "acpmf_graphics"
STATIC_NAME = "acpmf_static"
PAGE_SIZE = 4096  # of a named section, rounded up by Windows; bridges make files of 2048

OFF, REPLAY, LIVE, PAUSE = range(4)  # Graphics.status
STATUSES = ("off", "replay", "live", "pause")
SESSIONS = {
    -1: "unknown", 0: "practice", 1: "qualify", 2: "race", 3: "hotlap", 4: "time attack", 5: "drift", 6: "drag",
}  # fmt: skip


@dataclass(frozen=True)
class TextLength:
    """How many UTF-16 units a text has room for, the zero at its end included."""

    units: int


Vec3 = tuple[float, float, float]
Two = tuple[float, float]
Four = tuple[float, float, float, float]
Five = tuple[float, float, float, float, float]
FourVec3 = tuple[Vec3, Vec3, Vec3, Vec3]
ZERO2, ZERO3, ZERO4, ZERO5 = (0.0,) * 2, (0.0,) * 3, (0.0,) * 4, (0.0,) * 5
FOUR_ZERO3: FourVec3 = (ZERO3,) * 4

Flag = Annotated[int, "0/1"]
UnitInterval = Annotated[float, "0..1"]
Text15 = Annotated[str, TextLength(15)]
Text33 = Annotated[str, TextLength(33)]


class Physics(NamedTuple):
    """acpmf_physics, 580 bytes, 333 times a second. Wheels FL FR RL RR; vectors as in Custom AI's car page."""

    packet_id: int = 0
    gas: UnitInterval = 0.0
    brake: UnitInterval = 0.0
    fuel: Annotated[float, "l"] = 0.0
    gear: int = 0  # 0 = reverse, 1 = neutral, 2 = first
    rpms: Annotated[int, "rpm"] = 0
    steer_angle: float = 0.0  # -1..1 in practice
    speed_kmh: Annotated[float, "km/h"] = 0.0
    velocity: Annotated[Vec3, "m/s"] = ZERO3
    acc_g: Annotated[Vec3, "g"] = ZERO3
    wheel_slip: Four = ZERO4
    wheel_load: Annotated[Four, "N"] = ZERO4
    wheels_pressure: Annotated[Four, "psi"] = ZERO4
    wheel_angular_speed: Annotated[Four, "rad/s"] = ZERO4
    tyre_wear: Four = ZERO4
    tyre_dirty_level: Four = ZERO4
    tyre_core_temperature: Annotated[Four, "degC"] = ZERO4
    camber_rad: Annotated[Four, "rad"] = ZERO4
    suspension_travel: Annotated[Four, "m"] = ZERO4
    drs: float = 0.0
    tc: float = 0.0
    heading: Annotated[float, "rad"] = 0.0  # minus our yaw
    pitch: Annotated[float, "rad"] = 0.0
    roll: Annotated[float, "rad"] = 0.0
    cg_height: Annotated[float, "m"] = 0.0
    car_damage: Five = ZERO5
    number_of_tyres_out: int = 0
    pit_limiter_on: Flag = 0
    abs: float = 0.0
    kers_charge: UnitInterval = 0.0
    kers_input: UnitInterval = 0.0
    auto_shifter_on: Flag = 0
    ride_height: Annotated[Two, "m"] = ZERO2
    turbo_boost: float = 0.0
    ballast: Annotated[float, "kg"] = 0.0
    air_density: Annotated[float, "kg/m^3"] = 0.0
    air_temp: Annotated[float, "degC"] = 0.0
    road_temp: Annotated[float, "degC"] = 0.0
    local_angular_vel: Annotated[Vec3, "rad/s"] = ZERO3
    final_ff: float = 0.0
    performance_meter: float = 0.0
    engine_brake: int = 0
    ers_recovery_level: int = 0
    ers_power_level: int = 0
    ers_heat_charging: Flag = 0
    ers_is_charging: Flag = 0
    kers_current_kj: Annotated[float, "kJ"] = 0.0
    drs_available: Flag = 0
    drs_enabled: Flag = 0
    brake_temp: Annotated[Four, "degC"] = ZERO4
    clutch: UnitInterval = 0.0
    tyre_temp_i: Annotated[Four, "degC"] = ZERO4
    tyre_temp_m: Annotated[Four, "degC"] = ZERO4
    tyre_temp_o: Annotated[Four, "degC"] = ZERO4
    is_ai_controlled: Flag = 0
    tyre_contact_point: Annotated[FourVec3, "m"] = FOUR_ZERO3
    tyre_contact_normal: FourVec3 = FOUR_ZERO3
    tyre_contact_heading: FourVec3 = FOUR_ZERO3
    brake_bias: UnitInterval = 0.0
    local_velocity: Annotated[Vec3, "m/s"] = ZERO3


class Graphics(NamedTuple):
    """acpmf_graphics, 296 bytes, once a frame. In hotlap mode `completed_laps` counts valid laps only."""

    packet_id: int = 0
    status: int = OFF
    session: int = -1
    current_time: Text15 = ""
    last_time: Text15 = ""
    best_time: Text15 = ""
    split: Text15 = ""
    completed_laps: int = 0
    position: int = 0
    i_current_time: Annotated[int, "ms"] = 0
    i_last_time: Annotated[int, "ms"] = 0
    i_best_time: Annotated[int, "ms"] = 0
    session_time_left: Annotated[float, "ms"] = 0.0
    distance_traveled: Annotated[float, "m"] = 0.0
    is_in_pit: Flag = 0
    current_sector_index: int = 0
    last_sector_time: Annotated[int, "ms"] = 0
    number_of_laps: int = 0
    tyre_compound: Text33 = ""
    replay_time_multiplier: float = 0.0
    normalized_car_position: UnitInterval = 0.0
    car_coordinates: Annotated[Vec3, "m"] = ZERO3
    penalty_time: Annotated[float, "s"] = 0.0
    flag: int = 0
    ideal_line_on: Flag = 0
    is_in_pit_lane: Flag = 0
    surface_grip: UnitInterval = 0.0
    mandatory_pit_done: Flag = 0
    wind_speed: Annotated[float, "km/h"] = 0.0
    wind_direction: Annotated[float, "deg"] = 0.0


class Static(NamedTuple):
    """acpmf_static, 688 bytes, once a session."""

    sm_version: Text15 = ""
    ac_version: Text15 = ""
    number_of_sessions: int = 0
    num_cars: int = 0
    car_model: Text33 = ""
    track: Text33 = ""
    player_name: Text33 = ""
    player_surname: Text33 = ""
    player_nick: Text33 = ""
    sector_count: int = 0
    max_torque: Annotated[float, "Nm"] = 0.0
    max_power: Annotated[float, "W"] = 0.0
    max_rpm: Annotated[int, "rpm"] = 0
    max_fuel: Annotated[float, "l"] = 0.0
    suspension_max_travel: Annotated[Four, "m"] = ZERO4
    tyre_radius: Annotated[Four, "m"] = ZERO4
    max_turbo_boost: float = 0.0
    deprecated_1: float = 0.0
    deprecated_2: float = 0.0
    penalties_enabled: Flag = 0
    aid_fuel_rate: float = 0.0
    aid_tire_rate: float = 0.0
    aid_mechanical_damage: float = 0.0
    aid_allow_tyre_blankets: Flag = 0
    aid_stability: float = 0.0
    aid_auto_clutch: Flag = 0
    aid_auto_blip: Flag = 0
    has_drs: Flag = 0
    has_ers: Flag = 0
    has_kers: Flag = 0
    kers_max_j: Annotated[float, "J"] = 0.0
    engine_brake_settings_count: int = 0
    ers_power_controller_count: int = 0
    track_spline_length: Annotated[float, "m"] = 0.0
    track_configuration: Text33 = ""  # programs disagree on its length; up to its 14th unit all agree
    ers_max_j: Annotated[float, "J"] = 0.0
    is_timed_race: Flag = 0
    has_extra_lap: Flag = 0
    car_skin: Text33 = ""
    reversed_grid_positions: int = 0
    pit_window_start: int = 0
    pit_window_end: int = 0
    is_online: Flag = 0


Message = TypeVar("Message", Physics, Graphics, Static)


@dataclass(frozen=True)
class PageField:
    """One field of a page: its name, its unit ("" = none), how many values it has, and a text's room in bytes."""

    name: str
    unit: str
    values: int
    room: int


def _struct_format(annotation: Any) -> tuple[str, str]:
    """Return the struct format of an annotated type, and its unit."""
    base, note = (
        (get_args(annotation)[0], annotation.__metadata__[0])
        if hasattr(annotation, "__metadata__")
        else (annotation, "")
    )
    if isinstance(note, TextLength):
        return f"{2 * note.units}s", ""
    members = get_args(base)
    return "".join(_struct_format(m)[0] for m in members) if members else "i" if base is int else "f", note


class PageLayout(Generic[Message]):
    """Bytes <-> one kind of message."""

    def __init__(self, message_type: type[Message]) -> None:
        self.message_type: type[Message] = message_type
        formats: list[str] = []
        self.fields: list[PageField] = []
        size = 0
        for name, annotation in get_type_hints(message_type, include_extras=True).items():
            text, unit = _struct_format(annotation)
            gap = 0 if text.endswith("s") else -size % 4
            formats.append("x" * gap + text)
            member = Struct("<" + text)
            room = member.size if text.endswith("s") else 0
            self.fields.append(PageField(name, unit, len(member.unpack(bytes(member.size))), room))
            size += gap + member.size
        self.struct = Struct("<" + "".join(formats))
        self._shapes = [(field.values, field.room) for field in self.fields]

    def decode(self, data: bytes) -> Message:
        """Decode a page; WireError where it is cut short."""
        if len(data) < self.struct.size:
            raise WireError(
                f"{self.message_type.__name__} is cut short", expected=f"{self.struct.size} bytes", got=str(len(data))
            )
        values = self.struct.unpack_from(data)
        fields: list[Any] = []
        at = 0
        for field in self.fields:
            taken = values[at : at + field.values]
            at += field.values
            if field.values == 1:
                fields.append(_text_from_wire(taken[0]) if field.room else taken[0])
            elif field.values == 12:  # a vector for each wheel
                fields.append((taken[0:3], taken[3:6], taken[6:9], taken[9:12]))
            else:
                fields.append(taken)
        message: Message = self.message_type(*fields)
        return message

    @packs_fields()
    def encode(self, message: Message) -> bytes:
        """Encode a page. A text too long for its field is cut."""
        flat: list[Any] = []
        values: tuple[Any, ...] = message
        for value, (count, room) in zip(values, self._shapes, strict=True):
            if room:
                flat.append(_text_to_wire(value, room))
            elif count == 1:
                flat.append(value)
            elif count == 12:
                for vector in value:
                    flat += vector
            else:
                flat += value
        return self.struct.pack(*flat)


def _text_from_wire(data: bytes) -> str:
    end = next((i for i in range(0, len(data), 2) if data[i : i + 2] == b"\0\0"), len(data))
    return data[:end].decode("utf-16-le", "replace")


def _text_to_wire(text: str, room: int) -> bytes:
    data = text.encode("utf-16-le", "replace")[: room - 2]  # the zero at the end stays
    half_a_pair = len(data) == room - 2 and 0xD8 <= data[-1] <= 0xDB
    return data[:-2] if half_a_pair else data


PHYSICS_LAYOUT: PageLayout[Physics] = PageLayout(Physics)
GRAPHICS_LAYOUT: PageLayout[Graphics] = PageLayout(Graphics)
STATIC_LAYOUT: PageLayout[Static] = PageLayout(Static)
PHYSICS_SIZE, GRAPHICS_SIZE, STATIC_SIZE = (
    PHYSICS_LAYOUT.struct.size,
    GRAPHICS_LAYOUT.struct.size,
    STATIC_LAYOUT.struct.size,
)

decode_physics, encode_physics = PHYSICS_LAYOUT.decode, PHYSICS_LAYOUT.encode
decode_graphics, encode_graphics = GRAPHICS_LAYOUT.decode, GRAPHICS_LAYOUT.encode
decode_static, encode_static = STATIC_LAYOUT.decode, STATIC_LAYOUT.encode


def track_id(static: Static) -> str:
    """Return the track's full name: with its layout behind a hyphen, where it has one."""
    return f"{static.track}-{static.track_configuration}" if static.track_configuration else static.track


def milliseconds_text(milliseconds: int) -> str:
    """Return a lap time as the game's text fields have it: 1:47:352."""
    minutes, rest = divmod(max(0, milliseconds), 60_000)
    return f"{minutes}:{rest // 1000:02d}:{rest % 1000:03d}"
