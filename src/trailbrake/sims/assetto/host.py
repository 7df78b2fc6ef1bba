"""The game's end of the Assetto Corsa wire: publishes a Plant's cars and applies the clients' controls to them.

Source: protocol page assetto-custom-ai, sections 1, 2.5, 4 and 6. Clients are foreign programs: the host
checks what they write, and never reads its own pages (Car<N>, CarPublic<N>, acpmf_*), which it overwrites.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from trailbrake.errors import SimulatorError
from trailbrake.race_control import RaceControl
from trailbrake.roles import HasRaceControl, RoadPlant
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.sims.assetto.install.lane_conversion import LaneProgress, write_files
from trailbrake.sims.assetto.wire.car_slot import CarSlot
from trailbrake.sims.assetto.wire.classic_pages import ClassicPages
from trailbrake.sims.assetto.wire.host_pages import HostPages, SharedPages
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Controls, Pose, SimCommand
from trailbrake.state.commands import MAX_TIME_SCALE, MIN_TIME_SCALE
from trailbrake.state.controls import SETTINGS
from trailbrake.tracks.track import TrackBounds
from trailbrake.transport.client_notices import LineBudget
from trailbrake.transport.shm import SharedLock

TrafficDriver = Callable[[CarState, float], Controls]

_POLL_TICKS = 11  # ticks between tests whether a car's client has come or gone: 33 ms
_TURBO_LEVEL = SETTINGS.index("turbo_level")
_PIT_EXIT_SPEED = 3.0  # m/s; a faster car has left the pits


def _print_line(text: str) -> None:
    print(f"trailbrake: {text}", file=sys.stderr, flush=True)


class Host:
    """Serves the cars of `plant` to any client.

    Args:
        plant: the world; its period must be the game's physics step.
        options: of this simulator; the cars are the plant's.
        doors: a private folder of pages, which are then mapped, see `trailbrake.transport.shm`. None = the public
            names.
        say: receives lines for the user, no flood of them.

    Attributes:
        traffic_driver: the driver of the cars without a client; "" = they hold the brake.
    """

    def __init__(
        self,
        plant: RoadPlant,
        options: spec.ServeOptions | None = None,
        *,
        doors: Doors = None,
        say: Callable[[str], None] = _print_line,
    ) -> None:
        options = options or spec.ServeOptions()
        self._plant, self._say = plant, LineBudget(say)
        self._races = plant if isinstance(plant, HasRaceControl) else None
        self._bounds: TrackBounds | None = None  # where a teleport may go; made at the first
        self._traffic: Sequence[TrafficDriver] = ()
        self._pages = HostPages(doors)
        self._shared = SharedPages(self._pages, old_patch=options.old_patch)
        self._classic = ClassicPages(self._pages, is_static=not options.classic)
        self._root, self._refuse = options.ac_root, options.refuse
        self.traffic_driver = options.driver if options.cars > 1 and not options.park else ""
        self._is_active = options.refuse not in ("disabled", "track")  # whether Custom AI works in this session
        self._spline: LaneProgress | None = None  # None: the spline is the road's centreline
        self._lock: SharedLock | None = None
        self._slots: list[CarSlot] = []
        self._driven_by_traffic = [False] * len(plant.cars)
        self._ticks = 0
        self._opened_at = 0.0
        self._frames = 0
        self._said_problems: set[str] = set()  # pages that cannot be read, of which the user knows
        self._has_reported_scale = False  # whether the user knows of a time scale out of range

    def set_traffic(self, drivers: Sequence[TrafficDriver]) -> None:
        """Set the drivers of cars without a client; by default those hold the brake.

        Args:
            drivers: one per car, or none at all. Each computes controls from the car's state, `others` included, and
                the s of simulator time since its last call.
        """
        if drivers and len(drivers) != len(self._plant.cars):
            raise ValueError(
                f"Host: expected no traffic, or a driver for each of {len(self._plant.cars)} cars, got {len(drivers)}"
            )
        self._traffic = drivers

    @property
    def description(self) -> str:
        """The folder of the pages, and what the host refuses."""
        pages = f"pages in {self._pages.memory.folder}"
        return pages if self._refuse == "nothing" else f"{pages}; refuses cars: {spec.REFUSALS[self._refuse]}"

    @property
    def time_scale(self) -> float:
        """Factor on real time that the clients request."""
        return self._shared.time_scale

    @property
    def wall_period(self) -> float:
        """Wall time (s) of the next tick in real time, as the clients' SimState requests."""
        return self._plant.period / self.time_scale + self._shared.sim_state.extra_sleep_ms * 1e-3

    @property
    def paused(self) -> bool:
        """Whether a client has paused the simulation."""
        return self._shared.sim_state.pause != 0

    @property
    def cars_with_client(self) -> list[bool]:
        """For each car, whether a client drives it."""
        return [slot.has_client for slot in self._slots]

    def open(self, now: float) -> None:
        """Take the host's lock, write the files, publish every car; SimulatorError if another host runs."""
        if abs(self._plant.period * spec.RATE_HZ - 1.0) > 0.01:
            raise SimulatorError(
                "the world's period is not the game's",
                expected=f"1/{spec.RATE_HZ:g} s",
                got=f"{self._plant.period:g} s",
            )
        self._lock = self._pages.memory.acquire_lock(spec.HOST_LOCK)
        if self._lock is None:
            raise SimulatorError(
                "another Assetto Corsa host has these shared-memory names",
                where=self._pages.memory.folder,
                hint="stop it, or set TRAILBRAKE_SHM to a folder of your own",
            )
        try:
            if self._root is not None:
                lane = write_files(
                    self._root, self._plant, enabled=self._refuse != "disabled", permitted=self._refuse != "track"
                ).lane
                self._spline = LaneProgress(self._plant.track.road, lane)
            for index, params in enumerate(self._plant.cars):
                self._slots.append(
                    CarSlot(
                        index, params, self._read_state(index), self._pages, self._say,
                        refusal=self._find_refusal(index), is_public=self._is_active,
                    )
                )  # fmt: skip
            length = self._plant.track.road.length if self._spline is None else self._spline.length
            self._classic.open(self._plant, spline_length=length, is_online=self._refuse == "remote")
            self._opened_at, self._frames = now, 0
            self._publish_frame()
        except BaseException:
            self.close()
            raise

    def _find_refusal(self, index: int) -> str:
        """Return why no client gets car `index`; "" where one may take it."""
        if self._refuse == "nothing" or (self._refuse == "remote" and index == 0):
            return ""
        return spec.REFUSALS[self._refuse]

    def tick(self, now: float) -> None:
        """Read the clients' newest controls, step the plant once and publish; while paused, only read SimState.

        Pages of the frame rate follow `now`, as the game's frames follow the wall clock.
        """
        self._poll_clients()
        self._ticks += 1
        before, sim = self._shared.sim_state, self._shared.read_sim_state()
        if sim != before:
            self._apply_sim_state(before, sim)
        if sim.pause:
            return
        self._plant.step([self._car_controls(slot) for slot in self._slots])
        player_data = None  # message of the player's page
        for slot in self._slots:
            if slot.has_client or self._traffic or (slot.index == 0 and not self._classic.is_static):
                self._update_slot(slot)
                if slot.has_client:
                    data = slot.publish_car()
                    player_data = data if slot.index == 0 else player_data
        self._classic.publish_physics(
            self._slots[0], player_data, piloted=self._driven_by_traffic[0], race=self._race
        )  # fmt: skip
        frames = int((now - self._opened_at) * spec.FRAME_RATE_HZ + 1e-6)
        if frames != self._frames:
            self._frames = frames
            self._publish_frame()

    def _poll_clients(self) -> None:
        """Test which clients have come or gone, one car per tick: a test takes half as long as the rest of a tick."""
        turn = self._ticks % _POLL_TICKS
        first = self._ticks == 0
        if self._is_active and (first or turn == _POLL_TICKS - 1):
            self._pages.check_pages()
            self._shared.open_pages()
            while len(self._said_problems) < len(self._shared.problems):
                name = next(name for name in self._shared.problems if name not in self._said_problems)
                self._said_problems.add(name)
                self._say(self._shared.problems[name])
        for slot in self._slots:
            if first or turn == slot.index % _POLL_TICKS:
                slot.poll_client()

    def read_counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, rejected, torn and ignored ones, and debug lines.

        A message in is a change of a client's page.
        """
        lines = {"debug_lines": len(self._shared.debug_lines), "debug_lines_rejected": self._shared.rejected_lines}
        return {**self._pages.counts, **lines, "ignored": list(self._pages.ignored_requests)}

    def close(self) -> None:
        """Remove the host's pages; those of clients stay."""
        for slot in self._slots:
            slot.close()
        self._slots = []
        self._shared.close()
        self._classic.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # ---- Controls in ----

    def _apply_sim_state(self, before: codec.SimState, sim: codec.SimState) -> None:
        used = self.time_scale
        if sim.time_scale != used and sim.time_scale > 0.0 and not self._has_reported_scale:  # 0 and NaN stand for 1
            self._has_reported_scale = True
            self._say(
                f"SimState: time_scale {sim.time_scale:g} is out of range, expected {MIN_TIME_SCALE:g} to "
                f"{MAX_TIME_SCALE:g}: {used:g} is used"
            )
        if sim.restart_session and not before.restart_session:  # an edge: a held byte would restart in every step
            for slot in self._slots:
                self._plant.execute_command(slot.index, SimCommand(restart=True))
                slot.mark_restarted()
                slot.state = self._read_state(slot.index)
        if sim.disable_collisions != before.disable_collisions:
            self._plant.execute_command(0, SimCommand(collisions=not sim.disable_collisions))
        if sim.pause and not before.pause:
            self._say("a program requests a pause, now or before this session; trailbrake sim assetto resume ends it")
        if sim.pause:
            self._classic.publish_graphics(self._slots, paused=True, race=self._race)

    def _car_controls(self, slot: CarSlot) -> Controls:
        """Return the controls of a car in this step; carry out its teleport."""
        command = slot.read_command()
        target = None if command is None else command.teleport
        if target is not None and not self._is_reachable(target):
            slot.report_unreachable(target)
        elif command is not None:
            self._plant.execute_command(slot.index, command)
            slot.mark_moved(repaired=command.to_pits)
            if target is not None:
                slot.report_displacement(target, self._plant.car_state(slot.index))
        controls = slot.client_controls()
        if controls is not None:
            self._driven_by_traffic[slot.index] = False
            return controls
        if not self._traffic:
            return Controls(brake=1.0)
        state = slot.state
        state.others = [
            convert.other_from_wire(other.index, other.public) for other in self._slots if other is not slot
        ]  # fmt: skip
        dt = self._plant.period if self._driven_by_traffic[slot.index] else 0.0
        self._driven_by_traffic[slot.index] = True
        return self._traffic[slot.index](state, dt)

    def _is_reachable(self, target: Pose) -> bool:
        if self._bounds is None:
            self._bounds = TrackBounds(self._plant.track)
        return self._bounds.contain(target.x, target.y)

    # ---- State out ----

    def _read_state(self, index: int) -> CarState:
        """Return the plant's state of a car; its lap_progress is the share of the spline."""
        state = self._plant.car_state(index)
        if self._spline is not None:
            state.lap_progress = self._spline.convert_progress(state.lap_progress)
        return state

    def _update_slot(self, slot: CarSlot) -> None:
        slot.state = self._read_state(slot.index)
        slot.trip_log.add_state(slot.state)
        level = slot.setting_counters.values[_TURBO_LEVEL]
        slot.condition.update_state(slot.state, pit_limiter=slot.in_pits, turbo_level=level)
        if slot.in_pits and slot.state.speed > _PIT_EXIT_SPEED:
            slot.in_pits = False

    @property
    def _race(self) -> RaceControl | None:
        return None if self._races is None else self._races.race

    def _publish_frame(self) -> None:
        for slot in self._slots:
            if not (slot.has_client or self._traffic):
                slot.state = self._read_state(slot.index)
            slot.publish_public()
        self._shared.read_debug_lines()
        self._classic.publish_graphics(self._slots, paused=False, race=self._race)
