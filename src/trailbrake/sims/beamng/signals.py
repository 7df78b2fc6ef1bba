"""The signals of BeamNG's wire: what its messages carry beyond CarState, and how to read them.

Units and signs are those of CarState; the wire's own differ for angles, engine speeds and the steering input.
"""

from collections.abc import Sequence
from typing import NamedTuple

from trailbrake.sims.beamng import signal_names
from trailbrake.sims.beamng.codec import CUSTOM_COUNT, Doubles, StateMessage
from trailbrake.sims.beamng.signal_contract import ContractSignal, load_contract
from trailbrake.sims.beamng.spec import NAME, LiveOptions
from trailbrake.state import Signal
from trailbrake.state.signals import make_signal
from trailbrake.units import DEG, RPM


class WireSignal(NamedTuple):
    """A signal, its field in `StateMessage`, and the factor that makes its value of the field's."""

    signal: Signal
    slot: str
    factor: float = 1.0


def _declare(
    name: str, slot: str, unit: str, meaning: str, *, span: tuple[float, float] | None = None, factor: float = 1.0
) -> WireSignal:
    if span is None:
        return WireSignal(make_signal(f"{NAME}.{name}", unit, meaning), slot, factor)
    return WireSignal(make_signal(f"{NAME}.{name}", unit, meaning, lo=span[0], hi=span[1]), slot, factor)


_SHARE = 0.0, 1.0
_BANKS = (
    _declare("throttle", "throttle", "1", "throttle as applied, after assistants", span=_SHARE),
    _declare("throttle_input", "throttle_input", "1", "throttle as requested", span=_SHARE),
    _declare("brake", "brake", "1", "brake as applied", span=_SHARE),
    _declare("brake_input", "brake_input", "1", "brake as requested", span=_SHARE),
    _declare("clutch", "clutch", "1", "clutch as applied, 1 = pressed", span=_SHARE),
    _declare("clutch_input", "clutch_input", "1", "clutch as requested", span=_SHARE),
    _declare("parking_brake", "parkingbrake", "1", "parking brake as applied", span=_SHARE),
    _declare("parking_brake_input", "parkingbrake_input", "1", "parking brake as requested", span=_SHARE),
    _declare("steering_wheel_angle", "steering", "rad", "angle of the steering wheel, positive left", factor=DEG),
    _declare("steering_input", "steering_input", "1", "steer as requested, share of full lock, positive left",
             span=(-1.0, 1.0), factor=-1.0),
    _declare("altitude", "altitude", "m", "height"),
    _declare("ignition_level", "ignitionLevel", "1", "0 off, 1 accessory, 2 on, 3 starting", span=(0.0, 3.0)),
    _declare("gear", "gear", "1", "gear, negative = reverse"),
    _declare("fuel", "fuel", "1", "fuel left, share of a full tank", span=_SHARE),
    _declare("engine_load", "engineLoad", "1", "engine torque over the largest", span=_SHARE),
    _declare("high_beam", "highbeam", "1", "1 while the headlights are on, high beam", span=_SHARE),
    _declare("low_beam", "lowbeam", "1", "1 while the headlights are on, low beam", span=_SHARE),
    _declare("max_engine_speed", "maxrpm", "rad/s", "largest crankshaft speed", factor=RPM),
    _declare("reverse", "reverse", "1", "1 in reverse", span=_SHARE),
    _declare("engine_speed", "rpm", "rad/s", "crankshaft speed", factor=RPM),
    _declare("left_signal", "signal_L", "1", "1 while the left turn signal is lit", span=_SHARE),
    _declare("right_signal", "signal_R", "1", "1 while the right turn signal is lit", span=_SHARE),
    _declare("wheel_speed", "wheelspeed", "m/s", "mean of the absolute speeds of the wheels' treads"),
)  # fmt: skip
_WHEEL_VALUES = (
    ("angular_velocity", "angularVelocity", "rad/s", "spin, positive rolling forward"),
    ("wheel_speed", "wheelSpeed", "m/s", "speed of the tread, positive forward"),
    ("braking_torque", "brakingTorque", "N m", "torque of the brake less friction, positive when it brakes"),
    ("propulsion_torque", "propulsionTorque", "N m", "torque of the powertrain, positive forward"),
    ("friction_torque", "frictionTorque", "N m", "torque of bearings and rolling"),
    ("down_force", "downForce", "N", "vertical load"),
)


def _declare_all() -> tuple[WireSignal, ...]:
    wheels = [
        _declare(f"wheel_{wheel.lower()}.{name}", f"wheel{wheel}_{slot}", unit, meaning)
        for wheel in signal_names.WHEELS
        for name, slot, unit, meaning in _WHEEL_VALUES
    ]
    custom = [
        _declare(f"custom.{number}", f"custom{number}", "1", "free value of the simulator")
        for number in range(1, CUSTOM_COUNT + 1)
    ]
    return (*_BANKS, *wheels, *custom)


WIRE_SIGNALS = _declare_all()
_OF_SLOT = {wire.slot: wire for wire in WIRE_SIGNALS}
_SLOTS = [*StateMessage._fields[:-1], *(f"custom{number}" for number in range(1, CUSTOM_COUNT + 1))]


def _contract_signals(signals: Sequence[ContractSignal]) -> list[tuple[WireSignal, int]]:
    """Return the signals of a contract with their places in a message; a name that comes again gets a number."""
    found: list[tuple[WireSignal, int]] = []
    count: dict[str, int] = {}
    for position, row in enumerate(signals, 1):
        source = signal_names.find_state_source(row.name)
        wire = _OF_SLOT.get(source) if isinstance(source, str) else None
        if wire is None:
            base = f"contract.{signal_names.make_snake_name(row.name)}"
            meaning = row.description or f"{row.name} of the contract"
            wire = _declare(base, row.name, "1", meaning)
        name = wire.signal.name
        count[name] = count.get(name, 0) + 1
        if count[name] > 1:
            quantity = wire.signal.quantity
            wire = wire._replace(signal=Signal(f"{name}_{count[name]}", quantity))
        found.append((wire, position))
    return found


def list_signals(live: LiveOptions) -> tuple[Signal, ...]:
    """Return the signals that messages with these options carry: for a contract, those that it lists."""
    if live.contract is None:
        return tuple(wire.signal for wire in WIRE_SIGNALS)
    return tuple(wire.signal for wire, _ in _contract_signals(load_contract(live.contract).state_signals))


class CouplingSignals:
    """Reads selected signals from the doubles of a message.

    Args:
        names: of the signals, in the order of the values.
        contract: the state signals of generation 2; None for generation 1.
    """

    def __init__(self, names: Sequence[str], contract: Sequence[ContractSignal] | None = None) -> None:
        if contract is None:
            known = {wire.signal.name: (wire, _SLOTS.index(wire.slot)) for wire in WIRE_SIGNALS}
        else:
            known = {wire.signal.name: (wire, position) for wire, position in _contract_signals(contract)}
        chosen = [known[name] for name in names]
        self._places = [(position, wire.factor) for wire, position in chosen]

    def read_values(self, doubles: Doubles) -> Doubles:
        """Return the values of the signals in a message."""
        return tuple([doubles[position] * factor for position, factor in self._places])
