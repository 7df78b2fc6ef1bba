"""Forza's "Data Out" by UDP and a virtual Xbox pad: constants, supplied and accepted fields, options. Cheap to import.

Source: protocol page forza-data-out.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from trailbrake.errors import UsageError

NAME = "forza"
TITLE = "Forza Motorsport / Horizon (Data Out and a virtual pad)"

PORT = 2560  # for telemetry; outside 5200 to 5300, where FH6 binds its own socket
PAD_PORT = 2561  # on which our host receives pad reports
TELEMETRY_RENDEZVOUS, PAD_RENDEZVOUS = "forza-telemetry", "forza-pad"  # names in the rendezvous folder
MIN_RATE, MAX_RATE = 20.0, 240.0  # 1/s, rates seen in the games
LOST_S = 0.5  # s without a datagram after which the phase is LOST (section 3.2)
AUTO = "auto"  # any format
SHIFTING = 11  # gear that FH6 sends while no gear is engaged

# `steer` is the player's stick, not the angle of the road wheels (section 3.3). The wire normalises slips by unknown
# properties of the tyre: only the combined slip has the same meaning in CarState.
SUPPLIES: frozenset[str] = frozenset(
    {
        "time", "sequence", "age", "phase", "x", "y", "z", "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y",
        "velocity_z", "acceleration_x", "acceleration_y", "acceleration_z", "roll_rate", "pitch_rate", "yaw_rate",
        "steer", "throttle", "brake", "clutch", "handbrake", "gear", "engine_speed", "max_engine_speed", "fuel",
        "lap", "lap_time", "best_lap_time", "driving_line", "wheels.angular_velocity", "wheels.combined_slip",
        "wheels.core_temperature",
    }
)  # fmt: skip
ACCEPTS: frozenset[str] = frozenset({"steer", "throttle", "brake", "handbrake"})


PacketFormat = Literal["sled", "dash", "fh", "fh4", "fm2023"]


@dataclass(slots=True)
class ServeOptions:
    """Options of `serve forza`.

    Attributes:
        send: HOST:PORT that receives telemetry; several with commas.
        format: of the packets; fh4 is fh.
        rate: datagrams per second of simulator time, 20 to 240.
        pad_port: UDP port for the pad's reports of 12 bytes, from this machine.
        ndl: what NormalizedDrivingLine is measured from: the road's centre, the racing line, or nothing (0).
        ndl_wrap: let it overflow beyond the edge as some builds do.
        preset: a title's behaviour: zero packets in a pause (fm7), also a clock in steps of 15.6 ms (fh5), or silence
            in a pause (fh6).
        steering: how the stick steers: less at speed, as in the games (pad), or in proportion to the lock (linear).
        dead_zone: share of the stick's range that counts as centre.
        clock: ms at which the clock (TimestampMS) starts.
        loss: share of datagrams that are lost, 0 to 1.
        duplicate: share that arrives twice, 0 to 1.
        reorder: share that later ones overtake, 0 to 1.
        delay: seconds that each one takes.
        jitter: seconds, standard deviation of the delay.
    """

    send: str = f"127.0.0.1:{PORT}"
    format: PacketFormat = "fh"
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
        listen: HOST:PORT that receives telemetry.
        pad: auto, udp:HOST:PORT (our host), uinput (Linux), vgamepad (Windows) or none.
        forward: HOST:PORT that receives a copy of every datagram; several with commas.
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
        config: YAML file with port, output_filename, format, append, packet_format, parameter_list.
        format: of the table: tsv or csv.
        packet_format: expected: sled, dash, fh4 (or fh), fm2023, or auto for any.
        append: append to the table's file, without a header.
        listen: HOST:PORT that receives telemetry; PORT, or port of the YAML file, replaces its port.
        forward: HOST:PORT that receives a copy of every datagram; several with commas.
        raw: file for every datagram as received.
        signals: names of docs/signals.md to record too, patterns as `forza.wheel_*`, or `all`.
        rate: rows a second of a table without a column of time; 0 = 60.
        verbose: print changes of phase and jumps of the clock.
    """

    config: Annotated[Path | None, Parameter(alias="-c")] = None
    format: Annotated[str, Parameter(alias="-f")] = "tsv"
    packet_format: Annotated[str, Parameter(alias="-p")] = AUTO
    append: Annotated[bool, Parameter(alias="-a")] = False
    listen: str = f"0.0.0.0:{PORT}"
    forward: str = ""
    raw: Path | None = None
    signals: tuple[str, ...] = ()
    rate: float = 0.0
    verbose: Annotated[bool, Parameter(alias="-v")] = False


def host_period(options: ServeOptions) -> float:
    """Return the simulator time of one tick of the host, s; UsageError for a rate that no title has."""
    if not MIN_RATE <= options.rate <= MAX_RATE:
        raise UsageError(
            "no rate of a Forza title", where="--rate", expected=f"{MIN_RATE:g} to {MAX_RATE:g}",
            got=f"{options.rate:g}",
        )  # fmt: skip
    return 1.0 / options.rate


def embedded_options(live: LiveOptions, cars: int) -> ServeOptions:
    """Return the options of a world for one drive: the steer of its drivers is a share of full lock."""
    if cars != 1:
        raise UsageError("this wire shows one car", where="--cars", expected="1", got=str(cars))
    return ServeOptions(steering="linear")
