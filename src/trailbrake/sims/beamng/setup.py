"""`setup beamng`: prints the line for the game's console that starts the coupling, and the other settings.

It writes nothing on this machine: the coupling exists in the game until the vehicle is removed. Source: the game's own
`lua/vehicle/controller/tech/vehicleSystemsCoupling.lua` and the extension of that name, versions 0.31 to 0.33: the
extension's `startCoupling` accepts times and ports; a controller that is loaded alone, as the old README says, keeps
its defaults.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from trailbrake.errors import UsageError
from trailbrake.sims.beamng import spec
from trailbrake.simulator_tools import SetupTool
from trailbrake.transport.udp import parse_address

SAFE_DRIVE = "--driver speed_hold --gain speed=3 --seconds 10"  # needs no road, and is slow


@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """Print what to type into the game's console.

    Attributes:
        listen: our HOST:PORT, for states.
        peer: the game's HOST:PORT, for commands.
        simulink_time: s that the controller computes: the time between messages, in steps of 0.5 ms.
        ping_time: s that a message and its answer take on the network.
        vehicles: each further one has ports 2 higher.
        debug_file: let the game write its three CSV logs.
    """

    listen: str = f"127.0.0.1:{spec.SEND_PORT}"
    peer: str = f"127.0.0.1:{spec.RECEIVE_PORT}"
    simulink_time: float = spec.SIMULINK_TIME
    ping_time: float = spec.PING_TIME
    vehicles: int = 1
    debug_file: bool = False


def run(options: SetupOptions) -> Iterator[str]:
    """Yield the lines for the user.

    Raises:
        UsageError: an address, a time or the number of vehicles is not valid.
    """
    ours, theirs = parse_address(options.listen, where="--listen"), parse_address(options.peer, where="--peer")
    if ours[0] == "0.0.0.0":
        raise UsageError("the game needs an address that it can send to", where="--listen", got=options.listen,
                         hint="give this machine's address in the network, or 127.0.0.1")  # fmt: skip
    timing = spec.check_times(options.simulink_time, options.ping_time)
    if not 1 <= options.vehicles <= 32:
        raise UsageError("no number of vehicles", where="--vehicles", expected="1 to 32", got=str(options.vehicles))
    yield "In the game: V-Sync off (options, display), load a vehicle, open the console (the key left of 1),"
    yield "choose the vehicle at its bottom left, and type:"
    for k in range(options.vehicles):
        yield ""
        if options.vehicles > 1:
            yield f"with vehicle {k + 1} chosen:"
        yield build_start_line(options, (ours[0], ours[1] + 2 * k), (theirs[0], theirs[1] + 2 * k))
    yield ""
    yield f"That is {timing.describe_timing()}; a controller's own step must be {timing.message_period:g} s."
    yield "To stop: tech_vehicleSystemsCoupling.stopCoupling()"
    yield (
        "Versions before 0.31 have no such extension; there it is controller.loadControllerExternal("
        "'tech/vehicleSystemsCoupling', 'vehicleSystemsCoupling', {...}) with the same braces."
    )
    times = (
        f" --simulink-time {_format_seconds(options.simulink_time)} --ping-time {_format_seconds(options.ping_time)}"
    )
    plain = options.simulink_time == spec.SIMULINK_TIME and options.ping_time == spec.PING_TIME
    if timing.message_period > spec.LONGEST_LINK_PERIOD:
        yield f"trailbrake's own controller needs {spec.LONGEST_LINK_PERIOD:g} s or less between two messages."
        return
    flags = "" if plain else times
    yield f"Then, on any map, with free space ahead: trailbrake drive --sim beamng --live{flags} {SAFE_DRIVE}"
    yield "The car rolls straight on at 3 m/s for ten seconds and stops."
    yield "A driver that follows a road needs --track FILE.csv."


def build_start_line(options: SetupOptions, ours: tuple[str, int], theirs: tuple[str, int]) -> str:
    """Return the one line of Lua that starts the coupling of the chosen vehicle."""
    fields = {
        "simulinkTime": _format_seconds(options.simulink_time),
        "pingTime": _format_seconds(options.ping_time),
        "udpSendIP": f"'{ours[0]}'",
        "udpSendPort": str(ours[1]),
        "udpReceiveIP": f"'{theirs[0]}'",
        "udpReceivePort": str(theirs[1]),
    }
    if options.debug_file:
        fields["debugFile"] = "true"
    table = ", ".join(f"{name} = {value}" for name, value in fields.items())
    return f"extensions.load('tech/vehicleSystemsCoupling'); tech_vehicleSystemsCoupling.startCoupling({{{table}}})"


def _format_seconds(value: float) -> str:
    """Return a time in s as a decimal number without exponent and trailing zeros."""
    return f"{value:.12f}".rstrip("0").rstrip(".")


SETUP = SetupTool(SetupOptions, run)
