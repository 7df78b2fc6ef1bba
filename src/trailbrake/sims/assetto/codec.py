"""Bytes <-> messages of the Assetto Corsa Custom AI pages, with the document's names, units and oddities.

Source: protocol page assetto-custom-ai, section 2. Little-endian; 4-byte members at multiples of 4, one-byte
members back to back, sizes rounded up to 4. Signs and units are changed in `convert.py`, not here.

Messages are named tuples: they unpack and compare fastest. Too few bytes raise `WireError`; any other bytes
decode to something.
"""

from collections.abc import Sequence
from itertools import accumulate
from struct import Struct
from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.transport.wire_packing import packs_fields

Vec3 = tuple[float, float, float]
Five = tuple[float, float, float, float, float]
DrivingFields = tuple[float, float, float, float, float, int, int, int, int]
ZERO3: Vec3 = (0.0, 0.0, 0.0)
ZERO5: Five = (0.0, 0.0, 0.0, 0.0, 0.0)

_CONTROLS = Struct("<5f24B6fB3x")
_DRIVING = Struct("<5f4B")  # what its page begins with: what a driver changes all the time
_WHEEL = "30f"
_CAR = Struct("<i6fi29f" + 4 * _WHEEL + "3f3Bx2I3f2I")
# The same page without what our state has no field for: less than half of its numbers.
_WHEEL_SUBSET = "12x3f48x5f4x3f4x2f"
_CAR_SUBSET = Struct("<i6fi2f12x18f4x5f" + 4 * _WHEEL_SUBSET + "13x2Bx2I4x2f2I")
_PUBLIC = Struct("<i24fB3x")
_SIM_V0 = Struct("<4B")
_SIM_V1 = Struct("<4Bf")
_PACKET_ID = Struct("<i")
_DEBUG_COUNT = Struct("<i")
_DEBUG_LINE = Struct("<6fI")

PAGE_SIZE = 4096  # least size of any page: Windows rounds them up to this
CONTROLS_SIZE = _CONTROLS.size
BRAKE_PATCH = 0, Struct("<2f").pack(0.0, 0.6)  # offset and bytes of CarControls: gas and brake of a safe stop
CAR_SIZE = _CAR.size
CAR_SIZE_OLD = CAR_SIZE - 4  # before CSP 0.1.79: without wheels_valid_surface
PUBLIC_SIZE = _PUBLIC.size
SIM_V0_SIZE = _SIM_V0.size
SIM_V1_SIZE = _SIM_V1.size
PACKET_ID_SIZE = _PACKET_ID.size
DEBUG_SIZE = 16384  # least size of a DebugLines page
LINE_COUNT_SIZE = _DEBUG_COUNT.size
LINE_SIZE = _DEBUG_LINE.size
MAX_DEBUG_LINES = (DEBUG_SIZE - _DEBUG_COUNT.size) // _DEBUG_LINE.size  # lines in a page of that size


class CarControls(NamedTuple):
    """cai_car_controls, written by a client. Steer is positive to the RIGHT; clutch 1 = pedal released."""

    gas: float = 0.0
    brake: float = 0.0
    clutch: float = 0.0
    steer: float = 0.0
    handbrake: float = 0.0
    gear_up: int = 0
    gear_dn: int = 0
    drs: int = 0
    kers: int = 0
    brake_balance_up: int = 0
    brake_balance_dn: int = 0
    abs_up: int = 0
    abs_dn: int = 0
    tc_up: int = 0
    tc_dn: int = 0
    turbo_up: int = 0
    turbo_dn: int = 0
    engine_brake_up: int = 0
    engine_brake_dn: int = 0
    mguk_delivery_up: int = 0
    mguk_delivery_dn: int = 0
    mguk_recovery_up: int = 0
    mguk_recovery_dn: int = 0
    mguh_mode: int = 0
    headlights: int = 0
    teleport_to: int = 0
    autoclutch_on_start: int = 0
    autoclutch_on_change: int = 0
    autoblip_active: int = 0
    teleport_pos: Vec3 = ZERO3
    teleport_dir: Vec3 = ZERO3
    autoshift_active: int = 0


