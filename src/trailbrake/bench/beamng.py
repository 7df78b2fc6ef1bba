"""`bench beamng`: exchanges per second over the coupling's wire, between two processes on this machine."""

import sys

from trailbrake.bench import coupling_cases
from trailbrake.bench.coupling_cases import find_free_port, run_host
from trailbrake.bench.rows import BenchRow, measure_median
from trailbrake.cars.car_library import load_car
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.link import Link
from trailbrake.sims.beamng.spec import LiveOptions, ServeOptions
from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.state import CarState, Controls
from trailbrake.system import steady_clock
from trailbrake.system.realtime import low_latency_interpreter
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

CAR, TRACK = "gt3", "hartmoor"
RUNS, EXCHANGES, WARM_UP = 3, 60_000, 2_000
PATIENCE = 60.0  # s until a host has to be there, and between its messages


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about three minutes)."""
    what = f"a message each physics step, window 1, strict, full CarState, {EXCHANGES} exchanges over loopback UDP"
    serve = [sys.executable, "-m", "trailbrake", "serve", "beamng", f"--track={TRACK}", f"--car={CAR}"]
    world, world_note = measure_median(RUNS, lambda: _measure_exchanges(serve))
    link, link_note = measure_median(
        RUNS, lambda: _measure_exchanges([sys.executable, "-m", "trailbrake.bench.beamng"])
    )
    return [
        BenchRow("lockstep_exchanges_per_s", world, "1/s", "higher",
            f"the world as a process of its own, {CAR} on {TRACK}; {what}; {world * PHYSICS_STEP:.1f}x real time; "
            f"{world_note}"),
        BenchRow("link_exchanges_per_s", link, "1/s", "higher", f"a world that does nothing; {what}; {link_note}"),
        *coupling_cases.measure_rows(),
    ]  # fmt: skip


def _measure_exchanges(command: list[str]) -> float:
    """Return exchanges per second of a host that `command` starts, with a controller that answers at once."""
    receive = find_free_port()
    with run_host(command, listen := find_free_port(), receive, PHYSICS_STEP):
        link = Link(
            LiveOptions(listen=f"127.0.0.1:{listen}", peer=f"127.0.0.1:{receive}", simulink_time=PHYSICS_STEP,
                        wait=PATIENCE),
            idle=lambda: steady_clock.sleep_until(steady_clock.now() + 0.005),
        )  # fmt: skip
        link.open(steady_clock.now())
        try:
            controls = Controls(throttle=0.3)
            with low_latency_interpreter():  # as a drive does, and a host
                for _ in range(WARM_UP):
                    _exchange_once(link, controls)
                began = steady_clock.now()
                for _ in range(EXCHANGES):
                    _exchange_once(link, controls)
                return EXCHANGES / (steady_clock.now() - began)
        finally:
            link.release()
            link.close()


def _exchange_once(link: Link, controls: Controls) -> None:
    while not link.has_new_sample():
        link.wait(PATIENCE)
    link.read(steady_clock.now())
    link.write(controls)


class NullPlant(World):
    """A world whose car stands still: what is left is the wire."""

    def __init__(self) -> None:
        super().__init__(load_track(TRACK), [load_car(CAR)], period=PHYSICS_STEP)
        self._state = super().car_state(0)

    def step(self, controls: object) -> None:
        """Do nothing."""

    def car_state(self, car: int) -> CarState:
        """Return the same state each time."""
        return self._state


def serve_null_plant(send: str, receive_port: int) -> None:
    """Serve a NullPlant for ever."""
    made = Host(NullPlant(), ServeOptions(send=send, receive_port=receive_port, simulink_time=PHYSICS_STEP))
    made.open(steady_clock.now())
    with low_latency_interpreter():
        while True:
            made.tick(steady_clock.now())
            while made.waits:
                made.wait(PATIENCE)
                made.tick(steady_clock.now())


if __name__ == "__main__":
    flags = dict(word.removeprefix("--").split("=") for word in sys.argv[1:])
    serve_null_plant(flags["send"], int(flags["receive-port"]))
