"""BeamNG's tight coupling: constants, supplied and accepted fields, and options. Cheap to import.

Source: protocol page beamng-coupling.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from trailbrake.errors import UsageError
from trailbrake.sims.beamng.timing import PHYSICS_STEP, CouplingTiming, compute_timing
from trailbrake.transport.network_faults import FaultOptions

NAME = "beamng"
TITLE = "BeamNG (tight coupling over UDP)"

SEND_PORT = 64890  # the controller's: states go there
RECEIVE_PORT = 64891  # the simulator's: commands go there
SIMULINK_TIME = 0.005  # s, the game's default for generation 1
CONTRACT_SIMULINK_TIME = 0.0005  # s, the game's default for generation 2
PING_TIME = 0.00001  # s, the game's default
BLOCK_TIMEOUT = 2.0  # s, the game's
LONGEST_PERIOD = 2.0  # s between two messages; the game has no limit
LONGEST_LINK_PERIOD = 0.2  # s, of our own link: a drive brakes the car by itself when its state is older than 0.25 s
SHORTEST_PING = 1e-9  # s; at 0 the game lets no message go unanswered, and never sends one
FULL_BRAKE_TORQUE = 1500.0  # N m per wheel: about what locks the wheels of a road car
STALE_S = 0.25  # s of wall time without a message after which the phase is LOST


def controller_rendezvous_name(vehicle: int) -> str:
    """Return the name under which the controller of `vehicle` publishes its port in the rendezvous folder."""
    return f"beamng-controller{vehicle}"


def simulator_rendezvous_name(vehicle: int) -> str:
    """Return the name under which the simulator publishes the port of `vehicle` in the rendezvous folder."""
    return f"beamng-simulator{vehicle}"


# Without `steer`: the wire carries the angle of the steering wheel, but not its largest angle. The wire of generation 1
# does not carry `yaw_rate` either, but it follows from yaw and the time between two messages.
SUPPLIES: frozenset[str] = frozenset(
    {
        "time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
        "velocity_z", "acceleration_x", "acceleration_y", "acceleration_z", "yaw_rate", "steering_wheel_angle",
        "throttle", "brake", "clutch", "handbrake", "gear", "engine_speed", "max_engine_speed", "engine_load", "fuel",
        "low_beam", "high_beam", "left_signal", "right_signal", "wheels.angular_velocity", "wheels.load",
        "wheels.drive_torque", "wheels.brake_torque",
    }
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset(
    {"steer", "throttle", "brake", "wheels.drive_torque", "wheels.brake_torque", "custom"}
)

LEAVES: frozenset[str] = frozenset({"steer", "throttle", "brake", "custom"})  # NaN leaves them as they are

ReplyId = Literal["counter", "echo", "echo_delayed"]


def check_times(simulink_time: float, ping_time: float, longest: float = LONGEST_PERIOD) -> CouplingTiming:
    """Return the timing that follows from the two times; UsageError where they are out of range."""
    for flag, value, least, most in (
        ("--simulink-time", simulink_time, PHYSICS_STEP, longest),
        ("--ping-time", ping_time, SHORTEST_PING, 1.0),
    ):
        if not least * (1.0 - 1e-9) <= value <= most * (1.0 + 1e-9):
            why = (
                "a drive stops the car when its state is older than 0.25 s" if value > longest < LONGEST_PERIOD else ""
            )
            raise UsageError("out of range", where=flag, expected=f"{least:g} to {most:g} s", got=f"{value:g}",
                             hint=why)  # fmt: skip
    return compute_timing(simulink_time, ping_time)


def _complete_options(options: "ServeOptions | LiveOptions", longest: float) -> None:
    """Fill in what the user did not give, by the contract and else by the game's defaults, and check the times.

    The game takes the times of generation 2 from the contract; an end that uses others counts time wrongly.
    """
    simulink_time, ping_time = SIMULINK_TIME, PING_TIME
    if options.contract is not None:
        from trailbrake.sims.beamng.signal_contract import load_contract  # help imports this module

        path = Path(options.contract)
        contract = load_contract(path)
        object.__setattr__(options, "contract", path)
        object.__setattr__(options, "generation", 2)
        simulink_time = CONTRACT_SIMULINK_TIME if math.isnan(contract.simulink_time) else contract.simulink_time
        ping_time = PING_TIME if math.isnan(contract.ping_time) else contract.ping_time
    elif options.generation == 2:
        raise UsageError("generation 2 needs its list of signals", where="--contract", expected="FILE.csv",
                         got="nothing")  # fmt: skip
    simulink_time = simulink_time if options.simulink_time is None else options.simulink_time
    ping_time = ping_time if options.ping_time is None else options.ping_time
    object.__setattr__(options, "simulink_time", simulink_time)
    object.__setattr__(options, "ping_time", ping_time)
    check_times(simulink_time, ping_time, longest)


def _timing_of(simulink_time: float | None, ping_time: float | None) -> CouplingTiming:
    assert simulink_time is not None
    assert ping_time is not None
    return compute_timing(simulink_time, ping_time)


@dataclass(frozen=True, kw_only=True)
class ServeOptions(FaultOptions):
    """Options of `serve beamng`.

    Attributes:
        send: the controller's HOST:PORT; vehicle k's port is 2k higher.
        receive_host: address here that receives commands.
        receive_port: port that receives commands; 2k higher for vehicle k.
        simulink_time: s that the controller computes, the game's `simulinkTime`: the time between messages, in steps of
            0.5 ms. Default: the contract's, or 0.005.
        ping_time: s that a message and its answer travel, the game's `pingTime`. Default: the contract's, or 0.00001.
        window: strict: never more unanswered messages than `ping_time` allows; beamng: the game's algorithm, faults
            included.
        block_timeout: s after which an answer counts as lost; 0 = never.
        generation: 1: the fixed message of 111 numbers. 2: a contract's signals.
        contract: the CSV file with the signals of generation 2, which it implies.
        vehicles: coupled cars, each with its own controller and ports.
        burst: physics steps in a row between pauses, as the game does per frame.
        frame_rate: graphics frames per second of simulator time.
        gfx_banks: banks A and C (throttle to steering, engine) change with every message (fast), or once per graphics
            frame, as in the game (slow).
        input_latch: when pedals and steering act: from the next physics step, or the next graphics frame, as in the
            game.
        ignition: 0 off, 1 accessory, 2 on, 3 starting. Below 2 the engine gives no torque.
        lights: headlights in the messages.
        turn_signal: turn signal in the messages.
        custom: FILE.py with `custom(state, received)`, which returns the 50 custom values.
        debug_file: start of the paths of three CSV logs: messages sent, received, physics steps.
        loss: share of datagrams that are lost, 0 to 1.
        duplicate: share that arrives twice, 0 to 1.
        reorder: share that later ones overtake, 0 to 1.
        delay: seconds that each one takes.
        jitter: seconds, standard deviation of the delay.
    """

    send: str = f"127.0.0.1:{SEND_PORT}"
    receive_host: str = "127.0.0.1"
    receive_port: int = RECEIVE_PORT
    simulink_time: float | None = None
    ping_time: float | None = None
    window: Literal["strict", "beamng"] = "strict"
    block_timeout: float = BLOCK_TIMEOUT
    generation: Literal[1, 2] = 1
    contract: Path | None = None
    vehicles: int = 1
    burst: int = 1
    frame_rate: float = 60.0
    gfx_banks: Literal["fast", "slow"] = "fast"
    input_latch: Literal["step", "frame"] = "step"
    ignition: Literal[0, 1, 2, 3] = 2
    lights: Literal["off", "low", "high"] = "off"
    turn_signal: Literal["off", "left", "right", "hazard"] = "off"
    custom: Path | None = None
    debug_file: Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _complete_options(self, LONGEST_PERIOD)
        for flag, value, least, most in (
            ("--vehicles", self.vehicles, 1, 32),
            ("--burst", self.burst, 1, 400),
            ("--frame-rate", self.frame_rate, 1.0, 1.0 / PHYSICS_STEP),
            ("--block-timeout", self.block_timeout, 0.0, 3600.0),
        ):
            if not least <= value <= most:
                raise UsageError("out of range", where=flag, expected=f"{least:g} to {most:g}", got=f"{value:g}")

    @property
    def timing(self) -> CouplingTiming:
        """The timing that follows from the two times."""
        return _timing_of(self.simulink_time, self.ping_time)

    @property
    def faulty(self) -> bool:
        """Whether any network fault is switched on."""
        return max(self.loss, self.duplicate, self.reorder, self.delay, self.jitter) > 0.0


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """Options of `--sim beamng --live`.

    Attributes:
        listen: our HOST:PORT, for states.
        peer: the simulator's HOST:PORT, for commands.
        reply_id: id of an answer: counted from 1 (counter), that of the message (echo) or of the one before
            (echo_delayed).
        simulink_time: s, as set in the simulator. Default: the contract's, or 0.005.
        ping_time: s, as set in the simulator. Default: the contract's, or 0.00001.
        generation: the simulator's.
        contract: the CSV file with the signals of generation 2, which it implies.
        brake_torque: N m, mean of the wheels at full brake pedal, where a contract lists brake torques in place of the
            pedal.
        vehicle: the vehicle, from 0; vehicle k's ports are 2k higher than the options say.
        wait: seconds to wait for the first message.
        take: take the car. Off, in generation 1 alone: the player or the game's AI drives on.
    """

    listen: str = f"127.0.0.1:{SEND_PORT}"
    peer: str = f"127.0.0.1:{RECEIVE_PORT}"
    reply_id: ReplyId = "counter"
    simulink_time: float | None = None
    ping_time: float | None = None
    generation: Literal[1, 2] = 1
    contract: Path | None = None
    brake_torque: float = FULL_BRAKE_TORQUE
    vehicle: int = 0
    wait: float = 60.0
    take: bool = True

    def __post_init__(self) -> None:
        _complete_options(self, LONGEST_LINK_PERIOD)
        if not 0.0 <= self.brake_torque <= 20_000.0:
            raise UsageError("out of range", where="--brake-torque", expected="0 to 20000 N m",
                             got=f"{self.brake_torque:g}")  # fmt: skip
        if not 0.0 <= self.wait < math.inf:
            raise UsageError("no time to wait", where="--wait", expected="0 s or more", got=f"{self.wait:g}")

    @property
    def timing(self) -> CouplingTiming:
        """The timing that follows from the two times."""
        return _timing_of(self.simulink_time, self.ping_time)


@dataclass(kw_only=True)
class RecordOptions:
    """Options of `record --sim beamng`. The answers change no control: the player or the game's AI drives.

    Attributes:
        listen: our HOST:PORT, for states; PORT replaces its port.
        peer: the simulator's HOST:PORT, for the answers.
        simulink_time: s, as set in the simulator. Default 0.005.
        ping_time: s, as set in the simulator. Default 0.00001.
        vehicle: the vehicle, from 0; vehicle k's ports are 2k higher than the options say.
        signals: names of docs/signals.md to record too, patterns as `forza.wheel_*`, or `all`.
        verbose: print what happens on the wire.
    """

    listen: str = f"127.0.0.1:{SEND_PORT}"
    peer: str = f"127.0.0.1:{RECEIVE_PORT}"
    simulink_time: float | None = None
    ping_time: float | None = None
    vehicle: int = 0
    signals: tuple[str, ...] = ()
    verbose: Annotated[bool, Parameter(alias="-v")] = False


def embedded_options(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world for one drive of `cars` cars, with the links' times and signals."""
    return ServeOptions(
        simulink_time=live.simulink_time, ping_time=live.ping_time, generation=live.generation,
        contract=live.contract, vehicles=cars,
    )  # fmt: skip