class WheelData(NamedTuple):
    """cai_wheel_data, 120 bytes inside of cai_car_data."""

    position: Vec3 = ZERO3
    contact_point: Vec3 = ZERO3
    contact_normal: Vec3 = ZERO3
    look: Vec3 = ZERO3
    side: Vec3 = ZERO3
    velocity: Vec3 = ZERO3
    slip_ratio: float = 0.0
    load: float = 0.0
    pressure: float = 0.0  # psi
    angular_velocity: float = 0.0
    wear: float = 0.0
    dirty_level: float = 0.0
    core_temperature: float = 0.0
    camber_rad: float = 0.0
    disc_temperature: float = 0.0
    slip: float = 0.0
    slip_angle_deg: float = 0.0
    nd_slip: float = 0.0


class CarData(NamedTuple):
    """cai_car_data, written by the game for a controlled car. `gear` 0 = R, 1 = N, 2 = first; wheels FL FR RL RR."""

    packet_id: int = 0
    gas: float = 0.0
    brake: float = 0.0
    clutch: float = 0.0
    steer: float = 0.0  # degrees at the steering wheel, right positive
    handbrake: float = 0.0
    fuel: float = 0.0
    gear: int = 0
    rpm: float = 0.0
    speed_kmh: float = 0.0
    velocity: Vec3 = ZERO3
    acc_g: Vec3 = ZERO3
    look: Vec3 = ZERO3
    up: Vec3 = ZERO3
    position: Vec3 = ZERO3
    local_velocity: Vec3 = ZERO3
    local_angular_velocity: Vec3 = ZERO3
    cg_height: float = 0.0
    car_damage: Five = ZERO5
    wheels: tuple[WheelData, WheelData, WheelData, WheelData] = (WheelData(), WheelData(), WheelData(), WheelData())
    turbo_boost: float = 0.0
    final_ff: float = 0.0
    final_pure_ff: float = 0.0
    pit_limiter: int = 0
    abs_in_action: int = 0
    traction_control_in_action: int = 0
    lap_time_ms: int = 0
    best_lap_time_ms: int = 0
    drivetrain_torque: float = 0.0
    spline_position: float = 0.0
    collision_depth: float = 0.0
    collision_counter: int = 0
    wheels_valid_surface: int = 0


# The numbers of a CarData page that a state has fields for, flat, in their order on the page: `decode_car_subset`.
# A plain tuple, since only those unpack fast.
CarDataSubset = tuple[Any, ...]


def _consecutive_slices(*lengths: int) -> tuple[slice, ...]:
    ends = list(accumulate(lengths))
    return tuple(slice(end - length, end) for end, length in zip(ends, lengths, strict=True))


# Parts of a CarDataSubset: packet_id to speed_kmh; vectors; damage; 13 numbers a wheel; abs_in_action to the last.
(
    SUBSET_BASICS, SUBSET_ACCELERATION, SUBSET_LOOK, SUBSET_UP, SUBSET_POSITION, SUBSET_VELOCITY,
    SUBSET_ANGULAR_VELOCITY, SUBSET_DAMAGE, SUBSET_WHEEL_FL, SUBSET_WHEEL_FR, SUBSET_WHEEL_RL, SUBSET_WHEEL_RR,
    SUBSET_SESSION,
) = _consecutive_slices(10, 3, 3, 3, 3, 3, 3, 5, 13, 13, 13, 13, 8)  # fmt: skip
SUBSET_PACKET_ID, SUBSET_GEAR = CarData._fields.index("packet_id"), CarData._fields.index("gear")


class CarPublic(NamedTuple):
    """cai_car_public_data, written by the game for every car at frame rate."""

    packet_id: int = 0
    steer: float = 0.0
    rpm: float = 0.0
    spline_position: float = 0.0
    speed_kmh: float = 0.0
    velocity: Vec3 = ZERO3
    acc_g: Vec3 = ZERO3
    look: Vec3 = ZERO3
    up: Vec3 = ZERO3
    position: Vec3 = ZERO3
    car_damage: Five = ZERO5
    is_braking: int = 0


