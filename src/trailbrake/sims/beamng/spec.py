"""BeamNG's tight coupling: names, ports, periods, and what the wire carries.

Source: protocol page beamng-coupling. Constants and options only; cheap to import.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trailbrake.errors import UsageError
from trailbrake.sims.beamng.timing import PHYSICS_STEP, Timing, as_meant, as_the_game
from trailbrake.transport.faults import FaultOptions

NAME = "beamng"
TITLE = "BeamNG (tight coupling over UDP)"

SEND_PORT = 64890  # the controller's: states go there
RECEIVE_PORT = 64891  # the simulator's: commands go there
SIMULINK_TIME = 0.005  # s, the game's default
PING_TIME = 0.00001  # s, the game's default
BLOCK_TIMEOUT = 2.0  # s, the game's
LONGEST_PERIOD = 0.2  # s between two messages
STALE_S = 0.25  # s of wall time without a message after which the simulator counts as lost


def controller_door(vehicle: int) -> str:
    """Return the name under which the controller of `vehicle` is found behind private doors."""
    return f"beamng-controller{vehicle}"


def simulator_door(vehicle: int) -> str:
    """Return the name under which the simulator's end of `vehicle` is found behind private doors."""
    return f"beamng-simulator{vehicle}"


# `steer` is missing: the wire tells the angle of the steering wheel, and not how far it can turn. `yaw_rate` is not on
# the wire of generation 1 either, but follows exactly from yaw and the step between two messages.
SUPPLIES: frozenset[str] = frozenset(
    {
        "time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
        "velocity_z", "acceleration_x", "acceleration_y", "acceleration_z", "yaw_rate", "steering_wheel_angle",
        "throttle", "brake", "clutch", "handbrake", "gear", "engine_speed", "wheels.angular_velocity", "wheels.load",
    }
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "wheels.drive_torque", "wheels.brake_torque"})

ReplyId = Literal["counter", "echo", "echo_delayed"]


