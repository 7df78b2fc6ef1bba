"""The game's end of the Assetto Corsa wire: publishes a Plant's cars and drives them by the clients' controls.

Source: protocol page assetto-custom-ai, sections 1, 2.5, 4 and 6. Clients are strangers: what they write is checked,
and what they do to the pages that are ours (Car<N>, CarPublic<N>, acpmf_*) is overwritten and never read.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from trailbrake.errors import SimulatorError
from trailbrake.roles import Plant
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.classic import ClassicPages
from trailbrake.sims.assetto.served_files import write_files
from trailbrake.sims.assetto.session import SharedPages
from trailbrake.sims.assetto.slot import Counts, Slot
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport.shm import Lock, SharedMemory

Pilot = Callable[[CarState, float], Controls]

_LOOK_EVERY = 11  # ticks between looks whether a car's client came or went: 33 ms
_IN_PITS = 3.0  # m/s: a car that is faster has left the pits


def _print(text: str) -> None:
    print(f"trailbrake: {text}", file=sys.stderr, flush=True)


class Host:
    """Serves the cars of `plant` to any client.

    Args:
        plant: the world; its period must be the game's physics step.
        options: of this simulator; the cars are the plant's.
        doors: a folder of pages that nobody but ours reaches; they are then mapped, see `trailbrake.transport.shm`.
            None = the public names.
        pilots: one per car, or none at all: who drives the cars that no client has. Without them those cars hold the
            brake. Called with the car's state, `others` filled, and the s of simulator time since the last call.
        say: takes a line for whoever runs the host.
    """

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        pilots: Sequence[Pilot] = (),
        say: Callable[[str], None] = _print,
    ) -> None:
        options = options or spec.ServeOptions()
        if pilots and len(pilots) != len(plant.cars):
            raise ValueError(f"Host: expected no pilots, or one for each of {len(plant.cars)} cars, got {len(pilots)}")
        self._plant, self._pilots, self._say = plant, pilots, say
        self._memory, self._mapped = SharedMemory(doors), doors is not None
        self._counts = Counts()
        self._shared = SharedPages(self._memory, self._mapped, self._counts)
        self._classic = ClassicPages(self._memory, self._mapped, self._counts) if options.classic else None
        self._root = options.ac_root
        self._lock: Lock | None = None
        self._slots: list[Slot] = []
        self._piloted = [False] * len(plant.cars)
        self._ticks = 0
        self._opened_at = 0.0
        self._frames = 0

    @property
    def time_scale(self) -> float:
        """How many times faster than real time the clients want it."""
        return self._shared.time_scale

    @property
    def wall_period(self) -> float:
        """How much wall time (s) the next tick shall take in real time, as the clients' SimState wants it."""
        return self._plant.period / self.time_scale + self._shared.sim.extra_sleep_ms * 1e-3

    @property
    def paused(self) -> bool:
        """Whether a client has the simulation paused."""
        return self._shared.sim.pause != 0

    @property
    def taken(self) -> list[bool]:
        """Which cars a client drives."""
        return [slot.taken for slot in self._slots]

    def open(self, now: float) -> None:
        """Take the names, write the files that are asked for, publish every car; SimulatorError if another has them."""
        if abs(self._plant.period * spec.RATE_HZ - 1.0) > 0.01:
            raise SimulatorError(
                "the world's period is not the game's",
                expected=f"1/{spec.RATE_HZ:g} s",
                got=f"{self._plant.period:g} s",
            )
        self._lock = self._memory.lock(spec.HOST_LOCK)
        if self._lock is None:
            raise SimulatorError(
                "another Assetto Corsa host has these shared-memory names",
                where=self._memory.folder,
                hint="stop it, or set TRAILBRAKE_SHM to a folder of your own",
            )
        try:
            if self._root is not None:
                write_files(self._root, self._plant)
            for index, params in enumerate(self._plant.cars):
                state = self._plant.state(index)
                self._slots.append(
                    Slot(index, params, state, self._memory, self._mapped, self._counts, self._say)
                )  # fmt: skip
            if self._classic is not None:
                self._classic.open(self._plant)
            self._opened_at, self._frames = now, 0
            self._publish_frame()
        except BaseException:
            self.close()
            raise

    def tick(self, now: float) -> None:
        """Take the clients' newest controls, step the plant once and publish; nothing of it while paused.

        What goes by the frame follows `now`, as the game's frames follow the wall clock.
        """
        self._look()
        self._ticks += 1
        before, sim = self._shared.sim, self._shared.take_sim()
        if sim != before:
            self._obey(before, sim)
        if sim.pause:
            return
        self._plant.step([self._controls(slot) for slot in self._slots])
        first = None  # what the first car's page says
        for slot in self._slots:
            if slot.taken or self._pilots or (slot.index == 0 and self._classic is not None):
                self._follow(slot)
                if slot.taken:
                    told = slot.publish()
                    first = told if slot.index == 0 else first
        if self._classic is not None:
            self._classic.publish_physics(self._slots[0], first, piloted=self._piloted[0])
        frames = int((now - self._opened_at) * spec.FRAME_RATE_HZ + 1e-6)
        if frames != self._frames:
            self._frames = frames
            self._publish_frame()

    def _look(self) -> None:
        """Look who came or went: at one after the other, since a look takes half as long as all else of a tick."""
        turn = self._ticks % _LOOK_EVERY
        first = self._ticks == 0
        if first or turn == _LOOK_EVERY - 1:
            self._shared.look()
        for slot in self._slots:
            if first or turn == slot.index % _LOOK_EVERY:
                slot.look()

    def counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, what was rejected, read while being written, ignored, and the lines.

        A message in is a change of a client's page.
        """
        lines = {"debug_lines": len(self._shared.lines), "debug_lines_rejected": self._shared.rejected_lines}
        return {**self._counts.number, **lines, "ignored": list(self._counts.ignored)}

    def close(self) -> None:
        """Close the doors and remove the pages that are ours to publish; those of clients stay."""
        for slot in self._slots:
            slot.close()
        self._slots = []
        self._shared.close()
        if self._classic is not None:
            self._classic.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # ---- Controls in ----

    def _obey(self, before: codec.SimState, sim: codec.SimState) -> None:
        if sim.restart_session and not before.restart_session:  # edge: a held byte would restart for ever
            for slot in self._slots:
                self._plant.command(slot.index, SimCommand(restart=True))
                slot.restarted()
                slot.state = self._plant.state(slot.index)
        if sim.disable_collisions != before.disable_collisions:
            self._plant.command(0, SimCommand(collisions=not sim.disable_collisions))
        if sim.pause and self._classic is not None:
            self._classic.publish_graphics(self._slots, paused=True)

    def _controls(self, slot: Slot) -> Controls:
        """Return what car `slot` shall do in this step; carries out its teleport."""
        command = slot.take()
        if command is not None:
            self._plant.command(slot.index, command)
            slot.moved(repaired=command.to_pits)
        controls = slot.controls()
        if controls is not None:
            self._piloted[slot.index] = False
            return controls
        if not self._pilots:
            return Controls(brake=1.0)
        state = slot.state
        state.others = [
            convert.other_from_wire(other.index, other.public) for other in self._slots if other is not slot
        ]  # fmt: skip
        dt = self._plant.period if self._piloted[slot.index] else 0.0
        self._piloted[slot.index] = True
        return self._pilots[slot.index](state, dt)

    # ---- State out ----

    def _follow(self, slot: Slot) -> None:
        slot.state = self._plant.state(slot.index)
        slot.logbook.follow(slot.state)
        if slot.in_pits and slot.state.speed > _IN_PITS:
            slot.in_pits = False

    def _publish_frame(self) -> None:
        for slot in self._slots:
            if not (slot.taken or self._pilots):
                slot.state = self._plant.state(slot.index)
            slot.publish_public()
        self._shared.take_lines()
        if self._classic is not None:
            self._classic.publish_graphics(self._slots, paused=False)