class SimState(NamedTuple):
    """cai_sim_control. `time_scale` is in v1 only; a client must write 1.0 in its very first write."""

    pause: int = 0
    restart_session: int = 0
    disable_collisions: int = 0
    extra_sleep_ms: int = 0
    time_scale: float = 1.0


# Offset and size of each field, the same in both versions.
SIM_FIELDS = dict(zip(SimState._fields, ((0, 1), (1, 1), (2, 1), (3, 1), (4, 4)), strict=True))


class LineRecord(NamedTuple):
    """One line of cai_debug_lines, drawn in the world while its page says so."""

    start: Vec3 = ZERO3  # the document's `from`
    end: Vec3 = ZERO3  # the document's `to`
    color: int = 0xFFFFFFFF  # alpha first; the order of red and blue is not known


def _truncated_error(what: str, expected: int, got: int) -> WireError:
    return WireError(f"{what} is cut short", expected=f"{expected} bytes", got=str(got))


# `_new` builds a named tuple from its fields in order without the keyword machinery of its constructor,
# which would cost as much as the decoding.
_new_tuple = tuple.__new__


def decode_controls(data: bytes) -> CarControls:
    """Decode a CarControls page of any size from 64 bytes up: clients disagree (section 3); a missing tail is 0."""
    if len(data) < CONTROLS_SIZE:
        if len(data) < 64:  # the smallest known client's
            raise _truncated_error("CarControls", 64, len(data))
        data = data.ljust(CONTROLS_SIZE, b"\0")
    v = _CONTROLS.unpack_from(data)
    return _new_tuple(CarControls, (*v[:29], v[29:32], v[32:35], v[35]))


@packs_fields()
def encode_controls(m: CarControls) -> bytes:
    """Encode a CarControls page, 72 bytes."""
    return _CONTROLS.pack(*m[:29], *m[29], *m[30], m[31])


@packs_fields()
def encode_driving(driving: DrivingFields, page: bytes) -> bytes:
    """Encode a CarControls page, 72 bytes: its first nine fields, and the others as in `page`."""
    return _DRIVING.pack(*driving) + page[_DRIVING.size :]


def _build_wheel(v: tuple[Any, ...]) -> WheelData:
    return _new_tuple(WheelData, (v[0:3], v[3:6], v[6:9], v[9:12], v[12:15], v[15:18], *v[18:]))


def decode_car(data: bytes) -> CarData:
    """Decode a CarData page of 672 bytes, or of 668 (older CSP: all wheels are said to be on valid surface)."""
    v = _CAR.unpack_from(_pad_old_page(data))
    vectors = (v[at : at + 3] for at in range(10, 31, 3))
    wheels = tuple(_build_wheel(v[at : at + 30]) for at in range(37, 157, 30))
    return _new_tuple(CarData, (*v[:10], *vectors, v[31], v[32:37], wheels, *v[157:]))


def _pad_old_page(data: bytes) -> bytes:
    if len(data) < CAR_SIZE:
        if len(data) < CAR_SIZE_OLD:
            raise _truncated_error("CarData", CAR_SIZE, len(data))
        data = data[:CAR_SIZE_OLD] + b"\x0f\0\0\0"
    return data


def decode_car_subset(data: bytes) -> CarDataSubset:
    """Decode the numbers of a CarData page that a state has fields for, in a third of the time of `decode_car`."""
    return _CAR_SUBSET.unpack_from(_pad_old_page(data))


@packs_fields()
def encode_car(m: CarData) -> bytes:
    """Encode a CarData page, 672 bytes."""
    a, b, c, d = m.wheels
    return _CAR.pack(
        *m[:10], *m.velocity, *m.acc_g, *m.look, *m.up, *m.position, *m.local_velocity, *m.local_angular_velocity,
        m.cg_height, *m.car_damage,
        *a[0], *a[1], *a[2], *a[3], *a[4], *a[5], *a[6:], *b[0], *b[1], *b[2], *b[3], *b[4], *b[5], *b[6:],
        *c[0], *c[1], *c[2], *c[3], *c[4], *c[5], *c[6:], *d[0], *d[1], *d[2], *d[3], *d[4], *d[5], *d[6:],
        *m[20:],
    )  # fmt: skip


