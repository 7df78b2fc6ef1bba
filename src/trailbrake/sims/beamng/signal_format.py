"""Generation 2: signals of a contract <-> CarState and Controls. Signals that generation 1 has too use its conversion.

Source: protocol page beamng-coupling, section 11. There is no drive mode: a torque acts exactly if the contract lists
it. NaN has no special meaning. Signals whose meaning `signals` does not know are free values: they are carried in
their order, as the custom values of generation 1 are.
"""

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from trailbrake.cars.params import CarParams
from trailbrake.sims.beamng import convert, signals
from trailbrake.sims.beamng.codec import (
    DOUBLE,
    NO_CHANGE_COMMAND,
    NO_CUSTOM,
    STATE_SUBSET_FIELDS,
    CommandMessage,
    Doubles,
    PartialMessage,
    SignalCodec,
    StateMessage,
    StateSubset,
    decode_state,
    encode_command,
)
from trailbrake.sims.beamng.convert import LatchedCommand
from trailbrake.sims.beamng.signal_contract import SignalContract
from trailbrake.sims.beamng.signals import TIMESTAMPS, TORQUE_KINDS, WHEELS, CouplingSignals
from trailbrake.sims.beamng.spec import FULL_BRAKE_TORQUE
from trailbrake.state import CarState, Controls

NAN = math.nan
_SLOW_GROUPS = ("Driver", "Electrics", "Powertrain")  # the game computes them once per graphics frame
_RATES = {"vehicleRollRate": ("roll_rate", -1.0), "vehiclePitchRate": ("pitch_rate", 1.0),
          "vehicleYawRate": ("yaw_rate", 1.0)}  # fmt: skip
_AXLE_SHARE = {"FL": 1.3, "FR": 1.3, "RL": 0.7, "RR": 0.7}  # of the mean brake torque: rear wheels that lock turn a car


class _CommandSlot(NamedTuple):
    """A double of a command message.

    Attributes:
        target: the control that it sets, as `signals.find_command_target` names it; None for a free value.
        channel: how it acts on the signal, one of `signal_contract.CHANNELS`.
        free_value: its place among the free values, -1 if it is none.
        echo: place of the telemetry of the same torque in a state message, 0 if there is none.
    """

    target: str | None
    channel: str
    free_value: int
    echo: int


