"""What a cell of the matrix declares, and the names of wires, ends and faults."""

from dataclasses import dataclass, replace

ENDS = ("client", "host")
WIRE_NAMES = ("assetto", "forza", "beamng", "trend", "udacity", "udacity_pid", "udacity_mpc", "donkeycar")
EVENT_WIRES = ("trend", "udacity", "udacity_pid", "udacity_mpc")
STREAM_WIRES = (*EVENT_WIRES, "donkeycar")

STREAM_FAULTS = (
    "telemetry frozen 0.2 s", "telemetry frozen 5 s", "20 % loss", "duplicates", "reordering", "truncated", "garbage",
    "NaN", "infinity", "clock jumps forward", "clock jumps back", "clock wraps",
)  # fmt: skip
CAMERA_FAULTS = ("camera cannot be decoded", "camera frozen", "camera gone")
RAISING_FAULTS = (
    "driver raises", "driver raises KeyboardInterrupt", "driver raises CancelledError", "driver raises GeneratorExit",
    "driver raises an exception without a text", "driver raises a base exception of its own",
)  # fmt: skip
DRIVER_FAULTS = (
    *RAISING_FAULTS, "driver hangs in sleep", "driver hangs in a loop", "driver hangs in a C call",
    "driver answers NaN", "driver answers a wrong type", "driver answers None",
)  # fmt: skip
SHIM_FAULTS = ("slow disk", "clock of the system set back")
SIGNALS = {
    "Ctrl-C": "SIGINT", "SIGTERM": "SIGTERM", "terminal closed": "SIGHUP", "SIGQUIT": "SIGQUIT", "SIGKILL": "SIGKILL",
}  # fmt: skip
PEER_FAULTS = ("peer killed in mid-corner", "peer gone for a minute", "peer restarted")
OTHERS = ("second client", "second host", "machine suspended for 30 s", "disk full while recording")
FAULTS = (*PEER_FAULTS, *STREAM_FAULTS, *CAMERA_FAULTS, *DRIVER_FAULTS, *OTHERS, *SHIM_FAULTS, *SIGNALS)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What must happen in one cell.

    Attributes:
        wire_says: what the wire carries while the fault lasts: "brake", "brake, then let go", "no throttle", "brake or
            nothing" (braking, or the simulator is not there to hear it), "nothing" (the simulator waits, or is gone),
            "the drive" (commands go on).
        safe_s: s from the beginning of the fault until the wire says so.
        car: what the car does then: "drives on", "stands", "waits" or "rolls out".
        car_s: s from the end of the fault (or, where the drive ends, from its beginning) until the car does so.
        exit_code: of the program under test; None: it goes on.
        line: part of the line that it prints, as a regular expression; "" for none.
        recording: "whole", "to the last second", "to the full disk", or "" where nothing is recorded.
        not_meaningful: why there is no such cell.
    """

    wire_says: str = "the drive"
    safe_s: float = 0.0
    car: str = "drives on"
    car_s: float = 3.0
    exit_code: int | None = None
    line: str = ""
    recording: str = ""
    not_meaningful: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell: a wire, our program at one end of it, a fault, and what must happen."""

    wire: str
    end: str
    fault: str
    outcome: Outcome

    @property
    def name(self):
        return f"{self.wire}-{self.end}-{self.fault.replace(' ', '_')}"


def never(why):
    return Outcome(not_meaningful=why)


def declare(usual, **by_wire):
    """Return {wire: outcome}: `usual`, with other values or another outcome for some wires.

    Args:
        usual: of every wire that has none of its own.
        by_wire: of a wire, or of a group ("events", "streams"): an Outcome, or a dict of what differs from `usual`.
    """
    groups = {"events": EVENT_WIRES, "streams": STREAM_WIRES}
    found = dict.fromkeys(WIRE_NAMES, usual)
    for name, value in by_wire.items():
        for wire in groups.get(name, (name,)):
            found[wire] = value if isinstance(value, Outcome) else replace(usual, **value)
    return found