def decode_public(data: bytes) -> CarPublic:
    """Decode a CarPublic page, 104 bytes."""
    if len(data) < PUBLIC_SIZE:
        raise _truncated_error("CarPublic", PUBLIC_SIZE, len(data))
    v = _PUBLIC.unpack_from(data)
    return _new_tuple(CarPublic, (*v[:5], v[5:8], v[8:11], v[11:14], v[14:17], v[17:20], v[20:25], v[25]))


@packs_fields()
def encode_public(m: CarPublic) -> bytes:
    """Encode a CarPublic page, 104 bytes."""
    return _PUBLIC.pack(
        *m[:5], *m.velocity, *m.acc_g, *m.look, *m.up, *m.position, *m.car_damage, m.is_braking
    )  # fmt: skip


def decode_sim_v0(data: bytes) -> SimState:
    """Decode a SimState page of version 0, 4 bytes."""
    if len(data) < SIM_V0_SIZE:
        raise _truncated_error("SimState v0", SIM_V0_SIZE, len(data))
    return SimState(*_SIM_V0.unpack_from(data))


def decode_sim_v1(data: bytes) -> SimState:
    """Decode a SimState page of version 1, 8 bytes. `time_scale` as it is on the wire, 0 included."""
    if len(data) < SIM_V1_SIZE:
        raise _truncated_error("SimState v1", SIM_V1_SIZE, len(data))
    return SimState(*_SIM_V1.unpack_from(data))


@packs_fields()
def encode_sim_v0(m: SimState) -> bytes:
    """Encode a SimState page of version 0, 4 bytes: it has no time scale."""
    return _SIM_V0.pack(*m[:4])


@packs_fields()
def encode_sim_v1(m: SimState) -> bytes:
    """Encode a SimState page of version 1, 8 bytes."""
    return _SIM_V1.pack(*m)


def decode_debug_lines(data: bytes) -> tuple[LineRecord, ...]:
    """Decode a DebugLines page, up to the lines that it holds. WireError if its count is negative."""
    if len(data) < _DEBUG_COUNT.size:
        raise _truncated_error("DebugLines", _DEBUG_COUNT.size, len(data))
    (count,) = _DEBUG_COUNT.unpack_from(data)
    if count < 0:
        raise WireError("DebugLines has a negative count of lines", expected="0 or more", got=str(count))
    count = min(count, (len(data) - _DEBUG_COUNT.size) // _DEBUG_LINE.size)
    body = data[_DEBUG_COUNT.size : _DEBUG_COUNT.size + count * _DEBUG_LINE.size]
    return tuple(LineRecord(v[0:3], v[3:6], v[6]) for v in _DEBUG_LINE.iter_unpack(body))


@packs_fields()
def encode_debug_lines(lines: Sequence[LineRecord]) -> bytes:
    """Encode a DebugLines page. WireError above MAX_DEBUG_LINES lines. Store the count, its first 4 bytes, last."""
    if len(lines) > MAX_DEBUG_LINES:
        raise WireError("too many debug lines for their page", expected=f"up to {MAX_DEBUG_LINES}", got=str(len(lines)))
    return encode_line_count(len(lines)) + b"".join(_DEBUG_LINE.pack(*m.start, *m.end, m.color) for m in lines)


@packs_fields()
def encode_line_count(count: int) -> bytes:
    """Encode the count that begins a DebugLines page."""
    return _DEBUG_COUNT.pack(count)


def decode_packet_id(data: bytes) -> int:
    """Decode the packet_id that starts a CarData or CarPublic page; 0 where there are no bytes yet."""
    return int(_PACKET_ID.unpack_from(data)[0]) if len(data) >= PACKET_ID_SIZE else 0
