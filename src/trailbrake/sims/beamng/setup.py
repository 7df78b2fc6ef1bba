"""`setup beamng`: the line for the game's console that starts the coupling, and what else to set.

Nothing is written on this machine: the coupling lives in the game until the vehicle is gone. As read in the game's own
`lua/vehicle/controller/tech/vehicleSystemsCoupling.lua` and the extension of that name, 0.31 to 0.33, times and ports
are taken by the extension's `startCoupling`; a controller loaded by itself, as the old README has it, keeps
its defaults.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from trailbrake.errors import UsageError
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.timing import as_the_game
from trailbrake.transport.udp import address


@dataclass(frozen=True, kw_only=True)
class Options:
    """Say what to type into the game's console.

    Attributes:
        listen: our HOST:PORT, as the game reaches it: states come in there.
        peer: the game's HOST:PORT: commands are taken there.
        simulink_time: s that the controller computes; the time between two messages, rounded up to steps of 0.5 ms.
        ping_time: s that a message and its answer take on the network.
        vehicles: how many vehicles; each next one gets ports 2 higher.
        debug_file: whether the game writes its three CSV logs.
    """

    listen: str = f"127.0.0.1:{spec.SEND_PORT}"
    peer: str = f"127.0.0.1:{spec.RECEIVE_PORT}"
    simulink_time: float = spec.SIMULINK_TIME
    ping_time: float = spec.PING_TIME
    vehicles: int = 1
    debug_file: bool = False


def run(options: Options) -> Iterator[str]:
    """Return the lines for the user.

    Raises:
        UsageError: no addresses, times or number of vehicles.
    """
    ours, theirs = address(options.listen, where="--listen"), address(options.peer, where="--peer")
    if ours[0] == "0.0.0.0":
        raise UsageError("the game needs an address that it can send to", where="--listen", got=options.listen,
                         hint="give this machine's address in the network, or 127.0.0.1")  # fmt: skip
    # The flags' ranges are those of the live link.
    spec.LiveOptions(simulink_time=options.simulink_time, ping_time=options.ping_time)
    if not 1 <= options.vehicles <= 32:
        raise UsageError("no number of vehicles", where="--vehicles", expected="1 to 32", got=str(options.vehicles))
    timing = as_the_game(options.simulink_time, options.ping_time)
    yield "In the game: V-Sync off (options, display), load a vehicle, open the console (the key left of 1),"
    yield "choose the vehicle at its bottom left, and type:"
    for k in range(options.vehicles):
        yield ""
        if options.vehicles > 1:
            yield f"with vehicle {k + 1} chosen:"
        yield start_line(options, (ours[0], ours[1] + 2 * k), (theirs[0], theirs[1] + 2 * k))
    yield ""
    yield f"That is {timing.sentence()}; a controller's own step must be {timing.step:g} s."
    yield "To stop: tech_vehicleSystemsCoupling.stopCoupling()"
    yield (
        "Versions before 0.31 have no such extension; there it is controller.loadControllerExternal("
        "'tech/vehicleSystemsCoupling', 'vehicleSystemsCoupling', {...}) with the same braces."
    )
    times = f" --simulink-time {_number(options.simulink_time)} --ping-time {_number(options.ping_time)}"
    plain = options.simulink_time == spec.SIMULINK_TIME and options.ping_time == spec.PING_TIME
    yield "Then: trailbrake drive --sim beamng --live" + ("" if plain else times)


def start_line(options: Options, ours: tuple[str, int], theirs: tuple[str, int]) -> str:
    """Return the one line of Lua that starts the coupling of the chosen vehicle."""
    fields = {
        "simulinkTime": _number(options.simulink_time),
        "pingTime": _number(options.ping_time),
        "udpSendIP": f"'{ours[0]}'",
        "udpSendPort": str(ours[1]),
        "udpReceiveIP": f"'{theirs[0]}'",
        "udpReceivePort": str(theirs[1]),
    }
    if options.debug_file:
        fields["debugFile"] = "true"
    table = ", ".join(f"{name} = {value}" for name, value in fields.items())
    return f"extensions.load('tech/vehicleSystemsCoupling'); tech_vehicleSystemsCoupling.startCoupling({{{table}}})"


def _number(value: float) -> str:
    """Return a time as people write it: digits enough for the value, no exponent."""
    return f"{value:.12f}".rstrip("0").rstrip(".")
