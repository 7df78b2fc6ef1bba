"""The fields of Data Out that CarState does not have, as signals: in SI units, with the wire's own signs.

Source: protocol page forza-data-out, sections 2 and 3. Fields that a packet's format does not have are NaN.
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from trailbrake.sims.forza.blocks import WHEELS, Dash, HorizonBlock, MotorsportBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.state import Signal, SignalValues
from trailbrake.state.signals import SignalRole, make_signal
from trailbrake.units import PSI, RPM

_BLOCKS: tuple[type, ...] = (Sled, HorizonBlock, Dash, MotorsportBlock)  # in the order of `Packet`


class _WireSource(NamedTuple):
    """Where a signal is: its column in tables, number of the block, of the field in it, and factor to SI units."""

    column: str
    block: int
    field: int
    factor: float


def _declare(
    key: str,
    name: str,
    unit: str,
    meaning: str,
    *,
    lo: float = -math.inf,
    hi: float = math.inf,
    factor: float = 1.0,
    role: SignalRole = "",
) -> dict[Signal, _WireSource]:
    """Return the signal of the column `key`, or of its four columns if `name` has {wheel}, with their sources."""
    found = {}
    for wheel in WHEELS if "{wheel}" in name else ("",):
        column = f"{key}_{wheel}" if wheel else key
        block = next(i for i, kind in enumerate(_BLOCKS) if column in kind._fields)  # type: ignore[attr-defined]
        place = _BLOCKS[block]._fields.index(column)  # type: ignore[attr-defined]
        full_name = f"forza.{name.format(wheel=f'wheel_{wheel.lower()}')}"
        signal = make_signal(full_name, unit, meaning, lo=lo, hi=hi, role=role)
        found[signal] = _WireSource(column, block, place, factor)
    return found


_SOURCES: dict[Signal, _WireSource] = {
    **_declare("timestamp_ms", "timestamp", "s", "clock of the session; wraps after 49.7 days", lo=0.0, factor=1e-3),
    **_declare("engine_idle_rpm", "idle_engine_speed", "rad/s", "crankshaft speed at idle", lo=0.0, factor=RPM),
    **_declare("power", "power", "W", "of the engine; negative while it brakes", role="engine_power"),
    **_declare("torque", "torque", "N m", "of the engine; negative while it brakes"),
    **_declare("boost", "boost", "Pa", "pressure in the intake above the atmosphere", factor=PSI),
    **_declare("norm_suspension_travel", "{wheel}.suspension_share", "1", "0 at full droop, 1 at full compression",
               lo=0.0, hi=1.0),
    **_declare("suspension_travel_meters", "{wheel}.suspension_travel", "m", "compression of the suspension"),
    **_declare("tire_slip_ratio", "{wheel}.normalised_slip_ratio", "1", "beyond 1 grip is lost; positive driving"),
    **_declare("tire_slip_angle", "{wheel}.normalised_slip_angle", "1",
               "beyond 1 grip is lost; sign opposite to that of the velocity to the right"),
    **_declare("wheel_on_rumble_strip", "{wheel}.on_rumble_strip", "1", "1 on a rumble strip", lo=0.0, hi=1.0,
               role="kerb"),
    **_declare("wheel_in_puddle", "{wheel}.puddle_depth", "1", "depth of the puddle, 1 = deepest", lo=0.0, hi=1.0),
    **_declare("surface_rumble", "{wheel}.rumble", "1", "strength of the pad's rumble by the surface", lo=0.0,
               role="surface"),
    **_declare("tire_wear", "{wheel}.tyre_wear", "1", "0 new, 1 worn; Forza Motorsport (2023) only", lo=0.0, hi=1.0),
    **_declare("car_ordinal", "car_ordinal", "1", "number of make and model in its title"),
    **_declare("car_class", "car_class", "1", "0 slowest; codes differ between titles", lo=0.0, hi=8.0),
    **_declare("car_performance_index", "car_performance_index", "1", "performance index", lo=100.0, hi=999.0),
    **_declare("drivetrain_type", "drivetrain_type", "1", "0 front, 1 rear, 2 all-wheel drive", lo=0.0, hi=2.0),
    **_declare("num_cylinders", "cylinders", "1", "of the engine", lo=0.0),
    **_declare("car_group", "car_group", "1", "group of the car; Horizon only", lo=0.0),
    **_declare("smashable_vel_diff", "smashable_speed_loss", "m/s",
               "speed lost by hitting a breakable object; Horizon only"),
    **_declare("smashable_mass", "smashable_mass", "kg", "of that object; Horizon only", lo=0.0),
    **_declare("dist_traveled", "distance", "m", "driven since the start of the race; 0 in free roam"),
    **_declare("last_lap_time", "last_lap_time", "s", "0 without one", lo=0.0),
    **_declare("cur_race_time", "race_time", "s", "since the start of the race", lo=0.0),
    **_declare("race_pos", "race_position", "1", "rank; 0 without a race", lo=0.0),
    **_declare("norm_ai_brake_diff", "brake_advice", "1", "NormalizedAIBrakeDifference, of unknown sign",
               lo=-1.0, hi=1.0, factor=1.0 / 127.0),
    **_declare("track_ordinal", "track_ordinal", "1", "number of the track; Forza Motorsport (2023) only"),
}  # fmt: skip
SIGNALS = tuple(_SOURCES)
LEARNING_SIGNALS = tuple(signal.name for signal in SIGNALS if signal.role)  # that recordings always have


def list_signals(live: object) -> tuple[Signal, ...]:
    """Return all signals: any format may come from a game."""
    return SIGNALS


class PacketSignalReader:
    """Reads the selected signals from packets.

    Args:
        signals: of `SIGNALS`, in the order of the values.
        columns: of the table that the packets come from; a signal without its column is NaN. None = not from a table.
    """

    def __init__(self, signals: Sequence[Signal], columns: Collection[str] | None = None) -> None:
        self._sources = [
            source if columns is None or source.column in columns else source._replace(factor=math.nan)
            for source in map(_SOURCES.__getitem__, signals)
        ]
        self._positions = {signal.name: i for i, signal in enumerate(signals)}

    def read(self, packet: Packet) -> SignalValues:
        """Return the values in one packet."""
        values = []
        for _, block, field, factor in self._sources:
            fields = packet[block]
            values.append(fields[field] * factor if fields is not None else math.nan)
        return SignalValues(self._positions, tuple(values))