def _check(options: "ServeOptions | LiveOptions") -> None:
    for flag, value, least, most in (
        ("--simulink-time", options.simulink_time, PHYSICS_STEP, LONGEST_PERIOD),
        ("--ping-time", options.ping_time, 0.0, 1.0),
    ):
        if not least * (1.0 - 1e-9) <= value <= most:
            raise UsageError("out of range", where=flag, expected=f"{least:g} to {most:g} s", got=f"{value:g}")
    if options.generation == 2 and options.contract is None:
        raise UsageError("generation 2 needs its list of signals", where="--contract", expected="FILE.csv",
                         got="nothing")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ServeOptions(FaultOptions):
    """Options of `serve beamng`.

    Attributes:
        send: the controller's HOST:PORT. With several vehicles, vehicle k's port is 2k higher.
        receive_host: address of this machine on which commands are taken.
        receive_port: the simulator's port, where commands are taken; 2k higher for vehicle k.
        simulink_time: s that the controller computes, the game's `simulinkTime`: the time between messages, rounded up
            to physics steps of 0.5 ms.
        ping_time: s that a message and its answer take on the network, the game's `pingTime`: how many messages may be
            unanswered.
        window: strict: never further ahead of the controller than that. beamng: the game's own way, quirks included.
        block_timeout: s after which an answer counts as lost; 0 = wait for ever.
        generation: 1: the fixed message of 111 numbers. 2: the signals of a contract.
        contract: the CSV file that lists the signals of generation 2.
        vehicles: how many cars are coupled, each with a controller and a pair of ports of its own; all wait for all.
        burst: physics steps done back to back, with pauses between the bursts, as the game does once per frame.
        frame_rate: graphics frames per second of simulator time.
        gfx_banks: slow: throttle to steering and the engine's values (banks A and C) change once per graphics frame,
            as in the game. fast: with every message.
        input_latch: when pedals and steering take effect: with the next physics step, or with the next graphics frame,
            as in the game. Wheel torques always act from the next step on.
        custom: FILE.py with a function `custom(state, received)` that fills the 50 free values of each message.
        debug_file: path and beginning of the names of three CSV logs: what was sent, what was received, the steps.
        loss: share of the datagrams, either way, that never arrive, 0 to 1.
        duplicate: share that arrives twice, 0 to 1.
        reorder: share that is held back so that later ones overtake it, 0 to 1.
        delay: seconds that each one takes.
        jitter: seconds, standard deviation of the delay.
    """

    send: str = f"127.0.0.1:{SEND_PORT}"
    receive_host: str = "127.0.0.1"
    receive_port: int = RECEIVE_PORT
    simulink_time: float = SIMULINK_TIME
    ping_time: float = PING_TIME
    window: Literal["strict", "beamng"] = "strict"
    block_timeout: float = BLOCK_TIMEOUT
    generation: Literal[1, 2] = 1
    contract: Path | None = None
    vehicles: int = 1
    burst: int = 1
    frame_rate: float = 60.0
    gfx_banks: Literal["fast", "slow"] = "fast"
    input_latch: Literal["step", "frame"] = "step"
    custom: Path | None = None
    debug_file: Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check(self)
        for flag, value, least, most in (
            ("--vehicles", self.vehicles, 1, 32),
            ("--burst", self.burst, 1, 400),
            ("--frame-rate", self.frame_rate, 1.0, 1.0 / PHYSICS_STEP),
            ("--block-timeout", self.block_timeout, 0.0, 3600.0),
        ):
            if not least <= value <= most:
                raise UsageError("out of range", where=flag, expected=f"{least:g} to {most:g}", got=f"{value:g}")

    @property
    def timing(self) -> Timing:
        """What the two times come to, by the arithmetic of the chosen window."""
        return (as_the_game if self.window == "beamng" else as_meant)(self.simulink_time, self.ping_time)

    @property
    def faulty(self) -> bool:
        """Whether anything at all goes wrong on the way."""
        return max(self.loss, self.duplicate, self.reorder, self.delay, self.jitter) > 0.0


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """Options of `--sim beamng --live`.

    Attributes:
        listen: our HOST:PORT, where states come in.
        peer: the simulator's HOST:PORT, where commands go.
        reply_id: what an answer's id is. counter: 1, 2, ...; echo: that of the message; echo_delayed: that of the
            message before it.
        simulink_time: s, as set in the simulator: tells the time between two messages.
        ping_time: s, as set in the simulator: tells how many messages may wait for an answer.
        generation: 1 or 2, as the simulator's.
        contract: the CSV file that lists the signals of generation 2.
        vehicle: which of several vehicles to drive; vehicle k's ports are 2k higher than those named.
        wait: seconds to wait for the first message.
    """

    listen: str = f"127.0.0.1:{SEND_PORT}"
    peer: str = f"127.0.0.1:{RECEIVE_PORT}"
    reply_id: ReplyId = "counter"
    simulink_time: float = SIMULINK_TIME
    ping_time: float = PING_TIME
    generation: Literal[1, 2] = 1
    contract: Path | None = None
    vehicle: int = 0
    wait: float = 60.0

    def __post_init__(self) -> None:
        _check(self)
        if not 0.0 <= self.wait < math.inf:
            raise UsageError("no time to wait", where="--wait", expected="0 s or more", got=f"{self.wait:g}")

    @property
    def timing(self) -> Timing:
        """What the two times come to."""
        return as_meant(self.simulink_time, self.ping_time)


def period(options: ServeOptions) -> float:
    """Return how far one tick of the host goes, in s of simulator time: a physics step."""
    return PHYSICS_STEP


def cars(options: ServeOptions) -> int:
    """Return how many cars the host wants on the track."""
    return options.vehicles


def about(options: ServeOptions | LiveOptions) -> str:
    """Return for people what comes of the two times; a period that was rounded up is never silent."""
    return options.timing.sentence()


def speed(options: ServeOptions) -> str:
    """Return the pace of `serve` unless asked otherwise: as fast as the controller answers."""
    return "max"


def seat(options: LiveOptions, car: int) -> LiveOptions:
    """Return the options for another of the cars."""
    return replace(options, vehicle=car)


def embedded(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world that is there for a drive of `cars` cars: its times and signals are the links'."""
    return ServeOptions(
        simulink_time=live.simulink_time, ping_time=live.ping_time, generation=live.generation,
        contract=live.contract, vehicles=cars,
    )  # fmt: skip
