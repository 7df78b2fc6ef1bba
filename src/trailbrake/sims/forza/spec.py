"""Forza Motorsport and Forza Horizon, "Data Out" by UDP and a virtual Xbox pad: names, and what the wire carries.

Source: protocol page forza-data-out. Constants and options only; cheap to import.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from trailbrake.errors import UsageError

NAME = "forza"
TITLE = "Forza Motorsport / Horizon (Data Out and a virtual pad)"

PORT = 2560  # where telemetry goes; outside 5200-5300, in which FH6 binds a socket of its own
PAD_PORT = 2561  # where our host takes pad reports
TELEMETRY_DOOR, PAD_DOOR = "forza-telemetry", "forza-pad"  # names of the private doors
LEAST_RATE, MOST_RATE = 20.0, 240.0  # 1/s, rates seen in the games
LOST_S = 0.5  # s without a datagram after which the receiver calls the game lost (section 3.2)
AUTO = "auto"  # whatever format comes
SHIFTING = 11  # gear that FH6 tells while no gear is engaged

# `steer` is the stick as the game took it, not the road wheels (section 3.3). Slips are normalised by a tyre that the
# wire does not tell: only the combined one means the same on both sides.
SUPPLIES: frozenset[str] = frozenset(
    {
        "time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
        "velocity_z", "acceleration_x", "acceleration_y", "acceleration_z", "roll_rate", "pitch_rate", "yaw_rate",
        "steer", "throttle", "brake", "clutch", "handbrake", "gear", "engine_speed", "lap", "lap_time",
        "best_lap_time", "driving_line", "wheels.angular_velocity", "wheels.combined_slip", "wheels.core_temperature",
    }
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "handbrake"})


Format = Literal["sled", "dash", "fh", "fh4", "fm2023"]


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve forza`.

    Attributes:
        send: where telemetry goes, HOST:PORT; more than one with commas between.
        format: what is sent; fh4 is another word for fh.
        rate: datagrams per second of simulator time, 20 to 240.
        pad_port: UDP port for the pad's reports of 12 bytes, from this machine.
        ndl: what NormalizedDrivingLine is measured from: the centre of the road, the racing line, or nothing (0).
        ndl_wrap: let it run over beyond the edge as some builds do (127 then -128) instead of stopping there.
        preset: how a title behaves. fm7: zero packets in a pause. fh5: the same, and a clock in steps of 15.6 ms. fh6:
            silence in a pause, gear 11 while shifting.
        steering: how the stick turns the wheels. pad: less at speed and not at once, as the games do it; linear:
            straight to the lock.
        dead_zone: share of the stick's way that counts as its middle; 0.24 is usual for this pad.
        clock: ms, what the session's clock (TimestampMS) starts at; it wraps at 4294967296.
        loss: share of the datagrams that never arrive, 0 to 1.
        duplicate: share that arrives twice, 0 to 1.
        reorder: share that is held back so that later ones overtake it, 0 to 1.
        delay: seconds that each one takes.
        jitter: seconds, standard deviation of the delay.
    """

    send: str = f"127.0.0.1:{PORT}"
    format: Format = "fh"
    rate: float = 60.0
    pad_port: int = PAD_PORT
    ndl: Literal["centre", "racing", "off"] = "centre"
    ndl_wrap: bool = False
    preset: Literal["fm7", "fh5", "fh6"] = "fm7"
    steering: Literal["pad", "linear"] = "pad"
    dead_zone: float = 0.0
    clock: int = 0
    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0
    jitter: float = 0.0


@dataclass(slots=True)
class LiveOptions:
    """Options of `--sim forza --live`.

    Attributes:
        listen: where telemetry comes in, HOST:PORT. 0.0.0.0, since games send from the address of the network card.
        pad: how the controls go out: auto, udp:HOST:PORT (our host), uinput (Linux), vgamepad (Windows), none.
        forward: HOST:PORT that gets every datagram too; more than one with commas between.
        wait: seconds to wait for the first datagram.
    """

    listen: str = f"0.0.0.0:{PORT}"
    pad: str = "auto"
    forward: str = ""
    wait: float = 60.0


@dataclass(slots=True)
class RecordOptions:
    """Options of `record --sim forza`.

    Attributes:
        config: YAML file with port, output_filename, format, append, packet_format, parameter_list. What it says goes
            before the flags.
        format: of the table: tsv or csv.
        packet_format: what is expected: sled, dash, fh4 (or fh), fm2023, or auto for whatever comes.
        append: go on in the table's file, without a header.
        listen: where telemetry comes in, HOST:PORT; PORT, on the line or in the YAML file, goes before its port.
        forward: HOST:PORT that gets every datagram too; more than one with commas between.
        raw: file for every datagram as it came.
        verbose: say how many packets there were, now and then.
    """

    config: Annotated[Path | None, Parameter(alias="-c")] = None
    format: Annotated[str, Parameter(alias="-f")] = "tsv"
    packet_format: Annotated[str, Parameter(alias="-p")] = AUTO
    append: Annotated[bool, Parameter(alias="-a")] = False
    listen: str = f"0.0.0.0:{PORT}"
    forward: str = ""
    raw: Path | None = None
    verbose: Annotated[bool, Parameter(alias="-v")] = False


def period(options: ServeOptions) -> float:
    """Return how far one tick of the host goes, in s of simulator time."""
    if not LEAST_RATE <= options.rate <= MOST_RATE:
        raise UsageError(
            "no rate of a Forza title", where="--rate", expected=f"{LEAST_RATE:g} to {MOST_RATE:g}",
            got=f"{options.rate:g}",
        )  # fmt: skip
    return 1.0 / options.rate


def cars(options: ServeOptions) -> int:
    """Return how many cars the host wants on the track: the wire shows one."""
    return 1


def embedded(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world that is there for a drive of `cars` cars: its drivers' steer is a share of lock."""
    if cars != 1:
        raise UsageError("this wire shows one car", where="--cars", expected="1", got=str(cars))
    return ServeOptions(steering="linear")
