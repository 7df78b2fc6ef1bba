"""`bench beamng`: exchanges per second over the coupling's wire, between two processes on this machine."""

import sys
from collections.abc import Sequence

from trailbrake.bench import coupling_cases
from trailbrake.bench.coupled import free_port, host
from trailbrake.bench.rows import Row, median_of
from trailbrake.cars.load import load as load_car
from trailbrake.cars.params import CarParams
from trailbrake.roles import Plant
from trailbrake.run import rate
from trailbrake.run.prompt import prompt
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.tracks.load import load as load_track
from trailbrake.world.plant import World

CAR, TRACK = "gt3", "hartmoor"
RUNS, EXCHANGES, WARM_UP = 3, 60_000, 2_000
PATIENCE = 60.0  # s until a host has to be there, and between its messages


def rows() -> list[Row]:
    """Measure all rows of this bench (about three minutes)."""
    what = f"a message each physics step, window 1, strict, full CarState, {EXCHANGES} exchanges over loopback UDP"
    world, world_note = median_of(RUNS, lambda: _exchanges([sys.executable, "-m", "trailbrake", "serve", "beamng",
                                                            f"--track={TRACK}", f"--car={CAR}"]))  # fmt: skip
    link, link_note = median_of(RUNS, lambda: _exchanges([sys.executable, "-m", "trailbrake.bench.beamng"]))
    return [
        Row("lockstep_exchanges_per_s", world, "1/s", "higher",
            f"the world as a process of its own, {CAR} on {TRACK}; {what}; {world * PHYSICS_STEP:.1f}x real time; "
            f"{world_note}"),
        Row("link_exchanges_per_s", link, "1/s", "higher", f"a world that does nothing; {what}; {link_note}"),
        *coupling_cases.rows(),
    ]  # fmt: skip


def _exchanges(command: list[str]) -> float:
    """Return exchanges per second of a host that `command` starts, with a controller that answers at once."""
    receive = free_port()
    with host(command, listen := free_port(), receive, PHYSICS_STEP):
        link = Link(
            LiveOptions(listen=f"127.0.0.1:{listen}", peer=f"127.0.0.1:{receive}", simulink_time=PHYSICS_STEP,
                        wait=PATIENCE),
            idle=lambda: rate.sleep_until(rate.now() + 0.005),
        )  # fmt: skip
        link.open(rate.now())
        try:
            controls = Controls(throttle=0.3)
            with prompt():  # as a drive does, and a host
                for _ in range(WARM_UP):
                    _exchange(link, controls)
                began = rate.now()
                for _ in range(EXCHANGES):
                    _exchange(link, controls)
                return EXCHANGES / (rate.now() - began)
        finally:
            link.release()
            link.close()


def _exchange(link: Link, controls: Controls) -> None:
    while not link.fresh():
        link.wait(PATIENCE)
    link.read(rate.now())
    link.write(controls)


class NullPlant:
    """A plant whose car stands still: what is left is the wire."""

    period = PHYSICS_STEP

    def __init__(self) -> None:
        world = World(load_track(TRACK), [load_car(CAR)], period=PHYSICS_STEP)
        self.track, self._state = world.track, world.state(0)
        self.cars: Sequence[CarParams] = world.cars

    def reset(self, seed: int) -> None:
        """Do nothing."""

    def step(self, controls: object) -> None:
        """Do nothing."""

    def state(self, car: int) -> CarState:
        """Return the same state each time."""
        return self._state

    def command(self, car: int, command: SimCommand) -> None:
        """Do nothing."""


def serve_nothing(send: str, receive_port: int) -> None:
    """Serve a NullPlant for ever."""
    plant: Plant = NullPlant()
    made = Host(plant, ServeOptions(send=send, receive_port=receive_port, simulink_time=PHYSICS_STEP))
    made.open(rate.now())
    with prompt():
        while True:
            made.tick(rate.now())
            while made.waits:
                made.wait(PATIENCE)
                made.tick(rate.now())


if __name__ == "__main__":
    flags = dict(word.removeprefix("--").split("=") for word in sys.argv[1:])
    serve_nothing(flags["send"], int(flags["receive-port"]))