class SignalListFormat:
    """Generation 2: the messages of one contract.

    Args:
        contract: lists the signals.
        brake_torque: N m, mean of the wheels at full brake pedal, where the contract lists brake torques.

    Attributes:
        state_custom_names: names of the signals in a state message whose meaning is not known.
        command_custom_names: names of the free values in a command: signals without a control, and friction torques.
    """

    def __init__(self, contract: SignalContract, brake_torque: float = FULL_BRAKE_TORQUE) -> None:
        self._brake_torque = brake_torque
        self._state_signals, self._command_signals = contract.state_signals, contract.command_signals
        self._state_codec = SignalCodec(len(contract.state_signals))
        self._command_codec = SignalCodec(len(contract.command_signals))
        self.state_doubles, self.command_doubles = 1 + len(contract.state_signals), 1 + len(contract.command_signals)
        self._slow_doubles = {k + 1 for k, signal in enumerate(contract.state_signals) if signal.group in _SLOW_GROUPS}
        self._map_state()
        self._map_commands()
        self._outputs: dict[str, float] = {}  # host: newest output of each signal; `freeze` repeats it
        self._pedals: dict[str, float] = dict.fromkeys(signals.PEDALS, 0.0)  # link: newest value of each pedal
        self._last_message: Doubles = (0.0,) * self.state_doubles
        self._reader = CouplingSignals((), self._state_signals)

    def _map_state(self) -> None:
        """Find out what each double of a state message means."""
        fields = StateMessage._fields
        self._sources: list[int | Callable[[CarState, CarParams], float] | None] = []
        self._positions: dict[str, int] = {"message_id": 0}  # of slots of generation 1 and of rates, in a message
        self._clock = 0  # where a message has the simulator's time; 0: nowhere
        free = []
        for position, signal in enumerate(self._state_signals, 1):
            source = signals.find_state_source(signal.name)
            self._sources.append(fields.index(source) if isinstance(source, str) else source)
            if source is None:
                free.append(position)
            else:
                self._positions[source if isinstance(source, str) else signal.name] = position
            if signal.name in TIMESTAMPS and not self._clock:
                self._clock = position
        self._free_positions = free
        self.state_custom_names = tuple(self._state_signals[position - 1].name for position in free)
        # A message is read with NaN appended, at -1, for what it does not have.
        self._subset_positions = [self._positions.get(name, -1) for name in STATE_SUBSET_FIELDS]
        self._select_subset: Callable[[Doubles], Doubles] = itemgetter(*self._subset_positions)
        self._rates = [
            (self._positions[name], field, sign) for name, (field, sign) in _RATES.items() if name in self._positions
        ]
        self._forward = tuple(self._positions.get(f"vehicleForward{axis}", 0) for axis in "XY")
        has_yaw = "yaw" in self._positions
        self._yaw_by_forward = not has_yaw and 0 not in self._forward
        self._speed_by_velocity = "groundspeed" not in self._positions and {"velX", "velY"} <= set(self._positions)

    def _map_commands(self) -> None:
        """Find out what each double of a command message sets."""
        self._channels: dict[str, dict[str, int]] = {}
        slots: list[_CommandSlot] = []
        names: list[str] = []
        for position, signal in enumerate(self._command_signals, 1):
            target = signals.find_command_target(signal.name)
            free_value, echo = -1, 0
            if target is not None:
                self._channels.setdefault(target, {})[signal.channel] = position
            if (target is None or target.startswith("frictionTorque")) and signal.channel == "value":
                free_value = len(names)
                names.append(signal.name)
                echo = 0 if target is None else self._positions.get(f"wheel{target[-2:]}_frictionTorque", 0)
            slots.append(_CommandSlot(target, signal.channel, free_value, echo))
        self._command_slots, self.command_custom_names = slots, tuple(names)
        self._free_commands = [k for k, slot in enumerate(slots, 1) if slot.target is None and slot.free_value >= 0]

    @property
    def accepts(self) -> frozenset[str]:
        """Names of CONTROL_FIELDS that act on the car through this contract."""
        listed = set(self._channels)
        drive, brake = ({f"{kind}{wheel}" for wheel in WHEELS} for kind in TORQUE_KINDS[:2])
        found = {
            "steer": "steeringWheelPosition" in listed,
            # A torque that is listed replaces the powertrain's or the brake's.
            "throttle": "throttle" in listed and not drive <= listed,
            "brake": bool(listed & ({"brake"} | brake)),
            "clutch": "clutch" in listed,
            "handbrake": "parkingBrake" in listed,
            "wheels.drive_torque": bool(listed & drive),
            "wheels.brake_torque": bool(listed & brake),
            "custom": bool(self.command_custom_names),
        }
        return frozenset(name for name, accepted in found.items() if accepted)

    # ---- Host ----

    def make_latched_command(self) -> LatchedCommand:
        """Return the inputs before the first command: NaN torques, which the contract does not list, are the car's."""
        drive, brake = (tuple(0.0 if f"{kind}{wheel}" in self._channels else NAN for wheel in WHEELS)
                        for kind in TORQUE_KINDS[:2])  # fmt: skip
        listed = any(f"{kind}{wheel}" in self._channels for kind in TORQUE_KINDS[:2] for wheel in WHEELS)
        return LatchedCommand(torque_mode=listed, drive_torques=drive, brake_torques=brake)  # type: ignore[arg-type]

    def encode_plant_part(
        self, state: CarState, car: CarParams, ignition: float = convert.IGNITION_ON
    ) -> tuple[PartialMessage, Doubles]:
        """Return the message of generation 1, and the values of the extra signals in the contract's order."""
        extra = tuple(source(state, car) for source in self._sources if callable(source))
        return convert.state_to_wire(state, car, ignition), extra

    def finish_message(
        self, partial: tuple[PartialMessage, Doubles], message_id: int, latched: LatchedCommand, custom: Doubles
    ) -> bytes:
        """Return the state message (id, signals...); `custom` are the signals whose meaning is not known."""
        fixed: Any = decode_state(convert.finish_message(partial[0], message_id, latched))
        extra, free = iter(partial[1]), iter(custom)
        values = [
            fixed[source] if isinstance(source, int) else next(free, 0.0) if source is None else next(extra)
            for source in self._sources
        ]
        return self._state_codec.encode(float(message_id), tuple(0.0 if value != value else value for value in values))

    def hold_slow_banks(self, data: bytes, frame_data: bytes) -> bytes:
        """Return `data` with the signals of driver, electrics and powertrain of `frame_data`."""
        offsets = range(0, self._state_codec.size, DOUBLE)
        return b"".join(
            (frame_data if offset // DOUBLE in self._slow_doubles else data)[offset : offset + DOUBLE]
            for offset in offsets
        )

    def decode_command(self, data: bytes) -> Doubles:
        """Return (id, channels...)."""
        message_id, signals = self._command_codec.decode(data)
        return (message_id, *signals)

    def apply_command(self, command: Doubles, latched: LatchedCommand) -> None:
        """Update `latched` with the outputs of the command's signals.

        A friction torque adds to the commanded brake torque of its wheel; without one it does not act here.
        """
        values = {name: self._compute_output(name, channels, command) for name, channels in self._channels.items()}
        torques: dict[str, Any] = {
            f"wheel{wheel}_{kind}": values.get(f"{kind}{wheel}", NAN) for kind in TORQUE_KINDS[:2] for wheel in WHEELS
        }
        for wheel in WHEELS:
            torques[f"wheel{wheel}_brakingTorque"] -= abs(values.get(f"frictionTorque{wheel}", 0.0))
        fixed = CommandMessage(
            throttle=values.get("throttle", NAN),
            brake=values.get("brake", NAN),
            steering=values.get("steeringWheelPosition", NAN),
            drive_mode=NAN,
            **torques,
        )
        convert.apply_command(fixed, latched)
        latched.clutch = convert.limit_share(values.get("clutch", 0.0))
        latched.handbrake = convert.limit_share(values.get("parkingBrake", 0.0))

    def _compute_output(self, name: str, channels: dict[str, int], command: Doubles) -> float:
        """Return value * multiply + add of a signal, or its last output while `freeze` is not 0."""
        if "freeze" in channels and command[channels["freeze"]] != 0.0:
            return self._outputs.get(name, 0.0)
        value = command[channels["value"]] if "value" in channels else 0.0
        if "multiply" in channels:
            value *= command[channels["multiply"]]
        if "add" in channels:
            value += command[channels["add"]]
        self._outputs[name] = value
        return value

    def extract_command_custom(self, command: Doubles) -> Doubles:
        """Return the values of the signals without a control, in the contract's order."""
        return tuple(command[position] for position in self._free_commands)

    # ---- Link ----

    def encode_controls(self, controls: Controls, reply_id: float, custom: Doubles) -> bytes:
        """Return the command message for `controls`.

        A pedal that is NaN keeps its value. A listed drive torque that the controls do not set is 0; a listed brake
        torque then follows the brake pedal, because the pedal itself does not act. `custom` are the free values, in
        the order of `command_custom_names`; without one a friction torque stays as the telemetry has it.
        """
        pedals, c = self._pedals, controls
        pedals.update(
            {name: value for name, value in (
                ("throttle", c.throttle), ("brake", c.brake), ("clutch", c.clutch), ("parkingBrake", c.handbrake),
                ("steeringWheelPosition", -c.steer),
            ) if value == value}
        )  # fmt: skip
        if "brake" not in self._channels and c.brake > 0.0 and not self._has_brake_torques:
            pedals["parkingBrake"] = max(pedals["parkingBrake"], c.brake)  # the only brake that this contract has
        values = [self._encode_slot(slot, controls, custom) for slot in self._command_slots]
        pedals["parkingBrake"] = c.handbrake if c.handbrake == c.handbrake else pedals["parkingBrake"]
        return self._command_codec.encode(reply_id, tuple(values))

    @property
    def _has_brake_torques(self) -> bool:
        return any(f"brakingTorque{wheel}" in self._channels for wheel in WHEELS)

    def _encode_slot(self, slot: _CommandSlot, controls: Controls, custom: Doubles) -> float:
        """Return a double of the command; channels other than `value` leave the value as it is."""
        if slot.channel != "value":
            return 1.0 if slot.channel == "multiply" else 0.0
        if 0 <= slot.free_value < len(custom) and custom[slot.free_value] == custom[slot.free_value]:
            return custom[slot.free_value]
        if slot.target is None or slot.free_value >= 0:
            return self._last_message[slot.echo] if slot.echo else 0.0
        if slot.target in self._pedals:
            return self._pedals[slot.target]
        kind, wheel = slot.target[:-2], slot.target[-2:]
        torque = None if controls.wheels is None else controls.wheels[WHEELS.index(wheel)]
        if kind == "propulsionTorque":
            return 0.0 if torque is None or not math.isfinite(torque.drive_torque) else torque.drive_torque
        if torque is not None and math.isfinite(torque.brake_torque):
            return -torque.brake_torque
        return -_AXLE_SHARE[wheel] * self._brake_torque * self._pedals["brake"]

    def decode_state(self, data: bytes) -> Doubles:
        """Return (id, signals...)."""
        message_id, signals = self._state_codec.decode(data)
        return (message_id, *signals)

    def state_from_message(self, message: Doubles, step: float, previous: CarState | None) -> CarState:
        """Return the CarState of the listed signals; fields without a signal are NaN."""
        self._last_message = message
        state = convert.state_from_wire(self.select_subset(message), step, previous)
        for position, field, sign in self._rates:
            setattr(state, field, sign * message[position])
        return state

    def select_subset(self, message: Doubles) -> StateSubset:
        """Return the fields of generation 1 that CarState needs, NaN for those that are not listed."""
        subset = list(self._select_subset((*message, NAN)))
        if self._yaw_by_forward:
            x, y = self._forward
            subset[_YAW] = math.atan2(message[x], -message[y])  # the wire's yaw is 0 along world -Y
        if self._speed_by_velocity:
            subset[_SPEED] = math.hypot(message[self._positions["velX"]], message[self._positions["velY"]])
        return (*subset, NO_CUSTOM)

    def extract_state_custom(self, message: Doubles) -> Doubles:
        """Return the values of the signals whose meaning is not known, in the contract's order."""
        return tuple(message[position] for position in self._free_positions)

    def select_signals(self, names: Sequence[str]) -> "SignalListFormat":
        """Return this format with `read_signals` for these signals."""
        self._reader = CouplingSignals(names, self._state_signals)
        return self

    def read_signals(self, message: Doubles) -> Doubles:
        """Return the values of the selected signals."""
        return self._reader.read_values(message)

    def read_clock(self, message: Doubles) -> float:
        """Return the simulator's time in a message, s; NaN where the contract lists no timestamp."""
        return message[self._clock] if self._clock else NAN


_YAW, _SPEED = STATE_SUBSET_FIELDS.index("yaw"), STATE_SUBSET_FIELDS.index("groundspeed")


def find_supplied_fields(layout: SignalListFormat, names: Sequence[str]) -> frozenset[str]:
    """Return which of `names`, fields of CarState, the messages of a contract supply."""
    messages = [tuple(float(k + j) for j in range(layout.state_doubles)) for k in (1, 2)]
    first = layout.state_from_message(messages[0], 1.0, None)
    state = layout.state_from_message(messages[1], 1.0, first)
    return frozenset(name for name in names if all(value == value for value in _field_values(state, name)))


def _field_values(state: CarState, name: str) -> list[float]:
    """Return the values of a field, one per wheel for a field of the wheels; NaN for None."""
    path = name.split(".")
    owners: Sequence[Any] = state.wheels if path[0] == "wheels" else [state]
    values = [getattr(owner, path[-1]) for owner in owners]
    return [NAN if value is None else value for value in values]


def encode_idle_answer(reply_id: float, layout: SignalListFormat | None) -> bytes:
    """Return an answer of generation 1 that changes no control; for the `layout` of a contract it holds the brake."""
    if layout is None:
        return encode_command(NO_CHANGE_COMMAND._replace(message_id=reply_id))
    return layout.encode_controls(Controls(brake=1.0), reply_id, ())
